/* SPDX-License-Identifier: MIT */
/* RFC 8259, strictly, into jansson's trees. jansson's own reader fetches one character at a time:
 * with it a run of 10,000 `null` cases takes 1.3 times as long (all processes' CPU time, ci/bench's
 * script), and the promise on such runs is too near for that. */
#include "base/format.h"
#include "base/json.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_LIMIT 256

struct parser {
    const char *begin, *at, *end;
    struct text scratch; /* strings with escapes */
    const char *problem;
    unsigned depth;
};

/* Bytes of a string: in the source where it has no escapes, else in `scratch`. */
struct slice {
    const char *bytes;
    size_t length;
};

static json_t *parse_value(struct parser *p);

static void *parse_fail(struct parser *p, const char *problem)
{
    if (!p->problem)
        p->problem = problem;
    return NULL;
}

static void skip_space(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

static bool take(struct parser *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool parse_hex(struct parser *p, uint32_t *code)
{
    *code = 0;
    if (p->end - p->at < 4)
        return parse_fail(p, "an escape is cut short");
    for (int i = 0; i < 4; i++) {
        char c = *p->at++;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            return parse_fail(p, "an escape has a wrong hexadecimal digit");
        *code = *code << 4 | digit;
    }
    return true;
}

static void add_utf8(struct text *text, uint32_t code)
{
    if (code < 0x80) {
        text_add_char(text, (char)code);
    } else if (code < 0x800) {
        text_add_char(text, (char)(0xc0 | code >> 6));
        text_add_char(text, (char)(0x80 | (code & 0x3f)));
    } else if (code < 0x10000) {
        text_add_char(text, (char)(0xe0 | code >> 12));
        text_add_char(text, (char)(0x80 | (code >> 6 & 0x3f)));
        text_add_char(text, (char)(0x80 | (code & 0x3f)));
    } else {
        text_add_char(text, (char)(0xf0 | code >> 18));
        text_add_char(text, (char)(0x80 | (code >> 12 & 0x3f)));
        text_add_char(text, (char)(0x80 | (code >> 6 & 0x3f)));
        text_add_char(text, (char)(0x80 | (code & 0x3f)));
    }
}

static bool parse_unicode(struct parser *p)
{
    uint32_t code, low;
    if (!parse_hex(p, &code))
        return false;
    if (code == 0)
        return parse_fail(p, "a string holds the character 0");
    if (code >= 0xd800 && code < 0xdc00) {
        if (p->end - p->at < 2 || p->at[0] != '\\' || p->at[1] != 'u')
            return parse_fail(p, "half of a surrogate pair");
        p->at += 2;
        if (!parse_hex(p, &low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return parse_fail(p, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
    } else if (code >= 0xdc00 && code <= 0xdfff) {
        return parse_fail(p, "half of a surrogate pair");
    }
    add_utf8(&p->scratch, code);
    return true;
}

static bool parse_escape(struct parser *p)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (p->at == p->end)
        return parse_fail(p, "a string is not closed");
    char c = *p->at++;
    if (c == 'u')
        return parse_unicode(p);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found)
        return parse_fail(p, "an unknown escape");
    text_add_char(&p->scratch, to[found - from]);
    return true;
}

/* Behind the opening quote. */
static bool parse_string(struct parser *p, struct slice *out)
{
    const char *start = p->at;
    bool plain = true;
    text_clear(&p->scratch);
    for (;;) {
        if (p->at == p->end)
            return parse_fail(p, "a string is not closed");
        unsigned char c = (unsigned char)*p->at;
        if (c == '"')
            break;
        if (c < 0x20)
            return parse_fail(p, "a control character in a string");
        if (c == '\\') {
            text_add_bytes(&p->scratch, start, (size_t)(p->at - start));
            plain = false;
            p->at++;
            if (!parse_escape(p))
                return false;
            start = p->at;
            continue;
        }
        size_t length = text_character_bytes(p->at, (size_t)(p->end - p->at));
        if (length == 0)
            return parse_fail(p, "invalid UTF-8");
        p->at += length;
    }
    *out = (struct slice){start, (size_t)(p->at - start)};
    p->at++;
    if (!plain) {
        text_add_bytes(&p->scratch, out->bytes, out->length);
        *out = (struct slice){text_string(&p->scratch), p->scratch.length};
    }
    return !p->scratch.failed || parse_fail(p, "out of memory");
}

static json_t *value_or_fail(struct parser *p, json_t *value)
{
    return value ? value : parse_fail(p, "out of memory");
}

static bool add_member(struct parser *p, json_t *object)
{
    struct slice key;
    if (!take(p, '"'))
        return parse_fail(p, "a member's name is wanted");
    if (!parse_string(p, &key))
        return false;
    char *kept = NULL;
    if (p->scratch.data && key.bytes == p->scratch.data) {
        kept = text_steal(&p->scratch);
        key.bytes = kept;
    }
    json_t *value = take(p, ':') ? parse_value(p) : parse_fail(p, "':' is wanted");
    bool ok = value && json_object_setn_new_nocheck(object, key.bytes, key.length, value) == 0;
    free(kept);
    return ok || parse_fail(p, "out of memory");
}

static json_t *parse_object(struct parser *p)
{
    json_t *object = json_object();
    if (!object)
        return parse_fail(p, "out of memory");
    if (take(p, '}'))
        return object;
    do {
        if (!add_member(p, object)) {
            json_decref(object);
            return NULL;
        }
    } while (take(p, ','));
    if (take(p, '}'))
        return object;
    json_decref(object);
    return parse_fail(p, "',' or '}' is wanted");
}

static json_t *parse_array(struct parser *p)
{
    json_t *array = json_array();
    if (!array)
        return parse_fail(p, "out of memory");
    if (take(p, ']'))
        return array;
    do {
        json_t *value = parse_value(p);
        if (!value || json_array_append_new(array, value) != 0) {
            json_decref(array);
            return parse_fail(p, "out of memory");
        }
    } while (take(p, ','));
    if (take(p, ']'))
        return array;
    json_decref(array);
    return parse_fail(p, "',' or ']' is wanted");
}

static size_t parse_digits(struct parser *p)
{
    const char *start = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
        p->at++;
    return (size_t)(p->at - start);
}

static json_t *make_integer(struct parser *p, const char *from)
{
    bool negative = *from == '-';
    uint64_t limit = (uint64_t)INT64_MAX + negative, value = 0;
    for (from += negative; from < p->at; from++) {
        uint64_t digit = (uint64_t)(*from - '0');
        if (value > (limit - digit) / 10)
            return parse_fail(p, "an integer over 64 bits");
        value = value * 10 + digit;
    }
    return value_or_fail(p, json_integer(negative ? (json_int_t)(0 - value) : (json_int_t)value));
}

static json_t *make_real(struct parser *p, const char *from)
{
    double value;
    if (!number_exact(from, p->at, &value)) {
        char copy[512];
        size_t length = (size_t)(p->at - from);
        if (length >= sizeof(copy))
            return parse_fail(p, "a number of more than 511 characters");
        memcpy(copy, from, length);
        copy[length] = '\0';
        if (!number_parse(copy, NULL, &value))
            return parse_fail(p, "a number out of range");
    }
    return value_or_fail(p, json_real(value));
}

static json_t *parse_number(struct parser *p)
{
    const char *from = p->at;
    bool real = false;
    if (*p->at == '-')
        p->at++;
    bool zero = p->at < p->end && *p->at == '0';
    size_t whole = parse_digits(p);
    if (whole == 0 || (zero && whole > 1))
        return parse_fail(p, "no number");
    if (p->at < p->end && *p->at == '.') {
        real = true;
        p->at++;
        if (parse_digits(p) == 0)
            return parse_fail(p, "no digit behind the point");
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        real = true;
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-'))
            p->at++;
        if (parse_digits(p) == 0)
            return parse_fail(p, "no digit in the exponent");
    }
    return real ? make_real(p, from) : make_integer(p, from);
}

static json_t *parse_word(struct parser *p, const char *word, json_t *value)
{
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return parse_fail(p, "no JSON value");
    p->at += length;
    return value;
}

static json_t *parse_nested(struct parser *p, json_t *(*parse)(struct parser *))
{
    if (p->depth == DEPTH_LIMIT)
        return parse_fail(p, "nested more than 256 deep");
    p->depth++;
    p->at++;
    json_t *value = parse(p);
    p->depth--;
    return value;
}

static json_t *parse_value(struct parser *p)
{
    struct slice string;
    skip_space(p);
    if (p->at == p->end)
        return parse_fail(p, "it ends too early");
    switch (*p->at) {
    case '{':
        return parse_nested(p, parse_object);
    case '[':
        return parse_nested(p, parse_array);
    case '"':
        p->at++;
        if (!parse_string(p, &string))
            return NULL;
        return value_or_fail(p, json_stringn_nocheck(string.bytes, string.length));
    case 't':
        return parse_word(p, "true", json_true());
    case 'f':
        return parse_word(p, "false", json_false());
    case 'n':
        return parse_word(p, "null", json_null());
    default:
        return parse_number(p);
    }
}

static json_t *read_whole(struct parser *p, const char *what, struct assay_error *error)
{
    json_t *json = p->problem ? NULL : parse_value(p);
    if (json)
        skip_space(p);
    if (json && p->at != p->end) {
        json_decref(json);
        json = parse_fail(p, "text behind the end");
    }
    if (!json)
        assay_fail(error, ASSAY_SYSTEM, "%s: byte %zu: %s", what, (size_t)(p->at - p->begin),
                   p->problem);
    text_free(&p->scratch);
    return json;
}

json_t *json_read(const char *data, size_t length, const char *what, struct assay_error *error)
{
    struct parser p = {.begin = data, .at = data, .end = data + length};
    skip_space(&p);
    if (p.at == p.end || (*p.at != '{' && *p.at != '['))
        parse_fail(&p, "neither an object nor an array");
    return read_whole(&p, what, error);
}

json_t *json_read_value(const char *data, size_t length, const char *what,
                        struct assay_error *error)
{
    struct parser p = {.begin = data, .at = data, .end = data + length};
    return read_whole(&p, what, error);
}
