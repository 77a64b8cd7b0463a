/* SPDX-License-Identifier: MIT */
/* The device as scripts see it, and the life of what is made on it. */
#include "script/device.h"

#include "script/explore.h"

#include "vulkan/buffer.h"
#include "vulkan/slot.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct script_device {
    atomic_uint references; /* by the slot's owner and by values in Lua states */
    const struct assay_device *device;
    struct assay_slot *slot;
    atomic_bool closed;
    atomic_bool settled; /* nothing is made any more: a host stage would do so in each batch */
};

struct script_device *script_device_open(const struct assay_device *device, struct assay_slot *slot,
                                         struct assay_error *error)
{
    struct script_device *made = calloc(1, sizeof(*made));
    if (!made) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a script's device");
        return NULL;
    }
    atomic_init(&made->references, 1);
    made->device = device;
    made->slot = slot;
    return made;
}

void script_device_settle(struct script_device *device)
{
    if (device)
        atomic_store(&device->settled, true);
}

static void drop(struct script_device **device)
{
    if (*device && atomic_fetch_sub(&(*device)->references, 1) == 1)
        free(*device);
    *device = NULL;
}

void script_device_close(struct script_device **device)
{
    if (!*device)
        return;
    struct assay_slot *slot = (*device)->slot;
    atomic_store(&(*device)->closed, true);
    while (slot && slot->kernels) {
        struct assay_kernel *kernel = slot->kernels;
        assay_kernel_destroy(&kernel);
    }
    while (slot && slot->buffers) {
        struct assay_buffer *buffer = slot->buffers;
        assay_buffer_destroy(&buffer);
    }
    drop(device);
}

const char *script_shown(lua_State *L, int index)
{
    if (lua_isnoneornil(L, index))
        return "nil";
    if (lua_isboolean(L, index) || lua_isnumber(L, index))
        return luaL_tolstring(L, index, NULL);
    return lua_pushfstring(L, "a %s", luaL_typename(L, index));
}

void script_object_push(lua_State *L, const char *class, struct script_device *device, void *object)
{
    struct script_object *made = lua_newuserdatauv(L, sizeof(*made), 0);
    *made = (struct script_object){0};
    luaL_setmetatable(L, class);
    atomic_fetch_add(&device->references, 1);
    *made = (struct script_object){device, object};
}

int script_object_collect(lua_State *L)
{
    struct script_object *object = lua_touserdata(L, 1);
    drop(&object->device);
    return 0;
}

/* Of a slot that is gone, or used by a finalizer behind its own. */
static bool is_gone(const struct script_object *object)
{
    return !object->device || atomic_load(&object->device->closed);
}

struct script_object *script_object_check(lua_State *L, int index, const char *class,
                                          const char *what)
{
    struct script_object *object = luaL_testudata(L, index, class);
    if (!object)
        script_fail(L, "%s: a %s is wanted, not %s", what, class + strlen("assay."),
                    script_shown(L, index));
    if (is_gone(object))
        script_fail(L,
                    "%s: this %s is of a slot that is gone: what a slot made is good in that "
                    "slot alone",
                    what, class + strlen("assay."));
    return object;
}

void script_device_push(lua_State *L, struct script_device *device)
{
    script_object_push(L, SCRIPT_DEVICE, device, NULL);
}

struct script_device *script_device_check(lua_State *L, int index, const char *what)
{
    if (!luaL_testudata(L, index, SCRIPT_DEVICE))
        script_fail(L, "%s: a device is wanted, not %s; write it with a colon", what,
                    script_shown(L, index));
    return script_object_check(L, index, SCRIPT_DEVICE, what)->device;
}

bool script_object_copy(lua_State *from, int index, lua_State *to)
{
    static const char *const classes[] = {SCRIPT_DEVICE, SCRIPT_BUFFER, SCRIPT_KERNEL};
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        const struct script_object *object = luaL_testudata(from, index, classes[i]);
        if (object && !is_gone(object)) {
            script_object_push(to, classes[i], object->device, object->object);
            return true;
        }
    }
    return false;
}

void script_device_name_members(lua_State *L, int table)
{
    table = lua_absindex(L, table);
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        const struct script_object *object = luaL_testudata(L, -1, SCRIPT_BUFFER);
        if (object && !is_gone(object) && lua_type(L, -2) == LUA_TSTRING)
            buffer_name_late(object->object, lua_tostring(L, -2));
    }
}

struct assay_slot *script_device_slot(lua_State *L, struct script_device *device, const char *what)
{
    if (!device->slot)
        script_fail(L, "%s: there are no buffers and kernels here; make them in `slot`", what);
    return device->slot;
}

struct assay_slot *script_device_maker(lua_State *L, struct script_device *device, const char *what)
{
    if (atomic_load(&device->settled))
        script_fail(L, "%s: buffers and kernels are made in `slot` alone, before batches run",
                    what);
    return script_device_slot(L, device, what);
}

static const struct {
    const char *name;
    enum assay_feature feature;
} features[] = {
    {"fp16", ASSAY_FEATURE_FP16},
    {"fp64", ASSAY_FEATURE_FP64},
    {"int8", ASSAY_FEATURE_INT8},
    {"int16", ASSAY_FEATURE_INT16},
    {"int64", ASSAY_FEATURE_INT64},
    {"host_import", ASSAY_FEATURE_HOST_IMPORT},
    {"cooperative_matrix", ASSAY_FEATURE_COOPERATIVE_MATRIX},
    {"integer_dot", ASSAY_FEATURE_INTEGER_DOT},
};
#define FEATURE_COUNT (sizeof(features) / sizeof(features[0]))

/* device:has "fp16": true, or false and what is missing */
static int device_has(lua_State *L)
{
    const struct script_device *device = script_device_check(L, 1, "device:has");
    const char *names[FEATURE_COUNT], *name = luaL_tolstring(L, 2, NULL), *why = NULL;
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        names[i] = features[i].name;
        if (strcmp(name, names[i]) != 0)
            continue;
        lua_pushboolean(L, assay_device_has(device->device, features[i].feature, &why));
        lua_pushstring(L, lua_toboolean(L, -1) ? NULL : why);
        return 2;
    }
    script_unknown(L, "device:has", "feature", name, names, FEATURE_COUNT);
}

static void set_limit(lua_State *L, const char *name, uint64_t value)
{
    lua_pushinteger(L, value > INT64_MAX ? LUA_MAXINTEGER : (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void set_three(lua_State *L, const char *name, const uint32_t values[3])
{
    lua_createtable(L, 3, 0);
    for (int i = 0; i < 3; i++) {
        lua_pushinteger(L, values[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, name);
}

static void push_limits(lua_State *L, const struct assay_limits *limits)
{
    lua_createtable(L, 0, 14);
    set_limit(L, "max_allocation_bytes", limits->max_allocation_bytes);
    set_limit(L, "max_storage_range_bytes", limits->max_storage_range_bytes);
    set_limit(L, "device_heap_bytes", limits->device_heap_bytes);
    set_limit(L, "host_heap_bytes", limits->host_heap_bytes);
    set_limit(L, "import_alignment_bytes", limits->import_alignment_bytes);
    set_limit(L, "storage_alignment_bytes", limits->storage_alignment_bytes);
    set_limit(L, "max_group_invocations", limits->max_group_invocations);
    set_limit(L, "max_shared_bytes", limits->max_shared_bytes);
    set_limit(L, "max_texel_elements", limits->max_texel_elements);
    set_limit(L, "texel_alignment_bytes", limits->texel_alignment_bytes);
    set_limit(L, "max_push_bytes", limits->max_push_bytes);
    set_limit(L, "subgroup_size", limits->subgroup_size);
    set_three(L, "max_groups", limits->max_groups);
    set_three(L, "max_group_size", limits->max_group_size);
}

static void set_type(lua_State *L, const char *name, enum assay_element type)
{
    lua_pushstring(L, element_name(type));
    lua_setfield(L, -2, name);
}

/* device:matrix_shapes(): of cooperative matrices; none without them */
static int device_matrix_shapes(lua_State *L)
{
    const struct script_device *device = script_device_check(L, 1, "device:matrix_shapes");
    const struct assay_matrix_shape *shape;
    lua_newtable(L);
    for (size_t i = 0; (shape = assay_device_matrix_shape(device->device, i)) != NULL; i++) {
        lua_createtable(L, 0, 8);
        set_limit(L, "m", shape->m);
        set_limit(L, "n", shape->n);
        set_limit(L, "k", shape->k);
        set_type(L, "a", shape->a);
        set_type(L, "b", shape->b);
        set_type(L, "c", shape->c);
        set_type(L, "r", shape->r);
        lua_pushboolean(L, shape->saturating);
        lua_setfield(L, -2, "saturating");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int device_index(lua_State *L)
{
    static const char *const names[] = {"name",   "limits", "has", "matrix_shapes",
                                        "buffer", "kernel", "run", "time"};
    const struct script_device *device = script_device_check(L, 1, "device");
    const char *name = luaL_tolstring(L, 2, NULL);
    if (strcmp(name, "name") == 0)
        lua_pushstring(L, assay_device_name(device->device));
    else if (strcmp(name, "limits") == 0)
        push_limits(L, assay_device_limits(device->device));
    else if (strcmp(name, "has") == 0)
        lua_pushcfunction(L, device_has);
    else if (strcmp(name, "matrix_shapes") == 0)
        lua_pushcfunction(L, device_matrix_shapes);
    else if (strcmp(name, "buffer") == 0)
        lua_pushcfunction(L, script_buffer_new);
    else if (strcmp(name, "kernel") == 0)
        lua_pushcfunction(L, script_kernel_new);
    else if (strcmp(name, "run") == 0)
        lua_pushcfunction(L, explore_device_run);
    else if (strcmp(name, "time") == 0)
        lua_pushcfunction(L, explore_device_time);
    else
        script_unknown(L, "a device", "member", name, names, sizeof(names) / sizeof(names[0]));
    return 1;
}

static int device_text(lua_State *L)
{
    const struct script_device *device = script_device_check(L, 1, "device");
    lua_pushfstring(L, "device '%s'", assay_device_name(device->device));
    return 1;
}

/* Whether the text starts with "FILE:LINE:". */
static bool has_place(const char *text)
{
    const char *colon = strchr(text, ':');
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    return digits > 0 && colon[1 + digits] == ':';
}

int script_raise_status(lua_State *L, const struct assay_error *error)
{
    script_raise_kernel(L, error, true);
}

int script_raise_kernel(lua_State *L, const struct assay_error *error, bool text)
{
    struct script *script = script_of(L);
    struct assay_error raised = *error;
    /* GLSL errors in a file have a place of their own. */
    bool placed = !text && error->status == ASSAY_SCRIPT && has_place(error->text);
    int line;
    const struct chunk *chunk = state_place(L, &line);
    if (chunk && !placed && error->status != ASSAY_UNSUPPORTED)
        error_prefix(&raised, "%s:%d", chunk->path, line);
    if (raised.status == ASSAY_INVALID)
        raised.status = ASSAY_SCRIPT;
    script->raised = raised;
    lua_pushstring(L, script->raised.text);
    lua_error(L);
    abort(); /* lua_error does not return */
}

void script_check_fields(lua_State *L, int table, const char *what, const char *const *names,
                         size_t count)
{
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        bool known = false;
        if (lua_type(L, -2) == LUA_TNUMBER) {
            lua_pushfstring(L, "[%s]", luaL_tolstring(L, -2, NULL));
            lua_remove(L, -2);
        } else {
            luaL_tolstring(L, -2, NULL);
        }
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(lua_tostring(L, -1), names[i]) == 0;
        if (!known)
            script_unknown(L, what, "field", lua_tostring(L, -1), names, count);
        lua_pop(L, 1);
    }
}

uint64_t script_bytes_of(lua_State *L, int index, const char *what, uint64_t least)
{
    struct quantity quantity;
    if (lua_isinteger(L, index)) {
        lua_Integer whole = lua_tointeger(L, index);
        if (whole >= 0 && (uint64_t)whole >= least)
            return (uint64_t)whole;
        script_fail(L, "%s is %lld; it must be at least %llu", what, (long long)whole,
                    (unsigned long long)least);
    }
    quantity = quantity_of(L, index, what);
    if (!dimension_is_number(quantity.dimension) &&
        !dimension_equal(quantity.dimension, (struct dimension){.bytes = 1}))
        script_fail(L, "%s is %s, but a size is wanted", what, dimension_words(quantity.dimension));
    if (!(quantity.value >= (double)least) || quantity.value >= 0x1p63 ||
        quantity.value != (double)(uint64_t)quantity.value)
        script_fail(L, "%s is %s; a whole number of at least %llu is wanted", what,
                    luaL_tolstring(L, index, NULL), (unsigned long long)least);
    return (uint64_t)quantity.value;
}

void device_classes_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"__index", device_index},
                                         {"__gc", script_object_collect},
                                         {"__tostring", device_text},
                                         {NULL, NULL}};
    script_class(L, SCRIPT_DEVICE, functions);
    script_buffer_open(L);
    script_kernel_open(L);
    script_command_open(L);
    script_fill_open(L);
    script_view_open(L);
    script_compare_open(L);
}

void device_functions_add(lua_State *L)
{
    luaL_setfuncs(L, script_fill_functions, 0);
    lua_pushcfunction(L, script_compare);
    lua_setfield(L, -2, "compare");
    lua_pushcfunction(L, script_f32);
    lua_setfield(L, -2, "f32");
    lua_pushcfunction(L, script_f16);
    lua_setfield(L, -2, "f16");
}
