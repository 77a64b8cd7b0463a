/* SPDX-License-Identifier: MIT */
/* How many independent samples a series is worth. Pure functions, any thread. */
#ifndef STATS_EFFECTIVE_H
#define STATS_EFFECTIVE_H

#include "base/error.h"

/* The effective size of `count` values in the order they were taken: count / (1 + 2 sum of
 * autocorrelations), the sum over Geyer's initial monotone sequence (Geyer, Practical Markov chain
 * Monte Carlo, Statistical Science 7, 1992, section 3.3), on the values' ranks so that a heavy tail
 * hides nothing (Vehtari et al., Rank-normalization, folding, and localization, Bayesian Analysis
 * 16, 2021, section 3). In [1, count]: a series that alternates is not worth more than its count.
 * Fewer than 4 values, or all alike: their count. Over 2^14 values, neighbours are averaged until
 * there are that few, with the variance of the mean kept (Flyvbjerg & Petersen, Error estimates on
 * averages of correlated data, 1989), so the cost is bounded (at most some 0.1 s, mostly under
 * 5 ms). A series of few correlation times is told too well: by a quarter at 64 values and
 * autocorrelation 0.5 (size 21), 2.6 times at 0.9 (size 3). False only when out of memory. */
bool stats_effective_size(const double *values, size_t count, double *effective,
                          struct assay_error *error);

/* Ranks from 1 in `ranks`, values alike share their mean rank. False when out of memory. */
bool stats_ranks(const double *values, size_t count, double *ranks, struct assay_error *error);

#endif
