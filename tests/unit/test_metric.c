/* SPDX-License-Identifier: MIT */
#include "../metrics_json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct dimension rate = {.bytes = 1, .seconds = -1};
static const struct dimension duration = {.seconds = 1};

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    return arena ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static struct metric number(const char *name, double value, double low, double high, size_t n)
{
    return (struct metric){.name = name, .value = value, .low = low, .high = high, .n = n};
}

static struct metric combined(enum metric_operator by, struct metric a, struct metric b)
{
    struct metric out = {0};
    struct assay_error error = {0};
    if (!metric_combine(by, &a, &b, arena, &out, &error))
        fail_msg("%s", error.text);
    return out;
}

static void is(struct metric metric, double value, double low, double high, size_t n)
{
    assert_null(metric.absent);
    assert_true(metric.value == value && metric.low == low && metric.high == high);
    assert_int_equal(metric.n, n);
}

static void prints(struct metric metric, const char *wanted)
{
    struct text text = {0};
    metric_add(&text, &metric);
    assert_string_equal(text_string(&text), wanted);
    text_free(&text);
}

static void printing(void **state)
{
    (void)state;
    struct metric copy = number("copy.rate", 20.1e9, 19.8e9, 20.3e9, 31);
    copy.dimension = rate;
    prints(copy, "20.1 GB/s [19.8, 20.3] n=31");
    struct metric exact = {.name = "bytes",
                           .dimension = {.bytes = 1},
                           .value = 67108864,
                           .low = 67108864,
                           .high = 67108864};
    prints(exact, "64 MiB");
    copy.absent = "the case was skipped";
    prints(copy, "absent (the case was skipped)");
}

static void arithmetic(void **state)
{
    (void)state;
    struct metric a = number("a", 4, 2, 8, 31), b = number("b", 2, 1, 4, 12);
    is(combined(METRIC_ADD, a, b), 6, 3, 12, 12);
    is(combined(METRIC_SUBTRACT, a, b), 2, -2, 7, 12);
    is(combined(METRIC_MULTIPLY, a, b), 8, 2, 32, 12);
    is(combined(METRIC_DIVIDE, a, b), 2, 0.5, 8, 12);
    is(combined(METRIC_LARGER, a, number("c", 3, 2.5, 9, 12)), 4, 2.5, 9, 12);
    struct metric two = number("2", 2, 2, 2, 0);
    is(combined(METRIC_MULTIPLY, a, two), 8, 4, 16, 31);
    is(combined(METRIC_DIVIDE, two, a), 0.5, 0.25, 1, 31);
    is(combined(METRIC_MULTIPLY, two, two), 4, 4, 4, 0);
    struct metric mixed = number("m", 1, -1, 3, 6), negative = number("n", -2, -4, -1, 6);
    is(combined(METRIC_MULTIPLY, mixed, negative), -2, -12, 4, 6);
    is(combined(METRIC_DIVIDE, mixed, negative), -0.5, -3, 1, 6);
}

static void dimensions(void **state)
{
    (void)state;
    struct metric bytes = {
        .name = "bytes", .dimension = {.bytes = 1}, .value = 8, .low = 8, .high = 8};
    struct metric time = {
        .name = "time", .dimension = duration, .value = 2, .low = 2, .high = 2, .n = 6};
    assert_true(dimension_equal(combined(METRIC_DIVIDE, bytes, time).dimension, rate));
    assert_true(dimension_equal(combined(METRIC_MULTIPLY, time, time).dimension,
                                (struct dimension){.seconds = 2}));
    struct metric out;
    struct assay_error error = {0};
    assert_false(metric_combine(METRIC_ADD, &bytes, &time, arena, &out, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text, "a size and a time cannot be added");
    error = (struct assay_error){0};
    assert_false(metric_combine(METRIC_LARGER, &bytes, &time, arena, &out, &error));
    assert_string_equal(error.text, "a size and a time cannot be compared");
    assert_true(dimension_equal(combined(METRIC_LARGER, time, time).dimension, duration));
    bytes.absent = "skipped"; /* nothing raises */
    assert_string_equal(combined(METRIC_ADD, bytes, time).absent, "skipped");
}

static void absence(void **state)
{
    (void)state;
    struct metric a = number("a", 1, 1, 1, 6), none = {.name = "x", .absent = "crash"};
    assert_string_equal(combined(METRIC_DIVIDE, a, none).absent, "crash");
    assert_string_equal(combined(METRIC_MULTIPLY, none, a).absent, "crash");
    struct metric around = number("b", 1, -1, 2, 6), zero = number("0", 0, 0, 0, 0);
    assert_string_equal(combined(METRIC_DIVIDE, a, around).absent,
                        "division by an interval that holds 0");
    assert_string_equal(combined(METRIC_DIVIDE, a, zero).absent, "division by 0");
    struct metric huge = number("h", 1e300, 1e300, 1e300, 6);
    assert_string_equal(combined(METRIC_MULTIPLY, huge, huge).absent, "the result is not finite");
}

static void names(void **state)
{
    (void)state;
    struct metric a = number("copy.rate", 4, 4, 4, 6), two = number(NULL, 2, 2, 2, 0);
    struct metric ratio = combined(METRIC_DIVIDE, a, a);
    assert_string_equal(ratio.name, "copy.rate / copy.rate");
    struct metric sum = combined(METRIC_ADD, a, a);
    assert_string_equal(sum.name, "copy.rate + copy.rate");
    assert_string_equal(combined(METRIC_MULTIPLY, sum, two).name, "(copy.rate + copy.rate) * 2");
    struct metric larger = combined(METRIC_LARGER, sum, two);
    assert_string_equal(larger.name, "max(copy.rate + copy.rate, 2)");
    assert_string_equal(combined(METRIC_DIVIDE, larger, two).name,
                        "max(copy.rate + copy.rate, 2) / 2");
    assert_string_equal(combined(METRIC_DIVIDE, a, ratio).name,
                        "copy.rate / (copy.rate / copy.rate)");
    assert_string_equal(combined(METRIC_SUBTRACT, a, sum).name,
                        "copy.rate - (copy.rate + copy.rate)");
    assert_string_equal(combined(METRIC_SUBTRACT, sum, ratio).name,
                        "copy.rate + copy.rate - copy.rate / copy.rate");
    struct metric grown = a;
    for (int i = 0; i < 60; i++) /* without a limit 2^60 times the name */
        grown = combined(METRIC_ADD, grown, grown);
    assert_true(strlen(grown.name) < 1000);
}

static void sets(void **state)
{
    (void)state;
    struct metric_set *set = metric_set_create();
    struct assay_error error = {0};
    struct metric copy = number("copy.rate", 20.1e9, 19.8e9, 20.3e9, 31);
    copy.dimension = rate;
    assert_true(metric_set_add(set, &copy, &error));
    struct metric none = {.name = "device_time", .dimension = duration, .absent = "no timestamps"};
    assert_true(metric_set_add(set, &none, &error));
    struct metric nan = number("nan", NAN, NAN, NAN, 6);
    assert_true(metric_set_add(set, &nan, &error));
    assert_false(metric_set_add(set, &copy, &error));
    assert_string_equal(error.text, "metric 'copy.rate' is given twice");
    struct metric outside = number("outside", 5, 1, 2, 6);
    assert_false(metric_set_add(set, &outside, NULL));
    json_t *json = metrics_json(set);
    metric_set_destroy(&set);
    assert_int_equal(json_object_size(json), 3);
    struct metric back;
    metric_from_json(json, "copy.rate", &back);
    is(back, 20.1e9, 19.8e9, 20.3e9, 31);
    assert_true(dimension_equal(back.dimension, rate));
    metric_from_json(json, "device_time", &back);
    assert_string_equal(back.absent, "no timestamps");
    assert_true(dimension_equal(back.dimension, duration));
    metric_from_json(json, "nan", &back);
    assert_string_equal(back.absent, "the value is not finite");
    metric_from_json(json, "other", &back);
    assert_string_equal(back.absent, "there is no such metric");
    metric_from_json(NULL, "other", &back);
    assert_string_equal(back.absent, "there is no such metric");
    json_decref(json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(printing), TEST(arithmetic), TEST(dimensions), TEST(absence), TEST(names), TEST(sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
