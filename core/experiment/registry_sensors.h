/* SPDX-License-Identifier: MIT */
/* The sensors of a registry's plugins. */
#ifndef EXPERIMENT_REGISTRY_SENSORS_H
#define EXPERIMENT_REGISTRY_SENSORS_H

#include <assay/plugin.h>

#include "base/error.h"

#include <jansson.h>

struct registry_sensor {
    const struct assay_plugin *plugin;
    const struct assay_sensor *sensor;
    const char *file; /* of the plugin; NULL: built in */
};

struct registry_sensors { /* all zero: none; `items` is freed by its owner */
    struct registry_sensor *items;
    size_t count;
};

/* Checks the plugin's sensors and adds them; `file` is kept. ASSAY_INVALID: there is one, or a
 * reading, of that name. Takes none back when it fails. */
bool registry_sensors_add(struct registry_sensors *sensors, const struct assay_plugin *plugin,
                          const char *file, struct assay_error *error);
/* Those from one file (NULL: built in), as describe mode sends them: array of {name, summary,
 * plugin, file (absent where NULL), readings: [{name, unit, help}]}. New reference; NULL when out
 * of memory or a text is not UTF-8. */
json_t *registry_sensors_describe(const struct registry_sensors *sensors, const char *file);

#endif
