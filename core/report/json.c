/* SPDX-License-Identifier: MIT */
#include "report/view.h"

#include "base/json.h"

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the report");
}

/* The record without what only the journal needs. */
static void strip(json_t *record)
{
    json_object_del(record, "kind");
    json_object_del(record, "judgement");
}

/* New reference: the verdicts of a chain. */
static json_t *chain_verdicts(const struct view *view, size_t chain, struct assay_error *error)
{
    json_t *verdicts = json_array();
    for (uint32_t at = view->first[chain]; verdicts && at; at = view->next[at - 1]) {
        json_t *verdict = journal_verdict(view->judgement, at - 1, error);
        if (!verdict) {
            json_decref(verdicts);
            return NULL;
        }
        strip(verdict);
        if (chain < view->case_count)
            json_object_del(verdict, "case");
        if (json_array_append_new(verdicts, verdict) != 0) {
            json_decref(verdicts);
            verdicts = NULL;
        }
    }
    if (!verdicts)
        no_memory(error);
    return verdicts;
}

static bool add_case(const struct view *view, size_t at, struct text *out,
                     struct assay_error *error)
{
    json_t *record = journal_case(view->results, at, error);
    json_t *verdicts = record ? chain_verdicts(view, at, error) : NULL;
    if (!verdicts) {
        json_decref(record);
        return false;
    }
    strip(record);
    bool good = json_object_set_new(record, "verdicts", verdicts) == 0 || no_memory(error);
    text_add(out, at ? ",\n  " : "\n  ");
    good = good && json_add_line(out, record, false, error);
    json_decref(record);
    return good;
}

static bool add_member(struct text *out, const char *name, const json_t *value,
                       struct assay_error *error)
{
    json_t *copy = json_copy((json_t *)value); /* shallow; NULL for no record */
    if (copy)
        strip(copy);
    text_addf(out, "\"%s\":", name);
    bool good = true;
    if (copy)
        good = json_add_line(out, copy, false, error);
    else
        text_add(out, "null");
    json_decref(copy);
    return good;
}

bool report_json(const struct report_source *source, struct text *out, struct assay_error *error)
{
    struct view view;
    if (!view_open(source, &view, error))
        return false;
    text_add(out, "{");
    bool good = add_member(out, "run", view.run, error);
    text_add(out, ",\n ");
    good = good && add_member(out, "end", view.end, error);
    text_add(out, ",\n \"cases\":[");
    for (size_t i = 0; good && i < view.case_count; i++)
        good = add_case(&view, i, out, error);
    text_add(out, "],\n ");
    json_t *summaries = good ? chain_verdicts(&view, view.case_count, error) : NULL;
    good = summaries && add_member(out, "summaries", summaries, error);
    json_decref(summaries);
    text_add(out, "}\n");
    view_close(&view);
    return good && (!out->failed || no_memory(error));
}

bool report_json_failure(const char *reason, int status, struct text *out,
                         struct assay_error *error)
{
    json_t *end = json_pack("{s:o, s:o}", "exit", status < 0 ? json_null() : json_integer(status),
                            "error", json_clean_string(reason));
    text_add(out, "{\"run\":null,\n \"end\":");
    bool good = end ? json_add_line(out, end, false, error) : no_memory(error);
    text_add(out, ",\n \"cases\":[],\n \"summaries\":[]}\n");
    json_decref(end);
    return good && (!out->failed || no_memory(error));
}
