/* SPDX-License-Identifier: MIT */
/* --thresholds and --baseline of run and check. */
#ifndef CLI_OUTSIDE_H
#define CLI_OUTSIDE_H

#include "cli/choices.h"
#include "judge/baseline.h"
#include "judge/thresholds.h"

/* All zero: no such bounds. */
struct outside {
    struct thresholds *thresholds;
    struct text path; /* of the baseline */
    struct journal_reader *reader;
    struct baseline *baseline;
    struct judge_outside links[2];
    const struct judge_outside *first; /* NULL: none */
};

/* Opens what the command line names. Whatever is wrong is found here, before anything is measured.
 */
bool outside_open(struct outside *outside, const struct choices_output *choices,
                  const struct plan *plan, struct assay_error *error);
void outside_close(struct outside *outside);
/* Says on stderr which thresholds judged nothing and what differs from the baseline, once all is
 * judged; `run` is the run record of what was. */
void outside_tell(const struct outside *outside, const json_t *run);
/* Adds "thresholds" and "baseline", where there are such bounds, to the policy of the end record.
 */
bool outside_add_policy(const struct outside *outside, const struct choices_output *choices,
                        json_t *policy);

#endif
