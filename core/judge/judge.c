/* SPDX-License-Identifier: MIT */
#include "judge/judge.h"

#include "base/json.h"

#include <string.h>

struct judge {
    struct journal_writer *out; /* or NULL */
    struct judge_counts *counts;
    int64_t number;
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

static json_t *metric_record(const struct metric *metric)
{
    const char *unit = dimension_symbol(metric->dimension);
    if (metric->absent)
        return json_pack("{s:o, s:s, s:o}", "name", json_clean_string(metric->name), "unit", unit,
                         "absent", json_clean_string(metric->absent));
    return json_pack("{s:o, s:s, s:f, s:f, s:f, s:I}", "name", json_clean_string(metric->name),
                     "unit", unit, "value", metric->value, "low", metric->low, "high", metric->high,
                     "n", (json_int_t)metric->n);
}

static bool append(struct judge *judge, const struct judge_verdict *verdict,
                   struct assay_error *error)
{
    json_t *metric = verdict->metric ? metric_record(verdict->metric) : NULL;
    json_t *record = json_pack("{s:s, s:I, s:o, s:s?, s:s, s:s, s:o, s:i, s:o, s:o?}", "kind",
                               "verdict", "judgement", (json_int_t)judge->number, "experiment",
                               json_clean_string(verdict->experiment), "case", verdict->case_id,
                               "verdict", verdict_name(verdict->verdict), "bound", verdict->bound,
                               "script", json_clean_string(verdict->script), "line", verdict->line,
                               "message", json_clean_string(verdict->message), "metric", metric);
    if (!record)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a verdict's record");
    bool good = journal_append_json(judge->out, record, error);
    json_decref(record);
    return good;
}

bool judge_add(struct judge *judge, const struct judge_verdict *verdict, struct assay_error *error)
{
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

static bool case_judge(struct judge *judge, const struct plan_case *item,
                       struct journal_reader *reader, const struct judge_script *script,
                       struct assay_error *error)
{
    /* What closures can see of a record. */
    static const char *const members[] = {"id",     "status",  "reason",       "params",
                                          "device", "metrics", "verification", NULL};
    long at = journal_case_find(reader, &item->id);
    if (at < 0) {
        judge->counts->missing++;
        return true;
    }
    json_t *record = journal_case_part(reader, (size_t)at, members, error);
    if (!record)
        return false;
    const char *status = json_text(record, "status", "error");
    bool good = true;
    if (strcmp(status, "done") == 0) {
        judge->counts->done++;
        good = script->check(script->user, item->experiment, record, judge, error);
    } else if (strcmp(status, "skipped") == 0) {
        judge->counts->skipped++;
    } else {
        judge->counts->errors++;
        judge->counts->script_errors += strcmp(status, "script error") == 0;
    }
    json_decref(record);
    return good;
}

static bool any_selected(const struct plan *plan, const struct plan_experiment *experiment)
{
    for (size_t i = 0; i < experiment->case_count; i++) {
        if (plan->cases[experiment->first_case + i].selected)
            return true;
    }
    return false;
}

bool judge_run(const struct plan *plan, struct journal_reader *reader,
               const struct judge_script *script, struct journal_writer *out,
               struct judge_counts *counts, struct assay_error *error)
{
    *counts = (struct judge_counts){0};
    struct judge judge = {.out = out, .counts = counts, .number = judge_number(reader)};
    for (size_t i = 0; i < plan->case_count; i++) {
        if (plan->cases[i].selected && !case_judge(&judge, &plan->cases[i], reader, script, error))
            return false;
    }
    for (size_t i = 0; i < plan->experiment_count; i++) {
        if (any_selected(plan, &plan->experiments[i]) &&
            !script->summary(script->user, (uint32_t)i, reader, &judge, error))
            return false;
    }
    return true;
}

int judge_exit_status(const struct judge_counts *counts, const struct judge_policy *policy)
{
    bool strict = policy->no_skip &&
                  (counts->skipped > 0 || counts->not_judged > 0 || counts->missing > 0);
    if (counts->script_errors > 0)
        return 2;
    if (counts->done == 0 && counts->errors == 0)
        return 5;
    if (counts->errors > 0)
        return 4;
    if (counts->failed > 0 || strict)
        return 1;
    return counts->inconclusive > 0 ? policy->inconclusive : 0;
}
