/* SPDX-License-Identifier: MIT */
#include "stats/trend.h"

#include "noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct trend trend_of(const double *values, size_t count)
{
    struct trend trend;
    assert_true(stats_trend(values, count, &trend, NULL));
    return trend;
}

/* 10 15 14 20: five pairs rise, one falls; variance 4 x 3 x 13 / 18. */
static void by_hand(void **state)
{
    (void)state;
    struct trend t = trend_of((double[]){10, 15, 14, 20}, 4);
    assert_true(t.s == 4);
    assert_float_equal(t.tau, 4.0 / 6, 1e-15);
    assert_float_equal(t.z, 3 / sqrt(26.0 / 3), 1e-14);
    assert_float_equal(t.p, 0.308, 5e-4); /* normal table: 2 x (1 - 0.8459) */
    t = trend_of((double[]){20, 14, 15, 10}, 4);
    assert_true(t.s == -4);
    assert_float_equal(t.z, -3 / sqrt(26.0 / 3), 1e-14);
}

/* 1 2 2 3: five pairs rise, one is tied: variance (156 - 2 x 1 x 9) / 18. */
static void ties(void **state)
{
    (void)state;
    struct trend t = trend_of((double[]){1, 2, 2, 3}, 4);
    assert_true(t.s == 5);
    assert_float_equal(t.tau, 5 / sqrt(30), 1e-15);
    assert_float_equal(t.z, 4 / sqrt(138.0 / 18), 1e-14);
    t = trend_of((double[]){3, 3, 3, 3, 3}, 5);
    assert_true(t.s == 0 && t.tau == 0 && t.z == 0 && t.p == 1);
}

static void edges(void **state)
{
    (void)state;
    assert_true(trend_of(NULL, 0).p == 1);
    assert_true(trend_of((double[]){1, 2}, 2).p == 1);
    struct trend t = trend_of((double[]){1, 2, 1}, 3); /* s = 0 */
    assert_true(t.s == 0 && t.z == 0 && t.p == 1);
}

/* Rises throughout, 1000 long: s = 499500, tau = 1. */
static void strong(void **state)
{
    (void)state;
    double values[1000];
    for (size_t i = 0; i < 1000; i++)
        values[i] = (double)i;
    struct trend t = trend_of(values, 1000);
    assert_true(t.s == 499500 && t.tau == 1 && t.p < 1e-100);
}

/* Counting by merging against counting every pair. */
static void every_pair(void **state)
{
    (void)state;
    struct noise noise;
    noise_start(&noise, NOISE_QUIET, 3);
    for (size_t count = 3; count < 120; count++) {
        double values[120], wanted = 0;
        for (size_t i = 0; i < count; i++)
            values[i] = floor(20 * noise_uniform(&noise)); /* many ties */
        for (size_t i = 0; i < count; i++)
            for (size_t j = i + 1; j < count; j++)
                wanted += (values[j] > values[i]) - (values[j] < values[i]);
        assert_true(trend_of(values, count).s == wanted);
    }
}

/* Without a trend p is under 0.05 in 5 % of series: 2000 +- three deviations. */
static void error_rate(void **state)
{
    (void)state;
    struct noise noise;
    noise_start(&noise, NOISE_TAIL, 9);
    unsigned told = 0;
    for (int run = 0; run < 2000; run++) {
        double values[30];
        for (size_t i = 0; i < 30; i++)
            values[i] = noise_next(&noise);
        told += trend_of(values, 30).p < 0.05;
    }
    assert_in_range(told, 70, 130);
}

/* Thirds at 100, 110 and 120, each of two low and two high values: 60 pairs rise, 6 are tied, so
 * variance (12 x 11 x 29 - 6 x 18) / 18. What is left of the ranks is -1 -1 1 1, three times:
 * autocovariances 12, 1, -10, -1, so of 12 values (12 + 2 x 1) / 12 times the variance. */
static void dependent_by_hand(void **state)
{
    (void)state;
    static const double values[] = {100, 100, 103, 103, 110, 110, 113, 113, 120, 120, 123, 123};
    struct trend t;
    assert_true(stats_trend_dependent(values, 12, &t, NULL));
    assert_true(t.s == 60);
    assert_float_equal(t.z, 59 / sqrt(3720.0 / 18) / sqrt(14.0 / 12), 1e-12);
    assert_float_equal(t.p, erfc(t.z / sqrt(2)), 1e-15);
    assert_true(stats_trend_dependent((double[]){1, 2}, 2, &t, NULL));
    assert_true(t.p == 1);
}

/* A series that keeps 0.8 of its deviation goes nowhere; one that steps by three of its own does.
 */
static void wandering_is_no_trend(void **state)
{
    (void)state;
    struct noise noise;
    noise_start(&noise, NOISE_QUIET, 11);
    unsigned told = 0, naive = 0, steps = 0;
    for (int run = 0; run < 500; run++) {
        double values[100], x = noise_normal(&noise);
        struct trend t;
        for (size_t i = 0; i < 100; i++) {
            values[i] = x;
            x = 0.8 * x + 0.6 * noise_normal(&noise);
        }
        assert_true(stats_trend_dependent(values, 100, &t, NULL));
        told += t.p < 0.01;
        naive += trend_of(values, 100).p < 0.01;
        for (size_t i = 0; i < 100; i++)
            values[i] = noise_normal(&noise) + (i < 50 ? 0 : 3);
        assert_true(stats_trend_dependent(values, 100, &t, NULL));
        steps += t.p < 0.01;
    }
    printf("wandering: %u of 500 told, %u as if independent; steps %u\n", told, naive, steps);
    assert_true(told < 0.1 * 500 && naive > 0.25 * 500);
    assert_true(steps > 0.9 * 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(ties),
        cmocka_unit_test(edges),
        cmocka_unit_test(strong),
        cmocka_unit_test(every_pair),
        cmocka_unit_test(error_rate),
        cmocka_unit_test(dependent_by_hand),
        cmocka_unit_test(wandering_is_no_trend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
