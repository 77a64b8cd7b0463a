/* SPDX-License-Identifier: MIT */
/* What two timestamps with nothing between cost, and their step, queue by queue. */
#include "vulkan/queue.h"
#include "vulkan/timer.h"

#include <math.h>
#include <stdlib.h>

#define STEP_MOST_NS 1e6 /* more is no step of a clock: all timestamps were the same, or two */
#define RUNS 31          /* the first is not counted: drivers set up at the first submit */

struct probe {
    struct assay_device *device;
    struct vulkan_device *member;
    struct vulkan_queue *queue;
    VkQueryPool queries;
    VkCommandBuffer commands;
    VkFence fence;
    uint64_t first, step; /* ticks: of the first timestamp, what all distances from it share */
    bool seen;
};

static bool create(struct probe *probe, struct assay_error *error)
{
    struct vulkan_device *member = probe->member;
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2,
    };
    VkResult result = member->vk.vkCreateQueryPool(member->handle, &queries, NULL, &probe->queries);
    if (result != VK_SUCCESS) {
        probe->queries = VK_NULL_HANDLE;
        return device_fail(probe->device, result, "vkCreateQueryPool", error);
    }
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    result = member->vk.vkCreateFence(member->handle, &fence, NULL, &probe->fence);
    if (result != VK_SUCCESS) {
        probe->fence = VK_NULL_HANDLE;
        return device_fail(probe->device, result, "vkCreateFence", error);
    }
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = probe->queue->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    result = member->vk.vkAllocateCommandBuffers(member->handle, &commands, &probe->commands);
    if (result != VK_SUCCESS) {
        probe->commands = VK_NULL_HANDLE;
        return device_fail(probe->device, result, "vkAllocateCommandBuffers", error);
    }
    device_name_object(member, VK_OBJECT_TYPE_QUERY_POOL, (uint64_t)probe->queries, "empty region");
    device_name_object(member, VK_OBJECT_TYPE_FENCE, (uint64_t)probe->fence, "empty region");
    device_name_object(member, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)probe->commands,
                       "empty region");
    return true;
}

static void destroy(struct probe *probe)
{
    struct vulkan_device *member = probe->member;
    if (probe->device->lost)
        return;
    if (probe->commands)
        member->vk.vkFreeCommandBuffers(member->handle, probe->queue->pool, 1, &probe->commands);
    member->vk.vkDestroyFence(member->handle, probe->fence, NULL);
    member->vk.vkDestroyQueryPool(member->handle, probe->queries, NULL);
}

static bool record(struct probe *probe, struct assay_error *error)
{
    struct vulkan_device *member = probe->member;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkResult result = member->vk.vkBeginCommandBuffer(probe->commands, &begin);
    if (result != VK_SUCCESS)
        return device_fail(probe->device, result, "vkBeginCommandBuffer", error);
    queue_begin_region(member, probe->commands, probe->queries, 0);
    queue_end_region(member, probe->queue, probe->commands, probe->queries, 1);
    result = member->vk.vkEndCommandBuffer(probe->commands);
    if (result != VK_SUCCESS)
        return device_fail(probe->device, result, "vkEndCommandBuffer", error);
    return true;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Some devices count ticks in steps of many. */
static void watch(struct probe *probe, const uint64_t stamps[2])
{
    if (!probe->seen)
        probe->first = stamps[0];
    probe->seen = true;
    for (int i = 0; i < 2; i++)
        probe->step = common_divisor(
            probe->step, timer_ticks(probe->first, stamps[i], probe->queue->timestamp_bits));
}

static bool sample(struct probe *probe, int64_t *ns, struct assay_error *error)
{
    struct vulkan_device *member = probe->member;
    uint64_t stamps[2];
    member->vk.vkResetQueryPool(member->handle, probe->queries, 0, 2);
    if (!queue_run(probe->device, member, probe->queue, probe->commands, probe->fence,
                   "an empty command buffer", error))
        return false;
    /* No WAIT flag: the fence has told that they are there. */
    const VkResult result = member->vk.vkGetQueryPoolResults(
        member->handle, probe->queries, 0, 2, sizeof(stamps), stamps, sizeof(stamps[0]),
        VK_QUERY_RESULT_64_BIT);
    if (result != VK_SUCCESS)
        return device_fail(probe->device, result, "vkGetQueryPoolResults", error);
    watch(probe, stamps);
    *ns = timer_ns(timer_ticks(stamps[0], stamps[1], probe->queue->timestamp_bits),
                   probe->queue->tick_ns);
    return true;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool measure(struct probe *probe, struct assay_error *error)
{
    int64_t ns[RUNS];
    if (!create(probe, error) || !record(probe, error))
        return false;
    for (int i = 0; i < RUNS; i++)
        if (!sample(probe, &ns[i], error))
            return false;
    qsort(ns + 1, RUNS - 1, sizeof(ns[0]), compare);
    probe->queue->empty_region_ns = ns[1 + (RUNS - 1) / 2];
    double step_ns = ceil((double)probe->step * probe->queue->tick_ns);
    if (step_ns >= 1 && step_ns < STEP_MOST_NS)
        probe->queue->step_ns = (int64_t)step_ns;
    return true;
}

bool device_measure_empty_regions(struct assay_device *device, struct assay_error *error)
{
    for (unsigned m = 0; m < device->member_count; m++) {
        struct vulkan_device *member = device->members[m];
        for (uint32_t q = 0; q < member->queue_count; q++) {
            struct vulkan_queue *queue = &member->queues[q];
            if (queue->timestamp_bits == 0 || queue->empty_region_ns >= 0)
                continue;
            struct probe probe = {.device = device, .member = member, .queue = queue};
            const bool ok = measure(&probe, error);
            destroy(&probe);
            if (!ok)
                return false;
        }
    }
    return true;
}
