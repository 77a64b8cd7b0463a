/* SPDX-License-Identifier: MIT */
#include "cli/choices.h"
#include "cli/cli.h"
#include "cli/failure.h"
#include "cli/given.h"
#include "cli/judgement.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

struct check_choices {
    struct choices_output output;
    bool no_write, trust;
    int64_t script_deadline_ns;
};

struct check {
    const struct check_choices *choices;
    const char *path;    /* of the script */
    struct text journal; /* path */
    struct journal_reader *reader;
    const json_t *run;        /* the journal's run record */
    struct choices_plan plan; /* as the run had them */
    struct arena *arena;      /* for strings of `plan` */
    struct catalog *catalog;
    struct script *script;
    struct journal_writer *writer;
    struct outside outside;
};

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    struct check_choices *choices = user;
    if (strcmp(name, "no-write") == 0)
        choices->no_write = true;
    else if (strcmp(name, "trust") == 0)
        choices->trust = true;
    else if (strcmp(name, "script-deadline") == 0)
        return arguments_time(name, value, &choices->script_deadline_ns, error);
    else
        return choices_take(NULL, &choices->output, name, value, error);
    return true;
}

static bool read_journal(struct check *check, const char *path, struct assay_error *error)
{
    check->reader = given_journal(path, &check->journal, error);
    check->run = check->reader ? journal_run(check->reader) : NULL;
    return check->reader != NULL;
}

static bool list_words(struct arguments_list *list, const json_t *words, struct assay_error *error)
{
    size_t i;
    json_t *word;
    json_array_foreach(words, i, word)
    {
        if (json_is_string(word) && !arguments_list_add(list, json_string_value(word), error))
            return false;
    }
    return true;
}

/* The command line of the run, as far as it made the plan. --trust is not taken over: a journal may
 * come from somebody else. */
static bool restore_choices(struct check *check, struct assay_error *error)
{
    struct choices_plan *plan = &check->plan;
    const json_t *run = check->run;
    plan->seed = json_whole(run, "seed", CHOICES_SEED);
    plan->device = json_text(run, "device", NULL);
    plan->case_prefix = json_text(run, "case", NULL);
    plan->trust = check->choices->trust;
    plan->script_deadline_ns = check->choices->script_deadline_ns;
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(run, "options"), key, value)
    {
        const char *pair = arena_printf(check->arena, "%s=%s", key,
                                        json_is_string(value) ? json_string_value(value) : "");
        if (!pair)
            return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the run's options");
        if (!arguments_list_add(&plan->options, pair, error))
            return false;
    }
    return list_words(&plan->sets, json_object_get(run, "set"), error) &&
           list_words(&plan->plugins, json_object_get(run, "plugin"), error) &&
           list_words(&plan->filters, json_object_get(run, "filter"), error);
}

static void compare_script(const struct check *check)
{
    json_t *record = script_record(check->script);
    const char *now = json_text(record, "hash", "");
    const char *then = json_text(json_object_get(check->run, "script"), "hash", "");
    if (strcmp(now, then) != 0) {
        fprintf(stderr,
                "assay: warning: %s is not the script that the journal was made with; its bounds "
                "are judged as they are now\n",
                check->path);
    }
    json_decref(record);
}

static bool load(struct check *check, struct assay_error *error)
{
    check->arena = arena_create();
    if (!check->arena)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the run's options");
    json_t *workloads = json_object_get(check->run, "workloads");
    if (!json_is_array(workloads)) {
        return assay_fail(error, ASSAY_INVALID, "%s: its run record describes no workloads",
                          text_string(&check->journal));
    }
    json_t *others = json_array(), *workload; /* the script defines its own again */
    size_t i;
    json_array_foreach(workloads, i, workload)
    {
        if (!json_object_get(workload, "inline"))
            json_array_append(others, workload);
    }
    check->catalog = catalog_create(others, error);
    json_decref(others);
    if (!check->catalog ||
        !catalog_set_sensors(check->catalog, json_object_get(check->run, "sensors"), error) ||
        !restore_choices(check, error))
        return false;
    check->script = choices_plan_load(&check->plan, check->path, check->catalog, error);
    if (check->script)
        compare_script(check);
    return check->script != NULL;
}

static void open_writer(struct check *check)
{
    struct assay_error error = {0};
    if (check->choices->no_write)
        return;
    check->writer = journal_open(text_string(&check->journal), &error);
    if (!check->writer)
        fprintf(stderr, "assay: note: the verdicts are only printed: %s\n", error.text);
}

static int check_journal(struct check *check, const char *journal)
{
    static const char killed[] = "the check did not end: its process was ended, by the script's "
                                 "deadline or by a signal";
    const struct choices_output *reports = &check->choices->output;
    struct assay_error error = {0};
    int status;
    if (choices_output_check(reports, &error) && failure_expect(reports, killed, &error) &&
        read_journal(check, journal, &error) && load(check, &error) &&
        outside_open(&check->outside, reports, script_plan(check->script), &error)) {
        open_writer(check);
        struct judgement_params params = {
            .journal = text_string(&check->journal),
            .reader = check->reader,
            .writer = check->writer,
            .script = check->script,
            .script_path = check->path,
            .output = &check->choices->output,
            .outside = &check->outside,
        };
        status = judgement_run(&params);
    } else {
        /* Whatever is wrong with the two files, nothing was run: it is the command line. */
        cli_error(&error);
        status = CLI_USAGE;
        failure_write(reports, error.text, status);
    }
    outside_close(&check->outside);
    journal_writer_destroy(&check->writer);
    script_destroy(&check->script);
    catalog_destroy(&check->catalog);
    choices_plan_free(&check->plan);
    journal_reader_destroy(&check->reader);
    arena_destroy(&check->arena);
    text_free(&check->journal);
    return status;
}

static const struct arguments_option options[] = {
    {"no-write", 0, NULL, "print only: append nothing to the journal"},
    {"script-deadline", 0, "TIME", "how long the script may compute at a time (10s)"},
    {"trust", 0, NULL, "give the script the Lua libraries os and io"},
    CHOICES_BOUNDS_ROWS,
    CHOICES_OUTPUT_ROWS,
    {0},
};

static const struct arguments arguments = {
    .command = "check",
    .usage = "JOURNAL SCRIPT [OPTION...]",
    .about = "Judges the results in a journal by the checks of a script, as 'assay run' did at its "
             "end. No\ndevice is needed. The verdicts are appended: the last judgement counts. "
             "JOURNAL is the file\nor the directory that holds it.\n",
    .options = options,
    .min_words = 2,
    .max_words = 2,
    .take = take,
    .footer = CLI_STATUS_HELP,
};

static int run(int argc, char **argv)
{
    struct check_choices choices = {0};
    char **words;
    choices_output_init(&choices.output);
    int status = arguments_parse(&arguments, argc, argv, &choices, &words);
    if (status != ARGUMENTS_GO)
        return status;
    struct check check = {.choices = &choices, .path = words[1]};
    return check_journal(&check, words[0]);
}

const struct cli_command cli_check = {"check", "judge a journal again, without a device", run};
