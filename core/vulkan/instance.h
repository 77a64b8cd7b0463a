/* SPDX-License-Identifier: MIT */
/* The Vulkan instance: loader, layers, messages of the validation layers, and the physical devices
 * it shows. */
#ifndef VULKAN_INSTANCE_H
#define VULKAN_INSTANCE_H

#include <assay/device.h>

#include "base/error.h"
#include "base/text.h"
#include "vulkan/volk.h" /* volk with VK_NO_PROTOTYPES; the one place that includes it */

#include <jansson.h>

enum vulkan_class { /* in the order of preference */
                    VULKAN_CLASS_DISCRETE,
                    VULKAN_CLASS_INTEGRATED,
                    VULKAN_CLASS_VIRTUAL,
                    VULKAN_CLASS_OTHER,
                    VULKAN_CLASS_CPU,
};

/* What was recognised of a physical device: nominal facts, nothing measured. Strings are clean
 * UTF-8. */
struct vulkan_physical {
    VkPhysicalDevice handle;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceMemoryProperties memory;
    uint64_t max_allocation_bytes,
        max_buffer_bytes;            /* max_buffer_bytes 0: the driver does not tell */
    uint64_t import_alignment_bytes; /* 0: no host import */
    enum vulkan_class class;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE * 3 + 1], driver[VK_MAX_DRIVER_NAME_SIZE * 3 + 1],
        driver_info[VK_MAX_DRIVER_INFO_SIZE * 3 + 1];
    VkDriverId driver_id;
    char uuid[37]; /* deviceUUID, as 8-4-4-4-12 hex */
    char driver_uuid[37];
    char pci[16]; /* "0000:01:00.0", "" when unknown */
    uint32_t queue_family_count;
    VkQueueFamilyProperties *queue_families;
    uint32_t extension_count;
    VkExtensionProperties *extensions;
    const char *unusable;    /* why it cannot serve ("Vulkan 1.1, 1.2 is the floor"), or NULL */
    const char *unwatchable; /* why the layer cannot watch what its shaders access, or NULL */
};

struct vulkan_instance_params {
    bool validate; /* validation layer with synchronisation validation; its absence is ASSAY_INVALID
                      and says what to install */
    bool bounds;   /* with `validate`: the layer watches what shaders access, too; slow. It is not
                      asked to where a device cannot: it would complain at each case */
};

struct vulkan_instance;
/* ASSAY_NO_DEVICE when there is no loader or no driver at all; the text says what is missing and
 * what to install. */
struct vulkan_instance *vulkan_instance_create(const struct vulkan_instance_params *params,
                                               struct assay_error *error);
void vulkan_instance_destroy(struct vulkan_instance **instance);
/* "shaders' accesses are not watched: ...", where `bounds` was asked for in vain; else NULL. */
const char *vulkan_instance_unwatched(const struct vulkan_instance *instance);
VkInstance vulkan_instance_handle(const struct vulkan_instance *instance);
bool vulkan_instance_has_debug_utils(const struct vulkan_instance *instance);
size_t vulkan_physical_count(const struct vulkan_instance *instance);
/* The device set was lost: its objects were left alone, so the instance must be too. */
void vulkan_instance_leak(struct vulkan_instance *instance);
const struct vulkan_physical *vulkan_physical_at(const struct vulkan_instance *instance,
                                                 size_t index);
bool vulkan_physical_has_extension(const struct vulkan_physical *physical, const char *name);
/* What a driver tells as text and as bytes; not trusted to be UTF-8 nor to be NUL-terminated. */
struct vulkan_raw_strings {
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE], driver[VK_MAX_DRIVER_NAME_SIZE],
        driver_info[VK_MAX_DRIVER_INFO_SIZE];
    uint8_t uuid[VK_UUID_SIZE], driver_uuid[VK_UUID_SIZE];
};
/* Fills name, driver, driver_info, uuid and driver_uuid. False: out of memory. Pure. */
bool vulkan_physical_set_strings(struct vulkan_physical *physical,
                                 const struct vulkan_raw_strings *raw);
/* The device's part of a set's limits. */
void vulkan_physical_limits(const struct vulkan_physical *physical, struct assay_limits *limits);
/* "lavapipe", "SwiftShader", else the device's name: what reports call it. */
const char *vulkan_physical_label(const struct vulkan_physical *physical);
const char *vulkan_class_name(enum vulkan_class class); /* "discrete", ..., "cpu" */
/* Messages (warnings and errors) of the validation layers since the last call, one a line; returns
 * how many. Any thread may cause them; called by the owner. */
size_t vulkan_instance_take_messages(struct vulkan_instance *instance, struct text *out);

/* The array that `assay devices --json`, the run record and the supervisor use. New reference.
 * Each: index, name, label (the short name for reports), class
 * ("discrete", "integrated", "virtual", "other", "cpu"), uuid, pci or null, vendor_id, device_id,
 * api_version, driver {name, info, id, uuid, version}, heaps [{bytes, device_local}], memory kinds
 * [names that exist], limits {...}, features {name: true or the reason}, subgroup_size, queues
 * [{family, count, roles, timestamp_bits}], timestamp_period_ns, unusable or null. Memory kinds are
 * in "memory". NULL: out of memory. */
json_t *vulkan_inventory(const struct vulkan_instance *instance);

#endif
