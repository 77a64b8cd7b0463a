/* SPDX-License-Identifier: MIT */
#include "report/grid.h"

#include <stdlib.h>
#include <string.h>

#define INDENT "  "
#define GAP 2

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a table");
}

bool grid_init(struct grid *grid, size_t row_limit, struct assay_error *error)
{
    *grid = (struct grid){.row_limit = row_limit, .arena = arena_create()};
    return grid->arena || no_memory(error);
}

void grid_free(struct grid *grid)
{
    arena_destroy(&grid->arena);
    free(grid->rows);
    *grid = (struct grid){0};
}

bool grid_begin_row(struct grid *grid, struct assay_error *error)
{
    grid->total++;
    grid->row = NULL;
    if (grid_is_full(grid))
        return true;
    if (grid->row_count == grid->row_room) {
        size_t room = grid->row_room ? 2 * grid->row_room : 32;
        struct grid_row *rows = room > SIZE_MAX / 2 / sizeof(*rows)
                                    ? NULL
                                    : realloc(grid->rows, room * sizeof(*rows));
        if (!rows)
            return no_memory(error);
        grid->rows = rows;
        grid->row_room = room;
    }
    grid->row = &grid->rows[grid->row_count++];
    *grid->row = (struct grid_row){0};
    return true;
}

static struct grid_column *find_column(struct grid *grid, const char *title, size_t *index,
                                       struct assay_error *error)
{
    for (size_t i = 0; i < grid->column_count; i++) {
        if (strcmp(grid->columns[i].title, title) == 0) {
            *index = i;
            return &grid->columns[i];
        }
    }
    if (grid->column_count == GRID_COLUMNS)
        return NULL;
    *index = grid->column_count;
    struct grid_column *column = &grid->columns[grid->column_count];
    *column = (struct grid_column){.title = arena_copy(grid->arena, title)};
    if (!column->title) {
        no_memory(error);
        return NULL;
    }
    grid->column_count++;
    return column;
}

static bool row_reserve(struct grid *grid, size_t index)
{
    struct grid_row *row = grid->row;
    if (index < row->count)
        return true;
    size_t count = index + 8 < GRID_COLUMNS ? index + 8 : GRID_COLUMNS;
    struct grid_cell *cells = arena_alloc(grid->arena, count * sizeof(*cells));
    if (!cells)
        return false;
    if (row->count)
        memcpy(cells, row->cells, row->count * sizeof(*cells));
    row->cells = cells;
    row->count = count;
    return true;
}

static bool set_cell(struct grid *grid, size_t index, const char *full, const char *brief,
                     enum grid_colour colour, struct assay_error *error)
{
    if (!grid->row)
        return true;
    if (!row_reserve(grid, index))
        return no_memory(error);
    struct grid_cell *cell = &grid->row->cells[index];
    cell->full = arena_copy(grid->arena, full);
    cell->brief = brief ? arena_copy(grid->arena, brief) : cell->full;
    cell->colour = colour;
    return (cell->full && cell->brief) || no_memory(error);
}

static bool note_value(struct grid *grid, struct grid_column *column, const char *value)
{
    column->rows++;
    if (!column->first)
        column->first = arena_copy(grid->arena, value);
    else if (strcmp(column->first, value) != 0)
        column->varies = true;
    return column->first != NULL;
}

bool grid_parameter(struct grid *grid, const char *title, const char *value,
                    struct assay_error *error)
{
    size_t index;
    struct grid_column *column = find_column(grid, title, &index, error);
    if (!column)
        return !error->status;
    column->parameter = true;
    if (!note_value(grid, column, value))
        return no_memory(error);
    return set_cell(grid, index, value, NULL, GRID_PLAIN, error);
}

bool grid_varies(const struct grid *grid, const char *title)
{
    for (size_t i = 0; i < grid->column_count; i++)
        if (strcmp(grid->columns[i].title, title) == 0)
            return grid->columns[i].varies;
    return false;
}

bool grid_is_full(const struct grid *grid)
{
    return grid->row_count >= grid->row_limit;
}

void grid_count_row(struct grid *grid, size_t columns)
{
    grid->total++;
    grid->row = NULL;
    for (size_t i = 0; i < columns && i < grid->column_count; i++)
        grid->columns[i].rows++;
}

bool grid_cell(struct grid *grid, const char *title, int importance, const char *full,
               const char *brief, enum grid_colour colour, struct assay_error *error)
{
    size_t index;
    struct grid_column *column = find_column(grid, title, &index, error);
    if (!column)
        return !error->status;
    column->importance = importance;
    if (!note_value(grid, column, full))
        return no_memory(error);
    return set_cell(grid, index, full, brief, colour, error);
}

static bool constant(const struct grid *grid, const struct grid_column *column)
{
    return column->parameter && !column->varies && column->rows == grid->total;
}

const char *grid_constant(const struct grid *grid, const char *title)
{
    for (size_t i = 0; i < grid->column_count; i++)
        if (strcmp(grid->columns[i].title, title) == 0)
            return constant(grid, &grid->columns[i]) ? grid->columns[i].first : NULL;
    return NULL;
}

void grid_add_constants(const struct grid *grid, size_t from, struct text *out)
{
    for (size_t i = from; i < grid->column_count; i++) {
        const struct grid_column *column = &grid->columns[i];
        if (constant(grid, column))
            text_addf(out, " %s=%s", column->title, column->first);
    }
}

void grid_add_coloured(struct text *out, bool color, enum grid_colour colour, const char *string)
{
    static const char *const codes[] = {
        [GRID_GOOD] = "\033[32m", [GRID_DOUBTFUL] = "\033[33m", [GRID_BAD] = "\033[1;31m"};
    if (!color || colour == GRID_PLAIN) {
        text_add(out, string);
        return;
    }
    text_addf(out, "%s%s\033[0m", codes[colour], string);
}

/* The shown text of a cell; "-" where the row has none. */
static const char *shown(const struct grid *grid, const struct grid_row *row, size_t index)
{
    const struct grid_cell *cell = index < row->count ? &row->cells[index] : NULL;
    if (!cell || !cell->full)
        return "-";
    return grid->columns[index].brief ? cell->brief : cell->full;
}

static void measure_column(struct grid *grid, size_t index)
{
    struct grid_column *column = &grid->columns[index];
    column->width = text_columns(column->title);
    for (size_t r = 0; r < grid->row_count; r++) {
        size_t width = text_columns(shown(grid, &grid->rows[r], index));
        column->width = width > column->width ? width : column->width;
    }
}

static size_t total_width(const struct grid *grid)
{
    size_t width = 0;
    for (size_t i = 0; i < grid->column_count; i++)
        width += grid->columns[i].hidden ? 0 : grid->columns[i].width + GAP;
    return width;
}

/* Leaves intervals out first, then columns: in both, what matters least goes first. */
static void fit(struct grid *grid, unsigned limit)
{
    for (size_t i = 0; i < grid->column_count; i++) {
        struct grid_column *column = &grid->columns[i];
        bool dull = column->importance >= GRID_EXTRA && grid->total > 1 && !column->varies;
        column->hidden = constant(grid, column) || dull;
        column->brief = false;
        measure_column(grid, i);
    }
    for (int step = 0; limit && step < 2; step++) {
        for (int importance = 9; importance > 0 && total_width(grid) > limit; importance--) {
            for (size_t i = grid->column_count; i-- > 0 && total_width(grid) > limit;) {
                struct grid_column *column = &grid->columns[i];
                if (column->hidden || column->importance != importance)
                    continue;
                column->hidden = step == 1 && importance > 1;
                column->brief = true;
                measure_column(grid, i);
            }
        }
    }
}

/* Parameters stand before results whatever the order in which they were found. */
static size_t ordered(const struct grid *grid, size_t *order)
{
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < grid->column_count; i++)
            if (!grid->columns[i].hidden && grid->columns[i].parameter == (pass == 0))
                order[count++] = i;
    }
    return count;
}

static void pad(struct text *out, size_t have, size_t want)
{
    for (; have < want; have++)
        text_add_char(out, ' ');
}

void grid_print(struct grid *grid, const struct report_style *style, struct text *out)
{
    size_t order[GRID_COLUMNS];
    fit(grid, style->width);
    size_t count = ordered(grid, order);
    text_add(out, INDENT);
    for (size_t c = 0; c < count; c++) {
        const struct grid_column *column = &grid->columns[order[c]];
        text_add(out, column->title);
        pad(out, text_columns(column->title), c + 1 < count ? column->width + GAP : 0);
    }
    text_add_char(out, '\n');
    for (size_t r = 0; r < grid->row_count; r++) {
        const struct grid_row *row = &grid->rows[r];
        text_add(out, INDENT);
        for (size_t c = 0; c < count; c++) {
            const char *string = shown(grid, row, order[c]);
            enum grid_colour colour = order[c] < row->count ? row->cells[order[c]].colour
                                                            : GRID_PLAIN;
            grid_add_coloured(out, style->color, colour, string);
            pad(out, text_columns(string), c + 1 < count ? grid->columns[order[c]].width + GAP : 0);
        }
        text_add_char(out, '\n');
    }
    if (grid->total > grid->row_count) {
        text_addf(out, INDENT "... %zu more rows; --all-rows shows them\n",
                  grid->total - grid->row_count);
    }
}
