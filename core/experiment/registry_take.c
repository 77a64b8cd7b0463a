/* SPDX-License-Identifier: MIT */
#include "experiment/registry_take.h"

#include "base/abi.h"
#include "experiment/registry.h"

#include <stdint.h>
#include <string.h>

#define TABLE_ROWS_MAX 1024 /* a table that does not end */

/* A stage of an earlier layout; its `size` is still the plugin's, so that it is known. */
struct stage_copy {
    struct assay_stage stage;
    const struct assay_stage *own;
};

/* A kind of struct that a plugin has a table of. */
struct layout {
    const char *type, *table;
    size_t known, first;
    size_t room; /* that a copy takes */
};
static const struct layout workload_layout = {
    "assay_workload", "workloads", sizeof(struct assay_workload),
    ABI_END(struct assay_workload, destroy), sizeof(struct assay_workload)};
static const struct layout option_layout = {"assay_option", "options", sizeof(struct assay_option),
                                            ABI_END(struct assay_option, flags),
                                            sizeof(struct assay_option)};
static const struct layout stage_layout = {"assay_stage", "stages", sizeof(struct assay_stage),
                                           ABI_END(struct assay_stage, duration_ns),
                                           sizeof(struct stage_copy)};
static const struct layout metric_layout = {
    "assay_metric_info", "metrics", sizeof(struct assay_metric_info),
    ABI_END(struct assay_metric_info, help), sizeof(struct assay_metric_info)};
static const struct layout tuning_layout = {"assay_tuning", "tuning", sizeof(struct assay_tuning),
                                            ABI_END(struct assay_tuning, reduce),
                                            sizeof(struct assay_tuning)};
static const struct layout sensor_layout = {"assay_sensor", "sensors", sizeof(struct assay_sensor),
                                            ABI_END(struct assay_sensor, close),
                                            sizeof(struct assay_sensor)};
static const struct layout reading_layout = {
    "assay_reading", "readings", sizeof(struct assay_reading), ABI_END(struct assay_reading, help),
    sizeof(struct assay_reading)};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the workloads");
}

static size_t rows_count(const void *const *rows, const struct layout *layout,
                         struct assay_error *error)
{
    size_t count = 0;
    while (count < TABLE_ROWS_MAX && rows[count])
        count++;
    if (count == TABLE_ROWS_MAX)
        assay_fail(error, ASSAY_INTERNAL, "its table `%s` has no NULL at its end", layout->table);
    return count;
}

static const void *row_take(const void *given, const struct layout *layout, struct arena *arena,
                            struct assay_error *error)
{
    void *copy = arena_alloc(arena, layout->room);
    if (!copy) {
        no_memory(error);
        return NULL;
    }
    if (!abi_copy(copy, layout->known, layout->first, given, layout->type, error))
        return NULL;
    return copy;
}

/* The rows of a NULL-terminated table. */
static const void **rows_take(const void *const *given, const struct layout *layout,
                              struct arena *arena, struct assay_error *error)
{
    struct assay_error cause = {0};
    size_t count = rows_count(given, layout, &cause);
    if (cause.status != ASSAY_OK) {
        *error = cause;
        return NULL;
    }
    const void **rows = arena_alloc(arena, (count + 1) * sizeof(*rows));
    if (!rows) {
        no_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        rows[i] = row_take(given[i], layout, arena, error);
        if (!rows[i]) {
            error_prefix(error, "%s[%zu]", layout->table, i);
            return NULL;
        }
    }
    return rows;
}

/* Hooks are given the plugin's own stage: it may be part of something larger. */
static void stages_keep(struct assay_workload *workload, const struct assay_stage *const *given)
{
    const struct assay_stage **rows = (const struct assay_stage **)workload->stages;
    for (size_t i = 0; rows[i]; i++) {
        struct stage_copy *copy = (struct stage_copy *)rows[i];
        copy->own = given[i];
        if (rows[i]->size == sizeof(struct assay_stage))
            rows[i] = given[i];
    }
}

const struct assay_stage *registry_stage(const struct assay_stage *stage)
{
    bool copied = stage->size >= stage_layout.first && stage->size < sizeof(*stage);
    return copied ? ((const struct stage_copy *)stage)->own : stage;
}

static bool workload_take(struct assay_workload *workload, struct arena *arena,
                          struct assay_error *error)
{
    const struct assay_stage *const *stages = workload->stages;
    const void *const *options = (const void *const *)workload->options;
    const void *const *metrics = (const void *const *)workload->metrics;
    workload->size = sizeof(*workload);
    if (!options || !stages)
        return true; /* refused later, in words of its own */
    workload->options = (const struct assay_option *const *)rows_take(options, &option_layout,
                                                                      arena, error);
    if (!workload->options)
        return false;
    workload->stages = (const struct assay_stage *const *)rows_take((const void *const *)stages,
                                                                    &stage_layout, arena, error);
    if (!workload->stages)
        return false;
    stages_keep(workload, stages);
    if (metrics) {
        workload->metrics = (const struct assay_metric_info *const *)rows_take(
            metrics, &metric_layout, arena, error);
        if (!workload->metrics)
            return false;
    }
    if (!workload->tuning)
        return true;
    workload->tuning = row_take(workload->tuning, &tuning_layout, arena, error);
    return workload->tuning || (error_prefix(error, "%s", tuning_layout.table), false);
}

static bool sensors_take(struct assay_plugin *plugin, struct arena *arena,
                         struct assay_error *error)
{
    if (!plugin->sensors)
        return true;
    const void **rows = rows_take((const void *const *)plugin->sensors, &sensor_layout, arena,
                                  error);
    for (size_t i = 0; rows && rows[i]; i++) {
        struct assay_sensor *sensor = (struct assay_sensor *)rows[i];
        const void *const *readings = (const void *const *)sensor->readings;
        if (!readings)
            continue; /* refused later */
        sensor->readings = (const struct assay_reading *const *)rows_take(readings, &reading_layout,
                                                                          arena, error);
        if (!sensor->readings) {
            error_prefix(error, "sensors[%zu]", i);
            return false;
        }
    }
    plugin->sensors = (const struct assay_sensor *const *)rows;
    return rows != NULL;
}

/* The layout of what is behind `abi` is known only once that is right. */
static bool plugin_take(const struct assay_plugin *given, struct assay_plugin *plugin,
                        struct assay_error *error)
{
    if (!given)
        return assay_fail(error, ASSAY_INTERNAL, "its entry point returned NULL");
    if (given->size < ABI_END(struct assay_plugin, abi))
        return assay_fail(error, ASSAY_INTERNAL,
                          "struct assay_plugin has %zu bytes, in ABI %u it has at least %zu",
                          given->size, ASSAY_ABI, ABI_END(struct assay_plugin, workloads));
    if (given->abi != ASSAY_ABI)
        return assay_fail(
            error, ASSAY_INTERNAL,
            "it was built for ABI %u, this assay has ABI %u: build it against the headers of this "
            "assay",
            given->abi, ASSAY_ABI);
    return abi_copy(plugin, sizeof(*plugin), ABI_END(struct assay_plugin, workloads), given,
                    "assay_plugin", error);
}

const struct assay_plugin *registry_take(const struct assay_plugin *given, struct arena *arena,
                                         struct assay_error *error)
{
    struct assay_plugin *plugin = arena_alloc(arena, sizeof(*plugin));
    if (!plugin) {
        no_memory(error);
        return NULL;
    }
    if (!plugin_take(given, plugin, error) || !sensors_take(plugin, arena, error))
        return NULL;
    if (!plugin->workloads)
        return plugin;
    const void **rows = rows_take((const void *const *)plugin->workloads, &workload_layout, arena,
                                  error);
    for (size_t i = 0; rows && rows[i]; i++) {
        if (!workload_take((struct assay_workload *)rows[i], arena, error)) {
            error_prefix(error, "workloads[%zu]", i);
            return NULL;
        }
    }
    plugin->workloads = (const struct assay_workload *const *)rows;
    return rows ? plugin : NULL;
}
