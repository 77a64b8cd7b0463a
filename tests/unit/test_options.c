/* SPDX-License-Identifier: MIT */
#include "base/options.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct params {
    int64_t bytes, wait, n;
    double rate, factor;
    bool checked;
    int direction;
    const char *label, *kernel;
};

static const char *const directions[] = {"upload", "download", "device", NULL};
#define OPTION(member)                                                                             \
    .size = sizeof(struct assay_option), .offset = offsetof(struct params, member)
static const struct assay_option bytes_option = {
    OPTION(bytes),        .name = "bytes", .kind = ASSAY_OPTION_INTEGER, .unit = "B",
    .fallback = "64 MiB", .min = 1,        .max = INT64_C(1) << 53,      .help = "how much"};
static const struct assay_option wait_option = {
    OPTION(wait), .name = "wait", .kind = ASSAY_OPTION_INTEGER, .unit = "ns", .fallback = "1.5 ms"};
static const struct assay_option n_option = {
    OPTION(n), .name = "n", .kind = ASSAY_OPTION_INTEGER, .unit = "elements", .fallback = "1024",
    .min = -4, .max = 4096, .flags = ASSAY_OPTION_ITEMS};
static const struct assay_option rate_option = {
    OPTION(rate),           .name = "rate", .kind = ASSAY_OPTION_REAL, .unit = "B/s",
    .fallback = "1.5 GB/s", .real_min = 1,  .real_max = 1e12};
static const struct assay_option factor_option = {OPTION(factor), .name = "factor",
                                                  .kind = ASSAY_OPTION_REAL, .fallback = "0.5"};
static const struct assay_option checked_option = {
    OPTION(checked), .name = "checked", .kind = ASSAY_OPTION_BOOLEAN, .fallback = "true"};
static const struct assay_option direction_option = {OPTION(direction), .name = "direction",
                                                     .kind = ASSAY_OPTION_CHOICE,
                                                     .fallback = "upload", .choices = directions};
static const struct assay_option label_option = {OPTION(label), .name = "label",
                                                 .kind = ASSAY_OPTION_TEXT, .fallback = ""};
static const struct assay_option kernel_option = {
    OPTION(kernel), .name = "kernel", .kind = ASSAY_OPTION_SOURCE, .fallback = "old.comp"};
static const struct assay_option *const table[] = {
    &bytes_option,   &wait_option,      &n_option,     &rate_option,   &factor_option,
    &checked_option, &direction_option, &label_option, &kernel_option, NULL};
#define TABLE_COUNT 9

static int make_arena(void **state)
{
    *state = arena_create();
    return *state ? 0 : -1;
}

static int drop_arena(void **state)
{
    struct arena *arena = *state;
    arena_destroy(&arena);
    return 0;
}

static struct option_value taken(const struct assay_option *option, const char *text,
                                 struct arena *arena)
{
    struct option_value value = {0};
    struct assay_error error = {0};
    if (!option_parse(option, text, arena, &value, &error))
        fail_msg("%s", error.text);
    assert_int_equal(value.kind, option->kind);
    return value;
}

static void parses(void **state)
{
    assert_int_equal(taken(&bytes_option, "64 MiB", *state).as.integer, 67108864);
    assert_int_equal(taken(&bytes_option, "100", *state).as.integer, 100);
    assert_int_equal(taken(&bytes_option, "1.5 KiB", *state).as.integer, 1536);
    assert_int_equal(taken(&bytes_option, "1.1 GB", *state).as.integer, 1100000000);
    assert_int_equal(taken(&bytes_option, "9007199254740991", *state).as.integer,
                     INT64_C(9007199254740991));
    assert_int_equal(taken(&wait_option, "1.5 ms", *state).as.integer, 1500000);
    assert_int_equal(taken(&wait_option, "1234567 ns", *state).as.integer, 1234567);
    assert_int_equal(taken(&wait_option, "7", *state).as.integer, 7);
    assert_int_equal(taken(&wait_option, "9223372036854775807", *state).as.integer, INT64_MAX);
    assert_int_equal(taken(&n_option, "12 elements", *state).as.integer, 12);
    assert_int_equal(taken(&n_option, "1e3", *state).as.integer, 1000);
    assert_true(taken(&rate_option, "25 Gbit/s", *state).as.real == 3.125e9);
    assert_true(taken(&factor_option, "5 %", *state).as.real == 0.05);
    assert_true(taken(&checked_option, "off", *state).as.boolean == false);
    assert_int_equal(taken(&direction_option, "device", *state).as.choice, 2);
    assert_string_equal(taken(&label_option, "x y", *state).as.text, "x y");
    assert_string_equal(taken(&kernel_option, "new.comp", *state).as.text, "new.comp");
}

static void refused(const struct assay_option *option, const char *text, struct arena *arena,
                    const char *message)
{
    struct option_value value;
    struct assay_error error = {0};
    assert_false(option_parse(option, text, arena, &value, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text, message);
}

static void refusals(void **state)
{
    struct arena *arena = *state;
    refused(&bytes_option, "2 GB/s", arena,
            "bytes: 2 GB/s is a rate (bytes per second), but a size is wanted");
    refused(&bytes_option, "0", arena, "bytes: 0 B is out of range, allowed are 1 B to 8 PiB");
    refused(&bytes_option, "8 EiB", arena,
            "bytes: 8 EiB is out of range, allowed are 1 B to 8 PiB");
    refused(&bytes_option, "9223372036854775808", arena,
            "bytes: 8 EiB is out of range, allowed are 1 B to 8 PiB");
    refused(&bytes_option, "9007199254740993", arena,
            "bytes: 9007199254740993 B is out of range, allowed are 1 B to 8 PiB");
    refused(&bytes_option, "1.5 B", arena, "bytes: 1.5 B is not whole");
    refused(&bytes_option, "64 MiX", arena, "bytes: 'MiX' is no unit; did you mean 'MiB'?");
    refused(&bytes_option, "many", arena,
            "bytes: 'many' is no quantity; a number and a unit are wanted, as in \"64 MiB\"");
    refused(&wait_option, "-1 ns", arena,
            "wait: -1 ns is out of range, allowed are 0 ns to 9223372036854775807 ns");
    refused(&n_option, "64 MiB", arena, "n: 64 MiB is a size, but a number is wanted");
    refused(&n_option, "5000", arena, "n: 5000 is out of range, allowed are -4 to 4096");
    refused(&rate_option, "2 TB/s", arena,
            "rate: 2 TB/s is out of range, allowed are 1 B/s to 1 TB/s");
    refused(&direction_option, "uplaod", arena,
            "direction: 'uplaod' is none of upload, download and device; did you mean 'upload'?");
    refused(&direction_option, "sideways", arena,
            "direction: 'sideways' is none of upload, download and device");
    refused(&checked_option, "maybe", arena, "checked: 'maybe' is neither true nor false");
    refused(&label_option, "\xFF", arena, "label: the text is not valid UTF-8");
    refused(&kernel_option, "", arena, "kernel: the name of a shader file is wanted");
}

static void from_other_kinds(void **state)
{
    (void)state;
    struct option_value value;
    struct assay_error error = {0};
    assert_true(option_from_number(&bytes_option, 4096.0, &value, &error));
    assert_int_equal(value.as.integer, 4096);
    assert_false(option_from_number(&bytes_option, 0x1p63, &value, &error));
    assert_string_equal(error.text, "bytes: 8 EiB is out of range, allowed are 1 B to 8 PiB");
    error = (struct assay_error){0};
    assert_false(option_from_number(&factor_option, NAN, &value, &error));
    assert_string_equal(error.text, "factor: the number is not finite");
    error = (struct assay_error){0};
    assert_false(option_from_integer(&direction_option, 3, &value, &error));
    assert_string_equal(
        error.text, "direction: 3 is a number, but one of upload, download and device is wanted");
    error = (struct assay_error){0};
    assert_false(option_from_boolean(&bytes_option, true, &value, &error));
    assert_string_equal(error.text, "bytes: true is a boolean, but a size is wanted");
    error = (struct assay_error){0};
    struct quantity rate = {2e9, {.bytes = 1, .seconds = -1}};
    assert_false(option_from_quantity(&bytes_option, rate, &value, &error));
    assert_string_equal(error.text,
                        "bytes: 2 GB/s is a rate (bytes per second), but a size is wanted");
    error = (struct assay_error){0};
    struct quantity odd = {2, {.bytes = 2}};
    assert_false(option_from_quantity(&label_option, odd, &value, &error));
    assert_string_equal(error.text, "label: 2 B^2 is in B^2, but a text is wanted");
    error = (struct assay_error){0};
    assert_true(option_from_quantity(&rate_option, rate, &value, &error));
    assert_true(value.as.real == 2e9);
    assert_true(option_from_integer(&factor_option, 3, &value, &error));
    assert_true(value.as.real == 3);
}

static void unknown_names(void **state)
{
    (void)state;
    static const struct assay_option *const few[] = {&bytes_option, &direction_option, &n_option,
                                                     NULL};
    struct assay_error error = {0};
    assert_false(option_unknown(few, "copy", "byts", &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text, "'copy' has no parameter 'byts'; did you mean 'bytes'? It has "
                                    "bytes, direction and n");
    error = (struct assay_error){0};
    option_unknown(few, "copy", "colour", &error);
    assert_string_equal(error.text,
                        "'copy' has no parameter 'colour'; it has bytes, direction and n");
    error = (struct assay_error){0};
    option_unknown(NULL, "null", "x", &error);
    assert_string_equal(error.text, "'null' has no parameters, so no 'x' either");
    assert_int_equal(option_find(table, "direction"), 6);
    assert_int_equal(option_find(table, "Direction"), -1);
    assert_int_equal(option_count(table), TABLE_COUNT);
    assert_int_equal(option_count(NULL), 0);
}

static void text_form(const struct assay_option *option, const char *given, const char *wanted,
                      struct arena *arena)
{
    struct option_value value = taken(option, given, arena);
    struct text text = {0};
    option_value_add(&text, option, &value);
    assert_string_equal(text_string(&text), wanted);
    struct option_value back = taken(option, text_string(&text), arena);
    assert_true(option_value_equal(&value, &back));
    text_free(&text);
}

static void text_forms_parse_back(void **state)
{
    text_form(&bytes_option, "64 MiB", "64MiB", *state);
    text_form(&bytes_option, "1000", "1000B", *state);
    text_form(&wait_option, "1.5 ms", "1.5ms", *state);
    text_form(&wait_option, "1234567", "1.234567ms", *state);
    text_form(&wait_option, "9223372036854775807", "9223372036854775807ns", *state);
    text_form(&wait_option, "0", "0ns", *state);
    text_form(&wait_option, "60 s", "60s", *state);
    text_form(&n_option, "1024", "1024", *state);
    text_form(&n_option, "-3", "-3", *state);
    text_form(&rate_option, "1.5 GB/s", "1.5GB/s", *state);
    text_form(&rate_option, "1234.56789123456789", "1234.567891234568B/s", *state);
    text_form(&factor_option, "0.1", "0.1", *state);
    text_form(&checked_option, "yes", "true", *state);
    text_form(&direction_option, "device", "device", *state);
    text_form(&label_option, "any text", "any text", *state);
}

/* Every nanosecond count and rate that is written must come back as it was. */
static void many_values_parse_back(void **state)
{
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        struct option_value whole = {.kind = ASSAY_OPTION_INTEGER,
                                     .as.integer = (int64_t)(random >> (1 + random % 60))};
        struct option_value real = {.kind = ASSAY_OPTION_REAL,
                                    .as.real = 1 + (double)(random >> 40) / (i + 1)};
        struct text text = {0};
        option_value_add(&text, &wait_option, &whole);
        struct option_value back = taken(&wait_option, text_string(&text), *state);
        assert_int_equal(back.as.integer, whole.as.integer);
        text_clear(&text);
        option_value_add(&text, &rate_option, &real);
        back = taken(&rate_option, text_string(&text), *state);
        assert_true(back.as.real == real.as.real);
        text_free(&text);
    }
}

static void stores_and_loads(void **state)
{
    struct params params = {0};
    struct assay_error error = {0};
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        struct option_value value, back;
        assert_true(option_default(table[i], *state, &value, &error));
        option_store(table[i], &value, &params);
        option_load(table[i], &params, &back);
        assert_true(option_value_equal(&value, &back));
    }
    assert_int_equal(params.bytes, 67108864);
    assert_int_equal(params.wait, 1500000);
    assert_int_equal(params.n, 1024);
    assert_true(params.rate == 1.5e9 && params.factor == 0.5 && params.checked);
    assert_int_equal(params.direction, 0);
    assert_string_equal(params.label, "");
    assert_string_equal(params.kernel, "old.comp");
}

static void values_as_json(void **state)
{
    struct assay_error error = {0};
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        struct option_value value, back;
        assert_true(option_default(table[i], *state, &value, &error));
        json_t *json = option_value_to_json(table[i], &value);
        assert_true(option_value_from_json(table[i], json, *state, &back, &error));
        assert_true(option_value_equal(&value, &back));
        json_decref(json);
    }
    struct option_value value;
    json_t *wrong = json_string("1");
    assert_false(option_value_from_json(&bytes_option, wrong, *state, &value, &error));
    assert_string_equal(error.text, "bytes: a value of the kind 'integer' is wanted");
    json_decref(wrong);
    error = (struct assay_error){0};
    json_t *zero = json_integer(0);
    assert_false(option_value_from_json(&bytes_option, zero, *state, &value, &error));
    json_decref(zero);
}

static void table_as_json(void **state)
{
    struct assay_error error = {0};
    json_t *json = option_table_to_json(table);
    assert_int_equal(json_array_size(json), TABLE_COUNT);
    const json_t *first = json_array_get(json, 0);
    assert_int_equal(json_integer_value(json_object_get(first, "max")), INT64_C(1) << 53);
    assert_null(json_object_get(json_array_get(json, 1), "max"));
    assert_true(json_is_null(json_object_get(json_array_get(json, 4), "unit")));
    const struct assay_option *const *back = option_table_from_json(json, *state, &error);
    assert_non_null(back);
    assert_int_equal(option_count(back), TABLE_COUNT);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        assert_string_equal(back[i]->name, table[i]->name);
        assert_int_equal(back[i]->kind, table[i]->kind);
        assert_int_equal(back[i]->min, table[i]->min);
        assert_int_equal(back[i]->max, table[i]->max);
        assert_true(back[i]->real_min == table[i]->real_min);
        assert_true(back[i]->real_max == table[i]->real_max);
        assert_int_equal(back[i]->flags, table[i]->flags);
        assert_string_equal(back[i]->fallback, table[i]->fallback);
    }
    assert_string_equal(back[6]->choices[2], "device");
    assert_null(back[6]->choices[3]);
    assert_null(back[4]->unit);
    /* The copy checks as the original does. */
    refused(back[0], "8 EiB", *state, "bytes: 8 EiB is out of range, allowed are 1 B to 8 PiB");
    json_object_set_new(json_array_get(json, 0), "kind", json_string("matrix"));
    assert_null(option_table_from_json(json, *state, &error));
    assert_string_equal(error.text, "the description of parameter 'bytes' is damaged");
    json_decref(json);
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, make_arena, drop_arena)
int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(parses),
        WITH_ARENA(refusals),
        cmocka_unit_test(from_other_kinds),
        cmocka_unit_test(unknown_names),
        WITH_ARENA(text_forms_parse_back),
        WITH_ARENA(many_values_parse_back),
        WITH_ARENA(stores_and_loads),
        WITH_ARENA(values_as_json),
        WITH_ARENA(table_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
