/* SPDX-License-Identifier: MIT */
#include "experiment/registry_check.h"

#include "base/options.h"
#include "base/units.h"
#include "experiment/catalog.h"

#include <string.h>

#define NAME_BYTES_MAX 48
#define STAGES_MAX 16
#define EXTRAS_MAX 64

static const char *const lua_keywords[] = {
    "and",      "break",  "do",   "else", "elseif", "end",   "false", "for",
    "function", "goto",   "if",   "in",   "local",  "nil",   "not",   "or",
    "repeat",   "return", "then", "true", "until",  "while", NULL};
/* Axes of every experiment, so no names of parameters. */
static const char *const axis_names[] = {"device", "replica", "schedule", "workload", NULL};

struct place {
    const struct assay_plugin *plugin;
    const struct assay_workload *workload;
    const char *what, *name; /* "stage", "upload" */
    struct assay_error *error;
};

static bool refuse(const struct place *place, const char *reason)
{
    if (!place->workload)
        return assay_fail(place->error, ASSAY_INTERNAL, "plugin '%s': %s", place->plugin->name,
                          reason);
    return assay_fail(place->error, ASSAY_INTERNAL, "plugin '%s': workload '%s': %s%s%s%s%s",
                      place->plugin->name, place->workload->name, place->what ? place->what : "",
                      place->what ? " '" : "", place->what && place->name ? place->name : "",
                      place->what ? "': " : "", reason);
}

static bool listed(const char *const *words, const char *name)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

static bool name_is_identifier(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > NAME_BYTES_MAX || (name[0] >= '0' && name[0] <= '9'))
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(c >= '0' && c <= '9'))
            return false;
    }
    return !listed(lua_keywords, name);
}

static bool check_name(const struct place *place, const char *const *reserved)
{
    if (!place->name || !name_is_identifier(place->name))
        return refuse(place, "the name is not a Lua identifier of at most 48 letters");
    if (reserved && listed(reserved, place->name))
        return refuse(place, "the name is reserved");
    return true;
}

bool registry_check_plugin(const struct assay_plugin *plugin, struct assay_error *error)
{
    struct place place = {.plugin = plugin, .error = error};
    if (!plugin->name || !name_is_identifier(plugin->name))
        return assay_fail(error, ASSAY_INTERNAL, "a plugin's name '%s' is not a Lua identifier",
                          plugin->name ? plugin->name : "");
    if (!plugin->version || !*plugin->version)
        return refuse(&place, "it has no version");
    if (!plugin->workloads && !plugin->sensors)
        return refuse(&place, "it has neither workloads nor sensors");
    return true;
}

static bool refuse_sensor(const struct assay_plugin *plugin, const struct assay_sensor *sensor,
                          const struct assay_reading *reading, const char *reason,
                          struct assay_error *error)
{
    return assay_fail(error, ASSAY_INTERNAL, "plugin '%s': sensor '%s': %s%s%s%s", plugin->name,
                      sensor->name, reading ? "reading '" : "",
                      reading && reading->name ? reading->name : "", reading ? "': " : "", reason);
}

static bool check_reading(const struct assay_plugin *plugin, const struct assay_sensor *sensor,
                          const struct assay_reading *reading, struct assay_error *error)
{
    struct unit unit;
    if (!reading->name || !name_is_identifier(reading->name))
        return refuse_sensor(plugin, sensor, reading,
                             "the name is not a Lua identifier of at most 48 letters", error);
    if (!reading->unit || !unit_parse(reading->unit, &unit, NULL))
        return refuse_sensor(plugin, sensor, reading, "its unit is unknown", error);
    return true;
}

bool registry_check_sensor(const struct assay_plugin *plugin, const struct assay_sensor *sensor,
                           struct assay_error *error)
{
    size_t count = 0;
    if (!sensor->name || !name_is_identifier(sensor->name))
        return assay_fail(error, ASSAY_INTERNAL,
                          "plugin '%s': the name of a sensor is not a Lua identifier of at most 48 "
                          "letters",
                          plugin->name);
    if (!sensor->summary)
        return refuse_sensor(plugin, sensor, NULL, "it lacks a summary", error);
    if (!sensor->open || !sensor->read || !sensor->close)
        return refuse_sensor(plugin, sensor, NULL, "it lacks open, read or close", error);
    while (sensor->readings && sensor->readings[count])
        count++;
    if (count == 0 || count > ASSAY_SENSOR_READINGS)
        return refuse_sensor(plugin, sensor, NULL, "it must have 1 to 16 readings", error);
    for (size_t i = 0; i < count; i++)
        if (!check_reading(plugin, sensor, sensor->readings[i], error))
            return false;
    return true;
}

static bool check_option(struct place place, const struct assay_option *option)
{
    place.what = "parameter";
    place.name = option->name;
    if (!check_name(&place, axis_names))
        return false;
    size_t bytes = option_bytes(option->kind);
    if (bytes == 0)
        return refuse(&place, "its kind is unknown");
    if (option->offset % bytes != 0 || option->offset > place.workload->params_size ||
        bytes > place.workload->params_size - option->offset)
        return refuse(&place, "its offset does not fit the params struct");
    if (!option->fallback)
        return refuse(&place, "it has no default");
    if (option->kind == ASSAY_OPTION_CHOICE && (!option->choices || !option->choices[0]))
        return refuse(&place, "it has no choices");
    if ((option->flags & ASSAY_OPTION_ITEMS) && option->kind != ASSAY_OPTION_INTEGER)
        return refuse(&place, "only an integer can be the number of items");
    for (size_t i = 0; place.workload->options[i] != option; i++) {
        if (strcmp(place.workload->options[i]->name, option->name) == 0)
            return refuse(&place, "there are two of this name");
        if (place.workload->options[i]->flags & option->flags & ASSAY_OPTION_ITEMS)
            return refuse(&place, "a second parameter is the number of items");
    }
    return true;
}

static bool check_stage(struct place place, const struct assay_stage *stage)
{
    place.what = "stage";
    place.name = stage->name;
    if (!check_name(&place, catalog_reserved_names))
        return false;
    switch (stage->kind) {
    case ASSAY_STAGE_HOST:
        if (!stage->run)
            return refuse(&place, "a host stage needs run");
        break;
    case ASSAY_STAGE_TRANSFER:
    case ASSAY_STAGE_COMPUTE:
        if (!stage->record)
            return refuse(&place, "a device stage needs record");
        break;
    case ASSAY_STAGE_MODEL:
        if (!stage->duration_ns)
            return refuse(&place, "a model stage needs duration_ns");
        break;
    default:
        return refuse(&place, "its kind is unknown");
    }
    for (size_t i = 0; place.workload->stages[i] != stage; i++) {
        const struct assay_stage *other = place.workload->stages[i];
        if (strcmp(other->name, stage->name) == 0 && !(other->present && stage->present))
            return refuse(&place, "two stages of one name both need present, and only one of them "
                                  "may be there at a time");
    }
    return true;
}

static bool check_metric(struct place place, const struct assay_metric_info *info)
{
    place.what = "metric";
    place.name = info->name;
    if (!check_name(&place, catalog_reserved_names))
        return false;
    if (!info->unit)
        return refuse(&place, "it has no unit");
    for (size_t i = 0; place.workload->stages[i]; i++)
        if (strcmp(place.workload->stages[i]->name, info->name) == 0)
            return refuse(&place, "there is a stage of this name");
    for (size_t i = 0; place.workload->metrics[i] != info; i++)
        if (strcmp(place.workload->metrics[i]->name, info->name) == 0)
            return refuse(&place, "there are two of this name");
    return true;
}

static bool check_hooks(const struct place *place)
{
    const struct assay_workload *workload = place->workload;
    bool model = true;
    size_t count = 0;
    for (; workload->stages[count]; count++)
        model = model && workload->stages[count]->kind == ASSAY_STAGE_MODEL;
    if (count == 0 || count > STAGES_MAX)
        return refuse(place, "it must have 1 to 16 stages");
    if (!workload->create)
        return refuse(place, "it lacks create");
    if (!workload->destroy)
        return refuse(place, "it lacks destroy");
    if (!workload->verify && !model)
        return refuse(place, "it lacks verify");
    const struct assay_tuning *tuning = workload->tuning;
    if (tuning && (!tuning->wanted || !tuning->key || !tuning->candidate || !tuning->choose))
        return refuse(place, "its tuning lacks wanted, key, candidate or choose");
    if (tuning && !workload->verify)
        return refuse(place, "a workload with a tuning needs verify");
    return true;
}

bool registry_check_workload(const struct assay_plugin *plugin,
                             const struct assay_workload *workload, struct assay_error *error)
{
    struct place place = {.plugin = plugin, .error = error};
    if (!workload->name || !name_is_identifier(workload->name))
        return refuse(&place,
                      "the name of a workload is not a Lua identifier of at most 48 letters");
    place.workload = workload;
    if (!workload->version || !*workload->version || !workload->summary)
        return refuse(&place, "it lacks a version or a summary");
    if (!workload->options || !workload->stages || workload->params_size == 0)
        return refuse(&place, "it lacks options, stages or params_size");
    for (size_t i = 0; workload->options[i]; i++)
        if (!check_option(place, workload->options[i]))
            return false;
    for (size_t i = 0; workload->stages[i]; i++)
        if (!check_stage(place, workload->stages[i]))
            return false;
    size_t extras = 0;
    for (; workload->metrics && workload->metrics[extras]; extras++) {
        if (extras == EXTRAS_MAX)
            return refuse(&place, "it has more than 64 metrics");
        if (!check_metric(place, workload->metrics[extras]))
            return false;
    }
    return check_hooks(&place);
}
