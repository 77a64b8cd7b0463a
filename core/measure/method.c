/* SPDX-License-Identifier: MIT */
#include "measure/method.h"

static unsigned one_slot(const struct member *member)
{
    (void)member;
    return 1;
}

static bool serial_sample(struct member *member, bool warmup, struct serial_times *times,
                          int64_t *time_ns, struct assay_error *error)
{
    struct serial *serial = &member->slots[0].serial;
    if (!serial_batch(serial, times, error) ||
        (!warmup &&
         !repeat_sample(serial, member->repeats_due, times, &member->repeated_ns, error)))
        return false;
    *time_ns = times->time_ns;
    return true;
}

/* There is nothing between the stages that a delay could bring to light. */
static bool serial_run_all(struct member *member, const struct engine_perturb *perturb,
                           struct assay_error *error)
{
    struct serial_times times;
    (void)perturb;
    return serial_batch(&member->slots[0].serial, &times, error);
}

const struct measure_method method_serial = {
    .slots = one_slot,
    .sample = serial_sample,
    .run_all = serial_run_all,
};

bool method_refuse_reset(const struct member *member, struct assay_error *error)
{
    return assay_fail(
        error, ASSAY_UNSUPPORTED,
        "'%s' is put back between two batches (reset), which only the serial schedule "
        "does",
        member->request->workload->name);
}

bool method_touch(struct member *member, struct assay_error *error)
{
    struct serial_times times;
    for (unsigned i = 0; !member->touched && i < member->slot_count; i++)
        if (!serial_batch(&member->slots[i].serial, &times, error))
            return false;
    member->touched = true;
    return true;
}

const struct measure_method *measure_method_of(enum schedule_kind kind)
{
    switch (kind) {
    case SCHEDULE_PIPELINED:
        return &method_pipelined;
    case SCHEDULE_OPEN_LOOP:
    case SCHEDULE_CLOSED_LOOP:
        return &method_queued;
    case SCHEDULE_SUSTAINED:
        return &method_sustained;
    case SCHEDULE_SERIAL:
        break;
    }
    return &method_serial;
}
