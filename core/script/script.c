/* SPDX-License-Identifier: MIT */
#include "script/inside.h"

#include "script/host.h"

#include "base/json.h"
#include "base/os.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_MAX_BYTES ((size_t)16 << 20)

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the script");
}

static bool copy_list(struct arena *arena, const char *const **list, size_t *count)
{
    *count = 0;
    while (*list && (*list)[*count])
        ++*count;
    const char **copy = arena_alloc(arena, (*count + 1) * sizeof(*copy));
    for (size_t i = 0; copy && i < *count; i++) {
        copy[i] = arena_copy(arena, (*list)[i]);
        if (!copy[i])
            return false;
    }
    *list = copy;
    return copy != NULL;
}

/* "--set NAME=VALUE" with a name and an equals sign. */
static bool lists_check(const char *flag, const char *const *list, struct assay_error *error)
{
    for (size_t i = 0; list && list[i]; i++) {
        const char *equals = strchr(list[i], '=');
        if (!equals || equals == list[i])
            return assay_fail(error, ASSAY_INVALID, "%s %s: NAME=VALUE is wanted", flag, list[i]);
    }
    return true;
}

static bool params_copy(struct script *script, const struct script_params *params,
                        struct assay_error *error)
{
    size_t sets, options, plugins;
    static const char *const none[] = {NULL};
    script->arena = arena_create();
    if (!script->arena)
        return no_memory(error);
    script->params = *params;
    if (!params->plugins)
        script->params.plugins = none;
    script->params.path = arena_copy(script->arena, params->path);
    if (params->device)
        script->params.device = arena_copy(script->arena, params->device);
    if (!script->params.path || (params->device && !script->params.device) ||
        !copy_list(script->arena, &script->params.sets, &sets) ||
        !copy_list(script->arena, &script->params.options, &options) ||
        !copy_list(script->arena, &script->params.plugins, &plugins))
        return no_memory(error);
    script->set_used = arena_alloc(script->arena, sets + 1);
    if (!script->set_used)
        return no_memory(error);
    return lists_check("--set", script->params.sets, error) &&
           lists_check("--option", script->params.options, error);
}

static bool is_blank(const struct text *source)
{
    for (size_t i = 0; i < source->length; i++)
        if (!isspace((unsigned char)source->data[i]))
            return false;
    return true;
}

static bool run_file(struct script *script, struct assay_error *error)
{
    struct text source = {0};
    const char *path = script->params.path;
    if (script->params.reads)
        script->params.reads(script->params.reads_user, path);
    bool good = os_file_read(path, SCRIPT_MAX_BYTES, &source, error);
    if (good && is_blank(&source))
        good = assay_fail(error, ASSAY_SCRIPT,
                          "%s:1: the script is empty; it has to call assay.experiment { ... }",
                          path);
    good = good && state_load(script->L, path, &source, error);
    text_free(&source);
    if (!good)
        return false;
    return state_call(script, 0, NULL, error);
}

/* A --set that no experiment took: the names of all parameters there are. */
static bool unused_set(const struct script *script, const char *set, struct assay_error *error)
{
    const struct plan *plan = script->plan;
    const char *equals = strchr(set, '=');
    size_t count = 0, room = 0;
    for (size_t i = 0; i < catalog_count(plan->catalog); i++)
        room += option_count(catalog_at(plan->catalog, i)->options);
    const char **names = arena_alloc(script->arena, (room + 1) * sizeof(*names));
    char *name = arena_printf(script->arena, "%.*s", (int)(equals - set), set);
    if (!names || !name)
        return no_memory(error);
    for (size_t i = 0; i < catalog_count(plan->catalog); i++) {
        const struct catalog_workload *workload = catalog_at(plan->catalog, i);
        bool used = false;
        for (size_t k = 0; k < plan->experiment_count && !used; k++) {
            const struct plan_experiment *experiment = &plan->experiments[k];
            for (size_t c = 0; c < experiment->case_count && !used; c++)
                used = plan->cases[experiment->first_case + c].workload == workload;
        }
        for (size_t k = 0; used && workload->options[k]; k++)
            names[count++] = workload->options[k]->name;
    }
    struct text text = {0};
    const char *nearest = text_nearest(name, names, count);
    if (nearest)
        text_addf(&text, "; did you mean '%s'?", nearest);
    text_add(&text, nearest ? " They have " : "; they have ");
    text_add_list(&text, names, count);
    assay_fail(error, ASSAY_INVALID, "--set %s: no experiment's workload has a parameter '%s'%s",
               set, name, text_string(&text));
    text_free(&text);
    return false;
}

static bool unused_option(const struct script *script, const char *given, struct assay_error *error)
{
    const char *equals = strchr(given, '=');
    char *name = arena_printf(script->arena, "%.*s", (int)(equals - given), given);
    const char **names = arena_alloc(script->arena, (script->option_count + 1) * sizeof(*names));
    struct text text = {0};
    if (!names || !name)
        return no_memory(error);
    for (size_t i = 0; i < script->option_count; i++) {
        names[i] = script->options[i].name;
        if (strcmp(names[i], name) == 0)
            return true;
    }
    const char *nearest = text_nearest(name, names, script->option_count);
    if (nearest)
        text_addf(&text, "; did you mean '%s'?", nearest);
    text_add(&text, nearest ? " It declares " : "; it declares ");
    text_add_list(&text, names, script->option_count);
    if (script->option_count == 0)
        text_add(&text, "none");
    assay_fail(error, ASSAY_INVALID, "--option %s: the script declares no option '%s'%s", given,
               name, text_string(&text));
    text_free(&text);
    return false;
}

static bool outcome_check(const struct script *script, struct assay_error *error)
{
    if (script->defining)
        return assay_fail(error, ASSAY_SCRIPT,
                          "%s: an assay.experiment failed, and the script hid the error by pcall",
                          script->params.path);
    if (script->plan->experiment_count == 0)
        return assay_fail(error, ASSAY_SCRIPT,
                          "%s: the script defines no experiment; it has to call assay.experiment { "
                          "name = ..., workload = ... }",
                          script->params.path);
    for (size_t i = 0; script->params.sets[i]; i++)
        if (!script->set_used[i])
            return unused_set(script, script->params.sets[i], error);
    for (size_t i = 0; script->params.options[i]; i++)
        if (!unused_option(script, script->params.options[i], error))
            return false;
    return true;
}

struct script *script_load(const struct script_params *params, struct assay_error *error)
{
    struct script *script = calloc(1, sizeof(*script));
    if (!script) {
        no_memory(error);
        return NULL;
    }
    if (!params_copy(script, params, error))
        goto fail;
    script->catalog = catalog_extend(params->catalog, error);
    if (!script->catalog)
        goto fail;
    script->plan = plan_create(script->catalog, params->seed, error);
    if (!script->plan)
        goto fail;
    if (params->device &&
        !(script->plan->device = arena_copy(script->plan->arena, params->device))) {
        no_memory(error);
        goto fail;
    }
    if (!state_create(script, error) || !run_file(script, error) || !outcome_check(script, error))
        goto fail;
    return script;
fail:
    script_destroy(&script);
    return NULL;
}

void script_destroy(struct script **script)
{
    if (!*script)
        return;
    script_host_destroy(&(*script)->host);
    state_destroy(*script);
    plan_destroy(&(*script)->plan);
    catalog_destroy(&(*script)->catalog);
    json_decref((*script)->sent);
    json_decref((*script)->peaks);
    for (size_t i = 0; i < (*script)->option_count; i++)
        json_decref((*script)->options[i].value);
    arena_destroy(&(*script)->scratch);
    arena_destroy(&(*script)->arena);
    free(*script);
    *script = NULL;
}

struct plan *script_plan(struct script *script)
{
    return script->plan;
}

json_t *script_record(const struct script *script)
{
    json_t *modules = json_array(), *options = json_object();
    for (size_t i = 1; i < script->chunk_count; i++)
        json_array_append_new(modules, json_pack("{s:o, s:s}", "path",
                                                 json_clean_string(script->chunks[i].path), "hash",
                                                 script->chunks[i].hash));
    for (size_t i = 0; i < script->option_count; i++)
        json_object_set(options, script->options[i].name, script->options[i].value);
    return json_pack("{s:o, s:s, s:o, s:o}", "path", json_clean_string(script->params.path), "hash",
                     script->chunk_count ? script->chunks[0].hash : "", "modules", modules,
                     "options", options);
}

static void cache_clear(struct judging *judging)
{
    for (size_t i = 0; i < RECORD_CACHE; i++) {
        lazy_destroy(&judging->cache[i].record);
        judging->cache[i].item = NULL;
    }
    for (size_t i = 0; i < SAMPLES_CACHE; i++) {
        json_decref(judging->samples[i].samples);
        json_decref(judging->samples[i].record);
        judging->samples[i] = (struct samples_slot){0};
    }
}

/* Protected: pushes what the closure gets, calls it, looks for bounds left open. The closure's
 * reference is the argument. */
static int closure_run(lua_State *L)
{
    const struct judging *judging = &script_of(L)->judging;
    lua_rawgeti(L, LUA_REGISTRYINDEX, lua_tointeger(L, 1));
    if (judging->item)
        result_push(L, judging->item);
    else if (judging->group)
        cases_push_group(L, judging->group);
    else
        cases_push_all(L, judging->experiment);
    lua_pushcfunction(L, expect_new);
    lua_call(L, 2, 0);
    expect_finish(L);
    return 0;
}

static bool enter(struct script *script, int reference, struct assay_error *error)
{
    bool stopped;
    script->judging.generation++;
    script->judging.open_bounds = 0;
    lua_pushcfunction(script->L, closure_run);
    lua_pushinteger(script->L, reference);
    bool good = state_call(script, 1, &stopped, error);
    cache_clear(&script->judging);
    script->judging.judge = NULL;
    script->judging.reader = NULL;
    script->judging.item = NULL;
    script->judging.group = NULL;
    return good;
}

static bool check_run(void *user, uint32_t experiment, const struct judge_group *group,
                      struct judge *judge, struct assay_error *error)
{
    struct script *script = user;
    struct judging *judging = &script->judging;
    int reference = script->closures[experiment].check;
    if (reference == LUA_NOREF)
        return true;
    judging->judge = judge;
    judging->experiment = experiment;
    judging->group = group;
    judging->item = script->plan->experiments[experiment].pair ? NULL : group->items[0];
    return enter(script, reference, error);
}

static bool summary_run(void *user, uint32_t experiment, struct journal_reader *reader,
                        struct judge *judge, struct assay_error *error)
{
    struct script *script = user;
    int reference = script->closures[experiment].summary;
    if (reference == LUA_NOREF)
        return true;
    script->judging.judge = judge;
    script->judging.reader = reader;
    script->judging.experiment = experiment;
    script->judging.item = NULL;
    return enter(script, reference, error);
}

void script_set_peaks(struct script *script, const json_t *peaks)
{
    json_incref((json_t *)(uintptr_t)peaks);
    json_decref(script->peaks);
    script->peaks = (json_t *)(uintptr_t)peaks;
}

void script_judge(struct script *script, struct judge_script *out)
{
    *out = (struct judge_script){.user = script, .check = check_run, .summary = summary_run};
}
