/* SPDX-License-Identifier: MIT */
/* A case measured in two runs, metric by metric. Pure functions of records. */
#ifndef RESULT_COMPARE_H
#define RESULT_COMPARE_H

#include "result/metric.h"
#include "stats/ratio.h"

#define COMPARE_CONFIDENCE 0.95
#define COMPARE_METRICS 64 /* of one case */

struct compare_side {
    const json_t *record;  /* of the case */
    const json_t *samples; /* its samples record, or NULL */
};

struct compare_params {
    double margin;     /* RATIO_MARGIN unless said */
    double confidence; /* 0 or less than it: COMPARE_CONFIDENCE */
    double between;    /* relative spread of whole runs where it is known, else 0 (stats/ratio.h) */
};

struct comparison {
    struct metric a, b; /* as recorded; strings belong to the records */
    bool compared;      /* false: `why` says why there is no ratio; the answer is undecided */
    enum stats_answer answer;
    enum stats_doubt doubt; /* of `compared` ones that are undecided */
    struct interval
        ratio;       /* of the metric, b / a: over 1 is slower for a time, faster for a rate */
    const char *why; /* why the answer is undecided, or ""; static or of the records */
};

/* The metrics that tell how fast a case was: its end-to-end time, then of each stage its rate (or
 * the next it has of flop rate, item rate, time) that both records have. A lone stage that has only
 * a time says nothing more than the end-to-end time and is left out. Returns how many; the names
 * belong to `a`. */
size_t compare_metric_names(const json_t *a, const json_t *b, const char *names[COMPARE_METRICS]);

/* The metric of b against that of a, from the samples (stats_ratio_unpaired, at params->confidence,
 * or less where the fewer of the samples cannot cover that). Exact values (no samples behind them)
 * and simulated times that do not vary are compared as they are. A figure that does not fit its
 * samples is not compared. False: ASSAY_INVALID when the metric is neither a time nor a rate;
 * ASSAY_OUT_OF_MEMORY. */
bool compare_metric(const char *name, const struct compare_side *a, const struct compare_side *b,
                    const struct compare_params *params, struct comparison *out,
                    struct assay_error *error);

#endif
