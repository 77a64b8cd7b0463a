/* SPDX-License-Identifier: MIT */
#include "report/compare_walk.h"
#include "report/rows.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

struct table {
    struct compare_walk walk;
    const struct report_style *style;
    struct text *out;
    struct text broken, lone[2];
    size_t broken_count, lone_count[2];
    struct groups undecided, not_compared;
    /* The experiment that rows are gathered for. */
    struct grid grid;
    char *experiment;
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the report");
}

static void end_experiment(struct table *table)
{
    if (!table->experiment)
        return;
    if (table->grid.total > 0)
        rows_print(table->experiment, &table->grid, table->style, table->out);
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

static bool add_figure(struct table *table, const char *title, const struct metric *metric,
                       struct assay_error *error)
{
    struct text full = {0}, brief = {0};
    quantity_add(&brief, metric->value, metric->dimension);
    if (metric->n > 0)
        quantity_add_interval(&full, metric->value, metric->low, metric->high, metric->dimension);
    else
        quantity_add(&full, metric->value, metric->dimension);
    bool good = grid_cell(&table->grid, title, 3, text_string(&full), text_string(&brief),
                          GRID_PLAIN, error);
    text_free(&full);
    text_free(&brief);
    return good;
}

static bool add_row(struct table *table, const struct compare_pair *pair,
                    const struct comparison *one, struct assay_error *error)
{
    static const enum grid_colour colours[] = {[STATS_UNDECIDED] = GRID_DOUBTFUL,
                                               [STATS_SAME] = GRID_PLAIN,
                                               [STATS_FASTER] = GRID_GOOD,
                                               [STATS_SLOWER] = GRID_BAD};
    struct text ratio = {0};
    if (one->compared)
        quantity_add_interval(&ratio, one->ratio.estimate, one->ratio.low, one->ratio.high,
                              (struct dimension){0});
    else
        text_add(&ratio, "-");
    const char *answer = stats_answer_name(one->answer);
    bool good = grid_begin_row(&table->grid, error) &&
                rows_parameters(&table->grid, &table->walk.views[SIDE_B], pair->b, error) &&
                grid_parameter(&table->grid, "metric", one->a.name, error) &&
                add_figure(table, "A", &one->a, error) && add_figure(table, "B", &one->b, error) &&
                grid_cell(&table->grid, "B / A", 1, text_string(&ratio), NULL, GRID_PLAIN, error) &&
                grid_cell(&table->grid, "answer", 0, answer, NULL, colours[one->answer], error);
    text_free(&ratio);
    return good;
}

static void label(const struct table *table, enum side side, const json_t *record, struct text *out)
{
    text_add_clean(out, json_text(record, "experiment", ""));
    text_add_char(out, '/');
    view_add_label(&table->walk.views[side], record, out);
}

static bool list_undecided(struct table *table, const struct compare_pair *pair,
                           const struct comparison *one, struct assay_error *error)
{
    struct text text = {0};
    label(table, SIDE_B, pair->b, &text);
    text_addf(&text, ": %s", one->a.name);
    bool good = groups_add(&table->undecided, table->walk.views[SIDE_B].arena, one->why,
                           text_string(&text), error);
    text_free(&text);
    return good;
}

/* Whether the section takes another line. */
static bool more(const struct table *table, size_t *count)
{
    ++*count;
    return table->style->all_rows || *count <= REPORT_ROWS;
}

static bool list_other(struct table *table, const struct compare_pair *pair,
                       struct assay_error *error)
{
    struct text text = {0};
    bool good = true;
    label(table, SIDE_B, pair->b, &text);
    if (!pair->broken) {
        good = groups_add(&table->not_compared, table->walk.views[SIDE_B].arena, pair->reason,
                          text_string(&text), error);
    } else if (more(table, &table->broken_count)) {
        text_addf(&table->broken, "  %s: ", text_string(&text));
        text_add_clean(&table->broken, pair->reason);
        text_add_char(&table->broken, '\n');
    }
    text_free(&text);
    return good;
}

static bool add_pair(void *user, const struct compare_pair *pair, struct assay_error *error)
{
    struct table *table = user;
    if (!begin_experiment(table, json_text(pair->b, "experiment", ""), error))
        return false;
    if (pair->count == 0)
        return list_other(table, pair, error);
    for (size_t i = 0; i < pair->count; i++) {
        const struct comparison *one = &pair->comparisons[i];
        if (!add_row(table, pair, one, error) ||
            (one->answer == STATS_UNDECIDED && !list_undecided(table, pair, one, error)))
            return false;
    }
    return true;
}

static bool add_lone(void *user, enum side side, const json_t *record, struct assay_error *error)
{
    struct table *table = user;
    (void)error;
    if (more(table, &table->lone_count[side])) {
        text_add(&table->lone[side], "  ");
        label(table, side, record, &table->lone[side]);
        text_add_char(&table->lone[side], '\n');
    }
    return true;
}

static void print_section(const struct table *table, const char *title, size_t count,
                          const struct text *section)
{
    if (count == 0)
        return;
    text_addf(table->out, "\n%s (%zu)\n%s", title, count, text_string(section));
    if (count > REPORT_ROWS && !table->style->all_rows)
        text_addf(table->out, "  ... %zu more; --all-rows shows them\n", count - REPORT_ROWS);
}

static void print_journal(const struct table *table, enum side side, const char *path,
                          struct journal_reader *reader)
{
    const json_t *run = journal_run(reader);
    text_addf(table->out, "%s: ", side == SIDE_A ? "A" : "B");
    text_add_clean(table->out, path);
    text_add(table->out, " (");
    text_add_clean(table->out, json_text(run, "started", "at an unknown time"));
    text_addf(table->out, ", %zu %s", journal_case_count(reader),
              journal_case_count(reader) == 1 ? "case" : "cases");
    if (!journal_end(reader))
        text_add(table->out, ", unfinished");
    text_add(table->out, ")\n");
}

static const char *noun(const char *thing)
{
    static const char *const nouns[][2] = {
        {"assay", "the version of assay"},
        {"workload", "the workload's version"},
        {"system", "the operating system"},
        {"measurement", "how it was measured"},
        {"script", "the script"},
        {"shaders", "the shaders"},
        {"seed", "the seed"},
        {"host", "the host"},
        {"options", "the script's options"},
        {"driver", "the driver"},
        {"device", "the device"},
        {"parameters", "the parameters"},
    };
    for (size_t i = 0; i < sizeof(nouns) / sizeof(nouns[0]); i++)
        if (strcmp(nouns[i][0], thing) == 0)
            return nouns[i][1];
    return thing;
}

static void print_change(const struct condition *item, struct text *out)
{
    text_addf(out, "  %s", item->thing);
    if (*item->detail) {
        text_add_char(out, ' ');
        text_add_clean(out, item->detail);
    }
    text_addf(out, ": %s -> %s", item->from, item->to);
    if (item->cases)
        text_addf(out, " (%zu %s)", item->cases, item->cases == 1 ? "case" : "cases");
    text_add_char(out, '\n');
}

static void print_changes(const struct table *table)
{
    const struct conditions *conditions = table->walk.conditions;
    struct text *out = table->out;
    const char *only;
    size_t things = conditions_things(conditions, &only);
    text_add(out, "\nwhat changed from A to B\n");
    for (size_t i = 0; i < conditions_count(conditions); i++)
        print_change(conditions_at(conditions, i), out);
    if (conditions_left_out(conditions))
        text_addf(out, "  ... %zu more\n", conditions_left_out(conditions));
    if (things == 0)
        text_add(out, "  nothing that is recorded: a difference comes from the state of the "
                      "machine, or from chance\n");
    else if (things == 1)
        text_addf(out, "  one thing: a difference is attributable to %s\n", noun(only));
    else
        text_addf(out, "  %zu things: a difference is attributable to none of them alone\n",
                  things);
}

static void add_count(struct text *out, size_t count, const char *word)
{
    if (count)
        text_addf(out, "%s%zu %s", out->length ? ", " : "", count, word);
}

static void print_verdict(const struct table *table)
{
    const struct compare_counts *n = &table->walk.counts;
    const char *word = compare_word(n);
    enum grid_colour colour = n->slower || n->broken ? GRID_BAD
                              : n->undecided         ? GRID_DOUBTFUL
                                                     : GRID_GOOD;
    struct text counts = {0};
    add_count(&counts, n->slower, "slower");
    add_count(&counts, n->faster, "faster");
    add_count(&counts, n->same, "same");
    add_count(&counts, n->undecided, "undecided");
    add_count(&counts, n->broken, n->broken == 1 ? "case broken" : "cases broken");
    add_count(&counts, n->not_compared,
              n->not_compared == 1 ? "case not compared" : "cases not compared");
    add_count(&counts, n->only_a, "only in A");
    add_count(&counts, n->only_b, "only in B");
    text_add_char(table->out, '\n');
    grid_add_coloured(table->out, table->style->color, colour, word);
    text_addf(table->out, ": %s (margin ", text_string(&counts));
    number_add(table->out, table->walk.source->params.margin * 100);
    text_add(table->out, " %)\n");
    text_free(&counts);
}

static bool print(struct table *table, struct assay_error *error)
{
    const struct compare_source *source = table->walk.source;
    const struct compare_sink sink = {table, add_pair, add_lone};
    print_journal(table, SIDE_A, source->path_a, source->a);
    print_journal(table, SIDE_B, source->path_b, source->b);
    if (!compare_walk_run(&table->walk, &sink, error))
        return false;
    end_experiment(table);
    print_section(table, "broken in B", table->broken_count, &table->broken);
    groups_print(&table->undecided, "undecided", table->out);
    groups_print(&table->not_compared, "not compared", table->out);
    print_section(table, "only in A", table->lone_count[SIDE_A], &table->lone[SIDE_A]);
    print_section(table, "only in B", table->lone_count[SIDE_B], &table->lone[SIDE_B]);
    print_changes(table);
    print_verdict(table);
    return (!table->out->failed && !table->broken.failed && !table->lone[SIDE_A].failed &&
            !table->lone[SIDE_B].failed) ||
           no_memory(error);
}

bool compare_table(const struct compare_source *source, const struct report_style *style,
                   struct text *out, struct compare_counts *counts, struct assay_error *error)
{
    struct table table = {.style = style, .out = out};
    bool good = compare_walk_open(&table.walk, source, error) && print(&table, error);
    *counts = table.walk.counts;
    grid_free(&table.grid);
    free(table.experiment);
    text_free(&table.broken);
    text_free(&table.lone[SIDE_A]);
    text_free(&table.lone[SIDE_B]);
    compare_walk_close(&table.walk);
    return good;
}
