/* SPDX-License-Identifier: MIT */
#include "base/data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;
static struct assay_error error;

static int begin(void **state)
{
    (void)state;
    arena = arena_create();
    error = (struct assay_error){0};
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static const struct data *read_source(const char *source)
{
    return data_read(source, strlen(source), "t.lua", arena, &error);
}

static void reads(void **state)
{
    (void)state;
    const struct data *table = read_source("\xef\xbb\xbf#!/usr/bin/lua\n"
                                           "-- a remark\n"
                                           "--[==[ a long\none ]] ]==]\n"
                                           "return {\n"
                                           "  name = 'x\\n\\x41\\65\\\"', [\"two words\"] = true;\n"
                                           "  { 1, -2.5e-3, 16, false },\n"
                                           "  long = [[\na]b]], -- no comma behind the last\n"
                                           "};\n");
    if (!table)
        fail_msg("%s", error.text);
    assert_int_equal(table->kind, DATA_TABLE);
    assert_int_equal(table->count, 4);
    const struct data *name = data_member(table, "name");
    assert_string_equal(name->text, "x\nAA\"");
    assert_int_equal(name->line, 6);
    assert_true(data_member(table, "two words")->boolean);
    const struct data *list = name->next->next;
    assert_null(list->key);
    assert_int_equal(list->line, 7);
    assert_int_equal(list->count, 4);
    assert_true(list->first->number == 1);
    assert_true(list->first->next->number == -2.5e-3);
    assert_string_equal(list->first->next->text, "-2.5e-3");
    assert_true(list->first->next->next->number == 16);
    assert_false(list->first->next->next->next->boolean);
    assert_string_equal(data_member(table, "long")->text, "a]b");
    assert_int_equal(data_member(table, "long")->line, 8);
    assert_null(data_member(table, "no"));
}

static void refuses(void **state)
{
    static const char *const cases[][2] = {
        {"", "t.lua:1: the file has to begin with: return { ... }"},
        {"local x = 1\nreturn { x }", "t.lua:1: the file has to begin with: return { ... }"},
        {"return 5", "t.lua:1: a table is wanted: return { ... }"},
        {"return {\n f = function() end }",
         "t.lua:2: 'function' is no constant; only texts, numbers, true, false and tables of them "
         "may stand here"},
        {"return { os.exit(3) }", "t.lua:1: 'os' is no constant; only texts, numbers, true, false "
                                  "and tables of them may stand here"},
        {"return { a = 2 * 3 }", "t.lua:1: ',' or '}' is wanted behind a value"},
        {"return { a = 'x' .. 'y' }", "t.lua:1: ',' or '}' is wanted behind a value"},
        {"return { ('x'):rep(1e9) }", "t.lua:1: '(' is no constant; only texts, numbers, true, "
                                      "false and tables of them may stand here"},
        {"return { a = 1, a = 2 }", "t.lua:1: 'a' is there twice"},
        {"return { a = 1\n", "t.lua:2: the file ends within its table"},
        {"return { 'a\n' }", "t.lua:1: a text does not end on its line"},
        {"return { 'a", "t.lua:1: a text is not closed"},
        {"return { '\\q' }", "t.lua:1: a text holds an escape that is not known"},
        {"return { '\\300' }", "t.lua:1: an escape of a text is over \\255"},
        {"return { '\\0' }", "t.lua:1: a text holds the character 0"},
        {"return { [[a }", "t.lua:1: a long bracket is not closed"},
        {"return { [1] = 2 }", "t.lua:1: between [ and ] of a table a text is wanted"},
        {"return { 1e }", "t.lua:1: a number cannot be read"},
        {"return { 5MB }", "t.lua:1: a number cannot be read"},
        {"return { }\nprint(1)", "t.lua:2: nothing may follow the table"},
        {"return {{{{{{{{{{{{{{{{{}}}}}}}}}}}}}}}}}",
         "t.lua:1: tables stand too deep in each other"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        error = (struct assay_error){0};
        assert_null(read_source(cases[i][0]));
        assert_string_equal(error.text, cases[i][1]);
        assert_int_equal(error.status, ASSAY_SCRIPT);
    }
}

/* Cut anywhere, or with any byte changed: an error or a table, never anything else. */
static void bytes_in_any_order(void **state)
{
    static const char source[] =
        "return { --[[x]] a = 'b\\65', [\"c\"] = -1.5e3, { true, [[d]] }; }";
    (void)state;
    for (size_t length = 0; length < sizeof(source) - 1; length++) {
        error = (struct assay_error){0};
        assert_null(data_read(source, length, "t.lua", arena, &error));
        assert_int_equal(error.status, ASSAY_SCRIPT);
    }
    for (size_t at = 0; at < sizeof(source) - 1; at++) {
        for (int byte = 0; byte < 256; byte++) {
            char copy[sizeof(source)];
            memcpy(copy, source, sizeof(source));
            copy[at] = (char)byte;
            error = (struct assay_error){0};
            const struct data *out = data_read(copy, sizeof(source) - 1, "t.lua", arena, &error);
            assert_true(out ? error.status == ASSAY_OK : error.status == ASSAY_SCRIPT);
        }
    }
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {WITH_ARENA(reads), WITH_ARENA(refuses),
                                       WITH_ARENA(bytes_in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
