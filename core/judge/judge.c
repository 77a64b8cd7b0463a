/* SPDX-License-Identifier: MIT */
#include "judge/judge.h"

#include "base/json.h"
#include "judge/floor.h"
#include "judge/outside.h"

#include <stdlib.h>
#include <string.h>

struct judge {
    const struct plan *plan;
    struct journal_writer *out; /* or NULL */
    struct judge_counts *counts;
    void (*each)(void *user, const struct judge_verdict *verdict); /* of a preview, or NULL */
    void *user;
    int64_t number;
    bool only_peaks;                /* are asked for */
    struct text line, clean;        /* reused */
    const struct plan_case **items; /* of a group; reused */
    struct lazy **records;
    size_t room;
};

int64_t judge_number(struct journal_reader *reader)
{
    int64_t last = 0;
    if (journal_end(reader))
        last = json_whole(journal_end(reader), "judgement", 0);
    if (journal_verdict_count(reader) > 0) {
        struct assay_error ignored = {
            0}; /* a damaged verdict leaves the number of the end record */
        json_t *verdict = journal_verdict(reader, 0, &ignored);
        int64_t number = json_whole(verdict, "judgement", 0);
        if (number > last)
            last = number;
        json_decref(verdict);
    }
    return last + 1;
}

static void add_key(struct text *line, const char *key)
{
    text_add(line, ",\"");
    text_add(line, key);
    text_add(line, "\":");
}

/* "KEY": and the text, made printable, behind a comma. */
static void add_member(struct judge *judge, const char *key, const char *value)
{
    struct text *line = &judge->line, *clean = &judge->clean;
    add_key(line, key);
    if (!value) {
        text_add(line, "null");
        return;
    }
    text_clear(clean);
    text_add_clean(clean, value);
    json_add_string(line, text_string(clean), clean->length);
    line->failed = line->failed || clean->failed;
}

static void add_number(struct text *line, const char *key, double value)
{
    add_key(line, key);
    json_add_real(line, value);
}

static void add_metric(struct judge *judge, const struct metric *metric)
{
    struct text *line = &judge->line;
    if (!metric) {
        text_add(line, ",\"metric\":null");
        return;
    }
    text_add(line, ",\"metric\":{");
    size_t before = line->length;
    add_member(judge, "name", metric->name ? metric->name : "value");
    if (!line->failed) /* the first member has no comma */
        memmove(line->data + before, line->data + before + 1, line->length-- - before);
    add_member(judge, "unit", dimension_symbol(metric->dimension));
    if (metric->absent) {
        add_member(judge, "absent", metric->absent);
    } else {
        add_number(line, "value", metric->value);
        add_number(line, "low", metric->low);
        add_number(line, "high", metric->high);
        add_key(line, "n");
        text_add_integer(line, (int64_t)metric->n);
    }
    text_add_char(line, '}');
}

/* Written as text: a tree for each verdict would cost more than the judging. */
static bool append(struct judge *judge, const struct judge_verdict *verdict,
                   struct assay_error *error)
{
    struct text *line = &judge->line;
    text_clear(line);
    text_add(line, "{\"kind\":\"verdict\",\"judgement\":");
    text_add_integer(line, judge->number);
    add_member(judge, "experiment", verdict->experiment);
    add_member(judge, "case", verdict->case_id);
    add_member(judge, "verdict", verdict_name(verdict->verdict));
    add_member(judge, "bound", verdict->bound);
    add_member(judge, "script", verdict->script);
    add_key(line, "line");
    text_add_integer(line, verdict->line);
    add_member(judge, "message", verdict->message);
    add_metric(judge, verdict->metric);
    text_add_char(line, '}');
    if (line->failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a verdict's record");
    return journal_append(judge->out, line->data, line->length, error);
}

bool judge_add(struct judge *judge, const struct judge_verdict *verdict, struct assay_error *error)
{
    if (judge->each)
        judge->each(judge->user, verdict);
    switch (verdict->verdict) {
    case VERDICT_PASS:
        judge->counts->passed++;
        break;
    case VERDICT_FAIL:
        judge->counts->failed++;
        break;
    case VERDICT_INCONCLUSIVE:
        judge->counts->inconclusive++;
        break;
    case VERDICT_NOT_JUDGED:
        judge->counts->not_judged++;
        break;
    }
    return !judge->out || append(judge, verdict, error);
}

/* The record of a case, counted; NULL where it has none. */
static bool record_take(struct judge *judge, const struct plan_case *item,
                        struct journal_reader *reader, struct lazy **record,
                        struct assay_error *error)
{
    bool is_peaks = judge->plan->experiments[item->experiment].is_peaks;
    long at = journal_case_find(reader, &item->id);
    *record = NULL;
    if (at < 0) {
        judge->counts->missing += !is_peaks; /* they are chosen by the device */
        return true;
    }
    *record = journal_case_lazy(reader, (size_t)at, error);
    if (!*record)
        return false;
    const char *status = lazy_text(*record, "status", "error");
    if (strcmp(status, "done") == 0) {
        judge->counts->done++;
        judge->counts->yardsticks += is_peaks && !judge->only_peaks;
    } else if (strcmp(status, "skipped") == 0) {
        judge->counts->skipped += !is_peaks; /* the peak is absent, with the reason */
    } else {
        judge->counts->errors++;
        judge->counts->script_errors += strcmp(status, "script error") == 0;
    }
    return true;
}

static bool group_room(struct judge *judge, size_t count, struct assay_error *error)
{
    if (count <= judge->room)
        return true;
    const struct plan_case **items = realloc(judge->items, count * sizeof(*items));
    if (items)
        judge->items = items;
    struct lazy **records = realloc(judge->records, count * sizeof(struct lazy *));
    if (records)
        judge->records = records;
    if (!items || !records)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory to judge a group of %zu cases",
                          count);
    judge->room = count;
    return true;
}

static bool floor_fail(struct judge *judge, const struct plan_case *item, struct lazy *record,
                       const struct metric *time, const struct metric *floor,
                       struct assay_error *error)
{
    const struct plan_experiment *experiment = &judge->plan->experiments[item->experiment];
    struct text message = {0};
    text_addf(&message, "%s:%d: ", experiment->script, experiment->line);
    text_add_clean(&message, time->name);
    text_add_char(&message, ' ');
    metric_add(&message, time);
    text_add(&message, " is under its floor, ");
    quantity_add(&message, floor->value, floor->dimension);
    text_add(&message, " by the peaks of the device: a broken measurement");
    outside_add_place(&message, judge->plan, item, lazy_member(record, "device"));
    struct judge_verdict verdict = {.experiment = experiment->name,
                                    .case_id = lazy_text(record, "id", NULL),
                                    .verdict = VERDICT_FAIL,
                                    .script = experiment->script,
                                    .line = experiment->line,
                                    .bound = "floor",
                                    .message = text_string(&message),
                                    .metric = time};
    bool good = judge_add(judge, &verdict, error);
    text_free(&message);
    return good;
}

/* Looks for stages, and for a case, that took less time than the device can do. */
static bool floor_judge(struct judge *judge, const struct plan_case *item, struct lazy *record,
                        const json_t *all_peaks, struct assay_error *error)
{
    if (!record || json_array_size(all_peaks) == 0)
        return true;
    const json_t *found = floor_peaks_find(all_peaks, lazy_member(record, "device"));
    const json_t *stages = lazy_member(record, "stages"), *stage;
    struct floor_peaks peaks;
    struct metric floor, time;
    struct text name = {0};
    size_t i;
    bool good = true, broken = false;
    if (!found || strcmp(lazy_text(record, "status", ""), "done") != 0)
        return true;
    floor_peaks_read(found, &peaks);
    json_array_foreach((json_t *)(uintptr_t)stages, i, stage)
    {
        text_clear(&name);
        text_addf(&name, "%s.time", json_text(stage, "name", ""));
        floor_stage(&peaks, stage, &floor);
        lazy_metric(record, text_string(&name), &time);
        if (broken || !floor_is_broken(&time, &floor))
            continue;
        broken = true;
        good = floor_fail(judge, item, record, &time, &floor, error);
    }
    text_free(&name);
    floor_case(&peaks, stages, &floor);
    lazy_metric(record, "time", &time);
    if (!broken && floor_is_broken(&time, &floor))
        good = floor_fail(judge, item, record, &time, &floor, error);
    return good;
}

static bool outside_judge(struct judge *judge, const struct judge_group *group,
                          const struct judge_outside *outside, struct assay_error *error)
{
    for (; outside; outside = outside->next) {
        for (size_t i = 0; i < group->count; i++) {
            struct lazy *record = group->records[i];
            if (record && strcmp(lazy_text(record, "status", ""), "done") == 0 &&
                !outside->check(outside->user, group, i, judge, error))
                return false;
        }
    }
    return true;
}

static bool group_judge(struct judge *judge, const struct plan *plan, uint32_t index,
                        struct journal_reader *reader, const struct judge_script *script,
                        struct assay_error *error)
{
    const struct plan_case *item = plan_group_first(plan, index);
    uint32_t experiment = item->experiment;
    size_t count = 0, done = judge->counts->done;
    bool good = group_room(judge, plan->groups[index].count, error);
    for (; good && item; item = plan_group_next(plan, item)) {
        judge->items[count] = item;
        good = record_take(judge, item, reader, &judge->records[count], error);
        count += good;
    }
    struct judge_group group = {
        .items = judge->items, .records = judge->records, .count = count, .reader = reader};
    if (good && judge->counts->done > done)
        good = script->check(script->user, experiment, &group, judge, error) &&
               (plan->experiments[experiment].is_peaks ||
                outside_judge(judge, &group, script->outside, error));
    for (size_t i = 0; good && i < count && !plan->experiments[experiment].is_peaks; i++)
        good = floor_judge(judge, judge->items[i], judge->records[i], journal_peaks(reader), error);
    for (size_t i = 0; i < count; i++) {
        struct lazy *record = judge->records[i];
        good = good && (!record || lazy_check(record, "the journal", error));
        lazy_destroy(&judge->records[i]);
    }
    return good;
}

bool judge_look(const struct judge_group *group, const struct judge_script *script)
{
    struct judge_counts counts = {0};
    struct judge judge = {.counts = &counts};
    struct assay_error ignored = {0}; /* said by the final judgement */
    return script->check(script->user, group->items[0]->experiment, group, &judge, &ignored) &&
           outside_judge(&judge, group, script->outside, &ignored) && counts.inconclusive > 0;
}

void judge_preview(const struct plan *plan, uint32_t group, const struct judge_script *script,
                   void (*each)(void *user, const struct judge_verdict *verdict), void *user)
{
    struct judge_counts counts = {0};
    struct judge judge = {.counts = &counts, .each = each, .user = user};
    struct assay_error ignored = {0};
    const struct plan_case *item = plan_group_first(plan, group);
    uint32_t experiment = item->experiment;
    size_t count = 0;
    if (group_room(&judge, plan->groups[group].count, &ignored)) {
        for (; item; item = plan_group_next(plan, item), count++) {
            judge.items[count] = item;
            judge.records[count] = NULL;
        }
        struct judge_group nothing = {
            .items = judge.items, .records = judge.records, .count = count};
        script->check(script->user, experiment, &nothing, &judge, &ignored);
    }
    free(judge.items);
    free(judge.records);
}

static bool any_selected(const struct plan *plan, const struct plan_experiment *experiment)
{
    for (size_t i = 0; i < experiment->case_count; i++)
        if (plan->cases[experiment->first_case + i].selected)
            return true;
    return false;
}

static bool only_peaks(const struct plan *plan)
{
    for (size_t i = 0; i < plan->experiment_count; i++)
        if (!plan->experiments[i].is_peaks && any_selected(plan, &plan->experiments[i]))
            return false;
    return true;
}

static bool judge_all(struct judge *judge, const struct plan *plan, struct journal_reader *reader,
                      const struct judge_script *script, struct assay_error *error)
{
    for (uint32_t i = 0; i < plan->group_count; i++)
        if (plan_group_first(plan, i)->selected &&
            !group_judge(judge, plan, i, reader, script, error))
            return false;
    for (size_t i = 0; i < plan->experiment_count; i++)
        if (any_selected(plan, &plan->experiments[i]) &&
            !script->summary(script->user, (uint32_t)i, reader, judge, error))
            return false;
    return true;
}

bool judge_run(const struct plan *plan, struct journal_reader *reader,
               const struct judge_script *script, struct journal_writer *out,
               struct judge_counts *counts, struct assay_error *error)
{
    *counts = (struct judge_counts){0};
    struct judge judge = {
        .plan = plan, .out = out, .counts = counts, .number = judge_number(reader)};
    judge.only_peaks = only_peaks(plan);
    bool good = (!out || journal_gather(out, true, error)) &&
                judge_all(&judge, plan, reader, script, error);
    /* What is judged so far is written even when the rest fails. */
    good = (!out || journal_gather(out, false, good ? error : NULL)) && good;
    text_free(&judge.line);
    text_free(&judge.clean);
    free(judge.items);
    free(judge.records);
    return good;
}

int judge_exit_status(const struct judge_counts *counts, const struct judge_policy *policy)
{
    bool strict = policy->no_skip &&
                  (counts->skipped > 0 || counts->not_judged > 0 || counts->missing > 0);
    if (counts->script_errors > 0)
        return 2;
    if (counts->done == counts->yardsticks && counts->errors == 0)
        return 5;
    if (counts->errors > 0)
        return 4;
    if (counts->failed > 0 || strict)
        return 1;
    return counts->inconclusive > 0 ? policy->inconclusive : 0;
}
