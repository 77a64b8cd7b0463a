/* SPDX-License-Identifier: MIT */
/* The contents that a fill puts into a buffer; any place can be computed alone. Pure. */
#ifndef VULKAN_FILL_H
#define VULKAN_FILL_H

#include <assay/buffer.h>

/* ASSAY_INVALID for an unknown kind and for bounds that are not finite or not low < high. */
bool fill_check(const struct assay_fill *fill, struct assay_error *error);
/* Bytes [offset, offset + bytes) of the fill; offset a multiple of 8. Element i of UNIFORM_FP32
 * takes the upper 24 bits of the i-th 32-bit word of the stream. */
void fill_bytes(const struct assay_fill *fill, uint64_t seed, uint64_t offset, uint64_t bytes,
                void *out);

#endif
