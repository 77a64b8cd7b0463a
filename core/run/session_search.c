/* SPDX-License-Identifier: MIT */
#include "run/session_search.h"

#include "base/json.h"
#include "base/options.h"
#include "measure/load.h"
#include "result/record.h"

#include <string.h>

/* What is varied: a row of the workload's parameters, or of the schedule's fields. */
static const struct assay_option *option_of(const struct session_search *self, bool *scheduled,
                                            size_t *row)
{
    const struct assay_option *const *tables[] = {self->request->workload->options,
                                                  schedule_options(self->request->schedule.kind)};
    for (size_t i = 0; i < 2; i++) {
        int index = option_find(tables[i], self->search.vary);
        *scheduled = i == 1;
        *row = index < 0 ? 0 : (size_t)index;
        if (index >= 0)
            return tables[i][index];
    }
    return NULL;
}

static bool set_value(struct session_search *self, double number, struct assay_error *error)
{
    bool scheduled;
    size_t row;
    const struct assay_option *option = option_of(self, &scheduled, &row);
    const struct assay_workload *workload = self->request->workload;
    struct option_value value;
    if (!option)
        return assay_fail(error, ASSAY_INVALID, "there is no '%s' to vary", self->search.vary);
    if (!option_from_number(option, number, &value, error))
        return false;
    if (scheduled) {
        schedule_set(&self->request->schedule, row, &value);
        return schedule_check(&self->request->schedule, error);
    }
    option_store(option, &value, self->params);
    return !workload->check || workload->check(self->params, error);
}

/* The metric of a result; absent with its reason. The strings belong to *metrics. */
static bool figure_of(const struct session_search *self, const struct measure_result *result,
                      json_t **metrics, struct metric *figure, struct assay_error *error)
{
    struct text text = {0};
    metric_set_add_json(result->metrics, &text);
    *metrics = text.failed ? NULL : json_read(text.data, text.length, "metrics", error);
    text_free(&text);
    if (!*metrics)
        return error->status != ASSAY_OK ||
               assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for metrics");
    metric_from_json(*metrics, self->search.metric, figure);
    return true;
}

/* Where the whole interval lies. Overload and what memory does not hold miss the bound. */
static enum search_verdict verdict_of(const struct search *search, const struct metric *figure,
                                      bool too_much)
{
    if (figure->absent)
        return too_much ? SEARCH_MISSES : SEARCH_OPEN;
    bool keeps = search->at_most ? figure->high <= search->bound : figure->low >= search->bound;
    bool misses = search->at_most ? figure->low > search->bound : figure->high < search->bound;
    return keeps ? SEARCH_KEEPS : misses ? SEARCH_MISSES : SEARCH_OPEN;
}

static void add_value_text(const struct session_search *self, double value, struct text *out)
{
    bool scheduled;
    size_t row;
    struct unit unit = unit_of_label(option_of(self, &scheduled, &row)->unit);
    quantity_add(out, value * unit.scale, unit.dimension);
}

/* "5.2 ms [5.1, 5.3] at 40 item/s", for where no value keeps the bound. */
static void add_seen(struct session_search *self, double value, const struct metric *figure)
{
    struct text *out = &self->seen;
    text_add(out, out->length ? "; " : "");
    if (figure->absent)
        text_add(out, figure->absent);
    else if (figure->low == figure->high)
        quantity_add(out, figure->value, figure->dimension);
    else
        quantity_add_interval(out, figure->value, figure->low, figure->high, figure->dimension);
    text_add(out, " at ");
    add_value_text(self, value, out);
}

static void add_probe(struct session_search *self, double value, const struct metric *figure,
                      enum search_verdict verdict)
{
    struct text *out = &self->record;
    text_add(out, out->data[out->length - 1] == '[' ? "{\"value\":" : ",{\"value\":");
    number_add(out, value);
    if (figure->absent) {
        text_add(out, ",\"absent\":");
        record_add_string(out, figure->absent);
    } else {
        text_add(out, ",\"figure\":");
        number_add(out, figure->value);
        text_add(out, ",\"low\":");
        number_add(out, figure->low);
        text_add(out, ",\"high\":");
        number_add(out, figure->high);
    }
    text_addf(out, ",\"verdict\":\"%s\"}", search_verdict_name(verdict));
}

/* A metric that has no figure at the first value, and not because it is too much there, has none at
 * any other. */
static bool never_there(const struct session_search *self, const struct metric *figure,
                        struct assay_error *error)
{
    assay_fail(error, ASSAY_INVALID, "metric: %s has no figure in this case: %s",
               self->search.metric, figure->absent);
    return false;
}

/* Measures at one value. A failure that says only that it is too much becomes an absent figure. */
static bool probe(struct session_search *self, double value, bool first,
                  struct measure_result *result, enum search_verdict *verdict,
                  struct assay_error *error)
{
    struct measure_group group = {
        .members = self->request, .count = 1, .budget = self->budget, .watch = self->watch};
    struct assay_error failure = {0};
    struct metric figure = {0};
    json_t *metrics = NULL;
    if (!set_value(self, value, error) || !measure_group(&group, result, &failure, error))
        return false;
    bool too_much = failure.status == ASSAY_UNSUPPORTED || failure.status == ASSAY_OUT_OF_MEMORY;
    if (failure.status != ASSAY_OK && (first || !too_much)) {
        *error = failure;
        return false;
    }
    if (failure.status != ASSAY_OK)
        figure.absent = failure.text;
    else if (!figure_of(self, result, &metrics, &figure, error))
        return false;
    too_much = too_much || (figure.absent && load_is_overload(figure.absent));
    bool good = !first || !figure.absent || too_much || never_there(self, &figure, error);
    *verdict = verdict_of(&self->search, &figure, too_much);
    add_probe(self, value, &figure, *verdict);
    add_seen(self, value, &figure);
    json_decref(metrics);
    return good;
}

/* Behind those of the measurement. */
static void add_note(struct measure_result *result, struct text *note)
{
    struct text *notes = &result->notes;
    if (notes->length > 0)
        notes->data[--notes->length] = '\0'; /* the bracket */
    text_add(notes, notes->length > 0 ? "," : "[");
    record_add_string(notes, text_string(note));
    text_add_char(notes, ']');
    text_free(note);
}

static void add_notes(const struct session_search *self, const struct search_answer *answer,
                      struct measure_result *result)
{
    const struct search *search = &self->search;
    struct text note = {0};
    if (answer->kept_at_to) {
        text_addf(&note,
                  "search: %s keeps its bound at the highest value of %s, too, so the limit "
                  "lies above: raise to",
                  search->metric, search->vary);
        add_note(result, &note);
    }
    if (answer->open) {
        text_addf(&note, "search: between ");
        add_value_text(self, answer->value, &note);
        text_add(&note, " and ");
        add_value_text(self, answer->beyond, &note);
        text_addf(&note,
                  " the interval of %s reaches over its bound: more samples, by a larger "
                  "budget, tell where the limit is%s",
                  search->metric,
                  strncmp(search->metric, "latency.p", 9) == 0
                      ? ", to the 0.8 % that percentiles are counted in"
                      : "");
        add_note(result, &note);
    }
    if (answer->several) {
        text_addf(&note, "search: %s does not keep its bound at ", search->metric);
        add_value_text(self, answer->missing, &note);
        text_addf(&note, ", under the value found: there is more than one limit");
        add_note(result, &note);
    }
}

static bool add_value(struct session_search *self, const struct search_answer *answer,
                      struct measure_result *result, struct assay_error *error)
{
    bool scheduled;
    size_t row;
    struct text why = {0};
    const struct assay_option *option = option_of(self, &scheduled, &row);
    struct unit unit = unit_of_label(option->unit);
    struct metric metric = {.name = "value", .dimension = unit.dimension, .n = 1};
    metric.value = metric.low = answer->value * unit.scale;
    metric.high = answer->beyond * unit.scale;
    if (!answer->found) {
        text_addf(&why, "%s keeps its bound at no value of %s that was tried: %s",
                  self->search.metric, self->search.vary, text_string(&self->seen));
        metric = (struct metric){.name = "value", .dimension = unit.dimension};
        metric.absent = text_string(&why);
    }
    bool good = metric_set_add(result->metrics, &metric, error);
    if (answer->found) {
        add_notes(self, answer, result);
    } else {
        struct text note = {0};
        text_addf(&note, "search: %s", text_string(&why));
        add_note(result, &note);
    }
    text_free(&why);
    return good;
}

static void begin_record(struct session_search *self)
{
    json_t *json = search_to_json(&self->search);
    struct assay_error ignored = {0}; /* the record is then incomplete, which is told */
    text_clear(&self->record);
    if (!json || !json_add_line(&self->record, json, false, &ignored))
        self->record.failed = true;
    json_decref(json);
    if (self->record.length > 0)
        self->record.length--; /* the brace */
    text_add(&self->record, ",\"probes\":[");
}

/* The result that is kept is that of the highest value that keeps the bound; without, of the first.
 */
static bool probe_all(struct session_search *self, struct search_state *state,
                      struct measure_result *result, double *kept, struct assay_error *error)
{
    enum search_verdict verdict;
    double value;
    while (search_next(&self->search, state, &value)) {
        struct measure_result now = {0};
        struct search_answer before;
        search_answer(state, &before);
        if (!probe(self, value, state->count == 0, &now, &verdict, error)) {
            measure_result_free(&now);
            return false;
        }
        bool better = verdict == SEARCH_KEEPS && (!before.found || value > before.value);
        if (better || state->count == 0) {
            measure_result_free(result);
            *result = now;
            *kept = value;
        } else {
            measure_result_free(&now);
        }
        search_tell(state, value, verdict);
    }
    return true;
}

bool session_search_run(struct session_search *self, struct measure_result *result,
                        struct assay_error *error)
{
    struct search_state state = {0};
    struct search_answer answer;
    double kept = 0;
    begin_record(self);
    bool good = probe_all(self, &state, result, &kept, error);
    text_add(&self->record, "]}"); /* that of a failed case is written too */
    search_answer(&state, &answer);
    good = good && set_value(self, kept, error) && add_value(self, &answer, result, error);
    bool whole = !self->record.failed && !self->seen.failed;
    text_free(&self->seen);
    if (good && !whole)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    return good;
}
