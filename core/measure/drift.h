/* SPDX-License-Identifier: MIT */
/* Whether a series of samples moved while it was taken. Pure. */
#ifndef MEASURE_DRIFT_H
#define MEASURE_DRIFT_H

#include "base/text.h"
#include "stats/quantile.h"
#include "stats/trend.h"

#define DRIFT_P 0.01      /* of the rank test: a trend this strong by chance at most so often */
#define DRIFT_CHANGE 0.01 /* and a change that matters */
#define DRIFT_LEAST 10    /* samples; of fewer the test says little */

struct drift {
    bool known; /* false: fewer than DRIFT_LEAST samples */
    struct trend trend;
    double change; /* median of the last third of the samples over that of the first, less 1 */
    bool drifting;
};

/* Of times in the order they were taken. */
bool drift_find(const double *values, size_t count, struct drift *drift, struct assay_error *error);
/* By how much the rate changed, of periods in the order they were taken: the median of the first
 * third over that of the last, less 1, with its interval. Each median's is that of order
 * statistics, for as many independent samples as the third is worth: by the effective size of what
 * is left when each third's own median is taken off, since what moved is not noise. The two are
 * combined by their distances in the logarithm (Zou & Donner 2008, as stats/ratio.h). With noise
 * that keeps half of its neighbour's deviation, 40 samples cover in 9 of 10 cases at 95 %. *known
 * is false with fewer than DRIFT_LEAST samples, or one that is not over 0. */
bool drift_of_rate(const double *periods, size_t count, double confidence, bool *known,
                   struct interval *out, struct assay_error *error);
/* "steady": the whole interval lies within DRIFT_CHANGE of 0; "slower", "faster": outside; else
 * "undecided". */
const char *drift_verdict(const struct interval *change);
/* {"tau","z","p","change","drifting"}, or null. */
void drift_add(const struct drift *drift, struct text *out);
/* "drift: FIGURE rose by ...", for a drift that is drifting. */
void drift_add_note(const struct drift *drift, const char *figure, size_t count, struct text *out);

#endif
