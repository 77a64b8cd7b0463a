/* SPDX-License-Identifier: MIT */
#include "vulkan/device.h"

#include <assay/vulkan.h>

#include "vulkan/fill_device.h"
#include "vulkan/matrix.h"
#include "vulkan/negotiation.h"
#include "vulkan/queue.h"
#include "vulkan/staging.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_LIMIT_NS INT64_C(10000000000)

/* Families in use, each once, with the number of their queues. */
struct families {
    uint32_t count;
    VkDeviceQueueCreateInfo infos[VULKAN_ROLE_COUNT];
};

static const float priorities[VULKAN_ROLE_COUNT] = {1.0F, 1.0F, 1.0F};

static void collect_families(const struct queue_plan *plan, struct families *families)
{
    memset(families, 0, sizeof(*families));
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t at = 0;
        while (at < families->count &&
               families->infos[at].queueFamilyIndex != plan->queues[i].family)
            at++;
        VkDeviceQueueCreateInfo *info = &families->infos[at];
        if (at == families->count) {
            families->count++;
            info->sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
            info->queueFamilyIndex = plan->queues[i].family;
            info->pQueuePriorities = priorities;
        }
        info->queueCount++;
    }
}

static bool create_handle(struct vulkan_device *member, const struct families *families,
                          const struct features *features, struct assay_error *error)
{
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features->core,
        .queueCreateInfoCount = families->count,
        .pQueueCreateInfos = families->infos,
        .enabledExtensionCount = features->extension_count,
        .ppEnabledExtensionNames = features->extensions,
    };
    const VkResult result = vkCreateDevice(member->physical->handle, &info, NULL, &member->handle);
    if (result != VK_SUCCESS) {
        member->handle = VK_NULL_HANDLE;
        device_fail(NULL, result, "vkCreateDevice", error);
        error_prefix(error, "%s", member->physical->name);
        return false;
    }
    volkLoadDeviceTable(&member->vk, member->handle);
    return true;
}

static void keep_features(struct vulkan_device *member, const struct features *features)
{
    memcpy(member->missing, features->missing, sizeof(member->missing));
    member->host_import = features->host_import;
    member->calibrated_timestamps = features->calibrated_timestamps;
    member->memory_budget = features->memory_budget;
    member->timelines = features->v12.timelineSemaphore;
    member->texel_formats = features->core.features.shaderStorageImageExtendedFormats;
}

static bool create_queue(struct vulkan_device *member, uint32_t at, const struct queue_plan *plan,
                         bool host_query_reset, struct assay_error *error)
{
    struct vulkan_queue *queue = &member->queues[at];
    if (pthread_mutex_init(&queue->lock, NULL) != 0)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for a queue");
    member->queue_count = at + 1;
    queue->family = plan->queues[at].family;
    queue->index = plan->queues[at].index;
    queue->empty_region_ns = -1;
    queue->tick_ns = (double)member->physical->properties.limits.timestampPeriod;
    queue->step_ns = queue->tick_ns > 1 ? (int64_t)ceil(queue->tick_ns) : 1;
    /* Queries are reset by the host alone, since a transfer queue cannot. */
    if (host_query_reset && queue->tick_ns > 0)
        queue->timestamp_bits = member->physical->queue_families[queue->family].timestampValidBits;
    member->vk.vkGetDeviceQueue(member->handle, queue->family, queue->index, &queue->handle);
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = queue->family,
    };
    const VkResult result = member->vk.vkCreateCommandPool(member->handle, &info, NULL,
                                                           &queue->pool);
    if (result != VK_SUCCESS) {
        queue->pool = VK_NULL_HANDLE;
        return device_fail(NULL, result, "vkCreateCommandPool", error);
    }
    char name[32];
    snprintf(name, sizeof(name), "queue %u.%u", (unsigned)queue->family, (unsigned)queue->index);
    device_name_object(member, VK_OBJECT_TYPE_QUEUE, (uint64_t)(uintptr_t)queue->handle, name);
    device_name_object(member, VK_OBJECT_TYPE_COMMAND_POOL, (uint64_t)queue->pool, name);
    return true;
}

static bool create_queues(struct vulkan_device *member, const struct queue_plan *plan,
                          const struct families *families, bool host_query_reset,
                          struct assay_error *error)
{
    memcpy(member->role, plan->role, sizeof(member->role));
    member->family_count = families->count;
    for (uint32_t i = 0; i < families->count; i++)
        member->families[i] = families->infos[i].queueFamilyIndex;
    for (uint32_t i = 0; i < plan->count; i++)
        if (!create_queue(member, i, plan, host_query_reset, error))
            return false;
    return true;
}

static void member_destroy(struct vulkan_device **member)
{
    struct vulkan_device *self = *member;
    *member = NULL;
    if (!self)
        return;
    if (self->handle) {
        for (uint32_t i = 0; i < self->queue_count; i++) {
            self->vk.vkDestroyCommandPool(self->handle, self->queues[i].pool, NULL);
            pthread_mutex_destroy(&self->queues[i].lock);
        }
        self->vk.vkDestroyDevice(self->handle, NULL);
    }
    free(self);
}

static struct vulkan_device *member_create(struct vulkan_instance *instance, size_t index,
                                           const struct vulkan_device_params *params,
                                           struct assay_error *error)
{
    const struct vulkan_physical *physical = vulkan_physical_at(instance, index);
    if (!physical) {
        assay_fail(error, ASSAY_NO_DEVICE, "device %zu: there are %zu devices", index,
                   vulkan_physical_count(instance));
        return NULL;
    }
    if (physical->unusable) {
        assay_fail(error, ASSAY_NO_DEVICE, "%s cannot be used: %s", physical->name,
                   physical->unusable);
        return NULL;
    }
    struct queue_plan plan;
    const char *why_not = NULL;
    if (!queue_plan_make(physical->queue_families, physical->queue_family_count, params->queues,
                         &plan, &why_not)) {
        assay_fail(error, ASSAY_UNSUPPORTED, "%s: %s", physical->name, why_not);
        return NULL;
    }
    struct vulkan_device *member = calloc(1, sizeof(*member));
    if (!member) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for a device");
        return NULL;
    }
    struct features features;
    struct families families;
    features_negotiate(physical, &features);
    member->no_executables = params->executables ? features_add_executables(physical, &features)
                                                 : "it was not asked for";
    collect_families(&plan, &families);
    member->physical = physical;
    member->debug_utils = vulkan_instance_has_debug_utils(instance);
    keep_features(member, &features);
    if (create_handle(member, &families, &features, error) &&
        create_queues(member, &plan, &families, features.host_query_reset, error)) {
        device_name_object(member, VK_OBJECT_TYPE_DEVICE, (uint64_t)(uintptr_t)member->handle,
                           "device");
        return member;
    }
    member_destroy(&member);
    return NULL;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Limits shrink, alignments grow. */
static void narrow(struct assay_limits *all, const struct assay_limits *one)
{
    all->max_allocation_bytes = least(all->max_allocation_bytes, one->max_allocation_bytes);
    all->max_storage_range_bytes = least(all->max_storage_range_bytes,
                                         one->max_storage_range_bytes);
    all->device_heap_bytes = least(all->device_heap_bytes, one->device_heap_bytes);
    all->host_heap_bytes = least(all->host_heap_bytes, one->host_heap_bytes);
    if (all->import_alignment_bytes == 0 || one->import_alignment_bytes == 0)
        all->import_alignment_bytes = 0;
    else if (one->import_alignment_bytes > all->import_alignment_bytes)
        all->import_alignment_bytes = one->import_alignment_bytes;
    if (one->storage_alignment_bytes > all->storage_alignment_bytes)
        all->storage_alignment_bytes = one->storage_alignment_bytes;
    for (int i = 0; i < 3; i++) {
        all->max_groups[i] = (uint32_t)least(all->max_groups[i], one->max_groups[i]);
        all->max_group_size[i] = (uint32_t)least(all->max_group_size[i], one->max_group_size[i]);
    }
    all->max_group_invocations = (uint32_t)least(all->max_group_invocations,
                                                 one->max_group_invocations);
    all->max_shared_bytes = (uint32_t)least(all->max_shared_bytes, one->max_shared_bytes);
    all->max_texel_elements = (uint32_t)least(all->max_texel_elements, one->max_texel_elements);
    all->max_push_bytes = (uint32_t)least(all->max_push_bytes, one->max_push_bytes);
    all->subgroup_size = (uint32_t)least(all->subgroup_size, one->subgroup_size);
    if (one->texel_alignment_bytes > all->texel_alignment_bytes)
        all->texel_alignment_bytes = one->texel_alignment_bytes;
    all->on_cpu = all->on_cpu || one->on_cpu;
}

static bool add_members(struct assay_device *device, const struct vulkan_device_params *params,
                        struct assay_error *error)
{
    for (unsigned i = 0; i < params->member_count; i++) {
        struct vulkan_device *member = member_create(device->instance, params->physical[i], params,
                                                     error);
        if (!member)
            return false;
        device->members[device->member_count++] = member;
        const char *missing = member->missing[ASSAY_FEATURE_HOST_IMPORT];
        if (params->member_count > 1 && missing)
            return assay_fail(error, ASSAY_UNSUPPORTED,
                              "%s cannot be one of several devices, which share host memory: %s",
                              member->physical->name, missing);
        struct assay_limits limits;
        vulkan_physical_limits(member->physical, &limits);
        if (i == 0)
            device->limits = limits;
        else
            narrow(&device->limits, &limits);
    }
    return true;
}

struct assay_device *device_create(struct vulkan_instance *instance,
                                   const struct vulkan_device_params *params,
                                   struct assay_error *error)
{
    if (params->member_count < 1 || params->member_count > VULKAN_MEMBERS_MAX) {
        assay_fail(error, ASSAY_INVALID, "%u devices in a set; 1 to %d are allowed",
                   params->member_count, VULKAN_MEMBERS_MAX);
        return NULL;
    }
    struct assay_device *device = calloc(1, sizeof(*device));
    if (!device) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for a device");
        return NULL;
    }
    device->instance = instance;
    device->wait_limit_ns = params->wait_limit_ns > 0 ? params->wait_limit_ns : WAIT_LIMIT_NS;
    if (!add_members(device, params, error) || !matrix_list_shapes(device, error))
        device_destroy(&device);
    return device;
}

void device_destroy(struct assay_device **device)
{
    struct assay_device *self = *device;
    *device = NULL;
    if (!self)
        return;
    fill_device_destroy(self);
    staging_destroy(self);
    if (self->lost) { /* a driver may wait without limit for work that never ends */
        vulkan_instance_leak(self->instance);
        return;
    }
    for (unsigned i = 0; i < self->member_count; i++)
        member_destroy(&self->members[i]);
    free(self->shapes);
    free(self);
}

struct vulkan_queue *device_queue(struct vulkan_device *member, enum vulkan_role role)
{
    return &member->queues[member->role[role]];
}

void device_name_object(const struct vulkan_device *member, VkObjectType type, uint64_t handle,
                        const char *name)
{
    if (!member->debug_utils || !handle)
        return;
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = name,
    };
    /* A name that cannot be set costs nothing but the name. */
    (void)vkSetDebugUtilsObjectNameEXT(member->handle, &info);
}

static const char *result_name(VkResult result)
{
    switch ((int)result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
        return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
        return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_MEMORY_MAP_FAILED:
        return "VK_ERROR_MEMORY_MAP_FAILED";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
        return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_TOO_MANY_OBJECTS:
        return "VK_ERROR_TOO_MANY_OBJECTS";
    case VK_ERROR_FRAGMENTED_POOL:
        return "VK_ERROR_FRAGMENTED_POOL";
    case VK_ERROR_OUT_OF_POOL_MEMORY:
        return "VK_ERROR_OUT_OF_POOL_MEMORY";
    case VK_ERROR_INVALID_EXTERNAL_HANDLE:
        return "VK_ERROR_INVALID_EXTERNAL_HANDLE";
    case VK_ERROR_FRAGMENTATION:
        return "VK_ERROR_FRAGMENTATION";
    case VK_ERROR_UNKNOWN:
        return "VK_ERROR_UNKNOWN";
    case VK_TIMEOUT:
        return "VK_TIMEOUT";
    case VK_NOT_READY:
        return "VK_NOT_READY";
    default:
        return NULL;
    }
}

static enum assay_status result_status(VkResult result)
{
    switch ((int)result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_TOO_MANY_OBJECTS:
        return ASSAY_OUT_OF_MEMORY;
    case VK_ERROR_DEVICE_LOST:
        return ASSAY_DEVICE_LOST;
    case VK_TIMEOUT:
        return ASSAY_TIMEOUT;
    default:
        return ASSAY_VULKAN;
    }
}

bool device_fail(struct assay_device *device, VkResult result, const char *call,
                 struct assay_error *error)
{
    const enum assay_status status = result_status(result);
    if (device && (status == ASSAY_DEVICE_LOST || status == ASSAY_TIMEOUT))
        device->lost = true;
    const bool first = error && error->status == ASSAY_OK;
    const char *name = result_name(result);
    if (name)
        assay_fail(error, status, "%s failed: %s", call, name);
    else
        assay_fail(error, status, "%s failed: VkResult %d", call, (int)result);
    if (first)
        error->vk = (int)result;
    return false;
}

const struct assay_limits *assay_device_limits(const struct assay_device *device)
{
    return &device->limits;
}

bool assay_device_has(const struct assay_device *device, enum assay_feature feature,
                      const char **why_not)
{
    const char *missing = "this feature is not known to this version of assay";
    if ((unsigned)feature < ASSAY_FEATURE_COUNT) {
        missing = NULL;
        for (unsigned i = 0; i < device->member_count && !missing; i++)
            missing = device->members[i]->missing[feature];
    }
    if (missing && why_not)
        *why_not = missing;
    return !missing;
}

int64_t assay_device_wait_limit_ns(const struct assay_device *device)
{
    return device->wait_limit_ns;
}

const char *assay_device_name(const struct assay_device *device)
{
    return device->members[0]->physical->name;
}

VkInstance assay_device_instance(const struct assay_device *device)
{
    return vulkan_instance_handle(device->instance);
}

VkPhysicalDevice assay_device_physical(const struct assay_device *device, unsigned member)
{
    return member < device->member_count ? device->members[member]->physical->handle
                                         : VK_NULL_HANDLE;
}

VkDevice assay_device_handle(const struct assay_device *device, unsigned member)
{
    return member < device->member_count ? device->members[member]->handle : VK_NULL_HANDLE;
}

PFN_vkVoidFunction assay_device_function(const struct assay_device *device, unsigned member,
                                         const char *name)
{
    if (member >= device->member_count)
        return NULL;
    PFN_vkVoidFunction found = vkGetDeviceProcAddr(device->members[member]->handle, name);
    return found ? found : vkGetInstanceProcAddr(assay_device_instance(device), name);
}
