/* SPDX-License-Identifier: MIT */
/* For plugins that record raw Vulkan commands: the handles behind the objects. Never destroy them.
 * `member` is the index of the logical device in the set, 0 in the usual case. */
#ifndef ASSAY_VULKAN_H
#define ASSAY_VULKAN_H

#include <assay/command.h>

#include <vulkan/vulkan_core.h>

ASSAY_BEGIN_DECLARATIONS

ASSAY_API VkInstance assay_device_instance(const struct assay_device *device);
ASSAY_API VkPhysicalDevice assay_device_physical(const struct assay_device *device,
                                                 unsigned member);
ASSAY_API VkDevice assay_device_handle(const struct assay_device *device, unsigned member);
ASSAY_API PFN_vkVoidFunction assay_device_function(const struct assay_device *device,
                                                   unsigned member, const char *name);
/* VK_NULL_HANDLE for pageable buffers. */
ASSAY_API VkBuffer assay_buffer_handle(const struct assay_buffer *buffer, unsigned member);
/* The command buffer of the current device segment, in recording state, and the member it is
 * recorded for. */
ASSAY_API VkCommandBuffer assay_command_handle(struct assay_command *command, unsigned *member,
                                               struct assay_error *error);

ASSAY_END_DECLARATIONS

#endif
