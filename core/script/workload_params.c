/* SPDX-License-Identifier: MIT */
/* params = { { name, default, unit, min =, max =, choices =, help =, items = }, ... } */
#include "script/workload.h"

#include "base/json.h"
#include "base/options.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *const row_fields[] = {"min", "max", "choices", "help", "items"};
#define ROW_FIELDS (sizeof(row_fields) / sizeof(row_fields[0]))

static char *number_text(lua_State *L, double value, const char *unit)
{
    struct text text = {0};
    number_add(&text, value);
    if (unit && strcmp(unit, "1") != 0)
        text_addf(&text, " %s", unit);
    script_push_text(L, &text);
    return (char *)(uintptr_t)workload_keep(L, lua_tostring(L, -1));
}

static bool is_whole(double value)
{
    return value == floor(value) && fabs(value) < 0x1p53;
}

/* A size or a count of operations is whole; everything else is real. */
static void quantity_kind(struct assay_option *option, struct quantity quantity)
{
    static const struct dimension size = {.bytes = 1}, work = {.flops = 1};
    bool counted = dimension_equal(quantity.dimension, size) ||
                   dimension_equal(quantity.dimension, work);
    option->kind = counted && is_whole(quantity.value) ? ASSAY_OPTION_INTEGER : ASSAY_OPTION_REAL;
    option->min = option->kind == ASSAY_OPTION_INTEGER ? 0 : INT64_MIN;
}

/* The default at index `value`, which is a text. */
static void text_kind(lua_State *L, struct assay_option *option, int value, bool choices,
                      const char *unit)
{
    const char *text = lua_tostring(L, value), *end;
    struct quantity quantity;
    double plain;
    option->fallback = workload_keep(L, text);
    if (choices) {
        option->kind = ASSAY_OPTION_CHOICE;
    } else if (unit && strcmp(unit, "source") == 0) {
        option->kind = ASSAY_OPTION_SOURCE;
    } else if ((!number_parse(text, &end, &plain) || *end) &&
               quantity_parse(text, &quantity, NULL)) {
        quantity_kind(option, quantity);
        option->unit = workload_keep(L, unit ? unit : dimension_symbol(quantity.dimension));
    } else {
        option->kind = ASSAY_OPTION_TEXT;
    }
}

/* Kind, unit and default from the row's second and third value. */
static void kind_read(lua_State *L, struct assay_option *option, int row, const char *what)
{
    bool choices = lua_getfield(L, row, "choices") != LUA_TNIL;
    const char *unit = NULL;
    if (lua_geti(L, row, 3) != LUA_TNIL) {
        if (lua_type(L, -1) != LUA_TSTRING)
            script_fail(L,
                        "%s: its unit, the third value, is a text such as \"B\" or \"elements\","
                        " not a %s",
                        what, luaL_typename(L, -1));
        unit = lua_tostring(L, -1);
    }
    int type = lua_geti(L, row, 2), value = lua_gettop(L);
    const struct quantity *quantity = quantity_test(L, value);
    option->min = INT64_MIN;
    if (quantity) {
        quantity_kind(option, *quantity);
        const char *symbol = dimension_symbol(quantity->dimension);
        option->unit = workload_keep(L, unit ? unit : symbol);
        option->fallback = number_text(L, quantity->value, symbol);
    } else if (type == LUA_TSTRING) {
        text_kind(L, option, value, choices, unit);
    } else if (type == LUA_TBOOLEAN) {
        option->kind = ASSAY_OPTION_BOOLEAN;
        option->fallback = lua_toboolean(L, value) ? "true" : "false";
    } else if (type == LUA_TNUMBER) {
        option->kind = lua_isinteger(L, value) ? ASSAY_OPTION_INTEGER : ASSAY_OPTION_REAL;
        option->unit = unit ? workload_keep(L, unit) : "1";
        if (lua_isinteger(L, value))
            option->fallback = workload_keep(L, luaL_tolstring(L, value, NULL));
        else
            option->fallback = number_text(L, lua_tonumber(L, value), NULL);
    } else {
        script_fail(L,
                    "%s: its default, the second value, is a number, a text, a quantity, true "
                    "or false, not a %s",
                    what, luaL_typename(L, value));
    }
    if (choices && option->kind != ASSAY_OPTION_CHOICE)
        script_fail(L, "%s: choices are texts, so the default is one of them", what);
    lua_settop(L, row);
}

static void choices_read(lua_State *L, struct assay_option *option, int row, const char *what)
{
    if (lua_getfield(L, row, "choices") == LUA_TNIL) {
        lua_settop(L, row);
        return;
    }
    lua_Integer count = lua_istable(L, -1) ? (lua_Integer)lua_rawlen(L, -1) : 0;
    if (count < 1 || count > 256)
        script_fail(L, "%s: choices is a list of 1 to 256 texts", what);
    const char **choices = arena_alloc(script_of(L)->arena, ((size_t)count + 1) * sizeof(*choices));
    if (!choices)
        luaL_error(L, "not enough memory");
    for (lua_Integer i = 1; i <= count; i++) {
        if (lua_geti(L, -1, i) != LUA_TSTRING)
            script_fail(L, "%s: choices is a list of texts, and number %d is a %s", what, (int)i,
                        luaL_typename(L, -1));
        choices[i - 1] = workload_keep(L, lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    option->choices = choices;
    lua_settop(L, row);
}

/* One end of the range; false: not given. */
static bool limit_read(lua_State *L, const struct assay_option *option, int row, const char *name,
                       const char *what, struct option_value *value)
{
    struct assay_option free_option = *option;
    struct assay_error error = {0};
    if (lua_getfield(L, row, name) == LUA_TNIL) {
        lua_settop(L, row);
        return false;
    }
    if (option->kind != ASSAY_OPTION_INTEGER && option->kind != ASSAY_OPTION_REAL)
        script_fail(L, "%s: only numbers have a %s", what, name);
    free_option.min = INT64_MIN;
    free_option.name = name;
    if (!value_for_option(L, lua_gettop(L), &free_option, script_scratch(L), value, &error))
        script_fail(L, "%s: %s", what, error.text);
    lua_settop(L, row);
    return true;
}

static void range_read(lua_State *L, struct assay_option *option, int row, const char *what)
{
    struct option_value low, high;
    bool has_low = limit_read(L, option, row, "min", what, &low);
    bool has_high = limit_read(L, option, row, "max", what, &high);
    if (option->kind == ASSAY_OPTION_INTEGER) {
        option->min = has_low ? low.as.integer : option->min;
        option->max = has_high ? high.as.integer : 0;
        if (has_high && option->max == 0)
            script_fail(L, "%s: a max of 0 cannot be told from none; leave it out or take another",
                        what);
        if (has_high && option->max < option->min)
            script_fail(L, "%s: max is under min", what);
    } else if (has_low || has_high) {
        option->real_min = has_low ? low.as.real : -DBL_MAX;
        option->real_max = has_high ? high.as.real : DBL_MAX;
        if (option->real_max < option->real_min)
            script_fail(L, "%s: max is under min", what);
    }
}

/* The row on top. */
static struct assay_option *row_read(lua_State *L, size_t number, size_t *bytes)
{
    struct assay_option *option = arena_alloc(script_of(L)->arena, sizeof(*option));
    int row = lua_gettop(L);
    if (!option)
        luaL_error(L, "not enough memory");
    lua_pushfstring(L, "params[%d]", (int)number);
    const char *what = script_copy(L, lua_tostring(L, -1));
    lua_pop(L, 1);
    if (!lua_istable(L, row))
        script_fail(L, "%s: a parameter such as { \"n\", 1024, \"elements\" } is wanted, not a %s",
                    what, luaL_typename(L, row));
    if (lua_geti(L, row, 1) != LUA_TSTRING)
        script_fail(L, "%s: its name, the first value, is a text", what);
    *option = (struct assay_option){
        .size = sizeof(*option), .name = workload_keep(L, lua_tostring(L, -1)), .help = ""};
    lua_pushfstring(L, "parameter '%s'", option->name);
    what = script_copy(L, lua_tostring(L, -1));
    lua_settop(L, row);
    workload_fields_check(L, row, what, 3, row_fields, ROW_FIELDS);
    kind_read(L, option, row, what);
    choices_read(L, option, row, what);
    range_read(L, option, row, what);
    if (lua_getfield(L, row, "help") != LUA_TNIL) {
        if (lua_type(L, -1) != LUA_TSTRING)
            script_fail(L, "%s: help is a text", what);
        option->help = workload_keep(L, lua_tostring(L, -1));
    }
    if (lua_getfield(L, row, "items") != LUA_TNIL && lua_toboolean(L, -1))
        option->flags = ASSAY_OPTION_ITEMS;
    lua_settop(L, row);
    size_t size = option_bytes(option->kind);
    *bytes = (*bytes + size - 1) / size * size;
    option->offset = *bytes;
    *bytes += size;
    return option;
}

/* A default that does not fit is told with the parameter's words, at the definition's line. */
static void default_check(lua_State *L, const struct assay_option *option)
{
    struct assay_error error = {0};
    struct option_value value;
    if (!option_default(option, script_scratch(L), &value, &error))
        script_fail(L, "the default of parameter %s", error.text);
}

void workload_params_read(lua_State *L, struct script_workload *workload)
{
    size_t bytes = sizeof(struct script_params_head);
    workload->workload.options = workload->option_rows;
    if (workload_field(L, "assay.workload", "params", LUA_TTABLE, "a list of parameters")) {
        size_t count = lua_rawlen(L, -1);
        int list = lua_gettop(L);
        if (count > PARAMS_MAX)
            script_fail(L, "params: at most %d are allowed", PARAMS_MAX);
        workload_fields_check(L, list, "params", (lua_Integer)count, NULL, 0);
        for (size_t i = 1; i <= count; i++) {
            lua_geti(L, list, (lua_Integer)i);
            struct assay_option *option = row_read(L, i, &bytes);
            default_check(L, option);
            workload->option_rows[i - 1] = option;
            lua_settop(L, list);
        }
        lua_pop(L, 1);
    }
    workload->workload.params_size = (bytes + 15) / 16 * 16;
}
