/* SPDX-License-Identifier: MIT */
#include "report/peaks.h"

#include "base/json.h"
#include "report/grid.h"
#include "result/metric.h"

#include <string.h>

static struct dimension dimension_of(const json_t *entry)
{
    const char *unit = json_text(entry, "unit", "");
    if (strcmp(unit, "B/s") == 0)
        return (struct dimension){.bytes = 1, .seconds = -1};
    if (strcmp(unit, "flop/s") == 0)
        return (struct dimension){.flops = 1, .seconds = -1};
    return (struct dimension){.flops = 1, .bytes = -1};
}

static void add_conditions(const json_t *conditions, struct text *out)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)conditions, key, value)
    {
        text_addf(out, "%s%s=", out->length ? " " : "", key);
        if (json_is_string(value))
            text_add_clean(out, json_string_value(value));
        else if (strcmp(key, "bytes") == 0)
            quantity_add_exact_bytes(out, json_integer_value(value));
        else if (strcmp(key, "flops") == 0)
            quantity_add(out, (double)json_integer_value(value), (struct dimension){.flops = 1});
        else
            text_addf(out, "%lld", (long long)json_integer_value(value));
    }
}

static bool add_row(struct grid *grid, const json_t *entry, struct assay_error *error)
{
    struct text full = {0}, brief = {0}, by = {0};
    const char *absent = json_text(entry, "absent", NULL);
    double value = json_number(entry, "value", 0);
    if (absent) {
        text_add(&full, "absent: ");
        text_add_clean(&full, absent);
        text_add(&brief, "absent");
    } else {
        quantity_add_interval(&full, value, json_number(entry, "low", value),
                              json_number(entry, "high", value), dimension_of(entry));
        quantity_add(&brief, value, dimension_of(entry));
        add_conditions(json_object_get(entry, "conditions"), &by);
    }
    bool good =
        grid_begin_row(grid, error) &&
        grid_cell(grid, "peak", 0, json_text(entry, "name", "?"), NULL, GRID_PLAIN, error) &&
        grid_cell(grid, "best", 0, text_string(&full), text_string(&brief), GRID_PLAIN, error) &&
        grid_cell(grid, "by", 1, text_string(&by), NULL, GRID_PLAIN, error);
    text_free(&full);
    text_free(&brief);
    text_free(&by);
    return good;
}

static bool print_record(const json_t *record, const struct report_style *style, struct text *out,
                         struct assay_error *error)
{
    struct grid grid;
    size_t i;
    json_t *entry;
    if (!grid_init(&grid, SIZE_MAX, error))
        return false;
    bool good = true;
    json_array_foreach(json_object_get(record, "peaks"), i, entry)
    {
        good = good && add_row(&grid, entry, error);
    }
    if (good) {
        text_add(out, out->length ? "\n" : "");
        text_add(out, "peaks of ");
        text_add_clean(out, json_text(json_object_get(record, "device"), "label", "a device"));
        text_add_char(out, '\n');
        grid_print(&grid, style, out);
    }
    grid_free(&grid);
    return good;
}

bool report_peaks(const json_t *records, const struct report_style *style, struct text *out,
                  struct assay_error *error)
{
    size_t i;
    json_t *record;
    json_array_foreach((json_t *)(uintptr_t)records, i, record)
    {
        if (!print_record(record, style, out, error))
            return false;
    }
    return true;
}
