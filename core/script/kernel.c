/* SPDX-License-Identifier: MIT */
/* device:kernel{...} */
#include "script/device.h"

#include "vulkan/kernel.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 256
#define WHOLE_MAX (INT64_C(1) << 53)

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct script_named *)a)->name, ((const struct script_named *)b)->name);
}

size_t script_names(lua_State *L, int table, const char *what, struct script_named **names)
{
    size_t count = 0;
    *names = script_alloc(L, NAMES_MAX * sizeof(**names));
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        struct script_named *named = &(*names)[count++];
        named->numbered = lua_isinteger(L, -2);
        if (!named->numbered && lua_type(L, -2) != LUA_TSTRING)
            script_fail(L, "%s: the key of each is a name or a number, not %s", what,
                        luaL_tolstring(L, -2, NULL));
        if (count == NAMES_MAX)
            script_fail(L, "%s: more than %d names", what, NAMES_MAX - 1);
        if (named->numbered) {
            named->number = lua_tointeger(L, -2);
            named->name = script_copy(L, lua_pushfstring(L, "[%I]", (LUAI_UACINT)named->number));
            lua_pop(L, 1);
        } else {
            named->name = script_copy(L, lua_tostring(L, -2));
        }
    }
    qsort(*names, count, sizeof(**names), by_name);
    return count;
}

int script_named_push(lua_State *L, int table, const struct script_named *named)
{
    return named->numbered ? lua_geti(L, table, named->number)
                           : lua_getfield(L, table, named->name);
}

double script_number_of(lua_State *L, const char *what, const char *name)
{
    if (lua_type(L, -1) == LUA_TBOOLEAN)
        return lua_toboolean(L, -1);
    if (lua_type(L, -1) != LUA_TNUMBER)
        script_fail(L, "%s: '%s' is a %s; a number, true or false is wanted", what, name,
                    luaL_typename(L, -1));
    if (lua_isinteger(L, -1) &&
        (lua_tointeger(L, -1) > WHOLE_MAX || lua_tointeger(L, -1) < -WHOLE_MAX))
        script_fail(L, "%s: '%s' is %s; whole numbers go up to 2^53", what, name,
                    luaL_tolstring(L, -1, NULL));
    return lua_tonumber(L, -1);
}

static void read_constants(lua_State *L, struct assay_kernel_params *params)
{
    struct script_named *names;
    if (lua_getfield(L, 2, "constants") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (!lua_istable(L, -1))
        script_fail(L,
                    "device:kernel constants: a table such as { WORKGROUP = 64 } is wanted, not "
                    "a %s",
                    luaL_typename(L, -1));
    int table = lua_gettop(L);
    size_t count = script_names(L, table, "device:kernel constants", &names);
    struct assay_constant *constants = script_alloc(L, (count + 1) * sizeof(*constants));
    for (size_t i = 0; i < count; i++) {
        script_named_push(L, table, &names[i]);
        constants[i] = (struct assay_constant){
            names[i].name, script_number_of(L, "device:kernel constants", names[i].name)};
        lua_pop(L, 1);
    }
    params->constants = constants;
    params->constant_count = count;
    lua_pop(L, 1);
}

/* A macro's text: numbers as GLSL reads them. */
static const char *define_text(lua_State *L, const char *name)
{
    if (lua_type(L, -1) == LUA_TBOOLEAN)
        return lua_toboolean(L, -1) ? "1" : "0";
    if (lua_type(L, -1) != LUA_TSTRING && lua_type(L, -1) != LUA_TNUMBER)
        script_fail(L,
                    "device:kernel defines: '%s' is a %s; a text, a number, true or false is "
                    "wanted",
                    name, luaL_typename(L, -1));
    if (lua_type(L, -1) == LUA_TSTRING || lua_isinteger(L, -1))
        return script_copy(L, luaL_tolstring(L, -1, NULL));
    struct text text = {0};
    number_add(&text, lua_tonumber(L, -1));
    if (!strpbrk(text_string(&text), ".en"))
        text_add(&text, ".0");
    script_push_text(L, &text);
    return script_copy(L, lua_tostring(L, -1));
}

static void read_defines(lua_State *L, struct assay_kernel_params *params)
{
    struct script_named *names;
    if (lua_getfield(L, 2, "defines") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (!lua_istable(L, -1))
        script_fail(L, "device:kernel defines: a table such as { TILE = 16 } is wanted, not a %s",
                    luaL_typename(L, -1));
    int table = lua_gettop(L);
    size_t count = script_names(L, table, "device:kernel defines", &names);
    struct assay_define *defines = script_alloc(L, (count + 1) * sizeof(*defines));
    for (size_t i = 0; i < count; i++) {
        if (names[i].numbered)
            script_fail(L, "device:kernel defines: %s is no name of a macro", names[i].name);
        script_named_push(L, table, &names[i]);
        defines[i] = (struct assay_define){names[i].name, define_text(L, names[i].name)};
        lua_settop(L, table);
    }
    params->defines = defines;
    params->define_count = count;
    lua_pop(L, 1);
}

static const char *text_field(lua_State *L, const char *what, const char *hint)
{
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return NULL;
    }
    if (lua_type(L, -1) != LUA_TSTRING)
        script_fail(L, "%s: %s is wanted, not a %s", what, hint, luaL_typename(L, -1));
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    if (strlen(text) != length)
        script_fail(L, "%s: it holds a NUL byte", what);
    text = script_copy(L, text);
    lua_pop(L, 1);
    return text;
}

int script_kernel_new(lua_State *L)
{
    static const char *const fields[] = {"[1]", "text", "name", "constants", "defines"};
    struct script_device *device = script_device_check(L, 1, "device:kernel");
    struct assay_kernel_params params = {.size = sizeof(params)};
    struct assay_error error = {0};
    lua_settop(L, 2);
    if (!lua_istable(L, 2))
        script_fail(L, "device:kernel: a table such as { \"saxpy.comp\" } is wanted, not a %s",
                    luaL_typename(L, 2));
    script_check_fields(L, 2, "device:kernel", fields, sizeof(fields) / sizeof(fields[0]));
    struct assay_slot *slot = script_device_maker(L, device, "device:kernel");
    lua_geti(L, 2, 1);
    params.source = text_field(L, "device:kernel", "the name of a GLSL or SPIR-V file");
    lua_getfield(L, 2, "text");
    params.text = text_field(L, "device:kernel text", "GLSL text");
    lua_getfield(L, 2, "name");
    const char *name = text_field(L, "device:kernel name", "a text");
    if (!params.source == !params.text)
        script_fail(L,
                    "device:kernel: a file (device:kernel{ \"saxpy.comp\" }) or a `text` is "
                    "wanted, %s",
                    params.text ? "not both" : "and there is neither");
    if (name && params.source)
        script_fail(L, "device:kernel: a `name` is for a `text`; a file has its own");
    if (params.text)
        params.source = name;
    read_constants(L, &params);
    read_defines(L, &params);
    struct assay_kernel *kernel = assay_kernel_create(slot, &params, &error);
    if (!kernel)
        script_raise_kernel(L, &error, params.text != NULL);
    script_object_push(L, SCRIPT_KERNEL, device, kernel);
    return 1;
}

struct assay_kernel *script_kernel_check(lua_State *L, int index, const char *what)
{
    return script_object_check(L, index, SCRIPT_KERNEL, what)->object;
}

static int kernel_index(lua_State *L)
{
    static const char *const names[] = {"name", "local_size"};
    const struct assay_kernel *kernel = script_kernel_check(L, 1, "kernel");
    const char *name = luaL_tolstring(L, 2, NULL);
    if (strcmp(name, "name") == 0) {
        lua_pushstring(L, kernel->shader.name);
    } else if (strcmp(name, "local_size") == 0) {
        lua_createtable(L, 3, 0);
        for (int i = 0; i < 3; i++) {
            lua_pushinteger(L, kernel->local_size[i]);
            lua_rawseti(L, -2, i + 1);
        }
    } else {
        script_unknown(L, "a kernel", "member", name, names, sizeof(names) / sizeof(names[0]));
    }
    return 1;
}

static int kernel_text(lua_State *L)
{
    lua_pushfstring(L, "kernel '%s'", script_kernel_check(L, 1, "kernel")->shader.name);
    return 1;
}

void script_kernel_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"__index", kernel_index},
                                         {"__gc", script_object_collect},
                                         {"__tostring", kernel_text},
                                         {NULL, NULL}};
    script_class(L, SCRIPT_KERNEL, functions);
}
