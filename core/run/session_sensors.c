/* SPDX-License-Identifier: MIT */
/* The sensors in the worker: opened when the first case comes that runs on a device. */
#include "experiment/registry_sensors.h"
#include "run/session.h"

#include <stdio.h>
#include <stdlib.h>

static void begin(void *user)
{
    sensors_begin(user);
}

static void end(void *user)
{
    sensors_end(user);
}

static bool add_record(void *user, struct text *out)
{
    return sensors_add_record(user, out);
}

static void add_change(void *user, struct text *out)
{
    sensors_add_change(user, out);
}

static void notes(void *user, void (*add)(void *add_user, const char *note), void *add_user)
{
    sensors_notes(user, add, add_user);
}

/* They could be loaded when they were asked what is in them. */
static void load_plugins(struct session *session)
{
    size_t i;
    json_t *file;
    json_array_foreach(session->sensor_plugins, i, file)
    {
        struct assay_error error = {0};
        const char *path = json_string_value(file);
        if (path && !session_load_plugin(session, path, &error))
            fprintf(stderr, "worker: its sensors are not read: %s\n", error.text);
    }
}

static void add_sensors(struct session *session)
{
    const struct registry_sensors *all = registry_sensors(session->registry);
    struct assay_error error = {0};
    for (; session->sensors_added < all->count; session->sensors_added++)
        if (!sensors_add(session->sensors, all->items[session->sensors_added].sensor, &error))
            fprintf(stderr, "worker: a sensor is not read: %s\n", error.text);
}

const struct measure_watch *session_watch(struct session *session)
{
    struct assay_error error = {0};
    if (!session->sensors) {
        struct sensors_params params = {.root = getenv("ASSAY_HOST_ROOT")};
        session->sensors = sensors_create(&params, &error);
        load_plugins(session);
    }
    if (!session->sensors) {
        fprintf(stderr, "worker: the sensors are not read: %s\n", error.text);
        return NULL;
    }
    add_sensors(session);
    sensors_reset(session->sensors);
    session->watch = (struct measure_watch){.user = session->sensors,
                                            .begin = begin,
                                            .end = end,
                                            .add_record = add_record,
                                            .add_change = add_change,
                                            .notes = notes};
    return &session->watch;
}

void session_close_sensors(struct session *session)
{
    sensors_destroy(&session->sensors);
    json_decref(session->sensor_plugins);
    session->sensor_plugins = NULL;
}
