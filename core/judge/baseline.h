/* SPDX-License-Identifier: MIT */
/* Bounds relative to an earlier run. */
#ifndef JUDGE_BASELINE_H
#define JUDGE_BASELINE_H

#include "judge/judge.h"
#include "result/compare.h"
#include "result/conditions.h"

struct baseline_params {
    struct journal_reader *reader; /* of the earlier run; both must outlive the baseline */
    const struct plan *plan;
    struct compare_params compare;
};
struct baseline;
struct baseline *baseline_create(const struct baseline_params *params, struct assay_error *error);
void baseline_destroy(struct baseline **baseline);
/* Verdicts of the bound "baseline", one for each metric of compare_metric_names: slower fails,
 * undecided is inconclusive unless the whole interval is not slower. At the confidence of the
 * record's own intervals, which is that of each look. A case that the baseline lacks, or that is
 * not done there, is not judged. The device may differ, which the message says. */
struct judge_outside baseline_outside(struct baseline *baseline);
/* What differs between the two, as far as cases were judged; `run` is the run record of what was.
 * NULL: no memory. */
const struct conditions *baseline_conditions(struct baseline *baseline, const json_t *run,
                                             struct assay_error *error);

#endif
