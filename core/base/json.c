/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_LIMIT 256 /* deeper than anything that is wanted; ends a cycle */

/* Own printing, because jansson prints 0.1 with 17 digits. */
static bool add_value(struct text *text, const json_t *json, bool sorted, int depth);

void json_add_real(struct text *text, double value)
{
    size_t before = text->length;
    number_add(text, value);
    if (!text->failed && !strpbrk(text->data + before, ".e"))
        text_add(text, ".0"); /* a real stays one when it is read back */
}

void json_add_string(struct text *text, const char *bytes, size_t count)
{
    text_add_char(text, '"');
    size_t plain = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        text_add_bytes(text, bytes + plain, i - plain);
        plain = i + 1;
        if (c == '"' || c == '\\') {
            text_add_char(text, '\\');
            text_add_char(text, (char)c);
        } else if (c == '\n') {
            text_add(text, "\\n");
        } else if (c == '\t') {
            text_add(text, "\\t");
        } else {
            text_addf(text, "\\u%04x", c);
        }
    }
    text_add_bytes(text, bytes + plain, count - plain);
    text_add_char(text, '"');
}

static bool add_member(struct text *text, const char *key, const json_t *value, bool sorted,
                       int depth)
{
    json_add_string(text, key, strlen(key));
    text_add_char(text, ':');
    return add_value(text, value, sorted, depth);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool add_sorted_members(struct text *text, json_t *object, int depth)
{
    size_t count = json_object_size(object), i = 0;
    if (count == 0)
        return true;
    const char **keys = calloc(count, sizeof *keys);
    if (!keys) {
        text->failed = true;
        return false;
    }
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (i < count)
            keys[i++] = key;
    }
    qsort(keys, i, sizeof *keys, compare_keys);
    bool good = true;
    for (size_t k = 0; k < i && good; k++) {
        if (k > 0)
            text_add_char(text, ',');
        good = add_member(text, keys[k], json_object_get(object, keys[k]), true, depth);
    }
    free(keys);
    return good;
}

static bool add_object(struct text *text, const json_t *object, bool sorted, int depth)
{
    /* jansson's iterators want a pointer to non-const and change nothing. */
    json_t *members = (json_t *)(uintptr_t)object;
    bool good = true;
    text_add_char(text, '{');
    if (sorted) {
        good = add_sorted_members(text, members, depth);
    } else {
        bool first = true;
        for (void *i = json_object_iter(members); i && good;
             i = json_object_iter_next(members, i)) {
            if (!first)
                text_add_char(text, ',');
            first = false;
            good = add_member(text, json_object_iter_key(i), json_object_iter_value(i), false,
                              depth);
        }
    }
    text_add_char(text, '}');
    return good;
}

static bool add_array(struct text *text, const json_t *array, bool sorted, int depth)
{
    text_add_char(text, '[');
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0)
            text_add_char(text, ',');
        if (!add_value(text, json_array_get(array, i), sorted, depth))
            return false;
    }
    text_add_char(text, ']');
    return true;
}

static bool add_value(struct text *text, const json_t *json, bool sorted, int depth)
{
    if (!json || depth > DEPTH_LIMIT)
        return false;
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return add_object(text, json, sorted, depth + 1);
    case JSON_ARRAY:
        return add_array(text, json, sorted, depth + 1);
    case JSON_STRING:
        json_add_string(text, json_string_value(json), json_string_length(json));
        return true;
    case JSON_INTEGER:
        text_add_integer(text, json_integer_value(json));
        return true;
    case JSON_REAL:
        json_add_real(text, json_real_value(json));
        return isfinite(json_real_value(json));
    case JSON_TRUE:
        text_add(text, "true");
        return true;
    case JSON_FALSE:
        text_add(text, "false");
        return true;
    case JSON_NULL:
        text_add(text, "null");
        return true;
    }
    return false;
}

bool json_add_line(struct text *text, const json_t *json, bool sorted, struct assay_error *error)
{
    bool good = add_value(text, json, sorted, 0);
    if (text->failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a record");
    if (!good)
        return assay_fail(error, ASSAY_INTERNAL,
                          json ? "a record is nested too deeply or holds no value"
                               : "a record is absent (most likely for want of memory)");
    return true;
}

const char *json_text(const json_t *object, const char *key, const char *fallback)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : fallback;
}

int64_t json_whole(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (int64_t)json_integer_value(value) : fallback;
}

double json_number(const json_t *object, const char *key, double fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

bool json_flag(const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

json_t *json_clean_string(const char *text)
{
    struct text clean = {0};
    text_add_clean(&clean, text);
    json_t *json = clean.failed ? NULL : json_string(text_string(&clean));
    text_free(&clean);
    return json;
}
