/* SPDX-License-Identifier: MIT */
#include "vulkan/staging.h"

#include "vulkan/memory.h"
#include "vulkan/queue.h"

#include <assay/command.h>

#include <stdlib.h>
#include <string.h>

struct staging {
    struct assay_buffer *buffer;
    VkCommandBuffer commands;
    VkFence fence;
};

/* Only sets of one member have memory that the host cannot see. */
static struct vulkan_device *only_member(const struct assay_device *device)
{
    return device->members[0];
}

static bool create_commands(struct assay_device *device, struct staging *staging,
                            struct assay_error *error)
{
    struct vulkan_device *member = only_member(device);
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = device_queue(member, VULKAN_ROLE_TRANSFER)->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkResult result = member->vk.vkAllocateCommandBuffers(member->handle, &info,
                                                          &staging->commands);
    if (result != VK_SUCCESS) {
        staging->commands = VK_NULL_HANDLE;
        return device_fail(device, result, "vkAllocateCommandBuffers", error);
    }
    device_name_object(member, VK_OBJECT_TYPE_COMMAND_BUFFER,
                       (uint64_t)(uintptr_t)staging->commands, "staging");
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    result = member->vk.vkCreateFence(member->handle, &fence, NULL, &staging->fence);
    if (result != VK_SUCCESS) {
        staging->fence = VK_NULL_HANDLE;
        return device_fail(device, result, "vkCreateFence", error);
    }
    device_name_object(member, VK_OBJECT_TYPE_FENCE, (uint64_t)staging->fence, "staging");
    return true;
}

/* Made at the first use, for up to `bytes`; grown when a larger piece comes. */
static struct staging *prepare(struct assay_device *device, uint64_t bytes,
                               struct assay_error *error)
{
    if (!device->staging) {
        struct staging *staging = calloc(1, sizeof(*staging));
        if (!staging) {
            assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for staging");
            return NULL;
        }
        device->staging = staging;
        if (!create_commands(device, staging, error)) {
            staging_destroy(device);
            return NULL;
        }
    }
    struct staging *staging = device->staging;
    if (staging->buffer && staging->buffer->params.bytes >= bytes)
        return staging;
    assay_buffer_destroy(&staging->buffer);
    const char *why_not = NULL;
    /* Cached where there is some: the host reads from it too. */
    const bool cached = memory_type_find(only_member(device)->physical, ASSAY_MEMORY_CACHED,
                                         UINT32_MAX, &why_not) >= 0;
    const struct assay_buffer_params params = {
        .size = sizeof(params),
        .name = "staging",
        .bytes = bytes,
        .memory = cached ? ASSAY_MEMORY_CACHED : ASSAY_MEMORY_PINNED,
        .role = ASSAY_ROLE_SCRATCH,
    };
    staging->buffer = buffer_create_internal(device, &params, 0, error);
    return staging->buffer ? staging : NULL;
}

void staging_destroy(struct assay_device *device)
{
    struct staging *staging = device->staging;
    device->staging = NULL;
    if (!staging || device->lost)
        return;
    struct vulkan_device *member = only_member(device);
    assay_buffer_destroy(&staging->buffer);
    member->vk.vkDestroyFence(member->handle, staging->fence, NULL);
    if (staging->commands)
        member->vk.vkFreeCommandBuffers(member->handle,
                                        device_queue(member, VULKAN_ROLE_TRANSFER)->pool, 1,
                                        &staging->commands);
    free(staging);
}

static void barrier(const struct vulkan_device *member, VkCommandBuffer commands,
                    VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to,
                    VkAccessFlags access)
{
    const VkMemoryBarrier info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = written,
        .dstAccessMask = access,
    };
    member->vk.vkCmdPipelineBarrier(commands, from, to, 0, 1, &info, 0, NULL, 0, NULL);
}

static bool copy(struct assay_device *device, const struct staging *staging, VkBuffer to,
                 VkBuffer from, const VkBufferCopy *region, struct assay_error *error)
{
    struct vulkan_device *member = only_member(device);
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    const VkCommandBuffer commands = staging->commands;
    VkResult result = member->vk.vkBeginCommandBuffer(commands, &begin);
    if (result != VK_SUCCESS)
        return device_fail(device, result, "vkBeginCommandBuffer", error);
    barrier(member, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
    member->vk.vkCmdCopyBuffer(commands, from, to, 1, region);
    barrier(member, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT,
            VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT);
    result = member->vk.vkEndCommandBuffer(commands);
    if (result != VK_SUCCESS)
        return device_fail(device, result, "vkEndCommandBuffer", error);
    return queue_run(device, member, device_queue(member, VULKAN_ROLE_TRANSFER), commands,
                     staging->fence, "a staging copy", error);
}

static uint64_t piece_at(uint64_t bytes, uint64_t done)
{
    const uint64_t left = bytes - done;
    return left < ASSAY_STAGING_BYTES ? left : ASSAY_STAGING_BYTES;
}

bool staging_read(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes, void *host,
                  struct assay_error *error)
{
    if (bytes == 0)
        return true;
    struct staging *staging = prepare(buffer->device, piece_at(bytes, 0), error);
    if (!staging)
        return false;
    for (uint64_t done = 0; done < bytes; done += piece_at(bytes, done)) {
        const VkBufferCopy region = {.srcOffset = offset + done, .size = piece_at(bytes, done)};
        if (!copy(buffer->device, staging, staging->buffer->handles[0], buffer->handles[0], &region,
                  error) ||
            !buffer_invalidate(staging->buffer, error))
            return false;
        memcpy((char *)host + done, staging->buffer->address, (size_t)region.size);
    }
    return true;
}

/* From `host`, or the buffer's own fill when that is NULL. */
static bool write_pieces(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes,
                         const void *host, struct assay_error *error)
{
    if (bytes == 0)
        return true;
    struct staging *staging = prepare(buffer->device, piece_at(bytes, 0), error);
    if (!staging)
        return false;
    for (uint64_t done = 0; done < bytes; done += piece_at(bytes, done)) {
        const VkBufferCopy region = {.dstOffset = offset + done, .size = piece_at(bytes, done)};
        if (host)
            memcpy(staging->buffer->address, (const char *)host + done, (size_t)region.size);
        else
            assay_buffer_fill_bytes(buffer, offset + done, region.size, staging->buffer->address);
        if (!buffer_flush(staging->buffer, error) ||
            !copy(buffer->device, staging, buffer->handles[0], staging->buffer->handles[0], &region,
                  error))
            return false;
    }
    return true;
}

bool staging_write(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes, const void *host,
                   struct assay_error *error)
{
    return write_pieces(buffer, offset, bytes, host, error);
}

bool staging_restore(struct assay_buffer *buffer, struct assay_error *error)
{
    return write_pieces(buffer, 0, buffer->params.bytes, NULL, error);
}
