/* SPDX-License-Identifier: MIT */
#include "vulkan/kernel.h"

#include "base/abi.h"
#include "base/clock.h"
#include "vulkan/descriptors.h"
#include "vulkan/slot.h"
#include "vulkan/specialise.h"
#include "vulkan/texel.h"

#include <stdlib.h>
#include <string.h>

/* What a capability needs; FEATURE is only in the list where the floor (Vulkan 1.2) lacks it. */
static const struct {
    uint32_t capability;
    enum assay_feature feature;
    const char *words;
} needs[] = {
    {9, ASSAY_FEATURE_FP16, "16-bit floats"},
    {10, ASSAY_FEATURE_FP64, "64-bit floats"},
    {11, ASSAY_FEATURE_INT64, "64-bit integers"},
    {22, ASSAY_FEATURE_INT16, "16-bit integers"},
    {39, ASSAY_FEATURE_INT8, "8-bit integers"},
    {6016, ASSAY_FEATURE_INTEGER_DOT, "integer dot products"},
    {6017, ASSAY_FEATURE_INTEGER_DOT, "integer dot products"},
    {6018, ASSAY_FEATURE_INTEGER_DOT, "integer dot products"},
    {6019, ASSAY_FEATURE_INTEGER_DOT, "integer dot products"},
    {6022, ASSAY_FEATURE_COOPERATIVE_MATRIX, "cooperative matrices"},
};

static bool check_features(const struct assay_kernel *kernel, struct assay_error *error)
{
    const struct reflection *reflection = &kernel->reflection;
    for (size_t i = 0; i < reflection->capability_count; i++) {
        for (size_t j = 0; j < sizeof(needs) / sizeof(needs[0]); j++) {
            const char *why = NULL;
            if (reflection->capabilities[i] != needs[j].capability ||
                assay_device_has(kernel->device, needs[j].feature, &why))
                continue;
            return assay_fail(error, ASSAY_UNSUPPORTED, "kernel '%s' uses %s: %s",
                              kernel->shader.name, needs[j].words,
                              why != NULL ? why : "not on this device");
        }
    }
    return true;
}

static bool check_descriptors(const struct assay_kernel *kernel,
                              const struct vulkan_physical *physical, struct assay_error *error)
{
    const VkPhysicalDeviceLimits *limits = &physical->properties.limits;
    const struct reflection *reflection = &kernel->reflection;
    uint32_t counts[REFLECT_UNSUPPORTED] = {0}, sets = 0;
    for (size_t i = 0; i < reflection->binding_count; i++) {
        counts[reflection->bindings[i].kind]++;
        const uint32_t set = reflection->bindings[i].set; /* sorted: the last is the highest */
        sets = set < UINT32_MAX ? set + 1 : set;
    }
    const struct {
        uint32_t used, max;
        const char *what, *limit;
    } rows[] = {
        {sets, limits->maxBoundDescriptorSets, "descriptor sets", "maxBoundDescriptorSets"},
        {counts[REFLECT_STORAGE_BUFFER], limits->maxPerStageDescriptorStorageBuffers,
         "storage buffers", "maxPerStageDescriptorStorageBuffers"},
        {counts[REFLECT_UNIFORM_BUFFER], limits->maxPerStageDescriptorUniformBuffers,
         "uniform buffers", "maxPerStageDescriptorUniformBuffers"},
        {counts[REFLECT_STORAGE_TEXEL_BUFFER], limits->maxPerStageDescriptorStorageImages,
         "storage texel buffers", "maxPerStageDescriptorStorageImages"},
        {(uint32_t)reflection->binding_count, limits->maxPerStageResources, "buffers",
         "maxPerStageResources"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].used > rows[i].max)
            return assay_fail(error, ASSAY_UNSUPPORTED, "kernel '%s' uses %u %s, %s is %u",
                              kernel->shader.name, rows[i].used, rows[i].what, rows[i].limit,
                              rows[i].max);
    return true;
}

static bool check_texels(const struct assay_kernel *kernel, const struct vulkan_device *member,
                         struct assay_error *error)
{
    for (size_t i = 0; i < kernel->reflection.binding_count; i++)
        if (!texel_check(&kernel->reflection.bindings[i], member, error)) {
            error_prefix(error, "kernel '%s'", kernel->shader.name);
            return false;
        }
    return true;
}

static bool check_interface(const struct assay_kernel *kernel, struct assay_error *error)
{
    const struct reflection *reflection = &kernel->reflection;
    const struct assay_limits *limits = &kernel->device->limits;
    for (size_t i = 0; i < reflection->binding_count; i++) {
        const struct reflect_binding *binding = &reflection->bindings[i];
        if (binding->kind == REFLECT_UNSUPPORTED)
            return assay_fail(error, ASSAY_UNSUPPORTED,
                              "kernel '%s': set %u, binding %u is no buffer; kernels may bind "
                              "single buffers, no images, samplers or arrays of descriptors",
                              kernel->shader.name, binding->set, binding->binding);
        if (i > 0 && binding[-1].set == binding->set && binding[-1].binding == binding->binding)
            return assay_fail(error, ASSAY_INVALID,
                              "kernel '%s': two blocks share set %u, binding %u",
                              kernel->shader.name, binding->set, binding->binding);
    }
    for (unsigned m = 0; m < kernel->device->member_count; m++)
        if (!check_texels(kernel, kernel->device->members[m], error) ||
            !check_descriptors(kernel, kernel->device->members[m]->physical, error))
            return false;
    if (reflection->push_bytes > limits->max_push_bytes)
        return assay_fail(error, ASSAY_UNSUPPORTED,
                          "kernel '%s': its push constants take %u B, maxPushConstantsSize is %u",
                          kernel->shader.name, reflection->push_bytes, limits->max_push_bytes);
    return true;
}

static bool check_local_size(const struct assay_kernel *kernel, struct assay_error *error)
{
    const struct assay_limits *limits = &kernel->device->limits;
    uint64_t total = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t size = kernel->local_size[i];
        if (size == 0)
            return assay_fail(error, ASSAY_INVALID, "kernel '%s': the local size in %c is 0",
                              kernel->shader.name, "xyz"[i]);
        if (size > limits->max_group_size[i])
            return assay_fail(error, ASSAY_UNSUPPORTED,
                              "kernel '%s': local size %u in %c, maxComputeWorkGroupSize[%d] is %u",
                              kernel->shader.name, size, "xyz"[i], i, limits -> max_group_size[i]);
        total *= size;
        if (total > limits->max_group_invocations)
            return assay_fail(error, ASSAY_UNSUPPORTED,
                              "kernel '%s': %u x %u x %u invocations in a workgroup, "
                              "maxComputeWorkGroupInvocations is %u",
                              kernel->shader.name, kernel->local_size[0], kernel->local_size[1],
                              kernel->local_size[2], limits->max_group_invocations);
    }
    return true;
}

static bool take_constants(struct assay_kernel *kernel, const struct assay_kernel_params *params,
                           struct specialisation *out, struct assay_error *error)
{
    if (!specialise(kernel->shader.name, &kernel->reflection, params->constants,
                    params->constant_count, kernel->arena, out, error))
        return false;
    memcpy(kernel->local_size, out->local_size, sizeof(kernel->local_size));
    return true;
}

static bool check_shared(const struct assay_kernel *kernel, const struct specialisation *constants,
                         struct assay_error *error)
{
    const uint64_t limit = kernel->device->limits.max_shared_bytes;
    if (constants->shared_bytes <= limit)
        return true;
    return assay_fail(error, ASSAY_UNSUPPORTED,
                      "kernel '%s': its shared variables take %llu B, maxComputeSharedMemorySize "
                      "is %llu",
                      kernel->shader.name, (unsigned long long)constants->shared_bytes,
                      (unsigned long long)limit);
}

static bool create_set_layout(struct assay_kernel *kernel, unsigned m, uint32_t set,
                              VkDescriptorSetLayoutBinding *rows, struct assay_error *error)
{
    struct vulkan_device *member = kernel->device->members[m];
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .pBindings = rows};
    for (size_t i = 0; i < kernel->reflection.binding_count; i++) {
        const struct reflect_binding *binding = &kernel->reflection.bindings[i];
        if (binding->set == set)
            rows[info.bindingCount++] = (VkDescriptorSetLayoutBinding){
                .binding = binding->binding,
                .descriptorType = descriptors_type(binding->kind),
                .descriptorCount = 1,
                .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
            };
    }
    VkResult result = member->vk.vkCreateDescriptorSetLayout(member->handle, &info, NULL,
                                                             &kernel->set_layouts[m][set]);
    if (result != VK_SUCCESS) {
        kernel->set_layouts[m][set] = VK_NULL_HANDLE;
        return device_fail(kernel->device, result, "vkCreateDescriptorSetLayout", error);
    }
    device_name_object(member, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT,
                       (uint64_t)kernel->set_layouts[m][set], kernel->shader.name);
    return true;
}

static bool create_layout(struct assay_kernel *kernel, unsigned m, struct assay_error *error)
{
    struct vulkan_device *member = kernel->device->members[m];
    size_t count = kernel->reflection.binding_count;
    VkDescriptorSetLayoutBinding *rows = arena_alloc(kernel->arena, (count + 1) * sizeof(*rows));
    kernel->set_layouts[m] = arena_alloc(kernel->arena,
                                         (kernel->set_count + 1) * sizeof(**kernel->set_layouts));
    if (rows == NULL || kernel->set_layouts[m] == NULL)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a kernel");
    for (uint32_t set = 0; set < kernel->set_count; set++)
        if (!create_set_layout(kernel, m, set, rows, error))
            return false;
    const VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                       .size = (kernel->reflection.push_bytes + 3u) & ~3u};
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = kernel->set_count,
        .pSetLayouts = kernel->set_layouts[m],
        .pushConstantRangeCount = range.size > 0,
        .pPushConstantRanges = &range,
    };
    VkResult result = member->vk.vkCreatePipelineLayout(member->handle, &info, NULL,
                                                        &kernel->layout[m]);
    if (result != VK_SUCCESS) {
        kernel->layout[m] = VK_NULL_HANDLE;
        return device_fail(kernel->device, result, "vkCreatePipelineLayout", error);
    }
    device_name_object(member, VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)kernel->layout[m],
                       kernel->shader.name);
    return true;
}

static bool create_pipeline(struct assay_kernel *kernel, unsigned m,
                            const struct specialisation *constants, struct assay_error *error)
{
    struct vulkan_device *member = kernel->device->members[m];
    const VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = kernel->shader.word_count * sizeof(uint32_t),
        .pCode = kernel->shader.words,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = member->no_executables
                     ? 0
                     : VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                           VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = kernel->reflection.entry,
                  .pSpecializationInfo = constants->info.mapEntryCount > 0 ? &constants->info
                                                                           : NULL},
        .layout = kernel->layout[m],
    };
    VkResult result = member->vk.vkCreateShaderModule(member->handle, &module_info, NULL,
                                                      &info.stage.module);
    if (result != VK_SUCCESS)
        return device_fail(kernel->device, result, "vkCreateShaderModule", error);
    device_name_object(member, VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)info.stage.module,
                       kernel->shader.name);
    result = member->vk.vkCreateComputePipelines(member->handle, VK_NULL_HANDLE, 1, &info, NULL,
                                                 &kernel->pipeline[m]);
    member->vk.vkDestroyShaderModule(member->handle, info.stage.module, NULL);
    if (result != VK_SUCCESS) {
        kernel->pipeline[m] = VK_NULL_HANDLE;
        device_fail(kernel->device, result, "vkCreateComputePipelines", error);
        error_prefix(error, "kernel '%s'", kernel->shader.name);
        return false;
    }
    device_name_object(member, VK_OBJECT_TYPE_PIPELINE, (uint64_t)kernel->pipeline[m],
                       kernel->shader.name);
    return true;
}

static bool load(struct assay_kernel *kernel, const struct assay_kernel_params *params,
                 struct assay_error *error)
{
    const struct shader_params shader = {
        .source = params->source,
        .text = params->text,
        .defines = params->defines,
        .define_count = params->define_count,
        .search = kernel->slot->search,
    };
    kernel->arena = arena_create();
    if (kernel->arena == NULL)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a kernel");
    if (!shader_load(&shader, &kernel->shader, error))
        return false;
    if (!reflect_spirv(kernel->shader.words, kernel->shader.word_count, kernel->arena,
                       &kernel->reflection, error)) {
        error_prefix(error, "kernel '%s'", kernel->shader.name);
        return false;
    }
    const struct reflection *reflection = &kernel->reflection;
    if (!check_features(kernel, error) || !check_interface(kernel, error))
        return false;
    if (reflection->binding_count > 0)
        kernel->set_count = reflection->bindings[reflection->binding_count - 1].set + 1;
    return true;
}

struct assay_kernel *assay_kernel_create(struct assay_slot *slot,
                                         const struct assay_kernel_params *given,
                                         struct assay_error *error)
{
    struct specialisation constants;
    struct assay_kernel_params own, *params = &own;
    if (!abi_copy(&own, sizeof(own), ABI_END(struct assay_kernel_params, define_count), given,
                  "assay_kernel_params", error))
        return NULL;
    if (slot->device == NULL) {
        assay_fail(error, ASSAY_INVALID, "a workload without a device cannot have kernels");
        return NULL;
    }
    struct assay_kernel *kernel = calloc(1, sizeof(*kernel));
    if (kernel == NULL) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a kernel");
        return NULL;
    }
    kernel->slot = slot;
    kernel->device = slot->device;
    const int64_t begin_ns = clock_now(clock_monotonic());
    if (!load(kernel, params, error) || !take_constants(kernel, params, &constants, error) ||
        !check_local_size(kernel, error) || !check_shared(kernel, &constants, error))
        goto fail;
    for (unsigned m = 0; m < kernel->device->member_count; m++)
        if (!create_layout(kernel, m, error) || !create_pipeline(kernel, m, &constants, error))
            goto fail;
    kernel->build_ns = clock_now(clock_monotonic()) - begin_ns;
    kernel->next = slot->kernels;
    slot->kernels = kernel;
    return kernel;
fail:
    assay_kernel_destroy(&kernel);
    return NULL;
}

/* Recordings that use it were waited for when they ended; after a lost device nothing is freed. */
static void destroy_member(struct assay_kernel *kernel, unsigned m)
{
    struct vulkan_device *member = kernel->device->members[m];
    member->vk.vkDestroyPipeline(member->handle, kernel->pipeline[m], NULL);
    member->vk.vkDestroyPipelineLayout(member->handle, kernel->layout[m], NULL);
    for (uint32_t set = 0; kernel->set_layouts[m] != NULL && set < kernel->set_count; set++)
        member->vk.vkDestroyDescriptorSetLayout(member->handle, kernel->set_layouts[m][set], NULL);
}

void assay_kernel_destroy(struct assay_kernel **kernel)
{
    if (kernel == NULL || *kernel == NULL)
        return;
    struct assay_kernel *gone = *kernel;
    for (struct assay_kernel **at = &gone->slot->kernels; *at != NULL; at = &(*at)->next)
        if (*at == gone) {
            *at = gone->next;
            break;
        }
    if (!gone->device->lost)
        for (unsigned m = 0; m < gone->device->member_count; m++)
            destroy_member(gone, m);
    shader_free(&gone->shader);
    arena_destroy(&gone->arena);
    free(gone);
    *kernel = NULL;
}

void assay_kernel_local_size(const struct assay_kernel *kernel, uint32_t local_size[3])
{
    memcpy(local_size, kernel->local_size, sizeof(kernel->local_size));
}
