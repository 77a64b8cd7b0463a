/* SPDX-License-Identifier: MIT */
/* What fills put into buffers, worked out by hand from the first numbers of splitmix64(0):
 * 0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4. */
#include "vulkan/fill.h"

#include "base/element.h"
#include "base/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct assay_fill fill(enum assay_fill_kind kind, enum assay_element element, double from,
                              double to)
{
    return (struct assay_fill){.kind = kind, .element = element, .from = from, .to = to};
}

static void assert_elements(const struct assay_fill *given, uint64_t first, const double *wanted,
                            size_t count)
{
    unsigned char bytes[256];
    const size_t width = element_bytes(given->element);
    struct assay_error error = {0};
    assert_true(fill_check(given, &error));
    assert_true(first * width % 8 == 0 && count * width <= sizeof(bytes));
    fill_bytes(given, 0, first * width, count * width, bytes);
    for (size_t i = 0; i < count; i++)
        assert_true(element_real(given->element, bytes, i) == wanted[i]);
}

static void values(void **state)
{
    (void)state;
    struct assay_fill one = fill(ASSAY_FILL_VALUE, ASSAY_ELEMENT_HALF, 1, 0);
    assert_true(fill_pattern(&one) == UINT64_C(0x3c003c003c003c00));
    one = fill(ASSAY_FILL_VALUE, ASSAY_ELEMENT_DOUBLE, -2, 0);
    assert_true(fill_pattern(&one) == UINT64_C(0xc000000000000000));
    one = fill(ASSAY_FILL_VALUE, ASSAY_ELEMENT_INT8, -2, 0);
    assert_true(fill_pattern(&one) == UINT64_C(0xfefefefefefefefe));
    const struct assay_fill word = {.kind = ASSAY_FILL_WORD, .word = 0x80000001};
    const struct assay_fill plain = fill_plain(&word);
    assert_true(fill_pattern(&plain) == UINT64_C(0x8000000180000001));
    one = fill(ASSAY_FILL_VALUE, ASSAY_ELEMENT_FLOAT, 0.1, 0);
    assert_elements(&one, 6, (const double[]){(double)0.1F, (double)0.1F, (double)0.1F}, 3);
}

static void uniform(void **state)
{
    (void)state;
    struct assay_fill one = fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_FLOAT, 0, 1);
    assert_elements(&one, 0,
                    (const double[]){0x7B1DCD / 0x1p24, 0xE220A8 / 0x1p24, 0xA1B965 / 0x1p24,
                                     0x6E789E / 0x1p24},
                    4);
    assert_elements(&one, 2, (const double[]){0xA1B965 / 0x1p24}, 1);
    one = fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_FLOAT, -1, 3); /* exact: 4 k / 2^24 - 1 */
    assert_elements(&one, 0, (const double[]){0x7B1DCD / 0x1p22 - 1}, 1);
    one = fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_DOUBLE, 0, 2);
    assert_elements(&one, 0,
                    (const double[]){(double)(UINT64_C(0xE220A8397B1DCDAF) >> 11) / 0x1p52}, 1);
    /* 0x7B1DCD / 2^24 = 1969.86 / 2^12, where halves are 2^-12 apart */
    one = fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_HALF, 0, 1);
    assert_elements(&one, 0, (const double[]){1970 / 4096.0}, 1);
    /* floor(10 * 0x7B1DCDAF / 2^32) = floor(4.81), floor(10 * 0xE220A839 / 2^32) = floor(8.83) */
    one = fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_INT32, -5, 4);
    assert_elements(&one, 0, (const double[]){-1, 3}, 2);
    one = fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_UINT8, 10, 19);
    assert_elements(&one, 0, (const double[]){14, 18}, 2);
    one = fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_UINT64, 0, 99);
    assert_elements(&one, 0, (const double[]){88, 43}, 2);
}

/* Rounding never reaches the excluded bound, and every place can be had alone. */
static void uniform_everywhere(void **state)
{
    (void)state;
    static unsigned char whole[40000], part[40000];
    const struct {
        enum assay_element element;
        double low, high;
    } rows[] = {
        {ASSAY_ELEMENT_HALF, 1, 1 + 0x1p-10},
        {ASSAY_ELEMENT_HALF, 0.5, 1},
        {ASSAY_ELEMENT_HALF, -1, 0},
        {ASSAY_ELEMENT_HALF, 0, 0x1p-24},
        {ASSAY_ELEMENT_BFLOAT16, -3, -2},
        {ASSAY_ELEMENT_FP8_E4M3, 0.9375, 1},
        {ASSAY_ELEMENT_FP8_E4M3, -448, 448},
        {ASSAY_ELEMENT_FP8_E4M3, 0, 0x1p-9},
        {ASSAY_ELEMENT_FLOAT, 1, 1 + 0x1p-23},
        {ASSAY_ELEMENT_FLOAT, -1e30, 1e30},
        {ASSAY_ELEMENT_DOUBLE, 1, 1 + 0x1p-52},
        {ASSAY_ELEMENT_INT8, -128, 127},
        {ASSAY_ELEMENT_UINT16, 65535, 65535},
        {ASSAY_ELEMENT_INT64, -0x1p53, 0x1p53},
        {ASSAY_ELEMENT_UINT32, 0, 4294967295.0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct assay_fill one = fill(ASSAY_FILL_UNIFORM, rows[i].element, rows[i].low,
                                           rows[i].high);
        const size_t count = sizeof(whole) / element_bytes(one.element);
        struct assay_error error = {0};
        assert_true(fill_check(&one, &error));
        fill_bytes(&one, 5, 0, sizeof(whole), whole);
        for (size_t j = 0; j < count; j++) {
            const double value = element_real(one.element, whole, j);
            assert_true(value >= one.from);
            assert_true(element_is_whole(one.element) ? value <= one.to : value < one.to);
        }
        fill_bytes(&one, 5, 12008, 20000, part);
        assert_memory_equal(part, whole + 12008, 20000);
        fill_bytes(&one, 6, 0, sizeof(part), part);
        assert_true(rows[i].high - rows[i].low < 0.1 || memcmp(part, whole, sizeof(part)) != 0);
    }
}

static void sequences(void **state)
{
    (void)state;
    struct assay_fill one = fill(ASSAY_FILL_SEQUENCE, ASSAY_ELEMENT_FLOAT, 1, 0.5);
    assert_elements(&one, 2, (const double[]){2, 2.5, 3}, 3);
    one = fill(ASSAY_FILL_SEQUENCE, ASSAY_ELEMENT_UINT8, 250, 3);
    assert_elements(&one, 0, (const double[]){250, 253, 0, 3}, 4);
    one = fill(ASSAY_FILL_SEQUENCE, ASSAY_ELEMENT_INT64, 5, -3);
    assert_elements(&one, 1, (const double[]){2, -1}, 2);
}

static void data(void **state)
{
    (void)state;
    const unsigned char bytes[24] = "0123456789abcdefghijklm";
    unsigned char got[8];
    const struct assay_fill one = {.kind = ASSAY_FILL_DATA, .data = bytes};
    fill_bytes(&one, 9, 8, 8, got);
    assert_memory_equal(got, "89abcdef", 8);
}

static void refused(struct assay_fill one, const char *text)
{
    struct assay_error error = {0};
    assert_false(fill_check(&one, &error));
    assert_string_equal(error.text, text);
    assert_int_equal(error.status, ASSAY_INVALID);
}

static void refusals(void **state)
{
    (void)state;
    refused(fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_FLOAT, 1, 1),
            "its fill wants finite bounds with low below high, as float holds them");
    refused(fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_HALF, 1, 1.0001),
            "its fill wants finite bounds with low below high, as half holds them");
    refused(fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_HALF, 0, 65520),
            "its fill wants finite bounds with low below high, as half holds them");
    refused(fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_DOUBLE, -1e308, 1e308),
            "its fill wants finite bounds with low below high, as double holds them");
    refused(fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_UINT8, 2, 1),
            "its fill wants a low bound of at most the high one");
    refused(fill(ASSAY_FILL_UNIFORM, ASSAY_ELEMENT_UINT8, 0, 256),
            "its fill wants whole numbers that fit in uint8, of at most 2^53");
    refused(fill(ASSAY_FILL_VALUE, ASSAY_ELEMENT_INT32, 0.5, 0),
            "its fill wants whole numbers that fit in int, of at most 2^53");
    refused(fill(ASSAY_FILL_SEQUENCE, ASSAY_ELEMENT_INT32, 0, 0.5),
            "its fill wants whole numbers of at most 2^53");
    refused(fill(ASSAY_FILL_DATA, ASSAY_ELEMENT_INT32, 0, 0),
            "its fill wants data, as long as the buffer");
    refused(fill((enum assay_fill_kind)99, ASSAY_ELEMENT_INT32, 0, 0), "99 is no kind of fill");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(uniform),
        cmocka_unit_test(uniform_everywhere),
        cmocka_unit_test(sequences),
        cmocka_unit_test(data),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
