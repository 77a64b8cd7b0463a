/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void grows(void **state)
{
    (void)state;
    struct text text = {0};
    assert_string_equal(text_string(&text), "");
    for (int i = 0; i < 1000; i++)
        text_addf(&text, "%d,", i % 10);
    assert_int_equal(text.length, 2000);
    assert_int_equal(strlen(text_string(&text)), 2000);
    text_clear(&text);
    assert_string_equal(text_string(&text), "");
    text_add(&text, "a");
    text_add_char(&text, 'b');
    text_add_bytes(&text, "cde", 2);
    char *stolen = text_steal(&text);
    assert_string_equal(stolen, "abcd");
    free(stolen);
    assert_null(text.data);
    stolen = text_steal(&text);
    assert_string_equal(stolen, "");
    free(stolen);
    text_free(&text);
}

static void long_formats_are_whole(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "x");
    text_addf(&text, "%300s|", "end");
    assert_int_equal(text.length, 302);
    assert_string_equal(text_string(&text) + 298, "end|");
    text_free(&text);
}

static void failure_sticks(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "kept");
    text_add_bytes(&text, "x", SIZE_MAX - 2);
    assert_true(text.failed);
    text_add(&text, "more");
    assert_string_equal(text_string(&text), "kept");
    assert_null(text_steal(&text));
    text_free(&text);
}

static void cleans(void **state)
{
    (void)state;
    static const struct {
        const char *dirty, *clean;
    } rows[] = {
        {"plain", "plain"},
        {"a\nb\tc\033[1m\x7F", "a b c [1m "},
        {"h\xC3\xA9", "h\xC3\xA9"},
        {"\xC2\x85next", " next"},                                                /* C1 control */
        {"\xFFx", "\xEF\xBF\xBDx"},                                               /* never valid */
        {"\xC3", "\xEF\xBF\xBD"},                                                 /* cut */
        {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},                                 /* overlong */
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},                 /* surrogate */
        {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},                                 /* four bytes */
        {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, /* U+110000 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text text = {0};
        text_add_clean(&text, rows[i].dirty);
        assert_string_equal(text_string(&text), rows[i].clean);
        text_free(&text);
    }
}

static void integers(void **state)
{
    (void)state;
    struct text text = {0};
    text_add_integer(&text, INT64_MIN);
    text_add_char(&text, ' ');
    text_add_integer(&text, 0);
    text_add_char(&text, ' ');
    text_add_integer(&text, -10);
    text_add_char(&text, ' ');
    text_add_integer(&text, INT64_MAX);
    assert_string_equal(text_string(&text), "-9223372036854775808 0 -10 9223372036854775807");
    text_free(&text);
}

static void characters(void **state)
{
    (void)state;
    assert_int_equal(text_character_bytes("a", 1), 1);
    assert_int_equal(text_character_bytes("\xC3\xA9", 2), 2);
    assert_int_equal(text_character_bytes("\xE2\x82\xAC", 3), 3);
    assert_int_equal(text_character_bytes("\xF0\x9F\x98\x80", SIZE_MAX), 4);
    /* What is there would complete it, but may not be read. */
    assert_int_equal(text_character_bytes("\xC3\xA9", 1), 0);
    assert_int_equal(text_character_bytes("\xE2\x82\xAC", 2), 0);
    assert_int_equal(text_character_bytes("\xE0\x9F\xBF", 3), 0); /* overlong */
    assert_int_equal(text_character_bytes("\xF5\x80\x80\x80", 4), 0);
}

static void arena_is_aligned_and_zeroed(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    assert_non_null(arena);
    for (size_t i = 0; i < 2000; i++) {
        unsigned char *bytes = arena_alloc(arena, i);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(bytes[k], 0);
        memset(bytes, 0xAB, i);
    }
    assert_string_equal(arena_copy(arena, "copy"), "copy");
    assert_string_equal(arena_printf(arena, "%s-%d", "n", 7), "n-7");
    assert_null(arena_alloc(arena, SIZE_MAX - 3));
    arena_destroy(&arena);
    assert_null(arena);
    arena_destroy(&arena);
}

static void finds_the_nearest_name(void **state)
{
    (void)state;
    static const char *const names[] = {"direction", "host_memory", "bytes", "chunk"};
    assert_string_equal(text_nearest("byts", names, 4), "bytes");
    assert_string_equal(text_nearest("btyes", names, 4), "bytes"); /* a transposition counts one */
    assert_string_equal(text_nearest("hostmemory", names, 4), "host_memory");
    assert_string_equal(text_nearest("bytes", names, 4), "bytes");
    assert_null(text_nearest("size", names, 4));
    assert_null(text_nearest("bxtxs", names, 4)); /* two slips in five letters are too many */
    assert_null(text_nearest("", names, 4));
    assert_null(text_nearest("bytes", names, 0));
}

static void lists(void **state)
{
    (void)state;
    static const char *const words[] = {"a", "b", "c"};
    static const char *const wanted[] = {"", "a", "a and b", "a, b and c"};
    for (size_t n = 0; n <= 3; n++) {
        struct text text = {0};
        text_add_list(&text, words, n);
        assert_string_equal(text_string(&text), wanted[n]);
        text_free(&text);
    }
}

static void knows_utf8(void **state)
{
    (void)state;
    assert_true(text_is_utf8(""));
    assert_true(text_is_utf8("caf\xC3\xA9/x.lua"));
    assert_false(text_is_utf8("caf\xE9/x.lua"));
    assert_false(text_is_utf8("caf\xC3"));
}

static void counts_columns(void **state)
{
    (void)state;
    assert_int_equal(text_columns(""), 0);
    assert_int_equal(text_columns("cafe"), 4);
    assert_int_equal(text_columns("caf\xC3\xA9 \xE2\x86\x92 x"), 8);
}

static void globs(void **state)
{
    (void)state;
    assert_true(text_glob("*", ""));
    assert_true(text_glob("copy*", "copy of bytes"));
    assert_true(text_glob("*b?t*", "xx byt bit bot"));
    assert_true(text_glob("?", "\xC3\xA9"));
    assert_true(text_glob("a*a*a", "aaa"));
    assert_false(text_glob("a*a*a", "aa"));
    assert_false(text_glob("", "x"));
    assert_false(text_glob("?", ""));
    assert_false(text_glob("copy", "copy2"));
    assert_false(text_glob("a*b", "abc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows),
        cmocka_unit_test(long_formats_are_whole),
        cmocka_unit_test(failure_sticks),
        cmocka_unit_test(cleans),
        cmocka_unit_test(characters),
        cmocka_unit_test(integers),
        cmocka_unit_test(arena_is_aligned_and_zeroed),
        cmocka_unit_test(finds_the_nearest_name),
        cmocka_unit_test(lists),
        cmocka_unit_test(knows_utf8),
        cmocka_unit_test(counts_columns),
        cmocka_unit_test(globs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
