/* SPDX-License-Identifier: MIT */
#include "vulkan/negotiation.h"

#include "vulkan/shader.h"

#include <string.h>

static const char *const names[ASSAY_FEATURE_COUNT] = {
    [ASSAY_FEATURE_FP16] = "fp16",
    [ASSAY_FEATURE_FP64] = "fp64",
    [ASSAY_FEATURE_INT8] = "int8",
    [ASSAY_FEATURE_INT16] = "int16",
    [ASSAY_FEATURE_INT64] = "int64",
    [ASSAY_FEATURE_HOST_IMPORT] = "host_import",
    [ASSAY_FEATURE_COOPERATIVE_MATRIX] = "cooperative_matrix",
    [ASSAY_FEATURE_INTEGER_DOT] = "integer_dot",
};

const char *features_name(enum assay_feature feature)
{
    return (unsigned)feature < ASSAY_FEATURE_COUNT ? names[feature] : "unknown";
}

static bool take_extension(const struct vulkan_physical *physical, struct features *features,
                           const char *name)
{
    if (!vulkan_physical_has_extension(physical, name) ||
        features->extension_count == FEATURES_EXTENSIONS_MAX)
        return false;
    features->extensions[features->extension_count++] = name;
    return true;
}

static void chain(struct features *features, void *link, VkStructureType type)
{
    VkBaseOutStructure *base = link;
    base->sType = type;
    base->pNext = features->v12.pNext;
    features->v12.pNext = base;
}

/* Which extensions that have features the device has. */
struct known {
    bool cooperative_matrix, integer_dot;
};

static void query(const struct vulkan_physical *physical, struct features *features,
                  const struct known *known)
{
    features->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features->core.pNext = &features->v11;
    features->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    features->v11.pNext = &features->v12;
    features->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
#ifdef VK_KHR_cooperative_matrix
    if (known->cooperative_matrix)
        chain(features, &features->cooperative_matrix,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
#endif
    if (known->integer_dot)
        chain(features, &features->integer_dot,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR);
    vkGetPhysicalDeviceFeatures2(physical->handle, &features->core);
    features->v12.pNext = NULL; /* what is granted is chained again */
}

/* Only what shaders of workloads use; robust access and the like would change what is measured. */
static void keep_wanted(struct features *features)
{
    const VkPhysicalDeviceFeatures core = features->core.features;
    const VkPhysicalDeviceVulkan11Features v11 = features->v11;
    const VkPhysicalDeviceVulkan12Features v12 = features->v12;

    features->core.features = (VkPhysicalDeviceFeatures){
        .shaderFloat64 = core.shaderFloat64,
        .shaderInt64 = core.shaderInt64,
        .shaderInt16 = core.shaderInt16,
        .shaderStorageImageExtendedFormats = core.shaderStorageImageExtendedFormats,
        .shaderStorageImageReadWithoutFormat = core.shaderStorageImageReadWithoutFormat,
        .shaderStorageImageWriteWithoutFormat = core.shaderStorageImageWriteWithoutFormat,
    };
    features->v11 = (VkPhysicalDeviceVulkan11Features){
        .sType = v11.sType,
        .pNext = v11.pNext,
        .storageBuffer16BitAccess = v11.storageBuffer16BitAccess,
        .uniformAndStorageBuffer16BitAccess = v11.uniformAndStorageBuffer16BitAccess,
        .storagePushConstant16 = v11.storagePushConstant16,
    };
    features->v12 = (VkPhysicalDeviceVulkan12Features){
        .sType = v12.sType,
        .storageBuffer8BitAccess = v12.storageBuffer8BitAccess,
        .uniformAndStorageBuffer8BitAccess = v12.uniformAndStorageBuffer8BitAccess,
        .storagePushConstant8 = v12.storagePushConstant8,
        .shaderBufferInt64Atomics = v12.shaderBufferInt64Atomics,
        .shaderSharedInt64Atomics = v12.shaderSharedInt64Atomics,
        .shaderFloat16 = v12.shaderFloat16,
        .shaderInt8 = v12.shaderInt8,
        .scalarBlockLayout = v12.scalarBlockLayout,
        .uniformBufferStandardLayout = v12.uniformBufferStandardLayout,
        .shaderSubgroupExtendedTypes = v12.shaderSubgroupExtendedTypes,
        .hostQueryReset = v12.hostQueryReset,
        .timelineSemaphore = v12.timelineSemaphore,
        .vulkanMemoryModel = v12.vulkanMemoryModel,
        .vulkanMemoryModelDeviceScope = v12.vulkanMemoryModelDeviceScope,
    };
}

static const char *unless(VkBool32 first, const char *first_reason, VkBool32 second,
                          const char *second_reason)
{
    if (!first)
        return first_reason;
    return second ? NULL : second_reason;
}

static const char *cooperative_matrix_reason(const struct features *features,
                                             const struct known *known)
{
    if (!known->cooperative_matrix)
        return "VK_KHR_cooperative_matrix is not there";
#ifdef VK_KHR_cooperative_matrix
    const char *missing = unless(
        features->cooperative_matrix.cooperativeMatrix, "cooperativeMatrix is not supported",
        features->v12.vulkanMemoryModel, "vulkanMemoryModel is not supported");
    if (missing)
        return missing;
    return glsl_knows("GL_KHR_cooperative_matrix")
               ? NULL
               : "this build's glslang does not know GL_KHR_cooperative_matrix";
#else
    (void)features;
    return "this build's Vulkan headers (before 1.3.255) do not know VK_KHR_cooperative_matrix";
#endif
}

static void keep_reasons(struct features *features, const struct known *known)
{
    const VkPhysicalDeviceFeatures *core = &features->core.features;
    const VkPhysicalDeviceVulkan11Features *v11 = &features->v11;
    const VkPhysicalDeviceVulkan12Features *v12 = &features->v12;
    const char **missing = features->missing;

    missing[ASSAY_FEATURE_FP16] = unless(v12->shaderFloat16, "shaderFloat16 is not supported",
                                         v11->storageBuffer16BitAccess,
                                         "storageBuffer16BitAccess is not supported");
    missing[ASSAY_FEATURE_FP64] = unless(core->shaderFloat64, "shaderFloat64 is not supported",
                                         VK_TRUE, NULL);
    missing[ASSAY_FEATURE_INT8] = unless(v12->shaderInt8, "shaderInt8 is not supported",
                                         v12->storageBuffer8BitAccess,
                                         "storageBuffer8BitAccess is not supported");
    missing[ASSAY_FEATURE_INT16] = unless(core->shaderInt16, "shaderInt16 is not supported",
                                          v11->storageBuffer16BitAccess,
                                          "storageBuffer16BitAccess is not supported");
    missing[ASSAY_FEATURE_INT64] = unless(core->shaderInt64, "shaderInt64 is not supported",
                                          VK_TRUE, NULL);
    missing[ASSAY_FEATURE_HOST_IMPORT] = features->host_import
                                             ? NULL
                                             : "VK_EXT_external_memory_host is not there";
    missing[ASSAY_FEATURE_COOPERATIVE_MATRIX] = cooperative_matrix_reason(features, known);
    missing[ASSAY_FEATURE_INTEGER_DOT] = unless(
        known->integer_dot, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME " is not there",
        features->integer_dot.shaderIntegerDotProduct, "shaderIntegerDotProduct is not supported");
}

/* Extensions whose features were granted, and their features. */
static void take_granted(const struct vulkan_physical *physical, struct features *features)
{
#ifdef VK_KHR_cooperative_matrix
    if (!features->missing[ASSAY_FEATURE_COOPERATIVE_MATRIX]) {
        take_extension(physical, features, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
        features->cooperative_matrix.cooperativeMatrixRobustBufferAccess = VK_FALSE;
        chain(features, &features->cooperative_matrix, features->cooperative_matrix.sType);
    }
#endif
    if (!features->missing[ASSAY_FEATURE_INTEGER_DOT]) {
        take_extension(physical, features, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
        chain(features, &features->integer_dot, features->integer_dot.sType);
    }
}

void features_negotiate(const struct vulkan_physical *physical, struct features *features)
{
    memset(features, 0, sizeof(*features));
    const struct known known = {
        .cooperative_matrix = vulkan_physical_has_extension(physical, "VK_KHR_cooperative_matrix"),
        .integer_dot = vulkan_physical_has_extension(
            physical, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME),
    };
    query(physical, features, &known);
    keep_wanted(features);
    features->host_import = physical->import_alignment_bytes > 0 &&
                            take_extension(physical, features,
                                           VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    features->calibrated_timestamps = take_extension(physical, features,
                                                     VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
    features->memory_budget = take_extension(physical, features,
                                             VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    features->host_query_reset = features->v12.hostQueryReset;
    keep_reasons(features, &known);
    take_granted(physical, features);
}

const char *features_add_executables(const struct vulkan_physical *physical,
                                     struct features *features)
{
    if (!vulkan_physical_has_extension(physical,
                                       VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME))
        return VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME " is not there";
    features->executables.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
    VkPhysicalDeviceFeatures2 query = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                       .pNext = &features->executables};
    vkGetPhysicalDeviceFeatures2(physical->handle, &query);
    if (!features->executables.pipelineExecutableInfo)
        return "pipelineExecutableInfo is not supported";
    if (!take_extension(physical, features, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME))
        return "no room for one more extension";
    features->executables.pNext = features->core.pNext;
    features->core.pNext = &features->executables;
    return NULL;
}
