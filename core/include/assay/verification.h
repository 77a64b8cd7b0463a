/* SPDX-License-Identifier: MIT */
/* What a workload says about the correctness of what it produced, and the extra metrics that it
 * reports. One thread, that of the hook. What is passed is copied or only read. */
#ifndef ASSAY_VERIFICATION_H
#define ASSAY_VERIFICATION_H

#include <assay/buffer.h>

ASSAY_BEGIN_DECLARATIONS

struct assay_verification;
struct assay_metrics;

/* Compares `bytes` bytes; at the first wrong one fails with ASSAY_WRONG_RESULT, locating it:
 * `what`, the byte's index (first_index + its place), got and wanted. Counts what was checked into
 * the record.
 */
ASSAY_API bool assay_verification_bytes(struct assay_verification *verification, const char *what,
                                        const void *got, const void *wanted, uint64_t bytes,
                                        uint64_t first_index, struct assay_error *error);
/* Compares a whole buffer with what `source`'s fill put into source, byte by byte, in pieces.
 * ASSAY_WRONG_RESULT as above; ASSAY_INTERNAL when `got` is the larger one; and what reading it can
 * cause.
 */
ASSAY_API bool assay_verification_copy_of(struct assay_verification *verification,
                                          struct assay_buffer *got,
                                          const struct assay_buffer *source,
                                          struct assay_error *error);
/* Counts `bytes` bytes into the record that the workload compared itself. */
ASSAY_API void assay_verification_checked(struct assay_verification *verification, uint64_t bytes);
/* Largest error seen over its bound: `error_over_bound` is dimensionless, 0 to 1 when right (the
 * record's verification.error). ASSAY_WRONG_RESULT when it is over 1, negative or not finite. */
ASSAY_API bool assay_verification_error(struct assay_verification *verification,
                                        double error_over_bound, struct assay_error *error);

/* A `value` of one of the workload's extra metrics, in the unit it declared. A value that is not
 * finite makes the metric absent, with that reason. ASSAY_INTERNAL for a metric that was not
 * declared or is there already. */
ASSAY_API bool assay_metrics_add(struct assay_metrics *metrics, const char *name, double value,
                                 struct assay_error *error);

ASSAY_END_DECLARATIONS

#endif
