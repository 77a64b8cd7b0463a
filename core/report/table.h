/* SPDX-License-Identifier: MIT */
/* The table report: what its two halves share. table.c makes the tables, table_end.c what follows
 * them. Inside core/report only. */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "report/rows.h"

struct device {
    const char *label; /* as recorded, in the view's arena */
    bool cpu;
    struct device *next;
};

struct table {
    struct view view;
    const struct report_style *style;
    struct text *out;
    struct text failures, doubts, notes; /* sections that follow the tables */
    size_t failure_count, doubt_count, note_count;
    struct groups skips, unjudged;
    struct device *devices;       /* in the order in which cases name them */
    size_t done, skipped, errors; /* for a run without an end record */
    /* The experiment that rows are gathered for. */
    struct grid grid;
    char *experiment;
    struct text last, now; /* what cases that are not shown have in common: of the last, of this */
    struct text output;    /* what its cases printed */
};

bool table_no_memory(struct assay_error *error);
/* Notes the case's device, and how it ended: a failure, a skip or notes are
 * listed. */
bool table_note_case(struct table *table, const json_t *record, struct assay_error *error);
/* Lists what does not hold of a chain of verdicts; record NULL: of the summaries. */
bool table_note_verdicts(struct table *table, size_t chain, const json_t *record,
                         struct assay_error *error);
/* The lists, then the verdict line. */
void table_print_end(const struct table *table, const struct report_source *source);

#endif
