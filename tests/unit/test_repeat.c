/* SPDX-License-Identifier: MIT */
/* How often a short stage is repeated. */
#include "measure/repeat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* 16 empty regions of 1,000 ns, filled with repeats of (region - empty) / repeats ns. */
static void regions_are_filled(void **state)
{
    (void)state;
    assert_int_equal(repeat_count(1500, 1, 1000, 4096), 33);     /* 500 ns each */
    assert_int_equal(repeat_count(11000, 100, 1000, 4096), 161); /* 100 ns each */
    assert_int_equal(repeat_count(9000, 1, 1000, 4096), 3);      /* 8,000 ns each */
}

static void counts_have_limits(void **state)
{
    (void)state;
    assert_int_equal(repeat_count(100000, 1, 1000, 4096), 2);
    assert_int_equal(repeat_count(1500, 1, 1000, 20), 20);
    assert_int_equal(repeat_count(1001, 128, 1000, 4096), 4096);
}

/* Noise may make a region shorter than an empty one: an eighth of that is taken for the work. */
static void noise_gives_a_first_guess(void **state)
{
    (void)state;
    assert_int_equal(repeat_count(1000, 1, 1000, 4096), 129);
    assert_int_equal(repeat_count(400, 1, 1000, 4096), 129);
    assert_int_equal(repeat_count(900, 129, 1000, 65536), 16513); /* and again from there */
}

/* The first eight turns, then while they took at most a quarter. */
static void share_is_bounded(void **state)
{
    (void)state;
    assert_true(repeat_due(0, 0, 0));
    assert_true(repeat_due(7, 900, 1000));
    assert_false(repeat_due(8, 900, 1000));
    assert_false(repeat_due(8, 251, 1000));
    assert_true(repeat_due(8, 250, 1000));
    assert_true(repeat_due(100, 0, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_filled),
        cmocka_unit_test(counts_have_limits),
        cmocka_unit_test(noise_gives_a_first_guess),
        cmocka_unit_test(share_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
