/* SPDX-License-Identifier: MIT */
/* Intervals of derived values by resampling. Pure functions, any thread. */
#ifndef STATS_RESAMPLE_H
#define STATS_RESAMPLE_H

#include "base/error.h"
#include "stats/quantile.h"

#define RESAMPLE_REPLICATES 999u
#define RESAMPLE_MOST_TURNS 2048u /* picked for one replicate of a group */

/* The turns of one group as a replicate picked them: indices into the group's turns, some more than
 * once, some not at all. */
struct picks {
    const size_t *turns;
    size_t count;
};

/* The value computed from the picked turns of each group. All that was measured in a turn (stages,
 * cases taken in turn) goes by the same index, which keeps what belongs together together. False
 * when there is no value (with `error`); so is a value that is not finite. */
typedef bool stats_derive(void *context, const struct picks *groups, size_t group_count,
                          double *value, struct assay_error *error);

/* The value of all turns, with the percentile interval of 999 replicates, each of which draws as
 * many turns as there are, with replacement (Efron & Tibshirani, An Introduction to the Bootstrap,
 * 1993, chapter 13.3; ends at ranks 1000 e/2 and 1000 (1 - e/2) of the replicates: Davison &
 * Hinkley, Bootstrap Methods and their Application, 1997, 5.3.1). Groups are cases that were not
 * taken in turn: each is drawn on its own (as in Efron & Tibshirani, 8.3). The draws follow from
 * `seed`: same input, same answer, everywhere. The interval is widened to hold the estimate.
 *
 * A group of more than 2048 turns is drawn 2048 at a time, and the ends' distance from the estimate
 * shrinks by sqrt(2048 / turns) (m out of n: Bickel, Goetze & van Zwet, Resampling fewer than n
 * observations, 1997); with several groups by the factor of the smallest, which errs to the wide
 * side. So `derive` is called 1000 times, 999 of them with at most 2048 turns a group.
 *
 * The interval of few turns is too narrow by nature (at 6 turns by about a tenth to a fifth). False
 * with ASSAY_INVALID when a group has under 6 turns (8 for 99 %; as many as a median's interval
 * needs) or when a value is not finite; what `derive` fails with; ASSAY_OUT_OF_MEMORY. */
bool stats_resample(const size_t *turns, size_t group_count, double confidence, uint64_t seed,
                    stats_derive *derive, void *context, struct interval *out,
                    struct assay_error *error);

#endif
