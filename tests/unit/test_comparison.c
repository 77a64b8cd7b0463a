/* SPDX-License-Identifier: MIT */
/* Whether a comparison says what is so, under every kind of noise: counts of wrong answers over
 * many runs with fixed seeds. The rates are printed. */
#include "noise.h"
#include "stats/looks.h"
#include "stats/ratio.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define RUNS 1000
#define TURNS 128
#define MOST 128

static struct stats_ratio paired(enum noise_kind kind, uint64_t seed, double truth)
{
    struct noise noise;
    noise_start(&noise, kind, seed);
    double a[TURNS], b[TURNS];
    for (size_t i = 0; i < TURNS; i++)
        noise_turn(&noise, truth, 1, &a[i], &b[i]);
    struct stats_ratio ratio;
    assert_true(stats_ratio_paired(a, b, TURNS, 0.95, RATIO_MARGIN, &ratio, NULL));
    return ratio;
}

static struct stats_ratio unpaired(enum noise_kind kind, uint64_t seed, double truth, size_t count,
                                   size_t between)
{
    struct noise noise;
    noise_start(&noise, kind, seed);
    double a[MOST], b[MOST];
    for (size_t i = 0; i < count; i++)
        a[i] = truth * noise_next(&noise);
    noise_pass(&noise, between);
    for (size_t i = 0; i < count; i++)
        b[i] = noise_next(&noise);
    struct stats_ratio ratio;
    assert_true(stats_ratio_unpaired(a, count, b, count, 0.95, RATIO_MARGIN, 0, &ratio, NULL));
    return ratio;
}

/* A thing against itself: at most 2 % called different; 5 % slower: found in at least 95 %. */
static void pairs_under_noise(void **state)
{
    (void)state;
    for (enum noise_kind kind = 0; kind < NOISE_KINDS; kind++) {
        unsigned different = 0, same = 0, found = 0, wrong = 0;
        for (uint64_t run = 0; run < RUNS; run++) {
            enum stats_answer answer = paired(kind, run, 1).answer;
            different += answer == STATS_FASTER || answer == STATS_SLOWER;
            same += answer == STATS_SAME;
            answer = paired(kind, RUNS + run, 1.05).answer;
            found += answer == STATS_SLOWER;
            wrong += answer == STATS_FASTER || answer == STATS_SAME;
        }
        printf("%-10s paired, %d turns: same %.1f %%, different %.1f %%; 5 %% slower: found %.1f "
               "%%, wrong %.1f %%\n",
               noise_name(kind), TURNS, same / 10.0, different / 10.0, found / 10.0, wrong / 10.0);
        assert_true(different <= 0.02 * RUNS);
        assert_true(found >= 0.95 * RUNS);
        assert_int_equal(wrong, 0);
    }
}

/* The same unpaired: undecided rather than wrong. */
static void runs_apart_under_noise(void **state)
{
    (void)state;
    static const struct {
        size_t count, between;
    } runs[] = {{6, 100}, {20, 200}, {64, 200}, {128, 200}};
    for (enum noise_kind kind = 0; kind < NOISE_KINDS; kind++)
        for (size_t c = 0; c < sizeof runs / sizeof *runs; c++) {
            unsigned wrong = 0, same = 0, found = 0, missed = 0;
            for (uint64_t run = 0; run < RUNS; run++) {
                size_t count = runs[c].count, between = runs[c].between;
                enum stats_answer answer = unpaired(kind, run, 1, count, between).answer;
                wrong += answer == STATS_FASTER || answer == STATS_SLOWER;
                same += answer == STATS_SAME;
                answer = unpaired(kind, RUNS + run, 1.05, count, between).answer;
                found += answer == STATS_SLOWER;
                missed += answer == STATS_FASTER || answer == STATS_SAME;
            }
            printf("%-10s unpaired, %3zu samples %3zu apart: same %.1f %%, wrong %.1f %%; 5 %% "
                   "slower: found %.1f %%, wrong %.1f %%\n",
                   noise_name(kind), runs[c].count, runs[c].between, same / 10.0, wrong / 10.0,
                   found / 10.0, missed / 10.0);
            assert_true(wrong <= 0.05 * RUNS);
            assert_true(missed <= 0.05 * RUNS);
        }
}

/* A quiet machine decides unpaired too, and twice the time shows in short runs. */
static void quiet_runs_are_told_apart(void **state)
{
    (void)state;
    unsigned same = 0, slower = 0, twice = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        same += unpaired(NOISE_QUIET, run, 1, 128, 0).answer == STATS_SAME;
        slower += unpaired(NOISE_QUIET, run, 1.05, 128, 0).answer == STATS_SLOWER;
        twice += unpaired(NOISE_QUIET, run, 2, 20, 0).answer == STATS_SLOWER;
    }
    assert_true(same >= 0.75 * RUNS);
    assert_true(slower >= 0.75 * RUNS);
    assert_true(twice >= 0.75 * RUNS);
}

/* A bound exactly at the truth, looked at up to five times: at most 5 % conclude. */
static void looks_at_the_truth(void **state)
{
    (void)state;
    for (enum noise_kind kind = 0; kind < NOISE_KINDS; kind++) {
        unsigned concluded = 0;
        for (uint64_t run = 0; run < RUNS; run++) {
            struct noise noise;
            noise_start(&noise, kind, 2 * RUNS + run);
            double a[16 * LOOKS_FIRST], b[16 * LOOKS_FIRST];
            size_t have = 0, wanted;
            bool decided = false;
            for (unsigned look = 0;
                 !decided && (wanted = stats_look_next(LOOKS_FIRST, look, SIZE_MAX)) > 0; look++) {
                for (; have < wanted; have++)
                    noise_turn(&noise, 1, 1, &a[have], &b[have]);
                struct stats_ratio ratio;
                assert_true(stats_ratio_paired(a, b, have, LOOKS_CONFIDENCE, 0, &ratio, NULL));
                decided = ratio.interval.low >= 1 || ratio.interval.high < 1;
            }
            assert_true(decided || have == 16 * LOOKS_FIRST);
            concluded += decided;
        }
        printf("%-10s bound at the truth, 5 looks: %.1f %% conclude\n", noise_name(kind),
               concluded / 10.0);
        assert_true(concluded <= 0.05 * RUNS);
    }
}

static void margin_rule(void **state)
{
    (void)state;
    static const struct {
        double low, high;
        enum stats_answer answer;
    } rows[] = {
        {0.99, 1.01, STATS_SAME},      {0.9899, 1, STATS_UNDECIDED}, {1, 1.0101, STATS_UNDECIDED},
        {1.01, 1.02, STATS_UNDECIDED}, {1.0101, 1.02, STATS_SLOWER}, {0.9, 0.9899, STATS_FASTER},
        {0.98, 0.99, STATS_UNDECIDED}, {0.5, 2, STATS_UNDECIDED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct interval ratio = {1, rows[i].low, rows[i].high};
        assert_int_equal(stats_ratio_answer(&ratio, 0.01), rows[i].answer);
    }
    assert_string_equal(stats_answer_name(STATS_UNDECIDED), "undecided");
    assert_string_equal(stats_answer_name(STATS_SLOWER), "slower");
    assert_string_equal(stats_doubt_text(STATS_NO_DOUBT), "");
}

/* Ratios 1.1, 1.2, ..., 1.6 in some order: median 1.35; 6 turns cover 96.9 % with the extremes. */
static void pairs_by_hand(void **state)
{
    (void)state;
    const double a[] = {1.2, 4.4, 3.9, 1.4, 1.5, 8.0}, b[] = {1, 4, 3, 1, 1, 5};
    struct stats_ratio ratio;
    assert_true(stats_ratio_paired(a, b, 6, 0.95, 0.01, &ratio, NULL));
    assert_float_equal(ratio.interval.estimate, 1.35, 1e-15);
    assert_float_equal(ratio.interval.low, 1.1, 1e-15);
    assert_float_equal(ratio.interval.high, 1.6, 1e-15);
    assert_int_equal(ratio.answer, STATS_SLOWER);
    assert_int_equal(ratio.doubt, STATS_NO_DOUBT);
    assert_true(stats_ratio_paired(a, b, 6, 0.99, 0.01, &ratio, NULL));
    assert_int_equal(ratio.answer, STATS_UNDECIDED);
    assert_int_equal(ratio.doubt, STATS_FEW);
    assert_true(stats_ratio_paired(a, b, 6, 0.95, 0.2, &ratio, NULL));
    assert_int_equal(ratio.doubt, STATS_WIDE);
}

static void unpaired_doubts(void **state)
{
    (void)state;
    double rising[100], held[100], other[100];
    struct noise noise;
    noise_start(&noise, NOISE_QUIET, 5);
    for (size_t i = 0; i < 100; i++) {
        rising[i] = 1 + 0.01 * (double)i;
        held[i] = 1 + (i / 10 % 2 > 0) + 0.001 * noise_uniform(&noise); /* ten up, ten down */
        other[i] = 3 + 0.01 * noise_uniform(&noise);
    }
    struct stats_ratio ratio;
    assert_true(stats_ratio_unpaired(rising, 100, other, 100, 0.95, 0.01, 0, &ratio, NULL));
    assert_int_equal(ratio.answer, STATS_UNDECIDED);
    assert_int_equal(ratio.doubt, STATS_DRIFTING);
    assert_true(stats_ratio_unpaired(other, 100, held, 100, 0.95, 0.01, 0, &ratio, NULL));
    assert_int_equal(ratio.answer, STATS_UNDECIDED);
    assert_int_equal(ratio.doubt, STATS_CORRELATED);
    assert_true(ratio.effective_share < 0.5);
    /* A known spread of 30 % between runs is in the interval: exp(+- 0.3). */
    assert_true(stats_ratio_unpaired(other, 100, other, 100, 0.95, 0.01, 0.3, &ratio, NULL));
    assert_float_equal(ratio.interval.low, 0.740818, 1e-4);
    assert_float_equal(ratio.interval.high, 1.349859, 1e-4);
    assert_int_equal(ratio.doubt, STATS_WIDE);
    /* 20 samples, 10 % slower: clear but for what short runs do not show. */
    const double steady[20] = {5, 3, 6, 4, 5, 3, 7, 2, 6, 4, 5, 3, 6, 4, 5, 3, 6, 4, 5, 4};
    double near[20], far[20];
    for (size_t i = 0; i < 20; i++) {
        near[i] = 100 + 0.1 * steady[i];
        far[i] = 1.1 * near[i];
    }
    assert_true(stats_ratio_unpaired(far, 20, near, 20, 0.95, 0.01, 0, &ratio, NULL));
    assert_int_equal(ratio.answer, STATS_UNDECIDED);
    assert_int_equal(ratio.doubt, STATS_SHORT);
    assert_true(stats_ratio_unpaired(far, 20, near, 20, 0.95, 0.01, 0.02, &ratio, NULL));
    assert_int_equal(ratio.answer, STATS_SLOWER);
}

static void bad_times(void **state)
{
    (void)state;
    const double good[] = {1, 2, 3}, zero[] = {1, 0, 3}, nan[] = {1, 2, NAN};
    struct stats_ratio ratio;
    struct assay_error error = {0};
    assert_false(stats_ratio_paired(good, zero, 3, 0.95, 0.01, &ratio, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text, "sample 2 of the reference is not a positive finite number");
    error = (struct assay_error){0};
    assert_false(stats_ratio_unpaired(nan, 3, good, 3, 0.95, 0.01, 0, &ratio, &error));
    assert_string_equal(error.text, "sample 3 of the series is not a positive finite number");
    error = (struct assay_error){0};
    assert_false(stats_ratio_paired(good, good, 0, 0.95, 0.01, &ratio, &error));
    assert_string_equal(error.text, "the series has no samples");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(margin_rule),
        cmocka_unit_test(pairs_by_hand),
        cmocka_unit_test(unpaired_doubts),
        cmocka_unit_test(bad_times),
        cmocka_unit_test(pairs_under_noise),
        cmocka_unit_test(runs_apart_under_noise),
        cmocka_unit_test(quiet_runs_are_told_apart),
        cmocka_unit_test(looks_at_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
