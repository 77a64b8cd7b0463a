/* SPDX-License-Identifier: MIT */
#include "cli/session.h"

#include "base/json.h"
#include "base/text.h"
#include "experiment/plugin_search.h"

#include <stdio.h>
#include <string.h>

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the plugins");
}

/* The one of that name, or NULL. */
static const json_t *named(const json_t *list, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (strcmp(json_text(item, "name", ""), name) == 0)
            return item;
    }
    return NULL;
}

static bool refuse_twice(const char *what, const json_t *first, const char *name, const char *file,
                         struct assay_error *error)
{
    return assay_fail(error, ASSAY_INVALID,
                      "there are two %s '%s': one in %s, one in %s; remove one of the files", what,
                      name, json_text(first, "file", "assay itself"), file);
}

bool session_has_sensors(const json_t *sensors, const json_t *plugin)
{
    const char *file = json_text(plugin, "file", "");
    size_t i;
    json_t *sensor;
    json_array_foreach(sensors, i, sensor)
    {
        if (strcmp(json_text(sensor, "file", ""), file) == 0)
            return true;
    }
    return false;
}

static bool add_workloads(struct session *session, const char *file, const json_t *loaded,
                          struct assay_error *error)
{
    size_t i;
    json_t *workload;
    json_array_foreach(json_object_get(loaded, "workloads"), i, workload)
    {
        const char *name = json_text(workload, "name", "");
        const json_t *other = named(session->description, name);
        if (other)
            return refuse_twice("workloads", other, name, file, error);
        if (json_array_append(session->description, workload) != 0)
            return no_memory(error);
    }
    return true;
}

/* The sensor among them that has a reading of that name. */
static const json_t *with_reading(const json_t *sensors, const char *name)
{
    size_t i;
    json_t *sensor;
    json_array_foreach(sensors, i, sensor)
    {
        if (named(json_object_get(sensor, "readings"), name))
            return sensor;
    }
    return NULL;
}

static bool add_sensor(struct session *session, const char *file, json_t *sensor,
                       struct assay_error *error)
{
    const char *name = json_text(sensor, "name", "");
    const json_t *other = named(session->sensors, name);
    if (other)
        return refuse_twice("sensors", other, name, file, error);
    size_t i;
    json_t *reading;
    json_array_foreach(json_object_get(sensor, "readings"), i, reading)
    {
        name = json_text(reading, "name", "");
        other = with_reading(session->sensors, name);
        if (other)
            return refuse_twice("readings", other, name, file, error);
    }
    return json_array_append(session->sensors, sensor) == 0 || no_memory(error);
}

static bool add_sensors(struct session *session, const char *file, const json_t *loaded,
                        struct assay_error *error)
{
    size_t i;
    json_t *sensor;
    json_array_foreach(json_object_get(loaded, "sensors"), i, sensor)
    {
        if (!add_sensor(session, file, sensor, error))
            return false;
    }
    return true;
}

static bool add_plugin(struct session *session, const struct plugin_file *file,
                       const json_t *loaded, struct assay_error *error)
{
    const char *name = json_text(loaded, "name", "");
    const json_t *other = named(session->plugins, name);
    if (other)
        return refuse_twice("plugins", other, name, file->path, error);
    json_t *entry = json_pack("{s:s, s:s, s:s, s:s}", "file", file->path, "hash", file->hash,
                              "name", name, "version", json_text(loaded, "version", ""));
    if (!entry || json_array_append_new(session->plugins, entry) != 0)
        return no_memory(error);
    return add_workloads(session, file->path, loaded, error) &&
           add_sensors(session, file->path, loaded, error);
}

static bool load_plugin(struct session *session, const struct plugin_file *file,
                        struct text *missing, struct assay_error *error)
{
    struct assay_error why = {0};
    json_t *loaded = NULL;
    if (json_array_append_new(session->files, json_clean_string(file->path)) != 0)
        return no_memory(error);
    if (file->unreadable)
        assay_fail(&why, ASSAY_INTERNAL, "%s", file->unreadable);
    else
        loaded = supervisor_load_plugin(session->supervisor, file->path, &why);
    if (!loaded && why.status == ASSAY_INVALID) {
        *error = why;
        return false;
    }
    if (!loaded) {
        struct text path = {0};
        text_add_clean(&path, file->path);
        fprintf(stderr, "assay: warning: plugin %s cannot be used: %s\n", text_string(&path),
                why.text);
        text_addf(missing, "%s%s", missing->length ? ", " : "", text_string(&path));
        text_free(&path);
    }
    bool good = !loaded || add_plugin(session, file, loaded, error);
    json_decref(loaded);
    return good;
}

static bool load_plugins(struct session *session, const char *const *given, struct text *missing,
                         struct assay_error *error)
{
    struct plugin_search *search = plugin_search_create(given, error);
    bool good = search != NULL;
    for (size_t i = 0; good && i < plugin_search_count(search); i++)
        good = load_plugin(session, plugin_search_at(search, i), missing, error);
    plugin_search_destroy(&search);
    return good;
}

static bool make_catalog(struct session *session, const struct text *missing,
                         struct assay_error *error)
{
    session->catalog = catalog_create(session->description, error);
    if (!session->catalog || !catalog_set_sensors(session->catalog, session->sensors, error))
        return false;
    if (!missing->length)
        return true;
    struct text text = {0};
    text_addf(&text, "not loaded: %s", text_string(missing));
    bool good = catalog_set_missing(session->catalog, text_string(&text), error);
    text_free(&text);
    return good;
}

/* Their files, for workers. */
static bool send_sensors(struct session *session, struct assay_error *error)
{
    json_t *files = json_array(), *plugin;
    size_t i;
    json_array_foreach(session->plugins, i, plugin)
    {
        if (session_has_sensors(session->sensors, plugin))
            json_array_append(files, json_object_get(plugin, "file"));
    }
    bool good = json_array_size(files) == 0 ||
                supervisor_set_sensors(session->supervisor, files, error);
    json_decref(files);
    return good;
}

bool session_open(struct session *session, const struct supervisor_params *params,
                  const char *const *plugins, struct assay_error *error)
{
    struct text missing = {0};
    *session = (struct session){.plugins = json_array(), .files = json_array()};
    session->supervisor = supervisor_create(params, error);
    if (session->supervisor)
        session->description = supervisor_describe(session->supervisor, error);
    if (session->description)
        session->sensors = supervisor_describe_sensors(session->supervisor, error);
    bool good = session->sensors && load_plugins(session, plugins, &missing, error) &&
                make_catalog(session, &missing, error) && send_sensors(session, error);
    text_free(&missing);
    if (!good)
        session_close(session);
    return good;
}

void session_close(struct session *session)
{
    catalog_destroy(&session->catalog);
    json_decref(session->description);
    json_decref(session->plugins);
    json_decref(session->files);
    json_decref(session->sensors);
    session->description = session->plugins = session->files = session->sensors = NULL;
    supervisor_destroy(&session->supervisor);
}
