/* SPDX-License-Identifier: MIT */
#include "base/data.h"

#include "base/units.h"

#include <string.h>

#define WORD_SHOWN 40

struct reader {
    const char *at, *end;
    const char *name;
    struct arena *arena;
    struct assay_error *error;
    int line, depth;
};

static bool read_value(struct reader *r, struct data *out);

static bool fail(struct reader *r, const char *what)
{
    return assay_fail(r->error, ASSAY_SCRIPT, "%s:%d: %s", r->name, r->line, what);
}

static bool no_memory(struct reader *r)
{
    return assay_fail(r->error, ASSAY_OUT_OF_MEMORY, "no memory for %s", r->name);
}

const char *data_kind_words(enum data_kind kind)
{
    static const char *const words[] = {"true or false", "a number", "a text", "a table"};
    return words[kind];
}

const struct data *data_member(const struct data *table, const char *key)
{
    for (const struct data *item = table->first; item; item = item->next)
        if (item->key && strcmp(item->key, key) == 0)
            return item;
    return NULL;
}

static bool starts(const struct reader *r, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(r->end - r->at) >= length && memcmp(r->at, word, length) == 0;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The level of a long bracket that opens here ("[==["), or -1. */
static int long_level(const struct reader *r)
{
    const char *c = r->at;
    if (c == r->end || *c++ != '[')
        return -1;
    int level = 0;
    for (; c < r->end && *c == '='; c++)
        level++;
    return c < r->end && *c == '[' ? level : -1;
}

/* From the opening bracket to behind the closing one; what is between goes to `out` (or NULL). */
static bool read_long(struct reader *r, int level, struct text *out)
{
    r->at += level + 2;
    if (r->at < r->end && *r->at == '\n') {
        r->at++;
        r->line++;
    }
    for (; r->at < r->end; r->at++) {
        if (*r->at == ']' && r->end - r->at >= level + 2) {
            int equals = 0;
            while (equals < level && r->at[1 + equals] == '=')
                equals++;
            if (equals == level && r->at[1 + level] == ']') {
                r->at += level + 2;
                return true;
            }
        }
        r->line += *r->at == '\n';
        if (out)
            text_add_char(out, *r->at);
    }
    return fail(r, "a long bracket is not closed");
}

static bool skip_space(struct reader *r)
{
    while (r->at < r->end) {
        if (*r->at == '\n')
            r->line++;
        if (strchr(" \t\r\n\f\v", *r->at) && *r->at) {
            r->at++;
        } else if (starts(r, "--")) {
            r->at += 2;
            int level = long_level(r);
            if (level >= 0) {
                if (!read_long(r, level, NULL))
                    return false;
                continue;
            }
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        } else {
            break;
        }
    }
    return true;
}

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) - (at - digits >= 16 ? 6 : 0) : -1;
}

/* Behind the backslash. */
static bool read_escape(struct reader *r, struct text *out)
{
    static const char letters[] = "abfnrtv\\\"'", values[] = "\a\b\f\n\r\t\v\\\"'";
    char c = r->at < r->end ? *r->at++ : '\0';
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter) {
        text_add_char(out, values[letter - letters]);
        return true;
    }
    if (c == '\n') {
        r->line++;
        text_add_char(out, '\n');
        return true;
    }
    if (c == 'x' && r->end - r->at >= 2 && hex_value(r->at[0]) >= 0 && hex_value(r->at[1]) >= 0) {
        text_add_char(out, (char)(hex_value(r->at[0]) * 16 + hex_value(r->at[1])));
        r->at += 2;
        return true;
    }
    if (c >= '0' && c <= '9') {
        int code = c - '0';
        for (int i = 0; i < 2 && r->at < r->end && *r->at >= '0' && *r->at <= '9'; i++)
            code = code * 10 + *r->at++ - '0';
        text_add_char(out, (char)code);
        return code <= 255 || fail(r, "an escape of a text is over \\255");
    }
    return fail(r, "a text holds an escape that is not known");
}

static bool read_quoted(struct reader *r, struct text *out)
{
    char quote = *r->at++;
    while (r->at < r->end && *r->at != quote) {
        if (*r->at == '\n')
            return fail(r, "a text does not end on its line");
        char c = *r->at++;
        if (c != '\\')
            text_add_char(out, c);
        else if (!read_escape(r, out))
            return false;
    }
    if (r->at == r->end)
        return fail(r, "a text is not closed");
    r->at++;
    return true;
}

/* Takes what a text holds; character 0 has no place in it. */
static const char *keep_text(struct reader *r, struct text *text)
{
    const char *copy = NULL;
    if (text->failed || !text_string(text))
        no_memory(r);
    else if (text->length && memchr(text->data, '\0', text->length))
        fail(r, "a text holds the character 0");
    else if (!(copy = arena_copy(r->arena, text_string(text))))
        no_memory(r);
    text_free(text);
    return copy;
}

static const char *read_text(struct reader *r)
{
    struct text text = {0};
    int level = long_level(r);
    bool good = level >= 0 ? read_long(r, level, &text) : read_quoted(r, &text);
    if (good)
        return keep_text(r, &text);
    text_free(&text);
    return NULL;
}

static bool read_number(struct reader *r, struct data *out)
{
    const char *start = r->at, *end;
    struct text text = {0};
    while (r->at < r->end && (is_name_character(*r->at) || strchr("+-.", *r->at)) && *r->at) {
        bool exponent = r->at > start && strchr("eE", r->at[-1]);
        if (r->at > start && strchr("+-", *r->at) && !exponent)
            break;
        r->at++;
    }
    text_add_bytes(&text, start, (size_t)(r->at - start));
    bool good = number_parse(text_string(&text), &end, &out->number) && *end == '\0';
    out->kind = DATA_NUMBER;
    out->text = good ? keep_text(r, &text) : NULL;
    text_free(&text);
    return good ? out->text != NULL : fail(r, "a number cannot be read");
}

static size_t name_length(const struct reader *r)
{
    size_t length = 0;
    while (r->at + length < r->end && is_name_character(r->at[length]))
        length++;
    return length;
}

static bool refuse(struct reader *r)
{
    size_t length = name_length(r);
    if (r->at == r->end)
        return fail(r, "the file ends within its table");
    return assay_fail(
        r->error, ASSAY_SCRIPT,
        "%s:%d: '%.*s' is no constant; only texts, numbers, true, false and tables of "
        "them may stand here",
        r->name, r->line, (int)(length ? (length < WORD_SHOWN ? length : WORD_SHOWN) : 1), r->at);
}

/* NAME = or ["text"] = in front of a value; *key stays NULL for an element of the list. */
static bool read_key(struct reader *r, const char **key)
{
    struct reader before = *r;
    size_t length = name_length(r);
    struct text text = {0};
    *key = NULL;
    if (length > 0 && !(*r->at >= '0' && *r->at <= '9')) {
        text_add_bytes(&text, r->at, length);
        r->at += length;
        if (!skip_space(r))
            return false;
        if (r->at < r->end && *r->at == '=') {
            r->at++;
            return (*key = keep_text(r, &text)) != NULL && skip_space(r);
        }
        text_free(&text);
        r->at = before.at;
        r->line = before.line;
        return true;
    }
    if (r->at == r->end || *r->at != '[' || long_level(r) >= 0)
        return true;
    r->at++;
    if (!skip_space(r))
        return false;
    if (r->at == r->end || !(*r->at == '"' || *r->at == '\'' || long_level(r) >= 0))
        return fail(r, "between [ and ] of a table a text is wanted");
    if (!(*key = read_text(r)) || !skip_space(r))
        return false;
    if (r->at == r->end || *r->at++ != ']' || !skip_space(r) || r->at == r->end || *r->at++ != '=')
        return fail(r, "']' and '=' are wanted behind the key");
    return skip_space(r);
}

static bool read_members(struct reader *r, struct data *table)
{
    struct data **last = &table->first;
    for (;;) {
        const char *key;
        if (!skip_space(r))
            return false;
        if (r->at < r->end && *r->at == '}') {
            r->at++;
            return true;
        }
        int line = r->line;
        struct data *item = arena_alloc(r->arena, sizeof(*item));
        if (!item)
            return no_memory(r);
        if (!read_key(r, &key) || !read_value(r, item) || !skip_space(r))
            return false;
        item->key = key;
        item->line = line;
        if (key && data_member(table, key))
            return assay_fail(r->error, ASSAY_SCRIPT, "%s:%d: '%s' is there twice", r->name, line,
                              key);
        *last = item;
        last = &item->next;
        table->count++;
        if (r->at < r->end && (*r->at == ',' || *r->at == ';'))
            r->at++;
        else if (r->at == r->end || *r->at != '}')
            return r->at == r->end ? refuse(r) : fail(r, "',' or '}' is wanted behind a value");
    }
}

static bool read_word(struct reader *r, struct data *out)
{
    size_t length = name_length(r);
    bool yes = length == 4 && starts(r, "true"), no = length == 5 && starts(r, "false");
    if (!yes && !no)
        return refuse(r);
    out->kind = DATA_BOOLEAN;
    out->boolean = yes;
    r->at += length;
    return true;
}

static bool read_value(struct reader *r, struct data *out)
{
    *out = (struct data){.line = r->line};
    char c = r->at < r->end ? *r->at : '\0';
    if (c == '{') {
        if (++r->depth > DATA_MAX_DEPTH)
            return fail(r, "tables stand too deep in each other");
        r->at++;
        out->kind = DATA_TABLE;
        bool good = read_members(r, out);
        r->depth--;
        return good;
    }
    if (c == '"' || c == '\'' || long_level(r) >= 0) {
        out->kind = DATA_TEXT;
        out->text = read_text(r);
        return out->text != NULL;
    }
    if ((c >= '0' && c <= '9') ||
        ((c == '-' || c == '.') && r->end - r->at > 1 && r->at[1] >= '0' && r->at[1] <= '9'))
        return read_number(r, out);
    return read_word(r, out);
}

static bool read_file(struct reader *r, struct data *out)
{
    if (starts(r, "\xef\xbb\xbf"))
        r->at += 3;
    if (r->at < r->end && *r->at == '#')
        while (r->at < r->end && *r->at != '\n')
            r->at++;
    if (!skip_space(r))
        return false;
    if (!starts(r, "return") || name_length(r) != strlen("return"))
        return fail(r, "the file has to begin with: return { ... }");
    r->at += strlen("return");
    if (!skip_space(r))
        return false;
    if (r->at == r->end || *r->at != '{')
        return fail(r, "a table is wanted: return { ... }");
    if (!read_value(r, out) || !skip_space(r))
        return false;
    if (r->at < r->end && *r->at == ';')
        r->at++;
    return skip_space(r) && (r->at == r->end || fail(r, "nothing may follow the table"));
}

const struct data *data_read(const char *source, size_t length, const char *name,
                             struct arena *arena, struct assay_error *error)
{
    struct reader reader = {source, source + length, name, arena, error, 1, 0};
    struct data *out = arena_alloc(arena, sizeof(*out));
    if (!out) {
        no_memory(&reader);
        return NULL;
    }
    return read_file(&reader, out) ? out : NULL;
}
