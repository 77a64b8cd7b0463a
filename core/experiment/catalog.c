/* SPDX-License-Identifier: MIT */
#include "experiment/catalog.h"

#include "base/json.h"
#include "base/options.h"
#include "experiment/registry.h"

#include <stdlib.h>
#include <string.h>

struct catalog {
    const struct catalog *base; /* NULL: none */
    struct arena *arena;
    struct catalog_workload **workloads; /* its own, in the arena */
    size_t count;
    const char *missing; /* or NULL */
    json_t *sensors;
    struct catalog_metric *readings; /* of the sensors, in the arena */
    size_t reading_count;
};

/* clang-format off */
const char *const catalog_reserved_names[] = {
    "p", "status", "reason", "device", "time", "submit_time", "latency", "device_time", "period",
    "serial_time", "host_cpu_time", "verification", "sensors", "ideal_period", "efficiency",
    "extra_memory", "bottleneck", "floor", "what_if", "one", "where", "each", "groups", "workload",
    "schedule", "replica", "experiment", "id", "throughput", "goodput", "utilisation", "drift",
    "choice", "value", "drift_verdict", NULL};
/* clang-format on */

static bool stages_read(struct catalog *catalog, struct catalog_workload *workload,
                        struct assay_error *error)
{
    const json_t *list = json_object_get(workload->json, "stages");
    size_t count = json_array_size(list);
    struct catalog_stage *stages = arena_alloc(catalog->arena, (count + 1) * sizeof(*stages));
    if (!stages)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the workload descriptions");
    for (size_t i = 0; i < count; i++) {
        const json_t *json = json_array_get(list, i);
        stages[i].name = json_text(json, "name", NULL);
        stages[i].kind = json_text(json, "kind", "");
        stages[i].help = json_text(json, "help", "");
        if (!stages[i].name)
            return assay_fail(error, ASSAY_SYSTEM, "workload '%s': stage %zu has no name",
                              workload->name, i);
    }
    workload->stages = stages;
    workload->stage_count = count;
    return true;
}

static bool extras_read(struct catalog *catalog, struct catalog_workload *workload,
                        struct assay_error *error)
{
    const json_t *list = json_object_get(workload->json, "metrics");
    size_t count = json_array_size(list);
    struct catalog_metric *extras = arena_alloc(catalog->arena, (count + 1) * sizeof(*extras));
    if (!extras)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the workload descriptions");
    for (size_t i = 0; i < count; i++) {
        const json_t *json = json_array_get(list, i);
        extras[i].name = json_text(json, "name", NULL);
        extras[i].unit = json_text(json, "unit", "1");
        extras[i].help = json_text(json, "help", "");
        extras[i].dimension = unit_of_label(extras[i].unit).dimension;
        if (!extras[i].name)
            return assay_fail(error, ASSAY_SYSTEM, "workload '%s': metric %zu has no name",
                              workload->name, i);
    }
    workload->extras = extras;
    workload->extra_count = count;
    return true;
}

static bool workload_read(struct catalog *catalog, struct catalog_workload *workload, json_t *json,
                          struct assay_error *error)
{
    workload->json = json;
    workload->name = json_text(json, "name", NULL);
    workload->version = json_text(json, "version", "");
    workload->summary = json_text(json, "summary", "");
    workload->plugin = json_text(json, "plugin", "");
    workload->file = json_text(json, "file", NULL);
    workload->model = json_flag(json, "model", false);
    if (!workload->name)
        return assay_fail(error, ASSAY_SYSTEM, "a workload description has no name");
    if (!workload_definition(json, &workload->definition))
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the workload descriptions");
    workload->options = option_table_from_json(json_object_get(json, "options"), catalog->arena,
                                               error);
    if (!workload->options) {
        error_prefix(error, "workload '%s'", workload->name);
        return false;
    }
    return stages_read(catalog, workload, error) && extras_read(catalog, workload, error);
}

static struct catalog *catalog_new(const struct catalog *base, struct assay_error *error)
{
    struct catalog *catalog = calloc(1, sizeof(*catalog));
    if (catalog) {
        catalog->base = base;
        catalog->arena = arena_create();
    }
    if (catalog && catalog->arena)
        return catalog;
    assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the workload descriptions");
    catalog_destroy(&catalog);
    return NULL;
}

struct catalog *catalog_extend(const struct catalog *base, struct assay_error *error)
{
    return catalog_new(base, error);
}

bool catalog_add(struct catalog *catalog, json_t *workload, struct assay_error *error)
{
    struct catalog_workload **grown = realloc(catalog->workloads,
                                              (catalog->count + 1) * sizeof(*grown));
    struct catalog_workload *made = arena_alloc(catalog->arena, sizeof(*made));
    if (grown)
        catalog->workloads = grown;
    if (!grown || !made)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the workload descriptions");
    if (!workload_read(catalog, made, workload, error))
        return false;
    json_incref(workload);
    catalog->workloads[catalog->count++] = made;
    return true;
}

struct catalog *catalog_create(json_t *description, struct assay_error *error)
{
    struct catalog *catalog = catalog_new(NULL, error);
    size_t i;
    json_t *workload;
    if (!catalog)
        return NULL;
    if (!json_is_array(description)) {
        assay_fail(error, ASSAY_SYSTEM, "the workload descriptions are not a JSON array");
        goto fail;
    }
    json_array_foreach(description, i, workload)
    {
        if (!catalog_add(catalog, workload, error))
            goto fail;
    }
    return catalog;
fail:
    catalog_destroy(&catalog);
    return NULL;
}

static bool readings_read(struct catalog *catalog, const json_t *list, struct assay_error *error)
{
    size_t i, count = catalog->reading_count + json_array_size(list);
    json_t *json;
    struct catalog_metric *readings = arena_alloc(catalog->arena, (count + 1) * sizeof(*readings));
    if (!readings)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the sensor descriptions");
    for (i = 0; i < catalog->reading_count; i++)
        readings[i] = catalog->readings[i];
    json_array_foreach(list, i, json)
    {
        struct catalog_metric *reading = &readings[catalog->reading_count++];
        reading->name = json_text(json, "name", "");
        reading->unit = json_text(json, "unit", "1");
        reading->help = json_text(json, "help", "");
        reading->dimension = unit_of_label(reading->unit).dimension;
    }
    catalog->readings = readings;
    return true;
}

bool catalog_set_sensors(struct catalog *catalog, json_t *sensors, struct assay_error *error)
{
    size_t i;
    json_t *sensor;
    json_decref(catalog->sensors);
    catalog->sensors = json_incref(sensors);
    catalog->reading_count = 0;
    json_array_foreach(sensors, i, sensor)
    {
        if (!readings_read(catalog, json_object_get(sensor, "readings"), error))
            return false;
    }
    return true;
}

size_t catalog_reading_count(const struct catalog *catalog)
{
    return catalog->reading_count + (catalog->base ? catalog_reading_count(catalog->base) : 0);
}

const struct catalog_metric *catalog_reading(const struct catalog *catalog, size_t index)
{
    size_t before = catalog->base ? catalog_reading_count(catalog->base) : 0;
    return index < before ? catalog_reading(catalog->base, index)
                          : &catalog->readings[index - before];
}

bool catalog_set_missing(struct catalog *catalog, const char *text, struct assay_error *error)
{
    catalog->missing = arena_copy(catalog->arena, text);
    return catalog->missing ||
           assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the workload descriptions");
}

void catalog_destroy(struct catalog **catalog)
{
    struct catalog *self = *catalog;
    *catalog = NULL;
    if (!self)
        return;
    for (size_t i = 0; i < self->count; i++)
        json_decref(self->workloads[i]->json);
    json_decref(self->sensors);
    free(self->workloads);
    arena_destroy(&self->arena);
    free(self);
}

size_t catalog_count(const struct catalog *catalog)
{
    return catalog->count + (catalog->base ? catalog_count(catalog->base) : 0);
}

const struct catalog_workload *catalog_at(const struct catalog *catalog, size_t index)
{
    size_t before = catalog->base ? catalog_count(catalog->base) : 0;
    return index < before ? catalog_at(catalog->base, index) : catalog->workloads[index - before];
}

const struct catalog_workload *catalog_look(const struct catalog *catalog, const char *name)
{
    for (size_t i = 0; i < catalog_count(catalog); i++)
        if (strcmp(catalog_at(catalog, i)->name, name) == 0)
            return catalog_at(catalog, i);
    return NULL;
}

static void unknown_workload(const struct catalog *catalog, const char *name,
                             struct assay_error *error)
{
    struct text text = {0};
    size_t count = catalog_count(catalog);
    const char **names = calloc(count + 1, sizeof(*names));
    if (!names) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a list of names");
        return;
    }
    for (size_t i = 0; i < count; i++)
        names[i] = catalog_at(catalog, i)->name;
    text_add(&text, "there is no workload '");
    text_add_clean(&text, name);
    text_add(&text, "'");
    const char *nearest = text_nearest(name, names, count);
    if (nearest)
        text_addf(&text, "; did you mean '%s'?", nearest);
    text_add(&text, nearest ? " There are " : "; there are ");
    text_add_list(&text, names, count);
    const struct catalog *base = catalog;
    while (base && !base->missing)
        base = base->base;
    if (base)
        text_addf(&text, "; %s", base->missing);
    assay_fail(error, ASSAY_INVALID, "%s", text_string(&text));
    text_free(&text);
    free(names);
}

long catalog_find(const struct catalog *catalog, const char *name, struct assay_error *error)
{
    for (size_t i = 0; i < catalog_count(catalog); i++)
        if (strcmp(catalog_at(catalog, i)->name, name) == 0)
            return (long)i;
    unknown_workload(catalog, name, error);
    return -1;
}
