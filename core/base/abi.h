/* SPDX-License-Identifier: MIT */
/* Structs that a plugin hands over, by their `size`: a plugin that was built for an earlier layout
 * of the same ABI has shorter ones, and what they lack is zero. */
#ifndef BASE_ABI_H
#define BASE_ABI_H

#include "base/error.h"

/* Bytes up to the end of a member: what the first layout of the ABI had, where that member was the
 * last. */
#define ABI_END(type, member) (offsetof(type, member) + sizeof(((type *)NULL)->member))

/* `given` starts with its size_t size. Copies that many bytes to `copy`, which has `known` bytes,
 * and zeroes the rest. Refused, with both numbers: one that is shorter than `first` or longer than
 * `known`. */
bool abi_copy(void *copy, size_t known, size_t first, const void *given, const char *type,
              struct assay_error *error);

#endif
