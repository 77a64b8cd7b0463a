/* SPDX-License-Identifier: MIT */
#include "script/serve.h"

#include "base/json.h"
#include "base/os.h"
#include "experiment/registry.h"
#include "script/explore.h"
#include "script/host.h"
#include "script/workload.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER_MAX_BYTES ((size_t)16 << 20)

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a script in the worker");
}

/* JSON holds no bytes that are not UTF-8, and no NUL. */
static json_t *bytes_to_json(const char *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    if (!memchr(bytes, 0, length) && text_is_utf8(bytes))
        return json_pack("{s:s%}", "text", bytes, length);
    struct text hex = {0};
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        text_add_char(&hex, digits[byte >> 4]);
        text_add_char(&hex, digits[byte & 15]);
    }
    json_t *json = hex.failed ? NULL : json_pack("{s:s}", "hex", text_string(&hex));
    text_free(&hex);
    return json;
}

static int digit_of(char c)
{
    return c >= 'a' ? c - 'a' + 10 : c - '0';
}

static bool bytes_from_json(const json_t *json, struct text *out, struct assay_error *error)
{
    const char *text = json_text(json, "text", NULL), *hex = json_text(json, "hex", NULL);
    if (text)
        text_add(out, text);
    size_t length = hex ? strlen(hex) : 0;
    if (!text && (!hex || length % 2 || strspn(hex, "0123456789abcdef") != length))
        return assay_fail(error, ASSAY_INTERNAL, "the source of a script did not reach the worker");
    for (size_t i = 0; i < length; i += 2)
        text_add_char(out, (char)(digit_of(hex[i]) << 4 | digit_of(hex[i + 1])));
    return !out->failed || no_memory(error);
}

static json_t *chunk_to_json(const struct chunk *chunk)
{
    return json_pack("{s:s, s:s*, s:o}", "path", chunk->path, "name", chunk->name, "source",
                     bytes_to_json(chunk->source, chunk->length));
}

json_t *script_sent(const struct script *script, struct assay_error *error)
{
    if (script->workload_count == 0 && script->exploration_count == 0)
        return NULL;
    json_t *modules = json_array(), *options = json_array();
    bool good = modules && options;
    for (size_t i = 1; good && i < script->chunk_count; i++)
        good = json_array_append_new(modules, chunk_to_json(&script->chunks[i])) == 0;
    for (size_t i = 0; good && script->params.options[i]; i++)
        good = json_array_append_new(options, json_string(script->params.options[i])) == 0;
    json_t *sent = chunk_to_json(&script->chunks[0]);
    json_t *rest = json_pack("{s:o, s:o, s:b, s:I, s:I}", "modules", modules, "options", options,
                             "trust", (int)script->params.trust, "deadline_ns",
                             (json_int_t)script->params.deadline_ns, "memory_bytes",
                             (json_int_t)script->params.memory_bytes);
    good = good && sent && rest && json_object_update(sent, rest) == 0;
    json_decref(rest);
    if (good)
        return sent;
    json_decref(sent);
    assay_fail(error, ASSAY_INVALID,
               "the script cannot be handed to the worker: the name of a module or an --option is "
               "not UTF-8, or there is no memory");
    return NULL;
}

const char *serve_module(const struct script *script, const char *name, struct text *source,
                         struct assay_error *error)
{
    size_t i;
    json_t *module;
    json_array_foreach(json_object_get(script->sent, "modules"), i, module)
    {
        if (strcmp(json_text(module, "name", ""), name) == 0)
            return bytes_from_json(json_object_get(module, "source"), source, error)
                       ? json_text(module, "path", "")
                       : NULL;
    }
    assay_fail(error, ASSAY_SCRIPT,
               "require '%s': it was not required when the script was planned; what a script "
               "requires must not change from one execution to the next",
               name);
    return NULL;
}

/* Strings are copied: the params point into `sent`, which the script keeps. */
static bool params_read(struct script *script, struct assay_error *error)
{
    const json_t *options = json_object_get(script->sent, "options");
    size_t count = json_array_size(options);
    const char **list = arena_alloc(script->arena, (count + 1) * sizeof(*list));
    static const char *const none[] = {NULL};
    if (!list)
        return no_memory(error);
    for (size_t i = 0; i < count; i++)
        list[i] = json_string_value(json_array_get(options, i));
    script->params = (struct script_params){
        .path = json_text(script->sent, "path", ""),
        .sets = none,
        .options = list,
        .trust = json_flag(script->sent, "trust", false),
        .deadline_ns = json_whole(script->sent, "deadline_ns", 0),
        .memory_bytes = (size_t)json_whole(script->sent, "memory_bytes", 0),
    };
    return true;
}

static bool execute(struct script *script, struct assay_error *error)
{
    struct text source = {0};
    const char *path = script->params.path;
    bool good = script->plugin
                    ? os_file_read(path, FOLDER_MAX_BYTES, &source, error)
                    : bytes_from_json(json_object_get(script->sent, "source"), &source, error);
    good = good && state_load(script->L, path, &source, error);
    text_free(&source);
    return good && state_call(script, 0, NULL, error);
}

/* Keeps `sent`. */
static struct script *serve(json_t *sent, bool on_thread, struct assay_error *error)
{
    struct script *script = calloc(1, sizeof(*script));
    if (!script) {
        no_memory(error);
        return NULL;
    }
    script->serving = true;
    script->on_thread = on_thread;
    script->sent = json_incref(sent);
    script->plugin = json_text(sent, "plugin", NULL);
    script->arena = arena_create();
    if ((script->arena || no_memory(error)) && params_read(script, error) &&
        state_create(script, error) && execute(script, error))
        return script;
    script_destroy(&script);
    return NULL;
}

struct script *script_serve_again(const struct script *script, struct assay_error *error)
{
    return serve(script->sent, true, error);
}

/* As one plugin: all or nothing. */
static bool workloads_add(struct script *script, struct registry *registry,
                          struct assay_error *error)
{
    size_t count = script->workload_count;
    struct assay_plugin *plugin = arena_alloc(script->arena, sizeof(*plugin));
    const struct assay_workload **rows = arena_alloc(script->arena, (count + 1) * sizeof(*rows));
    if (count == 0)
        return true;
    if (!plugin || !rows)
        return no_memory(error);
    for (size_t i = 0; i < count; i++)
        rows[i] = &script->workloads[i]->workload;
    *plugin = script->workloads[0]->plugin;
    plugin->workloads = rows;
    if (!registry_add_plugin(registry, plugin, script->params.path, error))
        return false;
    for (size_t i = 0; i < count; i++)
        registry_own(registry, rows[i]->name, script->workloads[i]);
    return true;
}

static void *load(const json_t *sent, struct registry *registry, struct assay_error *error)
{
    struct script *script = serve((json_t *)(uintptr_t)sent, false, error);
    if (script && script->workload_count == 0 && script->plugin) {
        assay_fail(error, ASSAY_SCRIPT,
                   "%s:1: it defines no workload; it has to call "
                   "assay.workload { ... }",
                   script->params.path);
        script_destroy(&script);
    }
    if (script && !workloads_add(script, registry, error))
        script_destroy(&script);
    return script;
}

static void unload(void **loaded)
{
    struct script *script = *loaded;
    script_destroy(&script);
    *loaded = NULL;
}

const struct worker_scripts script_serving = {load, unload, explore_has, explore_run};
