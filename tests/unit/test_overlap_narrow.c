/* SPDX-License-Identifier: MIT */
/* The narrowing of plugin `overlap`, at every half from -1 to 1 and between. */
#include "../../plugins/overlap/overlap.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ONE 0x3c00

static double value_of(int half)
{
    int exponent = half >> 10, fraction = half & 0x3ff;
    return exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
}

/* Alone, and in a row that processors may do at once. */
static void expect_half(double value, int wanted)
{
    float in[9];
    uint16_t out[9];
    for (int sign = 0; sign < 2; sign++) {
        for (int i = 0; i < 9; i++)
            in[i] = (float)(sign ? -value : value);
        narrow(in, 9, out);
        for (int i = 0; i < 9; i++)
            assert_int_equal(out[i], wanted | sign << 15);
    }
}

static void every_half(void **state)
{
    (void)state;
    for (int half = 0; half <= ONE; half++)
        expect_half(value_of(half), half);
}

/* In the middle ties go to the even one; a float beside the middle goes to the nearer one. */
static void between_two(void **state)
{
    (void)state;
    for (int half = 0; half < ONE; half++) {
        float middle = (float)((value_of(half) + value_of(half + 1)) / 2);
        expect_half((double)middle, half + half % 2);
        expect_half((double)nextafterf(middle, 0), half);
        expect_half((double)nextafterf(middle, 2), half + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half),
        cmocka_unit_test(between_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
