/* SPDX-License-Identifier: MIT */
/* What of a device's extensions and features is enabled, and why the rest is not. */
#ifndef VULKAN_NEGOTIATION_H
#define VULKAN_NEGOTIATION_H

#include <assay/device.h>

#include "vulkan/instance.h"

#define FEATURES_EXTENSIONS_MAX 8

/* Chained structs point into each other: fill in place, never copy. */
struct features {
    VkPhysicalDeviceFeatures2 core; /* the head: pNext of VkDeviceCreateInfo */
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
#ifdef VK_KHR_cooperative_matrix
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR cooperative_matrix;
#endif
    VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR integer_dot;
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables;
    const char *extensions[FEATURES_EXTENSIONS_MAX]; /* to enable */
    uint32_t extension_count;
    const char *missing[ASSAY_FEATURE_COUNT]; /* NULL: there; else why not; static strings */
    bool host_import, calibrated_timestamps, memory_budget, host_query_reset;
};

/* Asks the device and keeps only what assay enables. The device must be usable (Vulkan 1.2). */
void features_negotiate(const struct vulkan_physical *physical, struct features *features);
/* Asks for a look into pipelines on top of that. NULL, or why the device grants none. */
const char *features_add_executables(const struct vulkan_physical *physical,
                                     struct features *features);
/* "fp16", "host_import", ...: the words of the inventory. */
const char *features_name(enum assay_feature feature);

#endif
