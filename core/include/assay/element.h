/* SPDX-License-Identifier: MIT */
/* The kinds of numbers that buffers hold, and how single ones are read and written. Pure. */
#ifndef ASSAY_ELEMENT_H
#define ASSAY_ELEMENT_H

#include <assay/api.h>

ASSAY_BEGIN_DECLARATIONS

/* The type of one element, by the number of its bits; little-endian. */
enum assay_element {
    ASSAY_ELEMENT_FLOAT,
    ASSAY_ELEMENT_DOUBLE,
    ASSAY_ELEMENT_HALF,
    ASSAY_ELEMENT_BFLOAT16,
    ASSAY_ELEMENT_INT8,
    ASSAY_ELEMENT_INT16,
    ASSAY_ELEMENT_INT32,
    ASSAY_ELEMENT_INT64,
    ASSAY_ELEMENT_UINT8,
    ASSAY_ELEMENT_UINT16,
    ASSAY_ELEMENT_UINT32,
    ASSAY_ELEMENT_UINT64,
    ASSAY_ELEMENT_FP8_E4M3, /* exponent bias 7, at most 448; no infinity, NaN is 0x7f and 0xff */
    ASSAY_ELEMENT_COUNT
};

/* Bytes of one element. Any thread. */
ASSAY_API size_t assay_element_bytes(enum assay_element element);
/* Element number `index` of the array at `data`, which may be unaligned; exact, but for 64-bit
 * whole numbers over 2^53, which are rounded. Any thread. */
ASSAY_API double assay_element_value(enum assay_element element, const void *data, uint64_t index);
/* Stores the nearest value (ties to even) as element number `index` of the array at `data`.
 * Floating elements overflow to infinity, or to NaN where there is none. Whole elements take whole
 * numbers in range: false for others, and nothing is stored. Any thread. */
ASSAY_API bool assay_element_store(enum assay_element element, double value, void *data,
                                   uint64_t index);

ASSAY_END_DECLARATIONS

#endif
