/* SPDX-License-Identifier: MIT */
#include "measure/member.h"
#include "measure/method.h"

#include "base/hash.h"
#include "experiment/registry.h"
#include "result/record.h"
#include "vulkan/kernel.h"
#include "vulkan/slot.h"

#include <inttypes.h>
#include <string.h>

/* A time under this many steps of its clock is known to no better than 1 %. */
#define CLOCK_STEPS 100

static void note_add(void *user, const char *note)
{
    struct measure_result *result = user;
    struct text *notes = &result->notes;
    if (notes->length == 0)
        text_add_char(notes, '[');
    else
        text_add_char(notes, ',');
    record_add_string(notes, note);
}

void member_note(struct member *member, const char *note)
{
    note_add(member->result, note);
}

void member_close_notes(struct member *member)
{
    if (member->result->notes.length)
        text_add_char(&member->result->notes, ']');
}

/* Of all slots together. */
static void add_verification(struct member *member)
{
    if (member->model || !member->verified)
        return;
    struct assay_verification all = {.nothing = true};
    for (unsigned i = 0; i < member->slot_count; i++) {
        const struct assay_verification *one = &member->slots[i].verification;
        all.nothing = all.nothing && one->nothing;
        all.checked_bytes += one->checked_bytes;
        all.time_ns += one->time_ns;
        if (one->has_error && (!all.has_error || one->error > all.error))
            all.error = one->error;
        all.has_error = all.has_error || one->has_error;
    }
    struct text *out = &member->result->verification;
    text_addf(out, "{\"verdict\":\"%s\",\"checked_bytes\":%" PRIu64 ",\"error\":",
              all.nothing ? "none" : "right", all.checked_bytes);
    if (all.has_error)
        number_add(out, all.error);
    else
        text_add(out, "null");
    text_addf(out, ",\"time_ns\":%" PRId64, all.time_ns);
    if (member->request->perturb)
        text_addf(out, ",\"perturb\":%" PRIu64, member->request->perturb_seed);
    text_add_char(out, '}');
}

static const char *number_kind_name(enum assay_number number)
{
    static const char *const names[] = {
        [ASSAY_NUMBER_FP32] = "fp32", [ASSAY_NUMBER_FP64] = "fp64", [ASSAY_NUMBER_FP16] = "fp16",
        [ASSAY_NUMBER_BF16] = "bf16", [ASSAY_NUMBER_INT8] = "int8", [ASSAY_NUMBER_INT32] = "int32",
    };
    return (size_t)number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

static void add_stage(struct member *member, unsigned index)
{
    const struct serial_stage *entry = &member->slots[0].serial.stages[index];
    const struct assay_cost *cost = &entry->cost;
    struct text *out = &member->result->stages;
    const char *clock = member->clock->simulated ? "simulated"
                        : entry->host_clock      ? "host"
                                                 : "device";
    text_addf(out, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"clock\":\"%s\",\"cost\":{",
              index ? "," : "[", entry->stage->name, serial_kind_name(entry->stage->kind), clock);
    text_addf(out,
              "\"payload_bytes\":%" PRIu64 ",\"read_bytes\":%" PRIu64 ",\"written_bytes\":%" PRIu64
              ",\"flops\":%" PRIu64 ",\"items\":%" PRIu64 ",\"upload_bytes\":%" PRIu64
              ",\"download_bytes\":%" PRIu64 ",\"flop_kind\":",
              cost->payload_bytes, cost->read_bytes, cost->written_bytes, cost->flops, cost->items,
              cost->upload_bytes, cost->download_bytes);
    record_add_string(out, number_kind_name(cost->flop_kind));
    text_add_char(out, '}');
    int64_t empty_ns = -1;
    if (entry->command)
        empty_ns = serial_stage_queue(entry)->empty_region_ns;
    text_addf(out, ",\"queues\":%u,\"empty_region_ns\":",
              entry->command ? command_queue_count(entry->command) : 0);
    if (empty_ns >= 0)
        text_addf(out, "%" PRId64, empty_ns);
    else
        text_add(out, "null");
    const struct repeat *repeat = &entry->repeat;
    const char *note = repeat->note.length ? text_string(&repeat->note) : entry->stage->note;
    text_addf(out, ",\"repeats\":%u,\"note\":", repeat->count ? repeat->count : 1);
    record_add_string(out, note);
    text_add_char(out, '}');
    /* On the host's clock the device's is an aside. */
    if (repeat->doubtful && !entry->host_clock)
        note_add(member->result, note);
}

static void add_paths(struct text *out, const char *member, const struct text *paths)
{
    text_addf(out, "\"%s\":[", member);
    for (size_t at = 0; at < paths->length; at += strlen(paths->data + at) + 1) {
        text_add(out, at ? "," : "");
        record_add_string(out, paths->data + at);
    }
    text_add_char(out, ']');
}

static void add_sources(const struct assay_slot *slot, struct text *out)
{
    text_add_char(out, '{');
    add_paths(out, "read", &slot->trace.read);
    text_add_char(out, ',');
    add_paths(out, "absent", &slot->trace.absent);
    text_add_char(out, '}');
}

void member_add_resources(struct member *member)
{
    text_clear(&member->result->memory);
    text_clear(&member->result->shaders);
    text_clear(&member->result->sources);
    const struct assay_slot *first = member->slot_count ? member->slots[0].slot : NULL;
    if (!first)
        return;
    if (first->device || first->files)
        add_sources(first, &member->result->sources);
    if (!first->device)
        return;
    uint64_t device_bytes, host_bytes;
    member_memory(member, &device_bytes, &host_bytes);
    text_addf(&member->result->memory, "{\"device_bytes\":%" PRIu64 ",\"host_bytes\":%" PRIu64 "}",
              device_bytes, host_bytes);
    struct text *out = &member->result->shaders;
    text_add_char(out, '[');
    for (const struct assay_kernel *kernel = first->kernels; kernel; kernel = kernel->next) {
        char hex[HASH_HEX_BYTES];
        hash_hex(&kernel->shader.source_hash, hex);
        text_add(out, out->length > 1 ? ",{\"name\":" : "{\"name\":");
        record_add_string(out, kernel->shader.name);
        text_addf(out, ",\"hash\":\"%s\",\"cached\":%s,\"build_ns\":%" PRId64 "}", hex,
                  kernel->shader.from_cache ? "true" : "false", kernel->build_ns);
    }
    text_add_char(out, ']');
}

static bool add_clock_note(struct member *member, struct assay_error *error)
{
    int64_t step_ns = member->slots[0].serial.step_ns;
    int64_t time_ns = samples_time_median(&member->samples, &member->slots[0].serial, error);
    if (time_ns < 0 || step_ns <= 0 || time_ns >= CLOCK_STEPS * step_ns)
        return error->status == ASSAY_OK;
    struct text note = {0};
    text_addf(&note,
              "the median end-to-end time, %" PRId64 " ns, is under %d steps of the clock (%" PRId64
              " ns each): it is known to a step at best",
              time_ns, CLOCK_STEPS, step_ns);
    note_add(member->result, text_string(&note));
    text_free(&note);
    return true;
}

void member_forget_report(struct member *member)
{
    struct measure_result *result = member->result;
    metric_set_destroy(&result->metrics);
    struct text *texts[] = {&result->samples, &result->trace,        &result->sampling,
                            &result->stages,  &result->verification, &result->sensors,
                            &result->notes};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        text_clear(texts[i]);
}

static bool add_metrics(struct member *member, const struct sampler *sampler,
                        struct assay_error *error)
{
    const struct assay_workload *workload = member->request->workload;
    struct measure_result *result = member->result;
    result->metrics = metric_set_create();
    if (!result->metrics)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for metrics");
    if (!samples_metrics(&member->samples, &member->slots[0].serial, sampler_confidence(sampler),
                         result->metrics, error))
        return false;
    struct assay_metrics extras = {.workload = workload, .set = result->metrics};
    if (workload->report && !workload->report(member->slots[0].self, &extras, error))
        return serial_hook_failed(workload->name, "report", error);
    const struct measure_method *method = member->method;
    if (method->report && !method->report(member, sampler_confidence(sampler), error))
        return false;
    return metrics_finish(&extras, error);
}

/* What the machine did meanwhile stands beside a drift. */
static bool add_watched(struct member *member, const struct sampler *sampler, size_t series,
                        const struct drift *drift)
{
    const struct measure_watch *watch = member->watch;
    struct text beside = {0};
    if (watch && drift->drifting)
        watch->add_change(watch->user, &beside);
    const char *figure = member->method->figure ? member->method->figure(member) : "time";
    sampler_notes(sampler, series, drift, figure, text_string(&beside), note_add, member->result);
    text_free(&beside);
    if (!watch)
        return true;
    watch->notes(watch->user, note_add, member->result);
    return watch->add_record(watch->user, &member->result->sensors);
}

static bool has_note(const struct text *notes, const char *note)
{
    for (size_t at = 0; at < notes->length; at += strlen(notes->data + at) + 1)
        if (strcmp(notes->data + at, note) == 0)
            return true;
    return false;
}

/* What several slots say counts once. */
static void add_slot_notes(struct member *member)
{
    for (unsigned i = 0; i < member->slot_count; i++) {
        const struct text *own = &member->slots[i].slot->notes;
        for (size_t at = 0; at < own->length; at += strlen(own->data + at) + 1) {
            bool said = false;
            for (unsigned before = 0; before < i && !said; before++)
                said = has_note(&member->slots[before].slot->notes, own->data + at);
            if (!said)
                note_add(member->result, own->data + at);
        }
    }
}

bool member_report(struct member *member, const struct sampler *sampler, size_t series,
                   struct assay_error *error)
{
    struct measure_result *result = member->result;
    member_forget_report(member);
    struct drift drift;
    if (!add_metrics(member, sampler, error) || !sampler_drift(sampler, series, &drift, error))
        return false;
    samples_add_series(&member->samples, &member->slots[0].serial, &result->samples);
    sampler_add_record(sampler, series, member->clock->name, &drift, &result->sampling);
    if (!add_watched(member, sampler, series, &drift))
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    if (member->request->note)
        note_add(result, member->request->note);
    if (member->tuning_note && *member->tuning_note)
        note_add(result, member->tuning_note);
    add_slot_notes(member);
    for (unsigned i = 0; i < member->slots[0].serial.count; i++)
        add_stage(member, i);
    text_add_char(&result->stages, ']');
    if (!add_clock_note(member, error))
        return false;
    add_verification(member);
    member_add_resources(member);
    bool failed = result->samples.failed || result->trace.failed || result->sampling.failed ||
                  result->stages.failed || result->verification.failed;
    return !failed || assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
}

void measure_result_free(struct measure_result *result)
{
    metric_set_destroy(&result->metrics);
    struct text *texts[] = {&result->samples, &result->trace,        &result->sampling,
                            &result->stages,  &result->verification, &result->memory,
                            &result->shaders, &result->sources,      &result->sensors,
                            &result->tuning,  &result->pipeline,     &result->load,
                            &result->notes};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        text_free(texts[i]);
}
