/* SPDX-License-Identifier: MIT */
/* assay.model and r:what_if. The models themselves are in model.lua. */
#include "script/inside.h"

#include "base/json.h"

#include <string.h>

#include "model.h" /* generated from model.lua */

#define WHAT_IF "assay.model.what_if" /* in the registry: what_if of model.lua */
#define MAX_NAMES 256

static const struct dimension time_dimension = {.seconds = 1};

/* fail(text) */
static int model_fail(lua_State *L)
{
    script_fail(L, "%s", luaL_checkstring(L, 1));
}

/* larger(a, b): two times as time_of gives them */
static int model_larger(lua_State *L)
{
    const struct quantity *a = quantity_test(L, 1), *b = quantity_test(L, 2);
    if (a && b)
        lua_pushvalue(L, a->value >= b->value ? 1 : 2);
    else
        metric_push_combined(L, METRIC_LARGER, 1, 2);
    return 1;
}

/* is_metric(time) */
static int model_is_metric(lua_State *L)
{
    lua_pushboolean(L, metric_test(L, 1) != NULL);
    return 1;
}

/* estimate(time): in s, without a look at the samples; nil when it is absent */
static int model_estimate(lua_State *L)
{
    const struct quantity *quantity = quantity_test(L, 1);
    const struct value_metric *metric = metric_test(L, 1);
    if (quantity)
        lua_pushnumber(L, quantity->value);
    else if (metric && !metric->expression.metric.absent)
        lua_pushnumber(L, metric->expression.metric.value);
    else
        lua_pushnil(L);
    return 1;
}

/* time_of(value, what): a metric as it is, else a quantity */
static int model_time_of(lua_State *L)
{
    const char *what = luaL_checkstring(L, 2);
    const struct value_metric *metric = metric_test(L, 1);
    struct dimension dimension;
    if (metric) {
        const struct metric *figures = &metric->expression.metric;
        dimension = figures->absent ? time_dimension : figures->dimension;
    } else {
        struct quantity quantity = quantity_of(L, 1, what);
        dimension = quantity.dimension;
        if (dimension_equal(dimension, time_dimension) && quantity.value < 0)
            script_fail(L, "%s: a time cannot be under 0", what);
        quantity_push(L, quantity);
        lua_replace(L, 1);
    }
    if (!dimension_equal(dimension, time_dimension))
        script_fail(L, "%s: a time such as \"100 ms\" is wanted, not %s", what,
                    dimension_words(dimension));
    lua_settop(L, 1);
    return 1;
}

/* unknown(what, kind, name, names) */
static int model_unknown(lua_State *L)
{
    const char *names[MAX_NAMES];
    size_t count = 0;
    luaL_checkstack(L, MAX_NAMES, "too many names");
    for (size_t i = 1; i <= lua_rawlen(L, 4) && count < MAX_NAMES; i++)
        if (lua_rawgeti(L, 4, (lua_Integer)i) == LUA_TSTRING) /* stays on the stack */
            names[count++] = lua_tostring(L, -1);
    script_unknown(L, luaL_checkstring(L, 1), luaL_checkstring(L, 2), luaL_checkstring(L, 3), names,
                   count);
}

void model_open(lua_State *L)
{
    static const luaL_Reg help[] = {{"estimate", model_estimate},
                                    {"fail", model_fail},
                                    {"is_metric", model_is_metric},
                                    {"larger", model_larger},
                                    {"time_of", model_time_of},
                                    {"unknown", model_unknown},
                                    {NULL, NULL}};
    if (luaL_loadbufferx(L, (const char *)model_source, sizeof(model_source), "=assay", "t") !=
        LUA_OK)
        lua_error(L);
    lua_newtable(L);
    lua_setfield(L, -3, "model");
    lua_pushvalue(L, -2);
    luaL_newlib(L, help);
    lua_call(L, 2, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, WHAT_IF);
}

/* What the record says of batches in flight; NULL: there was one at a time. */
static const json_t *pipeline_of(lua_State *L, const struct plan_case *item)
{
    const char *reason;
    struct lazy *record = result_record(L, item, &reason);
    return record ? lazy_member(record, "pipeline") : NULL;
}

/* The group of the stage in the record, or the stage itself. */
static const char *group_of(const json_t *pipeline, const char *stage)
{
    size_t i, k;
    json_t *group, *entry;
    json_array_foreach(json_object_get(pipeline, "groups"), i, group)
    {
        json_array_foreach(json_object_get(group, "stages"), k, entry)
        {
            if (strcmp(json_text(entry, "name", ""), stage) == 0)
                return json_text(group, "name", stage);
        }
    }
    return stage;
}

/* Pushes { name =, time =, group = }. */
static void push_stage(lua_State *L, const struct plan_case *item, const char *name)
{
    struct metric time;
    lua_createtable(L, 0, 3);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, group_of(pipeline_of(L, item), name));
    lua_setfield(L, -2, "group");
    lua_pushfstring(L, "%s.time", name);
    result_metric(L, item, lua_tostring(L, -1), time_dimension, &time);
    metric_push(L, &time, item, result_device_label(L, item));
    lua_setfield(L, -3, "time");
    lua_pop(L, 1);
}

static bool stage_ran(lua_State *L, const struct plan_case *item, const char *name)
{
    struct metric time;
    lua_pushfstring(L, "%s.time", name);
    result_metric(L, item, lua_tostring(L, -1), time_dimension, &time);
    lua_pop(L, 1);
    return !time.absent;
}

/* Pushes the stages of the case; those that it does not have with its parameters are left out,
 * unless it has no other. */
static void push_stages(lua_State *L, const struct plan_case *item)
{
    const struct catalog_workload *workload = item->workload;
    lua_Integer count = 0;
    lua_newtable(L);
    for (size_t i = 0; i < workload->stage_count; i++) {
        if (!stage_ran(L, item, workload->stages[i].name))
            continue;
        push_stage(L, item, workload->stages[i].name);
        lua_rawseti(L, -2, ++count);
    }
    for (size_t i = 0; count == 0 && i < workload->stage_count; i++) {
        push_stage(L, item, workload->stages[i].name);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void model_what_if(lua_State *L, const struct plan_case *item, int factors, int how)
{
    lua_getfield(L, LUA_REGISTRYINDEX, WHAT_IF);
    lua_pushliteral(L, "what_if");
    push_stages(L, item);
    lua_pushinteger(L, (lua_Integer)json_whole(pipeline_of(L, item), "depth", 1));
    lua_pushvalue(L, factors);
    lua_pushvalue(L, how);
    lua_call(L, 5, 1);
}
