/* SPDX-License-Identifier: MIT */
#include "vulkan/timeline.h"

#include <stdlib.h>

struct timeline {
    struct assay_device *device;
    struct vulkan_device *member;
    VkSemaphore handle;
};

struct timeline *timeline_create(struct assay_device *device, unsigned member, const char *name,
                                 struct assay_error *error)
{
    struct timeline *timeline = calloc(1, sizeof(*timeline));
    if (!timeline) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a semaphore");
        return NULL;
    }
    timeline->device = device;
    timeline->member = device->members[member];
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkResult result = timeline->member->vk.vkCreateSemaphore(timeline->member->handle, &info, NULL,
                                                             &timeline->handle);
    if (result != VK_SUCCESS) {
        device_fail(device, result, "vkCreateSemaphore", error);
        free(timeline);
        return NULL;
    }
    device_name_object(timeline->member, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)timeline->handle,
                       name);
    return timeline;
}

void timeline_destroy(struct timeline **timeline)
{
    if (!*timeline)
        return;
    const struct timeline *self = *timeline;
    if (!self->device->lost)
        self->member->vk.vkDestroySemaphore(self->member->handle, self->handle, NULL);
    free(*timeline);
    *timeline = NULL;
}

VkSemaphore timeline_handle(const struct timeline *timeline)
{
    return timeline->handle;
}

bool timeline_reached(const struct timeline *timeline, uint64_t value, bool *reached,
                      struct assay_error *error)
{
    uint64_t now = 0;
    VkResult result = timeline->member->vk.vkGetSemaphoreCounterValue(timeline->member->handle,
                                                                      timeline->handle, &now);
    if (result != VK_SUCCESS)
        return device_fail(timeline->device, result, "vkGetSemaphoreCounterValue", error);
    *reached = now >= value;
    return true;
}

bool timeline_wait(const struct timeline *timeline, uint64_t value, const char *what,
                   struct assay_error *error)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &timeline->handle,
                                      .pValues = &value};
    struct assay_device *device = timeline->device;
    if (device->lost)
        return assay_fail(error, ASSAY_DEVICE_LOST,
                          "%s is not waited for: the device was lost before", what);
    VkResult result = timeline->member->vk.vkWaitSemaphores(timeline->member->handle, &info,
                                                            (uint64_t)device->wait_limit_ns);
    if (result == VK_SUCCESS)
        return true;
    device->lost = true; /* whatever the reason, the work may still run */
    if (result == VK_TIMEOUT)
        return assay_fail(error, ASSAY_TIMEOUT, "%s did not end within %lld ms", what,
                          (long long)(device->wait_limit_ns / 1000000));
    return device_fail(device, result, "vkWaitSemaphores", error);
}
