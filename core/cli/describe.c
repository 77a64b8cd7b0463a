/* SPDX-License-Identifier: MIT */
#include "cli/choices.h"
#include "cli/cli.h"
#include "cli/session.h"

#include "base/json.h"
#include "base/options.h"

#include <float.h>
#include <string.h>

struct describe_choices {
    struct arguments_list plugins;
    bool json;
};

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    struct describe_choices *choices = user;
    if (strcmp(name, "plugin") == 0)
        return arguments_list_add(&choices->plugins, value, error);
    choices->json = true;
    return true;
}

static void add_limit(struct text *out, const struct assay_option *option, int64_t limit)
{
    struct option_value value = {.kind = option->kind};
    value.as.integer = limit;
    option_value_add(out, option, &value);
}

static void add_whole_limit(struct text *out, const struct assay_option *option, bool high)
{
    add_limit(out, option, high ? option->max : option->min);
}

static void add_real_limit(struct text *out, const struct assay_option *option, bool high)
{
    struct option_value value = {.kind = option->kind};
    value.as.real = high ? option->real_max : option->real_min;
    option_value_add(out, option, &value);
}

static void add_range(struct text *out, const struct assay_option *option, bool low, bool high,
                      const char *any,
                      void (*add)(struct text *, const struct assay_option *, bool high))
{
    if (!low)
        text_add(out, high ? "at most " : any);
    else
        add(out, option, false);
    if (high && low)
        text_add(out, " to ");
    if (high)
        add(out, option, true);
    else if (low)
        text_add(out, " or more");
}

/* "1B to 8EiB", "upload, download", "true or false". */
static void add_allowed(struct text *out, const struct assay_option *option)
{
    size_t count = 0;
    bool limited;
    switch (option->kind) {
    case ASSAY_OPTION_INTEGER:
        add_range(out, option, option->min != INT64_MIN, option->max != 0, "any whole number",
                  add_whole_limit);
        break;
    case ASSAY_OPTION_REAL:
        limited = option->real_min != 0 || option->real_max != 0;
        add_range(out, option, limited && option->real_min > -DBL_MAX,
                  limited && option->real_max < DBL_MAX, "any number", add_real_limit);
        break;
    case ASSAY_OPTION_BOOLEAN:
        text_add(out, "true or false");
        break;
    case ASSAY_OPTION_CHOICE:
        while (option->choices[count])
            count++;
        text_add_list(out, option->choices, count);
        break;
    case ASSAY_OPTION_TEXT:
        text_add(out, "a text");
        break;
    case ASSAY_OPTION_SOURCE:
        text_add(out, "a GLSL or SPIR-V file");
        break;
    }
}

static void add_option(struct text *out, const struct assay_option *option)
{
    bool help = option->help && *option->help;
    text_addf(out, help ? "  %-18s %s\n" : "  %s%s\n", option->name, help ? option->help : "");
    text_addf(out, "  %-18s default %s", "", option->fallback ? option->fallback : "none");
    if (option->unit)
        text_addf(out, ", in %s", option->unit);
    text_add(out, "; allowed: ");
    add_allowed(out, option);
    text_add_char(out, '\n');
}

static void add_metric(void *user, const struct metric_description *metric)
{
    text_addf(user, "  %-22s %-8s %s\n", metric->name, dimension_symbol(metric->dimension),
              metric->help ? metric->help : "");
}

static void add_sensors(struct text *out, const struct catalog *catalog)
{
    size_t count = catalog_reading_count(catalog);
    if (count > 0)
        text_add(out,
                 "\nsensors, where the machine has them; each has .min, .median, .mean and .max\n");
    for (size_t i = 0; i < count; i++) {
        const struct catalog_metric *reading = catalog_reading(catalog, i);
        struct text name = {0};
        text_addf(&name, "sensors.%s", reading->name);
        text_addf(out, "  %-24s %-6s %s\n", text_string(&name), reading->unit, reading->help);
        text_free(&name);
    }
}

static void describe_text(struct text *out, const struct catalog *catalog,
                          const struct catalog_workload *workload)
{
    text_addf(out, "%s %s: %s\n\nparameters\n", workload->name, workload->version,
              workload->summary);
    for (size_t i = 0; workload->options[i]; i++)
        add_option(out, workload->options[i]);
    text_add(out, "\nstages, in the order of a batch\n");
    for (size_t i = 0; i < workload->stage_count; i++) {
        const struct catalog_stage *stage = &workload->stages[i];
        text_addf(out, "  %-18s %-9s %s\n", stage->name, stage->kind,
                  stage->help ? stage->help : "");
    }
    text_add(out, "\nmetrics, where the case has them\n");
    catalog_each_metric(workload, add_metric, out);
    if (!workload->model)
        add_sensors(out, catalog);
    text_add(out, workload->model ? "\nA model: needs no device.\n" : "");
    if (workload->file)
        text_addf(out, "\nof plugin '%s', %s\n", workload->plugin, workload->file);
}

static void sensor_text(struct text *out, const json_t *sensor)
{
    size_t i;
    json_t *reading;
    text_addf(out,
              "%s, a sensor: %s\n\nreadings; r.sensors.NAME has .min, .median, .mean and .max\n",
              json_text(sensor, "name", ""), json_text(sensor, "summary", ""));
    json_array_foreach(json_object_get(sensor, "readings"), i, reading)
    {
        text_addf(out, "  %-22s %-8s %s\n", json_text(reading, "name", ""),
                  json_text(reading, "unit", ""), json_text(reading, "help", ""));
    }
    if (json_text(sensor, "file", NULL))
        text_addf(out, "\nof plugin '%s', %s\n", json_text(sensor, "plugin", ""),
                  json_text(sensor, "file", ""));
}

/* The sensor of that name, where no workload has it. */
static const json_t *find_sensor(const struct session *session, const char *name)
{
    size_t i;
    json_t *sensor;
    json_array_foreach(session->sensors, i, sensor)
    {
        if (strcmp(json_text(sensor, "name", ""), name) == 0 &&
            !catalog_look(session->catalog, name))
            return sensor;
    }
    return NULL;
}

static void append_metric(void *user, const struct metric_description *metric)
{
    json_array_append_new(user, json_pack("{s:s, s:s, s:s}", "name", metric->name, "unit",
                                          dimension_symbol(metric->dimension), "help",
                                          metric->help ? metric->help : ""));
}

static bool describe_json(struct text *out, const struct catalog_workload *workload,
                          struct assay_error *error)
{
    json_t *copy = json_copy(workload->json), *metrics = json_array();
    catalog_each_metric(workload, append_metric, metrics);
    bool good = copy && json_object_set_new(copy, "case_metrics", metrics) == 0;
    good = good ? json_add_line(out, copy, false, error)
                : assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the description");
    text_add_char(out, '\n');
    json_decref(copy);
    return good;
}

static const struct arguments_option options[] = {
    {"json", 0, NULL, "one JSON object"},
    CHOICES_PLUGIN_ROW,
    {0},
};

static const struct arguments arguments = {
    .command = "describe",
    .usage = "WORKLOAD|SENSOR [OPTION...]",
    .about =
        "Says what a workload does: its parameters with units, defaults and limits, the stages "
        "of a\nbatch, and the metrics that a check can use; or what a sensor reads.\n",
    .options = options,
    .min_words = 1,
    .max_words = 1,
    .take = take,
};

static bool print_one(const struct describe_choices *choices, const struct session *session,
                      const char *name, struct text *out, struct assay_error *error)
{
    const json_t *sensor = find_sensor(session, name);
    long index = sensor ? 0 : catalog_find(session->catalog, name, error);
    if (index < 0)
        return false;
    const struct catalog_workload *workload = catalog_at(session->catalog, (size_t)index);
    if (!choices->json && sensor)
        sensor_text(out, sensor);
    else if (!choices->json)
        describe_text(out, session->catalog, workload);
    else if (!sensor)
        return describe_json(out, workload, error);
    else if (!json_add_line(out, sensor, false, error))
        return false;
    text_add(out, choices->json ? "\n" : "");
    return true;
}

static bool print(const struct describe_choices *choices, const char *name, struct text *out,
                  struct assay_error *error)
{
    struct session session;
    if (!session_open(&session, &(struct supervisor_params){0},
                      arguments_list_items(&choices->plugins), error))
        return false;
    bool good = print_one(choices, &session, name, out, error);
    session_close(&session);
    return good;
}

static int run(int argc, char **argv)
{
    struct describe_choices choices = {0};
    char **words;
    int status = arguments_parse(&arguments, argc, argv, &choices, &words);
    if (status == ARGUMENTS_GO) {
        struct assay_error error = {0};
        struct text out = {0};
        bool good = print(&choices, words[0], &out, &error);
        status = cli_answer(good, &out, &error);
    }
    arguments_list_free(&choices.plugins);
    return status;
}

const struct cli_command cli_describe = {"describe", "parameters, stages and metrics of a workload",
                                         run};
