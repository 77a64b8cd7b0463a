/* SPDX-License-Identifier: MIT */
/* buffer:read(type): a typed, read-only view of what a buffer held. */
#include "script/device.h"

#include "base/os.h"
#include "vulkan/buffer.h"
#include "vulkan/partner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VIEW "assay.view"
/* Lua does not see how large views are: garbage is collected when this much is held. */
#define HELD_MAX ((size_t)256 << 20)
#define LEFT_MIN (UINT64_C(256) << 20) /* for the rest of the machine */

static size_t view_size(const struct view *view)
{
    return (size_t)view->count * element_bytes(view->element);
}

static void view_free(lua_State *L, struct view *view)
{
    if (view->data)
        script_of(L)->view_bytes -= view_size(view);
    free(view->data);
    view->data = NULL;
    view->count = 0; /* finalizers of a script may still look at it */
}

static int view_collect(lua_State *L)
{
    view_free(L, lua_touserdata(L, 1));
    return 0;
}

/* The elements to read: raises where they are not inside. */
static void read_range(lua_State *L, struct view *view, uint64_t bytes, uint64_t *offset)
{
    static const char *const fields[] = {"offset", "count"};
    const size_t width = element_bytes(view->element);
    bool counted = false;
    *offset = 0;
    if (!lua_isnoneornil(L, 3)) {
        if (!lua_istable(L, 3))
            script_fail(L,
                        "buffer:read: a table such as { offset = 0, count = 16 } is wanted, not "
                        "a %s",
                        luaL_typename(L, 3));
        script_check_fields(L, 3, "buffer:read", fields, 2);
        if (lua_getfield(L, 3, "offset") != LUA_TNIL)
            *offset = script_bytes_of(L, -1, "buffer:read offset", 0);
        counted = lua_getfield(L, 3, "count") != LUA_TNIL;
        if (counted)
            view->count = script_bytes_of(L, -1, "buffer:read count", 1);
        lua_pop(L, 2);
    }
    uint64_t left = *offset <= bytes ? bytes - *offset : 0;
    if (!counted)
        view->count = left / width;
    if (*offset > bytes || view->count > left / width)
        script_fail(L,
                    "buffer '%s' has %" PRIu64 " B; %" PRIu64 " elements of %s from offset "
                    "%" PRIu64 " on are not all inside",
                    view->name, bytes, view->count, element_name(view->element), *offset);
    if (!counted && left % width != 0)
        script_fail(L, "buffer '%s': its %" PRIu64 " B are no whole number of %s, which has %zu B",
                    view->name, left, element_name(view->element), width);
}

struct view *script_view_new(lua_State *L, const char *name, enum assay_element element)
{
    struct view *view = lua_newuserdatauv(L, sizeof(*view), 0);
    *view = (struct view){.element = element};
    luaL_setmetatable(L, VIEW);
    snprintf(view->name, sizeof(view->name), "%s", name);
    return view;
}

/* Lua's limit does not hold for views, which are as large as buffers: the machine's memory does. */
static void check_room(lua_State *L, const struct view *view, size_t bytes)
{
    struct script *script = script_of(L);
    if (script->view_bytes <= HELD_MAX && bytes <= HELD_MAX)
        return;
    lua_gc(L, LUA_GCCOLLECT);
    const uint64_t left = os_memory_available();
    if (left < LEFT_MIN || bytes > left - LEFT_MIN)
        script_fail(L,
                    "no memory for a view of %s of %zu B: the script holds views of %zu B, the "
                    "machine has %" PRIu64 " B left; read a part, or keep fewer views",
                    view->name, bytes, script->view_bytes, left);
}

void script_view_allocate(lua_State *L, struct view *view, uint64_t count)
{
    const size_t bytes = (size_t)count * element_bytes(view->element);
    view->count = 0;
    check_room(L, view, bytes);
    view->data = malloc(bytes + 1);
    if (!view->data)
        luaL_error(L, "not enough memory");
    view->count = count;
    script_of(L)->view_bytes += bytes;
}

int script_view_read(lua_State *L)
{
    struct assay_error error = {0};
    uint64_t offset;
    lua_settop(L, 3);
    struct assay_buffer *buffer = script_buffer_check(L, 1, "buffer:read");
    enum assay_element element = script_element_of(L, 2, "buffer:read");
    struct view *view = script_view_new(L, buffer->name, element);
    read_range(L, view, buffer->params.bytes, &offset);
    script_view_allocate(L, view, view->count);
    if (!partner_read(buffer, offset, view_size(view), view->data, &error)) {
        view_free(L, view);
        script_raise_status(L, &error);
    }
    return 1;
}

struct view *script_view_test(lua_State *L, int index)
{
    return luaL_testudata(L, index, VIEW);
}

/* Runs for every element of every reference: the metatable cannot be had by scripts, so the first
 * value is a view. */
static int view_index(lua_State *L)
{
    static const char *const names[] = {"name", "type"};
    const struct view *view = lua_touserdata(L, 1);
    int whole;
    lua_Integer index = lua_tointegerx(L, 2, &whole);
    if (whole && (lua_Unsigned)index - 1 < view->count) {
        if (element_is_whole(view->element))
            lua_pushinteger(L, element_whole(view->element, view->data, (uint64_t)index - 1));
        else
            lua_pushnumber(L, element_real(view->element, view->data, (uint64_t)index - 1));
        return 1;
    }
    if (lua_type(L, 2) == LUA_TNUMBER)
        script_fail(L,
                    "a view of %s has %" PRIu64 " elements; [%s] is outside, allowed are 1 to "
                    "%" PRIu64,
                    view->name, view->count, luaL_tolstring(L, 2, NULL), view->count);
    const char *name = luaL_tolstring(L, 2, NULL);
    if (strcmp(name, "type") == 0)
        lua_pushstring(L, element_name(view->element));
    else if (strcmp(name, "name") == 0)
        lua_pushstring(L, view->name);
    else
        script_unknown(L, "a view", "member", name, names, sizeof(names) / sizeof(names[0]));
    return 1;
}

static int view_length(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)((const struct view *)lua_touserdata(L, 1))->count);
    return 1;
}

static int view_fixed(lua_State *L)
{
    script_fail(L, "a view is read-only: it holds what the buffer held when it was read");
}

static int view_text(lua_State *L)
{
    const struct view *view = lua_touserdata(L, 1);
    struct text text = {0};
    text_addf(&text, "view of %s: %" PRIu64 " elements of %s", view->name, view->count,
              element_name(view->element));
    script_push_text(L, &text);
    return 1;
}

void script_view_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"__index", view_index},   {"__newindex", view_fixed},
                                         {"__len", view_length},    {"__gc", view_collect},
                                         {"__tostring", view_text}, {NULL, NULL}};
    script_class(L, VIEW, functions);
}
