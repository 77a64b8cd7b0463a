/* SPDX-License-Identifier: MIT */
#include "stats/effective.h"

#include "noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static double size_of(const double *values, size_t count)
{
    double effective;
    assert_true(stats_effective_size(values, count, &effective, NULL));
    return effective;
}

static void ranks_share_ties(void **state)
{
    (void)state;
    const double values[] = {5, 1, 5, 3, 5}, wanted[] = {4, 1, 4, 2, 4};
    double ranks[5];
    assert_true(stats_ranks(values, 5, ranks, NULL));
    for (size_t i = 0; i < 5; i++)
        assert_true(ranks[i] == wanted[i]);
    assert_true(stats_ranks(values, 0, ranks, NULL));
}

/* Ranks 1 ... 4: c(0) = 1.25, c(1) = 0.3125, c(2) + c(3) < 0, so the long run variance is
 * 2 x 1.5625 - 1.25 = 1.875 and the size 4 x 1.25 / 1.875. */
static void sizes_by_hand(void **state)
{
    (void)state;
    assert_float_equal(size_of((double[]){1, 2, 30, 400}, 4), 8.0 / 3, 1e-14);
    assert_true(size_of((double[]){1, 2, 3}, 3) == 3);
    assert_true(size_of((double[]){7, 7, 7, 7, 7}, 5) == 5);
    assert_true(size_of((double[]){1, 2, 1, 2, 1, 2, 1, 2}, 8) == 8); /* alternates */
    assert_true(size_of(NULL, 0) == 0);
}

/* First order autoregression: n (1 - rho) / (1 + rho), as the mean over 10 series (the size of one
 * of 15000 with rho 0.9 spreads by a tenth; independent values lose some 5 % to the cut at n). */
static void autoregression(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        double rho, tolerance;
        bool heavy; /* seen through a function that keeps the order and has no variance */
    } rows[] = {{1000, 0, 0.12, false},    {15000, 0.5, 0.06, false}, {15000, 0.9, 0.1, false},
                {15000, 0.9, 0.1, true},   {100000, 0.9, 0.1, false}, {100000, 0, 0.08, true},
                {100000, 0.99, 0.1, false}};
    struct noise noise;
    noise_start(&noise, NOISE_QUIET, 11);
    double *values = calloc(100000, sizeof *values);
    assert_non_null(values);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double rho = rows[r].rho, x = noise_normal(&noise), found = 0;
        for (size_t run = 0; run < 10; run++) {
            for (size_t i = 0; i < rows[r].count; i++) {
                values[i] = rows[r].heavy ? sinh(5 * x) : x;
                x = rho * x + sqrt(1 - rho * rho) * noise_normal(&noise);
            }
            found += size_of(values, rows[r].count) / 10;
        }
        double wanted = (double)rows[r].count * (1 - rho) / (1 + rho);
        printf("n = %zu, rho = %g: %.0f, known %.0f\n", rows[r].count, rho, found, wanted);
        assert_float_equal(found / wanted, 1, rows[r].tolerance);
    }
    free(values);
}

/* A series that rises throughout is worth a few samples, however long. */
static void worst_case_is_bounded(void **state)
{
    (void)state;
    double *values = calloc(100000, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < 100000; i++)
        values[i] = (double)i;
    assert_in_range(size_of(values, 100000), 1, 5);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_share_ties),
        cmocka_unit_test(sizes_by_hand),
        cmocka_unit_test(autoregression),
        cmocka_unit_test(worst_case_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
