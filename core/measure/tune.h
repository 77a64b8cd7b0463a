/* SPDX-License-Identifier: MIT */
/* A choice that parameters leave open (struct assay_tuning): from the cache, or by trying the
 * candidates. Worker process only. */
#ifndef MEASURE_TUNE_H
#define MEASURE_TUNE_H

#include "measure/measure.h"
#include "result/tuning_store.h"

#define TUNE_BUDGET_NS INT64_C(3000000000) /* of all candidates together */

/* What was chosen for a case. All zero: nothing was open. */
struct tuned {
    void *params;                    /* the case's, with the choice; owned */
    char choice[ASSAY_TUNING_BYTES]; /* the name of the candidate; lives as long as params */
    struct tuning_store store;
    struct text record; /* JSON object: `tuning` of the case's record */
    struct text note;   /* what is wrong with the cache; or empty */
    bool unkept;        /* the choice cannot be kept; the note says why */
};

bool tune_wanted(const struct measure_request *request);
/* Looks the choice up, or makes it within some TUNE_BUDGET_NS; `anew`: makes it whatever is kept.
 * Candidates that ended their worker, or were wrong in a case, are not tried again in either case.
 * False: no candidate can be used, or the device is past use. `tuned` is to be freed in any case.
 */
bool tune_case(const struct measure_request *request, struct assay_clock *clock, bool anew,
               struct tuned *tuned, struct assay_error *error);
/* The choice was wrong in the case, as `failure` says, which gets to know what becomes of it: no
 * case chooses it again. */
void tune_reject(struct tuned *tuned, struct assay_error *failure);
void tune_free(struct tuned *tuned);

#endif
