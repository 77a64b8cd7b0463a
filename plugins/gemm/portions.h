/* SPDX-License-Identifier: MIT */
/* Work that takes long is recorded as several submissions, each of which ends well within the limit
 * of a wait. */
#ifndef GEMM_PORTIONS_H
#define GEMM_PORTIONS_H

#include "variant.h"

/* Sets the slot's portion, by trials of parts of the work where all of it might take too long: to
 * be called when the variant can record. Fails as assay_slot_time does. */
bool gemm_portion_choose(struct gemm_slot *slot, struct assay_error *error);

#endif
