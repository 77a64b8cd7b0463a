/* SPDX-License-Identifier: MIT */
/* cmd: what a stage records. */
#include "script/device.h"

#include "vulkan/buffer.h"
#include "vulkan/command.h"
#include "vulkan/partner.h"

#include <string.h>

#define COMMAND "assay.command"

struct handle { /* the userdata */
    unsigned recording;
};

void script_command_push(lua_State *L, struct assay_command *command)
{
    struct script *script = script_of(L);
    struct handle *handle = lua_newuserdatauv(L, sizeof(*handle), 0);
    luaL_setmetatable(L, COMMAND);
    handle->recording = ++script->recordings;
    script->recording = command;
}

void script_command_expire(struct script *script)
{
    script->recording = NULL;
}

static struct assay_command *command_check(lua_State *L, const char *what)
{
    const struct handle *handle = luaL_testudata(L, 1, COMMAND);
    const struct script *script = script_of(L);
    if (!handle)
        script_fail(L, "%s: a cmd is wanted, not a %s; write %s(...), with a colon", what,
                    luaL_typename(L, 1), what);
    if (!script->recording || handle->recording != script->recordings)
        script_fail(L,
                    "%s: this cmd is of a recording that has ended: a stage is recorded once, in "
                    "its `record`, and replayed without Lua",
                    what);
    return script->recording;
}

/* The buffer or kernel at `index`, which has to be of the slot that is recorded: others may go
 * before it does. */
static void *own_check(lua_State *L, const struct assay_command *command, int index,
                       const char *class, const char *what)
{
    const struct script_object *object = script_object_check(L, index, class, what);
    if (script_device_slot(L, object->device, what) != command_slot(command))
        script_fail(L,
                    "%s: this %s was made in another slot; each slot makes its own, in `slot`, and "
                    "keeps it in `s`",
                    what, class + strlen("assay."));
    return object->object;
}

static void done(lua_State *L, bool good, const struct assay_error *error)
{
    if (!good)
        script_raise_status(L, error);
}

/* A size in the options table at `index` (0 where it is not given). */
static uint64_t size_field(lua_State *L, int index, const char *what, const char *name,
                           uint64_t least)
{
    uint64_t bytes = 0;
    if (!lua_istable(L, index))
        return 0;
    if (lua_getfield(L, index, name) != LUA_TNIL) {
        lua_pushfstring(L, "%s %s", what, name);
        bytes = script_bytes_of(L, -2, lua_tostring(L, -1), least);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return bytes;
}

static void check_options(lua_State *L, int index, const char *what, const char *const *names,
                          size_t count)
{
    if (lua_isnoneornil(L, index))
        return;
    if (!lua_istable(L, index))
        script_fail(L, "%s: a table of options is wanted, not a %s", what, luaL_typename(L, index));
    script_check_fields(L, index, what, names, count);
}

static const char *const range_fields[] = {"offset", "bytes"};

static int transfer(lua_State *L, const char *what, bool download)
{
    struct assay_command *command = command_check(L, what);
    struct assay_error error = {0};
    lua_settop(L, 3);
    struct assay_buffer *buffer = own_check(L, command, 2, SCRIPT_BUFFER, what);
    check_options(L, 3, what, range_fields, 2);
    uint64_t offset = size_field(L, 3, what, "offset", 0),
             bytes = size_field(L, 3, what, "bytes", 1);
    done(L,
         download ? partner_download(command, buffer, offset, bytes, &error)
                  : partner_upload(command, buffer, offset, bytes, &error),
         &error);
    return 0;
}

static int command_upload(lua_State *L)
{
    return transfer(L, "cmd:upload", false);
}

static int command_download(lua_State *L)
{
    return transfer(L, "cmd:download", true);
}

/* cmd:copy(destination, source, { bytes =, destination_offset =, source_offset = }) */
static int command_copy(lua_State *L)
{
    static const char what[] = "cmd:copy";
    static const char *const fields[] = {"bytes", "destination_offset", "source_offset"};
    struct assay_command *command = command_check(L, what);
    struct assay_error error = {0};
    lua_settop(L, 4);
    struct assay_buffer *destination = own_check(L, command, 2, SCRIPT_BUFFER,
                                                 "cmd:copy destination");
    struct assay_buffer *source = own_check(L, command, 3, SCRIPT_BUFFER, "cmd:copy source");
    check_options(L, 4, what, fields, 3);
    uint64_t to = size_field(L, 4, what, "destination_offset", 0);
    uint64_t from = size_field(L, 4, what, "source_offset", 0);
    uint64_t bytes = size_field(L, 4, what, "bytes", 1);
    if (bytes == 0 && from < source->params.bytes)
        bytes = source->params.bytes - from;
    done(L, assay_command_copy(command, destination, to, source, from, bytes, &error), &error);
    return 0;
}

/* cmd:fill(buffer, value, { offset =, bytes = }) */
static int command_fill(lua_State *L)
{
    static const char what[] = "cmd:fill";
    struct assay_command *command = command_check(L, what);
    struct assay_error error = {0};
    lua_settop(L, 4);
    struct assay_buffer *buffer = own_check(L, command, 2, SCRIPT_BUFFER, what);
    uint32_t word = script_fill_word(L, 3, "cmd:fill value");
    check_options(L, 4, what, range_fields, 2);
    uint64_t offset = size_field(L, 4, what, "offset", 0),
             bytes = size_field(L, 4, what, "bytes", 1);
    if (bytes == 0 && offset < buffer->params.bytes)
        bytes = buffer->params.bytes - offset;
    done(L, assay_command_fill(command, buffer, offset, bytes, word, &error), &error);
    return 0;
}

/* x = buffer, or x = { buffer, offset =, bytes = } */
static void read_binding(lua_State *L, const struct assay_command *command, const char *name,
                         struct assay_binding *binding)
{
    static const char *const fields[] = {"[1]", "offset", "bytes"};
    int value = lua_gettop(L);
    const char *what = lua_pushfstring(L, "cmd:dispatch binding '%s'", name);
    *binding = (struct assay_binding){.name = name};
    if (lua_istable(L, value)) {
        script_check_fields(L, value, what, fields, 3);
        binding->offset = size_field(L, value, what, "offset", 0);
        binding->bytes = size_field(L, value, what, "bytes", 1);
        lua_geti(L, value, 1);
        binding->buffer = own_check(L, command, -1, SCRIPT_BUFFER, what);
    } else {
        binding->buffer = own_check(L, command, value, SCRIPT_BUFFER, what);
    }
    lua_settop(L, value);
}

static void read_bindings(lua_State *L, const struct assay_command *command,
                          struct assay_dispatch *dispatch)
{
    struct script_named *names;
    if (lua_isnoneornil(L, 3))
        return;
    if (!lua_istable(L, 3) || luaL_getmetafield(L, 3, "__index") != LUA_TNIL)
        script_fail(L, "cmd:dispatch: bindings such as { x = s.x } are wanted, not a %s",
                    luaL_typename(L, 3));
    size_t count = script_names(L, 3, "cmd:dispatch bindings", &names);
    struct assay_binding *bindings = script_alloc(L, (count + 1) * sizeof(*bindings));
    for (size_t i = 0; i < count; i++) {
        script_named_push(L, 3, &names[i]);
        read_binding(L, command, names[i].name, &bindings[i]);
        lua_pop(L, 1);
    }
    dispatch->bindings = bindings;
    dispatch->binding_count = count;
}

static void read_pushes(lua_State *L, struct assay_dispatch *dispatch)
{
    struct script_named *names;
    if (lua_isnoneornil(L, 4))
        return;
    if (!lua_istable(L, 4))
        script_fail(L, "cmd:dispatch: push constants such as { n = p.n } are wanted, not a %s",
                    luaL_typename(L, 4));
    size_t count = script_names(L, 4, "cmd:dispatch push constants", &names);
    struct assay_push *pushes = script_alloc(L, (count + 1) * sizeof(*pushes));
    for (size_t i = 0; i < count; i++) {
        script_named_push(L, 4, &names[i]);
        pushes[i] = (struct assay_push){
            names[i].name, script_number_of(L, "cmd:dispatch push constant", names[i].name)};
        lua_pop(L, 1);
    }
    dispatch->pushes = pushes;
    dispatch->push_count = count;
}

/* A count of at least 1 on top of the stack. */
static uint64_t extent_of(lua_State *L, const char *what, uint64_t most)
{
    uint64_t count = 0;
    int whole;
    lua_Integer given = lua_tointegerx(L, -1, &whole);
    if (whole && lua_type(L, -1) == LUA_TNUMBER && given >= 1)
        count = (uint64_t)given;
    if (count == 0 || count > most)
        script_fail(L,
                    "cmd:dispatch %s: a whole number from 1 to %llu, or a list of at most three "
                    "of them, is wanted, not %s",
                    what, (unsigned long long)most, luaL_tolstring(L, -1, NULL));
    return count;
}

/* n or { x, y, z }; false where it is not given. */
static bool read_extent(lua_State *L, const char *name, uint64_t most, uint64_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    if (lua_getfield(L, 5, name) == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    if (!lua_istable(L, -1)) {
        out[0] = extent_of(L, name, most);
    } else {
        lua_Unsigned count = lua_rawlen(L, -1);
        if (count < 1 || count > 3)
            script_fail(L,
                        "cmd:dispatch %s: a list of one to three numbers is wanted, this one "
                        "has %llu",
                        name, (unsigned long long)count);
        for (lua_Unsigned i = 0; i < count; i++) {
            lua_geti(L, -1, (lua_Integer)i + 1);
            out[i] = extent_of(L, name, most);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    return true;
}

/* cmd:dispatch(kernel, bindings, push constants, { invocations = | groups = }) */
static int command_dispatch(lua_State *L)
{
    static const char what[] = "cmd:dispatch";
    static const char *const fields[] = {"invocations", "groups"};
    struct assay_command *command = command_check(L, what);
    struct assay_dispatch dispatch = {.size = sizeof(dispatch)};
    struct assay_error error = {0};
    uint64_t groups[3];
    lua_settop(L, 5);
    dispatch.kernel = own_check(L, command, 2, SCRIPT_KERNEL, what);
    read_bindings(L, command, &dispatch);
    read_pushes(L, &dispatch);
    if (!lua_istable(L, 5))
        script_fail(L,
                    "cmd:dispatch: its size is missing: { invocations = n } or { groups = n } as "
                    "the fourth value");
    script_check_fields(L, 5, what, fields, 2);
    bool total = read_extent(L, "invocations", INT64_MAX, dispatch.invocations);
    bool counted = read_extent(L, "groups", UINT32_MAX, groups);
    if (total == counted)
        script_fail(L, "cmd:dispatch: give invocations or groups, %s",
                    total ? "not both" : "there is neither");
    for (int i = 0; counted && i < 3; i++)
        dispatch.groups[i] = (uint32_t)groups[i];
    done(L, assay_command_dispatch(command, &dispatch, &error), &error);
    return 0;
}

static int command_barrier(lua_State *L)
{
    struct assay_error error = {0};
    done(L, assay_command_barrier(command_check(L, "cmd:barrier"), &error), &error);
    return 0;
}

static int command_wait(lua_State *L)
{
    struct assay_error error = {0};
    done(L, assay_command_wait(command_check(L, "cmd:wait"), &error), &error);
    return 0;
}

static int command_lane(lua_State *L)
{
    struct assay_command *command = command_check(L, "cmd:lane");
    struct assay_error error = {0};
    int whole;
    lua_Integer lane = lua_tointegerx(L, 2, &whole);
    if (!whole || lane < 0 || lane > 1)
        script_fail(L, "cmd:lane: 0 or 1 is wanted, not %s", luaL_tolstring(L, 2, NULL));
    done(L, assay_command_lane(command, (unsigned)lane, &error), &error);
    return 0;
}

static int command_index(lua_State *L)
{
    static const char *const names[] = {"upload",   "download", "copy", "fill",
                                        "dispatch", "barrier",  "wait", "lane"};
    static const lua_CFunction functions[] = {command_upload, command_download, command_copy,
                                              command_fill,   command_dispatch, command_barrier,
                                              command_wait,   command_lane};
    const char *name = luaL_tolstring(L, 2, NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            lua_pushcfunction(L, functions[i]);
            return 1;
        }
    }
    script_unknown(L, "cmd", "method", name, names, sizeof(names) / sizeof(names[0]));
}

void script_command_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"__index", command_index}, {NULL, NULL}};
    script_class(L, COMMAND, functions);
}
