/* SPDX-License-Identifier: MIT */
#include "report/rows.h"

#include "base/json.h"
#include "experiment/schedule.h"

#include <string.h>

#define NO_DEVICE "-" /* needs none, or could not open one */

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the report");
}

bool groups_add(struct groups *groups, struct arena *arena, const char *reason, const char *example,
                struct assay_error *error)
{
    for (size_t i = 0; i < groups->count; i++) {
        if (strcmp(groups->items[i].reason, reason) == 0) {
            groups->items[i].count++;
            return true;
        }
    }
    if (groups->count == GROUPS_MAX) {
        groups->others++;
        return true;
    }
    struct group *group = &groups->items[groups->count];
    *group = (struct group){
        .reason = arena_copy(arena, reason), .example = arena_copy(arena, example), .count = 1};
    if (!group->reason || !group->example)
        return no_memory(error);
    groups->count++;
    return true;
}

void groups_print(const struct groups *groups, const char *title, struct text *out)
{
    if (groups->count == 0)
        return;
    size_t total = groups->others;
    for (size_t i = 0; i < groups->count; i++)
        total += groups->items[i].count;
    text_addf(out, "\n%s (%zu)\n", title, total);
    for (size_t i = 0; i < groups->count; i++) {
        const struct group *group = &groups->items[i];
        text_addf(out, "  %zu: ", group->count);
        text_add_clean(out, group->reason);
        text_add(out, group->count > 1 ? "\n      such as " : "\n      ");
        text_add_clean(out, group->example);
        text_add_char(out, '\n');
    }
    if (groups->others)
        text_addf(out, "  %zu for other reasons\n", groups->others);
}

static bool add_parameter(struct grid *grid, const struct view *view, const char *title,
                          const struct assay_option *option, const json_t *value,
                          struct assay_error *error)
{
    struct text text = {0};
    view_add_value(view, option, value, &text);
    bool good = grid_parameter(grid, title, text_string(&text), error);
    text_free(&text);
    return good;
}

/* "pipelined depth=2"; of a record that a newer assay wrote the name alone. */
static void add_schedule(const json_t *record, struct text *out)
{
    const json_t *json = json_object_get(record, "schedule");
    struct schedule schedule;
    struct assay_error ignored = {0};
    if (schedule_from_json(json, &schedule, &ignored))
        schedule_add_label(&schedule, out);
    else
        text_add_clean(out, json_text(json, "name", "?"));
}

bool rows_parameters(struct grid *grid, const struct view *view, const json_t *record,
                     struct assay_error *error)
{
    const char *workload = json_text(record, "workload", "?");
    const char *device = view_device(record);
    struct text replica = {0}, name = {0}, schedule = {0};
    add_schedule(record, &schedule);
    text_add_integer(&replica, json_whole(record, "replica", 0));
    text_add_clean(&name, device ? device : NO_DEVICE);
    bool good = grid_parameter(grid, "workload", workload, error) &&
                grid_parameter(grid, "device", text_string(&name), error) &&
                grid_parameter(grid, "schedule", text_string(&schedule), error) &&
                grid_parameter(grid, "replica", text_string(&replica), error);
    text_free(&replica);
    text_free(&name);
    text_free(&schedule);
    const struct assay_option *const *options = view_options(view, workload);
    for (size_t i = 0; good && options && options[i]; i++) {
        const json_t *value = json_object_get(json_object_get(record, "set"), options[i]->name);
        good = !value || add_parameter(grid, view, options[i]->name, options[i], value, error);
    }
    return good;
}

/* "  copy on lavapipe, serial: direction=upload": what is the same in all rows. */
static void print_constants(const struct grid *grid, struct text *out)
{
    const char *workload = grid_constant(grid, "workload");
    const char *device = grid_constant(grid, "device");
    const char *schedule = grid_constant(grid, "schedule");
    struct text line = {0};
    text_add(&line, workload ? workload : "");
    if (device && strcmp(device, NO_DEVICE) != 0)
        text_addf(&line, "%son %s", line.length ? " " : "", device);
    if (schedule)
        text_addf(&line, "%s%s", line.length ? ", " : "", schedule);
    size_t words = line.length;
    grid_add_constants(grid, ROWS_FIXED, &line);
    if (line.length) {
        text_add(out, "  ");
        text_add_bytes(out, text_string(&line), words);
        text_add(out, words && words < line.length ? ":" : "");
        text_addf(out, "%s\n", text_string(&line) + words);
    }
    text_free(&line);
}

void rows_print(const char *experiment, struct grid *grid, const struct report_style *style,
                struct text *out)
{
    text_add(out, out->length ? "\n" : "");
    text_add_clean(out, experiment);
    text_add_char(out, '\n');
    print_constants(grid, out);
    grid_print(grid, style, out);
}
