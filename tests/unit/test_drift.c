/* SPDX-License-Identifier: MIT */
/* What counts as drift. The rank test itself is tested with core/stats. */
#include "base/hash.h"
#include "measure/drift.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct drift find(const double *values, size_t count)
{
    struct drift drift;
    struct assay_error error = {0};
    assert_true(drift_find(values, count, &drift, &error));
    return drift;
}

static void a_trend_that_matters(void **state)
{
    (void)state;
    double values[12];
    for (int i = 0; i < 12; i++)
        values[i] = 100 + i;
    /* 66 rising pairs of variance 212.67; medians of the thirds 101.5 and 109.5. */
    struct drift drift = find(values, 12);
    assert_true(drift.known && drift.drifting);
    assert_true(drift.trend.tau == 1);
    assert_true(fabs(drift.trend.z - 65 / sqrt(638.0 / 3)) < 1e-12);
    assert_true(fabs(drift.change - 8 / 101.5) < 1e-12);
    struct text note = {0};
    drift_add_note(&drift, "time", 12, &note);
    assert_string_equal(text_string(&note),
                        "drift: time rose by 7.9 % from the first third of the 12 samples to the "
                        "last");
    text_clear(&note);
    for (int i = 0; i < 12; i++)
        values[i] = 111 - i;
    drift = find(values, 12);
    assert_true(drift.drifting && drift.trend.tau == -1);
    drift_add_note(&drift, "time", 12, &note);
    assert_string_equal(text_string(&note),
                        "drift: time fell by 7.3 % from the first third of the 12 samples to the "
                        "last");
    text_free(&note);
}

static void what_is_no_drift(void **state)
{
    (void)state;
    double small[12], steady[12], noisy[12], zero[10] = {0};
    for (int i = 0; i < 12; i++) {
        small[i] = 10000 + i; /* clear, but under a per cent */
        steady[i] = 5;
        noisy[i] = i % 2 ? 110 : 100;
    }
    struct drift drift = find(small, 12);
    assert_true(drift.trend.p < 0.001 && !drift.drifting);
    drift = find(steady, 12);
    assert_true(drift.known && drift.trend.tau == 0 && drift.trend.p == 1 && !drift.drifting);
    assert_false(find(noisy, 12).drifting);
    assert_false(find(zero, 10).drifting);
    assert_false(find((double[]){100, 101, 99, 120, 100, 121, 99, 130, 90, 131}, 10)
                     .drifting); /* may be chance */
}

static void records(void **state)
{
    (void)state;
    struct text text = {0};
    struct drift drift = find((double[]){1, 2, 3, 4, 5, 6, 7, 8, 9}, 9);
    assert_false(drift.known);
    drift_add(&drift, &text);
    assert_string_equal(text_string(&text), "null");
    text_clear(&text);
    drift = find((double[]){4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, 10);
    drift_add(&drift, &text);
    assert_string_equal(text_string(&text),
                        "{\"tau\":0,\"z\":0,\"p\":1,\"change\":0,\"drifting\":false}");
    text_free(&text);
}

/* Standard normal, by Box and Muller, from a seed and a place. */
static double normal_at(uint64_t seed, uint64_t place)
{
    double u = (double)((random_at(seed, 2 * place) >> 11) + 1) * 0x1p-53;
    double v = (double)(random_at(seed, 2 * place + 1) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* How many of 1,000 intervals at 95 % hold the truth: 40 periods, of which the last third takes
 * `step` longer, with noise of 2 % that keeps `keep` of its neighbour's deviation. */
static unsigned covered(double step, double keep, unsigned *told)
{
    unsigned good = 0;
    *told = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        double periods[40], noise = normal_at(seed, 1000);
        struct assay_error error = {0};
        struct interval change;
        bool known;
        for (uint64_t i = 0; i < 40; i++) {
            noise = keep * noise + sqrt(1 - keep * keep) * normal_at(seed, i);
            periods[i] = (i < 20 ? 1 : 1 + step) * exp(0.02 * noise);
        }
        assert_true(drift_of_rate(periods, 40, 0.95, &known, &change, &error));
        assert_true(known && change.low <= change.estimate && change.estimate <= change.high);
        double truth = 1 / (1 + step) - 1;
        good += change.low <= truth && truth <= change.high;
        *told += strcmp(drift_verdict(&change), "slower") == 0;
    }
    return good;
}

static void the_interval_of_a_drift_holds_the_truth(void **state)
{
    (void)state;
    unsigned told;
    assert_true(covered(0, 0, &told) >= 940);
    assert_true(told <= 10);
    assert_true(covered(0, 0.5, &told) >= 880);
    assert_true(told <= 40);
    assert_true(covered(0.25, 0, &told) >= 940);
    assert_int_equal(told, 1000); /* a fifth less, surely */
    assert_true(covered(0.25, 0.5, &told) >= 880);
    assert_int_equal(told, 1000);
}

/* Thirds of four: medians 2 and 4, of which few values give the extremes: 1 to 3 and 3 to 5. */
static void the_interval_of_a_drift_by_hand(void **state)
{
    (void)state;
    const double periods[12] = {1, 2, 2, 3, 7, 7, 7, 7, 5, 4, 4, 3};
    struct assay_error error = {0};
    struct interval change;
    bool known;
    assert_true(drift_of_rate(periods, 12, 0.95, &known, &change, &error));
    assert_true(known && fabs(change.estimate + 0.5) < 1e-12);
    double down = hypot(log(2), log(5.0 / 4)), up = hypot(log(3.0 / 2), log(4.0 / 3));
    assert_true(fabs(change.low - (0.5 * exp(-down) - 1)) < 1e-12);
    assert_true(fabs(change.high - (0.5 * exp(up) - 1)) < 1e-12);
    assert_string_equal(drift_verdict(&change), "slower");
    assert_true(drift_of_rate(periods, 9, 0.95, &known, &change, &error));
    assert_false(known);
}

static void verdicts_go_by_the_whole_interval(void **state)
{
    (void)state;
    assert_string_equal(drift_verdict(&(struct interval){0, -0.009, 0.01}), "steady");
    assert_string_equal(drift_verdict(&(struct interval){0, -0.02, 0}), "undecided");
    assert_string_equal(drift_verdict(&(struct interval){-0.03, -0.04, -0.02}), "slower");
    assert_string_equal(drift_verdict(&(struct interval){0.03, 0.02, 0.04}), "faster");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trend_that_matters),
        cmocka_unit_test(what_is_no_drift),
        cmocka_unit_test(records),
        cmocka_unit_test(the_interval_of_a_drift_by_hand),
        cmocka_unit_test(the_interval_of_a_drift_holds_the_truth),
        cmocka_unit_test(verdicts_go_by_the_whole_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
