/* SPDX-License-Identifier: MIT */
/* Two journals side by side, case by case: a function of the two alone. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "report/report.h"
#include "result/compare.h"

struct compare_source {
    struct journal_reader *a, *b;
    const char *path_a, *path_b;
    const char *const *metrics; /* NULL-terminated; none: compare_metric_names */
    struct compare_params params;
    int undecided; /* exit status of what is undecided: 3, or 0 or 1 */
};

struct compare_counts {
    size_t same, faster, slower, undecided; /* comparisons: of a metric of a case */
    size_t cases;                           /* in both journals */
    size_t broken;                          /* done in A, in error in B */
    size_t not_compared;                    /* other cases in both without a comparison */
    size_t only_a, only_b;
};

/* 1 when anything is slower or broken, 3 (or source->undecided) when anything is undecided, 0; 5
 * when nothing was compared. */
int compare_exit_status(const struct compare_source *source, const struct compare_counts *counts);

/* Cases are matched by id; what is left, by all of the id but the seed and the workload's version.
 * ASSAY_INVALID when the two have no case in common, and for a metric that no case has. */
bool compare_table(const struct compare_source *source, const struct report_style *style,
                   struct text *out, struct compare_counts *counts, struct assay_error *error);
/* One JSON object; ends with a newline. */
bool compare_json(const struct compare_source *source, struct text *out,
                  struct compare_counts *counts, struct assay_error *error);

#endif
