/* SPDX-License-Identifier: MIT */
#include "script/workload.h"

#include "base/json.h"
#include "experiment/registry.h"

#include <string.h>

static const char *const workload_fields[] = {"name",    "summary",   "version", "params",
                                              "slot",    "stages",    "verify",  "report",
                                              "metrics", "supported", "check",   "reset"};
#define WORKLOAD_FIELDS (sizeof(workload_fields) / sizeof(workload_fields[0]))

const char *workload_keep(lua_State *L, const char *string)
{
    const char *copy = arena_copy(script_of(L)->arena, string);
    if (!copy)
        luaL_error(L, "not enough memory");
    return copy;
}

bool workload_field(lua_State *L, const char *what, const char *name, int type, const char *wanted)
{
    int got = lua_getfield(L, 1, name);
    if (got == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    if (got != type)
        script_fail(L, "%s: %s: %s is wanted, not a %s", what, name, wanted, luaL_typename(L, -1));
    return true;
}

int workload_function(lua_State *L, int table, const char *what, const char *name)
{
    int type = lua_getfield(L, table, name);
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        return LUA_NOREF;
    }
    if (type != LUA_TFUNCTION)
        script_fail(L, "%s: %s: a function is wanted, not a %s", what, name, luaL_typename(L, -1));
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

void workload_fields_check(lua_State *L, int table, const char *what, lua_Integer positions,
                           const char *const *names, size_t count)
{
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        bool known = lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 &&
                     lua_tointeger(L, -2) <= positions;
        if (known)
            continue;
        if (lua_type(L, -2) != LUA_TSTRING)
            script_fail(L, "%s: [%s] is not wanted here", what, luaL_tolstring(L, -2, NULL));
        const char *name = lua_tostring(L, -2);
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(name, names[i]) == 0;
        if (!known)
            script_unknown(L, what, "field", name, names, count);
    }
}

static const char *text_field(lua_State *L, const char *name, const char *fallback)
{
    if (!workload_field(L, "assay.workload", name, LUA_TSTRING, "a text"))
        return fallback;
    const char *text = workload_keep(L, lua_tostring(L, -1));
    if (!text_is_utf8(text))
        script_fail(L, "%s: the text is not UTF-8", name);
    lua_pop(L, 1);
    return text;
}

static void metric_read(lua_State *L, struct script_workload *workload, size_t index)
{
    struct assay_metric_info *info = arena_alloc(script_of(L)->arena, sizeof(*info));
    const char *texts[3] = {NULL, NULL, ""};
    int row = lua_gettop(L);
    if (!info)
        luaL_error(L, "not enough memory");
    if (!lua_istable(L, row))
        script_fail(L,
                    "metrics[%d]: a metric such as { \"hits\", \"items\", \"help\" } is wanted, "
                    "not a %s",
                    (int)index + 1, luaL_typename(L, row));
    workload_fields_check(L, row, "a metric", 3, NULL, 0);
    for (int i = 0; i < 3; i++) {
        if (lua_geti(L, row, i + 1) == LUA_TSTRING)
            texts[i] = workload_keep(L, lua_tostring(L, -1));
        else if (i < 2 || !lua_isnil(L, -1))
            script_fail(L, "metrics[%d]: its name, its unit and its help text are wanted",
                        (int)index + 1);
    }
    lua_settop(L, row);
    *info = (struct assay_metric_info){
        .size = sizeof(*info), .name = texts[0], .unit = texts[1], .help = texts[2]};
    workload->metric_rows[index] = info;
}

static void metrics_read(lua_State *L, struct script_workload *workload)
{
    workload->workload.metrics = workload->metric_rows;
    if (!workload_field(L, "assay.workload", "metrics", LUA_TTABLE, "a list of metrics"))
        return;
    size_t count = lua_rawlen(L, -1);
    int list = lua_gettop(L);
    if (count > METRICS_MAX)
        script_fail(L, "metrics: at most %d are allowed", METRICS_MAX);
    workload_fields_check(L, list, "metrics", (lua_Integer)count, NULL, 0);
    for (size_t i = 0; i < count; i++) {
        lua_geti(L, list, (lua_Integer)i + 1);
        metric_read(L, workload, i);
        lua_settop(L, list);
    }
    lua_pop(L, 1);
}

static void functions_read(lua_State *L, struct script_workload *workload)
{
    static const char what[] = "assay.workload";
    workload->slot = workload_function(L, 1, what, "slot");
    workload->verify = workload_function(L, 1, what, "verify");
    workload->report = workload_function(L, 1, what, "report");
    workload->supported = workload_function(L, 1, what, "supported");
    workload->check = workload_function(L, 1, what, "check");
    workload->reset = workload_function(L, 1, what, "reset");
    if (workload->report == LUA_NOREF && workload->metric_rows[0])
        script_fail(L, "metrics are declared, but there is no report function to fill them");
}

struct script_workload *workload_new(lua_State *L, const char *name)
{
    struct script *script = script_of(L);
    struct script_workload *workload = arena_alloc(script->arena, sizeof(*workload));
    int line;
    const struct chunk *chunk = state_place(L, &line);
    if (!workload)
        luaL_error(L, "not enough memory");
    workload->script = script;
    workload->place = arena_printf(script->arena, "%s:%d",
                                   chunk ? chunk->path : script->params.path, line);
    if (!workload->place)
        luaL_error(L, "not enough memory");
    workload->workload.size = sizeof(workload->workload);
    workload->workload.name = workload_keep(L, name);
    workload->workloads[0] = &workload->workload;
    workload->plugin = (struct assay_plugin){.size = sizeof(workload->plugin),
                                             .abi = ASSAY_ABI,
                                             .name = script->plugin ? script->plugin : "script",
                                             .version = "1",
                                             .workloads = workload->workloads};
    return workload;
}

/* All that is known of it is checked and described by the same code as that of a plugin. */
static void description_add(lua_State *L, struct script_workload *workload)
{
    struct script *script = script_of(L);
    struct assay_error error = {0};
    struct registry *registry = registry_create((assay_plugin_entry *const[]){NULL}, &error);
    json_t *array = NULL;
    bool good = registry &&
                registry_add_plugin(registry, &workload->plugin, workload->place, &error);
    if (good) {
        array = registry_describe(registry, workload->place);
        good = array || assay_fail(&error, ASSAY_OUT_OF_MEMORY, "no memory for a workload");
    }
    json_t *item = json_array_get(array, 0);
    json_object_del(item, "file"); /* a plugin's */
    good = good && json_object_set_new(item, "inline", json_clean_string(workload->place)) == 0 &&
           catalog_add(script->catalog, item, &error);
    json_decref(array);
    registry_destroy(&registry);
    if (good)
        return;
    if (error.status == ASSAY_OUT_OF_MEMORY)
        script_abort(L, &error);
    char *prefix = arena_printf(script_scratch(L), "plugin '%s': ", workload->plugin.name);
    const char *text = error.text;
    if (prefix && strncmp(text, prefix, strlen(prefix)) == 0)
        text += strlen(prefix);
    script_fail(L, "%s", text);
}

/* The same name twice: where the other one is. */
static void check_name_free(lua_State *L, const char *name)
{
    const struct script *script = script_of(L);
    for (size_t i = 0; i < script->workload_count; i++) {
        if (strcmp(script->workloads[i]->workload.name, name) == 0)
            script_fail(L, "there is a workload '%s' already, at %s; names are unique", name,
                        script->workloads[i]->place);
    }
    if (!script->catalog)
        return;
    const struct catalog_workload *other = catalog_look(script->catalog, name);
    const char *file = other ? json_text(other->json, "file", NULL) : NULL;
    if (file)
        script_fail(L, "there is a workload '%s' already, of the plugin %s; take another name",
                    name, file);
    if (other)
        script_fail(L, "there is a built-in workload '%s' already; take another name", name);
}

void workload_add(lua_State *L, struct script_workload *workload)
{
    struct script *script = script_of(L);
    size_t count = script->workload_count;
    if (count % 16 == 0) {
        struct script_workload **grown = arena_alloc(script->arena, (count + 16) * sizeof(*grown));
        if (!grown)
            luaL_error(L, "not enough memory");
        if (count)
            memcpy(grown, script->workloads, count * sizeof(*grown));
        script->workloads = grown;
    }
    if (script->catalog)
        description_add(L, workload);
    script->workloads[script->workload_count++] = workload;
}

int workload_define(lua_State *L)
{
    struct script *script = script_of(L);
    if (lua_type(L, 1) != LUA_TTABLE)
        script_fail(L, "assay.workload: a table is wanted: assay.workload { name = ..., stages = "
                       "{ ... } }");
    if (script->judging.judge || script->running)
        script_fail(L, "assay.workload belongs to the top level of the script, not into a function "
                       "that is called later");
    lua_settop(L, 1);
    workload_fields_check(L, 1, "assay.workload", 0, workload_fields, WORKLOAD_FIELDS);
    const char *name = text_field(L, "name", NULL);
    if (!name)
        script_fail(L, "the workload has no name; add name = \"...\"");
    check_name_free(L, name);
    struct script_workload *workload = workload_new(L, name);
    workload->workload.summary = text_field(L, "summary", "");
    workload->workload.version = text_field(L, "version", "1");
    if (!*workload->workload.version)
        script_fail(L, "version: it is empty");
    workload_params_read(L, workload);
    workload_stages_read(L, workload);
    metrics_read(L, workload);
    functions_read(L, workload);
    workload_hooks_set(workload);
    workload_add(L, workload);
    return 0;
}
