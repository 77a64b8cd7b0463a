/* SPDX-License-Identifier: MIT */
/* A small copy by the driver alone: commands, timestamps included, as assay records them, one
 * submit, one wait. */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "vulkan/device.h"

#include <assay/vulkan.h>

/* All zero is none. */
struct raw {
    struct vulkan_device *member;
    struct vulkan_queue *queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkQueryPool queries;
    VkFence fence;
    int64_t last_ns; /* device time of the last run */
};
/* Copies the whole of `from` on the transfer queue. Prints why it failed; raw_destroy is due in
 * either case. */
bool raw_create(struct raw *raw, struct vulkan_device *member, const struct assay_buffer *from,
                const struct assay_buffer *to);
void raw_destroy(struct raw *raw);
bool raw_run(struct raw *raw);

#endif
