/* SPDX-License-Identifier: MIT */
/* The JSON reader against jansson's own, and its refusals. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void same_as_jansson(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "[]",
        " { } ",
        "[ 1 , 2 ]\n",
        "[true,false,null]",
        "{\"a\":{\"b\":[{}]},\"c\":\"\"}",
        "[0,-0,1,-1,9223372036854775807,-9223372036854775808]",
        "[0.1,-0.0,1e0,1E+2,1e-2,1.5e300,5e-324,2.2250738585072014e-308,1.7976931348623157e308]",
        "[0.1234567890123456789,123456789012345678.0,1e22,1e23]",
        "[123456789012345e22,9007199254740993.0]",
        "[0.000000001,1.000001e-3,0.001000001,999999999999999.9,0.30000000000000004]",
        "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\",\"caf\xC3\xA9\"]",
        "{\"\\u0041\":\"x\\ty\",\"b\\\"\":\"\\u0001\",\"a\":1,\"a\":2}",
        "[\"\xF0\x9F\x98\x80\xEF\xBF\xBD\xED\x9F\xBF\xEE\x80\x80\"]"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct assay_error error = {0};
        json_error_t reason;
        json_t *wanted = json_loads(texts[i], 0, &reason);
        json_t *got = json_read(texts[i], strlen(texts[i]), "x", &error);
        assert_string_equal(error.text, "");
        assert_non_null(wanted);
        assert_true(json_equal(wanted, got));
        char *first = json_dumps(wanted, 0), *second = json_dumps(got, 0);
        assert_string_equal(first, second);
        free(first);
        free(second);
        json_decref(wanted);
        json_decref(got);
    }
}

static void refused(const char *text, const char *reason)
{
    struct assay_error error = {0};
    /* A copy without a NUL, so that a sanitizer sees a read past the end. */
    size_t length = strlen(text);
    char *copy = malloc(length + 1);
    memcpy(copy, text, length);
    char *exact = realloc(copy, length ? length : 1);
    assert_non_null(exact);
    assert_null(json_read(exact, length, "x", &error));
    assert_string_equal(error.text, reason);
    assert_int_equal(error.status, ASSAY_SYSTEM);
    free(exact);
}

static void refusals(void **state)
{
    (void)state;
    refused("", "x: byte 0: neither an object nor an array");
    refused("1", "x: byte 0: neither an object nor an array");
    refused("{", "x: byte 1: a member's name is wanted");
    refused("{\"a\"", "x: byte 4: ':' is wanted");
    refused("{\"a\":", "x: byte 5: it ends too early");
    refused("{\"a\":1", "x: byte 6: ',' or '}' is wanted");
    refused("{\"a\":1,}", "x: byte 7: a member's name is wanted");
    refused("[1,]", "x: byte 3: no number");
    refused("[1 2]", "x: byte 3: ',' or ']' is wanted");
    refused("[] []", "x: byte 3: text behind the end");
    refused("[01]", "x: byte 3: no number");
    refused("[+1]", "x: byte 1: no number");
    refused("[-]", "x: byte 2: no number");
    refused("[1.]", "x: byte 3: no digit behind the point");
    refused("[1e]", "x: byte 3: no digit in the exponent");
    refused("[1e999]", "x: byte 6: a number out of range");
    refused("[9223372036854775808]", "x: byte 20: an integer over 64 bits");
    refused("[-9223372036854775809]", "x: byte 21: an integer over 64 bits");
    refused("[NaN]", "x: byte 1: no number");
    refused("[Infinity]", "x: byte 1: no number");
    refused("[nul]", "x: byte 1: no JSON value");
    refused("[tru", "x: byte 1: no JSON value");
    refused("[\"a", "x: byte 3: a string is not closed");
    refused("[\"a\\", "x: byte 4: a string is not closed");
    refused("[\"\\x\"]", "x: byte 4: an unknown escape");
    refused("[\"\\u12\"", "x: byte 4: an escape is cut short");
    refused("[\"\\u12g4\"]", "x: byte 7: an escape has a wrong hexadecimal digit");
    refused("[\"\\ud800x\"]", "x: byte 8: half of a surrogate pair");
    refused("[\"\\udc00\"]", "x: byte 8: half of a surrogate pair");
    refused("[\"\\u0000\"]", "x: byte 8: a string holds the character 0");
    refused("[\"\n\"]", "x: byte 2: a control character in a string");
    refused("[\"\xC0\x80\"]", "x: byte 2: invalid UTF-8");
    refused("[\"\xED\xA0\x80\"]", "x: byte 2: invalid UTF-8");
    refused("[\"\xF4\x90\x80\x80\"]", "x: byte 2: invalid UTF-8");
    refused("[\"\xE2\x82", "x: byte 2: invalid UTF-8");
}

static void depth_is_limited(void **state)
{
    (void)state;
    char text[2 * 257 + 1] = {0};
    memset(text, '[', 256);
    memset(text + 256, ']', 256);
    struct assay_error error = {0};
    json_t *json = json_read(text, 512, "x", &error);
    assert_non_null(json);
    json_decref(json);
    memset(text, '[', 257);
    memset(text + 257, ']', 257);
    refused(text, "x: byte 256: nested more than 256 deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_jansson),
        cmocka_unit_test(refusals),
        cmocka_unit_test(depth_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
