/* SPDX-License-Identifier: MIT */
#include "measure/measure.h"

#include "base/hash.h"
#include "experiment/registry.h"
#include "measure/sampler.h"
#include "measure/samples.h"
#include "measure/serial.h"
#include "measure/verification.h"
#include "result/record.h"
#include "vulkan/kernel.h"
#include "vulkan/slot.h"

#include <inttypes.h>
#include <stdlib.h>

/* Device time under this many empty regions is not much more than the timestamps' own cost. */
#define EMPTY_REGIONS 10
/* A time under this many steps of its clock is known to no better than 1 %. */
#define CLOCK_STEPS 100

/* A case in progress. */
struct run {
    const struct measure_request *request;
    struct measure_result *result;
    bool model;
    struct clock_simulated simulated;
    struct assay_clock *clock;
    struct assay_slot *slot;
    void *self;
    struct serial serial;
    struct sampler *sampler;
    struct samples samples;
    struct assay_verification verification;
};

static void note_add(struct measure_result *result, const char *note)
{
    struct text *notes = &result->notes;
    if (notes->length == 0)
        text_add_char(notes, '[');
    else
        text_add_char(notes, ',');
    record_add_string(notes, note);
}

static void notes_close(struct measure_result *result)
{
    if (result->notes.length)
        text_add_char(&result->notes, ']');
}

static bool run_prepare(struct run *run, struct assay_error *error)
{
    const struct measure_request *request = run->request;
    const struct assay_workload *workload = request->workload;
    if (workload->supported && !workload->supported(request->device, request->params, error))
        return serial_hook_failed(workload->name, "supported", error);
    struct slot_params slot = {.device = request->device,
                               .case_seed = request->seed,
                               .index = 0,
                               .search = request->search};
    run->slot = slot_create(&slot, error);
    if (!run->slot)
        return false;
    run->self = workload->create(run->slot, request->params, error);
    if (!run->self)
        return serial_hook_failed(workload->name, "create", error);
    struct serial_params serial = {.workload = workload,
                                   .params = request->params,
                                   .slot = run->slot,
                                   .self = run->self,
                                   .clock = run->clock};
    return serial_prepare(&run->serial, &serial, error);
}

static bool run_sample(struct run *run, struct assay_error *error)
{
    struct serial_times times;
    struct measure_budget budget = run->request->budget;
    unsigned room = samples_room(&run->serial);
    if (budget.min_samples > room)
        return assay_fail(
            error, ASSAY_INVALID,
            "min_samples: %u are wanted, but the record of this case holds %u at most",
            budget.min_samples, room);
    if (budget.max_samples > room)
        budget.max_samples = room;
    run->sampler = sampler_create(&budget, error);
    if (!run->sampler)
        return false;
    while (sampler_wants_warmup(run->sampler)) {
        if (!serial_batch(&run->serial, &times, error))
            return false;
        sampler_warmup(run->sampler, times.time_ns, clock_now(run->clock));
    }
    while (sampler_wants_more(run->sampler))
        if (!serial_batch(&run->serial, &times, error) ||
            !samples_add(&run->samples, &run->serial, &times, error) ||
            !sampler_add(run->sampler, times.time_ns, clock_now(run->clock), error))
            return false;
    return true;
}

/* What is verified is what was measured: the same recording, once more on fresh contents. */
static bool run_verify(struct run *run, struct assay_error *error)
{
    const struct assay_workload *workload = run->request->workload;
    struct serial_times times;
    if (!slot_restore(run->slot, error) || !serial_batch(&run->serial, &times, error))
        return false;
    if (!workload->verify)
        return true;
    if (!workload->verify(run->self, &run->verification, error))
        return serial_hook_failed(workload->name, "verify", error);
    return true;
}

static void add_verification(struct run *run)
{
    if (run->model)
        return;
    struct text *out = &run->result->verification;
    text_addf(out, "{\"verdict\":\"right\",\"checked_bytes\":%" PRIu64 ",\"error\":",
              run->verification.checked_bytes);
    if (run->verification.has_error)
        number_add(out, run->verification.error);
    else
        text_add(out, "null");
    text_add_char(out, '}');
}

static bool stage_note(struct run *run, unsigned index, int64_t empty_ns, struct text *note,
                       struct assay_error *error)
{
    int64_t device_ns = samples_device_median(&run->samples, &run->serial, index, error);
    if (device_ns < 0 || empty_ns <= 0 || device_ns >= EMPTY_REGIONS * empty_ns)
        return error->status == ASSAY_OK;
    text_addf(note,
              "stage '%s': device time %" PRId64 " ns is under %d empty regions of %" PRId64
              " ns: mostly the timestamps' own cost",
              run->serial.stages[index].stage->name, device_ns, EMPTY_REGIONS, empty_ns);
    return true;
}

static bool add_stage(struct run *run, unsigned index, struct assay_error *error)
{
    const struct serial_stage *entry = &run->serial.stages[index];
    const struct assay_cost *cost = &entry->cost;
    struct text *out = &run->result->stages;
    const char *clock = run->clock->simulated ? "simulated" : entry->host_clock ? "host" : "device";
    text_addf(out, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"clock\":\"%s\",\"cost\":{",
              index ? "," : "[", entry->stage->name, serial_kind_name(entry->stage->kind), clock);
    text_addf(out,
              "\"payload_bytes\":%" PRIu64 ",\"read_bytes\":%" PRIu64 ",\"written_bytes\":%" PRIu64
              ",\"flops\":%" PRIu64 ",\"items\":%" PRIu64 "}",
              cost->payload_bytes, cost->read_bytes, cost->written_bytes, cost->flops, cost->items);
    struct text note = {0};
    int64_t empty_ns = -1;
    if (entry->command) {
        struct vulkan_device *member = run->request->device->members[0];
        empty_ns = device_queue(member, entry->role)->empty_region_ns;
        if (!stage_note(run, index, empty_ns, &note, error))
            return false;
    }
    text_addf(out, ",\"queues\":%u,\"empty_region_ns\":",
              entry->command ? command_queue_count(entry->command) : 0);
    if (empty_ns >= 0)
        text_addf(out, "%" PRId64, empty_ns);
    else
        text_add(out, "null");
    text_add(out, ",\"note\":");
    record_add_string(out, note.length ? text_string(&note) : NULL);
    text_add_char(out, '}');
    if (note.length)
        note_add(run->result, text_string(&note));
    text_free(&note);
    return true;
}

static void add_resources(struct run *run)
{
    if (!run->slot || !run->slot->device)
        return;
    uint64_t device_bytes, host_bytes;
    slot_memory(run->slot, &device_bytes, &host_bytes);
    text_addf(&run->result->memory, "{\"device_bytes\":%" PRIu64 ",\"host_bytes\":%" PRIu64 "}",
              device_bytes, host_bytes);
    struct text *out = &run->result->shaders;
    text_add_char(out, '[');
    for (const struct assay_kernel *kernel = run->slot->kernels; kernel; kernel = kernel->next) {
        char hex[HASH_HEX_BYTES];
        hash_hex(&kernel->shader.source_hash, hex);
        text_add(out, out->length > 1 ? ",{\"name\":" : "{\"name\":");
        record_add_string(out, kernel->shader.name);
        text_addf(out, ",\"hash\":\"%s\",\"cached\":%s}", hex,
                  kernel->shader.from_cache ? "true" : "false");
    }
    text_add_char(out, ']');
}

static bool add_clock_note(struct run *run, struct assay_error *error)
{
    int64_t step_ns = run->serial.step_ns;
    int64_t time_ns = samples_time_median(&run->samples, &run->serial, error);
    if (time_ns < 0 || step_ns <= 0 || time_ns >= CLOCK_STEPS * step_ns)
        return error->status == ASSAY_OK;
    struct text note = {0};
    text_addf(&note,
              "the median end-to-end time, %" PRId64 " ns, is under %d steps of the clock (%" PRId64
              " ns each): it is known to a step at best",
              time_ns, CLOCK_STEPS, step_ns);
    note_add(run->result, text_string(&note));
    text_free(&note);
    return true;
}

static bool run_report(struct run *run, struct assay_error *error)
{
    const struct assay_workload *workload = run->request->workload;
    struct measure_result *result = run->result;
    double confidence = run->request->budget.confidence;
    result->metrics = metric_set_create();
    if (!result->metrics)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for metrics");
    if (!samples_metrics(&run->samples, &run->serial, confidence > 0 ? confidence : 0.95,
                         result->metrics, error))
        return false;
    struct assay_metrics extras = {.workload = workload, .set = result->metrics};
    if (workload->report && !workload->report(run->self, &extras, error))
        return serial_hook_failed(workload->name, "report", error);
    if (!metrics_finish(&extras, error))
        return false;
    samples_add_series(&run->samples, &run->serial, &result->samples);
    sampler_add_record(run->sampler, run->clock->name, &result->sampling);
    for (unsigned i = 0; i < run->serial.count; i++)
        if (!add_stage(run, i, error))
            return false;
    text_add_char(&result->stages, ']');
    if (!add_clock_note(run, error))
        return false;
    add_verification(run);
    bool failed = result->samples.failed || result->sampling.failed || result->stages.failed ||
                  result->verification.failed;
    return !failed || assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
}

static void run_finish(struct run *run)
{
    add_resources(run);
    serial_finish(&run->serial);
    if (run->self)
        run->request->workload->destroy(&run->self);
    if (run->slot) {
        bool lost = run->slot->device && run->slot->device->lost;
        size_t left = slot_destroy(&run->slot);
        if (left > 0 && !lost) {
            struct text note = {0};
            text_addf(&note, "'%s' left %zu buffers or kernels behind",
                      run->request->workload->name, left);
            note_add(run->result, text_string(&note));
            text_free(&note);
        }
    }
    sampler_destroy(&run->sampler);
    samples_free(&run->samples);
    notes_close(run->result);
}

bool measure_case(const struct measure_request *request, struct measure_result *result,
                  struct assay_error *error)
{
    *result = (struct measure_result){0};
    struct run run = {.request = request, .result = result};
    run.model = workload_is_model(request->workload);
    clock_simulated_init(&run.simulated);
    run.clock = run.model ? &run.simulated.clock : clock_monotonic();
    bool ok = run_prepare(&run, error) && run_sample(&run, error) && run_verify(&run, error) &&
              run_report(&run, error);
    run_finish(&run);
    return ok;
}

void measure_result_free(struct measure_result *result)
{
    metric_set_destroy(&result->metrics);
    struct text *texts[] = {&result->samples,      &result->sampling, &result->stages,
                            &result->verification, &result->memory,   &result->shaders,
                            &result->notes};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        text_free(texts[i]);
}
