/* SPDX-License-Identifier: MIT */
/* What a schedule is to the sampler: how many slots a case has, what one sample is, and how a batch
 * a slot is issued to be verified. One a kind of schedule (experiment/schedule.h). Inside
 * core/measure only. */
#ifndef MEASURE_METHOD_H
#define MEASURE_METHOD_H

#include "measure/engine.h"
#include "measure/member.h"

struct measure_method {
    unsigned (*slots)(const struct member *member); /* how many there are to be, at least 1 */
    /* Optional. What slot `slot` has that is not as in the request, in a copy of its parameters. */
    bool (*params)(const struct member *member, unsigned slot, void *params,
                   struct assay_error *error);
    /* Optional. All slots are there: what else it takes, in member->state. */
    bool (*open)(struct member *member, struct assay_error *error);
    /* Optional. How many samples there are to be, neither fewer nor more; 0: the sampler knows. */
    unsigned (*turns)(const struct member *member);
    /* One sample, and *time_ns the figure that decides when sampling ends. In the warm-up `times`
     * counts for nothing but what repeat_watch takes of it. */
    bool (*sample)(struct member *member, bool warmup, struct serial_times *times, int64_t *time_ns,
                   struct assay_error *error);
    /* One batch in each slot, as the schedule issues them. `perturb`: NULL for none. */
    bool (*run_all)(struct member *member, const struct engine_perturb *perturb,
                    struct assay_error *error);
    /* Optional. Metrics that are not times of turns. */
    bool (*report)(struct member *member, double confidence, struct assay_error *error);
    /* Optional. What the figure of a sample is, after `report`; NULL: its drift is told there.
     * None: "time". */
    const char *(*figure)(const struct member *member);
    void (*close)(struct member *member); /* Optional; also after an open that failed */
    /* Times that a sample has beside those of serial_times, in ns: metrics and series of these
     * names. */
    const char *const *extras;
    unsigned extra_count; /* at most SERIAL_EXTRAS */
    bool windows; /* a sample is a window, which has no times of submission, device and processor */
    bool downloads_apart; /* downloads go to the queue for them, where the device has one */
};

/* Of a schedule that is offered (schedule_offered). */
const struct measure_method *measure_method_of(enum schedule_kind kind);

/* ASSAY_UNSUPPORTED: a workload with `reset` needs the serial schedule. */
bool method_refuse_reset(const struct member *member, struct assay_error *error);

/* First touch and first dispatch of each slot, once: a batch that counts nowhere. */
bool method_touch(struct member *member, struct assay_error *error);

extern const struct measure_method method_serial, method_pipelined, method_queued, method_sustained;

#endif
