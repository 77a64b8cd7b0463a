/* SPDX-License-Identifier: MIT */
/* Storage texel buffers: what a shader reads and writes as an `imageBuffer`, texels of a format
 * that it declares. */
#ifndef VULKAN_TEXEL_H
#define VULKAN_TEXEL_H

#include "vulkan/device.h"
#include "vulkan/reflect.h"

struct texel_format {
    const char *name; /* as GLSL has it */
    VkFormat format;
    uint32_t bytes; /* of a texel */
    bool extended;  /* needs shaderStorageImageExtendedFormats */
};
/* Of an image format's number in SPIR-V; NULL: not declared, or none that texel buffers have. */
const struct texel_format *texel_format(uint32_t spirv);
/* Whether the device can bind it, as far as the shader tells; true for what is no texel buffer.
 * ASSAY_UNSUPPORTED says what is missing, with the binding's name. */
bool texel_check(const struct reflect_binding *binding, const struct vulkan_device *member,
                 struct assay_error *error);
/* Whether `bytes` of a buffer can be bound to it: ASSAY_INVALID for what is not whole texels,
 * ASSAY_UNSUPPORTED with limit and value for too many. */
bool texel_check_range(const struct reflect_binding *binding, uint64_t bytes,
                       const VkPhysicalDeviceLimits *limits, struct assay_error *error);

#endif
