/* SPDX-License-Identifier: MIT */
#include "vulkan/texel.h"

/* By the number that SPIR-V gives an image format. */
static const struct texel_format formats[] = {
    [1] = {"rgba32f", VK_FORMAT_R32G32B32A32_SFLOAT, 16, false},
    [2] = {"rgba16f", VK_FORMAT_R16G16B16A16_SFLOAT, 8, false},
    [3] = {"r32f", VK_FORMAT_R32_SFLOAT, 4, false},
    [4] = {"rgba8", VK_FORMAT_R8G8B8A8_UNORM, 4, false},
    [5] = {"rgba8_snorm", VK_FORMAT_R8G8B8A8_SNORM, 4, false},
    [6] = {"rg32f", VK_FORMAT_R32G32_SFLOAT, 8, true},
    [7] = {"rg16f", VK_FORMAT_R16G16_SFLOAT, 4, true},
    [8] = {"r11f_g11f_b10f", VK_FORMAT_B10G11R11_UFLOAT_PACK32, 4, true},
    [9] = {"r16f", VK_FORMAT_R16_SFLOAT, 2, true},
    [10] = {"rgba16", VK_FORMAT_R16G16B16A16_UNORM, 8, true},
    [11] = {"rgb10_a2", VK_FORMAT_A2B10G10R10_UNORM_PACK32, 4, true},
    [12] = {"rg16", VK_FORMAT_R16G16_UNORM, 4, true},
    [13] = {"rg8", VK_FORMAT_R8G8_UNORM, 2, true},
    [14] = {"r16", VK_FORMAT_R16_UNORM, 2, true},
    [15] = {"r8", VK_FORMAT_R8_UNORM, 1, true},
    [16] = {"rgba16_snorm", VK_FORMAT_R16G16B16A16_SNORM, 8, true},
    [17] = {"rg16_snorm", VK_FORMAT_R16G16_SNORM, 4, true},
    [18] = {"rg8_snorm", VK_FORMAT_R8G8_SNORM, 2, true},
    [19] = {"r16_snorm", VK_FORMAT_R16_SNORM, 2, true},
    [20] = {"r8_snorm", VK_FORMAT_R8_SNORM, 1, true},
    [21] = {"rgba32i", VK_FORMAT_R32G32B32A32_SINT, 16, false},
    [22] = {"rgba16i", VK_FORMAT_R16G16B16A16_SINT, 8, false},
    [23] = {"rgba8i", VK_FORMAT_R8G8B8A8_SINT, 4, false},
    [24] = {"r32i", VK_FORMAT_R32_SINT, 4, false},
    [25] = {"rg32i", VK_FORMAT_R32G32_SINT, 8, true},
    [26] = {"rg16i", VK_FORMAT_R16G16_SINT, 4, true},
    [27] = {"rg8i", VK_FORMAT_R8G8_SINT, 2, true},
    [28] = {"r16i", VK_FORMAT_R16_SINT, 2, true},
    [29] = {"r8i", VK_FORMAT_R8_SINT, 1, true},
    [30] = {"rgba32ui", VK_FORMAT_R32G32B32A32_UINT, 16, false},
    [31] = {"rgba16ui", VK_FORMAT_R16G16B16A16_UINT, 8, false},
    [32] = {"rgba8ui", VK_FORMAT_R8G8B8A8_UINT, 4, false},
    [33] = {"r32ui", VK_FORMAT_R32_UINT, 4, false},
    [34] = {"rgb10_a2ui", VK_FORMAT_A2B10G10R10_UINT_PACK32, 4, true},
    [35] = {"rg32ui", VK_FORMAT_R32G32_UINT, 8, true},
    [36] = {"rg16ui", VK_FORMAT_R16G16_UINT, 4, true},
    [37] = {"rg8ui", VK_FORMAT_R8G8_UINT, 2, true},
    [38] = {"r16ui", VK_FORMAT_R16_UINT, 2, true},
    [39] = {"r8ui", VK_FORMAT_R8_UINT, 1, true},
};

const struct texel_format *texel_format(uint32_t spirv)
{
    if (spirv >= sizeof(formats) / sizeof(formats[0]) || formats[spirv].name == NULL)
        return NULL;
    return &formats[spirv];
}

/* "binding 'table' DETAIL" */
static bool refuse(const struct reflect_binding *binding, const char *detail,
                   struct assay_error *error)
{
    struct text name = {0};
    reflect_binding_add(&name, binding);
    assay_fail(error, ASSAY_UNSUPPORTED, "binding '%s' %s", text_string(&name), detail);
    text_free(&name);
    return false;
}

static bool refuse_format(const struct reflect_binding *binding, const char *device,
                          const char *why_not, struct assay_error *error)
{
    struct text detail = {0};
    text_addf(&detail, "is a texel buffer of %s, %s on %s",
              texel_format(binding->texel_format)->name, why_not, device);
    refuse(binding, text_string(&detail), error);
    text_free(&detail);
    return false;
}

bool texel_check(const struct reflect_binding *binding, const struct vulkan_device *member,
                 struct assay_error *error)
{
    if (binding->kind == REFLECT_UNIFORM_TEXEL_BUFFER)
        return refuse(binding,
                      "is a uniform texel buffer (samplerBuffer, textureBuffer), which declares no "
                      "format; use an imageBuffer with one, as in layout(rgba32f)",
                      error);
    if (binding->kind != REFLECT_STORAGE_TEXEL_BUFFER)
        return true;
    const struct texel_format *format = texel_format(binding->texel_format);
    if (format == NULL)
        return refuse(binding,
                      binding->texel_format == 0
                          ? "is an imageBuffer without a format; declare one, as in layout(rgba32f)"
                          : "is an imageBuffer of a format that texel buffers do not have; use one "
                            "of 8 to 32 bits a component",
                      error);
    if (format->extended && !member->texel_formats)
        return refuse_format(binding, member->physical->name,
                             "and shaderStorageImageExtendedFormats is not supported", error);
    VkFormatProperties properties;
    vkGetPhysicalDeviceFormatProperties(member->physical->handle, format->format, &properties);
    if (properties.bufferFeatures & VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT)
        return true;
    return refuse_format(binding, member->physical->name, "which storage texel buffers cannot have",
                         error);
}

bool texel_check_range(const struct reflect_binding *binding, uint64_t bytes,
                       const VkPhysicalDeviceLimits *limits, struct assay_error *error)
{
    const struct texel_format *format = texel_format(binding->texel_format);
    const uint64_t texels = bytes / format->bytes;
    if (bytes % format->bytes != 0)
        return assay_fail(error, ASSAY_INVALID,
                          "%llu bytes are no whole number of texels, a %s takes %u",
                          (unsigned long long)bytes, format->name, format->bytes);
    if (texels > limits->maxTexelBufferElements)
        return assay_fail(error, ASSAY_UNSUPPORTED,
                          "%llu texels of %s, maxTexelBufferElements is %u",
                          (unsigned long long)texels, format->name, limits->maxTexelBufferElements);
    return true;
}
