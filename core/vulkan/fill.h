/* SPDX-License-Identifier: MIT */
/* The contents that a fill puts into a buffer; any place can be computed alone. Pure. */
#ifndef VULKAN_FILL_H
#define VULKAN_FILL_H

#include <assay/buffer.h>

/* ASSAY_INVALID for an unknown kind and for bounds that are not finite or not low < high. */
bool fill_check(const struct assay_fill *fill, struct assay_error *error);
/* The same fill with one of the kinds RANDOM_BITS, VALUE, UNIFORM, SEQUENCE, DATA. */
struct assay_fill fill_plain(const struct assay_fill *fill);
/* The eight bytes that a VALUE repeats. */
uint64_t fill_pattern(const struct assay_fill *fill);
/* Uniform floats of 8 or 16 bits: the bits of the excluded bound, and of what stands for it where
 * rounding reaches it. */
void fill_small_bounds(enum assay_element element, double low, double high, uint16_t *top,
                       uint16_t *under);
/* Bytes [offset, offset + bytes) of the fill; offset a multiple of 8. Element i of a uniform one
 * takes the i-th 32-bit word of the stream (elements of 8 bytes: 64-bit word), of which floats use
 * the upper 24 bits and doubles the upper 53. */
void fill_bytes(const struct assay_fill *fill, uint64_t seed, uint64_t offset, uint64_t bytes,
                void *out);

#endif
