/* SPDX-License-Identifier: MIT */
/* assay.serial(), assay.pipelined{...}, ...: how batches are issued. */
#include "script/inside.h"

#include <string.h>

#define SCHEDULE "assay.schedule"

void schedule_push(lua_State *L, const struct schedule *schedule)
{
    *(struct schedule *)lua_newuserdatauv(L, sizeof(*schedule), 0) = *schedule;
    luaL_setmetatable(L, SCHEDULE);
}

/* Raises an error with what was called in front. */
static void fail_in(lua_State *L, const struct schedule *schedule, struct assay_error *error)
{
    error_prefix(error, "assay.%s", schedule_name(schedule->kind));
    script_raise(L, error);
}

/* The field NAME = VALUE, the two values on top. */
static void field_set(lua_State *L, struct schedule *schedule)
{
    const struct assay_option *const *options = schedule_options(schedule->kind);
    struct assay_error error = {0};
    struct option_value value;
    if (lua_type(L, -2) != LUA_TSTRING)
        script_fail(L, "assay.%s: [%s] is no name of a field", schedule_name(schedule->kind),
                    luaL_tolstring(L, -2, NULL));
    int index = option_find(options, lua_tostring(L, -2));
    if (index < 0) {
        option_unknown(options, schedule_name(schedule->kind), lua_tostring(L, -2), &error);
        script_raise(L, &error);
    }
    if (!value_for_option(L, lua_gettop(L), options[index], script_scratch(L), &value, &error))
        fail_in(L, schedule, &error);
    schedule_set(schedule, (size_t)index, &value);
}

/* Upvalue 1 is the kind. */
static int schedule_new(lua_State *L)
{
    struct schedule schedule = schedule_default(
        (enum schedule_kind)lua_tointeger(L, lua_upvalueindex(1)));
    struct assay_error error = {0};
    if (!lua_isnoneornil(L, 1)) {
        if (lua_type(L, 1) != LUA_TTABLE)
            script_fail(L, "assay.%s: a table of fields is wanted, not a %s",
                        schedule_name(schedule.kind), luaL_typename(L, 1));
        for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
            field_set(L, &schedule);
    }
    if (!schedule_check_given(&schedule, &error))
        fail_in(L, &schedule, &error);
    schedule_push(L, &schedule);
    return 1;
}

bool schedule_read(lua_State *L, int index, struct schedule *schedule, struct assay_error *error)
{
    const struct schedule *given = luaL_testudata(L, index, SCHEDULE);
    enum schedule_kind kind;
    if (given) {
        *schedule = *given;
        return true;
    }
    if (lua_type(L, index) != LUA_TSTRING)
        return assay_fail(
            error, ASSAY_INVALID, "schedule: one such as assay.serial() is wanted, not a %s%s",
            luaL_typename(L, index),
            lua_isfunction(L, index) ? "; call it: assay.pipelined{ depth = 2 }, assay.serial()"
                                     : "");
    if (!schedule_find(lua_tostring(L, index), &kind, error)) {
        error_prefix(error, "schedule");
        return false;
    }
    *schedule = schedule_default(kind);
    return true;
}

int schedule_member_push(lua_State *L, const struct schedule *schedule, const char *name)
{
    const struct assay_option *const *options = schedule_options(schedule->kind);
    struct option_value value;
    int index = option_find(options, name);
    if (strcmp(name, "name") == 0) {
        lua_pushstring(L, schedule_name(schedule->kind));
        return 1;
    }
    if (index < 0)
        return 0;
    option_load(options[index], schedule, &value);
    option_value_push(L, options[index], &value);
    return 1;
}

static int schedule_index(lua_State *L)
{
    const struct schedule *schedule = luaL_checkudata(L, 1, SCHEDULE);
    const char *name = luaL_tolstring(L, 2, NULL);
    struct assay_error error = {0};
    if (schedule_member_push(L, schedule, name))
        return 1;
    option_unknown(schedule_options(schedule->kind), schedule_name(schedule->kind), name, &error);
    script_raise(L, &error);
}

static int schedule_fixed(lua_State *L)
{
    script_fail(L, "a schedule cannot be changed; make another one");
}

static int schedule_text(lua_State *L)
{
    const struct schedule *schedule = luaL_checkudata(L, 1, SCHEDULE);
    struct text text = {0};
    schedule_add_label(schedule, &text);
    script_push_text(L, &text);
    return 1;
}

void schedule_functions_add(lua_State *L)
{
    for (int kind = 0; kind < SCHEDULE_KINDS; kind++) {
        if (!schedule_offered((enum schedule_kind)kind))
            continue;
        lua_pushinteger(L, kind);
        lua_pushcclosure(L, schedule_new, 1);
        lua_setfield(L, -2, schedule_name((enum schedule_kind)kind));
    }
}

void schedule_open(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__index", schedule_index},
                                    {"__newindex", schedule_fixed},
                                    {"__tostring", schedule_text},
                                    {NULL, NULL}};
    script_class(L, SCHEDULE, meta);
}
