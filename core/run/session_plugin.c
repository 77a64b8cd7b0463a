/* SPDX-License-Identifier: MIT */
/* Plugins in the worker: opened and entered in two steps, so that the supervisor knows which of
 * them one that crashes has crashed in. */
#include "base/json.h"
#include "experiment/plugin_open.h"
#include "run/session.h"

#include <stdlib.h>
#include <string.h>

struct session_plugin {
    const char *file;
    assay_plugin_entry *entry;
    const struct assay_plugin *plugin; /* NULL: opened alone */
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
    assay_plugin_entry *entry = plugin_open(file, error);
    if (!entry)
        return NULL;
    plugin = &session->plugins[session->plugin_count++];
    *plugin = (struct session_plugin){.file = kept, .entry = entry};
    return plugin;
}

static struct session_plugin *entered(struct session *session, const char *file,
                                      struct assay_error *error)
{
    struct session_plugin *plugin = opened(session, file, error);
    if (plugin && !plugin->plugin)
        plugin->plugin = registry_add(session->registry, plugin->entry, plugin->file, error);
    return plugin && plugin->plugin ? plugin : NULL;
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
    return json_pack("{s:s, s:o, s:o, s:o}", "tell", "plugin", "name",
                     json_clean_string(plugin->plugin->name), "version",
                     json_clean_string(plugin->plugin->version), "workloads",
                     registry_describe(session->registry, plugin->file));
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
    free(session->plugins);
}
