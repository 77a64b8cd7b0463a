/* SPDX-License-Identifier: MIT */
/* What counts as drift. The rank test itself is tested with core/stats. */
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
    drift_add_note(&drift, 12, &note);
    assert_string_equal(text_string(&note),
                        "drift: time rose by 7.9 % from the first third of the 12 samples to the "
                        "last");
    text_clear(&note);
    for (int i = 0; i < 12; i++)
        values[i] = 111 - i;
    drift = find(values, 12);
    assert_true(drift.drifting && drift.trend.tau == -1);
    drift_add_note(&drift, 12, &note);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trend_that_matters),
        cmocka_unit_test(what_is_no_drift),
        cmocka_unit_test(records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
