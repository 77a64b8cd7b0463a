/* SPDX-License-Identifier: MIT */
#include "result/lazy.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_FIRST 24 /* without an allocation: those of a case record */

struct member {
    const char *name; /* between the quotes; names with escapes are none that anybody asks for */
    size_t name_length;
    const char *value;
    size_t length;  /* 0: not looked for yet */
    json_t *parsed; /* NULL: not asked for yet */
};

struct object {     /* in a line; its members are found as far as somebody looked for one */
    const char *at; /* where it begins; NULL: all its members are known */
    bool begun;
    struct member *members; /* NULL: `few` */
    size_t count, room;
    struct member few[MEMBERS_FIRST];
};

struct lazy {
    struct object whole, metrics;
    size_t length;     /* of the line */
    json_t *tree;      /* all of it, where it was wanted or there from the start */
    const char *wrong; /* the place of the first damage, or NULL */
    char line[];       /* with a NUL behind it, which ends every scan */
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a record");
}

/* Not all of it is cleared: there are many records. */
static void object_begin(struct object *object, const char *at)
{
    object->at = at;
    object->begun = false;
    object->members = NULL;
    object->count = object->room = 0;
}

struct lazy *lazy_create(const char *line, size_t length, struct assay_error *error)
{
    struct lazy *record = length < SIZE_MAX / 2 ? malloc(sizeof(*record) + length + 1) : NULL;
    if (!record) {
        no_memory(error);
        return NULL;
    }
    object_begin(&record->whole, record->line);
    object_begin(&record->metrics, NULL);
    record->tree = NULL;
    record->wrong = NULL;
    memcpy(record->line, line, length);
    record->line[length] = '\0';
    record->length = length;
    return record;
}

struct lazy *lazy_create_tree(json_t *tree, struct assay_error *error)
{
    struct lazy *record = lazy_create("", 0, error);
    if (record)
        record->tree = json_incref(tree);
    return record;
}

static struct member *object_members(struct object *object)
{
    return object->members ? object->members : object->few;
}

static void object_free(struct object *object)
{
    for (size_t i = 0; i < object->count; i++)
        json_decref(object_members(object)[i].parsed);
    free(object->members);
}

void lazy_destroy(struct lazy **record)
{
    if (!record || !*record)
        return;
    object_free(&(*record)->whole);
    object_free(&(*record)->metrics);
    json_decref((*record)->tree);
    free(*record);
    *record = NULL;
}

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

/* From the opening quote to behind the closing one; NULL: it is not closed. */
static const char *skip_string(const char *at)
{
    static const bool stops[256] = {[0] = true, ['"'] = true, ['\\'] = true};
    for (at++;; at += 2) {
        while (!stops[(unsigned char)*at])
            at++;
        if (*at == '"')
            return at + 1;
        if (*at == '\0' || at[1] == '\0')
            return NULL;
    }
}

static const char *skip_nested(const char *at)
{
    enum { OTHER, QUOTE, OPENING, CLOSING, END };
    static const unsigned char kinds[256] = {[0] = END,       ['"'] = QUOTE,   ['{'] = OPENING,
                                             ['['] = OPENING, ['}'] = CLOSING, [']'] = CLOSING};
    size_t depth = 0;
    for (;;) {
        while (kinds[(unsigned char)*at] == OTHER)
            at++;
        switch (kinds[(unsigned char)*at]) {
        case QUOTE:
            at = skip_string(at);
            if (!at)
                return NULL;
            continue;
        case OPENING:
            depth++;
            break;
        case CLOSING:
            if (--depth == 0)
                return at + 1;
            break;
        default:
            return NULL;
        }
        at++;
    }
}

/* NULL: it does not end. */
static const char *skip_value(const char *at)
{
    if (*at == '"')
        return skip_string(at);
    if (*at == '{' || *at == '[')
        return skip_nested(at);
    while (*at > ' ' && *at != ',' && *at != '}' && *at != ']')
        at++;
    return *at ? at : NULL;
}

static struct member *object_grow(struct object *object)
{
    if (object->count >= MEMBERS_FIRST && object->count >= object->room) {
        size_t room = 2 * object->count;
        struct member *members = realloc(object->members, room * sizeof(*members));
        if (!members)
            return NULL;
        if (!object->members)
            memcpy(members, object->few, sizeof(object->few));
        object->members = members;
        object->room = room;
    }
    return &object_members(object)[object->count];
}

static struct member *object_damaged(struct object *object, const char *at, const char **wrong)
{
    *wrong = *wrong ? *wrong : at;
    object->at = NULL;
    return NULL;
}

/* Finds the end of the value. */
static bool member_end(struct member *member, const char **wrong)
{
    const char *end = member->length ? NULL : skip_value(member->value);
    if (end && end > member->value)
        member->length = (size_t)(end - member->value);
    if (!member->length && !*wrong)
        *wrong = member->value;
    return member->length > 0;
}

/* `"name": value` at the place. */
static struct member *object_add(struct object *object, const char *at, const char **wrong)
{
    struct member *member = object_grow(object);
    const char *end = member && *at == '"' ? skip_string(at) : NULL;
    if (!end)
        return object_damaged(object, at, wrong);
    *member = (struct member){.name = at + 1, .name_length = (size_t)(end - at) - 2};
    at = skip_space(end);
    if (*at != ':')
        return object_damaged(object, at, wrong);
    member->value = skip_space(at + 1);
    object->count++;
    return member;
}

/* The next member of the object; NULL at its end. */
static struct member *object_next(struct object *object, const char **wrong)
{
    if (!object->at)
        return NULL;
    struct member *last = object->count ? &object_members(object)[object->count - 1] : NULL;
    if (last && !member_end(last, wrong))
        return object_damaged(object, last->value, wrong);
    const char *at = skip_space(last ? last->value + last->length : object->at);
    bool first = !object->begun;
    object->begun = true;
    if (*at == (first ? '{' : ','))
        at = skip_space(at + 1);
    else if (first)
        return object_damaged(object, at, wrong);
    if (*at != '}')
        return object_add(object, at, wrong);
    object->at = NULL;
    return NULL;
}

static struct member *object_find(struct object *object, const char *name, const char **wrong)
{
    size_t length = strlen(name), i = 0;
    for (;; i++) {
        struct member *member = i < object->count ? &object_members(object)[i]
                                                  : object_next(object, wrong);
        if (!member)
            return NULL;
        if (member->name_length == length && memcmp(member->name, name, length) == 0)
            return member;
    }
}

static json_t *member_parse(struct member *member, const char **wrong)
{
    if (!member->parsed && member_end(member, wrong))
        member->parsed = json_read_value(member->value, member->length, "record", NULL);
    if (!member->parsed && !*wrong)
        *wrong = member->value;
    return member->parsed;
}

const json_t *lazy_member(struct lazy *record, const char *name)
{
    if (record->tree)
        return json_object_get(record->tree, name);
    struct member *member = object_find(&record->whole, name, &record->wrong);
    return member ? member_parse(member, &record->wrong) : NULL;
}

const char *lazy_raw(struct lazy *record, const char *name, size_t *length)
{
    struct member *member = record->tree ? NULL : object_find(&record->whole, name, &record->wrong);
    if (!member || !member_end(member, &record->wrong))
        return NULL;
    *length = member->length;
    return member->value;
}

const char *lazy_text(struct lazy *record, const char *name, const char *fallback)
{
    const char *value = json_string_value(lazy_member(record, name));
    return value ? value : fallback;
}

static struct member *metric_find(struct lazy *record, const char *name)
{
    struct object *metrics = &record->metrics;
    if (!metrics->begun) {
        struct member *all = object_find(&record->whole, "metrics", &record->wrong);
        if (!all || *all->value != '{')
            return NULL;
        metrics->at = all->value;
    }
    return object_find(metrics, name, &record->wrong);
}

static bool skip_word(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool read_number(const char **at, const char *name, double *value)
{
    return skip_word(at, name) && (*(*at) == '-' || (*(*at) >= '0' && *(*at) <= '9')) &&
           number_parse(*at, at, value);
}

/* A present metric in the form in which assay writes it, without a tree of it. */
static bool metric_read(const char *at, struct metric *out)
{
    char symbol[32];
    struct unit unit;
    double value, low, high, n;
    if (!skip_word(&at, "{\"unit\":\""))
        return false;
    size_t length = strcspn(at, "\"\\");
    if (length >= sizeof(symbol) || at[length] != '"')
        return false;
    memcpy(symbol, at, length);
    symbol[length] = '\0';
    at += length;
    if (!read_number(&at, "\",\"value\":", &value) || !read_number(&at, ",\"low\":", &low) ||
        !read_number(&at, ",\"high\":", &high) || !read_number(&at, ",\"n\":", &n) || *at != '}' ||
        !(n >= 0 && n < 0x1p53) || n != rint(n) || !unit_parse(symbol, &unit, NULL))
        return false;
    out->dimension = unit.dimension;
    out->value = value * unit.scale;
    out->low = low * unit.scale;
    out->high = high * unit.scale;
    out->n = (size_t)n;
    return isfinite(out->low) && isfinite(out->high) && out->low <= out->value &&
           out->value <= out->high;
}

bool lazy_has_metric(struct lazy *record, const char *name)
{
    return record->tree ? json_object_get(json_object_get(record->tree, "metrics"), name) != NULL
                        : metric_find(record, name) != NULL;
}

void lazy_metric(struct lazy *record, const char *name, struct metric *out)
{
    if (record->tree) {
        metric_from_json(json_object_get(record->tree, "metrics"), name, out);
        out->name = name;
        return;
    }
    struct member *member = metric_find(record, name);
    *out = (struct metric){.name = name};
    if (member && metric_read(member->value, out))
        return;
    json_t *parsed = member ? member_parse(member, &record->wrong) : NULL;
    json_t *metrics = parsed ? json_object() : NULL;
    if (parsed && json_object_set(metrics, name, parsed) != 0)
        record->wrong = record->wrong ? record->wrong : member->value;
    metric_from_json(metrics, name, out);
    out->name = name;
    json_decref(metrics);
}

json_t *lazy_tree(struct lazy *record)
{
    if (!record->tree)
        record->tree = json_read(record->line, record->length, "record", NULL);
    if (!record->tree && !record->wrong)
        record->wrong = record->line;
    json_object_del(record->tree, "seal"); /* no member of what the record says */
    return record->tree;
}

bool lazy_check(const struct lazy *record, const char *what, struct assay_error *error)
{
    return !record->wrong ||
           assay_fail(error, ASSAY_INVALID, "%s: a record is damaged at byte %zu of its line", what,
                      (size_t)(record->wrong - record->line) + 1);
}

json_t *lazy_part(struct lazy *record, const char *const *members, const char *what,
                  struct assay_error *error)
{
    json_t *part = json_object();
    bool good = part || no_memory(error);
    for (; good && *members; members++) {
        json_t *member = (json_t *)(uintptr_t)lazy_member(record, *members);
        good = !member || json_object_set(part, *members, member) == 0 || no_memory(error);
    }
    if (good && lazy_check(record, what, error))
        return part;
    json_decref(part);
    return NULL;
}
