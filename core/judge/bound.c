/* SPDX-License-Identifier: MIT */
#include "judge/bound.h"

#include <math.h>

static const char *const verdict_names[] = {"pass", "fail", "inconclusive", "not judged"};
static const char *const bound_names[] = {"at_least", "at_most", "between",    "near",
                                          "equals",   "is_true", "increasing", "decreasing"};

const char *verdict_name(enum verdict verdict)
{
    return verdict_names[verdict];
}

const char *bound_name(enum bound_kind kind)
{
    return bound_names[kind];
}

static enum verdict choose(bool holds, bool misses)
{
    return holds ? VERDICT_PASS : misses ? VERDICT_FAIL : VERDICT_INCONCLUSIVE;
}

enum verdict bound_judge(const struct bound *bound, const struct metric *metric)
{
    if (metric->absent)
        return VERDICT_NOT_JUDGED;
    switch (bound->kind) {
    case BOUND_AT_LEAST:
        return choose(metric->low >= bound->low, metric->high < bound->low);
    case BOUND_AT_MOST:
        return choose(metric->high <= bound->high, metric->low > bound->high);
    case BOUND_BETWEEN:
    case BOUND_NEAR:
    case BOUND_EQUALS:
        return choose(metric->low >= bound->low && metric->high <= bound->high,
                      metric->high < bound->low || metric->low > bound->high);
    case BOUND_IS_TRUE:
    case BOUND_INCREASING:
    case BOUND_DECREASING:
        break;
    }
    return VERDICT_NOT_JUDGED; /* no bound of one metric */
}

static void add_limit(struct text *text, const struct bound *bound)
{
    if (bound->text) {
        text_add_clean(text, bound->text);
        return;
    }
    quantity_add(text, bound->kind == BOUND_AT_MOST ? bound->high : bound->low, bound->dimension);
    if (bound->kind == BOUND_BETWEEN || bound->kind == BOUND_NEAR) {
        text_add(text, " to ");
        quantity_add(text, bound->high, bound->dimension);
    }
}

void bound_add_message(struct text *text, const struct bound *bound, const struct metric *metric,
                       enum verdict verdict)
{
    static const char *const words[][3] = {
        [BOUND_AT_LEAST] = {">=", "<", "overlaps"},
        [BOUND_AT_MOST] = {"<=", ">", "overlaps"},
        [BOUND_BETWEEN] = {"within", "outside", "overlaps an end of"},
        [BOUND_NEAR] = {"within", "outside", "overlaps an end of"},
        [BOUND_EQUALS] = {"equals", "differs from", "overlaps"},
    };
    text_add_clean(text, metric->name ? metric->name : "value");
    text_add_char(text, ' ');
    if (verdict == VERDICT_NOT_JUDGED || bound->kind > BOUND_EQUALS) {
        text_add(text, "not judged: ");
        text_add_clean(text, metric->absent ? metric->absent : "no bound of one metric");
        return;
    }
    metric_add(text, metric);
    text_add_char(text, ' ');
    text_add(text, words[bound->kind][verdict]);
    text_add_char(text, ' ');
    add_limit(text, bound);
}

/* The least that an increasing series may go on with behind a value, the most of a decreasing one.
 */
static double allowed(enum bound_kind kind, double value, double tolerance)
{
    double slack = tolerance * fabs(value);
    return kind == BOUND_DECREASING ? value + slack : value - slack;
}

static enum verdict step_judge(enum bound_kind kind, const struct metric *earlier,
                               const struct metric *later, double tolerance)
{
    double low = allowed(kind, earlier->low, tolerance);
    double high = allowed(kind, earlier->high, tolerance);
    if (kind == BOUND_DECREASING)
        return choose(later->high <= low, later->low > high);
    return choose(later->low >= high, later->high < low);
}

enum verdict bound_judge_series(enum bound_kind kind, const struct metric *metrics, size_t count,
                                double tolerance, size_t *step)
{
    enum verdict worst = VERDICT_NOT_JUDGED;
    const struct metric *earlier = NULL;
    *step = 0;
    for (size_t i = 0; i < count; i++) {
        if (metrics[i].absent)
            continue;
        if (earlier) {
            enum verdict now = step_judge(kind, earlier, &metrics[i], tolerance);
            if (worst != VERDICT_INCONCLUSIVE || now == VERDICT_FAIL) {
                worst = now;
                *step = i;
            }
            if (worst == VERDICT_FAIL)
                return worst;
        }
        earlier = &metrics[i];
    }
    return worst;
}
