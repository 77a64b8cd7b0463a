/* SPDX-License-Identifier: MIT */
/* Members taken out of a long record. */
#include "base/json.h"
#include "result/journal_part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static json_t *part_of(const char *line, const char *const *members, struct assay_error *error)
{
    return journal_part(line, strlen(line), members, "j.jsonl", error);
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
                                        "{\"a\" 1}", "{\"a\":1", "{\"a\":tru}", "{\"a\":{\"b\":1}",
                                        "{x:1}"};
    static const char *const members[] = {"a", NULL};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct assay_error error = {0};
        assert_null(part_of(lines[i], members, &error));
        assert_int_equal(error.status, ASSAY_SYSTEM);
    }
    struct assay_error error = {0};
    assert_null(part_of("{\"a\" 1}", members, &error));
    assert_string_equal(error.text, "j.jsonl: a record is damaged at byte 7 of its line");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_only_top_level_members),
        cmocka_unit_test(takes_nested_members_whole),
        cmocka_unit_test(empty_object_is_fine),
        cmocka_unit_test(damage_is_said_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
