/* SPDX-License-Identifier: MIT */
#include "raw.h"

#include "bench.h"

#include <stdio.h>

static bool raw_fine(VkResult result, const char *call)
{
    if (result != VK_SUCCESS)
        fprintf(stderr, "bench: %s: VkResult %d\n", call, (int)result);
    return result == VK_SUCCESS;
}

static void raw_record(struct raw *raw, const struct assay_buffer *from,
                       const struct assay_buffer *to)
{
    const struct VolkDeviceTable *vk = &raw->member->vk;
    VkBufferCopy region = {.size = assay_buffer_bytes(from)};
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vk->vkCmdWriteTimestamp(raw->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, raw->queries, 0);
    vk->vkCmdCopyBuffer(raw->commands, assay_buffer_handle(from, 0), assay_buffer_handle(to, 0), 1,
                        &region);
    vk->vkCmdPipelineBarrier(raw->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    /* As assay does: a CPU's driver makes the queue wait at the bottom of the pipe. */
    bool cpu = raw->member->physical->class == VULKAN_CLASS_CPU;
    vk->vkCmdWriteTimestamp(raw->commands,
                            cpu ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT
                                : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                            raw->queries, 1);
}

bool raw_create(struct raw *raw, struct vulkan_device *member, const struct assay_buffer *from,
                const struct assay_buffer *to)
{
    raw->member = member;
    raw->queue = device_queue(raw->member, VULKAN_ROLE_TRANSFER);
    const struct VolkDeviceTable *vk = &raw->member->vk;
    VkDevice device = raw->member->handle;
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = raw->queue->family};
    VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                     .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                     .queryCount = 2};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (!raw_fine(vk->vkCreateCommandPool(device, &pool, NULL, &raw->pool),
                  "vkCreateCommandPool") ||
        !raw_fine(vk->vkCreateQueryPool(device, &queries, NULL, &raw->queries),
                  "vkCreateQueryPool") ||
        !raw_fine(vk->vkCreateFence(device, &fence, NULL, &raw->fence), "vkCreateFence"))
        return false;
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = raw->pool,
                                            .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (!raw_fine(vk->vkAllocateCommandBuffers(device, &allocate, &raw->commands),
                  "vkAllocateCommandBuffers") ||
        !raw_fine(vk->vkBeginCommandBuffer(raw->commands, &begin), "vkBeginCommandBuffer"))
        return false;
    raw_record(raw, from, to);
    return raw_fine(vk->vkEndCommandBuffer(raw->commands), "vkEndCommandBuffer");
}

void raw_destroy(struct raw *raw)
{
    if (!raw->member)
        return;
    const struct VolkDeviceTable *vk = &raw->member->vk;
    vk->vkDestroyFence(raw->member->handle, raw->fence, NULL);
    vk->vkDestroyQueryPool(raw->member->handle, raw->queries, NULL);
    vk->vkDestroyCommandPool(raw->member->handle, raw->pool, NULL);
}

bool raw_run(struct raw *raw)
{
    const struct VolkDeviceTable *vk = &raw->member->vk;
    VkDevice device = raw->member->handle;
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &raw->commands};
    uint64_t ticks[2];
    vk->vkResetQueryPool(device, raw->queries, 0, 2);
    if (vk->vkQueueSubmit(raw->queue->handle, 1, &submit, raw->fence) != VK_SUCCESS ||
        vk->vkWaitForFences(device, 1, &raw->fence, VK_TRUE, BENCH_WAIT_NS) != VK_SUCCESS ||
        vk->vkResetFences(device, 1, &raw->fence) != VK_SUCCESS ||
        vk->vkGetQueryPoolResults(device, raw->queries, 0, 2, sizeof(ticks), ticks, sizeof(*ticks),
                                  VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return raw_fine(VK_ERROR_UNKNOWN, "the hand-written loop");
    raw->last_ns = (int64_t)((double)(ticks[1] - ticks[0]) * raw->queue->tick_ns);
    return true;
}
