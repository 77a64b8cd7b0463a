/* SPDX-License-Identifier: MIT */
/* Averages of a process whose values depend on those before them, from windows of it. Pure
 * functions, any thread. */
#ifndef STATS_BATCH_MEANS_H
#define STATS_BATCH_MEANS_H

#include "base/error.h"
#include "stats/quantile.h"

/* sum(x) / sum(y) over windows, such as latencies over requests or requests over time, with the
 * interval of batch means (Law & Carson, A sequential procedure for determining the length of a
 * steady-state simulation, Operations Research 27, 1979): the windows' deviations x - ratio y give
 * its variance, by their effective number (stats/effective.h), and Student's t the width. sum(y) is
 * over 0. Fewer than 2 windows say nothing of it: *known is false, and the interval the estimate.
 * `variance` may be NULL. False when out of memory. */
bool stats_batch_ratio(const double *x, const double *y, size_t count, double confidence,
                       struct interval *out, double *variance, bool *known,
                       struct assay_error *error);

/* The two-sided quantile of Student's t: P(|T| <= t) = confidence; 0 < confidence < 1, freedom >=
 * 1. Within 1 % from 3 degrees of freedom on. */
double stats_student(double confidence, double freedom);

#endif
