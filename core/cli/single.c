/* SPDX-License-Identifier: MIT */
#include "cli/single.h"

#include "base/os.h"
#include "cli/cli.h"
#include "cli/selection.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile int interrupted;

static void interrupt(int signal_number)
{
    interrupted = signal_number;
}

void single_catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool single_choices_take(struct single_choices *choices, const char *name, const char *value,
                         struct assay_error *error)
{
    if (strcmp(name, "set") == 0)
        return arguments_pair(name, value, error) &&
               arguments_list_add(&choices->sets, value, error);
    if (strcmp(name, "plugin") == 0)
        return arguments_list_add(&choices->plugins, value, error);
    if (strcmp(name, "seed") == 0)
        return arguments_whole(name, value, 0, INT64_MAX, &choices->seed, error);
    if (strcmp(name, "workload") == 0)
        choices->workload = value;
    else if (strcmp(name, "device") == 0)
        choices->device = value;
    else if (strcmp(name, "json") == 0)
        choices->json = true;
    else
        choices->forget = true;
    return true;
}

void single_choices_free(struct single_choices *choices)
{
    arguments_list_free(&choices->sets);
    arguments_list_free(&choices->plugins);
}

bool single_open(struct single *single, const struct single_choices *choices,
                 struct assay_error *error)
{
    struct text shaders = {0};
    bool good = os_shader_directory(&shaders, error);
    if (good) {
        const char *directories[] = {text_string(&shaders), NULL};
        struct supervisor_params params = {.shader_directories = directories};
        good = session_open(&single->session, &params, arguments_list_items(&choices->plugins),
                            error);
    }
    text_free(&shaders);
    single->plan = good ? plan_create(single->session.catalog, (uint64_t)choices->seed, error)
                        : NULL;
    if (!single->plan)
        return false;
    single->plan->device = choices->device;
    return true;
}

void single_close(struct single *single)
{
    journal_reader_destroy(&single->reader);
    if (single->path.length)
        unlink(text_string(&single->path));
    if (single->directory.length)
        rmdir(text_string(&single->directory));
    text_free(&single->directory);
    text_free(&single->path);
    json_decref(single->found);
    plan_destroy(&single->plan);
    session_close(&single->session);
}

/* NAME=VALUE into the setting of the option. */
static bool add_set(struct plan *plan, const struct catalog_workload *workload, const char *pair,
                    struct plan_setting *settings, bool *there, struct assay_error *error)
{
    const char *value = strchr(pair, '=');
    char *name = arena_printf(plan->arena, "%.*s", (int)(value - pair), pair);
    int index = name ? option_find(workload->options, name) : -1;
    if (!name)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a parameter");
    if (index < 0)
        return option_unknown(workload->options, workload->name, name, error);
    settings[index].option = (uint32_t)index;
    there[index] = true;
    return option_parse(workload->options[index], value + 1, plan->arena, &settings[index].value,
                        error);
}

/* The settings in the order of the workload's table. */
bool single_item(struct single *single, const char *workload, const char *const *usual,
                 const struct arguments_list *sets, struct plan_case *item,
                 struct assay_error *error)
{
    struct plan *plan = single->plan;
    long index = catalog_find(single->session.catalog, workload, error);
    if (index < 0)
        return false;
    item->workload = catalog_at(single->session.catalog, (size_t)index);
    size_t count = option_count(item->workload->options), kept = 0;
    struct plan_setting *settings = arena_alloc(plan->arena, (count + 1) * sizeof(*settings));
    bool *there = arena_alloc(plan->arena, count + 1);
    if (!settings || !there)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the parameters");
    for (; usual && *usual; usual++)
        if (!add_set(plan, item->workload, *usual, settings, there, error))
            return false;
    for (size_t i = 0; i < sets->count; i++)
        if (!add_set(plan, item->workload, sets->items[i], settings, there, error))
            return false;
    for (size_t i = 0; i < count; i++)
        if (there[i])
            settings[kept++] = settings[i];
    item->settings = settings;
    item->setting_count = (uint32_t)kept;
    return true;
}

static bool choose_device(struct single *single, struct assay_error *error)
{
    struct text said = {0};
    bool only_cpu;
    if (single->found || !selection_needs_device(single->plan))
        return true;
    single->found = supervisor_devices(single->session.supervisor, error);
    bool good = single->found &&
                selection_resolve(single->plan, single->found, &said, &only_cpu, error);
    text_free(&said);
    return good;
}

/* Records go through a journal, as those of every run. */
bool single_run(struct single *single, struct assay_error *error)
{
    journal_reader_destroy(&single->reader); /* of a run before this one */
    if (single->path.length)
        unlink(text_string(&single->path));
    if (!choose_device(single, error) ||
        (!single->directory.length && !os_make_temporary(&single->directory, error)))
        return false;
    text_clear(&single->path);
    os_path_join(&single->path, text_string(&single->directory), "journal.jsonl");
    struct journal_writer *writer = journal_create(text_string(&single->path), error);
    json_t *run = json_pack("{s:s, s:i}", "kind", "run", "format", JOURNAL_FORMAT);
    struct supervisor_events events = {0};
    bool good = writer && journal_append_json(writer, run, error) &&
                supervisor_run(single->session.supervisor, single->plan, writer, &events,
                               &interrupted, error);
    json_decref(run);
    journal_writer_destroy(&writer);
    single->reader = good ? journal_read(text_string(&single->path), error) : NULL;
    return single->reader != NULL;
}

json_t *single_record(struct single *single, size_t at, struct assay_error *error)
{
    long index = journal_case_find(single->reader, &single->plan->cases[at].id);
    if (index >= 0)
        return journal_case(single->reader, (size_t)index, error);
    assay_fail(error, ASSAY_INTERNAL, "it was interrupted");
    return NULL;
}

int single_answer(bool good, struct text *out, const struct assay_error *error)
{
    if (good || !interrupted)
        return cli_answer(good, out, error);
    text_free(out);
    return 128 + interrupted;
}
