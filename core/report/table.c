/* SPDX-License-Identifier: MIT */
#include "report/table.h"
#include "report/peaks.h"

#include "base/json.h"
#include "experiment/peaks.h"
#include "result/metric.h"

#include <stdlib.h>
#include <string.h>

/* How soon a metric's column may be left out; 0: it has none. */
static int importance(const json_t *record, const char *name)
{
    static const char *const whole[] = {"submit_time", "device_time", "host_cpu_time"};
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (strcmp(name, whole[i]) == 0)
            return 0;
    if (strcmp(name, "time") == 0)
        return 2;
    if (strcmp(name, "value") == 0 || strcmp(name, "period") == 0 ||
        strcmp(name, "throughput") == 0 || strcmp(name, "latency.p50") == 0 ||
        strcmp(name, "latency.p95") == 0)
        return 1;
    if (strcmp(name, "efficiency") == 0 || strcmp(name, "goodput") == 0 ||
        strcmp(name, "drift") == 0)
        return 3;
    const char *dot = strrchr(name, '.');
    if (catalog_schedule_metric(name))
        return 0;
    if (!dot)
        return GRID_EXTRA; /* the workload's own */
    if (strcmp(dot, ".rate") == 0 || strcmp(dot, ".flop_rate") == 0)
        return 1;
    if (strcmp(dot, ".item_rate") == 0)
        return 4;
    if (strcmp(dot, ".time") == 0) {
        /* That of a single stage says little that the whole time does not. */
        return json_array_size(json_object_get(record, "stages")) > 1 ? 3 : 5;
    }
    return 0;
}

static bool add_metric(struct table *table, const json_t *record, const char *name,
                       struct assay_error *error)
{
    struct metric metric;
    int rank = importance(record, name);
    metric_from_json(json_object_get(record, "metrics"), name, &metric);
    if (rank == 0 || metric.absent)
        return true;
    struct text full = {0}, brief = {0};
    quantity_add(&brief, metric.value, metric.dimension);
    if (metric.n > 0)
        quantity_add_interval(&full, metric.value, metric.low, metric.high, metric.dimension);
    else
        quantity_add(&full, metric.value, metric.dimension);
    bool good = grid_cell(&table->grid, name, rank, text_string(&full), text_string(&brief),
                          GRID_PLAIN, error);
    text_free(&full);
    text_free(&brief);
    return good;
}

static bool add_result(struct table *table, size_t at, const json_t *record, const char *status,
                       struct assay_error *error)
{
    static const enum grid_colour colours[] = {[VIEW_PASS] = GRID_GOOD,
                                               [VIEW_FAIL] = GRID_BAD,
                                               [VIEW_INCONCLUSIVE] = GRID_DOUBTFUL,
                                               [VIEW_NOT_JUDGED] = GRID_DOUBTFUL,
                                               [VIEW_NONE] = GRID_PLAIN};
    bool shared;
    uint8_t worst = view_judged(&table->view, at, record, &shared);
    if (strcmp(status, "done") != 0) {
        enum grid_colour colour = strcmp(status, "skipped") == 0 ? GRID_DOUBTFUL : GRID_BAD;
        return grid_cell(&table->grid, "result", 0, status, NULL, colour, error);
    }
    const char *word = worst == VIEW_NONE   ? "done"
                       : worst == VIEW_FAIL ? "FAIL"
                                            : view_verdict_names[worst];
    return grid_cell(&table->grid, "result", 0, word, NULL, colours[worst], error);
}

/* What the tuner chose for the case. */
static bool add_choice(struct table *table, const json_t *record, struct assay_error *error)
{
    struct text choice = {0};
    text_add_clean(&choice, json_text(json_object_get(record, "tuning"), "choice", ""));
    bool good = choice.length == 0 ||
                grid_cell(&table->grid, "choice", 5, text_string(&choice), NULL, GRID_PLAIN, error);
    text_free(&choice);
    return good;
}

static bool add_row(struct table *table, size_t at, const json_t *record, struct assay_error *error)
{
    const char *status = json_text(record, "status", "error");
    if (!grid_begin_row(&table->grid, error) ||
        !rows_parameters(&table->grid, &table->view, record, error) ||
        !add_result(table, at, record, status, error) || !add_choice(table, record, error))
        return false;
    if (!table->grid.row)
        return true;
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(record, "metrics"), name, value)
    {
        if (!add_metric(table, record, name, error))
            return false;
    }
    return true;
}

static void end_experiment(struct table *table)
{
    if (!table->experiment)
        return;
    rows_print(table->experiment, &table->grid, table->style, table->out);
    if (table->output.length)
        text_add(table->out, text_string(&table->output));
    text_clear(&table->output);
    grid_free(&table->grid);
    free(table->experiment);
    table->experiment = NULL;
}

static bool begin_experiment(struct table *table, const char *name, struct assay_error *error)
{
    if (table->experiment && strcmp(table->experiment, name) == 0)
        return true;
    end_experiment(table);
    text_clear(&table->last);
    table->experiment = strdup(name);
    if (!table->experiment)
        return table_no_memory(error);
    return grid_init(&table->grid, table->style->all_rows ? SIZE_MAX : REPORT_ROWS, error);
}

/* Each line below the table, indented. */
static void add_output(struct table *table, const json_t *record)
{
    struct text line = {0};
    for (const char *at = json_text(record, "output", ""); *at;) {
        size_t length = strcspn(at, "\n");
        text_clear(&line);
        text_add_bytes(&line, at, length);
        text_add(&table->output, length ? "  | " : "  |");
        text_add_clean(&table->output, text_string(&line));
        text_add_char(&table->output, '\n');
        at += length + (at[length] == '\n');
    }
    table->output.failed = table->output.failed || line.failed;
    text_free(&line);
}

static bool add_case(struct table *table, size_t at, const json_t *record,
                     struct assay_error *error)
{
    uint8_t worst = table->view.worst[at];
    if (peaks_name_reserved(json_text(record, "experiment", "")))
        return table_note_case(table, record, error); /* the table of peaks shows what came of it */
    if (!begin_experiment(table, json_text(record, "experiment", ""), error) ||
        !add_row(table, at, record, error) || !table_note_case(table, record, error))
        return false;
    add_output(table, record);
    bool done = strcmp(json_text(record, "status", "error"), "done") == 0;
    return !done || worst == VIEW_NONE || worst == VIEW_PASS ||
           table_note_verdicts(table, at, record, error);
}

/* Whether the case, not shown, differs from the one before in nothing but parameters that are known
 * to vary: of most of a long run, it is enough to count it. */
static bool is_alike(struct table *table, size_t at, struct lazy *record)
{
    static const char *const members[] = {"experiment", "workload", "device", "schedule",
                                          "replica",    "status",   "notes"};
    size_t length;
    uint8_t worst = table->view.worst[at];
    const char *name;
    json_t *value;
    text_clear(&table->now);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const char *raw = lazy_raw(record, members[i], &length);
        text_add_bytes(&table->now, raw, raw ? length : 0);
        text_add_char(&table->now, '\n');
    }
    static const char plain[] = "\n\"done\"\n[]\n";
    size_t end = sizeof(plain) - 1;
    if (table->now.failed || table->now.length != table->last.length || table->now.length < end ||
        memcmp(table->now.data, table->last.data, table->now.length) != 0 ||
        memcmp(table->now.data + table->now.length - end, plain, end) != 0 ||
        (worst != VIEW_NONE && worst != VIEW_PASS))
        return false;
    json_object_foreach((json_t *)(uintptr_t)lazy_member(record, "set"), name, value)
    {
        if (!grid_varies(&table->grid, name))
            return false;
    }
    return true;
}

static bool add_record(struct table *table, size_t at, json_t *record, struct assay_error *error)
{
    bool good = record && add_case(table, at, record, error);
    json_decref(record);
    return good;
}

/* A case whose row is not shown: it may still vary a parameter, or have failed. */
static bool add_hidden(struct table *table, size_t at, struct assay_error *error)
{
    static const char *const members[] = {"id",     "experiment", "workload", "script", "line",
                                          "set",    "schedule",   "replica",  "device", "status",
                                          "reason", "notes",      NULL};
    struct lazy *record = journal_case_lazy(table->view.results, at, error);
    if (!record)
        return false;
    bool good = true;
    if (is_alike(table, at, record)) {
        grid_count_row(&table->grid, ROWS_FIXED);
        table->done++;
    } else if (strcmp(lazy_text(record, "experiment", ""), table->experiment) == 0) {
        text_clear(&table->last);
        text_add_bytes(&table->last, text_string(&table->now), table->now.length);
        good = add_record(table, at, lazy_part(record, members, "the journal", error), error);
    } else {
        good = add_record(table, at, journal_case(table->view.results, at, error), error);
    }
    lazy_destroy(&record);
    return good;
}

static bool add_cases(struct table *table, struct assay_error *error)
{
    for (size_t i = 0; i < table->view.case_count; i++) {
        bool hidden = table->experiment && grid_is_full(&table->grid);
        if (hidden ? !add_hidden(table, i, error)
                   : !add_record(table, i, journal_case(table->view.results, i, error), error))
            return false;
    }
    end_experiment(table);
    return table_note_verdicts(table, table->view.case_count, NULL, error);
}

bool report_table(const struct report_source *source, const struct report_style *style,
                  struct text *out, struct assay_error *error)
{
    struct table table = {.style = style, .out = out};
    if (!view_open(source, &table.view, error))
        return false;
    bool good = report_peaks(journal_peaks(source->results), style, out, error) &&
                add_cases(&table, error);
    if (good) {
        table_print_end(&table, source);
        good = (!out->failed && !table.output.failed && !table.failures.failed &&
                !table.doubts.failed && !table.notes.failed) ||
               table_no_memory(error);
    }
    grid_free(&table.grid);
    free(table.experiment);
    text_free(&table.output);
    text_free(&table.failures);
    text_free(&table.doubts);
    text_free(&table.notes);
    text_free(&table.last);
    text_free(&table.now);
    view_close(&table.view);
    return good;
}
