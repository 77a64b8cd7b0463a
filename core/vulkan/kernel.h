/* SPDX-License-Identifier: MIT */
/* The inside of a kernel: shader, pipeline and layouts for each member. */
#ifndef VULKAN_KERNEL_H
#define VULKAN_KERNEL_H

#include <assay/kernel.h>

#include "vulkan/device.h"
#include "vulkan/reflect.h"
#include "vulkan/shader.h"

struct assay_kernel {
    struct assay_slot *slot;
    struct assay_device *device;
    struct assay_kernel *next;
    struct shader shader;
    int64_t build_ns; /* from the source to the pipeline of every member */
    struct arena *arena;
    struct reflection reflection;
    uint32_t local_size[3];
    VkDescriptorSetLayout *set_layouts[VULKAN_MEMBERS_MAX];
    uint32_t set_count;
    VkPipelineLayout layout[VULKAN_MEMBERS_MAX];
    VkPipeline pipeline[VULKAN_MEMBERS_MAX];
};

#endif
