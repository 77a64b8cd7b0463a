/* SPDX-License-Identifier: MIT */
/* The slots of a case: made, sampled, verified, gone. */
#include "measure/load.h"
#include "measure/method.h"

#include "experiment/registry.h"
#include "vulkan/slot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Delays under --perturb: long beside what it takes to begin a stage, on a busy machine too. */
#define PERTURB_NS INT64_C(20000000)

/* Parameters of its own, where the method wants them. */
static bool slot_set_params(struct member *member, unsigned index, struct assay_error *error)
{
    const struct measure_request *request = member->request;
    size_t bytes = request->workload->params_size;
    if (!member->method->params)
        return true;
    void *params = member->slots[index].params = malloc(bytes ? bytes : 1);
    if (!params)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for parameters");
    if (bytes) /* else there may be none to copy from */
        memcpy(params, request->params, bytes);
    return member->method->params(member, index, params, error);
}

static bool slot_open(struct member *member, unsigned index, struct assay_error *error)
{
    const struct measure_request *request = member->request;
    const struct assay_workload *workload = request->workload;
    struct member_slot *at = &member->slots[index];
    struct slot_params slot = {.device = request->device,
                               .case_seed = request->seed,
                               .index = index,
                               .search = request->search};
    if (!slot_set_params(member, index, error))
        return false;
    const void *params = at->params ? at->params : request->params;
    at->slot = slot_create(&slot, error);
    if (!at->slot)
        return false;
    at->self = workload->create(at->slot, params, error);
    if (!at->self)
        return serial_hook_failed(workload->name, "create", error);
    struct serial_params serial = {.workload = workload,
                                   .params = params,
                                   .slot = at->slot,
                                   .self = at->self,
                                   .clock = member->clock,
                                   .downloads_apart = member->method->downloads_apart};
    return serial_prepare(&at->serial, &serial, error);
}

/* What fits once and not several times is a matter of memory. */
static bool slots_full(const struct member *member, unsigned wanted, struct assay_error *error)
{
    unsigned fit = member->slot_count - 1;
    if (fit == 0 || (error->status != ASSAY_OUT_OF_MEMORY && error->status != ASSAY_UNSUPPORTED))
        return false;
    struct assay_error cause = *error;
    *error = (struct assay_error){0};
    if (member->method->params)
        return assay_fail(
            error, ASSAY_UNSUPPORTED,
            "memory holds %u of the %u sizes of batches that the schedule wants, each "
            "in a slot of its own; use a batch_max of %lld at most, or smaller items: "
            "%s",
            fit, wanted, (long long)load_size(member->request->schedule.batch_max, fit - 1),
            cause.text);
    return assay_fail(error, ASSAY_UNSUPPORTED,
                      "memory holds %u of the %u slots that the schedule wants; use a depth of %u "
                      "at most, or smaller batches: %s",
                      fit, wanted, fit, cause.text);
}

bool member_prepare(struct member *member, struct assay_error *error)
{
    const struct measure_request *request = member->request;
    const struct assay_workload *workload = request->workload;
    if (workload->supported && !workload->supported(request->device, request->params, error))
        return serial_hook_failed(workload->name, "supported", error);
    member->method = measure_method_of(request->schedule.kind);
    member->samples.extras = member->method->extras;
    member->samples.extra_count = member->method->extra_count;
    member->samples.windows = member->method->windows;
    unsigned wanted = member->method->slots(member);
    member->slots = calloc(wanted, sizeof(*member->slots));
    if (!member->slots)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %u slots", wanted);
    while (member->slot_count < wanted)
        if (!slot_open(member, member->slot_count++, error))
            return slots_full(member, wanted, error);
    return !member->method->open || member->method->open(member, error);
}

bool member_warm(struct member *member, int64_t *time_ns, struct assay_error *error)
{
    struct serial_times times;
    if (!member->method->sample(member, true, &times, time_ns, error))
        return false;
    repeat_watch(&member->slots[0].serial, &times);
    return true;
}

bool member_settle(struct member *member, struct assay_error *error)
{
    return repeat_prepare(&member->slots[0].serial, member->slots[0].slot, error);
}

bool member_sample(struct member *member, int64_t *time_ns, struct assay_error *error)
{
    struct serial_times times;
    if (!member->method->sample(member, false, &times, time_ns, error) ||
        !samples_add(&member->samples, &member->slots[0].serial, &times, error))
        return false;
    member->turns++;
    return true;
}

unsigned member_passes(const struct member *member)
{
    bool between = member->request->perturb && member->slot_count > 1;
    return 1 + (between ? member->slots[0].serial.count : 0);
}

bool member_run_fresh(struct member *member, unsigned pass, struct assay_error *error)
{
    struct engine_perturb perturb = {.seed = member->request->perturb_seed,
                                     .late_stage = pass - 1,
                                     .late_ns = pass > 0 ? PERTURB_NS : 0,
                                     .defect_stage = member->request->defect_stage};
    for (unsigned i = 0; i < member->slot_count; i++) {
        member->slots[i].verification = (struct assay_verification){0};
        if (!slot_restore(member->slots[i].slot, error))
            return false;
    }
    return member->method->run_all(member, &perturb, error);
}

bool member_verify(struct member *member, struct assay_error *error)
{
    const struct assay_workload *workload = member->request->workload;
    member->verified = false;
    for (unsigned i = 0; i < member->slot_count; i++) {
        struct member_slot *at = &member->slots[i];
        if (!slot_check_guards(at->slot, error))
            return false;
        const int64_t start_ns = clock_now(member->clock);
        bool right = !workload->verify || workload->verify(at->self, &at->verification, error);
        at->verification.time_ns = clock_now(member->clock) - start_ns;
        if (!right) {
            serial_hook_failed(workload->name, "verify", error);
            if (member->slot_count > 1)
                error_prefix(error, "slot %u of %u", i + 1, member->slot_count);
            return false;
        }
    }
    member->verified = true;
    return true;
}

void member_memory(const struct member *member, uint64_t *device_bytes, uint64_t *host_bytes)
{
    *device_bytes = *host_bytes = 0;
    for (unsigned i = 0; i < member->slot_count; i++) {
        uint64_t device, host;
        if (!member->slots[i].slot)
            continue;
        slot_memory(member->slots[i].slot, &device, &host);
        *device_bytes += device;
        *host_bytes += host;
    }
}

static void close_self(struct member *member, struct member_slot *at)
{
    const struct assay_workload *workload = member->request->workload;
    workload->destroy(&at->self);
    if (!at->self)
        return;
    struct text note = {0};
    text_addf(&note, "'%s' left its slot behind: destroy did not set it to NULL", workload->name);
    member_note(member, text_string(&note));
    text_free(&note);
    at->self = NULL;
}

/* Returns what the workload left behind. */
static size_t slot_close(struct member *member, struct member_slot *at)
{
    serial_finish(&at->serial);
    if (at->self)
        close_self(member, at);
    if (!at->slot)
        return 0;
    bool lost = at->slot->device && at->slot->device->lost;
    size_t left = slot_destroy(&at->slot);
    return lost ? 0 : left;
}

void member_finish(struct member *member)
{
    size_t left = 0;
    member_add_resources(member);
    if (member->method && member->method->close)
        member->method->close(member);
    for (unsigned i = 0; i < member->slot_count; i++)
        left += slot_close(member, &member->slots[i]);
    for (unsigned i = 0; i < member->slot_count; i++)
        free(member->slots[i].params);
    free(member->slots);
    member->slots = NULL;
    member->slot_count = 0;
    if (left > 0) {
        struct text note = {0};
        text_addf(&note, "'%s' left %zu buffers or kernels behind", member->request->workload->name,
                  left);
        member_note(member, text_string(&note));
        text_free(&note);
    }
    samples_free(&member->samples);
    member_close_notes(member);
}
