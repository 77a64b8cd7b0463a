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

/* The device's clock ticks every 2 ns and runs 1 in 2000 fast: 1000 ticks are 1999 ns of the host's
 * 2,000, so that 2,000,000 ticks are 3,998,000 ns. */
static const struct timer_axis drifting = {
    .first = {.device_ticks = 1000, .host_ns = 50000, .deviation_ns = 30},
    .last = {.device_ticks = 2001000, .host_ns = 50000 + 3998000, .deviation_ns = 45},
    .valid_bits = 64,
    .tick_ns = 2.0};

static void device_times_on_the_host_axis(void **state)
{
    (void)state;
    assert_int_equal(timer_host_ns(&drifting, 1000), 50000);
    assert_int_equal(timer_host_ns(&drifting, 2001000), 4048000);
    assert_int_equal(timer_host_ns(&drifting, 1001000), 2049000); /* half of 3,998,000 */
    assert_int_equal(timer_host_ns(&drifting, 2000), 51999);
    assert_int_equal(timer_host_ns(&drifting, 0), 48001);         /* before the first look */
    assert_int_equal(timer_host_ns(&drifting, 3001000), 6047000); /* after the last */
    assert_int_equal(timer_uncertainty_ns(&drifting), 47);        /* 45 and a tick */
}

/* Of a queue with 16 bits: the looks have more. */
static void device_times_wrap(void **state)
{
    (void)state;
    struct timer_axis axis = {.first = {.device_ticks = 0x1fff0, .host_ns = 1000000},
                              .last = {.device_ticks = 0x20010, .host_ns = 1000000 + 32 * 10},
                              .valid_bits = 16,
                              .tick_ns = 10.0};
    assert_int_equal(timer_host_ns(&axis, 0xfff8), 1000080);
    assert_int_equal(timer_host_ns(&axis, 0x0008), 1000240);
    assert_int_equal(timer_host_ns(&axis, 0xffe0), 999840); /* 16 ticks before */
}

/* One look alone, or two that do not fit the period: the period counts. */
static void looks_that_say_nothing_of_the_rate(void **state)
{
    (void)state;
    struct timer_axis axis = drifting;
    axis.last = axis.first;
    assert_int_equal(timer_host_ns(&axis, 2000), 52000);
    axis.last = drifting.last;
    axis.last.host_ns += 100000; /* 2.5 % */
    assert_int_equal(timer_host_ns(&axis, 2000), 52000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences),
        cmocka_unit_test(wraps),
        cmocka_unit_test(upper_bits_are_ignored),
        cmocka_unit_test(periods),
        cmocka_unit_test(large_counts_stay_exact),
        cmocka_unit_test(device_times_on_the_host_axis),
        cmocka_unit_test(device_times_wrap),
        cmocka_unit_test(looks_that_say_nothing_of_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
