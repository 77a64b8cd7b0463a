/* SPDX-License-Identifier: MIT */
#include "stats/quantile.h"

#include <setjmp.h>
#include <stdarg.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts),
        cmocka_unit_test(medians),
        cmocka_unit_test(ranks_match_the_sign_test),
        cmocka_unit_test(small_counts),
        cmocka_unit_test(large_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
