/* SPDX-License-Identifier: MIT */
#include "vulkan/queue.h"

#include <stdlib.h>
#include <string.h>

#define NO_FAMILY UINT32_MAX

const char *queue_role_name(enum vulkan_role role)
{
    static const char *const names[VULKAN_ROLE_COUNT] = {
        [VULKAN_ROLE_COMPUTE] = "compute",
        [VULKAN_ROLE_TRANSFER] = "transfer",
        [VULKAN_ROLE_TRANSFER_BACK] = "transfer_back",
    };
    return (unsigned)role < VULKAN_ROLE_COUNT ? names[role] : "unknown";
}

static bool can_compute(const VkQueueFamilyProperties *family)
{
    return family->queueCount > 0 && (family->queueFlags & VK_QUEUE_COMPUTE_BIT);
}

/* Graphics and compute families can always copy, whether they say so or not. */
static bool can_transfer(const VkQueueFamilyProperties *family)
{
    return family->queueCount > 0 &&
           (family->queueFlags &
            (VK_QUEUE_TRANSFER_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT));
}

/* Nothing but copies (and sparse binding): video and optical-flow families also carry the transfer
 * bit, but are not the copy engine. */
static bool only_transfer(const VkQueueFamilyProperties *family)
{
    const VkQueueFlags other = ~(VkQueueFlags)(VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT |
                                               VK_QUEUE_PROTECTED_BIT);
    return family->queueCount > 0 && (family->queueFlags & VK_QUEUE_TRANSFER_BIT) &&
           !(family->queueFlags & other);
}

static uint32_t find_compute(const VkQueueFamilyProperties *families, uint32_t count)
{
    uint32_t with_graphics = NO_FAMILY;
    for (uint32_t i = 0; i < count; i++) {
        if (!can_compute(&families[i]))
            continue;
        if (!(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT))
            return i;
        if (with_graphics == NO_FAMILY)
            with_graphics = i;
    }
    return with_graphics;
}

/* A plan in the making: how many queues of each family are taken. */
struct draft {
    const VkQueueFamilyProperties *families;
    uint32_t count;
    struct queue_plan *plan;
};

static uint32_t taken(const struct draft *draft, uint32_t family)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < draft->plan->count; i++)
        n += draft->plan->queues[i].family == family;
    return n;
}

static bool take(struct draft *draft, uint32_t family, enum vulkan_role role)
{
    const uint32_t index = taken(draft, family);
    if (index >= draft->families[family].queueCount)
        return false;
    struct queue_plan *plan = draft->plan;
    plan->queues[plan->count].family = family;
    plan->queues[plan->count].index = index;
    plan->role[role] = plan->count++;
    return true;
}

static bool take_matching(struct draft *draft, enum vulkan_role role,
                          bool (*match)(const VkQueueFamilyProperties *))
{
    for (uint32_t i = 0; i < draft->count; i++)
        if (match(&draft->families[i]) && take(draft, i, role))
            return true;
    return false;
}

static void take_transfer(struct draft *draft, uint32_t compute)
{
    struct queue_plan *plan = draft->plan;
    if (!take_matching(draft, VULKAN_ROLE_TRANSFER, only_transfer) &&
        !take(draft, compute, VULKAN_ROLE_TRANSFER))
        plan->role[VULKAN_ROLE_TRANSFER] = plan->role[VULKAN_ROLE_COMPUTE];
}

static void take_transfer_back(struct draft *draft)
{
    struct queue_plan *plan = draft->plan;
    const uint32_t transfer = plan->queues[plan->role[VULKAN_ROLE_TRANSFER]].family;
    if (!take(draft, transfer, VULKAN_ROLE_TRANSFER_BACK) &&
        !take_matching(draft, VULKAN_ROLE_TRANSFER_BACK, only_transfer) &&
        !take_matching(draft, VULKAN_ROLE_TRANSFER_BACK, can_transfer))
        plan->role[VULKAN_ROLE_TRANSFER_BACK] = plan->role[VULKAN_ROLE_TRANSFER];
}

bool queue_plan_make(const VkQueueFamilyProperties *families, uint32_t count,
                     enum vulkan_queue_choice choice, struct queue_plan *plan, const char **why_not)
{
    memset(plan, 0, sizeof(*plan));
    const uint32_t compute = find_compute(families, count);
    if (compute == NO_FAMILY) {
        *why_not = "no queue family can compute";
        return false;
    }
    struct draft draft = {.families = families, .count = count, .plan = plan};
    take(&draft, compute, VULKAN_ROLE_COMPUTE);
    if (choice == VULKAN_QUEUES_ONE)
        return true; /* all roles are queue 0 */
    take_transfer(&draft, compute);
    const uint32_t transfer = plan->queues[plan->role[VULKAN_ROLE_TRANSFER]].family;
    if (choice == VULKAN_QUEUES_DEDICATED && !only_transfer(&families[transfer])) {
        *why_not = "no queue family is for transfers alone";
        return false;
    }
    take_transfer_back(&draft);
    return true;
}

/* Software drivers that are known to run commands in order take TOP after them; BOTTOM costs 10 to
 * 40 us there. Anywhere else TOP would not wait for the work. */
static VkPipelineStageFlagBits end_stage(const struct vulkan_device *member)
{
    const VkDriverId driver = member->physical->driver_id;
    return driver == VK_DRIVER_ID_MESA_LLVMPIPE || driver == VK_DRIVER_ID_GOOGLE_SWIFTSHADER
               ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT
               : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
}

struct queue_scope queue_scope(const struct vulkan_device *member, const struct vulkan_queue *queue)
{
    struct queue_scope scope = {
        .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
        .writes = VK_ACCESS_TRANSFER_WRITE_BIT,
        .all = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
    };
    if (member->physical->queue_families[queue->family].queueFlags & VK_QUEUE_COMPUTE_BIT) {
        scope.stages |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
        scope.writes |= VK_ACCESS_SHADER_WRITE_BIT;
        scope.all |= VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                     VK_ACCESS_UNIFORM_READ_BIT | VK_ACCESS_INDIRECT_COMMAND_READ_BIT;
    }
    return scope;
}

void queue_begin_region(const struct vulkan_device *member, VkCommandBuffer commands,
                        VkQueryPool queries, uint32_t query)
{
    if (queries != VK_NULL_HANDLE)
        member->vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queries, query);
}

void queue_end_region(const struct vulkan_device *member, const struct vulkan_queue *queue,
                      VkCommandBuffer commands, VkQueryPool queries, uint32_t query)
{
    const struct queue_scope scope = queue_scope(member, queue);
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = scope.writes,
                                     .dstAccessMask = scope.all | VK_ACCESS_HOST_READ_BIT};
    member->vk.vkCmdPipelineBarrier(commands, scope.stages,
                                    scope.stages | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                                    NULL, 0, NULL);
    if (queries != VK_NULL_HANDLE)
        member->vk.vkCmdWriteTimestamp(commands, end_stage(member), queries, query);
}

VkResult queue_submit(const struct vulkan_device *member, struct vulkan_queue *queue,
                      const VkSubmitInfo *submit, VkFence fence)
{
    pthread_mutex_lock(&queue->lock);
    const VkResult result = member->vk.vkQueueSubmit(queue->handle, 1, submit, fence);
    pthread_mutex_unlock(&queue->lock);
    return result;
}

bool queue_wait(struct assay_device *device, const struct vulkan_device *member,
                const VkFence *fences, uint32_t count, const char *what, struct assay_error *error)
{
    VkResult result = member->vk.vkWaitForFences(member->handle, count, fences, VK_TRUE,
                                                 (uint64_t)device->wait_limit_ns);
    if (result != VK_SUCCESS)
        device->lost = true; /* whatever the reason, the work may still run */
    if (result == VK_TIMEOUT)
        return assay_fail(error, ASSAY_TIMEOUT, "%s did not end within %lld ms", what,
                          (long long)(device->wait_limit_ns / 1000000));
    if (result != VK_SUCCESS)
        return device_fail(device, result, "vkWaitForFences", error);
    result = member->vk.vkResetFences(member->handle, count, fences);
    if (result != VK_SUCCESS)
        return device_fail(device, result, "vkResetFences", error);
    return true;
}

bool queue_run(struct assay_device *device, struct vulkan_device *member,
               struct vulkan_queue *queue, VkCommandBuffer commands, VkFence fence,
               const char *what, struct assay_error *error)
{
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    const VkResult result = queue_submit(member, queue, &submit, fence);
    if (result != VK_SUCCESS)
        return device_fail(device, result, "vkQueueSubmit", error);
    return queue_wait(device, member, &fence, 1, what, error);
}
