/* SPDX-License-Identifier: MIT */
/* device:buffer{...} */
#include "script/device.h"

#include "base/hash.h"
#include "vulkan/buffer.h"
#include "vulkan/memory.h"
#include "vulkan/slot.h"

#include <string.h>

static const char *const roles[] = {
    [ASSAY_ROLE_SCRATCH] = "scratch", [ASSAY_ROLE_INPUT] = "input", [ASSAY_ROLE_OUTPUT] = "output"};

/* The index of a text among names; raises with the nearest one. */
static int choice_of(lua_State *L, const char *what, const char *const *names, size_t count)
{
    if (lua_type(L, -1) != LUA_TSTRING)
        script_fail(L, "%s: a text is wanted, not a %s", what, luaL_typename(L, -1));
    const char *given = lua_tostring(L, -1);
    for (size_t i = 0; i < count; i++)
        if (strcmp(given, names[i]) == 0)
            return (int)i;
    script_unknown(L, what, "value", given, names, count);
}

static void read_memory(lua_State *L, struct assay_buffer_params *params)
{
    const char *names[ASSAY_MEMORY_COUNT];
    for (int i = 0; i < ASSAY_MEMORY_COUNT; i++)
        names[i] = memory_name((enum assay_memory)i);
    if (lua_getfield(L, 2, "memory") != LUA_TNIL)
        params->memory = (enum assay_memory)choice_of(L, "device:buffer memory", names,
                                                      ASSAY_MEMORY_COUNT);
    lua_pop(L, 1);
}

/* What is filled is an input, which is filled again before verification; what is not, an output,
 * which is poisoned. `role` says otherwise. */
static void read_role(lua_State *L, const struct assay_slot *slot,
                      struct assay_buffer_params *params)
{
    bool filled = lua_getfield(L, 2, "fill") != LUA_TNIL;
    params->role = filled ? ASSAY_ROLE_INPUT : ASSAY_ROLE_OUTPUT;
    if (filled)
        params->fill = script_fill_of(L, -1, "device:buffer fill", params->bytes,
                                      random_child(slot->seed, slot->buffer_count));
    lua_pop(L, 1);
    if (lua_getfield(L, 2, "role") != LUA_TNIL)
        params->role = (enum assay_role)choice_of(L, "device:buffer role", roles, 3);
    lua_pop(L, 1);
    if (filled && params->role != ASSAY_ROLE_INPUT)
        script_fail(L,
                    "device:buffer: a buffer with a fill has the role input, not %s; leave out "
                    "one of both",
                    roles[params->role]);
}

int script_buffer_new(lua_State *L)
{
    static const char *const fields[] = {"bytes", "fill", "memory", "name", "role"};
    struct script_device *device = script_device_check(L, 1, "device:buffer");
    struct assay_buffer_params params = {.size = sizeof(params)};
    struct assay_error error = {0};
    lua_settop(L, 2);
    if (!lua_istable(L, 2))
        script_fail(L, "device:buffer: a table such as { bytes = \"1 MiB\" } is wanted, not a %s",
                    luaL_typename(L, 2));
    script_check_fields(L, 2, "device:buffer", fields, sizeof(fields) / sizeof(fields[0]));
    struct assay_slot *slot = script_device_maker(L, device, "device:buffer");
    lua_getfield(L, 2, "bytes");
    params.bytes = script_bytes_of(L, -1, "device:buffer bytes", 1);
    lua_pop(L, 1);
    read_memory(L, &params);
    read_role(L, slot, &params);
    if (lua_getfield(L, 2, "name") != LUA_TNIL) {
        if (lua_type(L, -1) != LUA_TSTRING)
            script_fail(L, "device:buffer name: a text is wanted, not a %s", luaL_typename(L, -1));
        params.name = lua_tostring(L, -1);
    }
    struct assay_buffer *buffer = assay_buffer_create(slot, &params, &error);
    if (!buffer)
        script_raise_status(L, &error);
    script_object_push(L, SCRIPT_BUFFER, device, buffer);
    return 1;
}

struct assay_buffer *script_buffer_check(lua_State *L, int index, const char *what)
{
    return script_object_check(L, index, SCRIPT_BUFFER, what)->object;
}

static int buffer_index(lua_State *L)
{
    static const char *const names[] = {"bytes", "memory", "name", "role", "read"};
    const struct assay_buffer *buffer = script_buffer_check(L, 1, "buffer");
    const char *name = luaL_tolstring(L, 2, NULL);
    if (strcmp(name, "bytes") == 0)
        lua_pushinteger(L, (lua_Integer)buffer->params.bytes);
    else if (strcmp(name, "memory") == 0)
        lua_pushstring(L, memory_name(buffer->params.memory));
    else if (strcmp(name, "name") == 0)
        lua_pushstring(L, buffer->name);
    else if (strcmp(name, "role") == 0)
        lua_pushstring(L, roles[buffer->params.role]);
    else if (strcmp(name, "read") == 0)
        lua_pushcfunction(L, script_view_read);
    else
        script_unknown(L, "a buffer", "member", name, names, sizeof(names) / sizeof(names[0]));
    return 1;
}

static int buffer_text(lua_State *L)
{
    const struct assay_buffer *buffer = script_buffer_check(L, 1, "buffer");
    struct text text = {0};
    text_addf(&text, "buffer '%s' of ", buffer->name);
    quantity_add(&text, (double)buffer->params.bytes, (struct dimension){.bytes = 1});
    script_push_text(L, &text);
    return 1;
}

void script_buffer_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"__index", buffer_index},
                                         {"__gc", script_object_collect},
                                         {"__tostring", buffer_text},
                                         {NULL, NULL}};
    script_class(L, SCRIPT_BUFFER, functions);
}
