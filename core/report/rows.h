/* SPDX-License-Identifier: MIT */
/* What the tables share: the parameters of a case as columns, and what is told once by reason.
 * Inside core/report only. */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "report/grid.h"
#include "report/view.h"

#define GROUPS_MAX 32

/* What has one reason: skips, unjudged bounds, undecided comparisons; strings in an arena. */
struct group {
    const char *reason, *example;
    size_t count;
};

struct groups {
    struct group items[GROUPS_MAX];
    size_t count, others;
};

bool groups_add(struct groups *groups, struct arena *arena, const char *reason, const char *example,
                struct assay_error *error);
/* Nothing when there are none. */
void groups_print(const struct groups *groups, const char *title, struct text *out);

/* Cells for the row begun last: workload, device, schedule and replica of every case, then what was
 * set. */
#define ROWS_FIXED 4 /* workload, device, schedule, replica: the first columns */
bool rows_parameters(struct grid *grid, const struct view *view, const json_t *record,
                     struct assay_error *error);
/* The table of one experiment: its name, what is the same in all rows, the rows. Counts on
 * rows_parameters having made the first columns. */
void rows_print(const char *experiment, struct grid *grid, const struct report_style *style,
                struct text *out);

#endif
