/* SPDX-License-Identifier: MIT */
/* Candidates of a choice, tried: right or not, and how fast. Inside core/measure only. */
#ifndef MEASURE_TUNE_TRIAL_H
#define MEASURE_TUNE_TRIAL_H

#include "measure/member.h"
#include "measure/tune.h"

#define TUNE_TIMES 10 /* at most, of a candidate */

enum tune_verdict {
    TUNE_UNTRIED, /* the time was over before */
    TUNE_RIGHT,
    TUNE_WRONG,
    TUNE_FAILED,
    TUNE_UNSUPPORTED,
    TUNE_CRASH, /* it ended or hung its worker */
};
extern const char *const tune_verdict_names[];

/* A candidate whose slot is alive. */
struct tune_trial {
    struct member member;
    struct measure_request request;
    struct measure_result result;
    void *params;
};

struct tune_candidate {
    char name[ASSAY_TUNING_BYTES];
    enum tune_verdict verdict;
    bool avoided;  /* not to be tried: it crashed, or was wrong in a case */
    bool rejected; /* it was wrong in a case */
    bool settled;  /* an earlier trial, whose time was over, has its verdict and time */
    bool again;    /* settled, and tried once more after the others when there is time */
    struct text reason;
    int64_t times_ns[TUNE_TIMES], time_ns; /* time_ns: the least; 0: none */
    unsigned count;
    struct tune_trial *trial; /* while it may be the fastest */
};

struct tune_trials {
    const struct measure_request *request;
    const void *params; /* those that candidates are tried with */
    struct assay_clock *clock;
    const struct tuning_store *store;
    struct tune_candidate *candidates;
    size_t count;
    int64_t spent_ns;
    double flops, bytes;                  /* of a batch of a candidate, by its cost */
    const struct tune_candidate *culprit; /* after which the device was past use; or NULL */
};

/* Tries all that are neither avoided nor settled, then those that are to be tried again; fills
 * their verdicts and times. False: the device is past use, and the candidate that did it is marked
 * TUNE_CRASH. */
bool tune_try(struct tune_trials *trials, struct assay_error *error);
/* The right candidate that is fastest, the earlier one where two differ by under 1 %; count when
 * there is none. */
size_t tune_fastest(const struct tune_candidate *candidates, size_t count);

#endif
