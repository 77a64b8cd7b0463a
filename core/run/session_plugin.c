/* SPDX-License-Identifier: MIT */
/* Plugins in the worker: opened and entered in two steps, so that the supervisor knows which of
 * them one that crashes has crashed in. */
#include "base/json.h"
#include "experiment/plugin_open.h"
#include "experiment/plugin_search.h"
#include "experiment/registry_sensors.h"
#include "run/session.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER_LIMIT_NS INT64_C(5000000000) /* under what the supervisor waits for a plugin */

struct session_plugin {
    const char *file;
    assay_plugin_entry *entry;
    void *script;               /* of a folder with init.lua, in place of the entry point */
    const char *name, *version; /* NULL: opened alone */
};

static struct session_plugin *plugin_find(const struct session *session, const char *file)
{
    for (size_t i = 0; i < session->plugin_count; i++)
        if (strcmp(session->plugins[i].file, file) == 0)
            return &session->plugins[i];
    return NULL;
}

static struct session_plugin *opened(struct session *session, const char *file,
                                     struct assay_error *error)
{
    struct session_plugin *plugin = plugin_find(session, file);
    if (plugin)
        return plugin;
    size_t count = session->plugin_count + 1;
    struct session_plugin *plugins = realloc(session->plugins, count * sizeof(*plugins));
    if (plugins)
        session->plugins = plugins;
    const char *kept = plugins ? arena_copy(session->arena, file) : NULL;
    if (!kept) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a plugin");
        return NULL;
    }
    struct text folder = {0};
    bool in_lua = plugin_folder_name(file, &folder);
    text_free(&folder);
    assay_plugin_entry *entry = in_lua ? NULL : plugin_open(file, error);
    if (!entry && !in_lua)
        return NULL;
    plugin = &session->plugins[session->plugin_count++];
    *plugin = (struct session_plugin){.file = kept, .entry = entry};
    return plugin;
}

/* A folder's init.lua is executed for its workloads. */
static bool enter_folder(struct session *session, struct session_plugin *plugin,
                         struct assay_error *error)
{
    struct text folder = {0};
    plugin_folder_name(plugin->file, &folder);
    const char *name = arena_copy(session->arena, text_string(&folder));
    text_free(&folder);
    if (!name)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a plugin");
    if (!session->scripts)
        return assay_fail(error, ASSAY_INTERNAL, "this worker executes no scripts");
    json_t *sent = json_pack("{s:s, s:s, s:I}", "path", plugin->file, "plugin", name, "deadline_ns",
                             (json_int_t)FOLDER_LIMIT_NS);
    if (sent)
        plugin->script = session->scripts->load(sent, session->registry, error);
    else
        assay_fail(error, ASSAY_INTERNAL, "its path is not UTF-8, as records must be");
    json_decref(sent);
    if (!plugin->script)
        return false;
    plugin->name = name;
    plugin->version = "1";
    return true;
}

static struct session_plugin *entered(struct session *session, const char *file,
                                      struct assay_error *error)
{
    struct session_plugin *plugin = opened(session, file, error);
    if (!plugin || plugin->name)
        return plugin;
    if (!plugin->entry)
        return enter_folder(session, plugin, error) ? plugin : NULL;
    const struct assay_plugin *given = registry_add(session->registry, plugin->entry, plugin->file,
                                                    error);
    if (!given)
        return NULL;
    plugin->name = given->name;
    plugin->version = given->version;
    return plugin;
}

bool session_load_plugin(struct session *session, const char *file, struct assay_error *error)
{
    if (entered(session, file, error))
        return true;
    error_prefix(error, "plugin %s", file);
    return false;
}

static json_t *describe(const struct session *session, const struct session_plugin *plugin)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "tell", "plugin", "name",
                     json_clean_string(plugin->name), "version", json_clean_string(plugin->version),
                     "workloads", registry_describe(session->registry, plugin->file), "sensors",
                     registry_sensors_describe(registry_sensors(session->registry), plugin->file));
}

json_t *session_ask_plugin(struct session *session, const json_t *request,
                           struct assay_error *error)
{
    const char *file = json_text(request, "file", "");
    bool enter = strcmp(json_text(request, "step", ""), "enter") == 0;
    struct session_plugin *plugin = enter ? entered(session, file, error)
                                          : opened(session, file, error);
    if (!plugin)
        return NULL;
    json_t *answer = enter ? describe(session, plugin) : json_pack("{s:s}", "tell", "opened");
    if (!answer)
        assay_fail(error, ASSAY_INTERNAL, "its texts are not UTF-8, or there is no memory");
    return answer;
}

void session_close_plugins(struct session *session)
{
    for (size_t i = 0; i < session->plugin_count; i++)
        if (session->plugins[i].script)
            session->scripts->unload(&session->plugins[i].script);
    free(session->plugins);
}
