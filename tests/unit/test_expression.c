/* SPDX-License-Identifier: MIT */
/* Derived metrics: paired ratios, resampling, what has no samples, what is absent. */
#include "judge/expression.h"

#include "base/json.h"
#include "stats/effective.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TURNS 9
#define EXACT_CONFIDENCE 0.95

/* A leaf and what is behind it; `leaf` stands first, so that fetch finds the rest. */
struct source {
    struct expression leaf;
    double values[64]; /* ns */
    size_t count;
    uint64_t group;
    double amount; /* of a rate; 0: a time */
};

static bool fetch(void *user, const struct expression *leaf, struct turns *turns, uint64_t *group,
                  struct assay_error *error)
{
    const struct source *source = (const struct source *)(const void *)leaf;
    (void)error;
    ++*(unsigned *)user;
    *turns = (struct turns){.count = source->count,
                            .scale = source->amount > 0 ? source->amount * 1e9 : 1e9,
                            .rate = source->amount > 0,
                            .confidence = EXACT_CONFIDENCE};
    *group = source->group;
    if (source->count == 0)
        return true;
    turns->values = malloc(sizeof(source->values));
    assert_non_null(turns->values);
    memcpy(turns->values, source->values, source->count * sizeof(double));
    return true;
}

/* The leaf's own figures: the median with its order-statistic interval, as a record has them. */
static void describe(struct source *source)
{
    double sorted[64];
    struct interval interval;
    memcpy(sorted, source->values, sizeof(sorted));
    stats_sort(sorted, source->count);
    stats_median_interval(sorted, source->count, EXACT_CONFIDENCE, &interval);
    struct metric *metric = &source->leaf.metric;
    *metric = (struct metric){.name = "time", .dimension = {.seconds = 1}, .n = source->count};
    metric->value = interval.estimate / 1e9;
    metric->low = interval.low / 1e9;
    metric->high = interval.high / 1e9;
    if (source->amount > 0) {
        metric->dimension = (struct dimension){.bytes = 1, .seconds = -1};
        metric->value = source->amount * 1e9 / interval.estimate;
        metric->low = source->amount * 1e9 / interval.high;
        metric->high = source->amount * 1e9 / interval.low;
    }
}

/* Two members of a group on a machine whose speed moves by half: each time of b is 2 % over that
 * of a in the same turn, more or less. Medians: a 120, b 122 (ns); ratios b / a sorted: 1.01 1.015
 * 1.018 1.019 1.02 1.021 1.022 1.025 1.03; with 9 samples ranks 1 and 7 (from 0) cover 96.1 %. */
static const double speeds[TURNS] = {100000, 150000, 110000, 140000, 120000,
                                     105000, 145000, 115000, 135000};
static const double factors[TURNS] = {1.02, 1.01, 1.03, 1.018, 1.021, 1.025, 1.015, 1.022, 1.019};

static void pair(struct source *a, struct source *b)
{
    *a = (struct source){.count = TURNS, .group = 7};
    *b = (struct source){.count = TURNS, .group = 7};
    for (size_t i = 0; i < TURNS; i++) {
        a->values[i] = speeds[i];
        b->values[i] = speeds[i] * factors[i];
    }
    describe(a);
    describe(b);
}

static struct metric evaluate(const struct expression *root, unsigned *fetched)
{
    struct metric out;
    struct assay_error error = {0};
    *fetched = 0;
    assert_true(expression_evaluate(root, 1, fetch, fetched, &out, &error));
    return out;
}

static struct expression combine(enum metric_operator by, const struct expression *a,
                                 const struct expression *b, struct arena *arena)
{
    struct expression out;
    struct assay_error error = {0};
    if (!expression_combine(by, a, b, arena, &out, &error))
        fail_msg("%s", error.text);
    return out;
}

static struct expression exact(double value)
{
    return (struct expression){.metric = {.value = value, .low = value, .high = value}};
}

static void a_ratio_is_paired_turn_by_turn(void **state)
{
    struct source a, b;
    unsigned fetched;
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    struct expression ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    struct metric metric = evaluate(&ratio, &fetched);
    assert_int_equal(fetched, 2);
    assert_true(fabs(metric.value - 1.02) < 1e-12);
    assert_true(fabs(metric.low - 1.015) < 1e-12);
    assert_true(fabs(metric.high - 1.025) < 1e-12);
    assert_int_equal(metric.n, TURNS);
    assert_string_equal(metric.name, "time / time");
    /* Apart, the intervals overlap by far. */
    assert_true(ratio.metric.low < 0.75 && ratio.metric.high > 1.35);

    /* Exact operands on the way change nothing but the scale: 100 (b / 2 / a - 0.5) = 1. */
    struct expression two = exact(2), half = exact(0.5), hundred = exact(100);
    struct expression halved = combine(METRIC_DIVIDE, &b.leaf, &two, arena);
    struct expression inner = combine(METRIC_DIVIDE, &halved, &a.leaf, arena);
    struct expression less = combine(METRIC_SUBTRACT, &inner, &half, arena);
    struct expression all = combine(METRIC_MULTIPLY, &hundred, &less, arena);
    metric = evaluate(&all, &fetched);
    assert_true(fabs(metric.value - 1) < 1e-9);
    assert_true(fabs(metric.low - 0.75) < 1e-9);
    assert_true(fabs(metric.high - 1.25) < 1e-9);
    arena_destroy(&arena);
}

/* b is the larger one in each turn, so the larger median and the one in each turn are b's. */
static void the_larger_one(void **state)
{
    struct source a, b;
    unsigned fetched;
    double *values;
    size_t count;
    struct assay_error error = {0};
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    struct expression larger = combine(METRIC_LARGER, &a.leaf, &b.leaf, arena);
    struct metric metric = evaluate(&larger, &fetched);
    assert_int_equal(fetched, 2);
    assert_true(fabs(metric.value - 122520e-9) < 1e-15);
    assert_true(metric.low > 102000e-9 && metric.high < 151500e-9);
    assert_true(expression_turns(&larger, fetch, &fetched, &values, &count, &error));
    assert_int_equal(count, TURNS);
    for (size_t i = 0; i < TURNS; i++)
        assert_true(fabs(values[i] - b.values[i] / 1e9) < 1e-15);
    free(values);
    struct expression floor = exact(1);
    floor.metric.dimension = larger.metric.dimension;
    struct expression over = combine(METRIC_LARGER, &floor, &b.leaf, arena);
    metric = evaluate(&over, &fetched);
    assert_true(metric.value == 1 && metric.low == 1 && metric.high == 1);
    arena_destroy(&arena);
}

static void a_ratio_of_rates_is_the_times_turned_over(void **state)
{
    struct source a, b;
    unsigned fetched;
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    a.amount = 3e6;
    b.amount = 6e6;
    describe(&a);
    describe(&b);
    /* (6 / b) / (3 / a) = 2 a / b */
    struct expression ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    struct metric metric = evaluate(&ratio, &fetched);
    assert_true(fabs(metric.value - 2 / 1.02) < 1e-12);
    assert_true(fabs(metric.low - 2 / 1.025) < 1e-12);
    assert_true(fabs(metric.high - 2 / 1.015) < 1e-12);
    arena_destroy(&arena);
}

static void a_leaf_is_the_records_own(void **state)
{
    struct source a, b;
    unsigned fetched;
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    struct metric metric = evaluate(&a.leaf, &fetched);
    assert_int_equal(fetched, 0);
    assert_true(metric.low == a.leaf.metric.low && metric.high == a.leaf.metric.high);
    struct expression two = exact(2), double_a = combine(METRIC_MULTIPLY, &two, &a.leaf, arena);
    metric = evaluate(&double_a, &fetched);
    assert_int_equal(fetched, 0);
    assert_true(metric.low == 2 * a.leaf.metric.low && metric.high == 2 * a.leaf.metric.high);
    arena_destroy(&arena);
}

/* b - a varies by 1 us where a alone varies by 50: whole turns must be drawn. The estimate is that
 * of the medians: 122.52 - 120 us. */
static void the_rest_is_resampled_by_turns(void **state)
{
    struct source a, b;
    unsigned fetched;
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    struct expression more = combine(METRIC_SUBTRACT, &b.leaf, &a.leaf, arena);
    struct metric metric = evaluate(&more, &fetched);
    assert_int_equal(fetched, 2);
    assert_true(fabs(metric.value - (b.leaf.metric.value - a.leaf.metric.value)) < 1e-15);
    assert_true(metric.low > 0 && metric.low < metric.value && metric.high > metric.value);
    assert_true(metric.high - metric.low < 4e-6);
    assert_true(more.metric.high - more.metric.low > 60e-6);
    struct metric again = evaluate(&more, &fetched);
    assert_true(metric.low == again.low && metric.high == again.high);

    /* Not of one group: drawn apart, so as wide as the two are. */
    b.group = 8;
    metric = evaluate(&more, &fetched);
    assert_true(metric.high - metric.low > 20e-6);
    struct expression ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    metric = evaluate(&ratio, &fetched);
    assert_true(metric.low < 0.95 && metric.high > 1.1);
    arena_destroy(&arena);
}

/* 64 times of 1 to 1.63 us, in an order that jumps (by 27, which 64 does not divide) or that rises.
 */
static void climb(struct source *source, bool rises, uint64_t group)
{
    *source = (struct source){.count = 64, .group = group};
    for (size_t i = 0; i < 64; i++)
        source->values[i] = 1000 + 10.0 * (double)(rises ? i : i * 27 % 64);
    describe(source);
}

static double width(const struct metric *metric)
{
    return metric->high - metric->low;
}

/* The same figures, but neighbouring turns of one case are alike: worth few, where they were not
 * taken in the same turns. */
static void alike_neighbours_widen_what_was_not_taken_in_turn(void **state)
{
    struct source a, b;
    unsigned fetched;
    double effective;
    struct assay_error error = {0};
    struct arena *arena = arena_create();
    (void)state;
    climb(&a, false, 7);
    climb(&b, false, 8);
    struct expression ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    struct metric apart = evaluate(&ratio, &fetched);
    climb(&b, true, 8);
    ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    struct metric climbing = evaluate(&ratio, &fetched);
    assert_true(stats_effective_size(b.values, b.count, &effective, &error));
    assert_true(effective < 8); /* a climb says little of where it will end */
    assert_true(climbing.value == apart.value);
    assert_float_equal(width(&climbing) / width(&apart), sqrt(64 / effective), 0.4);

    /* Of one group what is common cancels: whole turns are drawn, and that is all. */
    climb(&a, true, 8);
    struct expression sum = combine(METRIC_ADD, &b.leaf, &a.leaf, arena);
    struct metric in_turn = evaluate(&sum, &fetched);
    climb(&a, false, 8);
    climb(&b, false, 8);
    sum = combine(METRIC_ADD, &b.leaf, &a.leaf, arena);
    struct metric jumping = evaluate(&sum, &fetched);
    assert_float_equal(width(&in_turn) / width(&jumping), 1, 0.2);
    arena_destroy(&arena);
}

/* A machine that becomes a hundred times slower half way: few samples' worth, and a wide interval,
 * but a ratio of times is over 0 all the same. A difference need not be. */
static void what_is_over_0_does_not_reach_below(void **state)
{
    struct source a, b;
    unsigned fetched;
    struct arena *arena = arena_create();
    (void)state;
    climb(&a, false, 7);
    climb(&b, false, 8);
    for (size_t i = 0; i < b.count; i++)
        b.values[i] = (i < b.count / 2 ? 1000 : 100000) + (double)(i * 7 % 32);
    describe(&b);
    struct expression ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    struct metric metric = evaluate(&ratio, &fetched);
    assert_true(metric.low > 0 && metric.low < metric.value && metric.value < metric.high);
    struct expression difference = combine(METRIC_SUBTRACT, &b.leaf, &a.leaf, arena);
    struct expression part = combine(METRIC_DIVIDE, &difference, &a.leaf, arena);
    metric = evaluate(&part, &fetched);
    assert_true(metric.low < 0);
    arena_destroy(&arena);
}

/* Two pair groups: each ratio keeps its pairing, 1.02 of the one and its inverse of the other. */
static void ratios_within_are_paired_too(void **state)
{
    struct source a, b, c, d;
    unsigned fetched;
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    pair(&c, &d);
    c.group = d.group = 8;
    struct expression first = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    struct expression second = combine(METRIC_DIVIDE, &c.leaf, &d.leaf, arena);
    struct expression ratio = combine(METRIC_DIVIDE, &first, &second, arena);
    struct metric metric = evaluate(&ratio, &fetched);
    assert_int_equal(fetched, 4);
    assert_true(fabs(metric.value - 1.02 * 1.02) < 1e-12);
    assert_true(metric.low > 1.02 && metric.high < 1.06);
    arena_destroy(&arena);
}

static void equal_samples_give_a_point(void **state)
{
    struct source a, b;
    unsigned fetched;
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    for (size_t i = 0; i < TURNS; i++) {
        a.values[i] = 3000;
        b.values[i] = 6000;
    }
    describe(&a);
    describe(&b);
    struct expression sum = combine(METRIC_ADD, &a.leaf, &b.leaf, arena);
    struct metric metric = evaluate(&sum, &fetched);
    assert_true(metric.low == metric.value && metric.high == metric.value);
    assert_true(metric.value == 3000 / 1e9 + 6000 / 1e9);
    arena_destroy(&arena);
}

static void without_samples_intervals_are_carried(void **state)
{
    struct source a, b;
    unsigned fetched;
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    struct expression ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    b.count = 0;
    struct metric metric = evaluate(&ratio, &fetched);
    assert_true(metric.low == ratio.metric.low && metric.high == ratio.metric.high);
    /* An interval that is the clock's step. */
    pair(&a, &b);
    b.leaf.metric.low *= 0.99;
    ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    metric = evaluate(&ratio, &fetched);
    assert_null(metric.absent);
    assert_true(metric.low == ratio.metric.low && metric.high == ratio.metric.high);
    /* Another number of turns in the same group: not the same turns. */
    pair(&a, &b);
    b.count = TURNS - 1;
    describe(&b);
    ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    metric = evaluate(&ratio, &fetched);
    assert_true(metric.low == ratio.metric.low && metric.high == ratio.metric.high);
    arena_destroy(&arena);
}

static void what_is_absent_stays_absent(void **state)
{
    struct source a, b;
    unsigned fetched;
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    b.leaf.metric = (struct metric){.name = "time", .absent = "skipped: no room"};
    struct expression ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    struct metric metric = evaluate(&ratio, &fetched);
    assert_string_equal(metric.absent, "skipped: no room");
    assert_int_equal(fetched, 0);
    /* An exact division by 0 is not healed by samples. */
    pair(&a, &b);
    struct expression one = exact(1), zero = exact(0);
    struct expression bad = combine(METRIC_DIVIDE, &one, &zero, arena);
    struct expression times = combine(METRIC_MULTIPLY, &a.leaf, &bad, arena);
    struct expression sum = combine(METRIC_DIVIDE, &times, &b.leaf, arena);
    metric = evaluate(&sum, &fetched);
    assert_string_equal(metric.absent, "division by 0");
    /* Intervals that overlap cannot be divided by their difference, but their turns can. */
    struct expression more = combine(METRIC_SUBTRACT, &b.leaf, &a.leaf, arena);
    struct expression share = combine(METRIC_DIVIDE, &a.leaf, &more, arena);
    assert_non_null(share.metric.absent);
    metric = evaluate(&share, &fetched);
    assert_null(metric.absent);
    assert_true(metric.low > 0 && metric.value > 40 && metric.value < 60);
    /* A figure that was edited. */
    a.leaf.metric.low *= 1.001; /* an interval narrower than its samples' */
    ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    metric = evaluate(&ratio, &fetched);
    assert_non_null(metric.absent);
    a.leaf.metric.value *= 1.001;
    ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    metric = evaluate(&ratio, &fetched);
    assert_string_equal(metric.absent, "a figure does not fit its samples: the record was changed");
    arena_destroy(&arena);
}

static void turns_are_those_of_one_group(void **state)
{
    struct source a, b;
    unsigned fetched;
    double *values;
    size_t count;
    struct assay_error error = {0};
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    struct expression ratio = combine(METRIC_DIVIDE, &b.leaf, &a.leaf, arena);
    assert_true(expression_turns(&ratio, fetch, &fetched, &values, &count, &error));
    assert_int_equal(count, TURNS);
    for (size_t i = 0; i < TURNS; i++)
        assert_true(fabs(values[i] - factors[i]) < 1e-12);
    free(values);
    assert_true(expression_turns(&a.leaf, fetch, &fetched, &values, &count, &error));
    assert_int_equal(count, TURNS);
    assert_true(values[1] == 150000 / 1e9);
    free(values);
    b.group = 8;
    assert_true(expression_turns(&ratio, fetch, &fetched, &values, &count, &error));
    assert_int_equal(count, 0);
    assert_null(values);
    arena_destroy(&arena);
}

/* Shared nodes are computed once, or this would not end; too deep a tree falls back. */
static void shared_and_deep_trees_end(void **state)
{
    static struct expression nodes[EXPRESSION_DEPTH + 2];
    struct source a, b;
    unsigned fetched;
    struct arena *arena = arena_create();
    (void)state;
    pair(&a, &b);
    nodes[0] = combine(METRIC_SUBTRACT, &b.leaf, &a.leaf, arena);
    for (size_t i = 1; i < 200; i++)
        nodes[i] = combine(METRIC_ADD, &nodes[i - 1], &nodes[i - 1], arena);
    struct metric metric = evaluate(&nodes[199], &fetched);
    assert_int_equal(fetched, 2);
    double scale = ldexp(1, 199);
    assert_true(fabs(metric.value / scale - (b.leaf.metric.value - a.leaf.metric.value)) < 1e-15);
    assert_true(metric.low > 0);
    for (size_t i = 1; i < EXPRESSION_DEPTH + 2; i++)
        nodes[i] = combine(METRIC_ADD, &nodes[i - 1], &a.leaf, arena);
    assert_non_null(nodes[EXPRESSION_DEPTH - 1].a);
    assert_null(nodes[EXPRESSION_DEPTH].a);
    assert_int_equal(nodes[EXPRESSION_DEPTH].metric.n, TURNS);
    arena_destroy(&arena);
}

static void turns_come_from_records(void **state)
{
    struct assay_error error = {0};
    struct turns turns;
    (void)state;
    const char *samples_text = "{\"unit\":\"ns\",\"series\":{\"time\":[30,10,20],"
                               "\"host_cpu_time\":[1,null,3],\"copy.time\":[8,4,2],"
                               "\"copy.device_time\":[5,5,5],\"fill.device_time\":[7,null,9],"
                               "\"sort.device_time\":[null,4,null],"
                               "\"sum.device_time\":[3,null,1]}}";
    const char *record_text =
        "{\"sampling\":{\"confidence\":0.99},\"stages\":[{\"name\":\"cop\"},{\"name\":\"copy\","
        "\"cost\":{\"payload_bytes\":64,\"flops\":16,\"items\":0}}]}";
    json_t *samples = json_read(samples_text, strlen(samples_text), "samples", &error);
    json_t *record = json_read(record_text, strlen(record_text), "record", &error);
    assert_true(samples && record);
    assert_true(turns_read(samples, record, "time", &turns, &error));
    assert_int_equal(turns.count, 3);
    assert_true(turns.confidence == 0.99 && !turns.rate);
    assert_true(turns_value(&turns, turns.values[0]) == 30 / 1e9);
    turns_free(&turns);
    assert_true(turns_read(samples, record, "copy.rate", &turns, &error));
    assert_true(turns.rate && turns_value(&turns, turns.values[1]) == 16e9);
    turns_free(&turns);
    assert_true(turns_read(samples, record, "copy.flop_rate", &turns, &error));
    assert_true(turns_value(&turns, turns.values[2]) == 8e9);
    turns_free(&turns);
    assert_true(turns_read(samples, record, "copy.device_rate", &turns, &error));
    assert_true(turns_value(&turns, turns.values[2]) == 12.8e9 && turns.which == 0);
    turns_free(&turns);
    /* What is not there in all turns: what there is, and which turns those are. */
    assert_true(turns_read(samples, record, "fill.device_time", &turns, &error));
    assert_int_equal(turns.count, 2);
    assert_true(turns.values[0] == 7 && turns.values[1] == 9 && turns.which != 0);
    uint64_t which = turns.which;
    turns_free(&turns);
    assert_true(turns_read(samples, record, "sum.device_time", &turns, &error));
    assert_true(turns.count == 2 && turns.which == which);
    turns_free(&turns);
    assert_true(turns_read(samples, record, "sort.device_time", &turns, &error));
    assert_true(turns.count == 1 && turns.which != which);
    turns_free(&turns);
    static const char *const none[] = {"copy.item_rate", "host_cpu_time", "cop.rate", "checks"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_true(turns_read(samples, record, none[i], &turns, &error));
        assert_int_equal(turns.count, 0);
        assert_null(turns.values);
    }
    assert_true(turns_read(NULL, record, "time", &turns, &error));
    assert_int_equal(turns.count, 0);
    assert_true(turns_read(samples, NULL, "time", &turns, &error));
    assert_int_equal(turns.count, 0);
    json_decref(samples);
    json_decref(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_is_paired_turn_by_turn),
        cmocka_unit_test(the_larger_one),
        cmocka_unit_test(a_ratio_of_rates_is_the_times_turned_over),
        cmocka_unit_test(a_leaf_is_the_records_own),
        cmocka_unit_test(the_rest_is_resampled_by_turns),
        cmocka_unit_test(alike_neighbours_widen_what_was_not_taken_in_turn),
        cmocka_unit_test(what_is_over_0_does_not_reach_below),
        cmocka_unit_test(ratios_within_are_paired_too),
        cmocka_unit_test(equal_samples_give_a_point),
        cmocka_unit_test(without_samples_intervals_are_carried),
        cmocka_unit_test(what_is_absent_stays_absent),
        cmocka_unit_test(turns_are_those_of_one_group),
        cmocka_unit_test(shared_and_deep_trees_end),
        cmocka_unit_test(turns_come_from_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
