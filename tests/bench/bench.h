/* SPDX-License-Identifier: MIT */
/* What the bench programs share: the device under test and medians. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "vulkan/device.h"
#include "vulkan/slot.h"

#define BENCH_WAIT_NS INT64_C(10000000000)

struct bench {
    struct vulkan_instance *instance;
    struct assay_device *device;
    struct assay_slot *slot;
    struct shader_search search;
};
/* Opens the device that the selector in $ASSAY_BENCH_DEVICE names, else the best there is, as a set
 * of `members` logical devices. Prints why it failed. bench_close is due in either case. */
bool bench_open(struct bench *bench, unsigned members);
void bench_close(struct bench *bench);
/* Host-visible buffer that is filled already. NULL with a message on stderr. */
struct assay_buffer *bench_buffer(struct bench *bench, const char *name, uint64_t bytes,
                                  enum assay_memory memory);
/* Prints the error; always false. */
bool bench_failed(const char *what, const struct assay_error *error);
double bench_median(double *values, size_t count);

#endif
