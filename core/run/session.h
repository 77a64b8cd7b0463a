/* SPDX-License-Identifier: MIT */
/* The inside of a worker: what it keeps between requests. */
#ifndef RUN_SESSION_H
#define RUN_SESSION_H

#include "base/channel.h"
#include "experiment/registry.h"
#include "measure/measure.h"
#include "run/worker.h"
#include "sensors/sensors.h"
#include "vulkan/device.h"
#include "vulkan/shader.h"

struct session_device_choice {
    enum vulkan_queue_choice queues;
    unsigned members; /* logical devices of it in the set */
};

struct session_device {
    struct session_device *next;
    size_t index; /* in the inventory */
    struct session_device_choice choice;
    struct assay_device *device; /* kept open until the worker ends */
    struct text record;          /* members of the record's `device` after `selector`, as JSON */
};

struct session_plugin;

struct session {
    struct channel *channel;
    struct registry *registry;
    struct session_plugin *plugins; /* opened; they stay so */
    size_t plugin_count;
    const struct worker_scripts *scripts; /* or NULL */
    void *script;                         /* what `scripts` made of the script, or NULL ... */
    struct registry *script_registry;     /* ... and its workloads */
    struct assay_error script_error;      /* why there is none, though one was handed over */
    bool validate, trace;
    struct arena *arena;         /* of the search path */
    struct shader_search search; /* directories never NULL */
    struct vulkan_instance *instance;
    struct assay_error no_instance; /* why there is none, once that is known */
    json_t *inventory;
    struct session_device *devices; /* the last opened first; each stays where it is */
    struct sensors *sensors;        /* made for the first case on a device */
    size_t sensors_added;           /* so many of the registry's */
    json_t *sensor_plugins;         /* the files of plugins that have some; NULL: none */
    struct measure_watch watch;
    struct text line; /* an answer; reused */
    bool lost;        /* the device cannot be used any more; the process has to end */
    bool ended;       /* after `quit`, or when the device cannot be used any more */
};

/* Adds the plugin's workloads to the registry unless they are there. Errors name the file. */
bool session_load_plugin(struct session *session, const char *file, struct assay_error *error);
/* The answer to `plugin`. New reference; NULL with error, which does not name the file. */
json_t *session_ask_plugin(struct session *session, const json_t *request,
                           struct assay_error *error);
void session_close_plugins(struct session *session);

/* The instance and its inventory, made at the first call. */
bool session_open_vulkan(struct session *session, struct assay_error *error);
/* The device that the selector (NULL: the default) means, with these queues; opened at its first
 * use. */
struct session_device *session_open_device(struct session *session, const char *selector,
                                           struct session_device_choice choice,
                                           struct assay_error *error);
/* The answer to `devices`, as a tree. New reference; NULL with error. */
json_t *session_describe_devices(struct session *session, struct assay_error *error);
void session_close_devices(struct session *session);

/* The answer to `dump`. New reference; NULL with error. */
json_t *session_dump(struct session *session, const json_t *request, struct assay_error *error);

/* What reads the sensors, of which there are those of all plugins by now, while the next cases are
 * measured. NULL: there are none. */
const struct measure_watch *session_watch(struct session *session);
void session_close_sensors(struct session *session);

/* Runs the case, or the cases of a pair group, and writes their records; asks the supervisor
 * whether a bound is undecided. False when it cannot be reached. */
bool session_group(struct session *session, const json_t *request, struct assay_error *error);

#endif
