/* SPDX-License-Identifier: MIT */
/* Quantities and metrics as Lua values. */
#include "script/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUANTITY "assay.quantity"
#define METRIC "assay.metric"
#define MAX_SAMPLES ((size_t)1 << 16) /* in a table */

void quantity_push(lua_State *L, struct quantity quantity)
{
    struct quantity *place = lua_newuserdatauv(L, sizeof(*place), 0);
    *place = quantity;
    luaL_setmetatable(L, QUANTITY);
}

struct quantity *quantity_test(lua_State *L, int index)
{
    return luaL_testudata(L, index, QUANTITY);
}

struct value_metric *metric_test(lua_State *L, int index)
{
    return luaL_testudata(L, index, METRIC);
}

static struct value_metric *metric_new(lua_State *L, const struct metric *metric, int operands)
{
    const char *name = metric->name ? metric->name : "value";
    size_t name_bytes = strlen(name) + 1;
    size_t absent_bytes = metric->absent ? strlen(metric->absent) + 1 : 0;
    struct value_metric *value = lua_newuserdatauv(L, sizeof(*value) + name_bytes + absent_bytes,
                                                   operands);
    char *strings = (char *)(value + 1);
    *value = (struct value_metric){.metric = *metric, .resolved = true};
    memcpy(strings, name, name_bytes);
    value->metric.name = strings;
    if (metric->absent) {
        memcpy(strings + name_bytes, metric->absent, absent_bytes);
        value->metric.absent = strings + name_bytes;
    }
    value->expression.metric = value->metric;
    luaL_setmetatable(L, METRIC);
    return value;
}

void metric_push(lua_State *L, const struct metric *metric, const struct plan_case *item,
                 const char *device)
{
    struct value_metric *value = metric_new(L, metric, 0);
    value->item = item;
    value->device = device;
    value->generation = script_of(L)->judging.generation;
}

/* A metric for an operand: it has to live as long as what is made of it. */
static const struct value_metric *operand_push(lua_State *L, int index)
{
    if (metric_test(L, index)) {
        lua_pushvalue(L, index);
    } else {
        struct value_metric value = metric_of(L, index, "arithmetic with a metric", NULL);
        metric_new(L, &value.metric, 0);
    }
    return metric_test(L, -1);
}

void metric_push_combined(lua_State *L, enum metric_operator by, int a, int b)
{
    struct assay_error error = {0};
    struct expression out;
    bool both = metric_test(L, a) && metric_test(L, b);
    const struct value_metric *left = operand_push(L, a), *right = operand_push(L, b);
    if (!expression_combine(by, &left->expression, &right->expression, script_scratch(L), &out,
                            &error))
        script_raise(L, &error);
    struct value_metric *value = metric_new(L, &out.metric, out.a ? 2 : 0);
    value->expression.by = out.by;
    value->expression.a = out.a;
    value->expression.b = out.b;
    value->expression.depth = out.depth;
    value->resolved = !out.a;
    const struct value_metric *from = metric_test(L, a) ? left : right;
    if (!both || (left->item == right->item && left->device == right->device)) {
        value->item = from->item;
        value->device = from->device;
    }
    lua_insert(L, -3);
    if (out.a) {
        lua_setiuservalue(L, -3, 2);
        lua_setiuservalue(L, -2, 1);
    } else {
        lua_pop(L, 2);
    }
}

void metric_rename(lua_State *L, const char *name)
{
    struct value_metric *value = metric_test(L, -1);
    value->metric.name = value->expression.metric.name = name;
}

/* An expression's leaf is a value_metric: its expression stands first. */
static bool leaf_turns(void *user, const struct expression *leaf, struct turns *turns,
                       uint64_t *group, struct assay_error *error)
{
    struct script *script = user;
    const struct value_metric *value = (const struct value_metric *)(const void *)leaf;
    *turns = (struct turns){0};
    if (!value->item || !script->judging.judge || value->generation != script->judging.generation)
        return true;
    *group = value->item->group;
    return result_turns(script, value->item, value->metric.name, turns, error);
}

void metric_resolve(lua_State *L, struct value_metric *value)
{
    struct script *script = script_of(L);
    struct assay_error error = {0};
    if (value->resolved)
        return;
    if (!expression_evaluate(&value->expression, script->plan->seed, leaf_turns, script,
                             &value->metric, &error))
        script_abort(L, &error);
    value->resolved = true;
    state_check_deadline(L);
}

struct quantity quantity_of(lua_State *L, int index, const char *what)
{
    struct quantity quantity = {0};
    struct assay_error error = {0};
    const struct quantity *given = quantity_test(L, index);
    if (given)
        return *given;
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        quantity.value = lua_tonumber(L, index);
        if (!(quantity.value - quantity.value == 0))
            script_fail(L, "%s: %s is not a finite number", what, luaL_tolstring(L, index, NULL));
        return quantity;
    case LUA_TSTRING:
        if (!quantity_parse(lua_tostring(L, index), &quantity, &error))
            script_fail(L, "%s: %s", what, error.text);
        return quantity;
    default:
        script_fail(L, "%s: a number or a quantity such as \"256 MiB\" is wanted, not a %s", what,
                    luaL_typename(L, index));
    }
}

struct value_metric metric_of(lua_State *L, int index, const char *what, const char **as_written)
{
    struct value_metric value = {0};
    struct value_metric *given = metric_test(L, index);
    if (as_written)
        *as_written = NULL;
    if (given) {
        metric_resolve(L, given);
        return *given;
    }
    struct quantity quantity = quantity_of(L, index, what);
    value.metric.dimension = quantity.dimension;
    value.metric.value = value.metric.low = value.metric.high = quantity.value;
    struct text text = {0};
    if (lua_type(L, index) == LUA_TSTRING)
        text_add_clean(&text, lua_tostring(L, index));
    else if (lua_type(L, index) == LUA_TNUMBER)
        number_add(&text, quantity.value);
    else
        quantity_add(&text, quantity.value, quantity.dimension);
    char *name = script_alloc(L, text.length + 1);
    memcpy(name, text_string(&text), text.length + 1);
    text_free(&text);
    value.metric.name = name;
    if (as_written)
        *as_written = name;
    return value;
}

/* assay.quantity(text or number or quantity) */
int quantity_new(lua_State *L)
{
    quantity_push(L, quantity_of(L, 1, "assay.quantity"));
    return 1;
}

/* assay.MiB(256); upvalue 1 is the unit's name. */
static int quantity_in_unit(lua_State *L)
{
    struct unit unit;
    struct assay_error error = {0};
    const char *name = lua_tostring(L, lua_upvalueindex(1));
    if (lua_type(L, 1) != LUA_TNUMBER)
        script_fail(L, "assay.%s: a number is wanted, not a %s", name, luaL_typename(L, 1));
    if (!unit_parse(name, &unit, &error))
        script_raise(L, &error);
    struct quantity quantity = {lua_tonumber(L, 1) * unit.scale, unit.dimension};
    if (!(quantity.value - quantity.value == 0))
        script_fail(L, "assay.%s: the number is not finite", name);
    quantity_push(L, quantity);
    return 1;
}

int quantity_unit_function(lua_State *L)
{
    struct unit unit;
    struct assay_error error = {0};
    if (!unit_parse(luaL_checkstring(L, 1), &unit, &error))
        script_raise(L, &error);
    lua_settop(L, 1);
    lua_pushcclosure(L, quantity_in_unit, 1);
    return 1;
}

static void push_result(lua_State *L, double value, struct dimension dimension)
{
    if (!(value - value == 0))
        script_fail(L, "the result of this arithmetic is not a finite number");
    if (dimension_is_number(dimension))
        lua_pushnumber(L, value);
    else
        quantity_push(L, (struct quantity){value, dimension});
}

static void same_dimension(lua_State *L, const char *verb, struct dimension a, struct dimension b)
{
    if (dimension_equal(a, b))
        return;
    lua_pushstring(L, dimension_words(a));
    script_fail(L, "%s %s and %s is not possible", verb, lua_tostring(L, -1), dimension_words(b));
}

static int quantity_arithmetic(lua_State *L, enum metric_operator operation)
{
    static const char what[] = "arithmetic with a quantity";
    if (metric_test(L, 1) || metric_test(L, 2)) { /* then it is the metric's business */
        metric_push_combined(L, operation, 1, 2);
        return 1;
    }
    struct quantity a = quantity_of(L, 1, what), b = quantity_of(L, 2, what);
    switch (operation) {
    case METRIC_ADD:
        same_dimension(L, "adding", a.dimension, b.dimension);
        push_result(L, a.value + b.value, a.dimension);
        break;
    case METRIC_SUBTRACT:
        same_dimension(L, "subtracting", a.dimension, b.dimension);
        push_result(L, a.value - b.value, a.dimension);
        break;
    case METRIC_MULTIPLY:
        push_result(L, a.value * b.value, dimension_product(a.dimension, b.dimension));
        break;
    case METRIC_DIVIDE:
        push_result(L, a.value / b.value, dimension_quotient(a.dimension, b.dimension));
        break;
    case METRIC_LARGER:
        same_dimension(L, "comparing", a.dimension, b.dimension);
        push_result(L, fmax(a.value, b.value), a.dimension);
        break;
    }
    return 1;
}

static int quantity_add_meta(lua_State *L)
{
    return quantity_arithmetic(L, METRIC_ADD);
}

static int quantity_subtract_meta(lua_State *L)
{
    return quantity_arithmetic(L, METRIC_SUBTRACT);
}

static int quantity_multiply_meta(lua_State *L)
{
    return quantity_arithmetic(L, METRIC_MULTIPLY);
}

static int quantity_divide_meta(lua_State *L)
{
    return quantity_arithmetic(L, METRIC_DIVIDE);
}

static int quantity_negate(lua_State *L)
{
    struct quantity quantity = *(struct quantity *)luaL_checkudata(L, 1, QUANTITY);
    quantity.value = -quantity.value;
    quantity_push(L, quantity);
    return 1;
}

static int metric_compare(lua_State *L)
{
    script_fail(L, "a metric has an interval and is not compared by an operator; write "
                   "expect(a):at_least(b), at_most, between, near or equals, or take a.value");
}

static void two_quantities(lua_State *L, struct quantity *a, struct quantity *b)
{
    if (metric_test(L, 1) || metric_test(L, 2))
        metric_compare(L);
    *a = quantity_of(L, 1, "comparing with a quantity");
    *b = quantity_of(L, 2, "comparing with a quantity");
    same_dimension(L, "comparing", a->dimension, b->dimension);
}

static int quantity_equal(lua_State *L)
{
    struct quantity a, b;
    two_quantities(L, &a, &b);
    lua_pushboolean(L, a.value == b.value);
    return 1;
}

static int quantity_less(lua_State *L)
{
    struct quantity a, b;
    two_quantities(L, &a, &b);
    lua_pushboolean(L, a.value < b.value);
    return 1;
}

static int quantity_less_equal(lua_State *L)
{
    struct quantity a, b;
    two_quantities(L, &a, &b);
    lua_pushboolean(L, a.value <= b.value);
    return 1;
}

static int quantity_text(lua_State *L)
{
    const struct quantity *quantity = luaL_checkudata(L, 1, QUANTITY);
    struct text text = {0};
    quantity_add(&text, quantity->value, quantity->dimension);
    script_push_text(L, &text);
    return 1;
}

/* q:to("MiB"): the number in that unit */
static int quantity_to(lua_State *L)
{
    const struct quantity *quantity = luaL_checkudata(L, 1, QUANTITY);
    struct unit unit;
    struct assay_error error = {0};
    if (!unit_parse(luaL_checkstring(L, 2), &unit, &error))
        script_raise(L, &error);
    same_dimension(L, "converting between", quantity->dimension, unit.dimension);
    lua_pushnumber(L, quantity->value / unit.scale);
    return 1;
}

static int quantity_index(lua_State *L)
{
    static const char *const names[] = {"value", "unit", "to"};
    const struct quantity *quantity = luaL_checkudata(L, 1, QUANTITY);
    const char *name = luaL_tolstring(L, 2, NULL);
    if (strcmp(name, "value") == 0)
        lua_pushnumber(L, quantity->value);
    else if (strcmp(name, "unit") == 0)
        lua_pushstring(L, dimension_symbol(quantity->dimension));
    else if (strcmp(name, "to") == 0)
        lua_pushcfunction(L, quantity_to);
    else
        script_unknown(L, "a quantity", "field", name, names, 3);
    return 1;
}

static int concatenate(lua_State *L)
{
    luaL_tolstring(L, 1, NULL);
    luaL_tolstring(L, 2, NULL);
    lua_concat(L, 2);
    return 1;
}

static int metric_add_meta(lua_State *L)
{
    metric_push_combined(L, METRIC_ADD, 1, 2);
    return 1;
}

static int metric_subtract_meta(lua_State *L)
{
    metric_push_combined(L, METRIC_SUBTRACT, 1, 2);
    return 1;
}

static int metric_multiply_meta(lua_State *L)
{
    metric_push_combined(L, METRIC_MULTIPLY, 1, 2);
    return 1;
}

static int metric_divide_meta(lua_State *L)
{
    metric_push_combined(L, METRIC_DIVIDE, 1, 2);
    return 1;
}

static int metric_negate(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushinteger(L, -1);
    metric_push_combined(L, METRIC_MULTIPLY, 1, 2);
    return 1;
}

static int metric_text(lua_State *L)
{
    struct value_metric *value = luaL_checkudata(L, 1, METRIC);
    struct text text = {0};
    metric_resolve(L, value);
    metric_add(&text, &value->metric);
    script_push_text(L, &text);
    return 1;
}

/* A table of the values turn by turn, or nil. */
static void push_samples(lua_State *L, const struct value_metric *value)
{
    struct script *script = script_of(L);
    struct assay_error error = {0};
    struct arena *scratch = script_scratch(L); /* making a table may raise: no owner there */
    double *values;
    size_t count;
    if (!expression_turns(&value->expression, leaf_turns, script, &values, &count, &error))
        script_abort(L, &error);
    if (count == 0) {
        lua_pushnil(L);
        return;
    }
    size_t shown = count < MAX_SAMPLES ? count : MAX_SAMPLES;
    double *kept = arena_alloc(scratch, shown * sizeof(*kept));
    if (kept)
        memcpy(kept, values, shown * sizeof(*kept));
    free(values);
    if (!kept)
        luaL_error(L, "not enough memory");
    lua_createtable(L, (int)shown, 0);
    for (size_t i = 0; i < shown; i++) {
        lua_pushnumber(L, kept[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static int metric_index(lua_State *L)
{
    static const char *const names[] = {"value",   "low",  "high",   "n",
                                        "samples", "unit", "absent", "name"};
    struct value_metric *value = luaL_checkudata(L, 1, METRIC);
    const struct metric *metric = &value->metric;
    const char *name = luaL_tolstring(L, 2, NULL);
    if (strcmp(name, "samples") == 0) {
        push_samples(L, value);
        return 1;
    }
    if (strcmp(name, "name") != 0 && strcmp(name, "unit") != 0)
        metric_resolve(L, value);
    if (strcmp(name, "absent") == 0)
        lua_pushstring(L, metric->absent);
    else if (strcmp(name, "name") == 0)
        lua_pushstring(L, metric->name);
    else if (strcmp(name, "unit") == 0)
        lua_pushstring(L, dimension_symbol(metric->dimension));
    else if (strcmp(name, "n") == 0)
        lua_pushinteger(L, (lua_Integer)metric->n);
    else if (strcmp(name, "value") != 0 && strcmp(name, "low") != 0 && strcmp(name, "high") != 0)
        script_unknown(L, "a metric", "field", name, names, sizeof(names) / sizeof(names[0]));
    else if (metric->absent)
        lua_pushnil(L);
    else
        lua_pushnumber(L, name[0] == 'v'   ? metric->value
                          : name[0] == 'l' ? metric->low
                                           : metric->high);
    return 1;
}

void values_open(lua_State *L)
{
    static const luaL_Reg quantity_meta[] = {
        {"__add", quantity_add_meta},      {"__sub", quantity_subtract_meta},
        {"__mul", quantity_multiply_meta}, {"__div", quantity_divide_meta},
        {"__unm", quantity_negate},        {"__eq", quantity_equal},
        {"__lt", quantity_less},           {"__le", quantity_less_equal},
        {"__tostring", quantity_text},     {"__concat", concatenate},
        {"__index", quantity_index},       {NULL, NULL}};
    static const luaL_Reg metric_meta[] = {
        {"__add", metric_add_meta},      {"__sub", metric_subtract_meta},
        {"__mul", metric_multiply_meta}, {"__div", metric_divide_meta},
        {"__unm", metric_negate},        {"__eq", metric_compare},
        {"__lt", metric_compare},        {"__le", metric_compare},
        {"__tostring", metric_text},     {"__concat", concatenate},
        {"__index", metric_index},       {NULL, NULL}};
    script_class(L, QUANTITY, quantity_meta);
    script_class(L, METRIC, metric_meta);
}
