/* SPDX-License-Identifier: MIT */
/* The serial schedule: one batch at a time, its stages in order, each with its own submit and
 * wait. */
#ifndef MEASURE_SERIAL_H
#define MEASURE_SERIAL_H

#include <assay/workload.h>

#include "base/clock.h"
#include "measure/events.h"
#include "measure/repeat.h"
#include "vulkan/command.h"

#define MEASURE_STAGES_MAX 16
#define SERIAL_EXTRAS 8

/* A stage that is present with the case's parameters. */
struct serial_stage {
    const struct assay_stage *stage;
    struct assay_cost cost;
    struct assay_command *command; /* device stages: the recording; owned */
    enum vulkan_role role;         /* device stages */
    unsigned member;               /* device stages: of the device set */
    bool host_clock;               /* its time is host time, else device time */
    bool device_time;              /* device time can be had */
    int64_t step_ns;               /* of a batch's device time: a step of each timestamp pair */
    struct repeat repeat;
};

struct serial {
    void *self; /* the workload's slot object */
    struct assay_clock *clock;
    int64_t step_ns; /* of the clock, clock_step_ns */
    struct serial_stage stages[MEASURE_STAGES_MAX];
    unsigned count;
    struct assay_command *reset;  /* replayed before each batch; NULL: none */
    bool device;                  /* some stage is a device stage */
    unsigned cpu_reads, cpu_skip; /* reads of the processor's time; batches until the next one */
};

struct serial_params {
    const struct assay_workload *workload;
    const void *params;
    struct assay_slot *slot;
    void *self;
    struct assay_clock *clock;
    bool downloads_apart; /* downloads go to the queue for them, where the device has one */
};
/* Finds the present stages and records the device stages, each for the queue of its role; in a set
 * of several devices those of kind TRANSFER for the second member, the others for the first. On
 * failure serial_finish is still due. */
bool serial_prepare(struct serial *serial, const struct serial_params *params,
                    struct assay_error *error);
void serial_finish(struct serial *serial);

struct serial_times {
    int64_t time_ns;   /* end to end, on the clock */
    int64_t submit_ns; /* in submit calls */
    int64_t device_ns; /* sum of the device parts; -1 when a device stage has no timestamps */
    int64_t cpu_ns;    /* of the whole process; -1 where it was not read */
    struct {
        int64_t time_ns, device_ns; /* device_ns -1: none */
        int64_t begin_ns, end_ns;   /* on the clock: as the host saw it */
    } stages[MEASURE_STAGES_MAX];
    int64_t extra_ns[SERIAL_EXTRAS]; /* what a schedule adds (measure/method.h) */
};
/* Of a device stage. */
struct vulkan_queue *serial_stage_queue(const struct serial_stage *entry);
/* One batch. */
bool serial_batch(struct serial *serial, struct serial_times *times, struct assay_error *error);

/* Runs one host stage, or one device stage with its submits and waits. Any thread. */
bool serial_stage_run_alone(struct serial *serial, unsigned index, struct assay_error *error);
/* What the device says of the last execution of a stage, where it says anything. */
bool serial_stage_stamps(const struct serial *serial, unsigned index, struct event_stamps *stamps,
                         struct assay_error *error);
/* How long a MODEL stage that begins now takes. */
bool serial_model_duration(const struct assay_stage *stage, void *self, int64_t now_ns,
                           int64_t *duration_ns, struct assay_error *error);
/* Fills `error` for a hook that failed without giving a reason; always returns false. */
bool serial_hook_failed(const char *owner, const char *hook, struct assay_error *error);
const char *serial_kind_name(enum assay_stage_kind kind); /* "host", "transfer", ... */

#endif
