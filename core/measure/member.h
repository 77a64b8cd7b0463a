/* SPDX-License-Identifier: MIT */
/* A case while it is alive: slot, recordings, samples. Inside core/measure only. */
#ifndef MEASURE_MEMBER_H
#define MEASURE_MEMBER_H

#include "measure/measure.h"
#include "measure/sampler.h"
#include "measure/samples.h"
#include "measure/serial.h"
#include "measure/verification.h"

struct member {
    const struct measure_request *request;
    struct measure_result *result;
    struct assay_clock *clock; /* the group's */
    bool model;
    bool alive;                        /* it takes part in turns */
    const struct measure_watch *watch; /* NULL: nobody watches, or it is a model */
    struct assay_slot *slot;
    void *self;
    struct serial serial;
    struct samples samples;
    const char *tuning_note; /* of the tuner, for the result; "": none */
    bool repeats_due;        /* in this turn */
    int64_t repeated_ns;     /* what repeat_sample spent, of all turns */
    struct assay_verification verification;
    bool verified;
};

/* Slot and recordings. On failure member_finish is still due. */
bool member_prepare(struct member *member, struct assay_error *error);
/* A batch that does not count, and one that does. */
bool member_warm(struct member *member, int64_t *time_ns, struct assay_error *error);
/* Between the two: what the warm-up has shown to be short is recorded again, many times over. */
bool member_settle(struct member *member, struct assay_error *error);
/* The latter in a turn with device times of repeated stages, or one without (repeat_sample). */
bool member_sample(struct member *member, int64_t *time_ns, struct assay_error *error);
/* What is verified is what was measured: the same recording, once more on fresh contents. */
bool member_run_fresh(struct member *member, struct assay_error *error);
bool member_verify(struct member *member, struct assay_error *error);
/* Fills the result anew from the samples so far. The array of its notes is left open. */
bool member_report(struct member *member, const struct sampler *sampler, size_t series,
                   struct assay_error *error);
void member_close_notes(struct member *member);
void member_forget_report(struct member *member);
/* What the slot held goes into the result, and the slot goes away. */
void member_finish(struct member *member);

#endif
