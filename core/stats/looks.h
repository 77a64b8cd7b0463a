/* SPDX-License-Identifier: MIT */
/* When an undecided bound is looked at again. Pure functions, any thread. */
#ifndef STATS_LOOKS_H
#define STATS_LOOKS_H

#include <assay/api.h>

/* Looking again and again until a bound is decided decides wrongly far more often than one look
 * would. Here samples double between looks, and the few looks share the error evenly: by
 * Bonferroni's inequality the chance of any wrong conclusion is at most 5 looks x 1 % = 5 %
 * (Armitage, McPherson & Rowe, Repeated significance tests on accumulating data, 1969, for what
 * happens without; Jennison & Turnbull, Group Sequential Methods, 2000, chapter 2). */
#define LOOKS_MOST 5u
#define LOOKS_CONFIDENCE 0.99 /* of the interval at each look, whether or not more will follow */
#define LOOKS_FIRST 8u        /* samples: the fewest whose median's interval covers 99 % */

/* The number of samples at which look `look` (0 ... LOOKS_MOST - 1) is taken, when look 0 was at
 * `first` samples (taken as LOOKS_FIRST when fewer); SIZE_MAX when it is no number; 0 when there is
 * no such look. */
size_t stats_look_at(size_t first, unsigned look);

/* Samples to have before the next look, when `taken` looks were taken, the first at `first`
 * samples, and at most `most` samples are wanted (a budget). 0: there is no further look, the bound
 * stays undecided. A last look before the doubling because the budget ends there is one as well,
 * if it has at least half as many samples again as the look before. */
size_t stats_look_next(size_t first, unsigned taken, size_t most);

#endif
