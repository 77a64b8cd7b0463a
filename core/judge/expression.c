/* SPDX-License-Identifier: MIT */
#include "judge/expression.h"

#include "stats/effective.h"
#include "stats/ratio.h"
#include "stats/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char unfit[] = "a figure does not fit its samples: the record was changed";

#define FIT 1e-9 /* relative */
#define NONE SIZE_MAX

struct node {
    const struct expression *of;
    size_t a, b;  /* indices; of an operator */
    bool sampled; /* an inexact leaf is in it */
    bool drawn;   /* its median is taken of each replicate's turns */
    bool positive;
    double value; /* of the picks at hand */
    /* Of an inexact leaf, and of a ratio of two of one group within a larger expression: */
    struct turns turns;
    size_t group;   /* index */
    double *sorted; /* times */
    uint32_t *rank; /* of each turn in `sorted` */
};

struct evaluation {
    struct node *nodes; /* operands stand before what is made of them; the root is last */
    size_t count, room;
    uint64_t *groups; /* as fetched */
    size_t *group_turns;
    size_t group_count;
    uint32_t *tally; /* of each rank in a replicate */
    size_t core;     /* what is left without exact operands */
    double confidence;
    bool sampled; /* all inexact leaves have samples */
    const char *absent;
};

bool expression_combine(enum metric_operator by, const struct expression *a,
                        const struct expression *b, struct arena *arena, struct expression *out,
                        struct assay_error *error)
{
    unsigned depth = (a->depth > b->depth ? a->depth : b->depth) + 1;
    *out = (struct expression){.by = by, .a = a, .b = b, .depth = depth};
    if (depth > EXPRESSION_DEPTH)
        *out = (struct expression){0};
    return metric_combine(by, &a->metric, &b->metric, arena, &out->metric, error);
}

static void evaluation_free(struct evaluation *e)
{
    for (size_t i = 0; i < e->count; i++) {
        turns_free(&e->nodes[i].turns);
        free(e->nodes[i].sorted);
        free(e->nodes[i].rank);
    }
    free(e->nodes);
    free(e->groups);
    free(e->group_turns);
    free(e->tally);
}

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a derived metric");
}

/* Adds the node after its operands. *index is NONE when there are too many. */
static bool collect(struct evaluation *e, const struct expression *of, size_t *index,
                    struct assay_error *error)
{
    size_t a = NONE, b = NONE;
    for (*index = 0; *index < e->count; ++*index)
        if (e->nodes[*index].of == of)
            return true;
    *index = NONE;
    if (of->a) {
        if (!collect(e, of->a, &a, error) || !collect(e, of->b, &b, error))
            return false;
        if (a == NONE || b == NONE)
            return true;
    }
    if (e->count == EXPRESSION_NODES)
        return true;
    if (e->count == e->room) {
        size_t room = e->room ? 2 * e->room : 16;
        struct node *nodes = realloc(e->nodes, room * sizeof(*nodes));
        if (!nodes)
            return no_memory(error);
        e->nodes = nodes;
        e->room = room;
    }
    struct node node = {.of = of, .a = a, .b = b, .value = of->metric.value};
    node.sampled = of->a ? e->nodes[a].sampled || e->nodes[b].sampled : of->metric.n > 0;
    *index = e->count;
    e->nodes[e->count++] = node;
    return true;
}

static bool alike(double a, double b)
{
    return fabs(a - b) <= FIT * fabs(b);
}

/* Whether the figures are those of the samples. A wider interval is one that the clock's step
 * limits; then the samples do not tell the truth about it: *wide. */
static bool fits(const struct node *node, bool *wide)
{
    const struct metric *metric = &node->of->metric;
    struct interval times;
    stats_median_interval(node->sorted, node->turns.count, node->turns.confidence, &times);
    double low = turns_value(&node->turns, node->turns.rate ? times.high : times.low);
    double high = turns_value(&node->turns, node->turns.rate ? times.low : times.high);
    bool low_wide = metric->low < low && !alike(metric->low, low);
    bool high_wide = metric->high > high && !alike(metric->high, high);
    *wide = low_wide || high_wide;
    return node->turns.count == metric->n &&
           alike(metric->value, turns_value(&node->turns, times.estimate)) &&
           (low_wide || alike(metric->low, low)) && (high_wide || alike(metric->high, high));
}

struct place {
    double value;
    uint32_t turn;
};

static int place_compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->turn > y->turn) - (x->turn < y->turn);
}

static bool rank_turns(struct node *node, struct assay_error *error)
{
    size_t count = node->turns.count;
    struct place *places = calloc(count, sizeof(*places));
    node->sorted = calloc(count, sizeof(*node->sorted));
    node->rank = calloc(count, sizeof(*node->rank));
    bool good = places && node->sorted && node->rank;
    for (size_t i = 0; good && i < count; i++)
        places[i] = (struct place){node->turns.values[i], (uint32_t)i};
    if (good)
        qsort(places, count, sizeof(*places), place_compare);
    for (size_t i = 0; good && i < count; i++) {
        node->sorted[i] = places[i].value;
        node->rank[places[i].turn] = (uint32_t)i;
    }
    free(places);
    return good || no_memory(error);
}

/* Whether its turns go with those of the group that are there already. */
static bool join_group(struct evaluation *e, struct node *node, uint64_t group)
{
    for (node->group = 0; node->group < e->group_count; node->group++)
        if (e->groups[node->group] == group)
            return e->group_turns[node->group] == node->turns.count;
    e->groups[e->group_count] = group;
    e->group_turns[e->group_count++] = node->turns.count;
    return true;
}

static bool fetch_leaf(struct evaluation *e, struct node *node, expression_fetch *fetch, void *user,
                       struct assay_error *error)
{
    uint64_t group = 0;
    if (!fetch(user, node->of, &node->turns, &group, error))
        return false;
    group ^= node->turns.which; /* what is of other turns is drawn apart */
    if (node->turns.count == 0 || node->turns.count > UINT32_MAX || !join_group(e, node, group)) {
        e->sampled = false;
        return true;
    }
    e->confidence = fmax(e->confidence, node->turns.confidence);
    if (!rank_turns(node, error))
        return false;
    bool wide;
    if (!fits(node, &wide))
        e->absent = unfit;
    e->sampled = e->sampled && !wide;
    return true;
}

/* The node without the operators that have an exact operand. */
static size_t find_core(const struct evaluation *e)
{
    size_t at = e->count - 1;
    while (e->nodes[at].of->a &&
           e->nodes[e->nodes[at].a].sampled != e->nodes[e->nodes[at].b].sampled)
        at = e->nodes[e->nodes[at].a].sampled ? e->nodes[at].a : e->nodes[at].b;
    return at;
}

/* Sets up the evaluation. *usable: samples are there for what is to be computed by them. */
static bool prepare(struct evaluation *e, const struct expression *root, bool leaf_too,
                    expression_fetch *fetch, void *user, bool *usable, struct assay_error *error)
{
    size_t index, most = 0, looks = 0;
    *usable = false;
    if (!collect(e, root, &index, error))
        return false;
    if (index == NONE || !e->nodes[index].sampled)
        return true;
    for (size_t i = 0; i < e->count; i++)
        if (e->nodes[i].of->metric.absent && !(e->nodes[i].of->a && e->nodes[i].sampled))
            return true; /* nothing but what samples may still give */
    e->core = find_core(e);
    if (!e->nodes[e->core].of->a && !leaf_too)
        return true;
    e->groups = calloc(e->count, sizeof(*e->groups));
    e->group_turns = calloc(e->count, sizeof(*e->group_turns));
    if (!e->groups || !e->group_turns)
        return no_memory(error);
    e->sampled = true;
    for (size_t i = 0; i < e->count && e->sampled && !e->absent; i++) {
        struct node *node = &e->nodes[i];
        if (node->of->a || !node->sampled)
            continue;
        if (!fetch_leaf(e, node, fetch, user, error))
            return false;
        size_t turns = node->turns.count;
        most = turns > most ? turns : most;
        looks += turns < RESAMPLE_MOST_TURNS ? turns : RESAMPLE_MOST_TURNS;
        e->sampled = e->sampled && looks <= EXPRESSION_TURNS;
    }
    e->tally = calloc(most ? most : 1, sizeof(*e->tally));
    *usable = e->sampled && !e->absent;
    return e->tally || no_memory(error);
}

/* The values of all operators from those of the leaves; in_turn: of ratios with turns too. */
static void compute_nodes(struct evaluation *e, bool in_turn)
{
    for (size_t i = 0; i < e->count; i++) {
        struct node *node = &e->nodes[i];
        if (!node->sampled || !node->of->a || (!in_turn && node->turns.count))
            continue;
        double a = e->nodes[node->a].value, b = e->nodes[node->b].value;
        switch (node->of->by) {
        case METRIC_ADD:
            node->value = a + b;
            break;
        case METRIC_SUBTRACT:
            node->value = a - b;
            break;
        case METRIC_MULTIPLY:
            node->value = a * b;
            break;
        case METRIC_DIVIDE:
            node->value = a / b;
            break;
        case METRIC_LARGER:
            node->value = fmax(a, b);
            break;
        }
    }
}

/* The values in one turn of all nodes that are of one group. */
static void compute_turn(struct evaluation *e, size_t turn)
{
    for (size_t i = 0; i < e->count; i++) {
        struct node *node = &e->nodes[i];
        if (node->sampled && !node->of->a && turn < node->turns.count)
            node->value = turns_value(&node->turns, node->turns.values[turn]);
    }
    compute_nodes(e, true);
}

static double picked_median(struct evaluation *e, const struct node *node,
                            const struct picks *picks)
{
    memset(e->tally, 0, node->turns.count * sizeof(*e->tally));
    for (size_t i = 0; i < picks->count; i++)
        e->tally[node->rank[picks->turns[i]]]++;
    double middle[2];
    size_t seen = 0, at = 0, wanted[2] = {(picks->count - 1) / 2, picks->count / 2};
    for (int k = 0; k < 2; k++) {
        while (seen + e->tally[at] <= wanted[k])
            seen += e->tally[at++];
        middle[k] = node->sorted[at];
    }
    return stats_median(middle, 2);
}

static bool derive(void *context, const struct picks *groups, size_t group_count, double *value,
                   struct assay_error *error)
{
    struct evaluation *e = context;
    (void)group_count;
    (void)error;
    for (size_t i = 0; i < e->count; i++) {
        struct node *node = &e->nodes[i];
        if (node->drawn)
            node->value = turns_value(&node->turns, picked_median(e, node, &groups[node->group]));
    }
    compute_nodes(e, false);
    *value = e->nodes[e->core].value;
    return true;
}

/* The leaf that the node is but for exact operands, or NULL. */
static const struct node *single_leaf(const struct evaluation *e, size_t at)
{
    while (e->nodes[at].of->a) {
        const struct node *node = &e->nodes[at];
        if (e->nodes[node->a].sampled == e->nodes[node->b].sampled)
            return NULL;
        at = e->nodes[node->a].sampled ? node->a : node->b;
    }
    return &e->nodes[at];
}

/* Whether the node is a ratio of two leaves of one group; its group and its turns. */
static bool is_paired(const struct evaluation *e, const struct node *node, size_t *group,
                      size_t *count)
{
    if (!node->of->a || node->of->by != METRIC_DIVIDE || !e->nodes[node->a].sampled ||
        !e->nodes[node->b].sampled)
        return false;
    const struct node *a = single_leaf(e, node->a), *b = single_leaf(e, node->b);
    if (!a || !b || a->group != b->group)
        return false;
    *group = a->group;
    *count = a->turns.count;
    return true;
}

/* A paired ratio within a larger expression is drawn as the median of its ratios. */
static bool pair_ratios(struct evaluation *e, struct assay_error *error)
{
    for (size_t i = 0; i < e->count; i++) {
        struct node *node = &e->nodes[i];
        size_t count;
        bool finite = true;
        if (!is_paired(e, node, &node->group, &count))
            continue;
        double *values = calloc(count, sizeof(*values));
        if (!values)
            return no_memory(error);
        for (size_t turn = 0; turn < count; turn++) {
            compute_turn(e, turn);
            values[turn] = node->value;
            finite = finite && isfinite(node->value);
        }
        if (!finite) {
            free(values);
            continue;
        }
        node->turns = (struct turns){.values = values, .count = count, .scale = 1};
        if (!rank_turns(node, error))
            return false;
    }
    return true;
}

/* *done: the core is such a ratio, and its values allow it. */
static bool paired(struct evaluation *e, struct interval *out, bool *done,
                   struct assay_error *error)
{
    const struct node *core = &e->nodes[e->core];
    *done = false;
    size_t group, count;
    if (!is_paired(e, core, &group, &count))
        return true;
    double *values = calloc(2 * count, sizeof(*values));
    if (!values)
        return no_memory(error);
    for (size_t i = 0; i < count; i++) {
        compute_turn(e, i);
        values[i] = e->nodes[core->a].value;
        values[count + i] = e->nodes[core->b].value;
    }
    struct stats_ratio ratio;
    struct assay_error why = {0};
    *done = stats_ratio_paired(values, values + count, count, e->confidence, RATIO_MARGIN, &ratio,
                               &why);
    free(values);
    *out = ratio.interval;
    if (*done || why.status != ASSAY_OUT_OF_MEMORY)
        return true;
    *error = why;
    return false;
}

/* What the core is computed from: leaves, and in place of those of a paired ratio the ratio. */
static void mark_drawn(struct evaluation *e)
{
    e->nodes[e->core].drawn = true;
    for (size_t i = e->core + 1; i-- > 0;) {
        struct node *node = &e->nodes[i];
        if (!node->drawn || node->turns.count)
            continue;
        node->drawn = false;
        if (node->of->a && node->sampled)
            e->nodes[node->a].drawn = e->nodes[node->b].drawn = true;
    }
}

/* By how much what is drawn turn by turn, as if turns were independent, tells too narrow an
 * interval: by the least share that a series is worth. Within one group it is not known how much of
 * that is common to all and cancels. */
static bool dependence(const struct evaluation *e, double *factor, struct assay_error *error)
{
    double least = 1;
    for (size_t i = 0; e->group_count > 1 && i < e->count; i++) {
        const struct turns *turns = &e->nodes[i].turns;
        double effective;
        if (!e->nodes[i].drawn)
            continue;
        if (!stats_effective_size(turns->values, turns->count, &effective, error))
            return false;
        least = fmin(least, effective / (double)turns->count);
    }
    *factor = 1 / sqrt(least);
    return true;
}

/* Which nodes cannot but be over 0, whatever is drawn: sums, products and ratios of what is. */
static void mark_positive(struct evaluation *e)
{
    for (size_t i = 0; i <= e->core; i++) {
        struct node *node = &e->nodes[i];
        if (node->turns.count)
            node->positive = node->sorted[0] > 0;
        else if (!node->of->a)
            node->positive = node->of->metric.value > 0;
        else
            node->positive = node->of->by != METRIC_SUBTRACT && e->nodes[node->a].positive &&
                             e->nodes[node->b].positive;
    }
}

/* The ends' distances from the estimate grow by the factor; in the logarithm where the sign is
 * certain, or what is never under 0 would be said to reach there. */
static void widen(struct interval *interval, double factor, bool positive)
{
    double estimate = interval->estimate, low = interval->low, high = interval->high;
    if (factor == 1)
        return;
    if (positive && low > 0) {
        interval->low = estimate * pow(low / estimate, factor);
        interval->high = estimate * pow(high / estimate, factor);
    } else {
        interval->low = estimate - (estimate - low) * factor;
        interval->high = estimate + (high - estimate) * factor;
    }
}

static bool resampled(struct evaluation *e, uint64_t seed, struct interval *out, bool *done,
                      struct assay_error *error)
{
    struct assay_error why = {0};
    double factor;
    if (!pair_ratios(e, error))
        return false;
    mark_drawn(e);
    *done = stats_resample(e->group_turns, e->group_count, e->confidence, seed, derive, e, out,
                           &why);
    if (!*done) {
        if (why.status == ASSAY_OUT_OF_MEMORY)
            *error = why;
        return why.status != ASSAY_OUT_OF_MEMORY;
    }
    if (!dependence(e, &factor, error))
        return false;
    mark_positive(e);
    widen(out, factor, e->nodes[e->core].positive);
    return true;
}

/* *done: `out` has the core's figures. */
static bool from_samples(struct evaluation *e, uint64_t seed, struct metric *out, bool *done,
                         struct assay_error *error)
{
    struct interval interval;
    if (!paired(e, &interval, done, error) ||
        (!*done && !resampled(e, seed, &interval, done, error)))
        return false;
    if (*done)
        *out = (struct metric){
            .value = interval.estimate, .low = interval.low, .high = interval.high};
    return true;
}

/* Carries the core's figures through what was taken off. False: they are not finite there. */
static bool carry(const struct evaluation *e, size_t at, struct metric *figures)
{
    const struct node *node = &e->nodes[at];
    if (at == e->core)
        return true;
    const struct metric *exact;
    bool left = e->nodes[node->a].sampled;
    if (!carry(e, left ? node->a : node->b, figures))
        return false;
    exact = &e->nodes[left ? node->b : node->a].of->metric;
    struct metric out = {0};
    metric_compute(node->of->by, left ? figures : exact, left ? exact : figures, &out);
    *figures = out;
    return !out.absent;
}

bool expression_evaluate(const struct expression *root, uint64_t seed, expression_fetch *fetch,
                         void *user, struct metric *out, struct assay_error *error)
{
    struct evaluation e = {0};
    struct metric figures = {0};
    bool usable, done = false;
    *out = root->metric;
    if (!root->a)
        return true;
    bool good = prepare(&e, root, false, fetch, user, &usable, error) &&
                (!usable || from_samples(&e, seed, &figures, &done, error));
    if (good && e.absent)
        out->absent = e.absent;
    if (good && done && carry(&e, e.count - 1, &figures)) {
        out->absent = NULL;
        out->value = figures.value;
        out->low = figures.low;
        out->high = figures.high;
    }
    evaluation_free(&e);
    return good;
}

bool expression_turns(const struct expression *root, expression_fetch *fetch, void *user,
                      double **values, size_t *count, struct assay_error *error)
{
    struct evaluation e = {0};
    bool usable;
    *values = NULL;
    *count = 0;
    bool good = prepare(&e, root, true, fetch, user, &usable, error);
    if (good && usable && e.group_count == 1) {
        *values = calloc(e.group_turns[0], sizeof(**values));
        good = *values || no_memory(error);
        *count = good ? e.group_turns[0] : 0;
        for (size_t i = 0; i < *count; i++) {
            compute_turn(&e, i);
            (*values)[i] = e.nodes[e.count - 1].value;
        }
    }
    evaluation_free(&e);
    return good;
}
