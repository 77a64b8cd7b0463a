/* SPDX-License-Identifier: MIT */
#include "cli/choices.h"
#include "cli/cli.h"
#include "cli/session.h"

#include "base/json.h"

#include <string.h>

#define ID_DIGITS 16

struct list_choices {
    struct choices_plan plan;
    bool json;
};

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    struct list_choices *choices = user;
    if (strcmp(name, "json") == 0) {
        choices->json = true;
        return true;
    }
    return choices_take(&choices->plan, NULL, name, value, error);
}

static void workloads_text(struct text *out, const struct catalog *catalog)
{
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct catalog_workload *workload = catalog_at(catalog, i);
        text_addf(out, "%-16s %-6s %s\n", workload->name, workload->version, workload->summary);
    }
}

static void sensors_text(struct text *out, const json_t *sensors)
{
    size_t i, r;
    json_t *sensor, *reading;
    text_add(out, json_array_size(sensors) ? "\nsensors, read while cases run on a device\n" : "");
    json_array_foreach(sensors, i, sensor)
    {
        text_addf(out, "%-23s %s:", json_text(sensor, "name", ""),
                  json_text(sensor, "summary", ""));
        json_array_foreach(json_object_get(sensor, "readings"), r, reading)
        {
            text_addf(out, "%s %s", r ? "," : "", json_text(reading, "name", ""));
        }
        text_add_char(out, '\n');
    }
}

static void cases_text(struct text *out, const struct plan *plan)
{
    for (size_t e = 0; e < plan->experiment_count; e++) {
        const struct plan_experiment *experiment = &plan->experiments[e];
        text_addf(out, "%s%s (%s:%d)\n", e ? "\n" : "", experiment->name, experiment->script,
                  experiment->line);
        for (size_t c = 0; c < experiment->case_count; c++) {
            const struct plan_case *item = &plan->cases[experiment->first_case + c];
            char hex[HASH_HEX_BYTES];
            if (!item->selected)
                continue;
            hash_hex(&item->id, hex);
            text_addf(out, "  %.*s  ", ID_DIGITS, hex);
            plan_case_label(plan, item, false, out);
            text_add_char(out, '\n');
        }
    }
    size_t count = plan_selected_count(plan);
    text_addf(out, "\n%zu %s in %zu %s", count, count == 1 ? "case" : "cases",
              plan->experiment_count, plan->experiment_count == 1 ? "experiment" : "experiments");
    if (count < plan->case_count)
        text_addf(out, ", %zu filtered away", plan->case_count - count);
    text_add_char(out, '\n');
}

/* A case as JSON lines up with its request, less what is the worker's business. */
static bool case_json(struct text *out, const struct plan *plan, const struct plan_case *item,
                      struct assay_error *error)
{
    json_t *request = plan_case_request(plan, item, false);
    struct text label = {0};
    plan_case_label(plan, item, false, &label);
    bool good = request &&
                json_object_set_new(request, "label", json_clean_string(text_string(&label))) == 0;
    text_free(&label);
    if (good) {
        json_object_del(request, "ask");
        json_object_del(request, "quick");
        good = json_add_line(out, request, false, error);
    } else {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the list");
    }
    json_decref(request);
    return good;
}

static bool cases_json(struct text *out, const struct plan *plan, struct assay_error *error)
{
    const char *gap = "";
    text_add(out, "{\"cases\":[");
    for (size_t i = 0; i < plan->case_count; i++) {
        if (!plan->cases[i].selected)
            continue;
        text_addf(out, "%s\n ", gap);
        gap = ",";
        if (!case_json(out, plan, &plan->cases[i], error))
            return false;
    }
    text_add(out, "]}\n");
    return true;
}

static bool print_script(const struct list_choices *choices, const char *path,
                         const struct catalog *catalog, struct text *out, struct assay_error *error)
{
    struct script *script = choices_plan_load(&choices->plan, path, catalog, error);
    if (!script)
        return false;
    bool good = true;
    if (choices->json)
        good = cases_json(out, script_plan(script), error);
    else
        cases_text(out, script_plan(script));
    script_destroy(&script);
    return good;
}

static bool print(const struct list_choices *choices, const char *path, struct text *out,
                  struct assay_error *error)
{
    struct session session;
    if (!session_open(&session, &(struct supervisor_params){0},
                      arguments_list_items(&choices->plan.plugins), error))
        return false;
    bool good = true;
    if (path) {
        good = print_script(choices, path, session.catalog, out, error);
    } else if (choices->json) {
        good = json_add_line(out, session.description, false, error);
        text_add_char(out, '\n');
    } else {
        workloads_text(out, session.catalog);
        sensors_text(out, session.sensors);
    }
    session_close(&session);
    return good;
}

static const struct arguments_option options[] = {
    {"json", 0, NULL, "JSON in place of text"},
    CHOICES_PLAN_ROWS,
    {0},
};

static const struct arguments arguments = {
    .command = "list",
    .usage = "[SCRIPT] [OPTION...]",
    .about = "Without a script: the workloads and sensors. With one: its experiments and cases, "
             "each with its "
             "id. No\ndevice is touched.\n",
    .options = options,
    .min_words = 0,
    .max_words = 1,
    .take = take,
};

static int run(int argc, char **argv)
{
    struct list_choices choices = {0};
    char **words;
    choices_plan_init(&choices.plan);
    int status = arguments_parse(&arguments, argc, argv, &choices, &words);
    if (status == ARGUMENTS_GO) {
        struct assay_error error = {0};
        struct text out = {0};
        bool good = print(&choices, words[0], &out, &error);
        status = cli_answer(good, &out, &error);
    }
    choices_plan_free(&choices.plan);
    return status;
}

const struct cli_command cli_list = {"list", "workloads, or the experiments and cases of a script",
                                     run};
