/* SPDX-License-Identifier: MIT */
/* Two series of times compared. Pure functions, any thread. */
#ifndef STATS_RATIO_H
#define STATS_RATIO_H

#include "base/error.h"
#include "stats/quantile.h"

#define RATIO_MARGIN 0.01      /* unless said */
#define RATIO_SHORT 64u        /* samples: a run of fewer tells little of the machine */
#define RATIO_SHORT_SPREAD 0.2 /* in the logarithm, of runs just under that */
#define RATIO_SHORT_MOST 1.1   /* a factor of 3 */
#define RATIO_NO_SPREAD 1e-12  /* up to this: runs are known not to differ; 0: it is not known */

enum stats_answer {
    STATS_UNDECIDED,
    STATS_SAME,   /* the whole interval lies inside 1 +- margin */
    STATS_FASTER, /* the whole interval of the times' ratio lies under 1 - margin */
    STATS_SLOWER, /* ... over 1 + margin */
};

/* Why an answer is undecided. */
enum stats_doubt {
    STATS_NO_DOUBT,
    STATS_WIDE,       /* the interval reaches over a margin: more samples may help */
    STATS_FEW,        /* too few samples for the confidence */
    STATS_CORRELATED, /* unpaired: neighbouring samples are too alike to tell what is between runs
                       */
    STATS_DRIFTING,   /* unpaired: a trend within a series */
    STATS_SHORT,      /* unpaired: decided but for the allowance for short runs */
};

struct stats_ratio {
    struct interval interval; /* of time / reference */
    enum stats_answer answer;
    enum stats_doubt doubt;
    /* Effective size over count: of the ratios (paired), of the worse series (unpaired). */
    double effective_share;
};

/* "undecided", "same", "faster", "slower". */
const char *stats_answer_name(enum stats_answer answer);
/* "the interval is wider than the margin", ...; "" for none. Never NULL. */
const char *stats_doubt_text(enum stats_doubt doubt);
/* The margin rule alone. margin >= 0. */
enum stats_answer stats_ratio_answer(const struct interval *ratio, double margin);

/* Samples taken in turn, values[i] beside reference[i]: the median of their ratios with its
 * order-statistic interval. What hits both of a turn cancels. Values must be positive and finite:
 * ASSAY_INVALID names the turn. For rates swap the two. */
bool stats_ratio_paired(const double *values, const double *reference, size_t count,
                        double confidence, double margin, struct stats_ratio *out,
                        struct assay_error *error);

/* Samples of two runs at different times, each in the order taken: the ratio of the medians. Each
 * median's interval is widened by its series' effective size; the two are combined by their
 * distances in the logarithm (Zou & Donner, Construction of confidence limits about effect
 * measures, Statistics in Medicine 27, 2008). What differs between the runs only is not in the
 * samples, so some is guessed from what moves within them:
 * - when a series' effective share is under 1/2, or its rank test finds a trend (p < 0.05), the
 *   machine changes at the pace of the runs, and the answer is undecided whatever the interval;
 * - `between` is the relative spread of whole runs where it is known (`assay noise`), else 0; the
 *   interval is widened by it on both sides. Where it is not known, runs of under 64 samples saw
 *   too little of the machine for that, and are widened by 1/5, times 64 over the samples of the
 *   shorter run, at most a factor of 3: all of a short run may lie in a neighbour's burst.
 * A machine that changes more slowly than the runs last can still mislead. For rates swap. */
bool stats_ratio_unpaired(const double *values, size_t count, const double *reference,
                          size_t reference_count, double confidence, double margin, double between,
                          struct stats_ratio *out, struct assay_error *error);

#endif
