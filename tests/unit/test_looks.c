/* SPDX-License-Identifier: MIT */
#include "stats/looks.h"

#include "stats/quantile.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void samples_double(void **state)
{
    (void)state;
    static const size_t wanted[] = {20, 40, 80, 160, 320, 0, 0};
    for (unsigned look = 0; look < 7; look++) {
        assert_int_equal(stats_look_at(20, look), wanted[look]);
        assert_int_equal(stats_look_next(20, look, 1000), wanted[look]);
    }
    assert_int_equal(stats_look_at(SIZE_MAX / 2, 1), SIZE_MAX - 1);
    assert_int_equal(stats_look_at(SIZE_MAX / 2, 2), SIZE_MAX);
}

/* The first look has as many samples as 99 % needs: 8 cover 1 - 2/256. */
static void first_look(void **state)
{
    (void)state;
    assert_int_equal(stats_look_at(0, 0), 8);
    assert_int_equal(stats_look_at(6, 1), 16);
    size_t low, high;
    assert_true(stats_quantile_ranks(LOOKS_FIRST, 0.5, LOOKS_CONFIDENCE, &low, &high));
    assert_false(stats_quantile_ranks(LOOKS_FIRST - 1, 0.5, LOOKS_CONFIDENCE, &low, &high));
    assert_true(LOOKS_MOST * (1 - LOOKS_CONFIDENCE) < 0.05 + 1e-12);
}

static void budgets(void **state)
{
    (void)state;
    assert_int_equal(stats_look_next(20, 2, 80), 80);
    assert_int_equal(stats_look_next(20, 2, 79), 79); /* 40 before, half as many again: 60 */
    assert_int_equal(stats_look_next(20, 2, 60), 60);
    assert_int_equal(stats_look_next(20, 2, 59), 0);
    assert_int_equal(stats_look_next(20, 2, 40), 0);
    assert_int_equal(stats_look_next(20, 2, 10), 0);
    assert_int_equal(stats_look_next(20, 0, 10), 0);
    assert_int_equal(stats_look_next(20, 5, SIZE_MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_double),
        cmocka_unit_test(first_look),
        cmocka_unit_test(budgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
