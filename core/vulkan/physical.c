/* SPDX-License-Identifier: MIT */
#include "vulkan/physical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set_string(char *out, size_t out_bytes, const char *raw, size_t raw_bytes)
{
    char bounded[VK_MAX_DESCRIPTION_SIZE + 1];
    const size_t length = strnlen(
        raw, raw_bytes < VK_MAX_DESCRIPTION_SIZE ? raw_bytes : VK_MAX_DESCRIPTION_SIZE);
    memcpy(bounded, raw, length);
    bounded[length] = '\0';
    struct text clean = {0};
    text_add_clean(&clean, bounded);
    const bool ok = !clean.failed && clean.length < out_bytes;
    if (ok)
        memcpy(out, text_string(&clean), clean.length + 1);
    text_free(&clean);
    return ok;
}

static void set_uuid(char out[37], const uint8_t uuid[VK_UUID_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    char *p = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        *p++ = digits[uuid[i] >> 4];
        *p++ = digits[uuid[i] & 15];
    }
    *p = '\0';
}

bool vulkan_physical_set_strings(struct vulkan_physical *physical,
                                 const struct vulkan_raw_strings *raw)
{
    set_uuid(physical->uuid, raw->uuid);
    set_uuid(physical->driver_uuid, raw->driver_uuid);
    return set_string(physical->name, sizeof(physical->name), raw->name, sizeof(raw->name)) &&
           set_string(physical->driver, sizeof(physical->driver), raw->driver,
                      sizeof(raw->driver)) &&
           set_string(physical->driver_info, sizeof(physical->driver_info), raw->driver_info,
                      sizeof(raw->driver_info));
}

const char *vulkan_physical_label(const struct vulkan_physical *physical)
{
    switch ((int)physical->driver_id) {
    case VK_DRIVER_ID_MESA_LLVMPIPE:
        return "lavapipe";
    case VK_DRIVER_ID_GOOGLE_SWIFTSHADER:
        return "SwiftShader";
    default:
        return physical->name;
    }
}

const char *vulkan_class_name(enum vulkan_class class)
{
    static const char *const names[] = {
        [VULKAN_CLASS_DISCRETE] = "discrete", [VULKAN_CLASS_INTEGRATED] = "integrated",
        [VULKAN_CLASS_VIRTUAL] = "virtual",   [VULKAN_CLASS_OTHER] = "other",
        [VULKAN_CLASS_CPU] = "cpu",
    };
    return (unsigned)class <= VULKAN_CLASS_CPU ? names[class] : "other";
}

static enum vulkan_class class_of(VkPhysicalDeviceType type)
{
    switch ((int)type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return VULKAN_CLASS_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return VULKAN_CLASS_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return VULKAN_CLASS_VIRTUAL;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return VULKAN_CLASS_CPU;
    default:
        return VULKAN_CLASS_OTHER;
    }
}

bool vulkan_physical_has_extension(const struct vulkan_physical *physical, const char *name)
{
    for (uint32_t i = 0; i < physical->extension_count; i++)
        if (strcmp(physical->extensions[i].extensionName, name) == 0)
            return true;
    return false;
}

/* Counts are asked with NULL first: some drivers leave the count alone when given an array at once.
 */
static bool list_extensions(struct vulkan_physical *physical, struct assay_error *error)
{
    uint32_t count = 0;
    VkResult result = vkEnumerateDeviceExtensionProperties(physical->handle, NULL, &count, NULL);
    if (result >= 0) {
        physical->extensions = calloc((size_t)count + 1, sizeof(*physical->extensions));
        if (!physical->extensions)
            return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %u extensions", count);
        result = vkEnumerateDeviceExtensionProperties(physical->handle, NULL, &count,
                                                      physical->extensions);
    }
    if (result < 0)
        return assay_fail(error, ASSAY_VULKAN, "vkEnumerateDeviceExtensionProperties failed (%d)",
                          result);
    physical->extension_count = count;
    return true;
}

static bool list_queue_families(struct vulkan_physical *physical, struct assay_error *error)
{
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, NULL);
    physical->queue_families = calloc((size_t)count + 1, sizeof(*physical->queue_families));
    if (!physical->queue_families)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %u queue families", count);
    vkGetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, physical->queue_families);
    physical->queue_family_count = count;
    for (uint32_t i = 0; i < count; i++)
        if (physical->queue_families[i].queueCount > 0 &&
            (physical->queue_families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
            return true;
    physical->unusable = "no queue family can compute";
    return true;
}

/* The structs that may be asked for, chained when the device knows them. */
struct queried {
    VkPhysicalDeviceProperties2 core;
    VkPhysicalDeviceIDProperties id;
    VkPhysicalDeviceMaintenance3Properties maintenance3;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceMaintenance4Properties maintenance4;
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT import;
};

static void chain(struct queried *queried, void *link, VkStructureType type)
{
    VkBaseOutStructure *base = link;
    base->sType = type;
    base->pNext = queried->core.pNext;
    queried->core.pNext = base;
}

static void query(const struct vulkan_physical *physical, uint32_t api, struct queried *q)
{
    q->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    chain(q, &q->id, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
    chain(q, &q->maintenance3, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES);
    chain(q, &q->subgroup, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    if (api >= VK_API_VERSION_1_2 ||
        vulkan_physical_has_extension(physical, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME))
        chain(q, &q->driver, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
    if (api >= VK_API_VERSION_1_3 ||
        vulkan_physical_has_extension(physical, VK_KHR_MAINTENANCE_4_EXTENSION_NAME))
        chain(q, &q->maintenance4, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES);
    if (vulkan_physical_has_extension(physical, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME))
        chain(q, &q->pci, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT);
    if (vulkan_physical_has_extension(physical, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME))
        chain(q, &q->import, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);
    vkGetPhysicalDeviceProperties2(physical->handle, &q->core);
}

static bool keep(struct vulkan_physical *physical, const struct queried *q,
                 struct assay_error *error)
{
    physical->properties = q->core.properties;
    physical->subgroup = q->subgroup;
    physical->subgroup.pNext = NULL;
    physical->max_allocation_bytes = q->maintenance3.maxMemoryAllocationSize;
    physical->max_buffer_bytes = q->maintenance4.maxBufferSize;
    physical->import_alignment_bytes = q->import.minImportedHostPointerAlignment;
    physical->driver_id = q->driver.driverID;
    if (q->pci.sType)
        snprintf(physical->pci, sizeof(physical->pci), "%04x:%02x:%02x.%x",
                 q->pci.pciDomain & 0xffff, q->pci.pciBus & 0xff, q->pci.pciDevice & 0x1f,
                 q->pci.pciFunction & 7);
    struct vulkan_raw_strings raw;
    memcpy(raw.name, q->core.properties.deviceName, sizeof(raw.name));
    memcpy(raw.driver, q->driver.driverName, sizeof(raw.driver));
    memcpy(raw.driver_info, q->driver.driverInfo, sizeof(raw.driver_info));
    memcpy(raw.uuid, q->id.deviceUUID, sizeof(raw.uuid));
    memcpy(raw.driver_uuid, q->id.driverUUID, sizeof(raw.driver_uuid));
    if (!vulkan_physical_set_strings(physical, &raw))
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for a device's name");
    return true;
}

/* A 1.0 device cannot be asked for more than this. */
static bool keep_basic(struct vulkan_physical *physical, struct assay_error *error)
{
    struct queried queried = {.core.properties = physical->properties};
    physical->unusable = "its driver is of Vulkan 1.0, 1.2 is the floor";
    return keep(physical, &queried, error);
}

const char *physical_unwatchable(const VkPhysicalDeviceFeatures *features)
{
    if (!features->fragmentStoresAndAtomics)
        return "fragmentStoresAndAtomics is not supported";
    return features->vertexPipelineStoresAndAtomics
               ? NULL
               : "vertexPipelineStoresAndAtomics is not supported";
}

bool physical_fill(struct vulkan_physical *physical, VkPhysicalDevice handle,
                   struct assay_error *error)
{
    physical->handle = handle;
    vkGetPhysicalDeviceProperties(handle, &physical->properties);
    vkGetPhysicalDeviceMemoryProperties(handle, &physical->memory);
    physical->class = class_of(physical->properties.deviceType);
    if (!list_extensions(physical, error) || !list_queue_families(physical, error))
        return false;
    const uint32_t api = physical->properties.apiVersion;
    if (api < VK_API_VERSION_1_1)
        return keep_basic(physical, error);
    struct queried queried = {.core = {.pNext = NULL}};
    query(physical, api, &queried);
    if (!keep(physical, &queried, error))
        return false;
    if (api < VK_API_VERSION_1_2)
        physical->unusable = "its driver is of Vulkan 1.1, 1.2 is the floor";
    VkPhysicalDeviceFeatures features;
    vkGetPhysicalDeviceFeatures(handle, &features);
    physical->unwatchable = physical_unwatchable(&features);
    return true;
}

void physical_free(struct vulkan_physical *physical)
{
    free(physical->queue_families);
    free(physical->extensions);
    physical->queue_families = NULL;
    physical->extensions = NULL;
}
