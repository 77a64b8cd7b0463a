/* SPDX-License-Identifier: MIT */
/* Whether a series of samples moved while it was taken. Pure. */
#ifndef MEASURE_DRIFT_H
#define MEASURE_DRIFT_H

#include "base/text.h"
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
/* {"tau","z","p","change","drifting"}, or null. */
void drift_add(const struct drift *drift, struct text *out);
/* "drift: ...", for a drift that is drifting. */
void drift_add_note(const struct drift *drift, size_t count, struct text *out);

#endif
