/* SPDX-License-Identifier: MIT */
/* Growing text, an arena for strings that live as long as their owner, and small helpers on names.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <assay/api.h>

#include <stdarg.h>
#include <string.h>

/* All zero is an empty text. `data` is NUL-terminated once anything was added, else NULL. A failed
 * allocation sets `failed`, keeps what was there and makes later additions no-ops: check once at
 * the end. */
struct text {
    char *data;
    size_t length, capacity;
    bool failed;
};

void text_add_bytes(struct text *text, const char *bytes, size_t count);
static inline void text_add(struct text *text, const char *string)
{
    text_add_bytes(text, string, strlen(string)); /* known beforehand for a literal */
}
void text_add_char(struct text *text, char c);
/* The same as "%lld", several times faster. */
void text_add_integer(struct text *text, int64_t value);
void text_addf(struct text *text, const char *format, ...) ASSAY_PRINTF(2, 3);
void text_addv(struct text *text, const char *format, va_list arguments);
/* Adds `string` made printable: invalid UTF-8 becomes U+FFFD, control characters (newline, escape,
 * ...) a space. */
void text_add_clean(struct text *text, const char *string);
/* The contents, never NULL ("" when empty). Valid until the next change. */
const char *text_string(const struct text *text);
void text_clear(struct text *text); /* keeps the memory */
void text_free(struct text *text);
/* Hands the malloc'ed contents to the caller and leaves an empty text; NULL when failed. */
char *text_steal(struct text *text);

/* Bump allocator: everything goes at once. Not thread-safe. */
struct arena;
struct arena *arena_create(void);
void arena_destroy(struct arena **arena);
/* Zeroed, aligned for any type. NULL when out of memory. */
void *arena_alloc(struct arena *arena, size_t bytes);
size_t arena_bytes(const struct arena *arena); /* taken from the system so far */
char *arena_copy(struct arena *arena, const char *string);
char *arena_printf(struct arena *arena, const char *format, ...) ASSAY_PRINTF(2, 3);

/* The candidate with the smallest edit distance to `name` (a transposition counts one), if it is
 * near enough to be a slip (at most a third of the length, at least 1), else NULL. */
const char *text_nearest(const char *name, const char *const *candidates, size_t count);
/* Adds "a, b and c". */
void text_add_list(struct text *text, const char *const *words, size_t count);
/* Bytes of the well-formed UTF-8 character at `at` (The Unicode Standard, table 3-7), of which
 * `room` >= 1 bytes may be read: 0 when there is none. In a terminated string `room` may be
 * SIZE_MAX: the NUL ends it. */
size_t text_character_bytes(const char *at, size_t room);
/* Whether all of a string is well-formed UTF-8. */
bool text_is_utf8(const char *string);
/* Columns of a UTF-8 string on the screen, wide characters aside. */
size_t text_columns(const char *string);
/* Whether `pattern` (with * and ?) matches all of `string`. */
bool text_glob(const char *pattern, const char *string);

#endif
