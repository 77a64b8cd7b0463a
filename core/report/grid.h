/* SPDX-License-Identifier: MIT */
/* A table of one experiment: columns found as rows come, fitted to a width when printed. Inside
 * core/report only. */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include "report/report.h"

#define GRID_COLUMNS 64
#define GRID_EXTRA 6 /* importance from which a column is shown only when it varies */

enum grid_colour { GRID_PLAIN, GRID_GOOD, GRID_DOUBTFUL, GRID_BAD };

struct grid_column {
    const char *title;
    const char *first; /* of a parameter: the value in the first row */
    bool parameter;    /* shown only when it varies */
    bool varies;
    int importance;     /* 0: always shown; columns with the largest are left out first */
    size_t rows;        /* rows that have it */
    bool hidden, brief; /* set while fitting */
    size_t width;
};

struct grid_cell {
    const char *full, *brief; /* brief NULL: the same */
    enum grid_colour colour;
};

struct grid_row {
    struct grid_cell *cells; /* by column */
    size_t count;
};

struct grid {
    struct arena *arena;
    struct grid_column columns[GRID_COLUMNS];
    size_t column_count;
    struct grid_row *rows;
    size_t row_count, row_room, row_limit;
    size_t total;         /* rows begun, kept or not */
    struct grid_row *row; /* being filled, NULL when beyond the limit */
};

bool grid_init(struct grid *grid, size_t row_limit, struct assay_error *error);
void grid_free(struct grid *grid);
bool grid_begin_row(struct grid *grid, struct assay_error *error);
/* A cell of the row begun last. `brief` may be NULL. A column of a new title is added; past
 * GRID_COLUMNS it is ignored. */
bool grid_parameter(struct grid *grid, const char *title, const char *value,
                    struct assay_error *error);
/* Whether it was seen with two values. */
bool grid_varies(const struct grid *grid, const char *title);
bool grid_is_full(const struct grid *grid); /* further rows are not kept */
/* Counts a row, not kept, whose first `columns` parameters are those of the row before. */
void grid_count_row(struct grid *grid, size_t columns);
bool grid_cell(struct grid *grid, const char *title, int importance, const char *full,
               const char *brief, enum grid_colour colour, struct assay_error *error);
/* The value of a parameter that is the same in all rows, or NULL. */
const char *grid_constant(const struct grid *grid, const char *title);
/* Adds " name=value" for each such parameter from column `from` on. */
void grid_add_constants(const struct grid *grid, size_t from, struct text *out);
void grid_print(struct grid *grid, const struct report_style *style, struct text *out);

void grid_add_coloured(struct text *out, bool color, enum grid_colour colour, const char *string);

#endif
