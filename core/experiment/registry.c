/* SPDX-License-Identifier: MIT */
#include "experiment/registry.h"

#include "base/options.h"
#include "base/text.h"
#include "experiment/registry_check.h"
#include "experiment/registry_sensors.h"
#include "experiment/registry_take.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    const struct assay_plugin *plugin;
    const struct assay_workload *workload;
    const char *file; /* of the plugin; NULL: built in */
    void *defaults;
};

struct registry {
    struct arena *arena;
    struct entry *entries;
    size_t count;
    struct registry_sensors sensors;
};

static bool entry_fill(struct registry *registry, const struct assay_plugin *plugin,
                       const char *file, const struct assay_workload *workload,
                       struct assay_error *error)
{
    for (size_t i = 0; i < registry->count; i++) {
        const struct entry *other = &registry->entries[i];
        if (strcmp(other->workload->name, workload->name) == 0)
            return assay_fail(error, ASSAY_INVALID,
                              "there are two workloads '%s': of plugin '%s' (%s) and of plugin "
                              "'%s' (%s)",
                              workload->name, other->plugin->name,
                              other->file ? other->file : "built in", plugin->name,
                              file ? file : "built in");
    }
    struct entry *entry = &registry->entries[registry->count];
    *entry = (struct entry){.plugin = plugin, .workload = workload, .file = file};
    entry->defaults = arena_alloc(registry->arena, workload->params_size);
    if (!entry->defaults)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the workloads");
    for (size_t i = 0; workload->options[i]; i++) {
        struct option_value value;
        if (!option_default(workload->options[i], registry->arena, &value, error)) {
            error_prefix(error, "plugin '%s': default of workload '%s'", plugin->name,
                         workload->name);
            return false;
        }
        option_store(workload->options[i], &value, entry->defaults);
    }
    registry->count++;
    return true;
}

static bool workloads_add(struct registry *registry, const struct assay_plugin *plugin,
                          const char *file, struct assay_error *error)
{
    size_t more = 0;
    while (plugin->workloads && plugin->workloads[more])
        more++;
    struct entry *entries = realloc(registry->entries,
                                    (registry->count + more + 1) * sizeof(*entries));
    if (!entries)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the workloads");
    registry->entries = entries;
    for (size_t i = 0; i < more; i++)
        if (!registry_check_workload(plugin, plugin->workloads[i], error) ||
            !entry_fill(registry, plugin, file, plugin->workloads[i], error))
            return false;
    return true;
}

const struct assay_plugin *registry_add_plugin(struct registry *registry,
                                               const struct assay_plugin *given, const char *file,
                                               struct assay_error *error)
{
    size_t before = registry->count, sensors_before = registry->sensors.count;
    const char *kept = file ? arena_copy(registry->arena, file) : NULL;
    if (file && !kept) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the workloads");
        return NULL;
    }
    const struct assay_plugin *plugin = registry_take(given, registry->arena, error);
    if (plugin && registry_check_plugin(plugin, error) &&
        workloads_add(registry, plugin, kept, error) &&
        registry_sensors_add(&registry->sensors, plugin, kept, error))
        return plugin;
    registry->count = before; /* all of a plugin, or nothing */
    registry->sensors.count = sensors_before;
    return NULL;
}

const struct assay_plugin *registry_add(struct registry *registry, assay_plugin_entry *function,
                                        const char *file, struct assay_error *error)
{
    return registry_add_plugin(registry, function(), file, error);
}

void registry_own(struct registry *registry, const char *workload, void *owner)
{
    for (size_t i = 0; i < registry->count; i++)
        if (strcmp(registry->entries[i].workload->name, workload) == 0)
            memcpy(registry->entries[i].defaults, &owner, sizeof(owner));
}

struct registry *registry_create(assay_plugin_entry *const *plugins, struct assay_error *error)
{
    struct registry *registry = calloc(1, sizeof(*registry));
    if (registry)
        registry->arena = arena_create();
    if (!registry || !registry->arena) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the workloads");
        goto fail;
    }
    for (size_t i = 0; plugins[i]; i++)
        if (!registry_add(registry, plugins[i], NULL, error))
            goto fail;
    return registry;
fail:
    registry_destroy(&registry);
    return NULL;
}

void registry_destroy(struct registry **registry)
{
    if (!*registry)
        return;
    arena_destroy(&(*registry)->arena);
    free((*registry)->entries);
    free((*registry)->sensors.items);
    free(*registry);
    *registry = NULL;
}

const struct assay_workload *registry_find(const struct registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->count; i++)
        if (strcmp(registry->entries[i].workload->name, name) == 0)
            return registry->entries[i].workload;
    return NULL;
}

const void *registry_defaults(const struct registry *registry,
                              const struct assay_workload *workload)
{
    for (size_t i = 0; i < registry->count; i++)
        if (registry->entries[i].workload == workload)
            return registry->entries[i].defaults;
    return NULL;
}

const char *registry_file(const struct registry *registry, const struct assay_workload *workload)
{
    for (size_t i = 0; i < registry->count; i++)
        if (registry->entries[i].workload == workload)
            return registry->entries[i].file;
    return NULL;
}

const struct registry_sensors *registry_sensors(const struct registry *registry)
{
    return &registry->sensors;
}

bool workload_is_model(const struct assay_workload *workload)
{
    for (size_t i = 0; workload->stages[i]; i++)
        if (workload->stages[i]->kind != ASSAY_STAGE_MODEL)
            return false;
    return true;
}

static const char *kind_word(enum assay_stage_kind kind)
{
    static const char *const words[] = {"host", "transfer", "compute", "model"};
    return words[kind];
}

static json_t *describe_stages(const struct assay_workload *workload)
{
    json_t *array = json_array();
    for (size_t i = 0; workload->stages[i]; i++) {
        const struct assay_stage *stage = workload->stages[i];
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again = again || strcmp(workload->stages[j]->name, stage->name) == 0;
        if (again)
            continue;
        json_array_append_new(array, json_pack("{s:s, s:s, s:s}", "name", stage->name, "kind",
                                               kind_word(stage->kind), "help",
                                               stage->help ? stage->help : ""));
    }
    return array;
}

static json_t *describe_metrics(const struct assay_workload *workload)
{
    json_t *array = json_array();
    for (size_t i = 0; workload->metrics && workload->metrics[i]; i++) {
        const struct assay_metric_info *info = workload->metrics[i];
        json_array_append_new(array, json_pack("{s:s, s:s, s:s}", "name", info->name, "unit",
                                               info->unit, "help", info->help ? info->help : ""));
    }
    return array;
}

static json_t *describe(const struct entry *entry)
{
    const struct assay_workload *workload = entry->workload;
    return json_pack("{s:s, s:s, s:s, s:s, s:s*, s:b, s:o, s:o, s:o}", "name", workload->name,
                     "version", workload->version, "summary", workload->summary, "plugin",
                     entry->plugin->name, "file", entry->file, "model",
                     (int)workload_is_model(workload), "options",
                     option_table_to_json(workload->options), "stages", describe_stages(workload),
                     "metrics", describe_metrics(workload));
}

bool workload_definition(const json_t *described, struct hash128 *hash)
{
    json_t *parts = json_pack("[O?, O?, O?]", json_object_get(described, "options"),
                              json_object_get(described, "stages"),
                              json_object_get(described, "metrics"));
    char *text = parts ? json_dumps(parts, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (text)
        *hash = hash_bytes(text, strlen(text));
    free(text);
    json_decref(parts);
    return text != NULL;
}

bool registry_definition(const struct assay_workload *workload, struct hash128 *hash)
{
    json_t *described = json_pack("{s:o, s:o, s:o}", "options",
                                  option_table_to_json(workload->options), "stages",
                                  describe_stages(workload), "metrics", describe_metrics(workload));
    bool good = described && workload_definition(described, hash);
    json_decref(described);
    return good;
}

static bool same_file(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

json_t *registry_describe(const struct registry *registry, const char *file)
{
    json_t *array = json_array();
    size_t count = 0;
    for (size_t i = 0; i < registry->count; i++) {
        if (!same_file(registry->entries[i].file, file))
            continue;
        json_array_append_new(array, describe(&registry->entries[i]));
        count++;
    }
    if (json_array_size(array) != count) {
        json_decref(array);
        return NULL;
    }
    return array;
}
