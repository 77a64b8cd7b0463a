/* SPDX-License-Identifier: MIT */
/* What the other public headers share: symbol visibility, format checking and the ABI number. */
#ifndef ASSAY_API_H
#define ASSAY_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raised whenever a struct, a hook or a function changes its meaning. A plugin that was built for
 * another number is refused, with both numbers in the message. Within one ABI an older plugin runs
 * in a newer assay:
 * - Members are only added at the end of a struct that has a `size`, and a shorter struct counts as
 *   filled up with zeroes, which mean what was before. A longer one is refused, with both sizes.
 *   Structs without a `size` keep their layout, but for those that assay makes and a plugin reads
 *   or fills (assay_limits, assay_cost): they may grow at the end.
 * - Numbers of enumerators stay; new ones are added at the end.
 * - Functions keep their types, and none goes; one that would have to change gets a new name.
 * The functions are symbols of the assay program itself: a plugin leaves them undefined and links
 * with no library, and the loader binds them all when it opens the plugin. So one that calls a
 * function which this assay lacks is refused with that function's name, and nothing else of assay
 * can be seen, nor be in the way of a plugin's own symbols. */
#define ASSAY_ABI 2u

/* Around all declarations: C linkage where a plugin is written in C++. */
#ifdef __cplusplus
#define ASSAY_BEGIN_DECLARATIONS extern "C" {
#define ASSAY_END_DECLARATIONS }
#else
#define ASSAY_BEGIN_DECLARATIONS
#define ASSAY_END_DECLARATIONS
#endif

/* Marks what the program exports; in a plugin, what it exports. */
#define ASSAY_API __attribute__((visibility("default")))
/* For the compiler: argument `text` is a format, and its arguments start at `first` (from 1). */
#define ASSAY_PRINTF(text, first) __attribute__((format(printf, text, first)))

#endif
