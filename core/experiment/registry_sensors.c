/* SPDX-License-Identifier: MIT */
#include "experiment/registry_sensors.h"

#include "experiment/registry_check.h"

#include <stdlib.h>
#include <string.h>

static const char *place(const char *file)
{
    return file ? file : "built in";
}

static bool has_reading(const struct assay_sensor *sensor, const char *name, size_t count)
{
    for (size_t i = 0; i < count && sensor->readings[i]; i++)
        if (strcmp(sensor->readings[i]->name, name) == 0)
            return true;
    return false;
}

static bool refuse_twice(const char *what, const char *name, const struct registry_sensor *a,
                         const struct registry_sensor *b, struct assay_error *error)
{
    return assay_fail(error, ASSAY_INVALID,
                      "there are two %s '%s': of plugin '%s' (%s) and of plugin '%s' (%s)", what,
                      name, a->plugin->name, place(a->file), b->plugin->name, place(b->file));
}

static bool check_names(const struct registry_sensors *sensors, const struct registry_sensor *added,
                        struct assay_error *error)
{
    const struct assay_reading *const *readings = added->sensor->readings;
    for (size_t i = 0; i < sensors->count; i++)
        if (strcmp(sensors->items[i].sensor->name, added->sensor->name) == 0)
            return refuse_twice("sensors", added->sensor->name, &sensors->items[i], added, error);
    for (size_t r = 0; readings[r]; r++) {
        if (has_reading(added->sensor, readings[r]->name, r))
            return refuse_twice("readings", readings[r]->name, added, added, error);
        for (size_t i = 0; i < sensors->count; i++)
            if (has_reading(sensors->items[i].sensor, readings[r]->name, SIZE_MAX))
                return refuse_twice("readings", readings[r]->name, &sensors->items[i], added,
                                    error);
    }
    return true;
}

bool registry_sensors_add(struct registry_sensors *sensors, const struct assay_plugin *plugin,
                          const char *file, struct assay_error *error)
{
    size_t more = 0;
    while (plugin->sensors && plugin->sensors[more])
        more++;
    if (more == 0)
        return true;
    struct registry_sensor *items = realloc(sensors->items,
                                            (sensors->count + more) * sizeof(*items));
    if (!items)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the sensors");
    sensors->items = items;
    for (size_t i = 0; i < more; i++) {
        struct registry_sensor added = {plugin, plugin->sensors[i], file};
        if (!registry_check_sensor(plugin, added.sensor, error) ||
            !check_names(sensors, &added, error))
            return false;
        sensors->items[sensors->count++] = added;
    }
    return true;
}

static json_t *describe_readings(const struct assay_sensor *sensor)
{
    json_t *array = json_array();
    for (size_t i = 0; sensor->readings[i]; i++) {
        const struct assay_reading *reading = sensor->readings[i];
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:s}", "name", reading->name, "unit",
                                        reading->unit, "help", reading->help ? reading->help : ""));
    }
    return array;
}

json_t *registry_sensors_describe(const struct registry_sensors *sensors, const char *file)
{
    json_t *array = json_array();
    size_t count = 0;
    for (size_t i = 0; i < sensors->count; i++) {
        const struct registry_sensor *item = &sensors->items[i];
        if (item->file != file && !(file && item->file && strcmp(item->file, file) == 0))
            continue;
        json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s*, s:o}", "name",
                                               item->sensor->name, "summary", item->sensor->summary,
                                               "plugin", item->plugin->name, "file", file,
                                               "readings", describe_readings(item->sensor)));
        count++;
    }
    if (json_array_size(array) != count) {
        json_decref(array);
        return NULL;
    }
    return array;
}
