/* SPDX-License-Identifier: MIT */
/* Kinds of elements: all halves, rounding, ranges, distances. */
#include "base/element.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* IEEE 754 binary16, as written there. */
static double half_by_definition(unsigned bits)
{
    double sign = bits >> 15 ? -1 : 1;
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    if (exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * fraction / 16777216.0; /* 2^-24 */
    return sign * (1 + fraction / 1024.0) * pow(2, exponent - 15);
}

static void all_halves(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 65536; bits++) {
        double wanted = half_by_definition(bits), got = half_to_real((uint16_t)bits);
        if (isnan(wanted)) {
            assert_true(isnan(got) && isnan(half_to_real(half_from_real(got))));
            continue;
        }
        assert_true(got == wanted && !signbit(got) == !signbit(wanted));
        assert_int_equal(half_from_real(got), bits);
    }
}

/* Between any two neighbours: the nearer one, and the even one at the middle. */
static void all_middles_of_halves(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 0x7bff; bits++) { /* up to the largest finite one */
        double low = half_by_definition(bits), high = half_by_definition(bits + 1);
        double middle = (low + high) / 2;
        assert_int_equal(half_from_real(middle), bits + (bits & 1));
        assert_int_equal(half_from_real(-middle), 0x8000 | (bits + (bits & 1)));
        assert_int_equal(half_from_real(nextafter(middle, 0)), bits);
        assert_int_equal(half_from_real(nextafter(middle, INFINITY)), bits + 1);
    }
    assert_int_equal(half_from_real(65519.999), 0x7bff);
    assert_int_equal(half_from_real(65520), 0x7c00); /* half way to 65536, which is not there */
    assert_int_equal(half_from_real(1e300), 0x7c00);
    assert_int_equal(half_from_real(-1e300), 0xfc00);
    assert_int_equal(half_from_real(0x1p-25), 0); /* half of the smallest, tie to even */
    assert_int_equal(half_from_real(-0x1p-26), 0x8000);
    assert_int_equal(half_from_real(5e-324), 0);
}

static void sixteen_bits_of_a_float(void **state)
{
    (void)state;
    uint16_t bits;
    const struct {
        double value;
        uint16_t bits;
    } rows[] = {{1, 0x3f80},
                {-2.5, 0xc020},
                {1 + 0x1p-8, 0x3f80},     /* tie to even */
                {1 + 3 * 0x1p-8, 0x3f82}, /* tie to even, up */
                {0x1p-133, 0x0001},       /* the smallest */
                {3.4e38, 0x7f80},         /* over the largest one by more than a half: infinite */
                {3.38e38, 0x7f7e}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(element_store(ASSAY_ELEMENT_BFLOAT16, rows[i].value, &bits));
        assert_int_equal(bits, rows[i].bits);
    }
    bits = 0x4049;
    assert_true(element_real(ASSAY_ELEMENT_BFLOAT16, &bits, 0) == 3.140625);
}

static void eight_bits_of_a_float(void **state)
{
    (void)state;
    uint8_t bits, all[2];
    const struct {
        double value;
        uint8_t bits;
    } rows[] = {{0, 0x00},
                {-0.0, 0x80},
                {1, 0x38},
                {-2.5, 0xc2},
                {1 + 0x1p-4, 0x38},     /* tie to even */
                {1 + 3 * 0x1p-4, 0x3a}, /* tie to even, up */
                {0x1p-6, 0x08},         /* the smallest normal one */
                {0x1p-9, 0x01},         /* the smallest */
                {0x1p-10, 0x00},        /* tie to even */
                {15.9, 0x58},           /* carries into the exponent */
                {256, 0x78},            /* the highest exponent counts on */
                {448, 0x7e},            /* the largest */
                {464, 0x7e},            /* tie to even */
                {465, 0x7f},            /* no infinity: NaN */
                {-(double)INFINITY, 0xff}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(element_store(ASSAY_ELEMENT_FP8_E4M3, rows[i].value, &bits));
        assert_int_equal(bits, rows[i].bits);
    }
    for (unsigned i = 0; i < 256; i++) { /* each is its own nearest */
        bits = (uint8_t)i;
        const double value = element_real(ASSAY_ELEMENT_FP8_E4M3, &bits, 0);
        assert_int_equal(isnan(value), (i & 0x7f) == 0x7f);
        assert_false(isinf(value));
        assert_true(element_store(ASSAY_ELEMENT_FP8_E4M3, value, &bits));
        if (!isnan(value))
            assert_int_equal(bits, i);
    }
    all[0] = 0x7e, all[1] = 0x87;
    assert_true(assay_element_value(ASSAY_ELEMENT_FP8_E4M3, all, 0) == 448);
    assert_true(assay_element_value(ASSAY_ELEMENT_FP8_E4M3, all, 1) == -7 * 0x1p-9);
    assert_true(assay_element_store(ASSAY_ELEMENT_FP8_E4M3, -0.4375, all, 1));
    assert_int_equal(all[0], 0x7e);
    assert_int_equal(all[1], 0xae); /* -0.4375 = -1.75 * 2^-2: exponent 5, fraction 6 */
    assert_false(element_is_whole(ASSAY_ELEMENT_FP8_E4M3));
    assert_true(element_is_signed(ASSAY_ELEMENT_FP8_E4M3));
    assert_int_equal(assay_element_bytes(ASSAY_ELEMENT_FP8_E4M3), 1);
}

static void whole_ones_have_ranges(void **state)
{
    (void)state;
    unsigned char out[8];
    const struct {
        enum assay_element element;
        double least, most;
    } rows[] = {
        {ASSAY_ELEMENT_INT8, -128, 127},
        {ASSAY_ELEMENT_UINT8, 0, 255},
        {ASSAY_ELEMENT_INT16, -32768, 32767},
        {ASSAY_ELEMENT_UINT16, 0, 65535},
        {ASSAY_ELEMENT_INT32, -2147483648.0, 2147483647.0},
        {ASSAY_ELEMENT_UINT32, 0, 4294967295.0},
        {ASSAY_ELEMENT_INT64, -0x1p63, 0x1p63 - 1024},
        {ASSAY_ELEMENT_UINT64, 0, 0x1p64 - 2048},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum assay_element element = rows[i].element;
        assert_true(element_is_whole(element));
        assert_true(element_store(element, rows[i].least, out));
        assert_true(element_real(element, out, 0) == rows[i].least);
        assert_true(element_store(element, rows[i].most, out));
        assert_true(element_real(element, out, 0) == rows[i].most);
        assert_false(element_store(element, nextafter(rows[i].least, -INFINITY), out));
        assert_false(element_store(element, rows[i].most + 2048, out));
        assert_false(element_store(element, 0.5, out));
        assert_false(element_store(element, NAN, out));
        assert_true(element_real(element, out, 0) == rows[i].most); /* nothing was stored */
    }
    assert_true(element_store_whole(ASSAY_ELEMENT_UINT64, -1, out));
    assert_true(element_real(ASSAY_ELEMENT_UINT64, out, 0) == 0x1p64);
    assert_int_equal(element_whole(ASSAY_ELEMENT_UINT64, out, 0), -1);
    assert_false(element_store_whole(ASSAY_ELEMENT_UINT32, -1, out));
    assert_true(element_store_whole(ASSAY_ELEMENT_INT64, INT64_MIN, out));
    assert_true(element_whole(ASSAY_ELEMENT_INT64, out, 0) == INT64_MIN);
}

static void elements_of_an_array(void **state)
{
    (void)state;
    const int16_t shorts[] = {1, -2, 3};
    const float floats[] = {0.5F, -0.25F};
    assert_int_equal(element_whole(ASSAY_ELEMENT_INT16, shorts, 1), -2);
    assert_int_equal(element_whole(ASSAY_ELEMENT_UINT16, shorts, 1), 65534);
    assert_true(element_real(ASSAY_ELEMENT_FLOAT, floats, 1) == -0.25);
}

static void names(void **state)
{
    (void)state;
    enum assay_element element;
    for (int i = 0; i < ASSAY_ELEMENT_COUNT; i++) {
        assert_true(element_from_name(element_name((enum assay_element)i), &element));
        assert_int_equal(element, i);
    }
    assert_true(element_from_name("uint32", &element));
    assert_int_equal(element, ASSAY_ELEMENT_UINT32);
    assert_false(element_from_name("Float", &element));
    assert_int_equal(element_bytes(ASSAY_ELEMENT_BFLOAT16), 2);
    assert_int_equal(element_bytes(ASSAY_ELEMENT_DOUBLE), 8);
}

static void distances(void **state)
{
    (void)state;
    assert_true(element_spacing(ASSAY_ELEMENT_FLOAT, 1) == 0x1p-23);
    assert_true(element_spacing(ASSAY_ELEMENT_FLOAT, -1.99) == 0x1p-23);
    assert_true(element_spacing(ASSAY_ELEMENT_FLOAT, 0.99) == 0x1p-24);
    assert_true(element_spacing(ASSAY_ELEMENT_FLOAT, 0) == 0x1p-149);
    assert_true(element_spacing(ASSAY_ELEMENT_FLOAT, 1e-42) == 0x1p-149);
    assert_true(element_spacing(ASSAY_ELEMENT_DOUBLE, 1) == 0x1p-52);
    assert_true(element_spacing(ASSAY_ELEMENT_HALF, 1) == 0x1p-10);
    assert_true(element_spacing(ASSAY_ELEMENT_HALF, 0x1p-20) == 0x1p-24);
    assert_true(element_spacing(ASSAY_ELEMENT_BFLOAT16, 2) == 0x1p-6);
    assert_true(element_spacing(ASSAY_ELEMENT_FP8_E4M3, 300) == 32);
    assert_true(element_spacing(ASSAY_ELEMENT_FP8_E4M3, 0.001) == 0x1p-9);
    assert_true(element_spacing(ASSAY_ELEMENT_INT32, 1e6) == 1);
}

static void shortest_decimals(void **state)
{
    (void)state;
    static const struct {
        enum assay_element element;
        double value;
        const char *wanted;
    } rows[] = {
        {ASSAY_ELEMENT_FLOAT, (double)0.1F, "0.1"},
        {ASSAY_ELEMENT_FLOAT, 0.1, "0.1"}, /* as a double has it: no float */
        {ASSAY_ELEMENT_FLOAT, 0.1000000001, "0.1000000001"},
        {ASSAY_ELEMENT_FLOAT, (double)0.70392537F, "0.7039254"},
        {ASSAY_ELEMENT_FLOAT, 0x1p-149, "1e-45"},
        {ASSAY_ELEMENT_FLOAT, 16777216, "16777216"},
        {ASSAY_ELEMENT_FLOAT, -0.5, "-0.5"},
        {ASSAY_ELEMENT_FLOAT, 1 + 0x1p-23, "1.0000001"},
        {ASSAY_ELEMENT_DOUBLE, 0.1, "0.1"},
        {ASSAY_ELEMENT_DOUBLE, (double)0.1F, "0.10000000149011612"},
        {ASSAY_ELEMENT_HALF, 1 + 0x1p-10, "1.001"},
        {ASSAY_ELEMENT_HALF, 1365 * 0x1p-12, "0.3333"}, /* 0.333 is 1364 of them */
        {ASSAY_ELEMENT_BFLOAT16, 171 * 0x1p-9, "0.334"},
        {ASSAY_ELEMENT_INT32, 2.5, "2.5"},
        {ASSAY_ELEMENT_FLOAT, (double)NAN, "NaN"},
        {ASSAY_ELEMENT_FLOAT, -(double)INFINITY, "-Inf"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct text text = {0};
        element_add(&text, rows[i].element, rows[i].value);
        assert_string_equal(text_string(&text), rows[i].wanted);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_halves),
        cmocka_unit_test(all_middles_of_halves),
        cmocka_unit_test(sixteen_bits_of_a_float),
        cmocka_unit_test(eight_bits_of_a_float),
        cmocka_unit_test(whole_ones_have_ranges),
        cmocka_unit_test(elements_of_an_array),
        cmocka_unit_test(names),
        cmocka_unit_test(distances),
        cmocka_unit_test(shortest_decimals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
