/* SPDX-License-Identifier: MIT */
/* Filling a struct vulkan_physical; for instance.c. */
#ifndef VULKAN_PHYSICAL_H
#define VULKAN_PHYSICAL_H

#include "vulkan/instance.h"

/* `physical` is zeroed. A device that cannot serve is filled as far as it goes and marked unusable;
 * false is out of memory or a failing driver call. */
bool physical_fill(struct vulkan_physical *physical, VkPhysicalDevice handle,
                   struct assay_error *error);
/* What the validation layer needs to watch accesses, and the device has not; NULL: it has all.
 * Pure. */
const char *physical_unwatchable(const VkPhysicalDeviceFeatures *features);
void physical_free(struct vulkan_physical *physical);

#endif
