/* SPDX-License-Identifier: MIT */
/* assay.peaks(): what the device can do at best, measured in this run. */
#include "script/inside.h"

#include "base/json.h"
#include "experiment/peaks.h"
#include "judge/floor.h"

#include <string.h>

#define PEAKS "assay.peaks"
#define PART "assay.peaks.part"

/* The object, and its members `copy`, `fp32`, ... */
struct peaks {
    const char *device; /* as the script names it, or NULL; in the script's arena */
    char group[16];     /* of a part: "copy", "fp32", "balance" */
};

static const char *const copies[] = {"device", "upload", "download"};
static const char *const kinds[] = {"fp32", "fp64", "fp16", "int32", "int8"};
static const char *const widths[] = {"best", "x1", "x2", "x4"};
static const char *const groups[] = {"copy", "fp32", "fp64", "fp16", "int32", "int8", "balance"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static const json_t *record_of(const struct script *script, const char *device)
{
    size_t i;
    json_t *record;
    json_array_foreach((json_t *)(uintptr_t)script->peaks, i, record)
    {
        const char *selector = json_text(record, "selector", NULL);
        if (selector && device ? strcmp(selector, device) == 0 : !selector && !device)
            return record;
    }
    return NULL;
}

static struct dimension group_dimension(const char *group)
{
    if (strcmp(group, "copy") == 0)
        return (struct dimension){.bytes = 1, .seconds = -1};
    if (strcmp(group, "balance") == 0)
        return (struct dimension){.flops = 1, .bytes = -1};
    return (struct dimension){.flops = 1, .seconds = -1};
}

static void push_peak(lua_State *L, const struct peaks *peaks, const char *group,
                      const char *member)
{
    struct script *script = script_of(L);
    const json_t *record = record_of(script, peaks->device);
    struct metric metric;
    char *name = arena_printf(script_scratch(L), "%s.%s", group, member);
    if (!name)
        luaL_error(L, "not enough memory");
    if (!script->judging.judge)
        script_fail(L, "peaks have values in check and summary, when they are measured");
    floor_peak(record, strcmp(member, "best") == 0 ? group : name, &metric);
    if (!record)
        metric.absent = "the peaks were not measured in this run";
    if (metric.absent)
        metric.dimension = group_dimension(group);
    metric.name = name;
    metric_push(L, &metric, NULL, json_text(json_object_get(record, "device"), "label", NULL));
}

static int part_index(lua_State *L)
{
    const struct peaks *part = luaL_checkudata(L, 1, PART);
    const char *name = luaL_tolstring(L, 2, NULL);
    bool is_copy = strcmp(part->group, "copy") == 0,
         is_balance = strcmp(part->group, "balance") == 0;
    const char *const *names = is_copy ? copies : is_balance ? kinds : widths;
    size_t count = is_copy ? COUNT(copies) : is_balance ? COUNT(kinds) : COUNT(widths);
    if (!is_among(names, count, name)) {
        lua_pushfstring(L, "peaks.%s", part->group);
        script_unknown(L, lua_tostring(L, -1), "peak", name, names, count);
    }
    push_peak(L, part, part->group, name);
    return 1;
}

/* for name, metric in peaks:each() do: upvalues are the object and the place in the list of all. */
static int each_next(lua_State *L)
{
    const struct peaks *peaks = luaL_checkudata(L, lua_upvalueindex(1), PEAKS);
    lua_Integer at = lua_tointeger(L, lua_upvalueindex(2));
    lua_pushinteger(L, at + 1);
    lua_replace(L, lua_upvalueindex(2));
    size_t index = (size_t)at, width_count = COUNT(widths) - 1; /* `best` is one of the others */
    const char *group = "copy", *member = NULL;
    if (index < COUNT(copies)) {
        member = copies[index];
    } else if ((index -= COUNT(copies)) < COUNT(kinds) * width_count) {
        group = kinds[index / width_count];
        member = widths[1 + index % width_count];
    } else if ((index -= COUNT(kinds) * width_count) < COUNT(kinds)) {
        group = "balance";
        member = kinds[index];
    } else {
        return 0;
    }
    lua_pushfstring(L, "%s.%s", group, member);
    push_peak(L, peaks, group, member);
    return 2;
}

static int peaks_each(lua_State *L)
{
    luaL_checkudata(L, 1, PEAKS);
    lua_settop(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, each_next, 2);
    return 1;
}

static int peaks_index(lua_State *L)
{
    const struct peaks *peaks = luaL_checkudata(L, 1, PEAKS);
    const char *name = luaL_tolstring(L, 2, NULL);
    if (strcmp(name, "each") == 0) {
        lua_pushcfunction(L, peaks_each);
        return 1;
    }
    if (!is_among(groups, COUNT(groups), name))
        script_unknown(L, "assay.peaks()", "member", name, groups, COUNT(groups));
    struct peaks *part = lua_newuserdatauv(L, sizeof(*part), 0);
    *part = (struct peaks){.device = peaks->device};
    memcpy(part->group, name, strlen(name) + 1);
    luaL_setmetatable(L, PART);
    return 1;
}

static int peaks_set(lua_State *L)
{
    script_fail(L, "peaks cannot be changed");
}

/* assay.peaks(), or assay.peaks(DEVICE): asks for the peaks to be measured in this run. */
int peaks_ask(lua_State *L)
{
    struct script *script = script_of(L);
    const char *device = NULL;
    if (script->judging.judge)
        script_fail(L,
                    "assay.peaks belongs to the top level of the script; what it gives is looked "
                    "at in check and summary");
    if (script->running)
        script_fail(L, "assay.peaks belongs to the top level of the script, not into a function of "
                       "a workload");
    if (script->defining)
        script_fail(L, "assay.peaks cannot be called while an experiment is being defined");
    if (!lua_isnoneornil(L, 1) && lua_type(L, 1) != LUA_TSTRING)
        script_fail(L, "assay.peaks: a device is wanted, or nothing, not a %s",
                    luaL_typename(L, 1));
    if (lua_type(L, 1) == LUA_TSTRING && !script->params.device) {
        device = arena_copy(script->arena, lua_tostring(L, 1));
        if (!device)
            luaL_error(L, "not enough memory");
    }
    if (!script->serving) /* a worker does not plan */
        peaks_define(L, device)->needs_peaks = true;
    struct peaks *peaks = lua_newuserdatauv(L, sizeof(*peaks), 0);
    *peaks = (struct peaks){.device = device};
    luaL_setmetatable(L, PEAKS);
    return 1;
}

struct plan_experiment *peaks_define(lua_State *L, const char *device)
{
    struct script *script = script_of(L);
    struct plan *plan = script->plan;
    struct assay_error error = {0};
    int line = 1;
    struct chunk *chunk = state_place(L, &line);
    size_t before = plan->experiment_count;
    if (!peaks_plan(plan, device, chunk ? chunk->path : script->params.path, line, &error))
        script_raise(L, &error);
    if (plan->experiment_count > before)
        closures_none(L);
    for (size_t i = 0; i < plan->experiment_count; i++) {
        struct plan_experiment *experiment = &plan->experiments[i];
        const char *other = experiment->is_peaks ? plan->cases[experiment->first_case].device
                                                 : NULL;
        if (experiment->is_peaks &&
            (device && other ? strcmp(device, other) == 0 : !device && !other))
            return experiment;
    }
    script_fail(L, "the peaks are not planned");
}

/* The floor of a case or of a stage ("copy.floor"); absent with the reason. */
void peaks_floor(lua_State *L, struct lazy *record, const char *name, struct metric *metric)
{
    const struct script *script = script_of(L);
    const json_t *found = floor_peaks_find(script->peaks, lazy_member(record, "device"));
    const json_t *stages, *stage;
    struct floor_peaks peaks;
    size_t i;
    *metric = (struct metric){.dimension = {.seconds = 1},
                              .absent = "there are no peaks of its device; say peaks = true"};
    if (!found)
        return;
    floor_peaks_read(found, &peaks);
    stages = lazy_member(record, "stages");
    if (strcmp(name, "floor") == 0) {
        floor_case(&peaks, stages, metric);
        return;
    }
    metric->absent = "the case has no such stage with these parameters";
    json_array_foreach((json_t *)(uintptr_t)stages, i, stage)
    {
        const char *stage_name = json_text(stage, "name", "");
        size_t length = strlen(stage_name);
        if (strncmp(stage_name, name, length) == 0 && strcmp(name + length, ".floor") == 0)
            floor_stage(&peaks, stage, metric);
    }
}

void peaks_open(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__index", peaks_index}, {"__newindex", peaks_set}, {NULL, NULL}};
    static const luaL_Reg part_meta[] = {
        {"__index", part_index}, {"__newindex", peaks_set}, {NULL, NULL}};
    script_class(L, PEAKS, meta);
    script_class(L, PART, part_meta);
}
