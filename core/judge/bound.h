/* SPDX-License-Identifier: MIT */
/* A bound against a metric: pass when the whole interval meets it, fail when the whole interval
 * misses it, inconclusive in between, not judged when the metric is absent. Pure. */
#ifndef JUDGE_BOUND_H
#define JUDGE_BOUND_H

#include "result/metric.h"

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_INCONCLUSIVE, VERDICT_NOT_JUDGED };
const char *verdict_name(enum verdict verdict); /* "pass", "fail", "inconclusive", "not judged" */

enum bound_kind {
    BOUND_AT_LEAST,
    BOUND_AT_MOST,
    BOUND_BETWEEN, /* low and high */
    BOUND_NEAR,    /* low and high from value and tolerance */
    BOUND_EQUALS,  /* exact metrics only, or both ends equal */
    BOUND_IS_TRUE,
    BOUND_INCREASING, /* over a series */
    BOUND_DECREASING,
};
const char *bound_name(enum bound_kind kind); /* "at_least", ... */

struct bound {
    enum bound_kind kind;
    double low, high; /* base units; AT_LEAST uses low, AT_MOST high */
    struct dimension dimension;
    const char *text; /* the limit as the user wrote it, for messages; NULL: from the numbers */
};

enum verdict bound_judge(const struct bound *bound, const struct metric *metric);
/* "copy.rate 1.21 GB/s [1.18, 1.23] n=40 < 1.5 GB/s", with >=, <, <=, "overlaps", "outside", ... as
 * the verdict has it. */
void bound_add_message(struct text *text, const struct bound *bound, const struct metric *metric,
                       enum verdict verdict);

/* A series in the order of a parameter: each step may fall back by at most `tolerance` times the
 * size of the earlier value. A step passes when even the low end of the later is not under the high
 * end of the earlier less that; fails when the high end is under the low end of the earlier less
 * that; any failure fails, else any inconclusive step makes it inconclusive. *step: index of the
 * later member of the deciding step (of the last one when all pass); the earlier one is the nearest
 * present before it. Fewer than two present members: not judged, *step is 0. DECREASING: the mirror
 * image. */
enum verdict bound_judge_series(enum bound_kind kind, const struct metric *metrics, size_t count,
                                double tolerance, size_t *step);

#endif
