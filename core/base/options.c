/* SPDX-License-Identifier: MIT */
/* From what a user wrote to a checked value. */
#include "base/options.h"

#include "base/options_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t option_bytes(enum assay_option_kind kind)
{
    switch (kind) {
    case ASSAY_OPTION_INTEGER:
        return sizeof(int64_t);
    case ASSAY_OPTION_REAL:
        return sizeof(double);
    case ASSAY_OPTION_BOOLEAN:
        return sizeof(bool);
    case ASSAY_OPTION_CHOICE:
        return sizeof(int);
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        return sizeof(const char *);
    }
    return 0;
}

size_t option_count(const struct assay_option *const *options)
{
    size_t count = 0;
    while (options && options[count])
        count++;
    return count;
}

int option_find(const struct assay_option *const *options, const char *name)
{
    for (int i = 0; options && options[i]; i++)
        if (strcmp(options[i]->name, name) == 0)
            return i;
    return -1;
}

bool option_unknown(const struct assay_option *const *options, const char *owner, const char *name,
                    struct assay_error *error)
{
    size_t count = option_count(options);
    if (count == 0)
        return assay_fail(error, ASSAY_INVALID, "'%s' has no parameters, so no '%s' either", owner,
                          name);
    const char **names = calloc(count, sizeof *names);
    if (!names)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a list of parameters");
    for (size_t i = 0; i < count; i++)
        names[i] = options[i]->name;
    struct text list = {0};
    text_add_list(&list, names, count);
    const char *nearest = text_nearest(name, names, count);
    if (nearest)
        assay_fail(error, ASSAY_INVALID, "'%s' has no parameter '%s'; did you mean '%s'? It has %s",
                   owner, name, nearest, text_string(&list));
    else
        assay_fail(error, ASSAY_INVALID, "'%s' has no parameter '%s'; it has %s", owner, name,
                   text_string(&list));
    text_free(&list);
    free(names);
    return false;
}

static void add_wanted(struct text *text, const struct assay_option *option)
{
    switch (option->kind) {
    case ASSAY_OPTION_INTEGER:
    case ASSAY_OPTION_REAL:
        text_add(text, dimension_words(unit_of_label(option->unit).dimension));
        return;
    case ASSAY_OPTION_BOOLEAN:
        text_add(text, "true or false");
        return;
    case ASSAY_OPTION_CHOICE: {
        size_t count = 0;
        while (option->choices[count])
            count++;
        text_add(text, "one of ");
        text_add_list(text, option->choices, count);
        return;
    }
    case ASSAY_OPTION_TEXT:
        text_add(text, "a text");
        return;
    case ASSAY_OPTION_SOURCE:
        text_add(text, "the name of a shader file");
        return;
    }
}

/* "bytes: 2 GB/s is a rate (bytes per second), but a size is wanted" */
static bool wrong_kind(const struct assay_option *option, const char *given, const char *words,
                       struct assay_error *error)
{
    struct text wanted = {0};
    add_wanted(&wanted, option);
    assay_fail(error, ASSAY_INVALID, "%s: %s is %s, but %s is wanted", option->name, given, words,
               text_string(&wanted));
    text_free(&wanted);
    return false;
}

static bool wrong_dimension(const struct assay_option *option, const char *given,
                            struct quantity quantity, struct assay_error *error)
{
    struct text printed = {0};
    if (!given) {
        quantity_add(&printed, quantity.value, quantity.dimension);
        given = text_string(&printed);
    }
    struct text words = {0};
    const char *known = dimension_words(quantity.dimension);
    text_addf(&words, "%s%s", strncmp(known, "a", 1) == 0 ? "" : "in ", known);
    wrong_kind(option, given, text_string(&words), error);
    text_free(&words);
    text_free(&printed);
    return false;
}

static bool is_numeric(const struct assay_option *option)
{
    return option->kind == ASSAY_OPTION_INTEGER || option->kind == ASSAY_OPTION_REAL;
}

static int64_t largest(const struct assay_option *option)
{
    return option->max == 0 ? INT64_MAX : option->max;
}

static bool out_of_range(const struct assay_option *option, struct text *given,
                         struct assay_error *error)
{
    struct text allowed = {0};
    if (option->kind == ASSAY_OPTION_INTEGER) {
        option_add_integer(&allowed, option, option->min, true);
        text_add(&allowed, " to ");
        option_add_integer(&allowed, option, largest(option), true);
    } else {
        option_add_real(&allowed, option, option->real_min, true);
        text_add(&allowed, " to ");
        option_add_real(&allowed, option, option->real_max, true);
    }
    assay_fail(error, ASSAY_INVALID, "%s: %s is out of range, allowed are %s", option->name,
               text_string(given), text_string(&allowed));
    text_free(&allowed);
    return false;
}

static bool in_range(const struct assay_option *option, const struct option_value *value,
                     struct assay_error *error)
{
    struct text given = {0};
    if (value->kind == ASSAY_OPTION_INTEGER) {
        if (value->as.integer >= option->min && value->as.integer <= largest(option))
            return true;
        option_add_integer(&given, option, value->as.integer, true);
    } else {
        bool limited = option->real_min != 0 || option->real_max != 0;
        if (!limited || (value->as.real >= option->real_min && value->as.real <= option->real_max))
            return true;
        option_add_real(&given, option, value->as.real, true);
    }
    out_of_range(option, &given, error);
    text_free(&given);
    return false;
}

/* A quantity that was scaled may be off by a bit or two: 1.5 ms is 1500000 ns. */
static bool nearly_whole(double number)
{
    return fabs(number - rint(number)) <= fabs(number) * 2e-15;
}

/* `number` is in the option's unit. */
static bool number_to_value(const struct assay_option *option, double number,
                            struct option_value *value, struct assay_error *error)
{
    if (!isfinite(number))
        return assay_fail(error, ASSAY_INVALID, "%s: the number is not finite", option->name);
    *value = (struct option_value){.kind = option->kind};
    if (option->kind == ASSAY_OPTION_REAL) {
        value->as.real = number == 0 ? 0 : number; /* no -0: equal values have equal texts */
        return true;
    }
    struct text given = {0};
    if (!nearly_whole(number)) {
        number_add(&given, number);
        if (option->unit && !dimension_is_number(unit_of_label(option->unit).dimension))
            text_addf(&given, " %s", option->unit);
        assay_fail(error, ASSAY_INVALID, "%s: %s is not whole", option->name, text_string(&given));
        text_free(&given);
        return false;
    }
    double whole = rint(number);
    if (whole >= -0x1p63 && whole < 0x1p63) {
        value->as.integer = (int64_t)whole;
        return true;
    }
    struct unit unit = unit_of_label(option->unit);
    quantity_add(&given, whole * unit.scale, unit.dimension);
    out_of_range(option, &given, error);
    text_free(&given);
    return false;
}

static bool quantity_to_value(const struct assay_option *option, const char *given,
                              struct quantity quantity, struct option_value *value,
                              struct assay_error *error)
{
    struct unit unit = unit_of_label(option->unit);
    if (!is_numeric(option) || !dimension_equal(quantity.dimension, unit.dimension))
        return wrong_dimension(option, given, quantity, error);
    double inverse = rint(1 / unit.scale);
    double number = unit.scale < 1 && inverse * unit.scale == 1 ? quantity.value * inverse
                                                                : quantity.value / unit.scale;
    return number_to_value(option, number, value, error);
}

/* "1048576 elements" for an option whose unit is the label "elements". */
static bool ends_with_label(const struct assay_option *option, const char *rest)
{
    rest += strspn(rest, " \t");
    size_t length = strcspn(rest, " \t");
    return rest[length + strspn(rest + length, " \t")] == '\0' &&
           (length == 0 || (option->unit && strlen(option->unit) == length &&
                            memcmp(rest, option->unit, length) == 0));
}

bool option_read_number(const struct assay_option *option, const char *text,
                        struct option_value *value, struct assay_error *error)
{
    const char *end;
    double number;
    bool bare = number_parse(text, &end, &number) && ends_with_label(option, end);
    if (bare && option->kind == ASSAY_OPTION_INTEGER) {
        /* All 63 bits of a number written in full, which a double would round. */
        char *after;
        errno = 0;
        long long whole = strtoll(text, &after, 10);
        if (errno == 0 && after == end) {
            *value = (struct option_value){.kind = option->kind, .as.integer = whole};
            return true;
        }
    }
    if (bare)
        return number_to_value(option, number, value, error);
    struct quantity quantity;
    struct assay_error reason = {0};
    if (!quantity_parse(text, &quantity, &reason))
        return assay_fail(error, reason.status, "%s: %s", option->name, reason.text);
    return quantity_to_value(option, text + strspn(text, " \t"), quantity, value, error);
}

static bool read_choice(const struct assay_option *option, const char *text,
                        struct option_value *value, struct assay_error *error)
{
    size_t count = 0;
    for (; option->choices[count]; count++)
        if (strcmp(text, option->choices[count]) == 0) {
            *value = (struct option_value){.kind = option->kind, .as.choice = (int)count};
            return true;
        }
    struct text list = {0};
    text_add_list(&list, option->choices, count);
    const char *nearest = text_nearest(text, option->choices, count);
    assay_fail(error, ASSAY_INVALID, "%s: '%s' is none of %s%s%s%s", option->name, text,
               text_string(&list), nearest ? "; did you mean '" : "", nearest ? nearest : "",
               nearest ? "'?" : "");
    text_free(&list);
    return false;
}

static bool read_boolean(const struct assay_option *option, const char *text,
                         struct option_value *value, struct assay_error *error)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *value = (struct option_value){.kind = option->kind, .as.boolean = i % 2 == 1};
            return true;
        }
    return assay_fail(error, ASSAY_INVALID, "%s: '%s' is neither true nor false", option->name,
                      text);
}

static bool read_text(const struct assay_option *option, const char *text, struct arena *arena,
                      struct option_value *value, struct assay_error *error)
{
    if (option->kind == ASSAY_OPTION_SOURCE && !*text)
        return assay_fail(error, ASSAY_INVALID, "%s: the name of a shader file is wanted",
                          option->name);
    json_t *probe = json_string(text); /* records are UTF-8 */
    if (!probe)
        return assay_fail(error, ASSAY_INVALID, "%s: the text is not valid UTF-8", option->name);
    json_decref(probe);
    *value = (struct option_value){.kind = option->kind, .as.text = arena_copy(arena, text)};
    return value->as.text || assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a parameter");
}

bool option_parse(const struct assay_option *option, const char *text, struct arena *arena,
                  struct option_value *value, struct assay_error *error)
{
    switch (option->kind) {
    case ASSAY_OPTION_INTEGER:
    case ASSAY_OPTION_REAL:
        return option_read_number(option, text, value, error) && in_range(option, value, error);
    case ASSAY_OPTION_BOOLEAN:
        return read_boolean(option, text, value, error);
    case ASSAY_OPTION_CHOICE:
        return read_choice(option, text, value, error);
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        return read_text(option, text, arena, value, error);
    }
    return assay_fail(error, ASSAY_INTERNAL, "parameter '%s' has an unknown kind", option->name);
}

bool option_from_number(const struct assay_option *option, double number,
                        struct option_value *value, struct assay_error *error)
{
    if (is_numeric(option))
        return number_to_value(option, number, value, error) && in_range(option, value, error);
    struct text given = {0};
    number_add(&given, number);
    wrong_kind(option, text_string(&given), "a number", error);
    text_free(&given);
    return false;
}

bool option_from_integer(const struct assay_option *option, int64_t number,
                         struct option_value *value, struct assay_error *error)
{
    if (option->kind != ASSAY_OPTION_INTEGER)
        return option_from_number(option, (double)number, value, error);
    *value = (struct option_value){.kind = option->kind, .as.integer = number};
    return in_range(option, value, error);
}

bool option_from_quantity(const struct assay_option *option, struct quantity quantity,
                          struct option_value *value, struct assay_error *error)
{
    return quantity_to_value(option, NULL, quantity, value, error) &&
           in_range(option, value, error);
}

bool option_from_boolean(const struct assay_option *option, bool given, struct option_value *value,
                         struct assay_error *error)
{
    if (option->kind != ASSAY_OPTION_BOOLEAN)
        return wrong_kind(option, given ? "true" : "false", "a boolean", error);
    *value = (struct option_value){.kind = option->kind, .as.boolean = given};
    return true;
}

bool option_default(const struct assay_option *option, struct arena *arena,
                    struct option_value *value, struct assay_error *error)
{
    if (!option->fallback)
        return assay_fail(error, ASSAY_INTERNAL, "parameter '%s' has no default", option->name);
    return option_parse(option, option->fallback, arena, value, error);
}

bool option_value_equal(const struct option_value *a, const struct option_value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case ASSAY_OPTION_INTEGER:
        return a->as.integer == b->as.integer;
    case ASSAY_OPTION_REAL:
        return a->as.real == b->as.real;
    case ASSAY_OPTION_BOOLEAN:
        return a->as.boolean == b->as.boolean;
    case ASSAY_OPTION_CHOICE:
        return a->as.choice == b->as.choice;
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        return strcmp(a->as.text, b->as.text) == 0;
    }
    return false;
}

void option_store(const struct assay_option *option, const struct option_value *value, void *params)
{
    unsigned char *member = (unsigned char *)params + option->offset;
    switch (option->kind) {
    case ASSAY_OPTION_INTEGER:
        memcpy(member, &value->as.integer, sizeof value->as.integer);
        return;
    case ASSAY_OPTION_REAL:
        memcpy(member, &value->as.real, sizeof value->as.real);
        return;
    case ASSAY_OPTION_BOOLEAN:
        memcpy(member, &value->as.boolean, sizeof value->as.boolean);
        return;
    case ASSAY_OPTION_CHOICE:
        memcpy(member, &value->as.choice, sizeof value->as.choice);
        return;
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        memcpy(member, &value->as.text, sizeof value->as.text);
        return;
    }
}

void option_load(const struct assay_option *option, const void *params, struct option_value *value)
{
    const unsigned char *member = (const unsigned char *)params + option->offset;
    *value = (struct option_value){.kind = option->kind};
    switch (option->kind) {
    case ASSAY_OPTION_INTEGER:
        memcpy(&value->as.integer, member, sizeof value->as.integer);
        return;
    case ASSAY_OPTION_REAL:
        memcpy(&value->as.real, member, sizeof value->as.real);
        return;
    case ASSAY_OPTION_BOOLEAN:
        memcpy(&value->as.boolean, member, sizeof value->as.boolean);
        return;
    case ASSAY_OPTION_CHOICE:
        memcpy(&value->as.choice, member, sizeof value->as.choice);
        return;
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        memcpy(&value->as.text, member, sizeof value->as.text);
        return;
    }
}
