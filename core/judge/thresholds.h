/* SPDX-License-Identifier: MIT */
/* Bounds from a file beside the script, by device (docs/scripting.md, "Thresholds"). */
#ifndef JUDGE_THRESHOLDS_H
#define JUDGE_THRESHOLDS_H

#include "judge/judge.h"

struct thresholds;
/* Reads the file and checks it against the plan's workloads: ASSAY_SCRIPT, "FILE:LINE: what is
 * wrong", for keys that are not known, values that make no sense, metrics and parameters that a
 * workload of the plan does not have, and units that do not fit. ASSAY_INVALID: no such file. The
 * plan must live as long. */
struct thresholds *thresholds_read(const char *path, const struct plan *plan,
                                   struct assay_error *error);
void thresholds_destroy(struct thresholds **thresholds);
/* Verdicts of the bound "threshold". A case on a device that no entry fits is not judged. */
struct judge_outside thresholds_outside(struct thresholds *thresholds);
/* After the judging: which bounds, of entries that fit a device, judged no case (other workloads,
 * or a slip), as one text with the file's name. False: none. */
bool thresholds_add_idle(const struct thresholds *thresholds, struct text *text);
/* The smallest tolerance of a `near` that is for this device, and its line. False: there is none.
 */
bool thresholds_tightest(const struct thresholds *thresholds, const json_t *device,
                         double *tolerance, int *line);
/* {"path", "hash"}. New reference. */
json_t *thresholds_record(const struct thresholds *thresholds);

#endif
