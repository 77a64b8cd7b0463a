/* SPDX-License-Identifier: MIT */
#include "cli/record.h"

#include "base/json.h"
#include "base/os.h"
#include "cli/selection.h"
#include "cli/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static json_t *words_json(const char *const *words, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_clean_string(words[i]));
    return array;
}

static json_t *command_json(int argc, char **argv)
{
    json_t *array = words_json((const char *const *)argv, (size_t)argc);
    struct text program = {0};
    os_executable_command(&program);
    json_array_insert_new(array, 0, json_clean_string(text_string(&program)));
    text_free(&program);
    return array;
}

/* {"size": "1MiB"}: each was checked to hold a '='. */
static json_t *options_json(const struct arguments_list *options)
{
    json_t *object = json_object();
    for (size_t i = 0; i < options->count; i++) {
        struct text name = {0};
        const char *value = strchr(options->items[i], '=');
        text_add_bytes(&name, options->items[i], (size_t)(value - options->items[i]));
        json_object_set_new(object, text_string(&name), json_clean_string(value + 1));
        text_free(&name);
    }
    return object;
}

static json_t *host_json(void)
{
    struct utsname name = {0};
    struct text cpu = {0}, kernel = {0};
    uname(&name);
    os_cpu_name(&cpu);
    text_addf(&kernel, "%s %s", name.sysname, name.release);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    json_int_t memory = pages > 0 && page > 0 ? (json_int_t)pages * page : 0;
    json_t *host = json_pack("{s:o, s:o, s:o, s:I, s:I}", "name", json_clean_string(name.nodename),
                             "kernel", json_clean_string(text_string(&kernel)), "cpu",
                             json_clean_string(text_string(&cpu)), "cores", (json_int_t)cores,
                             "memory_bytes", memory);
    text_free(&cpu);
    text_free(&kernel);
    return host;
}

static bool is_used(const struct plan *plan, const struct catalog_workload *workload)
{
    for (size_t c = 0; c < plan->case_count; c++)
        if (plan->cases[c].workload == workload)
            return true;
    return false;
}

/* Descriptions of the workloads that the plan uses. */
static json_t *workloads_json(const struct plan *plan)
{
    json_t *array = json_array();
    for (size_t i = 0; i < catalog_count(plan->catalog); i++) {
        const struct catalog_workload *workload = catalog_at(plan->catalog, i);
        if (is_used(plan, workload))
            json_array_append(array, workload->json);
    }
    return array;
}

/* The plugins that these workloads are from, or whose sensors are read. */
static json_t *plugins_json(const struct plan *plan, const json_t *plugins, const json_t *sensors)
{
    json_t *array = json_array(), *plugin;
    size_t p;
    json_array_foreach(plugins, p, plugin)
    {
        const char *file = json_text(plugin, "file", "");
        bool used = session_has_sensors(sensors, plugin) && selection_needs_device(plan);
        for (size_t i = 0; !used && i < catalog_count(plan->catalog); i++) {
            const struct catalog_workload *workload = catalog_at(plan->catalog, i);
            used = workload->file && strcmp(workload->file, file) == 0 && is_used(plan, workload);
        }
        if (used)
            json_array_append(array, plugin);
    }
    return array;
}

static json_t *started_json(void)
{
    char text[32];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_string(text);
}

static json_t *clean_or_null(const char *text)
{
    return text ? json_clean_string(text) : json_null();
}

static json_t *member(const json_t *found, const char *name, json_t *fallback)
{
    json_t *value = json_object_get(found, name);
    if (!value)
        return fallback;
    json_decref(fallback);
    return json_incref(value);
}

json_t *record_run(const struct record_params *params, struct assay_error *error)
{
    const struct choices_plan *c = params->choices;
    const struct plan *plan = script_plan(params->script);
    json_t *record = json_pack("{s:s, s:i, s:s, s:o, s:I, s:o, s:b, s:b, s:b, s:o}", "kind", "run",
                               "format", JOURNAL_FORMAT, "assay", ASSAY_VERSION, "started",
                               started_json(), "seed", (json_int_t)c->seed, "command",
                               command_json(params->argc, params->argv), "quick",
                               (int)params->quick, "validate", (int)params->validate, "trust",
                               (int)c->trust, "deadline", clean_or_null(params->deadline));
    json_t *rest = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:O, s:o, s:o, s:o, s:o}", "set",
        words_json(c->sets.items, c->sets.count), "plugin",
        words_json(c->plugins.items, c->plugins.count), "options", options_json(&c->options),
        "filter", words_json(c->filters.items, c->filters.count), "case",
        clean_or_null(c->case_prefix), "device", clean_or_null(c->device), "script",
        script_record(params->script), "host", host_json(), "workloads", workloads_json(plan),
        "plugins", plugins_json(plan, params->plugins, params->sensors), "sensors", params->sensors,
        "devices", member(params->found, "devices", json_array()), "devices_error",
        member(params->found, "error", json_null()), "pci",
        member(params->found, "pci", json_array()), "pci_error",
        member(params->found, "pci_error", json_null()));
    bool good = record && rest && json_object_update(record, rest) == 0;
    json_decref(rest);
    if (!good) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the run's record");
        json_decref(record);
        return NULL;
    }
    return record;
}
