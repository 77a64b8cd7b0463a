/* SPDX-License-Identifier: MIT */
/* A worker and what is known of the workloads and sensors: those that are built in and those of
 * plugins. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "experiment/catalog.h"
#include "run/supervisor.h"

struct session {
    struct supervisor *supervisor;
    json_t *description; /* of all workloads */
    json_t *plugins;     /* that can be used: array of {"file","hash","name","version"} */
    json_t *files;       /* of all plugins that were found, usable or not: array of paths */
    json_t *sensors;     /* of all: registry_sensors_describe */
    struct catalog *catalog;
};

/* Starts a worker in describe mode and loads each plugin that is found in one of its own; later
 * workers load those that their cases need. `plugins`: the files of --plugin, NULL-terminated, or
 * NULL. A plugin that cannot be used is a warning on stderr. ASSAY_INVALID: two workloads,
 * plugins, sensors or readings have one name. params' log_path may be NULL. */
bool session_open(struct session *session, const struct supervisor_params *params,
                  const char *const *plugins, struct assay_error *error);
/* Accepts a zeroed or half-open session. */
void session_close(struct session *session);
/* Whether one of the sensors is the plugin's, an entry of `plugins`. */
bool session_has_sensors(const json_t *sensors, const json_t *plugin);

#endif
