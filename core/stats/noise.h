/* SPDX-License-Identifier: MIT */
/* The smallest change that can be decided, from a thing measured against itself. Pure functions,
 * any thread. */
#ifndef STATS_NOISE_H
#define STATS_NOISE_H

#include "stats/ratio.h"

#define NOISE_CONFIDENCE 0.95
#define NOISE_RUNS 6u

/* A slow-down s is found when the low end of the ratio's interval is over 1 + margin. The interval
 * reaches `width` (in the logarithm, the larger side) from its estimate, and the estimate is up to
 * about `width` from 1 + s; so what is over margin + 2 width is found in some 97.5 % of all
 * attempts, if the noise stays what it was. The estimate's own distance from 1 counts where it is
 * more than `width`: there should have been none. */
struct noise {
    double width;
    double distance; /* of the estimate from 1, in the logarithm */
    double smallest; /* e^(2 width) - 1 + margin */
    size_t count;    /* turns, or runs */
};

/* Turn by turn (stats_ratio_paired). Ratios that depend on each other are worth as many as their
 * effective size. False: too few turns for an interval, or ASSAY_INVALID, ASSAY_OUT_OF_MEMORY. */
bool noise_paired(const double *values, const double *reference, size_t count, double margin,
                  struct noise *out, struct stats_ratio *ratio, struct assay_error *error);

/* Several pairs of the same thing, each with memory of its own: where that lies in the caches moves
 * a pair's ratio as a whole, which its turns do not show. Their widths are pooled as if their turns
 * were those of one pair; the largest distance from 1 counts. */
void noise_pool(const struct noise *pairs, size_t count, double margin, struct noise *out);

/* Runs of the same thing at different times, each with its samples in the order taken. The width of
 * a ratio of two of them holds what the samples of two runs tell (the root mean square of theirs,
 * by effective size) and how much the runs' medians differ: their standard deviation in the
 * logarithm, times Student's t for its NOISE_RUNS - 1 degrees of freedom, times sqrt(2) for two
 * runs. `between` gets the latter part alone, which is what stats_ratio_unpaired wants to know;
 * `within` the former for one run. ASSAY_INVALID: a run without samples, or one not over 0. */
struct noise_run {
    const double *values;
    size_t count;
};
bool noise_unpaired(const struct noise_run runs[NOISE_RUNS], double margin, struct noise *out,
                    double *between, double *within, struct assay_error *error);

#endif
