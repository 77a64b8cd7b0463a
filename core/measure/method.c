/* SPDX-License-Identifier: MIT */
#include "measure/method.h"

#include "measure/trace.h"

#include <stdlib.h>

/* The serial schedule's: only where a trace is asked for. */
struct traced {
    struct engine_layout layout;
    struct trace trace; /* of the samples */
};

static bool serial_open(struct member *member, struct assay_error *error)
{
    if (!member->request->trace)
        return true;
    struct traced *self = member->state = calloc(1, sizeof(*self));
    if (!self)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a trace");
    struct serial *slot = &member->slots[0].serial;
    engine_layout_make(&slot, 1, member->request->params, &self->layout);
    trace_look(&self->trace, member->request->device, false);
    return trace_open(&self->trace, &self->layout, error);
}

static void serial_close(struct member *member)
{
    struct traced *self = member->state;
    if (self)
        trace_free(&self->trace);
    free(self);
    member->state = NULL;
}

static bool trace_batch(struct member *member, const struct serial_times *times,
                        struct assay_error *error)
{
    struct traced *self = member->state;
    const struct serial *serial = &member->slots[0].serial;
    for (unsigned i = 0; self && i < self->layout.stages; i++) {
        struct event event = {.batch = member->turns,
                              .stage = i,
                              .group = self->layout.group_of[i],
                              .begin_ns = times->stages[i].begin_ns,
                              .end_ns = times->stages[i].end_ns,
                              .cpu_ns = -1};
        if (!serial_stage_stamps(serial, i, &event.stamps, error) ||
            !trace_event(&self->trace, &event, error))
            return false;
    }
    return true;
}

static bool serial_report(struct member *member, double confidence, struct assay_error *error)
{
    struct traced *self = member->state;
    (void)confidence;
    (void)error;
    text_clear(&member->result->trace);
    if (!self)
        return true;
    trace_look(&self->trace, member->request->device, true);
    trace_add(&self->trace, &self->layout, &member->slots[0].serial, 1, &member->result->trace);
    return true;
}

static unsigned one_slot(const struct member *member)
{
    (void)member;
    return 1;
}

static bool serial_sample(struct member *member, bool warmup, struct serial_times *times,
                          int64_t *time_ns, struct assay_error *error)
{
    struct serial *serial = &member->slots[0].serial;
    if (!serial_batch(serial, times, error) || (!warmup && !trace_batch(member, times, error)) ||
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
    .open = serial_open,
    .sample = serial_sample,
    .run_all = serial_run_all,
    .report = serial_report,
    .close = serial_close,
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
