/* SPDX-License-Identifier: MIT */
/* Devices as JSON: the inventory, and what a set ran on. */
#include "vulkan/memory.h"
#include "vulkan/negotiation.h"
#include "vulkan/queue.h"

#include <stdio.h>

/* Whole numbers of JSON here are signed 64 bit. */
static json_int_t whole(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

void vulkan_physical_limits(const struct vulkan_physical *physical, struct assay_limits *limits)
{
    const VkPhysicalDeviceLimits *l = &physical->properties.limits;
    *limits = (struct assay_limits){
        .max_allocation_bytes = physical->max_allocation_bytes,
        .max_storage_range_bytes = l->maxStorageBufferRange,
        .import_alignment_bytes = physical->import_alignment_bytes,
        .storage_alignment_bytes = l->minStorageBufferOffsetAlignment,
        .max_group_invocations = l->maxComputeWorkGroupInvocations,
        .max_shared_bytes = l->maxComputeSharedMemorySize,
        .max_texel_elements = l->maxTexelBufferElements,
        .texel_alignment_bytes = l->minTexelBufferOffsetAlignment,
        .max_push_bytes = l->maxPushConstantsSize,
        .subgroup_size = physical->subgroup.subgroupSize,
        .on_cpu = physical->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
    };
    if (physical->max_buffer_bytes && physical->max_buffer_bytes < limits->max_allocation_bytes)
        limits->max_allocation_bytes = physical->max_buffer_bytes;
    for (int i = 0; i < 3; i++) {
        limits->max_groups[i] = l->maxComputeWorkGroupCount[i];
        limits->max_group_size[i] = l->maxComputeWorkGroupSize[i];
    }
    const VkPhysicalDeviceMemoryProperties *memory = &physical->memory;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        const VkMemoryPropertyFlags flags = memory->memoryTypes[i].propertyFlags;
        const uint64_t size = memory->memoryHeaps[memory->memoryTypes[i].heapIndex].size;
        if ((flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) && size > limits->device_heap_bytes)
            limits->device_heap_bytes = size;
        if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) && size > limits->host_heap_bytes)
            limits->host_heap_bytes = size;
    }
}

static json_t *text_or_null(const char *text)
{
    return text && text[0] ? json_string(text) : json_null();
}

static json_t *version(uint32_t api)
{
    return json_sprintf("%u.%u.%u", VK_API_VERSION_MAJOR(api), VK_API_VERSION_MINOR(api),
                        VK_API_VERSION_PATCH(api));
}

static json_t *driver_json(const struct vulkan_physical *physical)
{
    return json_pack("{s:s, s:s, s:I, s:s, s:I}", "name", physical->driver, "info",
                     physical->driver_info, "id", (json_int_t)physical->driver_id, "uuid",
                     physical->driver_uuid, "version",
                     (json_int_t)physical->properties.driverVersion);
}

static json_t *heaps_json(const struct vulkan_physical *physical)
{
    json_t *heaps = json_array();
    for (uint32_t i = 0; i < physical->memory.memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &physical->memory.memoryHeaps[i];
        json_array_append_new(heaps,
                              json_pack("{s:I, s:b}", "bytes", whole(heap->size), "device_local",
                                        (heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) ? 1 : 0));
    }
    return heaps;
}

static json_t *memory_json(const struct vulkan_physical *physical)
{
    json_t *kinds = json_array();
    const char *why_not = NULL;
    for (int i = 0; i < ASSAY_MEMORY_COUNT; i++)
        if (memory_type_find(physical, (enum assay_memory)i, UINT32_MAX, &why_not) >= 0)
            json_array_append_new(kinds, json_string(memory_name((enum assay_memory)i)));
    return kinds;
}

static json_t *triple(const uint32_t values[3])
{
    return json_pack("[I, I, I]", (json_int_t)values[0], (json_int_t)values[1],
                     (json_int_t)values[2]);
}

static json_t *limits_json(const struct vulkan_physical *physical)
{
    struct assay_limits l;
    vulkan_physical_limits(physical, &l);
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I}",
        "max_allocation_bytes", whole(l.max_allocation_bytes), "max_storage_range_bytes",
        whole(l.max_storage_range_bytes), "device_heap_bytes", whole(l.device_heap_bytes),
        "host_heap_bytes", whole(l.host_heap_bytes), "import_alignment_bytes",
        whole(l.import_alignment_bytes), "storage_alignment_bytes",
        whole(l.storage_alignment_bytes), "max_groups", triple(l.max_groups), "max_group_size",
        triple(l.max_group_size), "max_group_invocations", (json_int_t)l.max_group_invocations,
        "max_shared_bytes", (json_int_t)l.max_shared_bytes, "max_texel_elements",
        (json_int_t)l.max_texel_elements, "max_push_bytes", (json_int_t)l.max_push_bytes,
        "subgroup_size", (json_int_t)l.subgroup_size, "texel_alignment_bytes",
        whole(l.texel_alignment_bytes));
}

static json_t *features_json(const struct vulkan_physical *physical)
{
    if (physical->unusable) /* a device below 1.2 cannot be asked */
        return json_object();
    struct features features;
    features_negotiate(physical, &features);
    json_t *json = json_object();
    for (int i = 0; i < ASSAY_FEATURE_COUNT; i++)
        json_object_set_new(json, features_name((enum assay_feature)i),
                            features.missing[i] ? json_string(features.missing[i]) : json_true());
    return json;
}

static json_t *family_roles(const struct queue_plan *plan, uint32_t family)
{
    json_t *roles = json_array();
    for (int i = 0; i < VULKAN_ROLE_COUNT; i++)
        if (plan->queues[plan->role[i]].family == family)
            json_array_append_new(roles, json_string(queue_role_name((enum vulkan_role)i)));
    return roles;
}

static json_t *queues_json(const struct vulkan_physical *physical)
{
    struct queue_plan plan;
    const char *why_not = NULL;
    const bool planned = queue_plan_make(physical->queue_families, physical->queue_family_count,
                                         VULKAN_QUEUES_AUTO, &plan, &why_not);
    json_t *queues = json_array();
    for (uint32_t i = 0; i < physical->queue_family_count; i++) {
        const VkQueueFamilyProperties *family = &physical->queue_families[i];
        json_array_append_new(queues,
                              json_pack("{s:I, s:I, s:o, s:I}", "family", (json_int_t)i, "count",
                                        (json_int_t)family->queueCount, "roles",
                                        planned ? family_roles(&plan, i) : json_array(),
                                        "timestamp_bits", (json_int_t)family->timestampValidBits));
    }
    return queues;
}

static json_t *physical_json(const struct vulkan_physical *physical, size_t index)
{
    const VkPhysicalDeviceProperties *p = &physical->properties;
    return json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:f, "
        "s:o}",
        "index", (json_int_t)index, "name", physical->name, "label",
        vulkan_physical_label(physical), "class", vulkan_class_name(physical->class), "uuid",
        physical->uuid, "pci", text_or_null(physical->pci), "vendor_id", (json_int_t)p->vendorID,
        "device_id", (json_int_t)p->deviceID, "api_version", version(p->apiVersion), "driver",
        driver_json(physical), "heaps", heaps_json(physical), "memory", memory_json(physical),
        "limits", limits_json(physical), "features", features_json(physical), "subgroup_size",
        (json_int_t)physical->subgroup.subgroupSize, "queues", queues_json(physical),
        "timestamp_period_ns", (double)p->limits.timestampPeriod, "unusable",
        text_or_null(physical->unusable));
}

json_t *vulkan_inventory(const struct vulkan_instance *instance)
{
    json_t *devices = json_array();
    for (size_t i = 0; i < vulkan_physical_count(instance); i++)
        if (json_array_append_new(devices, physical_json(vulkan_physical_at(instance, i), i)) !=
            0) {
            json_decref(devices);
            return NULL;
        }
    return devices;
}

static json_t *used_queues_json(const struct vulkan_device *member)
{
    json_t *queues = json_array();
    for (int role = 0; role < VULKAN_ROLE_COUNT; role++) {
        const struct vulkan_queue *queue = &member->queues[member->role[role]];
        bool shared = false;
        for (int other = 0; other < VULKAN_ROLE_COUNT; other++)
            shared |= other != role && member->role[other] == member->role[role];
        json_t *empty = queue->empty_region_ns < 0
                            ? json_null()
                            : json_integer((json_int_t)queue->empty_region_ns);
        json_array_append_new(
            queues, json_pack("{s:s, s:I, s:I, s:I, s:o, s:b}", "role",
                              queue_role_name((enum vulkan_role)role), "family",
                              (json_int_t)queue->family, "index", (json_int_t)queue->index,
                              "timestamp_bits", (json_int_t)queue->timestamp_bits,
                              "empty_region_ns", empty, "shared", shared ? 1 : 0));
    }
    return queues;
}

json_t *device_record(const struct assay_device *device)
{
    const struct vulkan_device *member = device->members[0];
    const struct vulkan_physical *physical = member->physical;
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:o}", "name", physical->name,
                     "label", vulkan_physical_label(physical), "class",
                     vulkan_class_name(physical->class), "uuid", physical->uuid, "pci",
                     text_or_null(physical->pci), "driver", driver_json(physical), "api_version",
                     version(physical->properties.apiVersion), "members",
                     (json_int_t)device->member_count, "queues", used_queues_json(member));
}
