/* SPDX-License-Identifier: MIT */
/* Order statistics. Pure functions, any thread. */
#ifndef STATS_QUANTILE_H
#define STATS_QUANTILE_H

#include <assay/api.h>

struct interval {
    double estimate, low, high;
};

/* Sorts ascending in place. */
void stats_sort(double *values, size_t count);
/* Median of ascending values: the middle one, or the mean of the middle two. count >= 1. */
double stats_median(const double *sorted, size_t count);
/* The q-quantile of ascending values, 0 <= q <= 1, count >= 1: linear between the order statistics
 * around position q (count - 1) from 0 (Hyndman & Fan, Sample quantiles in statistical packages,
 * 1996, definition 7). For q = 1/2 the median. */
double stats_quantile(const double *sorted, size_t count, double q);

/* P(X <= k) of a binomial (count, q), 0 < q < 1. A relative error of about 1e-16 count log(count)
 * (3e-8 at 10^7); takes about 10 sqrt(count) steps. */
double stats_binomial_at_most(size_t count, double q, size_t k);

/* Indices (from 0) of the order statistics between which the q-quantile lies with at least
 * `confidence`, whatever the continuous distribution of independent samples: index i lies under it
 * unless at most i samples do, and their number is binomial (count, q) (David & Nagaraja, Order
 * Statistics, 2003, 7.1). The error is shared evenly by both sides; where one side's even share
 * has no order statistic, that side takes the extreme and the other what is left. The indices
 * always enclose the estimate. False (and the extremes) when count is too small: 5 samples cover
 * the median with 93.75 % at best, 6 with 96.9 %; also for q outside (0, 1). */
bool stats_quantile_ranks(size_t count, double q, double confidence, size_t *low, size_t *high);

/* The quantile with the interval of these ranks. count >= 1. False as above. */
bool stats_quantile_interval(const double *sorted, size_t count, double q, double confidence,
                             struct interval *out);
/* The same for samples that depend on each other: worth `effective` independent ones (see
 * stats/effective.h), so the ranks' distance to the quantile's grows by sqrt(count / effective).
 * False too when a grown rank leaves the samples, or when as many independent samples as
 * `effective`, rounded down, would be too few. effective >= count changes nothing. */
bool stats_quantile_interval_effective(const double *sorted, size_t count, double effective,
                                       double q, double confidence, struct interval *out);
/* stats_quantile_interval for the median. The ranks are symmetric. */
bool stats_median_interval(const double *sorted, size_t count, double confidence,
                           struct interval *out);

#endif
