/* SPDX-License-Identifier: MIT */
/* The `peaks` record (docs/journal.md) of a device, from the records of the cases that measured
 * them. */
#ifndef JUDGE_PEAKS_H
#define JUDGE_PEAKS_H

#include "base/error.h"

#include <jansson.h>

/* An empty record. `selector`: the device as the script names it, or NULL. New reference; NULL when
 * out of memory. */
json_t *peaks_record(const char *selector);
/* Takes in a case record of the experiment of peaks: of those that measure the same thing the best
 * stays. A case that is not done makes its peak absent, with the reason, unless another has it. */
bool peaks_add(json_t *record, const json_t *item, struct assay_error *error);
/* After the last: adds what follows from two peaks, the balances ("balance.fp32"). */
bool peaks_finish(json_t *record, struct assay_error *error);

#endif
