/* SPDX-License-Identifier: MIT */
#include "result/journal_part.h"

#include <string.h>

struct scan {
    const char *at, *end;
};

static void skip_space(struct scan *scan)
{
    while (scan->at < scan->end && strchr(" \t\r\n", *scan->at))
        scan->at++;
}

/* From the opening quote to behind the closing one. */
static bool skip_string(struct scan *scan)
{
    for (scan->at++; scan->at < scan->end; scan->at++) {
        if (*scan->at == '\\') {
            scan->at++;
        } else if (*scan->at == '"') {
            scan->at++;
            return true;
        }
    }
    return false;
}

static bool skip_nested(struct scan *scan)
{
    size_t depth = 0;
    while (scan->at < scan->end) {
        char c = *scan->at;
        if (c == '"') {
            if (!skip_string(scan))
                return false;
            continue;
        }
        scan->at++;
        depth += c == '{' || c == '[';
        if ((c == '}' || c == ']') && --depth == 0)
            return true;
    }
    return false;
}

static bool skip_value(struct scan *scan)
{
    if (scan->at == scan->end)
        return false;
    if (*scan->at == '"')
        return skip_string(scan);
    if (*scan->at == '{' || *scan->at == '[')
        return skip_nested(scan);
    while (scan->at < scan->end && !strchr(",}] \t\r\n", *scan->at))
        scan->at++;
    return true;
}

/* The name between `key` and its closing quote, which is behind `end`. Names with escapes are none
 * that anybody asks for. */
static const char *wanted(const char *key, const char *end, const char *const *members)
{
    size_t length = (size_t)(end - key);
    for (; *members; members++)
        if (strlen(*members) == length && memcmp(*members, key, length) == 0)
            return *members;
    return NULL;
}

/* One `"name": value`, kept when it is wanted. */
static bool take_member(struct scan *scan, const char *const *members, json_t *part)
{
    const char *key = scan->at + 1;
    if (*scan->at != '"' || !skip_string(scan))
        return false;
    const char *name = wanted(key, scan->at - 1, members);
    skip_space(scan);
    if (scan->at == scan->end || *scan->at++ != ':')
        return false;
    skip_space(scan);
    const char *value = scan->at;
    if (!skip_value(scan))
        return false;
    if (!name)
        return true;
    json_t *parsed = json_loadb(value, (size_t)(scan->at - value), JSON_DECODE_ANY, NULL);
    if (parsed && json_object_set_new(part, name, parsed) == 0)
        return true;
    scan->at = value;
    return false;
}

static bool take_members(struct scan *scan, const char *const *members, json_t *part)
{
    skip_space(scan);
    if (scan->at == scan->end || *scan->at++ != '{')
        return false;
    skip_space(scan);
    while (scan->at < scan->end && *scan->at != '}') {
        if (!take_member(scan, members, part))
            return false;
        skip_space(scan);
        if (scan->at < scan->end && *scan->at == ',') {
            scan->at++;
            skip_space(scan);
        }
    }
    return scan->at < scan->end;
}

json_t *journal_part(const char *line, size_t length, const char *const *members, const char *what,
                     struct assay_error *error)
{
    struct scan scan = {line, line + length};
    json_t *part = json_object();
    if (!part) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a record");
        return NULL;
    }
    if (take_members(&scan, members, part))
        return part;
    assay_fail(error, ASSAY_SYSTEM, "%s: a record is damaged at byte %zu of its line", what,
               (size_t)(scan.at - line) + 1);
    json_decref(part);
    return NULL;
}
