/* SPDX-License-Identifier: MIT */
/* Memory kinds by what people mean -> memory types. */
#ifndef VULKAN_MEMORY_H
#define VULKAN_MEMORY_H

#include <assay/buffer.h>

#include "vulkan/device.h"

const char *memory_name(enum assay_memory memory); /* "device", "pinned", ... */
/* The memory type for a kind among the allowed bits, or -1 with the reason. Pure on the physical
 * device's facts. */
int memory_type_find(const struct vulkan_physical *physical, enum assay_memory memory,
                     uint32_t allowed_bits, const char **why_not);
/* Checks one allocation, as the driver rounds it, against the type's heap and
 * maxMemoryAllocationSize: ASSAY_UNSUPPORTED naming limit and value. */
bool memory_check_allocation(const struct vulkan_physical *physical, uint32_t type,
                             enum assay_memory memory, uint64_t bytes, struct assay_error *error);
/* Checks a size against allocation, buffer and heap limits: ASSAY_UNSUPPORTED naming limit and
 * value. */
bool memory_check_size(const struct assay_device *device, enum assay_memory memory, uint64_t bytes,
                       struct assay_error *error);

/* Whether there is room for `bytes` more of this type beside the buffers that the device holds:
 * ASSAY_OUT_OF_MEMORY, foreseen, where all together would be over the heap or, where the heap is
 * host memory, over what the host has left (os_memory_available). */
bool memory_check_left(const struct vulkan_device *device, uint32_t type, enum assay_memory memory,
                       uint64_t bytes, uint64_t host_left_bytes, struct assay_error *error);
/* The same for host memory of the process. */
bool memory_check_host_left(enum assay_memory memory, uint64_t bytes, uint64_t host_left_bytes,
                            struct assay_error *error);

#endif
