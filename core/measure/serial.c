/* SPDX-License-Identifier: MIT */
#include "measure/serial.h"

#include "experiment/registry.h"
#include "vulkan/slot.h"

#include <string.h>

#define CPU_EVERY_NS 2000000
#define CPU_ALWAYS 32 /* the first batches, so that short runs have enough for an interval */

bool serial_hook_failed(const char *owner, const char *hook, struct assay_error *error)
{
    if (error && error->status == ASSAY_OK)
        assay_fail(error, ASSAY_INTERNAL, "%s of '%s' failed without a reason", hook, owner);
    return false;
}

const char *serial_kind_name(enum assay_stage_kind kind)
{
    switch (kind) {
    case ASSAY_STAGE_HOST:
        return "host";
    case ASSAY_STAGE_TRANSFER:
        return "transfer";
    case ASSAY_STAGE_COMPUTE:
        return "compute";
    case ASSAY_STAGE_MODEL:
        break;
    }
    return "model";
}

/* A stage of copies and fills alone cannot have done more than they do. What a kernel does is not
 * known; times under the floor that its cost gives are flagged. */
static bool check_cost(const struct serial_stage *entry, struct assay_error *error)
{
    const struct assay_cost *cost = &entry->cost;
    uint64_t reads, writes;
    if (!command_traffic(entry->command, &reads, &writes))
        return true;
    uint64_t most = reads > writes ? reads : writes;
    if (cost->payload_bytes <= most && cost->read_bytes <= reads && cost->written_bytes <= writes)
        return true;
    return assay_fail(error, ASSAY_INTERNAL,
                      "the cost of stage '%s' is not what it does: it states %llu B of payload, "
                      "%llu B read and %llu B written, but its copies and fills read %llu B and "
                      "write %llu B",
                      entry->stage->name, (unsigned long long)cost->payload_bytes,
                      (unsigned long long)cost->read_bytes, (unsigned long long)cost->written_bytes,
                      (unsigned long long)reads, (unsigned long long)writes);
}

struct vulkan_queue *serial_stage_queue(const struct serial_stage *entry)
{
    return command_queue(entry->command);
}

static bool record_for(struct serial_stage *entry, enum vulkan_role role,
                       const struct serial_params *params, struct assay_error *error)
{
    const struct assay_stage *stage = entry->stage;
    bool apart = params->slot->device->member_count > 1 && stage->kind == ASSAY_STAGE_TRANSFER;
    entry->role = role;
    entry->member = apart ? 1 : 0;
    struct command_params create = {
        .slot = params->slot, .name = stage->name, .role = role, .member = entry->member};
    command_destroy(&entry->command);
    entry->command = command_create(&create, error);
    if (!entry->command)
        return false;
    if (!stage->record(registry_stage(stage), params->self, entry->command, error))
        return serial_hook_failed(stage->name, "record", error);
    return command_finish(entry->command, error);
}

/* Which way a stage copies shows once it is recorded. */
static bool stage_record(struct serial_stage *entry, const struct serial_params *params,
                         struct assay_error *error)
{
    bool compute = entry->stage->kind == ASSAY_STAGE_COMPUTE;
    if (!record_for(entry, compute ? VULKAN_ROLE_COMPUTE : VULKAN_ROLE_TRANSFER, params, error))
        return false;
    struct vulkan_device *device = params->slot->device->members[entry->member];
    if (params->downloads_apart && !compute && command_is_download(entry->command) &&
        device_queue(device, VULKAN_ROLE_TRANSFER_BACK) != serial_stage_queue(entry) &&
        !record_for(entry, VULKAN_ROLE_TRANSFER_BACK, params, error))
        return false;
    if (!check_cost(entry, error))
        return false;
    entry->device_time = command_has_timestamps(entry->command);
    entry->host_clock = !entry->device_time || command_touches_host(entry->command);
    entry->step_ns = serial_stage_queue(entry)->step_ns *
                     (int64_t)command_submission_count(entry->command);
    return true;
}

static bool stage_add(struct serial *serial, const struct assay_stage *stage,
                      const struct serial_params *params, struct assay_error *error)
{
    for (unsigned i = 0; i < serial->count; i++) {
        if (strcmp(serial->stages[i].stage->name, stage->name) == 0)
            return assay_fail(error, ASSAY_INTERNAL,
                              "'%s' has two stages '%s' that are present at once",
                              params->workload->name, stage->name);
    }
    if (serial->count == MEASURE_STAGES_MAX)
        return assay_fail(error, ASSAY_INTERNAL, "'%s' has more than %d stages",
                          params->workload->name, MEASURE_STAGES_MAX);
    struct serial_stage *entry = &serial->stages[serial->count++];
    *entry = (struct serial_stage){.stage = stage, .host_clock = true};
    if (stage->cost)
        stage->cost(registry_stage(stage), params->params, &entry->cost);
    bool device = stage->kind == ASSAY_STAGE_TRANSFER || stage->kind == ASSAY_STAGE_COMPUTE;
    serial->device = serial->device || device;
    return !device || stage_record(entry, params, error);
}

static bool reset_record(struct serial *serial, const struct serial_params *params,
                         struct assay_error *error)
{
    if (!params->slot || !serial->device)
        return assay_fail(error, ASSAY_INVALID, "'%s' has a reset, but no stage on a device",
                          params->workload->name);
    struct command_params create = {
        .slot = params->slot, .name = "reset", .role = VULKAN_ROLE_COMPUTE};
    serial->reset = command_create(&create, error);
    if (!serial->reset)
        return false;
    if (!params->workload->reset(params->self, serial->reset, error))
        return serial_hook_failed(params->workload->name, "reset", error);
    return command_finish(serial->reset, error);
}

bool serial_prepare(struct serial *serial, const struct serial_params *params,
                    struct assay_error *error)
{
    *serial = (struct serial){
        .self = params->self, .clock = params->clock, .step_ns = clock_step_ns(params->clock)};
    const struct assay_stage *const *stages = params->workload->stages;
    for (size_t i = 0; stages[i]; i++) {
        if (stages[i]->present && !stages[i]->present(registry_stage(stages[i]), params->params))
            continue;
        if (!stage_add(serial, stages[i], params, error))
            return false;
    }
    if (serial->count == 0)
        return assay_fail(error, ASSAY_INVALID, "'%s' has no stage with these parameters",
                          params->workload->name);
    return !params->workload->reset || reset_record(serial, params, error);
}

void serial_finish(struct serial *serial)
{
    repeat_finish(serial);
    for (unsigned i = 0; i < serial->count; i++)
        command_destroy(&serial->stages[i].command);
    command_destroy(&serial->reset);
    serial->count = 0;
}

static bool host_run(struct serial *serial, const struct assay_stage *stage,
                     struct command_times *times, struct assay_error *error)
{
    times->begin_ns = clock_now(serial->clock);
    if (!stage->run(registry_stage(stage), serial->self, error))
        return serial_hook_failed(stage->name, "run", error);
    times->end_ns = clock_now(serial->clock);
    return true;
}

bool serial_model_duration(const struct assay_stage *stage, void *self, int64_t now_ns,
                           int64_t *duration_ns, struct assay_error *error)
{
    *duration_ns = stage->duration_ns(registry_stage(stage), self, now_ns);
    if (*duration_ns >= 0 && *duration_ns <= INT64_MAX - now_ns)
        return true;
    return assay_fail(error, ASSAY_INTERNAL, "stage '%s' has a duration of %lld ns", stage->name,
                      (long long)*duration_ns);
}

static bool model_run(struct serial *serial, const struct assay_stage *stage,
                      struct command_times *times, struct assay_error *error)
{
    int64_t duration;
    times->begin_ns = clock_now(serial->clock);
    if (!serial_model_duration(stage, serial->self, times->begin_ns, &duration, error))
        return false;
    serial->clock->sleep_until_ns(serial->clock, times->begin_ns + duration);
    times->end_ns = clock_now(serial->clock);
    return true;
}

static bool stage_run(struct serial *serial, unsigned index, struct serial_times *times,
                      struct assay_error *error)
{
    struct serial_stage *entry = &serial->stages[index];
    struct command_times of_stage = {0};
    bool good;
    if (entry->stage->kind == ASSAY_STAGE_HOST)
        good = host_run(serial, entry->stage, &of_stage, error);
    else if (entry->stage->kind == ASSAY_STAGE_MODEL)
        good = model_run(serial, entry->stage, &of_stage, error);
    else
        good = command_execute(entry->command, serial->clock, &of_stage, error);
    times->submit_ns += of_stage.submit_ns;
    times->stages[index].time_ns = of_stage.end_ns - of_stage.begin_ns;
    times->stages[index].device_ns = -1;
    times->stages[index].begin_ns = of_stage.begin_ns;
    times->stages[index].end_ns = of_stage.end_ns;
    return good;
}

bool serial_stage_run_alone(struct serial *serial, unsigned index, struct assay_error *error)
{
    struct serial_times times = {0};
    return stage_run(serial, index, &times, error);
}

bool serial_stage_stamps(const struct serial *serial, unsigned index, struct event_stamps *stamps,
                         struct assay_error *error)
{
    struct assay_command *command = serial->stages[index].command;
    *stamps = (struct event_stamps){.there = command && command_has_stamps(command)};
    return !stamps->there || command_stamps(command, &stamps->begin, &stamps->end, error);
}

/* After the batch: reading timestamps is no part of it. */
static bool stamps_read(struct serial *serial, struct serial_times *times,
                        struct assay_error *error)
{
    for (unsigned i = 0; i < serial->count; i++) {
        struct serial_stage *entry = &serial->stages[i];
        if (!entry->command)
            continue;
        int64_t device_ns = -1;
        if (entry->device_time && !command_device_time(entry->command, &device_ns, error))
            return false;
        times->stages[i].device_ns = device_ns;
        if (times->device_ns >= 0)
            times->device_ns = device_ns >= 0 ? times->device_ns + device_ns : -1;
        if (!entry->host_clock)
            times->stages[i].time_ns = device_ns;
    }
    return true;
}

/* Reading the processor's clock is a system call of about a microsecond: after the first batches,
 * of short ones only one in CPU_EVERY_NS of work is read. */
static bool cpu_wanted(struct serial *serial)
{
    if (serial->clock->simulated)
        return false;
    if (serial->cpu_skip == 0)
        return true;
    serial->cpu_skip--;
    return false;
}

bool serial_batch(struct serial *serial, struct serial_times *times, struct assay_error *error)
{
    times->submit_ns = times->device_ns = 0;
    times->cpu_ns = -1;
    struct command_times untimed;
    if (serial->reset && !command_execute(serial->reset, serial->clock, &untimed, error))
        return false;
    bool cpu = cpu_wanted(serial);
    int64_t cpu_begin = cpu ? clock_process_cpu_ns() : 0;
    int64_t begin = clock_now(serial->clock);
    for (unsigned i = 0; i < serial->count; i++)
        if (!stage_run(serial, i, times, error))
            return false;
    times->time_ns = clock_now(serial->clock) - begin;
    if (cpu) {
        times->cpu_ns = clock_process_cpu_ns() - cpu_begin;
        if (serial->cpu_reads < CPU_ALWAYS)
            serial->cpu_reads++;
        else
            serial->cpu_skip = (unsigned)(CPU_EVERY_NS / (times->time_ns + 1));
    }
    return stamps_read(serial, times, error);
}
