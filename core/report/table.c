/* SPDX-License-Identifier: MIT */
#include "report/rows.h"

#include "base/json.h"
#include "result/metric.h"

#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 8
#define TEXT_BYTES 160
#define NOTES_LISTED 20 /* else at most so many, with a line that says so */

struct device {
    char label[TEXT_BYTES];
    bool cpu;
};

struct table {
    struct view view;
    const struct report_style *style;
    struct text *out;
    struct text failures, doubts, notes; /* sections that follow the tables */
    size_t failure_count, doubt_count, note_count;
    struct groups skips, unjudged;
    struct device devices[DEVICES_MAX];
    size_t device_count, device_others;
    size_t done, skipped, errors; /* for a run without an end record */
    /* The experiment that rows are gathered for. */
    struct grid grid;
    char *experiment;
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the report");
}

/* Lines of a text that a driver or a script may have written, each made printable. */
static void add_lines(struct text *out, const char *string, const char *indent)
{
    for (const char *line = string; line;) {
        const char *end = strchr(line, '\n');
        struct text part = {0};
        text_add_bytes(&part, line, end ? (size_t)(end - line) : strlen(line));
        text_add(out, line == string ? "" : indent);
        text_add_clean(out, text_string(&part));
        text_add_char(out, '\n');
        text_free(&part);
        line = end && end[1] ? end + 1 : NULL;
    }
}

static bool list_more(const struct table *table, size_t *count)
{
    ++*count;
    return table->style->all_rows || *count <= REPORT_ROWS;
}

static void list_message(struct table *table, struct text *section, const char *message,
                         const json_t *record, const char *experiment)
{
    text_add(section, "  ");
    add_lines(section, message, "    ");
    text_add(section, "      ");
    view_add_command(&table->view, record, experiment, table->style->script, section);
    text_add_char(section, '\n');
}

static bool list_verdict(struct table *table, const json_t *verdict, const json_t *record,
                         struct assay_error *error)
{
    const char *message = json_text(verdict, "message", "");
    const char *experiment = json_text(verdict, "experiment", "");
    switch (view_verdict(verdict)) {
    case VIEW_FAIL:
        if (list_more(table, &table->failure_count))
            list_message(table, &table->failures, message, record, experiment);
        return true;
    case VIEW_INCONCLUSIVE:
        if (list_more(table, &table->doubt_count))
            list_message(table, &table->doubts, message, record, experiment);
        return true;
    case VIEW_NOT_JUDGED:
        return groups_add(&table->unjudged,
                          json_text(json_object_get(verdict, "metric"), "absent", message), message,
                          error);
    default:
        return true;
    }
}

static bool list_chain(struct table *table, size_t chain, const json_t *record,
                       struct assay_error *error)
{
    for (uint32_t at = table->view.first[chain]; at; at = table->view.next[at - 1]) {
        json_t *verdict = journal_verdict(table->view.judgement, at - 1, error);
        bool good = verdict && list_verdict(table, verdict, record, error);
        json_decref(verdict);
        if (!good)
            return false;
    }
    return true;
}

static void note_device(struct table *table, const json_t *record)
{
    const char *label = view_device(record);
    if (!label)
        return;
    struct text clean = {0};
    text_add_clean(&clean, label);
    for (size_t i = 0; i < table->device_count; i++) {
        if (strncmp(table->devices[i].label, text_string(&clean), TEXT_BYTES - 1) == 0) {
            text_free(&clean);
            return;
        }
    }
    if (table->device_count == DEVICES_MAX) {
        table->device_others++;
    } else {
        struct device *device = &table->devices[table->device_count++];
        size_t length = clean.length < TEXT_BYTES - 1 ? clean.length : TEXT_BYTES - 1;
        memcpy(device->label, text_string(&clean), length);
        device->cpu = strcmp(json_text(json_object_get(record, "device"), "class", ""), "cpu") == 0;
    }
    text_free(&clean);
}

static bool list_error(struct table *table, const json_t *record, const char *status)
{
    if (!list_more(table, &table->failure_count))
        return true;
    struct text message = {0};
    if (json_text(record, "script", NULL)) {
        text_addf(&message, "%s:%lld: ", json_text(record, "script", ""),
                  (long long)json_whole(record, "line", 0));
    }
    view_add_label(&table->view, record, &message);
    text_addf(&message, ": %s: %s", status, json_text(record, "reason", "no reason is recorded"));
    list_message(table, &table->failures, text_string(&message), record, "");
    text_free(&message);
    return true;
}

/* What the record says of the figures of a case. */
static void list_notes(struct table *table, const json_t *record)
{
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(record, "notes"), i, note)
    {
        if (++table->note_count > NOTES_LISTED && !table->style->all_rows)
            continue;
        struct text line = {0};
        text_addf(&line, "%s/", json_text(record, "experiment", ""));
        view_add_label(&table->view, record, &line);
        text_addf(&line, ": %s", json_is_string(note) ? json_string_value(note) : "?");
        text_add(&table->notes, "  ");
        text_add_clean(&table->notes, text_string(&line));
        text_add_char(&table->notes, '\n');
        text_free(&line);
    }
}

static bool list_skip(struct table *table, const json_t *record, struct assay_error *error)
{
    struct text label = {0};
    text_addf(&label, "%s/", json_text(record, "experiment", ""));
    view_add_label(&table->view, record, &label);
    bool good = groups_add(&table->skips, json_text(record, "reason", "no reason is recorded"),
                           text_string(&label), error);
    text_free(&label);
    return good;
}

/* How soon a metric's column may be left out; 0: it has none. */
static int importance(const json_t *record, const char *name)
{
    static const char *const whole[] = {"submit_time", "device_time", "host_cpu_time"};
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (strcmp(name, whole[i]) == 0)
            return 0;
    if (strcmp(name, "time") == 0)
        return 2;
    const char *dot = strrchr(name, '.');
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

static bool add_result(struct table *table, size_t at, const char *status,
                       struct assay_error *error)
{
    static const enum grid_colour colours[] = {[VIEW_PASS] = GRID_GOOD,
                                               [VIEW_FAIL] = GRID_BAD,
                                               [VIEW_INCONCLUSIVE] = GRID_DOUBTFUL,
                                               [VIEW_NOT_JUDGED] = GRID_DOUBTFUL,
                                               [VIEW_NONE] = GRID_PLAIN};
    uint8_t worst = table->view.worst[at];
    if (strcmp(status, "done") != 0) {
        enum grid_colour colour = strcmp(status, "skipped") == 0 ? GRID_DOUBTFUL : GRID_BAD;
        return grid_cell(&table->grid, "result", 0, status, NULL, colour, error);
    }
    const char *word = worst == VIEW_NONE   ? "done"
                       : worst == VIEW_FAIL ? "FAIL"
                                            : view_verdict_names[worst];
    return grid_cell(&table->grid, "result", 0, word, NULL, colours[worst], error);
}

static bool add_row(struct table *table, size_t at, const json_t *record, struct assay_error *error)
{
    const char *status = json_text(record, "status", "error");
    if (!grid_begin_row(&table->grid, error) ||
        !rows_parameters(&table->grid, &table->view, record, error) ||
        !add_result(table, at, status, error))
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
    text_add(table->out, table->out->length ? "\n" : "");
    text_add_clean(table->out, table->experiment);
    text_add_char(table->out, '\n');
    rows_print_constants(&table->grid, table->out);
    grid_print(&table->grid, table->style, table->out);
    grid_free(&table->grid);
    free(table->experiment);
    table->experiment = NULL;
}

static bool begin_experiment(struct table *table, const char *name, struct assay_error *error)
{
    if (table->experiment && strcmp(table->experiment, name) == 0)
        return true;
    end_experiment(table);
    table->experiment = strdup(name);
    if (!table->experiment)
        return no_memory(error);
    return grid_init(&table->grid, table->style->all_rows ? SIZE_MAX : REPORT_ROWS, error);
}

static bool add_case(struct table *table, size_t at, const json_t *record,
                     struct assay_error *error)
{
    const char *status = json_text(record, "status", "error");
    note_device(table, record);
    if (!begin_experiment(table, json_text(record, "experiment", ""), error) ||
        !add_row(table, at, record, error))
        return false;
    if (strcmp(status, "skipped") == 0) {
        table->skipped++;
        return list_skip(table, record, error);
    }
    if (strcmp(status, "done") != 0) {
        table->errors++;
        return list_error(table, record, status);
    }
    table->done++;
    list_notes(table, record);
    uint8_t worst = table->view.worst[at];
    return worst == VIEW_NONE || worst == VIEW_PASS || list_chain(table, at, record, error);
}

static void print_section(const struct table *table, const char *title, size_t count, size_t limit,
                          const struct text *section)
{
    if (count == 0)
        return;
    text_addf(table->out, "\n%s (%zu)\n", title, count);
    text_add(table->out, text_string(section));
    if (count > limit && !table->style->all_rows)
        text_addf(table->out, "  ... %zu more; --all-rows shows them\n", count - limit);
}

static void print_unserved(const struct table *table)
{
    size_t i;
    json_t *gpu;
    json_array_foreach(json_object_get(table->view.run, "pci"), i, gpu)
    {
        const char *missing = json_text(gpu, "missing", NULL);
        if (missing) {
            text_addf(table->out,
                      "\nnot measured: the GPU at PCI %s, which no Vulkan driver "
                      "serves: ",
                      json_text(gpu, "address", "?"));
            text_add_clean(table->out, missing);
            text_add_char(table->out, '\n');
        }
    }
}

static void add_devices(const struct table *table, struct text *out)
{
    for (size_t i = 0; i < table->device_count; i++)
        text_addf(out, "%s%s", i ? ", " : "", table->devices[i].label);
    if (table->device_others)
        text_addf(out, " and %zu more", table->device_others);
}

static void print_cpu(const struct table *table)
{
    for (size_t i = 0; i < table->device_count; i++)
        if (!table->devices[i].cpu)
            return;
    if (table->device_count == 0)
        return;
    text_add(table->out, "\non ");
    add_devices(table, table->out);
    text_add(table->out, ", a CPU driver: figures are of this CPU, no GPU was measured\n");
}

static const char *outcome(const json_t *end, enum grid_colour *colour)
{
    *colour = GRID_BAD;
    if (!end)
        return "UNFINISHED";
    if (json_flag(end, "interrupted", false))
        return "INTERRUPTED";
    switch (json_whole(end, "exit", -1)) {
    case 0:
        *colour = GRID_GOOD;
        return "PASS";
    case 1:
        return "FAIL";
    case 3:
        *colour = GRID_DOUBTFUL;
        return "INCONCLUSIVE";
    case 5:
        return "NOTHING MEASURED";
    default:
        return "ERROR";
    }
}

static void add_count(struct text *out, size_t count, const char *one, const char *many)
{
    if (count)
        text_addf(out, "%s%zu %s", out->length ? ", " : "", count, count == 1 ? one : many);
}

static size_t end_count(const json_t *cases, const char *name, size_t fallback)
{
    return (size_t)json_whole(cases, name, (int64_t)fallback);
}

static void print_verdict(const struct table *table)
{
    const json_t *cases = json_object_get(table->view.end, "cases");
    const size_t *bounds = table->view.bounds;
    struct text counts = {0};
    enum grid_colour colour;
    const char *word = outcome(table->view.end, &colour);
    add_count(&counts, end_count(cases, "done", table->done), "case done", "cases done");
    add_count(&counts, end_count(cases, "errors", table->errors), "case in error",
              "cases in error");
    add_count(&counts, end_count(cases, "skipped", table->skipped), "skipped", "skipped");
    add_count(&counts, (size_t)json_whole(cases, "missing", 0), "not run", "not run");
    add_count(&counts, bounds[VIEW_PASS], "bound holds", "bounds hold");
    add_count(&counts, bounds[VIEW_FAIL], "bound failed", "bounds failed");
    add_count(&counts, bounds[VIEW_INCONCLUSIVE], "inconclusive", "inconclusive");
    add_count(&counts, bounds[VIEW_NOT_JUDGED], "not judged", "not judged");
    if (table->view.end && table->view.verdict_count == 0 && counts.length)
        text_add(&counts, ", no bounds to judge");
    text_add_char(table->out, '\n');
    grid_add_coloured(table->out, table->style->color, colour, word);
    text_addf(table->out, ": %s", counts.length ? text_string(&counts) : "no case was run");
    if (table->device_count) {
        text_add(table->out, " (");
        add_devices(table, table->out);
        text_add_char(table->out, ')');
    }
    text_add_char(table->out, '\n');
    text_free(&counts);
}

/* A case that is not shown in full is read in part: it may still vary a parameter, or have failed.
 */
static json_t *read_case(struct table *table, size_t at, struct assay_error *error)
{
    static const char *const members[] = {"id",     "experiment", "workload", "script", "line",
                                          "set",    "schedule",   "replica",  "device", "status",
                                          "reason", "notes",      NULL};
    if (table->experiment && table->grid.row_count == table->grid.row_limit) {
        json_t *part = journal_case_part(table->view.results, at, members, error);
        if (!part || strcmp(json_text(part, "experiment", ""), table->experiment) == 0)
            return part;
        json_decref(part);
    }
    return journal_case(table->view.results, at, error);
}

static bool add_cases(struct table *table, struct assay_error *error)
{
    for (size_t i = 0; i < table->view.case_count; i++) {
        json_t *record = read_case(table, i, error);
        bool good = record && add_case(table, i, record, error);
        json_decref(record);
        if (!good)
            return false;
    }
    end_experiment(table);
    return list_chain(table, table->view.case_count, NULL, error);
}

static void print_end(const struct table *table, const struct report_source *source)
{
    print_section(table, "failures", table->failure_count, REPORT_ROWS, &table->failures);
    print_section(table, "inconclusive", table->doubt_count, REPORT_ROWS, &table->doubts);
    print_section(table, "notes", table->note_count, NOTES_LISTED, &table->notes);
    groups_print(&table->skips, "skipped", table->out);
    groups_print(&table->unjudged, "not judged", table->out);
    print_unserved(table);
    print_cpu(table);
    size_t damaged = journal_damaged_count(source->results);
    if (damaged) {
        text_addf(table->out, "\n%zu damaged %s of the journal left out\n", damaged,
                  damaged == 1 ? "line" : "lines");
    }
    if (source->journal) {
        text_add(table->out, "\njournal: ");
        text_add_clean(table->out, source->journal);
        /* The verdict line ends the report. */
    }
    print_verdict(table);
}

bool report_table(const struct report_source *source, const struct report_style *style,
                  struct text *out, struct assay_error *error)
{
    struct table table = {.style = style, .out = out};
    if (!view_open(source, &table.view, error))
        return false;
    bool good = add_cases(&table, error);
    if (good) {
        print_end(&table, source);
        good = (!out->failed && !table.failures.failed && !table.doubts.failed &&
                !table.notes.failed) ||
               no_memory(error);
    }
    grid_free(&table.grid);
    free(table.experiment);
    text_free(&table.failures);
    text_free(&table.doubts);
    text_free(&table.notes);
    groups_free(&table.skips);
    groups_free(&table.unjudged);
    view_close(&table.view);
    return good;
}
