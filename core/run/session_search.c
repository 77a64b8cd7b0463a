/* SPDX-License-Identifier: MIT */
#include "run/session_search.h"

#include "base/json.h"
#include "base/options.h"
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

/* The whole interval is on the right side. */
static bool keeps(const struct search *search, const struct metric *figure)
{
    if (figure->absent)
        return false;
    return search->at_most ? figure->high <= search->bound : figure->low >= search->bound;
}

static void add_probe(struct session_search *self, double value, const struct metric *figure,
                      bool holds)
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
    text_addf(out, ",\"holds\":%s}", holds ? "true" : "false");
}

/* Measures at one value. A failure that says only that it is too much becomes an absent figure. */
static bool probe(struct session_search *self, double value, bool first,
                  struct measure_result *result, bool *holds, struct assay_error *error)
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
    *holds = keeps(&self->search, &figure);
    add_probe(self, value, &figure, *holds);
    json_decref(metrics);
    return true;
}

static bool add_value(struct session_search *self, const struct search_state *state,
                      struct measure_result *result, struct assay_error *error)
{
    bool scheduled;
    size_t row;
    struct text why = {0};
    const struct assay_option *option = option_of(self, &scheduled, &row);
    struct unit unit = unit_of_label(option->unit);
    struct metric metric = {.name = "value", .dimension = unit.dimension};
    if (state->any_holds) {
        metric.value = metric.low = metric.high = state->holds * unit.scale;
        if (state->any_fails)
            metric.high = state->fails * unit.scale;
        metric.n = 1;
    } else {
        text_addf(&why, "%s does not keep its bound at the lowest value of %s", self->search.metric,
                  self->search.vary);
        metric.absent = text_string(&why);
    }
    bool good = metric_set_add(result->metrics, &metric, error);
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

static bool probe_all(struct session_search *self, struct search_state *state,
                      struct measure_result *result, double *kept, struct assay_error *error)
{
    double value;
    bool holds, any = false;
    while (search_next(&self->search, state, &value)) {
        struct measure_result now = {0};
        if (!probe(self, value, !any, &now, &holds, error)) {
            measure_result_free(&now);
            return false;
        }
        search_tell(state, value, holds);
        if (holds || !any) {
            measure_result_free(result);
            *result = now;
            *kept = value;
        } else {
            measure_result_free(&now);
        }
        any = true;
    }
    return true;
}

bool session_search_run(struct session_search *self, struct measure_result *result,
                        struct assay_error *error)
{
    struct search_state state = {0};
    double kept = 0;
    begin_record(self);
    bool good = probe_all(self, &state, result, &kept, error);
    text_add(&self->record, "]}"); /* that of a failed case is written too */
    if (!good)
        return false;
    if (self->record.failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    return set_value(self, kept, error) && add_value(self, &state, result, error);
}
