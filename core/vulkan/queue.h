/* SPDX-License-Identifier: MIT */
/* Which queues a device gets, and running one command buffer with a bounded wait. */
#ifndef VULKAN_QUEUE_H
#define VULKAN_QUEUE_H

#include "vulkan/device.h"

struct queue_plan {
    uint32_t count; /* distinct queues */
    struct {
        uint32_t family, index;
    } queues[VULKAN_ROLE_COUNT];
    uint32_t role[VULKAN_ROLE_COUNT]; /* index into queues */
};

const char *queue_role_name(enum vulkan_role role); /* "compute", "transfer", "transfer_back" */
/* Pure. False when no family can compute, or DEDICATED is wanted and no family is for transfers
 * alone: `*why_not` says which. */
bool queue_plan_make(const VkQueueFamilyProperties *families, uint32_t count,
                     enum vulkan_queue_choice choice, struct queue_plan *plan,
                     const char **why_not);

/* The stage of the timestamp that ends a region: one for all, so that regions and the empty region
 * cost the same. */
VkPipelineStageFlagBits queue_end_stage(const struct vulkan_device *member);

/* Submits and waits at most the set's limit; on expiry the set is lost and the error is
 * ASSAY_TIMEOUT. The fence is unsignalled before and after. `what` names the work in messages. */
bool queue_run(struct assay_device *device, struct vulkan_device *member,
               struct vulkan_queue *queue, VkCommandBuffer commands, VkFence fence,
               const char *what, struct assay_error *error);

#endif
