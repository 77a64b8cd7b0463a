/* SPDX-License-Identifier: MIT */
#include "stats/resample.h"

#include "noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct series {
    const double *values[2];
    size_t calls, most;
};

static double mean(const struct series *series, size_t which, const struct picks *picks)
{
    double sum = 0;
    for (size_t i = 0; i < picks->count; i++)
        sum += series->values[which][picks->turns[i]];
    return sum / (double)picks->count;
}

static bool derive_mean(void *context, const struct picks *groups, size_t group_count,
                        double *value, struct assay_error *error)
{
    (void)error;
    struct series *series = context;
    assert_int_equal(group_count, 1);
    series->calls++;
    if (groups[0].count > series->most)
        series->most = groups[0].count;
    *value = mean(series, 0, &groups[0]);
    return true;
}

/* Both series by the same turns. */
static bool derive_paired(void *context, const struct picks *groups, size_t group_count,
                          double *value, struct assay_error *error)
{
    (void)group_count, (void)error;
    *value = mean(context, 0, &groups[0]) - mean(context, 1, &groups[0]);
    return true;
}

static bool derive_apart(void *context, const struct picks *groups, size_t group_count,
                         double *value, struct assay_error *error)
{
    (void)error;
    assert_int_equal(group_count, 2);
    *value = mean(context, 0, &groups[0]) - mean(context, 1, &groups[1]);
    return true;
}

static void fill_normal(double *values, size_t count, uint64_t seed)
{
    struct noise noise;
    noise_start(&noise, NOISE_QUIET, seed);
    for (size_t i = 0; i < count; i++)
        values[i] = 10 + noise_normal(&noise);
}

static double deviation(const double *values, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    for (size_t i = 0; i < count; i++)
        squares += pow(values[i] - sum / (double)count, 2);
    return sqrt(squares / (double)count);
}

/* The mean's interval is estimate +- 1.96 s / sqrt(n): from 200 turns, and from 20000 of which
 * 2048 are drawn at a time. */
static void interval_of_a_mean(void **state)
{
    (void)state;
    static const size_t counts[] = {200, 20000};
    double *values = calloc(20000, sizeof *values);
    assert_non_null(values);
    fill_normal(values, 20000, 4);
    for (size_t c = 0; c < 2; c++) {
        struct series series = {.values = {values}};
        struct interval out;
        assert_true(stats_resample(&counts[c], 1, 0.95, 7, derive_mean, &series, &out, NULL));
        assert_int_equal(series.calls, 1000);
        double half = 1.959964 * deviation(values, counts[c]) / sqrt((double)counts[c]);
        printf("n = %zu: down %.3f, up %.3f of the analytic half-width\n", counts[c],
               (out.estimate - out.low) / half, (out.high - out.estimate) / half);
        assert_float_equal((out.estimate - out.low) / half, 1, 0.12);
        assert_float_equal((out.high - out.estimate) / half, 1, 0.12);
        struct interval wide;
        assert_true(stats_resample(&counts[c], 1, 0.99, 7, derive_mean, &series, &wide, NULL));
        assert_float_equal((wide.high - wide.low) / (out.high - out.low), 2.5758 / 1.96, 0.15);
    }
    free(values);
}

static void same_seed_same_answer(void **state)
{
    (void)state;
    double values[50];
    fill_normal(values, 50, 1);
    struct series series = {.values = {values}};
    size_t turns = 50;
    struct interval a, b, c;
    assert_true(stats_resample(&turns, 1, 0.95, 7, derive_mean, &series, &a, NULL));
    assert_true(stats_resample(&turns, 1, 0.95, 7, derive_mean, &series, &b, NULL));
    assert_true(stats_resample(&turns, 1, 0.95, 8, derive_mean, &series, &c, NULL));
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.estimate == c.estimate && a.low != c.low);
}

/* What is common to a turn cancels when both series go by the same turns, and only then. */
static void turns_stay_whole(void **state)
{
    (void)state;
    double a[100], b[100];
    fill_normal(a, 100, 1);
    for (size_t i = 0; i < 100; i++)
        b[i] = a[i] - 3;
    struct series series = {.values = {a, b}};
    struct interval paired, apart;
    assert_true(stats_resample((size_t[]){100}, 1, 0.95, 1, derive_paired, &series, &paired, NULL));
    assert_float_equal(paired.low, 3, 1e-12);
    assert_float_equal(paired.high, 3, 1e-12);
    assert_true(
        stats_resample((size_t[]){100, 100}, 2, 0.95, 1, derive_apart, &series, &apart, NULL));
    double wanted = 2 * 1.959964 * deviation(a, 100) * sqrt(2.0 / 100);
    assert_float_equal((apart.high - apart.low) / wanted, 1, 0.12);
}

/* 95 % of the intervals of a mean of 30 cover it, but for the few that the percentile method
 * misses at that count. */
static void covers(void **state)
{
    (void)state;
    unsigned covered = 0;
    for (uint64_t run = 0; run < 200; run++) {
        double values[30];
        fill_normal(values, 30, 100 + run);
        struct series series = {.values = {values}};
        struct interval out;
        assert_true(stats_resample((size_t[]){30}, 1, 0.95, 7, derive_mean, &series, &out, NULL));
        covered += out.low <= 10 && 10 <= out.high;
    }
    printf("mean of 30: %.1f %% covered\n", covered / 2.0);
    assert_in_range(covered, 178, 198);
}

static bool derive_infinite(void *context, const struct picks *groups, size_t group_count,
                            double *value, struct assay_error *error)
{
    (void)context, (void)group_count, (void)error;
    *value = groups[0].turns[0] == 0 ? 1.0 : INFINITY;
    return true;
}

static bool derive_nothing(void *context, const struct picks *groups, size_t group_count,
                           double *value, struct assay_error *error)
{
    (void)context, (void)groups, (void)group_count, (void)value;
    return assay_fail(error, ASSAY_UNSUPPORTED, "no such metric");
}

static void refusals(void **state)
{
    (void)state;
    struct interval out;
    struct assay_error error = {0};
    assert_false(stats_resample((size_t[]){9, 5}, 2, 0.95, 1, derive_apart, NULL, &out, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text,
                        "5 turns are too few for an interval of 95 %; take more samples");
    error = (struct assay_error){0};
    assert_false(stats_resample(NULL, 0, 0.95, 1, derive_apart, NULL, &out, &error));
    assert_string_equal(error.text, "nothing to resample");
    error = (struct assay_error){0};
    assert_false(stats_resample((size_t[]){9}, 1, 0.95, 1, derive_infinite, NULL, &out, &error));
    assert_string_equal(error.text, "the derived value is not a finite number");
    error = (struct assay_error){0};
    assert_false(stats_resample((size_t[]){9}, 1, 0.95, 1, derive_nothing, NULL, &out, &error));
    assert_int_equal(error.status, ASSAY_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interval_of_a_mean), cmocka_unit_test(same_seed_same_answer),
        cmocka_unit_test(turns_stay_whole),   cmocka_unit_test(covers),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
