/* SPDX-License-Identifier: MIT */
/* Values and tables of parameters as JSON; docs/journal.md has the shape. */
#include "base/options.h"

#include "base/json.h"

#include <string.h>

static const char *const kind_names[] = {
    [ASSAY_OPTION_INTEGER] = "integer", [ASSAY_OPTION_REAL] = "real",
    [ASSAY_OPTION_BOOLEAN] = "boolean", [ASSAY_OPTION_CHOICE] = "choice",
    [ASSAY_OPTION_TEXT] = "text",       [ASSAY_OPTION_SOURCE] = "source",
};
#define KIND_COUNT (sizeof kind_names / sizeof *kind_names)

json_t *option_value_to_json(const struct assay_option *option, const struct option_value *value)
{
    switch (option->kind) {
    case ASSAY_OPTION_INTEGER:
        return json_integer(value->as.integer);
    case ASSAY_OPTION_REAL:
        return json_real(value->as.real);
    case ASSAY_OPTION_BOOLEAN:
        return json_boolean(value->as.boolean);
    case ASSAY_OPTION_CHOICE:
        return json_string(option->choices[value->as.choice]);
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        return json_string(value->as.text);
    }
    return NULL;
}

bool option_value_from_json(const struct assay_option *option, const json_t *json,
                            struct arena *arena, struct option_value *value,
                            struct assay_error *error)
{
    bool numeric = option->kind == ASSAY_OPTION_INTEGER || option->kind == ASSAY_OPTION_REAL;
    if (numeric && json_is_integer(json))
        return option_from_integer(option, json_integer_value(json), value, error);
    if (numeric && json_is_real(json))
        return option_from_number(option, json_real_value(json), value, error);
    if (option->kind == ASSAY_OPTION_BOOLEAN && json_is_boolean(json))
        return option_from_boolean(option, json_is_true(json), value, error);
    if (!numeric && option->kind != ASSAY_OPTION_BOOLEAN && json_is_string(json))
        return option_parse(option, json_string_value(json), arena, value, error);
    return assay_fail(error, ASSAY_INVALID, "%s: a value of the kind '%s' is wanted", option->name,
                      kind_names[option->kind]);
}

static json_t *string_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *choices_to_json(const char *const *choices)
{
    json_t *array = json_array();
    for (; array && *choices; choices++)
        if (json_array_append_new(array, json_string(*choices))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *option_to_json(const struct assay_option *option)
{
    json_t *json = json_object();
    bool bad = json_object_set_new(json, "name", json_string(option->name)) ||
               json_object_set_new(json, "kind", json_string(kind_names[option->kind])) ||
               json_object_set_new(json, "unit", string_or_null(option->unit)) ||
               json_object_set_new(json, "default", string_or_null(option->fallback));
    if (option->kind == ASSAY_OPTION_INTEGER) {
        if (option->min != INT64_MIN)
            bad |= json_object_set_new(json, "min", json_integer(option->min)) != 0;
        if (option->max != 0 && option->max != INT64_MAX)
            bad |= json_object_set_new(json, "max", json_integer(option->max)) != 0;
    }
    if (option->kind == ASSAY_OPTION_REAL && (option->real_min != 0 || option->real_max != 0)) {
        bad |= json_object_set_new(json, "min", json_real(option->real_min)) != 0;
        bad |= json_object_set_new(json, "max", json_real(option->real_max)) != 0;
    }
    if (option->kind == ASSAY_OPTION_CHOICE)
        bad |= json_object_set_new(json, "choices", choices_to_json(option->choices)) != 0;
    bad |= json_object_set_new(json, "help", string_or_null(option->help)) != 0;
    bad |= json_object_set_new(json, "items",
                               json_boolean((option->flags & ASSAY_OPTION_ITEMS) != 0)) != 0;
    if (bad) {
        json_decref(json);
        return NULL;
    }
    return json;
}

json_t *option_table_to_json(const struct assay_option *const *options)
{
    json_t *array = json_array();
    for (size_t i = 0; array && options && options[i]; i++)
        if (json_array_append_new(array, option_to_json(options[i]))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static const char *const *choices_from_json(const json_t *json, struct arena *arena)
{
    size_t count = json_array_size(json);
    const char **choices = arena_alloc(arena, (count + 1) * sizeof *choices);
    for (size_t i = 0; choices && i < count; i++) {
        const char *text = json_string_value(json_array_get(json, i));
        choices[i] = text ? arena_copy(arena, text) : NULL;
        if (!choices[i])
            return NULL;
    }
    return count > 0 ? choices : NULL;
}

/* NULL stays NULL; *good is cleared when there is no memory. */
static const char *copied(const char *text, struct arena *arena, bool *good)
{
    const char *copy = text ? arena_copy(arena, text) : NULL;
    if (text && !copy)
        *good = false;
    return copy;
}

static void limits_from_json(const json_t *json, struct assay_option *option)
{
    if (option->kind == ASSAY_OPTION_INTEGER) {
        option->min = json_whole(json, "min", INT64_MIN);
        option->max = json_whole(json, "max", 0);
    } else if (option->kind == ASSAY_OPTION_REAL) {
        option->real_min = json_number(json, "min", 0);
        option->real_max = json_number(json, "max", 0);
    }
}

static const struct assay_option *option_from_json(const json_t *json, struct arena *arena,
                                                   struct assay_error *error)
{
    const char *name = json_text(json, "name", NULL), *kind = json_text(json, "kind", "");
    size_t index = 0;
    while (index < KIND_COUNT && strcmp(kind_names[index], kind) != 0)
        index++;
    struct assay_option *option = arena_alloc(arena, sizeof *option);
    if (!option)
        goto no_memory;
    if (!name || index == KIND_COUNT) {
        assay_fail(error, ASSAY_SYSTEM, "the description of parameter '%s' is damaged",
                   name ? name : "");
        return NULL;
    }
    bool good = true;
    option->size = sizeof *option;
    option->kind = (enum assay_option_kind)index;
    option->name = copied(name, arena, &good);
    option->unit = copied(json_text(json, "unit", NULL), arena, &good);
    option->fallback = copied(json_text(json, "default", NULL), arena, &good);
    option->help = copied(json_text(json, "help", NULL), arena, &good);
    option->flags = json_flag(json, "items", false) ? ASSAY_OPTION_ITEMS : 0;
    limits_from_json(json, option);
    if (option->kind == ASSAY_OPTION_CHOICE) {
        option->choices = choices_from_json(json_object_get(json, "choices"), arena);
        if (!option->choices) {
            assay_fail(error, ASSAY_SYSTEM, "the description of parameter '%s' has no choices",
                       name);
            return NULL;
        }
    }
    if (good)
        return option;
no_memory:
    assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a table of parameters");
    return NULL;
}

const struct assay_option *const *option_table_from_json(const json_t *json, struct arena *arena,
                                                         struct assay_error *error)
{
    size_t count = json_array_size(json);
    const struct assay_option **table = arena_alloc(arena, (count + 1) * sizeof(void *));
    if (!table) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a table of parameters");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        table[i] = option_from_json(json_array_get(json, i), arena, error);
        if (!table[i])
            return NULL;
    }
    return table;
}
