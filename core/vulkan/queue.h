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

/* Stages and accesses of what recordings do on a queue: transfers, and shaders where it computes.
 */
struct queue_scope {
    VkPipelineStageFlags stages;
    VkAccessFlags writes, all;
};
struct queue_scope queue_scope(const struct vulkan_device *member,
                               const struct vulkan_queue *queue);

/* The one beginning and the one end of what is measured, so that regions and the empty region cost
 * the same. The first timestamp waits for nothing: all earlier submissions were waited for by the
 * host. The end makes writes visible to the host and to what the queue runs later (another queue
 * sees them through the fence and its submission); its timestamp follows the barrier. Without
 * `queries` no timestamps are written. */
void queue_begin_region(const struct vulkan_device *member, VkCommandBuffer commands,
                        VkQueryPool queries, uint32_t query);
void queue_end_region(const struct vulkan_device *member, const struct vulkan_queue *queue,
                      VkCommandBuffer commands, VkQueryPool queries, uint32_t query);

/* Any thread. `fence`: VK_NULL_HANDLE for none. */
VkResult queue_submit(const struct vulkan_device *member, struct vulkan_queue *queue,
                      const VkSubmitInfo *submit, VkFence fence);
/* Waits at most the set's limit for all fences, then resets them. When the wait fails the set is
 * lost (ASSAY_TIMEOUT on expiry): its work may still run. `what` names the work in messages. */
bool queue_wait(struct assay_device *device, const struct vulkan_device *member,
                const VkFence *fences, uint32_t count, const char *what, struct assay_error *error);
/* Submits and waits as queue_wait does. The fence is unsignalled before and after. */
bool queue_run(struct assay_device *device, struct vulkan_device *member,
               struct vulkan_queue *queue, VkCommandBuffer commands, VkFence fence,
               const char *what, struct assay_error *error);

#endif
