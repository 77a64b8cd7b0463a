/* SPDX-License-Identifier: MIT */
#include "stats/histogram.h"

#include "base/hash.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct histogram *create(void)
{
    struct histogram *histogram = histogram_create(NULL);
    assert_non_null(histogram);
    return histogram;
}

static void check_bucket(int64_t value)
{
    int64_t lowest, highest, other_lowest, other_highest;
    histogram_bucket(value, &lowest, &highest);
    assert_true(lowest <= value && value <= highest);
    assert_true((double)(highest - lowest) <= HISTOGRAM_RELATIVE_ERROR * (double)lowest);
    /* Both ends are in it, their neighbours are not. */
    histogram_bucket(lowest, &other_lowest, &other_highest);
    assert_true(other_lowest == lowest && other_highest == highest);
    histogram_bucket(highest, &other_lowest, &other_highest);
    assert_true(other_lowest == lowest && other_highest == highest);
    if (lowest > 0) {
        histogram_bucket(lowest - 1, &other_lowest, &other_highest);
        assert_true(other_highest == lowest - 1);
    }
}

static void buckets_bound_the_error(void **state)
{
    (void)state;
    for (int64_t value = 0; value < 5000; value++)
        check_bucket(value);
    for (unsigned bit = 12; bit < 63; bit++) {
        check_bucket((INT64_C(1) << bit) - 1);
        check_bucket(INT64_C(1) << bit);
        check_bucket((INT64_C(1) << bit) + 1);
    }
    check_bucket(INT64_MAX);
    for (uint64_t i = 0; i < 20000; i++)
        check_bucket((int64_t)(random_at(1, i) >> (1 + random_at(2, i) % 63)));
    int64_t lowest, highest;
    histogram_bucket(1000000, &lowest, &highest); /* 2^19 ... 2^20 in steps of 2^12 */
    assert_true(lowest == 999424 && highest == 1003519);
    histogram_bucket(INT64_MAX, &lowest, &highest);
    assert_true(highest == INT64_MAX && lowest == INT64_MAX - (INT64_C(1) << 55) + 1);
}

static void quantiles(void **state)
{
    (void)state;
    struct histogram *h = create();
    struct interval out;
    assert_false(histogram_quantile(h, 0.5, &out));
    assert_false(histogram_quantile_interval(h, 0.5, 0.95, &out));
    for (int64_t value = 1; value <= 100; value++)
        assert_true(histogram_add(h, value));
    assert_false(histogram_add(h, -1));
    assert_int_equal(histogram_count(h), 100);
    static const double rows[][2] = {{0, 1},     {0.07, 7},    {0.5, 50}, {0.501, 51},
                                     {0.95, 95}, {0.999, 100}, {1, 100}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(histogram_quantile(h, rows[i][0], &out));
        assert_true(out.low == rows[i][1] && out.high == rows[i][1] && out.estimate == rows[i][1]);
    }
    assert_true(histogram_quantile_interval(h, 0.5, 0.95, &out));
    assert_true(out.low == 40 && out.high == 61);
    assert_false(histogram_quantile_interval(h, 0.99, 0.95, &out));
    assert_true(out.low == 1 && out.high == 100 && out.estimate == 99);
    histogram_clear(h);
    assert_true(histogram_add(h, 1000000) && histogram_add(h, 0) && histogram_add(h, INT64_MAX));
    assert_true(histogram_quantile(h, 0.5, &out));
    assert_true(out.low == 999424 && out.high == 1003519 && out.estimate == 1001471.5);
    assert_true(histogram_quantile(h, 1, &out));
    assert_true(out.high == 0x1p63); /* INT64_MAX as a double */
    assert_true(histogram_quantile(h, 0, &out));
    assert_true(out.high == 0);
    histogram_destroy(&h);
    assert_null(h);
    histogram_destroy(&h);
}

/* Against the exact order statistics of many values over many octaves. */
static void quantiles_of_many(void **state)
{
    (void)state;
    static double values[20001];
    struct histogram *h = create();
    for (uint64_t i = 0; i < 20001; i++) {
        int64_t value = (int64_t)exp(5 + 20 * (double)(random_at(3, i) >> 11) * 0x1p-53);
        values[i] = (double)value;
        assert_true(histogram_add(h, value));
    }
    stats_sort(values, 20001);
    static const double qs[] = {0.001, 0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};
    for (size_t i = 0; i < sizeof qs / sizeof *qs; i++) {
        struct interval out;
        assert_true(histogram_quantile(h, qs[i], &out));
        double exact = values[(size_t)ceil(qs[i] * 20001) - 1];
        assert_true(out.low <= exact && exact <= out.high);
        assert_true(fabs(out.estimate / exact - 1) <= HISTOGRAM_RELATIVE_ERROR);
    }
    histogram_destroy(&h);
}

static void assert_same(const struct histogram *a, const struct histogram *b)
{
    struct text left = {0}, right = {0};
    histogram_add_text(a, &left);
    histogram_add_text(b, &right);
    assert_string_equal(text_string(&left), text_string(&right));
    text_free(&left);
    text_free(&right);
}

static void merging_is_adding(void **state)
{
    (void)state;
    struct histogram *a = create(), *b = create(), *both = create();
    for (uint64_t i = 0; i < 1000; i++) {
        int64_t value = (int64_t)(random_at(4, i) >> (1 + i % 60));
        assert_true(histogram_add(i % 3 ? a : b, value));
        assert_true(histogram_add(both, value));
    }
    assert_true(histogram_merge(a, b));
    assert_int_equal(histogram_count(a), 1000);
    assert_same(a, both);
    histogram_destroy(&a);
    histogram_destroy(&b);
    histogram_destroy(&both);
}

/* Doubling a histogram by itself reaches the end of the counter: refused, nothing changed. */
static void merging_does_not_overflow(void **state)
{
    (void)state;
    struct histogram *a = create();
    assert_true(histogram_add(a, 5));
    for (unsigned i = 0; i < 63; i++)
        assert_true(histogram_merge(a, a));
    assert_true(histogram_count(a) == UINT64_C(1) << 63);
    assert_false(histogram_merge(a, a));
    assert_true(histogram_count(a) == UINT64_C(1) << 63);
    struct text text = {0};
    histogram_add_text(a, &text);
    assert_true(histogram_read_text(a, text_string(&text), NULL));
    assert_true(histogram_count(a) == UINT64_C(1) << 63);
    text_free(&text);
    histogram_destroy(&a);
}

static void text_goes_both_ways(void **state)
{
    (void)state;
    struct histogram *a = create(), *b = create();
    assert_true(histogram_add(b, 77)); /* replaced */
    struct text text = {0};
    text_add(&text, "before ");
    histogram_add_text(a, &text);
    assert_true(strncmp(text_string(&text), "before log7 #", 13) == 0);
    assert_true(histogram_read_text(b, text_string(&text) + 7, NULL));
    assert_int_equal(histogram_count(b), 0);
    /* 0 is bucket 0, 128 is 128, 256 and 257 share 256, the last is 7295. */
    static const int64_t values[] = {0, 0, 0, 128, 256, 257, INT64_MAX};
    for (size_t i = 0; i < 7; i++)
        assert_true(histogram_add(a, values[i]));
    text_clear(&text);
    histogram_add_text(a, &text);
    assert_true(strncmp(text_string(&text), "log7 1:3 128:1 128:2 7039:1 #", 29) == 0);
    assert_int_equal(text.length, 29 + 8);
    assert_true(histogram_read_text(b, text_string(&text), NULL));
    assert_int_equal(histogram_count(b), 7);
    assert_same(a, b);
    text_free(&text);
    histogram_destroy(&a);
    histogram_destroy(&b);
}

static void refuse(struct histogram *h, const char *text)
{
    struct assay_error error = {0};
    assert_false(histogram_read_text(h, text, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_true(error.text[0] != '\0');
    assert_int_equal(histogram_count(h), 0);
}

/* A text with the right hash, whatever is before it. */
static void refuse_hashed(struct histogram *h, const char *body)
{
    char hex[HASH_HEX_BYTES], text[200];
    struct hash128 hash = hash_bytes(body, strlen(body));
    hash_hex(&hash, hex);
    snprintf(text, sizeof text, "%s #%.8s", body, hex);
    refuse(h, text);
}

static void damaged_texts_are_refused(void **state)
{
    (void)state;
    struct histogram *h = create();
    struct text good = {0};
    for (int64_t i = 0; i < 20; i++)
        assert_true(histogram_add(h, i * i * 1000));
    histogram_add_text(h, &good);
    char text[500];
    assert_true(good.length < sizeof text);
    for (size_t i = 0; i < good.length; i++) { /* any character changed, any end cut */
        memcpy(text, good.data, good.length + 1);
        text[i] = text[i] == '1' ? '2' : '1';
        refuse(h, text);
        memcpy(text, good.data, i);
        text[i] = '\0';
        refuse(h, text);
    }
    snprintf(text, sizeof text, "%s ", good.data);
    refuse(h, text);
    static const char *const bodies[] = {
        "log8 1:3",
        "log7 0:3",
        "log7 1:0",
        "log7 01:3",
        "log7 1:03",
        "log7 1:-3",
        "log7 7297:1",
        "log7 7296:1 1:1",
        "log7 1:3  2:1",
        "log7 1:3 ",
        "log7 1",
        "log7 1:18446744073709551616",
        "log7 1:18446744073709551615 1:1",
        "log7 18446744073709551616:1",
        "log7 +1:1",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        refuse_hashed(h, bodies[i]);
    text_free(&good);
    histogram_destroy(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_bound_the_error),   cmocka_unit_test(quantiles),
        cmocka_unit_test(quantiles_of_many),         cmocka_unit_test(merging_is_adding),
        cmocka_unit_test(merging_does_not_overflow), cmocka_unit_test(text_goes_both_ways),
        cmocka_unit_test(damaged_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
