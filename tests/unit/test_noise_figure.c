/* SPDX-License-Identifier: MIT */
#include "stats/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define TURNS 20

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

static void paired_exact(void **state)
{
    double a[TURNS], b[TURNS];
    struct noise noise;
    struct stats_ratio ratio;
    struct assay_error error = {0};
    (void)state;
    for (size_t i = 0; i < TURNS; i++)
        a[i] = b[i] = (double)(100 + 37 * i % 11); /* what moves both is no noise */
    assert_true(noise_paired(a, b, TURNS, 0.01, &noise, &ratio, &error));
    assert_float_equal(noise.width, 0, 1e-12);
    assert_float_equal(noise.smallest, 0.01, 1e-12);
    assert_int_equal(noise.count, TURNS);
    assert_false(noise_paired(a, b, 5, 0.01, &noise, &ratio, &error)); /* 93.75 % at best */
    assert_int_equal(error.status, ASSAY_OK);
}

/* Ratios 0.98, 1.00 and 1.02 in turn: the interval's ends are 0.98 and 1.02. */
static void paired_width(void **state)
{
    double a[TURNS], b[TURNS];
    struct noise noise;
    struct stats_ratio ratio;
    struct assay_error error = {0};
    (void)state;
    for (size_t i = 0; i < TURNS; i++) {
        b[i] = 100;
        a[i] = 98 + 2 * (double)(i % 3);
    }
    assert_true(noise_paired(a, b, TURNS, 0, &noise, &ratio, &error));
    assert_float_equal(ratio.interval.low, 0.98, 1e-9);
    assert_float_equal(noise.width, 0.0202027, 1e-6);    /* -ln 0.98 */
    assert_float_equal(noise.smallest, 0.0412328, 1e-6); /* 0.98^-2 - 1 */
}

static void unpaired_exact(void **state)
{
    static const double medians[NOISE_RUNS] = {1, 1.1, 1, 1.1, 1, 1.1};
    double values[NOISE_RUNS][8], between, within;
    struct noise_run runs[NOISE_RUNS];
    struct noise noise;
    struct assay_error error = {0};
    (void)state;
    for (size_t i = 0; i < NOISE_RUNS; i++) {
        runs[i] = (struct noise_run){values[i], 8};
        for (size_t k = 0; k < 8; k++)
            values[i][k] = medians[i];
    }
    assert_true(noise_unpaired(runs, 0.01, &noise, &between, &within, &error));
    assert_float_equal(within, 0, 1e-12);
    /* sd of ln: ln(1.1) / 2 * sqrt(6/5) = 0.0522040; times 2.5705818 times sqrt 2 = 0.189779 */
    assert_float_equal(between, 0.189779, 1e-5);
    assert_float_equal(noise.width, 0.189779, 1e-5);
    assert_float_equal(noise.smallest, 0.471641, 2e-5); /* e^0.379558 - 1 + 0.01 */
    values[2][3] = 0;
    assert_false(noise_unpaired(runs, 0.01, &noise, &between, &within, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
}

/* A slow-down of 1.5 times the figure is found in at least 95 % of attempts under the same noise.
 */
static void figure_is_found(void **state)
{
    enum { ATTEMPTS = 400 };
    uint64_t seed = 7;
    int found = 0;
    (void)state;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        double a[60], b[60];
        struct noise noise;
        struct stats_ratio ratio;
        struct assay_error error = {0};
        for (int planted = 0; planted < 2; planted++) {
            for (size_t i = 0; i < 60; i++) {
                double burst = uniform(&seed) < 0.1 ? 1.5 : 1;
                b[i] = 1 + 0.2 * uniform(&seed);
                a[i] = (1 + 0.2 * uniform(&seed)) * burst;
                if (planted)
                    a[i] *= 1 + 1.5 * noise.smallest;
            }
            if (!planted)
                assert_true(noise_paired(a, b, 60, 0.01, &noise, &ratio, &error));
            else
                assert_true(stats_ratio_paired(a, b, 60, NOISE_CONFIDENCE, 0.01, &ratio, &error));
        }
        found += ratio.answer == STATS_SLOWER;
    }
    assert_true(found >= ATTEMPTS * 95 / 100);
}

/* Widths 3 and 4 % pool to sqrt(12.5 / 2) = 2.5 %; the larger distance counts where it is more. */
static void pool_exact(void **state)
{
    struct noise pairs[] = {{.width = 0.03, .distance = 0.01, .count = 10},
                            {.width = 0.04, .distance = 0.02, .count = 12}};
    struct noise noise;
    (void)state;
    noise_pool(pairs, 2, 0.01, &noise);
    assert_float_equal(noise.width, 0.025, 1e-12);
    assert_float_equal(noise.smallest, 0.0612711, 1e-6); /* e^0.05 - 1 + 0.01 */
    assert_int_equal(noise.count, 22);
    pairs[0].distance = 0.075;
    noise_pool(pairs, 2, 0.01, &noise);
    assert_float_equal(noise.smallest, 0.1151709, 1e-6); /* e^0.1 - 1 + 0.01 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paired_exact),    cmocka_unit_test(paired_width),
        cmocka_unit_test(pool_exact),      cmocka_unit_test(unpaired_exact),
        cmocka_unit_test(figure_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
