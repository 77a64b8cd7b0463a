/* SPDX-License-Identifier: MIT */
/* What bounds from outside the script share. Inside core/judge only. */
#ifndef JUDGE_OUTSIDE_H
#define JUDGE_OUTSIDE_H

#include "experiment/plan.h"

#include <jansson.h>

/* Adds " (bytes=64MiB host_memory=pageable, lavapipe)": what the case sets, and the device
 * of its record. */
void outside_add_place(struct text *text, const struct plan *plan, const struct plan_case *item,
                       const json_t *device);

#endif
