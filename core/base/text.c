/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include "base/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `count` more bytes and the NUL. */
static bool text_reserve(struct text *text, size_t count)
{
    if (text->failed)
        return false;
    if (count >= SIZE_MAX / 2 - text->length) {
        text->failed = true;
        return false;
    }
    size_t wanted = text->length + count + 1;
    if (wanted <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 128;
    while (capacity < wanted)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_add_bytes(struct text *text, const char *bytes, size_t count)
{
    if (!text_reserve(text, count))
        return;
    if (count)
        memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void text_add_char(struct text *text, char c)
{
    if (!text_reserve(text, 1))
        return;
    text->data[text->length++] = c;
    text->data[text->length] = '\0';
}

void text_add_integer(struct text *text, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        digits[--at] = '-';
    text_add_bytes(text, digits + at, sizeof digits - at);
}

void text_addv(struct text *text, const char *format, va_list arguments)
{
    if (!text_reserve(text, 0))
        return;
    va_list again;
    va_copy(again, arguments);
    size_t room = text->capacity - text->length;
    int length = format_c(text->data + text->length, room, format, arguments);
    if (length < 0) {
        text->data[text->length] = '\0';
        text->failed = true;
    } else if ((size_t)length < room) {
        text->length += (size_t)length;
    } else {
        text->data[text->length] = '\0';
        if (text_reserve(text, (size_t)length)) {
            format_c(text->data + text->length, (size_t)length + 1, format, again);
            text->length += (size_t)length;
        }
    }
    va_end(again);
}

void text_addf(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_addv(text, format, arguments);
    va_end(arguments);
}

size_t text_character_bytes(const char *at, size_t room)
{
    const unsigned char *s = (const unsigned char *)at;
    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 0;
    size_t count = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    unsigned char low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;  /* no overlong forms */
    unsigned char high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF; /* no surrogates */
    if (room < count || s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < count; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    return count;
}

void text_add_clean(struct text *text, const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    while (*s) {
        const unsigned char *plain = s;
        while (*s >= 0x20 && *s < 0x7F)
            s++;
        text_add_bytes(text, (const char *)plain, (size_t)(s - plain));
        if (!*s)
            break;
        size_t length = text_character_bytes((const char *)s, SIZE_MAX);
        if (length == 0) {
            text_add(text, "\xEF\xBF\xBD");
            s++;
        } else if (*s < 0x20 || *s == 0x7F || (*s == 0xC2 && s[1] < 0xA0)) {
            text_add_char(text, ' '); /* C0, DEL and C1 controls */
            s += length;
        } else {
            text_add_bytes(text, (const char *)s, length);
            s += length;
        }
    }
}

const char *text_string(const struct text *text)
{
    return text->data ? text->data : "";
}

void text_clear(struct text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->data)
        text->data[0] = '\0';
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

char *text_steal(struct text *text)
{
    char *data = NULL;
    if (!text->failed && text_reserve(text, 0)) {
        text->data[text->length] = '\0';
        data = text->data;
    } else {
        free(text->data);
    }
    *text = (struct text){0};
    return data;
}

size_t text_columns(const char *string)
{
    size_t count = 0;
    for (; *string; string++)
        count += ((unsigned char)*string & 0xC0) != 0x80;
    return count;
}

bool text_is_utf8(const char *string)
{
    while (*string) {
        size_t length = text_character_bytes(string, SIZE_MAX);
        if (length == 0)
            return false;
        string += length;
    }
    return true;
}
