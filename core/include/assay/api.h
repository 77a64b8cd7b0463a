/* SPDX-License-Identifier: MIT */
/* What the other public headers share: symbol visibility, format checking and the ABI number. */
#ifndef ASSAY_API_H
#define ASSAY_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raised whenever a struct or a hook changes its meaning. A plugin that was built for another
 * number is refused, with both numbers in the message. New members are added at the end of a
 * struct, behind its `size`. */
#define ASSAY_ABI 2u

/* Around all declarations: C linkage where a plugin is written in C++. */
#ifdef __cplusplus
#define ASSAY_BEGIN_DECLARATIONS extern "C" {
#define ASSAY_END_DECLARATIONS }
#else
#define ASSAY_BEGIN_DECLARATIONS
#define ASSAY_END_DECLARATIONS
#endif

#define ASSAY_API __attribute__((visibility("default")))
#define ASSAY_PRINTF(text, first) __attribute__((format(printf, text, first)))

#endif
