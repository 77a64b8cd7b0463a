/* SPDX-License-Identifier: MIT */
#include "stats/quantile.h"

#include "noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void sorts(void **state)
{
    (void)state;
    double values[] = {3, -1, 2, 2, 0};
    stats_sort(values, 5);
    const double wanted[] = {-1, 0, 2, 2, 3};
    for (int i = 0; i < 5; i++)
        assert_true(values[i] == wanted[i]);
    stats_sort(values, 0);
}

static void medians(void **state)
{
    (void)state;
    assert_true(stats_median((double[]){7}, 1) == 7);
    assert_true(stats_median((double[]){1, 4}, 2) == 2.5);
    assert_true(stats_median((double[]){1, 2, 9}, 3) == 2);
    assert_true(stats_median((double[]){1, 2, 3, 9}, 4) == 2.5);
    assert_true(stats_median((double[]){0x1p1022, 0x1.8p1023}, 2) == 0x1p1023); /* no overflow */
}

/* Ranks (from 1) of the lower end at 95 % and 99 %: the table of the sign test. */
static void ranks_match_the_sign_test(void **state)
{
    (void)state;
    static const struct {
        size_t n, at95, at99;
    } rows[] = {
        {5, 0, 0},   {6, 1, 0},   {7, 1, 0},    {8, 1, 1},    {9, 2, 1},
        {10, 2, 1},  {12, 3, 2},  {15, 4, 3},   {20, 6, 4},   {25, 8, 6},
        {30, 10, 8}, {31, 10, 8}, {40, 14, 12}, {50, 18, 16}, {100, 40, 37},
    };
    static double values[100];
    for (size_t i = 0; i < 100; i++)
        values[i] = (double)(i + 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct interval out;
        bool good = stats_median_interval(values, rows[i].n, 0.95, &out);
        assert_int_equal(good, rows[i].at95 > 0);
        size_t rank = rows[i].at95 ? rows[i].at95 : 1;
        assert_int_equal(out.low, rank);
        assert_int_equal(out.high, rows[i].n + 1 - rank);
        good = stats_median_interval(values, rows[i].n, 0.99, &out);
        assert_int_equal(good, rows[i].at99 > 0);
        rank = rows[i].at99 ? rows[i].at99 : 1;
        assert_int_equal(out.low, rank);
        assert_true(out.estimate == (double)(rows[i].n + 1) / 2);
    }
}

/* 5 samples cover 1 - 2/32 = 93.75 %, 6 cover 1 - 2/64 = 96.875 %. */
static void small_counts(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5, 6};
    struct interval out;
    assert_true(stats_median_interval(values, 5, 0.9375, &out));
    assert_false(stats_median_interval(values, 5, 0.9376, &out));
    assert_true(out.low == 1 && out.high == 5 && out.estimate == 3);
    assert_true(stats_median_interval(values, 6, 0.96875, &out));
    assert_false(stats_median_interval(values, 6, 0.96876, &out));
    assert_false(stats_median_interval(values, 1, 0.95, &out));
    assert_true(out.low == 1 && out.high == 1);
}

/* Far over the count where 2^-n is no double any more: n/2 - 1.96 sqrt(n)/2 is 9902 and a bit. */
static void large_counts(void **state)
{
    (void)state;
    static double values[20000];
    for (size_t i = 0; i < 20000; i++)
        values[i] = (double)(i + 1);
    struct interval out;
    assert_true(stats_median_interval(values, 20000, 0.95, &out));
    assert_true(out.low >= 9860 && out.low <= 9863);
    assert_true(out.low + out.high == 20001);
}

static void quantiles_by_hand(void **state)
{
    (void)state;
    const double values[] = {1, 2, 4, 8, 16};
    assert_true(stats_quantile(values, 5, 0) == 1);
    assert_true(stats_quantile(values, 5, 1) == 16);
    assert_true(stats_quantile(values, 5, 0.25) == 2);
    assert_true(stats_quantile(values, 5, 0.875) == 12); /* position 3.5 */
    assert_true(stats_quantile(values, 1, 0.9) == 1);
    assert_true(stats_quantile((double[]){-0x1.8p1023, 0x1.8p1023}, 2, 0.5) == 0);
}

/* Ranks from 1, from exact binomial sums. 59 is Wilks' number of samples for a 95 % bound on the
 * 95 % quantile: with 58 there is none. */
static void ranks_of_any_quantile(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double q, confidence;
        size_t low, high; /* 0: too few samples */
    } rows[] = {
        {6, 0.5, 0.95, 1, 6},         {10, 0.5, 0.95, 2, 9},       {20, 0.5, 0.95, 6, 15},
        {100, 0.5, 0.95, 40, 61},     {100, 0.9, 0.95, 84, 96},    {100, 0.95, 0.95, 90, 100},
        {59, 0.95, 0.95, 50, 59},     {58, 0.95, 0.95, 0, 0},      {90, 0.95, 0.95, 81, 90},
        {100, 0.99, 0.95, 0, 0},      {299, 0.99, 0.95, 289, 299}, {500, 0.99, 0.95, 490, 500},
        {1000, 0.99, 0.95, 983, 997}, {20, 0.25, 0.95, 2, 10},     {20, 0.75, 0.95, 11, 19},
        {20, 0.1, 0.99, 0, 0},        {2000, 0.3, 0.99, 548, 654}, {29, 0.9, 0.95, 21, 29},
        {28, 0.9, 0.95, 0, 0},        {29, 0.1, 0.95, 1, 9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t low, high;
        bool covered = stats_quantile_ranks(rows[i].n, rows[i].q, rows[i].confidence, &low, &high);
        assert_int_equal(covered, rows[i].low > 0);
        assert_int_equal(low + 1, rows[i].low > 0 ? rows[i].low : 1);
        assert_int_equal(high + 1, rows[i].low > 0 ? rows[i].high : rows[i].n);
    }
    size_t low, high;
    assert_false(stats_quantile_ranks(0, 0.5, 0.95, &low, &high));
    assert_false(stats_quantile_ranks(100, 0, 0.95, &low, &high));
    assert_false(stats_quantile_ranks(100, 1, 0.95, &low, &high));
    assert_true(low == 0 && high == 99);
    /* Whatever the confidence, the ranks enclose the estimate. */
    assert_true(stats_quantile_ranks(10, 0.5, 0, &low, &high));
    assert_true(low <= 4 && high >= 5);
}

/* n q - 1.959964 sqrt(n q (1 - q)) and a half, from the normal distribution. */
static void ranks_of_very_many(void **state)
{
    (void)state;
    size_t low, high;
    assert_true(stats_quantile_ranks(10000000, 0.5, 0.95, &low, &high));
    assert_in_range(low, 4996899, 4996902); /* 5000000 - 3098.9 */
    assert_int_equal(low + high, 9999999);
    assert_true(stats_quantile_ranks(10000000, 0.99, 0.95, &low, &high));
    assert_in_range(low, 9899380, 9899385); /* 9900000 - 616.7 */
    assert_in_range(high, 9900614, 9900619);
}

static void binomial_sums(void **state)
{
    (void)state;
    assert_float_equal(stats_binomial_at_most(10, 0.5, 1), 11.0 / 1024, 1e-15);
    assert_float_equal(stats_binomial_at_most(10, 0.5, 7), 968.0 / 1024, 1e-15);
    assert_float_equal(stats_binomial_at_most(4, 0.25, 0), 81.0 / 256, 1e-15);
    assert_float_equal(stats_binomial_at_most(4, 0.25, 3), 255.0 / 256, 1e-15);
    assert_true(stats_binomial_at_most(4, 0.25, 4) == 1);
    assert_true(stats_binomial_at_most(10000000, 0.5, 0) == 0); /* 2^-10^7 */
}

/* 100 dependent samples worth 25: ranks twice as far from the middle, 49.5 -+ 2 x 10.5. */
static void dependent_samples_widen(void **state)
{
    (void)state;
    double values[100];
    for (size_t i = 0; i < 100; i++)
        values[i] = (double)i;
    struct interval out;
    assert_true(stats_quantile_interval_effective(values, 100, 25, 0.5, 0.95, &out));
    assert_true(out.low == 28 && out.high == 71 && out.estimate == 49.5);
    assert_true(stats_quantile_interval_effective(values, 100, 1000, 0.5, 0.95, &out));
    assert_true(out.low == 39 && out.high == 60);
    assert_false(stats_quantile_interval_effective(values, 100, 5.9, 0.5, 0.95, &out));
    assert_true(out.low < 10 && out.high > 89);
    assert_false(stats_quantile_interval_effective(values, 100, 1, 0.5, 0.95, &out));
    assert_true(out.low == 0 && out.high == 99);
}

struct distribution {
    const char *name;
    double (*draw)(struct noise *noise);
    double median;
    bool continuous;
};

static double draw_exponential(struct noise *noise)
{
    return -log(noise_uniform(noise));
}

static double draw_log_normal(struct noise *noise)
{
    return exp(noise_normal(noise));
}

static double draw_two_point(struct noise *noise)
{
    return noise_uniform(noise) < 0.3 ? 1 : 0;
}

static void intervals_cover(void **state)
{
    (void)state;
    static const struct distribution distributions[] = {
        {"normal", noise_normal, 0, true},
        {"exponential", draw_exponential, 0.69314718055994531, true},
        {"log-normal", draw_log_normal, 1, true},
        {"two-point", draw_two_point, 0, false},
    };
    static const size_t counts[] = {6, 20, 100};
    struct noise noise;
    noise_start(&noise, NOISE_QUIET, 1);
    for (size_t d = 0; d < 4; d++)
        for (size_t c = 0; c < 3; c++) {
            unsigned covered = 0;
            for (int trial = 0; trial < 2000; trial++) {
                double values[100];
                for (size_t i = 0; i < counts[c]; i++)
                    values[i] = distributions[d].draw(&noise);
                stats_sort(values, counts[c]);
                struct interval out;
                assert_true(stats_median_interval(values, counts[c], 0.95, &out));
                covered += out.low <= distributions[d].median &&
                           distributions[d].median <= out.high;
            }
            printf("%-11s n = %3zu: %.1f %% covered\n", distributions[d].name, counts[c],
                   covered / 20.0);
            assert_true(covered >= 1880);
            assert_true(covered <= 1960 || !distributions[d].continuous || counts[c] < 20);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts),
        cmocka_unit_test(medians),
        cmocka_unit_test(ranks_match_the_sign_test),
        cmocka_unit_test(small_counts),
        cmocka_unit_test(large_counts),
        cmocka_unit_test(quantiles_by_hand),
        cmocka_unit_test(ranks_of_any_quantile),
        cmocka_unit_test(ranks_of_very_many),
        cmocka_unit_test(binomial_sums),
        cmocka_unit_test(dependent_samples_widen),
        cmocka_unit_test(intervals_cover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
