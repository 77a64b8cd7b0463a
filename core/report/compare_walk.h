/* SPDX-License-Identifier: MIT */
/* Goes through two journals, pair by pair. Inside core/report only. */
#ifndef REPORT_COMPARE_WALK_H
#define REPORT_COMPARE_WALK_H

#include "report/compare.h"
#include "report/view.h"
#include "result/conditions.h"

enum side { SIDE_A, SIDE_B };

struct compare_pair {
    const json_t *a, *b;                  /* case records */
    const struct comparison *comparisons; /* none: `reason` says why */
    size_t count;
    const char *reason;
    bool broken;
};

struct compare_sink {
    void *user;
    bool (*pair)(void *user, const struct compare_pair *pair, struct assay_error *error);
    bool (*lone)(void *user, enum side side, const json_t *record, struct assay_error *error);
};

struct compare_walk {
    const struct compare_source *source;
    struct view views[2];
    struct conditions *conditions; /* complete after compare_walk_run */
    struct compare_counts counts;
};

/* Accepts nothing half-open: close after a failure as well. */
bool compare_walk_open(struct compare_walk *walk, const struct compare_source *source,
                       struct assay_error *error);
bool compare_walk_run(struct compare_walk *walk, const struct compare_sink *sink,
                      struct assay_error *error);
void compare_walk_close(struct compare_walk *walk);

/* "SLOWER", "BROKEN", "UNDECIDED", "FASTER", "SAME" or "NOTHING COMPARED". */
const char *compare_word(const struct compare_counts *counts);

#endif
