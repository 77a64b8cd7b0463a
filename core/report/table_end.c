/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include "base/json.h"
#include "experiment/peaks.h"

#include <string.h>

#define NOTES_LISTED 20 /* else at most so many, with a line that says so */

bool table_no_memory(struct assay_error *error)
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
    text_add(section, "     ");
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
        return groups_add(&table->unjudged, table->view.arena,
                          json_text(json_object_get(verdict, "metric"), "absent", message), message,
                          error);
    default:
        return true;
    }
}

bool table_note_verdicts(struct table *table, size_t chain, const json_t *record,
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

static bool note_device(struct table *table, const json_t *record, struct assay_error *error)
{
    const char *label = view_device(record);
    struct device **at = &table->devices;
    if (!label)
        return true;
    for (; *at; at = &(*at)->next)
        if (strcmp((*at)->label, label) == 0)
            return true;
    struct device *device = arena_alloc(table->view.arena, sizeof(*device));
    if (!device)
        return table_no_memory(error);
    device->label = arena_copy(table->view.arena, label);
    device->cpu = strcmp(json_text(json_object_get(record, "device"), "class", ""), "cpu") == 0;
    *at = device;
    return device->label || table_no_memory(error);
}

static bool list_error(struct table *table, const json_t *record, const char *status,
                       struct assay_error *error)
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
    bool good = !message.failed || table_no_memory(error);
    text_free(&message);
    return good;
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
    bool good = groups_add(&table->skips, table->view.arena,
                           json_text(record, "reason", "no reason is recorded"),
                           text_string(&label), error);
    text_free(&label);
    return good;
}

bool table_note_case(struct table *table, const json_t *record, struct assay_error *error)
{
    const char *status = json_text(record, "status", "error");
    bool is_peaks = peaks_name_reserved(json_text(record, "experiment", ""));
    if (!note_device(table, record, error))
        return false;
    if (strcmp(status, "skipped") == 0) {
        if (is_peaks)
            return true; /* the peak is absent, with the reason */
        table->skipped++;
        return list_skip(table, record, error);
    }
    if (strcmp(status, "done") != 0) {
        table->errors++;
        return list_error(table, record, status, error);
    }
    table->done++;
    if (!is_peaks)
        list_notes(table, record);
    return true;
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
    const char *unreadable = json_text(table->view.run, "pci_error", NULL);
    if (unreadable) {
        text_add(table->out, "\nnot known: whether a GPU was passed over; ");
        text_add_clean(table->out, unreadable);
        text_add_char(table->out, '\n');
    }
    json_array_foreach(json_object_get(table->view.run, "pci"), i, gpu)
    {
        const char *missing = json_text(gpu, "missing", NULL);
        if (missing) {
            text_addf(table->out,
                      "\nnot measured: the GPU at PCI %s (%04x:%04x), which no Vulkan driver "
                      "serves: ",
                      json_text(gpu, "address", "?"), (unsigned)json_whole(gpu, "vendor", 0),
                      (unsigned)json_whole(gpu, "device", 0));
            text_add_clean(table->out, missing);
            text_add_char(table->out, '\n');
        }
    }
}

static void add_devices(const struct table *table, struct text *out)
{
    for (const struct device *device = table->devices; device; device = device->next) {
        text_add(out, device == table->devices ? "" : ", ");
        text_add_clean(out, device->label);
    }
}

static void print_cpu(const struct table *table)
{
    for (const struct device *device = table->devices; device; device = device->next)
        if (!device->cpu)
            return;
    if (!table->devices)
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
    if (table->devices) {
        text_add(table->out, " (");
        add_devices(table, table->out);
        text_add_char(table->out, ')');
    }
    text_add_char(table->out, '\n');
    table->out->failed |= counts.failed;
    text_free(&counts);
}

void table_print_end(const struct table *table, const struct report_source *source)
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
