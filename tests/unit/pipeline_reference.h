/* SPDX-License-Identifier: MIT */
/* A pipeline worked out in another way than core/measure does it, to compare with: no events and no
 * clock, but one decision after the other, the one that begins first next. */
#ifndef TESTS_UNIT_PIPELINE_REFERENCE_H
#define TESTS_UNIT_PIPELINE_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

struct reference_stage {
    int64_t time_ns;
    unsigned group; /* < 16 */
};
/* Mean distance of the ends of batches `skipped` ... batches - depth - 1, `batches` in all, `depth`
 * of them in flight. -1: out of memory. */
double reference_period(const struct reference_stage *stages, size_t count, unsigned depth,
                        size_t batches, size_t skipped);

#endif
