/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <string.h>

/* cmocka.h needs these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void keeps_first_cause(void **state)
{
    (void)state;
    struct assay_error error = {0};
    assert_false(assay_fail(&error, ASSAY_INVALID, "first %d", 1));
    int line = error.line;
    assert_false(assay_fail(&error, ASSAY_SYSTEM, "second"));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text, "first 1");
    assert_int_equal(error.line, line);
    assert_non_null(strstr(error.file, "test_error.c"));
    assert_false(assay_fail(NULL, ASSAY_INVALID, "nobody listens"));
}

static void names_go_both_ways(void **state)
{
    (void)state;
    for (int i = ASSAY_OK; i <= ASSAY_INTERNAL; i++)
        assert_int_equal(error_status_from_name(error_status_name((enum assay_status)i)), i);
    assert_string_equal(error_status_name(ASSAY_DEVICE_LOST), "device lost");
    assert_string_equal(error_status_name(ASSAY_OUT_OF_MEMORY), "out of memory");
    assert_string_equal(error_status_name((enum assay_status)99), "internal error");
    assert_int_equal(error_status_from_name("nonsense"), ASSAY_INTERNAL);
    assert_int_equal(error_status_from_name(NULL), ASSAY_INTERNAL);
}

static void prefix_stands_in_front(void **state)
{
    (void)state;
    struct assay_error error = {0};
    error_prefix(&error, "no error");
    assert_int_equal(error.status, ASSAY_OK);
    assert_string_equal(error.text, "");
    assay_fail(&error, ASSAY_INVALID, "100 %% wrong");
    error_prefix(&error, "%s:%d", "a.lua", 3);
    assert_string_equal(error.text, "a.lua:3: 100 % wrong");
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    /* 4095 bytes fit; "x" and 2-byte characters leave the last one half inside. */
    static char text[2 * ERROR_TEXT_BYTES];
    text[0] = 'x';
    for (size_t i = 0; i < ERROR_TEXT_BYTES; i++)
        memcpy(text + 1 + 2 * i < text + sizeof text - 2 ? text + 1 + 2 * i : text + 1, "\xC3\xA9",
               2);
    struct assay_error error = {0};
    assay_fail(&error, ASSAY_INVALID, "%s", text);
    assert_int_equal(strlen(error.text), ERROR_TEXT_BYTES - 1);
    struct assay_error even = {0};
    assay_fail(&even, ASSAY_INVALID, "%s", text + 1);
    assert_int_equal(strlen(even.text), ERROR_TEXT_BYTES - 2);
    error_prefix(&error, "y");
    assert_memory_equal(error.text, "y: x\xC3\xA9", 6);
    assert_int_equal(strlen(error.text), ERROR_TEXT_BYTES - 2);
}

static void system_errors_say_why(void **state)
{
    (void)state;
    struct assay_error error = {0};
    errno = ENOENT;
    assert_false(error_fail_errno(&error, "cannot open %s", "x.lua"));
    assert_int_equal(error.status, ASSAY_SYSTEM);
    assert_string_equal(error.text, "cannot open x.lua: No such file or directory");
    struct assay_error memory = {0};
    errno = ENOMEM;
    error_fail_errno(&memory, "map");
    assert_int_equal(memory.status, ASSAY_OUT_OF_MEMORY);
    errno = EIO;
    error_fail_errno(&error, "later");
    assert_string_equal(error.text, "cannot open x.lua: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_first_cause),
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(prefix_stands_in_front),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(system_errors_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
