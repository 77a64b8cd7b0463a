/* SPDX-License-Identifier: MIT */
/* A case while it is alive: slots, recordings, samples. Inside core/measure only. */
#ifndef MEASURE_MEMBER_H
#define MEASURE_MEMBER_H

#include "measure/measure.h"
#include "measure/sampler.h"
#include "measure/samples.h"
#include "measure/serial.h"
#include "measure/verification.h"

/* A slot of a case: the workload's object, and its stages with their recordings. */
struct member_slot {
    struct assay_slot *slot;
    void *self;
    void *params; /* of its own; NULL: the request's */
    struct serial serial;
    struct assay_verification verification;
};

struct member {
    const struct measure_request *request;
    struct measure_result *result;
    struct assay_clock *clock;           /* the group's */
    const struct measure_method *method; /* the schedule's; measure/method.h */
    void *state;                         /* the method's own */
    bool model;
    bool alive;                        /* it takes part in turns */
    const struct measure_watch *watch; /* NULL: nobody watches, or it is a model */
    struct member_slot *slots;
    unsigned slot_count; /* of those there is room for, so many were begun with */
    bool touched;        /* each slot has run once: method_touch */
    uint64_t turns;      /* so far, without the warm-up */
    struct samples samples;
    const char *tuning_note; /* of the tuner, for the result; "": none */
    bool repeats_due;        /* in this turn */
    int64_t repeated_ns;     /* what repeat_sample spent, of all turns */
    bool verified;
};

/* Slots and recordings. On failure member_finish is still due. */
bool member_prepare(struct member *member, struct assay_error *error);
/* A sample that does not count, and one that does; what that is, is the method's business. */
bool member_warm(struct member *member, int64_t *time_ns, struct assay_error *error);
/* Between the two: what the warm-up has shown to be short is recorded again, many times over. */
bool member_settle(struct member *member, struct assay_error *error);
/* The latter in a turn with device times of repeated stages, or one without (repeat_sample). */
bool member_sample(struct member *member, int64_t *time_ns, struct assay_error *error);
/* What is verified is what was measured: the same recordings, under the same schedule, once more on
 * fresh contents in all slots. Pass 0 is that; with --perturb, further passes make one stage late
 * each. */
unsigned member_passes(const struct member *member);
bool member_run_fresh(struct member *member, unsigned pass, struct assay_error *error);
bool member_verify(struct member *member, struct assay_error *error);
/* Fills the result anew from the samples so far. The array of its notes is left open. */
bool member_report(struct member *member, const struct sampler *sampler, size_t series,
                   struct assay_error *error);
void member_close_notes(struct member *member);
void member_forget_report(struct member *member);
/* What the slots held goes into the result, and they go away. */
void member_finish(struct member *member);

/* For the member's files: a note for the record, and what the slots hold. */
void member_note(struct member *member, const char *note);
void member_add_resources(struct member *member);
/* Of all slots together. */
void member_memory(const struct member *member, uint64_t *device_bytes, uint64_t *host_bytes);

#endif
