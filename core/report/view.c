/* SPDX-License-Identifier: MIT */
#include "report/view.h"

#include "base/json.h"
#include "experiment/schedule.h"
#include "stats/ratio.h"

#include <stdlib.h>
#include <string.h>

struct view_workload {
    const char *name;
    const struct assay_option *const *options;
};

/* Hex digits of an id in commands: two of a million cases share 16 with a chance of 1e-8, and a
 * prefix that is not unique is refused. */
#define COMMAND_ID_DIGITS 16

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the report");
}

const char *const view_verdict_names[] = {
    [VIEW_PASS] = "pass",
    [VIEW_FAIL] = "fail",
    [VIEW_INCONCLUSIVE] = "inconclusive",
    [VIEW_NOT_JUDGED] = "not judged",
};

static enum view_verdict verdict_named(const char *name)
{
    for (int i = 0; i < VIEW_NONE; i++)
        if (strcmp(name, view_verdict_names[i]) == 0)
            return (enum view_verdict)i;
    return VIEW_NOT_JUDGED;
}

enum view_verdict view_verdict(const json_t *verdict)
{
    return verdict_named(json_text(verdict, "verdict", ""));
}

static int badness(uint8_t verdict)
{
    switch (verdict) {
    case VIEW_FAIL:
        return 4;
    case VIEW_INCONCLUSIVE:
        return 3;
    case VIEW_NOT_JUDGED:
        return 2;
    default:
        return verdict == VIEW_PASS;
    }
}

/* Which chain a verdict belongs to: its case, else that of the summaries. */
static size_t chain_of(const struct view *view, struct lazy *verdict)
{
    struct hash128 id;
    const char *hex = lazy_text(verdict, "case", NULL);
    long at = hex && hash_from_hex(hex, &id) ? journal_case_find(view->results, &id) : -1;
    return at >= 0 ? (size_t)at : view->case_count;
}

static bool read_verdicts(struct view *view, struct assay_error *error)
{
    uint32_t *last = calloc(view->case_count + 1, sizeof(*last));
    if (!last)
        return no_memory(error);
    for (size_t i = 0; i < view->verdict_count; i++) {
        struct lazy *verdict = journal_verdict_lazy(view->judgement, i, error);
        if (!verdict) {
            free(last);
            return false;
        }
        size_t chain = chain_of(view, verdict);
        enum view_verdict kind = verdict_named(lazy_text(verdict, "verdict", ""));
        view->bounds[kind]++;
        if (last[chain])
            view->next[last[chain] - 1] = (uint32_t)i + 1;
        else
            view->first[chain] = (uint32_t)i + 1;
        last[chain] = (uint32_t)i + 1;
        if (chain < view->case_count && badness((uint8_t)kind) > badness(view->worst[chain]))
            view->worst[chain] = (uint8_t)kind;
        lazy_destroy(&verdict);
    }
    free(last);
    return true;
}

static bool read_workloads(struct view *view, struct assay_error *error)
{
    const json_t *workloads = json_object_get(view->run, "workloads");
    size_t count = json_array_size(workloads);
    view->workloads = arena_alloc(view->arena, (count + 1) * sizeof(*view->workloads));
    if (!view->workloads)
        return no_memory(error);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(workloads, i);
        struct view_workload *workload = &view->workloads[view->workload_count];
        workload->name = json_text(item, "name", "");
        workload->options = option_table_from_json(json_object_get(item, "options"), view->arena,
                                                   error);
        if (!workload->options) {
            error_prefix(error, "the journal's description of '%s'", workload->name);
            return false;
        }
        view->workload_count++;
    }
    return true;
}

bool view_open(const struct report_source *source, struct view *view, struct assay_error *error)
{
    *view = (struct view){.results = source->results,
                          .judgement = source->judgement ? source->judgement : source->results};
    view->run = journal_run(view->results);
    view->end = journal_end(view->judgement);
    view->case_count = journal_case_count(view->results);
    view->verdict_count = journal_verdict_count(view->judgement);
    view->arena = arena_create();
    view->first = calloc(view->case_count + 1, sizeof(*view->first));
    view->next = calloc(view->verdict_count + 1, sizeof(*view->next));
    view->worst = malloc(view->case_count + 1);
    if (view->verdict_count >= UINT32_MAX || !view->arena || !view->first || !view->next ||
        !view->worst) {
        no_memory(error);
        goto fail;
    }
    memset(view->worst, VIEW_NONE, view->case_count + 1);
    if (read_workloads(view, error) && read_verdicts(view, error))
        return true;
fail:
    view_close(view);
    return false;
}

void view_close(struct view *view)
{
    arena_destroy(&view->arena);
    free(view->first);
    free(view->next);
    free(view->worst);
    *view = (struct view){0};
}

uint8_t view_judged(struct view *view, size_t at, const json_t *record, bool *shared)
{
    struct hash128 group = {{0}};
    const char *hex = json_text(json_object_get(record, "pair"), "group", NULL);
    bool grouped = hex && hash_from_hex(hex, &group);
    *shared = grouped && memcmp(&group, &view->group, sizeof(group)) == 0 &&
              view->worst[at] == VIEW_NONE && view->group_worst != VIEW_NONE;
    if (*shared)
        return view->group_worst;
    view->group = group;
    view->group_worst = view->worst[at];
    return view->worst[at];
}

const struct assay_option *const *view_options(const struct view *view, const char *workload)
{
    for (size_t i = 0; i < view->workload_count; i++)
        if (strcmp(view->workloads[i].name, workload) == 0)
            return view->workloads[i].options;
    return NULL;
}

static void add_plain_value(const json_t *value, struct text *out)
{
    if (json_is_string(value)) {
        text_add_clean(out, json_string_value(value));
        return;
    }
    if (json_is_real(value)) {
        number_add(out, json_real_value(value));
        return;
    }
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    text_add(out, dump ? dump : "?");
    free(dump);
}

void view_add_value(const struct view *view, const struct assay_option *option, const json_t *value,
                    struct text *out)
{
    struct assay_error ignored = {0}; /* a value that does not fit its table is shown as it is */
    struct option_value typed;
    if (option->kind == ASSAY_OPTION_TEXT || option->kind == ASSAY_OPTION_SOURCE ||
        !option_value_from_json(option, value, view->arena, &typed, &ignored)) {
        add_plain_value(value, out);
        return;
    }
    option_value_add(out, option, &typed);
}

void view_add_label(const struct view *view, const json_t *record, struct text *out)
{
    const char *workload = json_text(record, "workload", "?");
    const json_t *set = json_object_get(record, "set");
    const struct assay_option *const *options = view_options(view, workload);
    text_add_clean(out, workload);
    const char *selector = json_text(json_object_get(record, "device"), "selector", NULL);
    if (selector) {
        text_add(out, " device=");
        text_add_clean(out, selector);
    }
    struct schedule schedule;
    struct assay_error ignored = {0}; /* one of a newer assay is left out */
    if (schedule_from_json(json_object_get(record, "schedule"), &schedule, &ignored) &&
        schedule.kind != SCHEDULE_SERIAL) {
        text_add(out, " schedule=");
        schedule_add_label(&schedule, out);
    }
    if (json_whole(record, "replica", 0) > 0)
        text_addf(out, " replica=%lld", (long long)json_whole(record, "replica", 0));
    for (size_t i = 0; options && options[i]; i++) {
        const json_t *value = json_object_get(set, options[i]->name);
        if (value) {
            text_addf(out, " %s=", options[i]->name);
            view_add_value(view, options[i], value, out);
        }
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)set, key, value)
    {
        if (!options) {
            text_add_char(out, ' ');
            text_add_clean(out, key);
            text_add_char(out, '=');
            add_plain_value(value, out);
        }
    }
}

/* A word for a POSIX shell. */
static void add_word(struct text *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=:,+@%";
    text_add_char(out, ' ');
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(out, word);
        return;
    }
    text_add_char(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            text_add(out, "'\\''");
        else
            text_add_char(out, *word);
    text_add_char(out, '\'');
}

static void add_pair(struct text *out, const char *option, const char *key, const char *value)
{
    struct text pair = {0};
    text_addf(&pair, "%s=%s", key, value);
    text_addf(out, " --%s", option);
    add_word(out, text_string(&pair));
    text_free(&pair);
}

static void add_run_options(const json_t *run, struct text *out)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(run, "set"), i, item)
    {
        text_add(out, " --set");
        add_word(out, json_is_string(item) ? json_string_value(item) : "");
    }
    const char *key;
    json_object_foreach(json_object_get(run, "options"), key, item)
    {
        add_pair(out, "option", key, json_is_string(item) ? json_string_value(item) : "");
    }
    json_array_foreach(json_object_get(run, "plugin"), i, item)
    {
        text_add(out, " --plugin");
        add_word(out, json_is_string(item) ? json_string_value(item) : "");
    }
    const char *device = json_text(run, "device", NULL);
    if (device) {
        text_add(out, " --device");
        add_word(out, device);
    }
    const char *deadline = json_text(run, "deadline", NULL);
    if (deadline) {
        text_add(out, " --deadline");
        add_word(out, deadline);
    }
    static const char *const flags[] = {"quick", "validate", "trust"};
    for (size_t f = 0; f < sizeof(flags) / sizeof(flags[0]); f++)
        if (json_flag(run, flags[f], false))
            text_addf(out, " --%s", flags[f]);
}

static void add_share(struct text *out, const char *option, double share)
{
    text_addf(out, " --%s ", option);
    number_add(out, share);
}

/* Bounds from outside the script. */
static void add_outside(const json_t *policy, struct text *out)
{
    const json_t *baseline = json_object_get(policy, "baseline");
    const char *paths[] = {json_text(json_object_get(policy, "thresholds"), "path", NULL),
                           json_text(baseline, "path", NULL)};
    static const char *const options[] = {"thresholds", "baseline"};
    for (size_t i = 0; i < 2; i++) {
        if (!paths[i])
            continue;
        text_addf(out, " --%s", options[i]);
        add_word(out, paths[i]);
    }
    double margin = json_number(baseline, "margin", RATIO_MARGIN);
    double noise = json_number(baseline, "noise", 0);
    if (margin != RATIO_MARGIN)
        add_share(out, "margin", margin);
    if (noise > 0)
        add_share(out, "noise", noise);
}

void view_add_command(const struct view *view, const json_t *record, const char *experiment,
                      const char *script, struct text *out)
{
    const json_t *recorded = json_object_get(view->run, "script");
    const json_t *command = json_object_get(view->run, "command");
    const char *program = json_string_value(json_array_get(command, 0));
    add_word(out, program ? program : "assay");
    text_add(out, " run");
    add_word(out, script ? script : json_text(recorded, "path", "SCRIPT"));
    if (record) {
        text_addf(out, " --case %.*s", COMMAND_ID_DIGITS, json_text(record, "id", ""));
    } else {
        struct text pattern = {0};
        text_addf(&pattern, "%s/*", experiment);
        text_add(out, " --filter");
        add_word(out, text_string(&pattern));
        text_free(&pattern);
    }
    text_addf(out, " --seed %lld", (long long)json_whole(view->run, "seed", 0));
    add_run_options(view->run, out);
    add_outside(json_object_get(view->end, "policy"), out);
}

const char *view_device(const json_t *record)
{
    const json_t *device = json_object_get(record, "device");
    return json_text(device, "label", json_text(device, "name", NULL));
}

int view_inconclusive(const struct view *view)
{
    const char *word = json_text(json_object_get(view->end, "policy"), "inconclusive", "");
    return strcmp(word, "pass") == 0 ? 0 : strcmp(word, "fail") == 0 ? 1 : 3;
}

bool view_no_skip(const struct view *view)
{
    return json_flag(json_object_get(view->end, "policy"), "no_skip", false);
}
