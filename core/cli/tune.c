/* SPDX-License-Identifier: MIT */
#include "cli/arguments.h"
#include "cli/choices.h"
#include "cli/cli.h"
#include "cli/single.h"
#include "cli/tune_text.h"

#include "base/json.h"
#include "result/tuning_store.h"

#include <stdio.h>
#include <string.h>

#define ATTEMPTS_MOST 64 /* where candidates end their worker, one after the other */
#define DEADLINE_NS INT64_C(120000000000)

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    return single_choices_take(user, name, value, error);
}

/* What is kept, of the workload alone where one is named; what is damaged is told. */
static json_t *kept(const struct single_choices *choices, struct assay_error *error)
{
    struct text damage = {0};
    json_t *list = tuning_list(&damage), *some = json_array();
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *name = json_text(json_object_get(item, "identity"), "workload", "");
        if (!choices->workload || strcmp(name, choices->workload) == 0)
            json_array_append(some, item);
    }
    for (char *line = damage.data; line && *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(stderr, "assay: note: %.*s\n", (int)length, line);
        line += length + 1;
    }
    text_free(&damage);
    if (!list || !some)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the choices");
    json_decref(list);
    return some;
}

static bool show(const json_t *list, bool as_json, struct text *out, struct assay_error *error)
{
    if (!as_json) {
        tune_add_list(list, out);
        return true;
    }
    json_t *whole = json_pack("{s:O}", "choices", list);
    bool good = whole ? json_add_line(out, whole, false, error)
                      : assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the choices");
    text_add_char(out, '\n');
    json_decref(whole);
    return good;
}

static int show_kept(const struct single_choices *choices)
{
    struct assay_error error = {0};
    struct text out = {0};
    json_t *list = kept(choices, &error);
    bool good = error.status == ASSAY_OK && show(list, choices->json, &out, &error);
    json_decref(list);
    return cli_answer(good, &out, &error);
}

static int forget(const struct single_choices *choices)
{
    struct assay_error error = {0};
    struct text out = {0};
    size_t count = 0;
    bool good;
    if (choices->workload) {
        json_t *list = kept(choices, &error);
        count = json_array_size(list);
        good = error.status == ASSAY_OK && tuning_forget(list, &error);
        json_decref(list);
    } else {
        good = tuning_forget_all(&count, &error);
    }
    text_addf(&out, "%zu %s forgotten\n", count, count == 1 ? "choice" : "choices");
    return cli_answer(good, &out, &error);
}

static bool make_plan(struct single *single, const struct single_choices *choices,
                      struct assay_error *error)
{
    struct plan_case item = {0};
    struct plan_experiment experiment = {.name = "tune",
                                         .script = "assay tune",
                                         .line = 1,
                                         .tune = true,
                                         .measure = {.deadline_ns = DEADLINE_NS}};
    return single_item(single, choices->workload, NULL, &choices->sets, &item, error) &&
           plan_add_experiment(single->plan, &experiment, error) &&
           plan_add_case(single->plan, &item, error);
}

static enum assay_status status_of(const char *status)
{
    if (strcmp(status, "skipped") == 0)
        return ASSAY_NO_DEVICE;
    return strcmp(status, "script error") == 0 ? ASSAY_INVALID : ASSAY_INTERNAL;
}

/* A worker that a candidate ended is replaced, and the candidate left out. */
static json_t *measure(struct single *single, struct assay_error *error)
{
    for (int attempt = 0; attempt < ATTEMPTS_MOST; attempt++) {
        json_t *record = single_run(single, error) ? single_record(single, 0, error) : NULL;
        const char *tried = json_text(json_object_get(record, "tuning"), "tried", NULL);
        const char *status = json_text(record, "status", "");
        if (!record || strcmp(status, "done") == 0)
            return record;
        if (!tried)
            assay_fail(error, status_of(status), "%s", json_text(record, "reason", status));
        else
            fprintf(stderr, "assay: note: '%s' ended its worker and is left out from now on\n",
                    tried);
        json_decref(record);
        if (!tried)
            return NULL;
    }
    assay_fail(error, ASSAY_INTERNAL, "every candidate ended its worker");
    return NULL;
}

static bool answer(const struct single *single, const json_t *record, bool as_json,
                   struct text *out, struct assay_error *error)
{
    struct text head = {0};
    const json_t *device = json_object_get(record, "device");
    const json_t *tuning = json_object_get(record, "tuning");
    size_t i;
    json_t *note;
    plan_case_label(single->plan, &single->plan->cases[0], false, &head);
    if (json_text(device, "label", NULL)) {
        text_add(&head, " on ");
        text_add_clean(&head, json_text(device, "label", ""));
    }
    bool good = true;
    json_array_foreach(json_object_get(record, "notes"), i, note)
    {
        fprintf(stderr, "assay: note: %s\n", json_string_value(note));
    }
    if (as_json) {
        json_t *whole = json_pack("{s:s, s:O?, s:O}", "what", text_string(&head), "device", device,
                                  "tuning", tuning);
        good = whole ? json_add_line(out, whole, false, error)
                     : assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the report");
        text_add_char(out, '\n');
        json_decref(whole);
    } else {
        tune_add_candidates(text_string(&head), tuning, out);
    }
    text_free(&head);
    return good;
}

static int tune(const struct single_choices *choices)
{
    struct single single = {0};
    struct assay_error error = {0};
    struct text out = {0};
    json_t *record = NULL;
    bool good = single_open(&single, choices, &error) && make_plan(&single, choices, &error);
    if (good)
        record = measure(&single, &error);
    good = record && answer(&single, record, choices->json, &out, &error);
    json_decref(record);
    single_close(&single);
    return single_answer(good, &out, &error);
}

static const struct arguments_option options[] = {
    {"set", 0, "NAME=VALUE", "a parameter of the workload: --set m=512"},
    SINGLE_DEVICE_ROW,
    CHOICES_PLUGIN_ROW,
    {"seed", 0, "N", "of all random inputs (1)"},
    {"forget", 0, NULL, "drop what is kept, of the workload alone where one is named"},
    {"json", 0, NULL, "one JSON object"},
    {0},
};

static const struct arguments arguments = {
    .command = "tune",
    .usage = "[WORKLOAD] [OPTION...]",
    .about =
        "Where a workload leaves open how it does its work (variant=auto), assay tries what the "
        "device has,\ntakes the fastest whose result is right, and keeps the choice by device, "
        "driver and environment.\nWithout a workload this shows what is kept; with one it tries "
        "all anew for these parameters and\nshows what came of it. A candidate that ended its "
        "worker, or was wrong in a case, is not tried\nagain until --forget.\n",
    .options = options,
    .min_words = 0,
    .max_words = 1,
    .take = take,
    .footer = "exit status\n"
              "  0  what was asked for is there\n"
              "  2  the command line is wrong, or there is nothing to tune\n"
              "  4  no candidate can be used\n"
              "  5  nothing was tried: there is no device, or it cannot do this\n",
};

static int refuse(const struct single_choices *choices)
{
    struct assay_error error = {0};
    assay_fail(&error, ASSAY_INVALID, "tune: %s",
               choices->forget ? "--forget takes no parameters and no device: it drops all choices "
                                 "for a workload"
                               : "--set and --device belong to a workload");
    return cli_error(&error);
}

static int run(int argc, char **argv)
{
    struct single_choices choices = {.seed = 1};
    char **words;
    int status = arguments_parse(&arguments, argc, argv, &choices, &words);
    if (status == ARGUMENTS_GO) {
        choices.workload = words[0];
        bool more = choices.sets.count || choices.device;
        single_catch_signals();
        if (more && (choices.forget || !choices.workload))
            status = refuse(&choices);
        else if (choices.forget)
            status = forget(&choices);
        else if (!choices.workload)
            status = show_kept(&choices);
        else
            status = tune(&choices);
    }
    single_choices_free(&choices);
    return status;
}

const struct cli_command cli_tune = {"tune", "which way of doing a workload is fastest here", run};
