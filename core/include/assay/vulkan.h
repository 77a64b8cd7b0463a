/* SPDX-License-Identifier: MIT */
/* For plugins that record raw Vulkan commands: the handles behind the objects. Never destroy them.
 * `member` is the index of the logical device in the set, 0 in the usual case. Handles are valid as
 * long as the object. Any thread, but for assay_command_handle; Vulkan's own rules of external
 * synchronisation hold: assay uses its queues from the thread that calls the hooks. */
#ifndef ASSAY_VULKAN_H
#define ASSAY_VULKAN_H

#include <assay/command.h>

#include <vulkan/vulkan_core.h>

ASSAY_BEGIN_DECLARATIONS

/* Of the logical device with the index `member`. */
ASSAY_API VkInstance assay_device_instance(const struct assay_device *device);
ASSAY_API VkPhysicalDevice assay_device_physical(const struct assay_device *device,
                                                 unsigned member);
ASSAY_API VkDevice assay_device_handle(const struct assay_device *device, unsigned member);
/* vkGetDeviceProcAddr of that device (index `member`), else vkGetInstanceProcAddr of its instance;
 * NULL for what neither knows. The function is valid as long as the device. */
ASSAY_API PFN_vkVoidFunction assay_device_function(const struct assay_device *device,
                                                   unsigned member, const char *name);
/* On the logical device with the index `member`; VK_NULL_HANDLE for pageable buffers. */
ASSAY_API VkBuffer assay_buffer_handle(const struct assay_buffer *buffer, unsigned member);
/* The command buffer of the current device segment, in recording state and valid until the next
 * call on `command`; into `member` goes the index of the logical device that it is recorded for.
 * The hook's thread. VK_NULL_HANDLE on failure: ASSAY_OUT_OF_MEMORY, or what the driver says. */
ASSAY_API VkCommandBuffer assay_command_handle(struct assay_command *command, unsigned *member,
                                               struct assay_error *error);

ASSAY_END_DECLARATIONS

#endif
