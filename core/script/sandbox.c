/* SPDX-License-Identifier: MIT */
/* The libraries and globals of a script: no files, no programs, no native code, no bytecode. */
#include "script/inside.h"

#include "base/json.h"
#include "base/os.h"
#include "experiment/plugin_search.h"
#include "prelude.h" /* generated from prelude.lua */
#include "script/device.h"
#include "script/explore.h"
#include "script/workload.h"

#include <ctype.h>
#include <lualib.h>
#include <string.h>

#define MODULE_MAX_BYTES ((size_t)16 << 20)

static const char modules_key = 0;

/* load, for text only: bytecode can break the interpreter. Upvalue 1 is Lua's own. */
static int load_text(lua_State *L)
{
    int count = lua_gettop(L) < 3 ? 3 : lua_gettop(L);
    lua_settop(L, count);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
}

static void keys_of(lua_State *L, int table, const char ***names, size_t *count)
{
    *count = 0;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        *count += lua_type(L, -2) == LUA_TSTRING;
    *names = script_alloc(L, (*count + 1) * sizeof(**names));
    size_t at = 0;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            continue;
        const char *name = lua_tostring(L, -2); /* kept alive by the table */
        size_t place = at++;
        for (; place > 0 && strcmp((*names)[place - 1], name) > 0; place--)
            (*names)[place] = (*names)[place - 1];
        (*names)[place] = name;
    }
}

static int global_missing(lua_State *L)
{
    const char **names;
    size_t count;
    luaL_checktype(L, 1, LUA_TTABLE); /* scripts can call this with anything */
    if (lua_type(L, 2) != LUA_TSTRING)
        return 0;
    keys_of(L, 1, &names, &count);
    const char *name = lua_tostring(L, 2);
    if (strcmp(name, "assay") == 0)
        script_fail(L, "there is no global 'assay'; start with: local assay = require \"assay\"");
    if (strcmp(name, "os") == 0 || strcmp(name, "io") == 0)
        script_fail(L, "there is no global '%s' without --trust", name);
    const char *nearest = text_nearest(name, names, count);
    if (nearest)
        script_fail(L, "there is no global '%s'; did you mean '%s'?", name, nearest);
    script_fail(L, "there is no global '%s'", name);
}

/* assay.NAME; upvalue 1 is the table that holds the members. */
static int assay_member(lua_State *L)
{
    const char **names;
    size_t count;
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    keys_of(L, lua_upvalueindex(1), &names, &count);
    script_unknown(L, "assay", "member", luaL_tolstring(L, 2, NULL), names, count);
}

static int members_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE); /* scripts can call this with anything */
    lua_settop(L, 2);
    return lua_next(L, 1) ? 2 : 0;
}

int script_pairs_copy(lua_State *L)
{
    lua_pushcfunction(L, members_next);
    lua_newtable(L); /* a copy: the members themselves cannot be reached */
    for (lua_pushnil(L); lua_next(L, lua_upvalueindex(1)); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, -5);
    }
    lua_pushnil(L);
    return 3;
}

static int assay_fixed(lua_State *L)
{
    script_fail(L, "assay.%s cannot be set: the table is the tool's", luaL_tolstring(L, 2, NULL));
}

/* Words with dots between: no way out of a folder. */
static void module_name_check(lua_State *L, const char *name)
{
    bool good = true, start = true;
    for (const char *c = name; *c && good; c++) {
        good = *c == '.' ? !start : isalnum((unsigned char)*c) || *c == '_' || *c == '-';
        start = *c == '.';
    }
    if (!good || start)
        script_fail(
            L,
            "require '%s': a module is named by words with dots between, such as 'helper' or "
            "'lib.helper', and lies beside the script or in a plugin's folder",
            name);
}

/* "sub.helper" -> "DIRECTORY/sub/helper.lua" */
static const char *module_file(lua_State *L, const char *directory, const char *name)
{
    struct text path = {0}, file = {0};
    for (const char *c = name; *c; c++)
        text_add_char(&file, *c == '.' ? '/' : *c);
    text_add(&file, ".lua");
    os_path_join(&path, directory, text_string(&file));
    text_free(&file);
    script_push_text(L, &path);
    return lua_tostring(L, -1);
}

static const char *module_beside(lua_State *L, const char *name)
{
    struct text directory = {0};
    os_path_directory(&directory, script_of(L)->params.path);
    if (strcmp(text_string(&directory), ".") == 0 &&
        strncmp(script_of(L)->params.path, "./", 2) != 0)
        text_clear(&directory);
    script_push_text(L, &directory);
    return module_file(L, lua_tostring(L, -1), name);
}

/* "FOLDER.helper" in the plugin folder of that name; NULL: there is no such folder. */
static const char *module_in_folder(lua_State *L, const char *name)
{
    size_t length = strcspn(name, ".");
    struct assay_error error = {0};
    const char *found = NULL;
    if (!name[length])
        return NULL;
    struct plugin_search *search = plugin_search_create(script_of(L)->params.plugins, &error);
    if (!search)
        script_abort(L, &error);
    for (size_t i = 0; i < plugin_search_count(search) && !found; i++) {
        struct text directory = {0}, folder = {0};
        if (plugin_folder_name(plugin_search_at(search, i)->path, &folder) &&
            strlen(text_string(&folder)) == length &&
            strncmp(text_string(&folder), name, length) == 0) {
            os_path_directory(&directory, plugin_search_at(search, i)->path);
            found = arena_copy(script_of(L)->arena, text_string(&directory));
        }
        text_free(&directory);
        text_free(&folder);
    }
    plugin_search_destroy(&search);
    return found ? module_file(L, found, name + length + 1) : NULL;
}

static const char *module_find(lua_State *L, const char *name)
{
    const char *beside = module_beside(L, name);
    if (os_is_file(beside))
        return beside;
    const char *within = module_in_folder(L, name);
    if (within && os_is_file(within))
        return within;
    if (within)
        script_fail(L, "require '%s': there is neither %s nor %s", name, beside, within);
    script_fail(L, "require '%s': there is no file %s", name, beside);
}

/* Reads and compiles the module; pushes its path and its function. */
static void module_load(lua_State *L, const char *name)
{
    struct script *script = script_of(L);
    struct assay_error error = {0};
    struct text source = {0};
    bool sent = json_object_get(script->sent, "modules") != NULL;
    const char *path = sent ? serve_module(script, name, &source, &error) : module_find(L, name);
    if (path && script->params.reads)
        script->params.reads(script->params.reads_user, path);
    bool good = sent ? path != NULL : os_file_read(path, MODULE_MAX_BYTES, &source, &error);
    if (!good) {
        text_free(&source);
        script_raise(L, &error);
    }
    lua_pushstring(L, path);
    good = state_load(L, path, &source, &error);
    text_free(&source);
    if (!good) {
        lua_pushstring(L, error.text);
        lua_error(L);
    }
    struct chunk *chunk = &script->chunks[script->chunk_count - 1];
    chunk->name = arena_copy(script->arena, name);
    if (!chunk->name)
        luaL_error(L, "not enough memory");
}

static int require_module(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key);
    int modules = lua_gettop(L);
    if (lua_getfield(L, modules, name) == LUA_TLIGHTUSERDATA)
        script_fail(L,
                    "require '%s': the module requires itself, directly or through another, or it "
                    "failed when it ran before",
                    name);
    if (!lua_isnil(L, -1))
        return 1;
    module_name_check(L, name);
    module_load(L, name);
    int path = lua_gettop(L) - 1;
    lua_pushlightuserdata(L, (void *)&modules_key); /* being loaded */
    lua_setfield(L, modules, name);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, path);
    lua_call(L, 2, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, true);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, modules, name);
    return 1;
}

static const char *given_text(const char *given, const char *name)
{
    size_t length = strlen(name);
    return strncmp(given, name, length) == 0 && given[length] == '=' ? given + length + 1 : NULL;
}

static void option_number(lua_State *L, const char *name, const char *given)
{
    if (!lua_stringtonumber(L, given))
        script_fail(L, "--option %s=%s: a number is wanted, as the default is one", name, given);
}

/* Pushes what --option gave, as the kind of the default at index 2. */
static void option_convert(lua_State *L, const char *name, const char *given)
{
    struct assay_error error = {0};
    struct quantity wanted, quantity;
    int type = lua_type(L, 2);
    if (type == LUA_TBOOLEAN) {
        bool yes = strcmp(given, "true") == 0;
        if (!yes && strcmp(given, "false") != 0)
            script_fail(L, "--option %s=%s: true or false is wanted", name, given);
        lua_pushboolean(L, yes);
        return;
    }
    if (type == LUA_TNUMBER) {
        option_number(L, name, given);
        return;
    }
    bool has_unit = quantity_test(L, 2) != NULL;
    if (has_unit)
        wanted = *quantity_test(L, 2);
    else
        has_unit = quantity_parse(lua_tostring(L, 2), &wanted, NULL);
    if (has_unit && !quantity_parse(given, &quantity, &error))
        script_fail(L, "--option %s=%s: %s", name, given, error.text);
    if (has_unit && !dimension_equal(wanted.dimension, quantity.dimension)) {
        lua_pushstring(L, dimension_words(wanted.dimension));
        script_fail(L, "--option %s=%s is %s, but the default is %s", name, given,
                    dimension_words(quantity.dimension), lua_tostring(L, -1));
    }
    if (quantity_test(L, 2))
        quantity_push(L, quantity);
    else
        lua_pushstring(L, given);
}

static void option_keep(lua_State *L, const char *name)
{
    struct script *script = script_of(L);
    struct text shown = {0};
    text_add_clean(&shown, luaL_tolstring(L, -1, NULL));
    script_push_text(L, &shown);
    if (script->option_count % 16 == 0) {
        struct script_option *grown = arena_alloc(script->arena,
                                                  (script->option_count + 16) * sizeof(*grown));
        if (!grown)
            luaL_error(L, "not enough memory");
        if (script->option_count)
            memcpy(grown, script->options, script->option_count * sizeof(*grown));
        script->options = grown;
    }
    struct script_option *option = &script->options[script->option_count];
    option->name = arena_copy(script->arena, name);
    if (!option->name)
        luaL_error(L, "not enough memory");
    option->value = lua_isboolean(L, -3)             ? json_boolean(lua_toboolean(L, -3))
                    : lua_isinteger(L, -3)           ? json_integer(lua_tointeger(L, -3))
                    : lua_type(L, -3) == LUA_TNUMBER ? json_real(lua_tonumber(L, -3))
                                                     : json_clean_string(lua_tostring(L, -1));
    script->option_count++;
    lua_pop(L, 2);
}

/* assay.option(name, default, help) */
static int option_declare(lua_State *L)
{
    struct script *script = script_of(L);
    if (lua_type(L, 1) != LUA_TSTRING)
        script_fail(L, "assay.option: a name is wanted first, then the default, then a help text");
    const char *name = lua_tostring(L, 1);
    int type = lua_type(L, 2);
    if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN && !quantity_test(L, 2))
        script_fail(L,
                    "assay.option '%s': the default is a text, a number, true or false, or a "
                    "quantity, not a %s",
                    name, luaL_typename(L, 2));
    for (size_t i = 0; i < script->option_count; i++)
        if (strcmp(script->options[i].name, name) == 0)
            script_fail(L, "assay.option '%s' is declared twice", name);
    lua_settop(L, 2);
    for (size_t i = 0; script->params.options && script->params.options[i]; i++) {
        const char *given = given_text(script->params.options[i], name);
        if (given) {
            lua_settop(L, 2);
            option_convert(L, name, given);
        }
    }
    option_keep(L, name);
    return 1;
}

static void open_library(lua_State *L, const char *name, lua_CFunction open)
{
    luaL_requiref(L, name, open, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, name); /* so that require "string" works */
    lua_pop(L, 1);
}

static int prelude_fail(lua_State *L)
{
    script_fail(L, "%s", luaL_checkstring(L, 1));
}

/* The table `assay`: what is C, then what prelude.lua adds. */
static void open_assay(lua_State *L)
{
    static const luaL_Reg functions[] = {{"experiment", define_experiment},
                                         {"explore", explore_define},
                                         {"workload", workload_define},
                                         {"option", option_declare},
                                         {"peaks", peaks_ask},
                                         {"quantity", quantity_new},
                                         {"search", define_search},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    device_functions_add(L);
    schedule_functions_add(L);
    lua_pushliteral(L, ASSAY_VERSION);
    lua_setfield(L, -2, "version");
    if (luaL_loadbufferx(L, (const char *)prelude_source, sizeof(prelude_source), "=assay", "t") !=
        LUA_OK)
        lua_error(L);
    lua_pushvalue(L, -2);
    lua_pushcfunction(L, quantity_unit_function);
    lua_pushcfunction(L, prelude_fail);
    lua_call(L, 3, 0);
    model_open(L);
    lua_newtable(L); /* what scripts see: empty, so that every access is ours */
    lua_createtable(L, 0, 4);
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, assay_member, 1);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, script_pairs_copy, 1);
    lua_setfield(L, -2, "__pairs");
    lua_pushcfunction(L, assay_fixed);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, "assay");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_remove(L, -2);
}

static void open_globals(lua_State *L)
{
    static const char *const removed[] = {"dofile", "loadfile", "loadstring"};
    lua_pushglobaltable(L);
    for (size_t i = 0; i < sizeof(removed) / sizeof(removed[0]); i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, removed[i]);
    }
    lua_getfield(L, -1, "load");
    lua_pushcclosure(L, load_text, 1);
    lua_setfield(L, -2, "load");
    if (script_of(L)->serving) {
        lua_pushcfunction(L, explore_print);
        lua_setfield(L, -2, "print");
    }
    lua_pushcfunction(L, require_module);
    lua_setfield(L, -2, "require");
    lua_getfield(L, -1, "string");
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    lua_pop(L, 1);
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, global_missing);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "globals");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

/* Of os, also for a script that is trusted: the exit status is the tool's, and so is the locale. */
static void close_os(lua_State *L)
{
    static const char *const removed[] = {"exit", "setlocale"};
    lua_getglobal(L, LUA_OSLIBNAME);
    for (size_t i = 0; i < sizeof(removed) / sizeof(removed[0]); i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, removed[i]);
    }
    lua_pop(L, 1);
}

void sandbox_open(lua_State *L, bool trust)
{
    lua_newtable(L); /* modules */
    open_library(L, LUA_GNAME, luaopen_base);
    open_library(L, LUA_COLIBNAME, luaopen_coroutine);
    open_library(L, LUA_TABLIBNAME, luaopen_table);
    open_library(L, LUA_STRLIBNAME, luaopen_string);
    open_library(L, LUA_MATHLIBNAME, luaopen_math);
    open_library(L, LUA_UTF8LIBNAME, luaopen_utf8);
    if (trust) {
        open_library(L, LUA_OSLIBNAME, luaopen_os);
        open_library(L, LUA_IOLIBNAME, luaopen_io);
        close_os(L);
    }
    open_globals(L);
    open_assay(L);
    lua_setfield(L, -2, "assay");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &modules_key);
}
