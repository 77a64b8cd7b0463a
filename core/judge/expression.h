/* SPDX-License-Identifier: MIT */
/* Derived metrics: what they were computed from, and their figures. Pure, any thread. */
#ifndef JUDGE_EXPRESSION_H
#define JUDGE_EXPRESSION_H

#include "judge/turns.h"
#include "result/metric.h"

/* A tree whose nodes may be shared. The owner of a node keeps its operands alive. */
struct expression {
    struct metric metric; /* of a leaf its own; else what interval arithmetic gives */
    enum metric_operator by;
    const struct expression *a, *b; /* NULL: a leaf, exact when its metric.n is 0 */
    unsigned depth;                 /* of operators; 0: a leaf */
};

#define EXPRESSION_DEPTH 1000u /* deeper: what is below counts as a leaf without samples */
#define EXPRESSION_NODES 2048u
#define EXPRESSION_TURNS ((size_t)1 << 20) /* of all leaves together, looked at a replicate */

/* `a` and `b` combined; *out points to them. Names as metric_combine makes them. */
bool expression_combine(enum metric_operator by, const struct expression *a,
                        const struct expression *b, struct arena *arena, struct expression *out,
                        struct assay_error *error);

/* Gives the samples behind a leaf (empty: none; freed by the caller) and its turn group: leaves of
 * one group were taken in the same turns. */
typedef bool expression_fetch(void *user, const struct expression *leaf, struct turns *turns,
                              uint64_t *group, struct assay_error *error);

/* The figures of `root`. Steps with an exact operand carry the interval of the other one along
 * (they are monotone). What is left is
 * - a leaf: its own interval;
 * - a ratio of two leaves of one turn group: the median of the ratios turn by turn with its
 *   order-statistic interval (stats/ratio.h);
 * - anything else: the expression of the medians of the leaves and of such ratios, by resampling
 * whole turns, groups independent of each other (stats/resample.h); with several groups the
 * interval grows by sqrt(count / effective size) of the series that is worth least
 * (stats/effective.h), as cases at different times have it (in the logarithm where it cannot but be
 * over 0).
 * At the highest confidence of the records involved. Interval arithmetic (`root->metric`) where an
 * inexact leaf has no samples, too few, in the same group another number or an interval that is
 * wider than its samples' (the clock's step limits it), where a replicate has no finite value, or
 * where the expression is over the limits above. Absent where a leaf is, and where a leaf does not
 * fit its samples. Strings in *out are root's or static. False when out of memory, or with what
 * `fetch` fails with. */
bool expression_evaluate(const struct expression *root, uint64_t seed, expression_fetch *fetch,
                         void *user, struct metric *out, struct assay_error *error);

/* The value of `root` in each turn, when all its inexact leaves are of one turn group; *count 0
 * else. *values is to be freed. */
bool expression_turns(const struct expression *root, expression_fetch *fetch, void *user,
                      double **values, size_t *count, struct assay_error *error);

#endif
