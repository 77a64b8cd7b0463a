/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void printed(const char *source, bool sorted, const char *wanted)
{
    struct assay_error error = {0};
    json_t *json = json_read(source, strlen(source), "test", &error);
    assert_non_null(json);
    struct text text = {0};
    assert_true(json_add_line(&text, json, sorted, &error));
    assert_string_equal(text_string(&text), wanted);
    json_t *back = json_read(text.data, text.length, "test", &error);
    assert_true(json_equal(json, back));
    json_decref(back);
    json_decref(json);
    text_free(&text);
}

static void lines(void **state)
{
    (void)state;
    printed("{\"b\": 1, \"a\": [1.5, true, null, \"x\"]}", false,
            "{\"b\":1,\"a\":[1.5,true,null,\"x\"]}");
    printed("{\"b\": 1, \"a\": {\"d\":false, \"c\":{}}}", true,
            "{\"a\":{\"c\":{},\"d\":false},\"b\":1}");
    printed("[0.1, 1e22, 3.0, 9223372036854775807, -9223372036854775808, 0]", false,
            "[0.1,1e+22,3.0,9223372036854775807,-9223372036854775808,0]");
    printed("[\"q\\\" b\\\\ n\\n t\\t e\\u001b \xC3\xA9\"]", false,
            "[\"q\\\" b\\\\ n\\n t\\t e\\u001b \xC3\xA9\"]");
    printed("[]", true, "[]");
}

/* The fast reader and jansson's agree on what is right, what it means and what is wrong. */
static void reads_as_jansson_does(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "{}",
        "[]",
        " { \"a\" : [ 1 , 2.5 ] } ",
        "[0, -0, -1, 123456789012345678, 1234567890123456789]",
        "[9223372036854775807, -9223372036854775808]",
        "[9223372036854775808]",
        "[1e5, 1E-3, 0.1, 2.5e+10]",
        "[0.1234567890123456789, 123456.789012345678, 0.30000000000000004, 0.000000000000001]",
        "[1.0, 0.0, -0.0, 100.25, 1e999]",
        "[01]",
        "[1.]",
        "[.5]",
        "[-]",
        "[+1]",
        "[1e]",
        "[1e+]",
        "[0x1]",
        "[NaN]",
        "[true, false, null]",
        "[tru]",
        "[nul",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "{\"a\":1,\"a\":2}",
        "[1] x",
        "[1][2]",
        "[",
        "{\"a\":",
        "\"text\"",
        "7",
        "",
        "[\"q \\\" \\\\ \\n \\t \\u00e9 \\/\"]",
        "[\"\\x\"]",
        "[\"unfinished]",
        "[\"a\tb\"]",
        "[\"h\xC3\xA9\"]",
        "[\"\xFF\"]",
        "[\"\\u0000\"]",
        "{\"\\u0000\":1}",
        "[[[[[[]]]]]]",
        "{\"\":{}}",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        json_t *wanted = json_loads(sources[i], 0, NULL);
        json_t *got = json_read(sources[i], strlen(sources[i]), "test", NULL);
        if (!wanted != !got || (wanted && !json_equal(wanted, got)))
            fail_msg("%s", sources[i]);
        json_decref(wanted);
        json_decref(got);
    }
    /* Every cut of a record is refused. */
    const char *record = "{\"k\":[1,-2.5,\"x\\ny\",{\"t\":true,\"n\":null}],\"z\":1e3}";
    for (size_t length = 0; length < strlen(record); length++)
        assert_null(json_read(record, length, "test", NULL));
}

static void unprintable(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct text text = {0};
    assert_false(json_add_line(&text, NULL, false, &error));
    assert_int_equal(error.status, ASSAY_INTERNAL);
    json_t *deep = json_array();
    for (int i = 0; i < 300; i++) {
        json_t *outer = json_array();
        json_array_append_new(outer, deep);
        deep = outer;
    }
    error = (struct assay_error){0};
    assert_false(json_add_line(&text, deep, false, &error));
    json_decref(deep);
    text_free(&text);
}

static void damaged(void **state)
{
    (void)state;
    struct assay_error error = {0};
    assert_null(json_read("{\"a\":", 5, "worker's answer", &error));
    assert_int_equal(error.status, ASSAY_SYSTEM);
    assert_non_null(strstr(error.text, "worker's answer: byte 5: "));
    struct assay_error nan = {0};
    assert_null(json_read("[NaN]", 5, "x", &nan));
}

static void members(void **state)
{
    (void)state;
    json_t *json = json_pack("{s:s, s:i, s:f, s:b}", "t", "text", "i", 7, "r", 2.5, "b", 1);
    assert_string_equal(json_text(json, "t", "no"), "text");
    assert_string_equal(json_text(json, "i", "no"), "no");
    assert_int_equal(json_whole(json, "i", -1), 7);
    assert_int_equal(json_whole(json, "r", -1), -1);
    assert_true(json_number(json, "r", 0) == 2.5);
    assert_true(json_number(json, "i", 0) == 7);
    assert_true(json_number(json, "t", -2) == -2);
    assert_true(json_flag(json, "b", false));
    assert_true(json_flag(json, "absent", true));
    assert_string_equal(json_text(NULL, "t", "no"), "no");
    json_decref(json);
    json_t *clean = json_clean_string("a\nb\xFF");
    assert_string_equal(json_string_value(clean), "a b\xEF\xBF\xBD");
    json_decref(clean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),       cmocka_unit_test(reads_as_jansson_does),
        cmocka_unit_test(unprintable), cmocka_unit_test(damaged),
        cmocka_unit_test(members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
