/* SPDX-License-Identifier: MIT */
/* Members and metrics taken out of a long record. */
#include "base/json.h"
#include "result/lazy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static json_t *part_of(const char *line, const char *const *members, struct assay_error *error)
{
    struct lazy *record = lazy_create(line, strlen(line), error);
    assert_non_null(record);
    json_t *part = lazy_part(record, members, "j.jsonl", error);
    lazy_destroy(&record);
    assert_null(record);
    return part;
}

static void takes_only_top_level_members(void **state)
{
    (void)state;
    static const char line[] =
        " { \"kind\" : \"case\", \"text\":\"a \\\"status\\\": {\", \"set\":{\"status\":\"inner\","
        "\"list\":[1,{\"x\":\"}]\"}]},\"status\":\"done\", \"line\":-12 ,\"real\":1.5e-3,"
        "\"none\":null,\"list\":[[],[1]]}";
    static const char *const members[] = {"status", "line", "none", "real", "list", "absent", NULL};
    struct assay_error error = {0};
    json_t *part = part_of(line, members, &error);
    assert_non_null(part);
    assert_int_equal(json_object_size(part), 5);
    assert_string_equal(json_text(part, "status", ""), "done");
    assert_int_equal(json_whole(part, "line", 0), -12);
    assert_true(json_is_null(json_object_get(part, "none")));
    assert_true(json_number(part, "real", 0) == 1.5e-3);
    assert_int_equal(json_array_size(json_object_get(part, "list")), 2);
    json_decref(part);
}

static void takes_nested_members_whole(void **state)
{
    (void)state;
    static const char line[] = "{\"set\":{\"a\":\"\\\\\",\"b\":{\"c\":[\"{\"]}},\"z\":1}";
    static const char *const members[] = {"set", NULL};
    struct assay_error error = {0};
    json_t *part = part_of(line, members, &error);
    json_t *wanted = json_loads("{\"set\":{\"a\":\"\\\\\",\"b\":{\"c\":[\"{\"]}}}", 0, NULL);
    assert_true(json_equal(part, wanted));
    json_decref(wanted);
    json_decref(part);
}

static void empty_object_is_fine(void **state)
{
    (void)state;
    static const char *const members[] = {"set", NULL};
    struct assay_error error = {0};
    json_t *part = part_of("{}", members, &error);
    assert_non_null(part);
    assert_int_equal(json_object_size(part), 0);
    json_decref(part);
}

static void damage_is_said_with_its_place(void **state)
{
    (void)state;
    static const char *const lines[] = {"",          "[1]",      "{\"a\":",     "{\"a\":\"x",
                                        "{\"a\" 1}", "{\"a\":1", "{\"a\":tru}", "{\"b\":{\"b\":1}",
                                        "{x:1}",     "{\"b\":}", "{\"b\":1",    "{\"b\":\"\\"};
    static const char *const members[] = {"a", NULL};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct assay_error error = {0};
        assert_null(part_of(lines[i], members, &error));
        assert_int_equal(error.status, ASSAY_INVALID);
    }
    struct assay_error error = {0};
    assert_null(part_of("{\"a\" 1}", members, &error));
    assert_string_equal(error.text, "j.jsonl: a record is damaged at byte 6 of its line");
}

static const char case_line[] =
    "{\"kind\":\"case\",\"id\":\"77\",\"status\":\"done\",\"reason\":null,\"notes\":[\"a\",\"b\"],"
    "\"metrics\":{\"time\":{\"unit\":\"s\",\"value\":1.5e-3,\"low\":0.001,\"high\":2,\"n\":7},"
    "\"rate\":{\"unit\":\"B/s\",\"absent\":\"no \\\"payload\\\"\"},"
    "\"count\":{\"unit\":\"1\",\"value\":3,\"low\":3,\"high\":3,\"n\":0},"
    "\"wrong\":{\"unit\":\"s\",\"value\":3,\"low\":4,\"high\":5,\"n\":9},"
    "\"part\":{\"unit\":\"1\",\"value\":3,\"low\":3,\"high\":3,\"n\":1.5},"
    "\"huge\":{\"unit\":\"GiB\",\"value\":1e308,\"low\":1e308,\"high\":1e308,\"n\":2},"
    "\"odd\":{\"unit\":\"furlong\",\"value\":3}},\"seal\":\"0123456789abcdef\"}";

static struct lazy *make(void)
{
    struct assay_error error = {0};
    struct lazy *record = lazy_create(case_line, sizeof(case_line) - 1, &error);
    assert_non_null(record);
    return record;
}

static void metrics_are_those_of_the_tree(void **state)
{
    (void)state;
    static const char *const names[] = {"wrong", "time", "rate", "count", "part",
                                        "huge",  "odd",  "none", "time"};
    struct assay_error error = {0};
    struct lazy *record = make(), *whole = make();
    json_t *tree = lazy_tree(whole);
    assert_non_null(tree);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct metric lazy, parsed;
        assert_int_equal(lazy_has_metric(record, names[i]), strcmp(names[i], "none") != 0);
        lazy_metric(record, names[i], &lazy);
        metric_from_json(json_object_get(tree, "metrics"), names[i], &parsed);
        assert_string_equal(lazy.name, names[i]);
        assert_int_equal(lazy.absent == NULL, parsed.absent == NULL);
        if (lazy.absent)
            assert_string_equal(lazy.absent, parsed.absent);
        assert_true(dimension_equal(lazy.dimension, parsed.dimension));
        assert_true(lazy.value == parsed.value && lazy.low == parsed.low);
        assert_true(lazy.high == parsed.high && lazy.n == parsed.n);
    }
    struct metric time, rate, huge;
    lazy_metric(record, "huge", &huge);
    assert_string_equal(huge.absent, "its record is damaged: it is too large for a number");
    lazy_metric(record, "time", &time);
    assert_true(time.value == 0.0015 && time.low == 0.001 && time.high == 2 && time.n == 7);
    assert_int_equal(time.dimension.seconds, 1);
    lazy_metric(record, "rate", &rate);
    assert_string_equal(rate.absent, "no \"payload\"");
    assert_true(lazy_check(record, "j.jsonl", &error));
    lazy_destroy(&record);
    lazy_destroy(&whole);
}

static void members_are_parsed_or_raw(void **state)
{
    (void)state;
    struct lazy *record = make();
    size_t length = 0;
    const char *raw = lazy_raw(record, "notes", &length);
    assert_int_equal(length, 9);
    assert_memory_equal(raw, "[\"a\",\"b\"]", 9);
    assert_null(lazy_raw(record, "seals", &length));
    assert_string_equal(lazy_text(record, "status", "?"), "done");
    assert_string_equal(lazy_text(record, "reason", "no text"), "no text");
    assert_int_equal(json_array_size(lazy_member(record, "notes")), 2);
    assert_ptr_equal(lazy_member(record, "notes"), lazy_member(record, "notes"));
    /* The seal is no member of what the record says. */
    assert_null(json_object_get(lazy_tree(record), "seal"));
    assert_int_equal(json_object_size(lazy_tree(record)), 6);
    lazy_destroy(&record);
}

static void a_tree_serves_as_well(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct metric time;
    struct lazy *record = make(), *other = lazy_create_tree(lazy_tree(record), &error);
    lazy_destroy(&record);
    lazy_metric(other, "time", &time);
    assert_true(time.value == 0.0015);
    assert_string_equal(lazy_text(other, "status", "?"), "done");
    assert_true(lazy_has_metric(other, "rate") && !lazy_has_metric(other, "none"));
    lazy_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_only_top_level_members),
        cmocka_unit_test(takes_nested_members_whole),
        cmocka_unit_test(empty_object_is_fine),
        cmocka_unit_test(damage_is_said_with_its_place),
        cmocka_unit_test(metrics_are_those_of_the_tree),
        cmocka_unit_test(members_are_parsed_or_raw),
        cmocka_unit_test(a_tree_serves_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
