/* SPDX-License-Identifier: MIT */
/* assay.compare(view, reference, tolerances), assay.f32, assay.f16 */
#include "script/device.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COMPARISON "assay.comparison"
#define CHECK_EVERY 4096 /* elements between looks at the deadline */

static double tolerance_of(lua_State *L, const char *name)
{
    double value = 0;
    if (lua_getfield(L, 3, name) != LUA_TNIL) {
        if (lua_type(L, -1) != LUA_TNUMBER)
            script_fail(L, "assay.compare %s: a number is wanted, not a %s", name,
                        luaL_typename(L, -1));
        value = lua_tonumber(L, -1);
        if (!isfinite(value) || value < 0)
            script_fail(L, "assay.compare %s is %s; a finite number of at least 0 is wanted", name,
                        luaL_tolstring(L, -1, NULL));
    }
    lua_pop(L, 1);
    return value;
}

static void read_tolerances(lua_State *L, struct closeness *allowed)
{
    static const char *const fields[] = {"absolute", "relative", "ulp"};
    if (lua_isnil(L, 3))
        return;
    if (!lua_istable(L, 3))
        script_fail(L, "assay.compare: tolerances such as { relative = 1e-6 } are wanted, not a %s",
                    luaL_typename(L, 3));
    script_check_fields(L, 3, "assay.compare", fields, 3);
    *allowed = (struct closeness){tolerance_of(L, "absolute"), tolerance_of(L, "relative"),
                                  tolerance_of(L, "ulp")};
}

static struct number element_at(const struct view *view, uint64_t index)
{
    if (element_is_whole(view->element))
        return (struct number){.whole = true,
                               .bits = element_whole(view->element, view->data, index)};
    return (struct number){.real = element_real(view->element, view->data, index)};
}

/* The number on top. Whole elements are compared as such. */
static struct number number_of(lua_State *L, enum assay_element element)
{
    if (lua_isinteger(L, -1) && element_is_whole(element))
        return (struct number){.whole = true, .bits = lua_tointeger(L, -1)};
    return (struct number){.real = lua_tonumber(L, -1)};
}

static void look_at_deadline(lua_State *L, uint64_t index)
{
    if (index % CHECK_EVERY == 0)
        state_check_deadline(L);
}

/* Whole numbers of two types are compared by their bits, where these mean the same. */
static struct number as_element(struct number number, enum assay_element from,
                                enum assay_element to)
{
    bool differ = (from == ASSAY_ELEMENT_UINT64) != (to == ASSAY_ELEMENT_UINT64);
    if (!number.whole || number.bits >= 0 || !differ)
        return number;
    return (struct number){.real = from == ASSAY_ELEMENT_UINT64 ? (double)(uint64_t)number.bits
                                                                : (double)number.bits};
}

static void compare_views(lua_State *L, struct comparison *comparison, const struct view *view,
                          const struct view *reference)
{
    for (uint64_t i = 0; i < view->count; i++) {
        const struct number got = element_at(view, i);
        const struct number wanted = as_element(element_at(reference, i), reference->element,
                                                view->element);
        comparison_add(comparison, &got, &wanted);
        look_at_deadline(L, i);
    }
}

static void compare_number(lua_State *L, struct comparison *comparison, const struct view *view)
{
    lua_pushvalue(L, 2);
    const struct number wanted = number_of(L, view->element);
    lua_pop(L, 1);
    for (uint64_t i = 0; i < view->count; i++) {
        const struct number got = element_at(view, i);
        comparison_add(comparison, &got, &wanted);
        look_at_deadline(L, i);
    }
}

static void compare_function(lua_State *L, struct comparison *comparison, const struct view *view)
{
    for (uint64_t i = 0; i < view->count; i++) {
        lua_pushvalue(L, 2);
        lua_pushinteger(L, (lua_Integer)i + 1);
        lua_call(L, 1, 1);
        if (lua_type(L, -1) != LUA_TNUMBER)
            script_fail(L,
                        "assay.compare: the reference gave %s for element %" PRIu64 ", a number "
                        "is wanted",
                        luaL_tolstring(L, -1, NULL), i + 1);
        const struct number got = element_at(view, i), wanted = number_of(L, view->element);
        comparison_add(comparison, &got, &wanted);
        lua_pop(L, 1);
        look_at_deadline(L, i);
    }
}

static void compare_all(lua_State *L, struct comparison *comparison, const struct view *view)
{
    const struct view *reference = script_view_test(L, 2);
    if (reference && reference->count != view->count)
        script_fail(L, "assay.compare: %s has %" PRIu64 " elements, its reference %s has %" PRIu64,
                    view->name, view->count, reference->name, reference->count);
    if (reference)
        compare_views(L, comparison, view, reference);
    else if (lua_type(L, 2) == LUA_TNUMBER)
        compare_number(L, comparison, view);
    else if (lua_isfunction(L, 2))
        compare_function(L, comparison, view);
    else
        script_fail(L,
                    "assay.compare: the reference is a view, a number or a function of the "
                    "index, not %s",
                    script_shown(L, 2));
}

int script_compare(lua_State *L)
{
    lua_settop(L, 3);
    const struct view *view = script_view_test(L, 1);
    int line;
    if (!view)
        script_fail(L, "assay.compare: a view (buffer:read \"float\") is wanted first, not %s",
                    script_shown(L, 1));
    struct comparison *comparison = lua_newuserdatauv(L, sizeof(*comparison), 0);
    *comparison = (struct comparison){.element = view->element};
    luaL_setmetatable(L, COMPARISON);
    memcpy(comparison->name, view->name, sizeof(comparison->name));
    const struct chunk *chunk = state_place(L, &line);
    if (chunk)
        snprintf(comparison->place, sizeof(comparison->place), "%s:%d", chunk->path, line);
    read_tolerances(L, &comparison->allowed);
    compare_all(L, comparison, view);
    return 1;
}

struct comparison *script_comparison_test(lua_State *L, int index)
{
    return luaL_testudata(L, index, COMPARISON);
}

static void push_number(lua_State *L, const struct number *number)
{
    if (number->whole)
        lua_pushinteger(L, number->bits);
    else
        lua_pushnumber(L, number->real);
}

static int comparison_index(lua_State *L)
{
    static const char *const names[] = {"right", "error", "count", "wrong",
                                        "index", "got",   "wanted"};
    const struct comparison *comparison = lua_touserdata(L, 1);
    const char *name = luaL_tolstring(L, 2, NULL);
    if (strcmp(name, "right") == 0)
        lua_pushboolean(L, comparison->wrong == 0);
    else if (strcmp(name, "error") == 0)
        lua_pushnumber(L, comparison->largest);
    else if (strcmp(name, "count") == 0)
        lua_pushinteger(L, (lua_Integer)comparison->count);
    else if (strcmp(name, "wrong") == 0)
        lua_pushinteger(L, (lua_Integer)comparison->wrong);
    else if (strcmp(name, "index") != 0 && strcmp(name, "got") != 0 && strcmp(name, "wanted") != 0)
        script_unknown(L, "a comparison", "member", name, names, sizeof(names) / sizeof(names[0]));
    else if (comparison->wrong == 0)
        lua_pushnil(L);
    else if (strcmp(name, "index") == 0)
        lua_pushinteger(L, (lua_Integer)comparison->first + 1);
    else
        push_number(L, strcmp(name, "got") == 0 ? &comparison->got : &comparison->wanted);
    return 1;
}

static int comparison_text(lua_State *L)
{
    const struct comparison *comparison = lua_touserdata(L, 1);
    struct text text = {0};
    if (comparison->wrong)
        comparison_describe(comparison, &text);
    else
        text_addf(&text, "%s: all %" PRIu64 " elements are right", comparison->name,
                  comparison->count);
    script_push_text(L, &text);
    return 1;
}

static double given_number(lua_State *L, const char *what)
{
    if (lua_type(L, 1) != LUA_TNUMBER)
        script_fail(L, "%s: a number is wanted, not a %s", what, luaL_typename(L, 1));
    return lua_tonumber(L, 1);
}

int script_f32(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)(float)given_number(L, "assay.f32"));
    return 1;
}

int script_f16(lua_State *L)
{
    lua_pushnumber(L, half_to_real(half_from_real(given_number(L, "assay.f16"))));
    return 1;
}

void script_compare_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"__index", comparison_index}, {"__tostring", comparison_text}, {NULL, NULL}};
    script_class(L, COMPARISON, functions);
}
