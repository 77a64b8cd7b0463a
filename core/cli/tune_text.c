/* SPDX-License-Identifier: MIT */
#include "cli/tune_text.h"

#include "base/json.h"
#include "base/units.h"

#include <time.h>

#define COLUMNS_MOST 8

struct table {
    const char *const *titles; /* NULL-terminated; "" for none */
    void (*cell)(const json_t *row, size_t column, const void *user, struct text *out);
    const void *user;
};

static void add_padded(struct text *out, const char *cell, size_t width, bool last)
{
    text_add(out, cell);
    for (size_t i = text_columns(cell); !last && i < width + 2; i++)
        text_add_char(out, ' ');
}

static void trim_end(struct text *out)
{
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_add_char(out, '\n');
}

static void add_table(const struct table *table, const json_t *rows, struct text *out)
{
    size_t width[COLUMNS_MOST] = {0}, columns = 0, i;
    struct text cell = {0};
    json_t *row;
    for (; table->titles[columns]; columns++)
        width[columns] = text_columns(table->titles[columns]);
    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
    {
        for (size_t c = 0; c < columns; c++) {
            text_clear(&cell);
            table->cell(row, c, table->user, &cell);
            size_t needed = text_columns(text_string(&cell));
            width[c] = needed > width[c] ? needed : width[c];
        }
    }
    for (size_t c = 0; c < columns; c++)
        add_padded(out, table->titles[c], width[c], c + 1 == columns);
    trim_end(out);
    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
    {
        for (size_t c = 0; c < columns; c++) {
            text_clear(&cell);
            table->cell(row, c, table->user, &cell);
            add_padded(out, text_string(&cell), width[c], c + 1 == columns);
        }
        trim_end(out);
    }
    text_free(&cell);
}

static void add_time(struct text *out, int64_t time_ns)
{
    quantity_add(out, (double)time_ns / 1e9, (struct dimension){.seconds = 1});
}

static void add_rate(struct text *out, const json_t *candidate)
{
    struct unit unit;
    if (unit_parse(json_text(candidate, "unit", ""), &unit, NULL))
        quantity_add(out, json_number(candidate, "rate", 0) * unit.scale, unit.dimension);
}

enum { CANDIDATE_MARK, CANDIDATE_NAME, CANDIDATE_TIME, CANDIDATE_RATE, CANDIDATE_VERDICT };

static void candidate_cell(const json_t *row, size_t column, const void *choice, struct text *out)
{
    const char *name = json_text(row, "name", ""), *reason = json_text(row, "reason", NULL);
    switch (column) {
    case CANDIDATE_MARK:
        text_add(out, strcmp(name, choice) == 0 ? " *" : "");
        break;
    case CANDIDATE_NAME:
        text_add_clean(out, name);
        break;
    case CANDIDATE_TIME:
        if (json_object_get(row, "time_ns"))
            add_time(out, json_whole(row, "time_ns", 0));
        break;
    case CANDIDATE_RATE:
        add_rate(out, row);
        break;
    case CANDIDATE_VERDICT:
        text_add_clean(out, json_text(row, "verdict", "?"));
        if (reason) {
            text_add(out, ": ");
            text_add_clean(out, reason);
        }
        break;
    default:
        break;
    }
}

static void add_tried_with(const json_t *tuning, struct text *out)
{
    json_t *tried = json_object_get(tuning, "tried_with"), *value;
    const char *name, *gap = ", tried with ";
    json_object_foreach(tried, name, value)
    {
        struct text text = {0};
        if (json_is_string(value))
            text_add_clean(&text, json_string_value(value));
        else if (json_is_integer(value))
            text_add_integer(&text, json_integer_value(value));
        else if (json_is_real(value))
            number_add(&text, json_real_value(value));
        else
            text_add(&text, json_is_true(value) ? "true" : "false");
        text_addf(out, "%s%s=%s", gap, name, text_string(&text));
        gap = " ";
        text_free(&text);
    }
}

static void add_count(struct text *out, const json_t *list)
{
    size_t count = json_array_size(list);
    text_addf(out, "%zu %s", count, count == 1 ? "candidate" : "candidates");
}

void tune_add_candidates(const char *head, const json_t *tuning, struct text *out)
{
    static const char *const titles[] = {"", "candidate", "time", "rate", "result", NULL};
    const char *choice = json_text(tuning, "choice", "");
    const json_t *list = json_object_get(tuning, "candidates");
    struct table table = {titles, candidate_cell, choice};
    text_add(out, head);
    text_add(out, ": ");
    text_add_clean(out, json_text(tuning, "what", ""));
    add_tried_with(tuning, out);
    text_add(out, "\n\n");
    add_table(&table, list, out);
    text_add_char(out, '\n');
    add_count(out, list);
    text_add(out, " in ");
    add_time(out, json_whole(tuning, "spent_ns", 0));
    text_add(out, "; '");
    text_add_clean(out, choice);
    text_add(out, json_flag(tuning, "kept", true) ? "' is chosen from now on\n"
                                                  : "' is the fastest, but is not kept\n");
}

enum {
    KEPT_DEVICE,
    KEPT_WORKLOAD,
    KEPT_WHAT,
    KEPT_CHOICE,
    KEPT_TIME,
    KEPT_RATE,
    KEPT_DATE,
    KEPT_COUNT
};

static const json_t *chosen(const json_t *found)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(found, "candidates"), i, row)
    {
        if (strcmp(json_text(row, "name", ""), json_text(found, "choice", "")) == 0)
            return row;
    }
    return NULL;
}

static void add_date(struct text *out, int64_t when_s)
{
    char date[32];
    time_t when = (time_t)when_s;
    struct tm parts;
    if (gmtime_r(&when, &parts) && strftime(date, sizeof(date), "%Y-%m-%d", &parts) > 0)
        text_add(out, date);
}

static void kept_cell(const json_t *row, size_t column, const void *user, struct text *out)
{
    const json_t *identity = json_object_get(row, "identity");
    const json_t *found = json_object_get(row, "found"), *choice = chosen(found);
    (void)user;
    switch (column) {
    case KEPT_DEVICE:
        text_add_clean(out, json_text(json_object_get(identity, "device"), "label", "-"));
        break;
    case KEPT_WORKLOAD:
        text_add_clean(out, json_text(identity, "workload", ""));
        break;
    case KEPT_WHAT:
        text_add_clean(out, json_text(identity, "what", ""));
        break;
    case KEPT_CHOICE:
        text_add_clean(out, json_text(found, "choice", "none"));
        break;
    case KEPT_TIME:
        if (choice)
            add_time(out, json_whole(choice, "time_ns", 0));
        break;
    case KEPT_RATE:
        add_rate(out, choice);
        break;
    case KEPT_DATE:
        add_date(out, json_whole(found, "found_s", 0));
        break;
    default:
        add_count(out, json_object_get(found, "candidates"));
        break;
    }
}

void tune_add_list(const json_t *list, struct text *out)
{
    static const char *const titles[] = {"device", "workload", "for", "choice", "time",
                                         "rate",   "since",    "of",  NULL};
    struct table table = {titles, kept_cell, NULL};
    if (json_array_size(list) == 0) {
        text_add(out, "nothing is kept: choices are made when a case leaves one open, or by 'assay "
                      "tune WORKLOAD'\n");
        return;
    }
    add_table(&table, list, out);
}
