/* SPDX-License-Identifier: MIT */
#include "vulkan/timer.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void differences(void **state)
{
    (void)state;
    assert_int_equal(timer_ticks(100, 350, 64), 250);
    assert_int_equal(timer_ticks(7, 7, 36), 0);
    assert_int_equal(timer_ticks(0, UINT64_MAX, 64), UINT64_MAX);
}

static void wraps(void **state)
{
    (void)state;
    assert_int_equal(timer_ticks(0xfffffff0, 0x10, 32), 0x20);
    assert_int_equal(timer_ticks(UINT64_C(0xffffffff0), 0x10, 36), 0x20);
    assert_int_equal(timer_ticks(UINT64_C(0xfffffffffff0), 0x10, 48), 0x20);
    assert_int_equal(timer_ticks(UINT64_C(0xfffffffffffffff0), 0x10, 64), 0x20);
    assert_int_equal(timer_ticks(1, 0, 1), 1);
}

/* Bits above the valid ones are undefined and must not count. */
static void upper_bits_are_ignored(void **state)
{
    (void)state;
    assert_int_equal(timer_ticks(UINT64_C(0xabc0000000000005), UINT64_C(0x1230000000000009), 36),
                     4);
    assert_int_equal(timer_ticks(UINT64_C(0xabc00000fffffffe), 3, 32), 5);
}

static void periods(void **state)
{
    (void)state;
    assert_int_equal(timer_ns(0, 1.5), 0);
    assert_int_equal(timer_ns(3, 1.0), 3);
    assert_int_equal(timer_ns(4, 1.5), 6);
    assert_int_equal(timer_ns(5, 1.5), 8);         /* 7.5 */
    assert_int_equal(timer_ns(9, 0.05208), 0);     /* 0.469 */
    assert_int_equal(timer_ns(10, 0.05208), 1);    /* 0.521 */
    assert_int_equal(timer_ns(1000, 0.05208), 52); /* 52.08 */
    assert_int_equal(timer_ns(19200000, 52.083333333333336), 1000000000);
    assert_int_equal(timer_ns(25000000, 40.0), 1000000000);
}

static void large_counts_stay_exact(void **state)
{
    (void)state;
    assert_int_equal(timer_ns(UINT64_C(9007199254740993), 1.0), INT64_C(9007199254740993));
    assert_int_equal(timer_ns(UINT64_MAX, 1.0), INT64_MAX);
    assert_int_equal(timer_ns(UINT64_C(1) << 62, 83.0), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences),
        cmocka_unit_test(wraps),
        cmocka_unit_test(upper_bits_are_ignored),
        cmocka_unit_test(periods),
        cmocka_unit_test(large_counts_stay_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
