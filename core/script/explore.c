/* SPDX-License-Identifier: MIT */
#include "script/explore.h"

#include "base/clock.h"
#include "base/json.h"
#include "script/device.h"
#include "vulkan/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_NS INT64_C(86400000000000) /* the case's own deadline comes before */
#define OUTPUT_MAX ((size_t)1 << 20)
#define COUNT_MAX 10000

struct exploration {
    const char *name; /* of its workload in the catalog */
    int function;     /* reference */
};

/* Cannot fail on the way: what is recorded has to be destroyed. */
struct trial {
    struct assay_command *command;
    struct assay_error error;
};

static const char *name_read(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TSTRING || lua_type(L, 2) != LUA_TFUNCTION)
        script_fail(L, "assay.explore: a name and a function are wanted: assay.explore(\"name\", "
                       "function(device) ... end)");
    const char *name = lua_tostring(L, 1);
    if (!*name || !text_is_utf8(name) || strlen(name) != lua_rawlen(L, 1))
        script_fail(L, "assay.explore: the name is empty or not UTF-8");
    return name;
}

/* A workload without stages, known to the plan alone. */
static const struct catalog_workload *catalog_entry(lua_State *L, const char *name)
{
    struct script *script = script_of(L);
    struct assay_error error = {0};
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:s, s:[], s:[], s:[]}", "name", name,
                             "version", "1", "summary", "work by hand", "plugin", "script", "model",
                             0, "explore", 1, "inline", script->params.path, "options", "stages",
                             "metrics");
    bool good = json ? catalog_add(script->catalog, json, &error)
                     : assay_fail(&error, ASSAY_OUT_OF_MEMORY, "no memory for an exploration");
    json_decref(json);
    if (!good)
        script_abort(L, &error);
    return catalog_look(script->catalog, name);
}

static void plan_add(lua_State *L, const char *name, const char *workload)
{
    struct script *script = script_of(L);
    struct assay_error error = {0};
    static const char *const none[] = {NULL};
    struct plan_experiment experiment = {.name = name, .varied = none};
    const struct chunk *chunk = state_place(L, &experiment.line);
    experiment.script = chunk ? chunk->path : script->params.path;
    struct plan_case item = {.workload = catalog_entry(L, workload)};
    if (!plan_add_experiment(script->plan, &experiment, &error) ||
        !plan_add_case(script->plan, &item, &error))
        script_raise(L, &error);
    closures_none(L);
}

int explore_define(lua_State *L)
{
    struct script *script = script_of(L);
    const char *name = name_read(L);
    if (script->judging.judge || script->running || script->defining)
        script_fail(L, "assay.explore belongs to the top level of the script");
    size_t count = script->exploration_count;
    struct exploration *grown = arena_alloc(script->arena, (count + 1) * sizeof(*grown));
    char *workload = count ? arena_printf(script->arena, "explore_%zu", count + 1)
                           : arena_copy(script->arena, "explore");
    if (!grown || !workload)
        luaL_error(L, "not enough memory");
    if (count)
        memcpy(grown, script->explorations, count * sizeof(*grown));
    script->explorations = grown;
    if (script->plan)
        plan_add(L, name, workload);
    lua_settop(L, 2);
    grown[count] = (struct exploration){workload, luaL_ref(L, LUA_REGISTRYINDEX)};
    script->exploration_count++;
    return 0;
}

static const struct exploration *find(const struct script *script, const char *workload)
{
    for (size_t i = 0; i < script->exploration_count; i++)
        if (strcmp(script->explorations[i].name, workload) == 0)
            return &script->explorations[i];
    return NULL;
}

bool explore_has(const void *loaded, const char *workload)
{
    return find(loaded, workload) != NULL;
}

static int run_enter(lua_State *L)
{
    const struct exploration *exploration = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, exploration->function);
    script_device_push(L, script_of(L)->exploring);
    lua_call(L, 1, 0);
    return 0;
}

bool explore_run(void *loaded, const char *workload, struct assay_slot *slot, struct text *output,
                 struct assay_error *error)
{
    struct script *script = loaded;
    const struct exploration *exploration = find(script, workload);
    int64_t limit_ns = script->params.deadline_ns;
    script->exploring = script_device_open(assay_slot_device(slot), slot, error);
    if (!script->exploring)
        return false;
    script->output = output;
    script->params.deadline_ns = LIMIT_NS;
    script->running++;
    lua_pushcfunction(script->L, run_enter);
    lua_pushlightuserdata(script->L, (void *)(uintptr_t)exploration);
    bool good = state_call(script, 1, NULL, error);
    script->running--;
    script->params.deadline_ns = limit_ns;
    script->output = NULL;
    script_device_close(&script->exploring);
    lua_gc(script->L, LUA_GCCOLLECT);
    return good;
}

int explore_print(lua_State *L)
{
    struct text *output = script_of(L)->output;
    int count = lua_gettop(L);
    for (int i = 1; i <= count; i++) {
        size_t length;
        const char *bytes = luaL_tolstring(L, i, &length);
        if (i > 1)
            fputc('\t', stdout);
        fwrite(bytes, 1, length, stdout);
        if (output && output->length < OUTPUT_MAX) {
            if (i > 1)
                text_add_char(output, '\t');
            text_add_bytes(output, bytes, length);
        }
        lua_pop(L, 1);
    }
    fputc('\n', stdout);
    fflush(stdout);
    if (output && output->length < OUTPUT_MAX)
        text_add_char(output, '\n');
    return 0;
}

/* Records what the function at index 2 says. On failure the trial's command is gone, and the error
 * value is on the stack, or in the trial. */
static bool trial_record(lua_State *L, struct trial *trial, struct assay_slot *slot)
{
    struct script *script = script_of(L);
    struct command_params params = {.slot = slot, .name = "explore", .role = VULKAN_ROLE_COMPUTE};
    lua_pushvalue(L, 2);
    script_command_push(L, NULL); /* may raise, so before there is a command */
    trial->command = command_create(&params, &trial->error);
    if (!trial->command)
        return false;
    script->recording = trial->command;
    int status = lua_pcall(L, 1, 0, 0);
    script_command_expire(script);
    if (status == LUA_OK && command_finish(trial->command, &trial->error))
        return true;
    command_destroy(&trial->command);
    return false;
}

static int trial_raise(lua_State *L, const struct trial *trial)
{
    if (trial->error.status)
        script_raise_status(L, &trial->error);
    return lua_error(L); /* the function's own */
}

static struct assay_slot *slot_check(lua_State *L, const char *what)
{
    struct script_device *device = script_device_check(L, 1, what);
    if (device != script_of(L)->exploring)
        script_fail(L, "%s belongs into assay.explore; a workload records in its stages", what);
    if (lua_type(L, 2) != LUA_TFUNCTION)
        script_fail(L, "%s: a function is wanted: %s(function(cmd) ... end)", what, what);
    return script_device_slot(L, device, what);
}

static bool execute(struct trial *trial, int64_t *time_ns)
{
    struct command_times times;
    if (!command_execute(trial->command, clock_monotonic(), &times, &trial->error))
        return false;
    *time_ns = times.end_ns - times.begin_ns;
    if (!command_has_timestamps(trial->command) || command_touches_host(trial->command))
        return true;
    int64_t device_ns = -1;
    if (!command_device_time(trial->command, &device_ns, &trial->error))
        return false;
    if (device_ns >= 0)
        *time_ns = device_ns;
    return true;
}

int explore_device_run(lua_State *L)
{
    struct trial trial = {0};
    int64_t time_ns;
    struct assay_slot *slot = slot_check(L, "device:run");
    bool good = trial_record(L, &trial, slot) && execute(&trial, &time_ns);
    command_destroy(&trial.command);
    return good ? 0 : trial_raise(L, &trial);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void push_seconds(lua_State *L, double ns)
{
    quantity_push(L, (struct quantity){ns * 1e-9, {.seconds = 1}});
}

int explore_device_time(lua_State *L)
{
    struct trial trial = {0};
    struct assay_slot *slot = slot_check(L, "device:time");
    lua_Integer count = luaL_optinteger(L, 3, 10), done = 0;
    if (count < 1 || count > COUNT_MAX)
        script_fail(L, "device:time: 1 to %d runs are allowed", COUNT_MAX);
    int64_t *times = script_alloc(L, (size_t)count * sizeof(*times)), first;
    bool good = trial_record(L, &trial, slot) && execute(&trial, &first);
    while (good && done < count)
        good = execute(&trial, &times[done++]);
    command_destroy(&trial.command);
    if (!good)
        return trial_raise(L, &trial);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_pushnumber(L, (double)times[i] * 1e-9);
        lua_rawseti(L, -2, i + 1);
    }
    qsort(times, (size_t)count, sizeof(*times), by_value);
    push_seconds(L, ((double)times[(count - 1) / 2] + (double)times[count / 2]) / 2);
    lua_insert(L, -2);
    return 2;
}
