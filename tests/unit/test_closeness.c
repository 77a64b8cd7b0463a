/* SPDX-License-Identifier: MIT */
/* Errors over their bounds, and what a wrong result says. */
#include "measure/closeness.h"

#include "base/error.h"
#include "measure/verification.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct number real(double value)
{
    return (struct number){.real = value};
}

static struct number whole(int64_t bits)
{
    return (struct number){.whole = true, .bits = bits};
}

static double closeness(struct closeness allowed, enum assay_element element, struct number got,
                        struct number wanted)
{
    return closeness_of(&allowed, element, &got, &wanted);
}

static void bounds_add_up(void **state)
{
    (void)state;
    const struct closeness none = {0}, all = {.absolute = 0.5, .relative = 0.25, .ulp = 2};
    const enum assay_element f32 = ASSAY_ELEMENT_FLOAT, f16 = ASSAY_ELEMENT_HALF;
    assert_true(closeness(none, f32, real(1), real(1)) == 0);
    assert_true(closeness(none, f32, real(0.0), real(-0.0)) == 0);
    assert_true(isinf(closeness(none, f32, real(1), real(1.0000001))));
    assert_true(closeness((struct closeness){.absolute = 0.5}, f32, real(1), real(2)) == 2);
    assert_true(closeness((struct closeness){.relative = 0.5}, f32, real(1), real(-2)) == 3);
    assert_true(closeness((struct closeness){.ulp = 1}, f32, real(1 + 0x1p-23), real(1)) == 1);
    assert_true(closeness((struct closeness){.ulp = 1}, f16, real(1 + 0x1p-9), real(1)) == 2);
    assert_true(closeness((struct closeness){.ulp = 1}, f32, real(0x1p-149), real(0)) == 1);
    /* 0.5 + 0.25 * 2 + 2 * 2^-9 = 1 + 2^-8 for a half of 2 */
    assert_true(closeness(all, f16, real(2), real(2)) == 0);
    assert_true(closeness(all, f16, real(3 + 0x1p-8), real(2)) == 1);
}

static void nan_and_infinity_never_pass(void **state)
{
    (void)state;
    const struct closeness wide = {.absolute = 1e300, .relative = 1e300};
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int i = 0; i < 3; i++) {
        assert_true(isinf(closeness(wide, ASSAY_ELEMENT_FLOAT, real(bad[i]), real(1))));
        assert_true(isinf(closeness(wide, ASSAY_ELEMENT_FLOAT, real(1), real(bad[i]))));
        assert_true(isinf(closeness(wide, ASSAY_ELEMENT_FLOAT, real(bad[i]), real(bad[i]))));
    }
}

static void whole_numbers_are_exact(void **state)
{
    (void)state;
    const struct closeness none = {0}, four = {.absolute = 4};
    const int64_t large = (INT64_C(1) << 53) + 1; /* no double */
    assert_true(closeness(none, ASSAY_ELEMENT_INT64, whole(large), whole(large)) == 0);
    assert_true(isinf(closeness(none, ASSAY_ELEMENT_INT64, whole(large), whole(large - 1))));
    assert_true(closeness(four, ASSAY_ELEMENT_INT64, whole(large), whole(large - 1)) == 0.25);
    assert_true(closeness(four, ASSAY_ELEMENT_INT64, whole(-1), whole(1)) == 0.5);
    assert_true(closeness(four, ASSAY_ELEMENT_INT64, whole(INT64_MIN), whole(INT64_MAX)) == 0x1p62);
    /* 2^64 - 1 and 2^64 - 2 */
    assert_true(closeness(four, ASSAY_ELEMENT_UINT64, whole(-1), whole(-2)) == 0.25);
    assert_true(closeness(four, ASSAY_ELEMENT_UINT64, whole(-1), whole(0)) == 0x1p62);
    assert_true(closeness(none, ASSAY_ELEMENT_UINT64, whole(3), real(3)) == 0);
}

static void described(const struct comparison *comparison, const char *wanted)
{
    struct text text = {0};
    comparison_describe(comparison, &text);
    assert_string_equal(text_string(&text), wanted);
    text_free(&text);
}

static void comparisons_find_the_first(void **state)
{
    (void)state;
    struct comparison comparison = {
        .name = "y", .element = ASSAY_ELEMENT_FLOAT, .allowed = {.absolute = 0.125}};
    const double got[] = {1, 2.0625, 2.5, 9, 5}, wanted[] = {1, 2, 2.25, 4, 5};
    for (int i = 0; i < 5; i++) {
        const struct number a = real(got[i]), b = real(wanted[i]);
        comparison_add(&comparison, &a, &b);
    }
    assert_int_equal(comparison.count, 5);
    assert_int_equal(comparison.wrong, 2);
    assert_int_equal(comparison.first, 2);
    assert_true(comparison.largest == 40);
    described(&comparison,
              "y[3] is 2.5, wanted 2.25: the error 0.25 is 2 times its bound of 0.125; "
              "2 of 5 elements are wrong");
    struct comparison exact = {.name = "n", .element = ASSAY_ELEMENT_UINT64};
    const struct number a = whole(-1), b = whole(7), n = real((double)NAN);
    comparison_add(&exact, &a, &b);
    described(&exact, "n[1] is 18446744073709551615, wanted 7");
    comparison_add(&exact, &b, &b);
    described(&exact, "n[1] is 18446744073709551615, wanted 7; 1 of 2 elements is wrong");
    struct comparison bad = {.name = "y", .element = ASSAY_ELEMENT_FLOAT};
    comparison_add(&bad, &n, &n);
    described(&bad, "y[1] is NaN, wanted NaN: NaN and infinity never pass");
}

static void verifications_take_them(void **state)
{
    (void)state;
    struct assay_verification verification = {0};
    struct assay_error error = {0};
    struct comparison comparison = {.name = "y",
                                    .place = "t.lua:3",
                                    .element = ASSAY_ELEMENT_FLOAT,
                                    .allowed = {.absolute = 0.5}};
    const struct number zero = real(0), quarter = real(0.25), one = real(1);
    comparison_add(&comparison, &zero, &quarter);
    assert_true(comparison_apply(&comparison, &verification, &error));
    assert_true(verification.has_error && verification.error == 0.5);
    assert_int_equal(verification.checked_bytes, 4);
    comparison_add(&comparison, &zero, &one);
    assert_false(comparison_apply(&comparison, &verification, &error));
    assert_int_equal(error.status, ASSAY_WRONG_RESULT);
    assert_string_equal(error.text,
                        "t.lua:3: y[2] is 0, wanted 1: the error 1 is 2 times its bound "
                        "of 0.5; 1 of 2 elements is wrong");
    assert_true(verification.error == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_add_up),           cmocka_unit_test(nan_and_infinity_never_pass),
        cmocka_unit_test(whole_numbers_are_exact), cmocka_unit_test(comparisons_find_the_first),
        cmocka_unit_test(verifications_take_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
