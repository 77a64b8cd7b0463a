/* SPDX-License-Identifier: MIT */
/* A Vulkan layer that makes a device misbehave: for tests of what assay does then. Chosen by the
 * environment:
 *
 * ASSAY_FAULT_NAME=TEXT: device name, driver name and driver info are TEXT (any bytes).
 *
 * ASSAY_FAULT_SUBMIT=KIND: the submit number ASSAY_FAULT_AT (from 1; default 1) of each device:
 * `lost` returns VK_ERROR_DEVICE_LOST, `crash` aborts the process, `hang` never signals its fence.
 *
 * ASSAY_FAULT_COPY=wrong: buffer copies leave out their last byte.
 *
 * ASSAY_FAULT_MEMORY=N: allocations after the first N fail with VK_ERROR_OUT_OF_DEVICE_MEMORY
 * (`none`: all do).
 *
 * ASSAY_FAULT_PIPELINE=tells: the device has VK_KHR_pipeline_executable_properties, and says
 * made-up things.
 *
 * ASSAY_FAULT_FAMILIES=three: behind the device's own family of queues stand two that are for
 * transfers alone, and each has one queue; all of them are the driver's one queue. Timeline
 * semaphores and host reset of queries are there, as Vulkan 1.2 wants it (Khronos' mock driver,
 * which executes nothing, denies the former). Several devices, any threads.
 *
 * For the rest: one instance and one device a process; not thread-safe. */
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan_core.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
    PFN_vkGetInstanceProcAddr instance_proc;
    PFN_vkGetDeviceProcAddr device_proc;
    PFN_vkCreateDevice create_device;
    PFN_vkGetPhysicalDeviceProperties get_properties;
    PFN_vkGetPhysicalDeviceProperties2 get_properties2;
    PFN_vkQueueSubmit queue_submit;
    PFN_vkCmdCopyBuffer copy_buffer;
    PFN_vkAllocateMemory allocate_memory;
    PFN_vkEnumerateDeviceExtensionProperties enumerate_extensions;
    PFN_vkGetPhysicalDeviceFeatures2 get_features2;
    PFN_vkCreateComputePipelines create_pipelines;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties get_families;
    PFN_vkGetDeviceQueue get_queue;
    PFN_vkCreateCommandPool create_pool;
    PFN_vkCreateBuffer create_buffer;
    PFN_vkDestroyDevice destroy_device;
    unsigned long submits, allocations;
} state;

static bool wants(const char *variable, const char *value)
{
    const char *set = getenv(variable);
    return set && strcmp(set, value) == 0;
}

#define FAMILIES 3

static bool has_families(void)
{
    return wants("ASSAY_FAULT_FAMILIES", "three");
}

static bool submit_is_due(void)
{
    const char *at = getenv("ASSAY_FAULT_AT");
    return ++state.submits == (at ? strtoul(at, NULL, 10) : 1);
}

static void rename_text(char *text, size_t size)
{
    const char *name = getenv("ASSAY_FAULT_NAME");
    if (name)
        snprintf(text, size, "%s", name);
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice physical,
                                                 VkPhysicalDeviceProperties *properties)
{
    state.get_properties(physical, properties);
    rename_text(properties->deviceName, sizeof(properties->deviceName));
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice physical,
                                                  VkPhysicalDeviceProperties2 *properties)
{
    state.get_properties2(physical, properties);
    rename_text(properties->properties.deviceName, sizeof(properties->properties.deviceName));
    for (VkBaseOutStructure *next = properties->pNext; next; next = next->pNext) {
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
            VkPhysicalDeviceDriverProperties *driver = (VkPhysicalDeviceDriverProperties *)next;
            rename_text(driver->driverName, sizeof(driver->driverName));
            rename_text(driver->driverInfo, sizeof(driver->driverInfo));
        } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES) {
            VkPhysicalDeviceVulkan12Properties *all = (VkPhysicalDeviceVulkan12Properties *)next;
            rename_text(all->driverName, sizeof(all->driverName));
            rename_text(all->driverInfo, sizeof(all->driverInfo));
            if (has_families())
                all->maxTimelineSemaphoreValueDifference = INT32_MAX;
        } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES &&
                   has_families()) {
            ((VkPhysicalDeviceTimelineSemaphoreProperties *)next)
                ->maxTimelineSemaphoreValueDifference = INT32_MAX;
        }
    }
}

#define DEVICES_MAX 8

/* What stands for the driver's queue in a family. Its address is the handle: the loader keeps its
 * own pointer in front. */
struct family_queue {
    void *loader;
    VkQueue real;
};
static struct {
    pthread_mutex_t lock;
    struct {
        VkDevice device; /* NULL: free */
        struct family_queue queues[FAMILIES];
    } devices[DEVICES_MAX];
} families = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct family_queue *family_queue_of(VkQueue queue)
{
    uintptr_t at = (uintptr_t)queue, begin = (uintptr_t)families.devices;
    return at >= begin && at < begin + sizeof(families.devices) ? (struct family_queue *)queue
                                                                : NULL;
}

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice physical, uint32_t *count,
                                               VkQueueFamilyProperties *rows)
{
    VkQueueFamilyProperties first[8];
    uint32_t own = 8, room = *count;
    if (!has_families()) {
        state.get_families(physical, count, rows);
        return;
    }
    *count = FAMILIES;
    if (!rows)
        return;
    *count = room < FAMILIES ? room : FAMILIES;
    state.get_families(physical, &own, first);
    for (uint32_t i = 0; i < *count; i++) {
        rows[i] = first[0];
        rows[i].queueCount = 1;
        if (i > 0)
            rows[i].queueFlags = VK_QUEUE_TRANSFER_BIT;
    }
}

static VKAPI_ATTR void VKAPI_CALL get_families2(VkPhysicalDevice physical, uint32_t *count,
                                                VkQueueFamilyProperties2 *rows)
{
    VkQueueFamilyProperties plain[8];
    uint32_t room = *count < 8 ? *count : 8;
    get_families(physical, rows ? &room : count, rows ? plain : NULL);
    if (!rows)
        return;
    *count = room;
    for (uint32_t i = 0; i < room; i++)
        rows[i].queueFamilyProperties = plain[i];
}

static VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index,
                                            VkQueue *queue)
{
    if (!has_families()) {
        state.get_queue(device, family, index, queue);
        return;
    }
    pthread_mutex_lock(&families.lock);
    unsigned at = 0, empty = DEVICES_MAX;
    for (; at < DEVICES_MAX && families.devices[at].device != device; at++)
        if (!families.devices[at].device && empty == DEVICES_MAX)
            empty = at;
    at = at < DEVICES_MAX ? at : empty;
    if (at == DEVICES_MAX || family >= FAMILIES)
        abort();
    families.devices[at].device = device;
    struct family_queue *own = &families.devices[at].queues[family];
    if (!own->real)
        state.get_queue(device, 0, 0, &own->real);
    *queue = (VkQueue)own;
    pthread_mutex_unlock(&families.lock);
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device,
                                                 const VkAllocationCallbacks *callbacks)
{
    pthread_mutex_lock(&families.lock);
    for (unsigned at = 0; at < DEVICES_MAX; at++)
        if (device && families.devices[at].device == device)
            memset(&families.devices[at], 0, sizeof(families.devices[at]));
    pthread_mutex_unlock(&families.lock);
    state.destroy_device(device, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device,
                                                  const VkCommandPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *callbacks,
                                                  VkCommandPool *pool)
{
    VkCommandPoolCreateInfo copy = *info;
    if (has_families())
        copy.queueFamilyIndex = 0;
    return state.create_pool(device, &copy, callbacks, pool);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *callbacks,
                                                    VkBuffer *buffer)
{
    VkBufferCreateInfo copy = *info;
    if (has_families()) {
        copy.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
        copy.queueFamilyIndexCount = 0;
    }
    return state.create_buffer(device, &copy, callbacks, buffer);
}

/* A submit without its work and without its fence: whoever waits for it waits for ever. */
static VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count,
                                                   const VkSubmitInfo *submits, VkFence fence)
{
    if (getenv("ASSAY_FAULT_SUBMIT") && submit_is_due()) {
        if (wants("ASSAY_FAULT_SUBMIT", "lost"))
            return VK_ERROR_DEVICE_LOST;
        if (wants("ASSAY_FAULT_SUBMIT", "crash"))
            abort();
        if (wants("ASSAY_FAULT_SUBMIT", "hang"))
            return VK_SUCCESS;
    }
    struct family_queue *own = family_queue_of(queue);
    if (!own)
        return state.queue_submit(queue, count, submits, fence);
    pthread_mutex_lock(&families.lock); /* several of them are one to the driver */
    VkResult result = state.queue_submit(own->real, count, submits, fence);
    pthread_mutex_unlock(&families.lock);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL copy_buffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                              uint32_t count, const VkBufferCopy *regions)
{
    VkBufferCopy first = regions[0];
    if (wants("ASSAY_FAULT_COPY", "wrong") && count == 1 && first.size > 1) {
        first.size--;
        regions = &first;
    }
    state.copy_buffer(commands, from, to, count, regions);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device,
                                                      const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *callbacks,
                                                      VkDeviceMemory *memory)
{
    const char *most = getenv("ASSAY_FAULT_MEMORY");
    if (most && state.allocations++ >= strtoul(most, NULL, 10)) /* "none" is 0 */
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return state.allocate_memory(device, info, callbacks, memory);
}

static const char pipeline_extension[] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(VkPhysicalDevice physical,
                                                           const char *layer, uint32_t *count,
                                                           VkExtensionProperties *extensions)
{
    uint32_t own = 0, room = *count;
    if (layer || !wants("ASSAY_FAULT_PIPELINE", "tells"))
        return state.enumerate_extensions(physical, layer, count, extensions);
    VkResult result = state.enumerate_extensions(physical, NULL, &own, NULL);
    *count = own + 1;
    if (result != VK_SUCCESS || !extensions)
        return result;
    if (room <= own) {
        *count = room;
        return VK_INCOMPLETE;
    }
    result = state.enumerate_extensions(physical, NULL, &own, extensions);
    snprintf(extensions[own].extensionName, sizeof(extensions[own].extensionName), "%s",
             pipeline_extension);
    extensions[own].specVersion = 1;
    return result;
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice physical,
                                                VkPhysicalDeviceFeatures2 *features)
{
    state.get_features2(physical, features);
    for (VkBaseOutStructure *next = features->pNext; next; next = next->pNext) {
        if (next->sType ==
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR &&
            wants("ASSAY_FAULT_PIPELINE", "tells"))
            ((VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR *)next)
                ->pipelineExecutableInfo = VK_TRUE;
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES &&
            has_families()) {
            ((VkPhysicalDeviceVulkan12Features *)next)->timelineSemaphore = VK_TRUE;
            ((VkPhysicalDeviceVulkan12Features *)next)->hostQueryReset = VK_TRUE;
        }
    }
}

/* The driver knows nothing of what this layer claims. */
static void hide_pipeline_extension(VkDeviceCreateInfo *info, const char **names, uint32_t room)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->enabledExtensionCount && count < room; i++)
        if (strcmp(info->ppEnabledExtensionNames[i], pipeline_extension) != 0)
            names[count++] = info->ppEnabledExtensionNames[i];
    info->enabledExtensionCount = count;
    info->ppEnabledExtensionNames = names;
    for (VkBaseOutStructure *at = (VkBaseOutStructure *)info; at->pNext; at = at->pNext)
        while (at->pNext &&
               at->pNext->sType ==
                   VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR)
            at->pNext = at->pNext->pNext;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache,
                                                       uint32_t count,
                                                       const VkComputePipelineCreateInfo *infos,
                                                       const VkAllocationCallbacks *callbacks,
                                                       VkPipeline *pipelines)
{
    VkComputePipelineCreateInfo first = infos[0];
    const VkPipelineCreateFlags wanted =
        VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
        VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
    if (wants("ASSAY_FAULT_PIPELINE", "tells") && count == 1) {
        if ((first.flags & wanted) != wanted)
            return VK_ERROR_INITIALIZATION_FAILED;
        first.flags &= ~wanted;
        infos = &first;
    }
    return state.create_pipelines(device, cache, count, infos, callbacks, pipelines);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_executables(VkDevice device,
                                                      const VkPipelineInfoKHR *info,
                                                      uint32_t *count,
                                                      VkPipelineExecutablePropertiesKHR *rows)
{
    (void)device;
    (void)info;
    *count = 1;
    if (!rows)
        return VK_SUCCESS;
    rows[0].stages = VK_SHADER_STAGE_COMPUTE_BIT;
    rows[0].subgroupSize = 32;
    snprintf(rows[0].name, sizeof(rows[0].name), "main");
    snprintf(rows[0].description, sizeof(rows[0].description), "a compute shader\x1b[1m");
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_statistics(VkDevice device,
                                                     const VkPipelineExecutableInfoKHR *info,
                                                     uint32_t *count,
                                                     VkPipelineExecutableStatisticKHR *rows)
{
    static const struct {
        const char *name;
        VkPipelineExecutableStatisticFormatKHR format;
        VkPipelineExecutableStatisticValueKHR value;
    } told[] = {
        {"Registers", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR, {.u64 = 24}},
        {"Balance", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR, {.i64 = -3}},
        {"Spills", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR, {.b32 = VK_TRUE}},
        {"Occupancy", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR, {.f64 = 0.75}},
    };
    (void)device;
    (void)info;
    *count = sizeof(told) / sizeof(told[0]);
    for (uint32_t i = 0; rows && i < *count; i++) {
        snprintf(rows[i].name, sizeof(rows[i].name), "%s", told[i].name);
        snprintf(rows[i].description, sizeof(rows[i].description), "of each lane");
        rows[i].format = told[i].format;
        rows[i].value = told[i].value;
    }
    return VK_SUCCESS;
}

/* A text with its NUL, and four bytes. */
static VKAPI_ATTR VkResult VKAPI_CALL
get_representations(VkDevice device, const VkPipelineExecutableInfoKHR *info, uint32_t *count,
                    VkPipelineExecutableInternalRepresentationKHR *rows)
{
    static const char text[] = "add r0, r1\n", code[4] = {1, 2, 3, 4};
    (void)device;
    (void)info;
    *count = 2;
    for (uint32_t i = 0; rows && i < *count; i++) {
        snprintf(rows[i].name, sizeof(rows[i].name), i ? "code" : "assembly");
        snprintf(rows[i].description, sizeof(rows[i].description), "what runs");
        rows[i].isText = i == 0;
        rows[i].dataSize = i ? sizeof(code) : sizeof(text);
        if (rows[i].pData)
            memcpy(rows[i].pData, i ? code : text, rows[i].dataSize);
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *callbacks,
                                                      VkInstance *instance)
{
    VkLayerInstanceCreateInfo *chain = (VkLayerInstanceCreateInfo *)info->pNext;
    while (chain && !(chain->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                      chain->function == VK_LAYER_LINK_INFO))
        chain = (VkLayerInstanceCreateInfo *)chain->pNext;
    if (!chain)
        return VK_ERROR_INITIALIZATION_FAILED;
    state.instance_proc = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    PFN_vkCreateInstance next = (PFN_vkCreateInstance)state.instance_proc(VK_NULL_HANDLE,
                                                                          "vkCreateInstance");
    VkResult result = next(info, callbacks, instance);
    if (result != VK_SUCCESS)
        return result;
    /* Asked for now: later the loader answers with the top of the chain, which is this layer. */
    PFN_vkGetInstanceProcAddr proc = state.instance_proc;
    state.create_device = (PFN_vkCreateDevice)proc(*instance, "vkCreateDevice");
    state.get_properties = (PFN_vkGetPhysicalDeviceProperties)proc(*instance,
                                                                   "vkGetPhysicalDeviceProperties");
    state.get_properties2 = (PFN_vkGetPhysicalDeviceProperties2)proc(
        *instance, "vkGetPhysicalDeviceProperties2");
    state.enumerate_extensions = (PFN_vkEnumerateDeviceExtensionProperties)proc(
        *instance, "vkEnumerateDeviceExtensionProperties");
    state.get_features2 = (PFN_vkGetPhysicalDeviceFeatures2)proc(*instance,
                                                                 "vkGetPhysicalDeviceFeatures2");
    state.get_families = (PFN_vkGetPhysicalDeviceQueueFamilyProperties)proc(
        *instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *callbacks,
                                                    VkDevice *device)
{
    VkLayerDeviceCreateInfo *chain = (VkLayerDeviceCreateInfo *)info->pNext;
    while (chain && !(chain->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
                      chain->function == VK_LAYER_LINK_INFO))
        chain = (VkLayerDeviceCreateInfo *)chain->pNext;
    if (!chain)
        return VK_ERROR_INITIALIZATION_FAILED;
    state.device_proc = chain->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    VkDeviceCreateInfo copy = *info;
    const char *names[64];
    if (wants("ASSAY_FAULT_PIPELINE", "tells"))
        hide_pipeline_extension(&copy, names, 64);
    VkDeviceQueueCreateInfo queue = *info->pQueueCreateInfos;
    if (has_families()) {
        queue.queueFamilyIndex = 0;
        queue.queueCount = 1;
        copy.queueCreateInfoCount = 1;
        copy.pQueueCreateInfos = &queue;
    }
    VkResult result = state.create_device(physical, &copy, callbacks, device);
    if (result == VK_SUCCESS) {
        state.submits = 0;
        state.queue_submit = (PFN_vkQueueSubmit)state.device_proc(*device, "vkQueueSubmit");
        state.copy_buffer = (PFN_vkCmdCopyBuffer)state.device_proc(*device, "vkCmdCopyBuffer");
        state.create_pipelines = (PFN_vkCreateComputePipelines)state.device_proc(
            *device, "vkCreateComputePipelines");
        state.allocate_memory = (PFN_vkAllocateMemory)state.device_proc(*device,
                                                                        "vkAllocateMemory");
        state.get_queue = (PFN_vkGetDeviceQueue)state.device_proc(*device, "vkGetDeviceQueue");
        state.create_pool = (PFN_vkCreateCommandPool)state.device_proc(*device,
                                                                       "vkCreateCommandPool");
        state.create_buffer = (PFN_vkCreateBuffer)state.device_proc(*device, "vkCreateBuffer");
        state.destroy_device = (PFN_vkDestroyDevice)state.device_proc(*device, "vkDestroyDevice");
    }
    return result;
}

static PFN_vkVoidFunction get_device_proc(VkDevice device, const char *name);
static PFN_vkVoidFunction get_instance_proc(VkInstance instance, const char *name);

static PFN_vkVoidFunction own_function(const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } table[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_proc},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc},
        {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
        {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
        {"vkGetPhysicalDeviceProperties", (PFN_vkVoidFunction)get_properties},
        {"vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction)get_properties2},
        {"vkGetPhysicalDeviceProperties2KHR", (PFN_vkVoidFunction)get_properties2},
        {"vkQueueSubmit", (PFN_vkVoidFunction)queue_submit},
        {"vkCmdCopyBuffer", (PFN_vkVoidFunction)copy_buffer},
        {"vkAllocateMemory", (PFN_vkVoidFunction)allocate_memory},
        {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)enumerate_extensions},
        {"vkGetPhysicalDeviceFeatures2", (PFN_vkVoidFunction)get_features2},
        {"vkCreateComputePipelines", (PFN_vkVoidFunction)create_pipelines},
        {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)get_families},
        {"vkGetPhysicalDeviceQueueFamilyProperties2", (PFN_vkVoidFunction)get_families2},
        {"vkGetDeviceQueue", (PFN_vkVoidFunction)get_queue},
        {"vkCreateCommandPool", (PFN_vkVoidFunction)create_pool},
        {"vkCreateBuffer", (PFN_vkVoidFunction)create_buffer},
        {"vkDestroyDevice", (PFN_vkVoidFunction)destroy_device},
        {"vkGetPipelineExecutablePropertiesKHR", (PFN_vkVoidFunction)get_executables},
        {"vkGetPipelineExecutableStatisticsKHR", (PFN_vkVoidFunction)get_statistics},
        {"vkGetPipelineExecutableInternalRepresentationsKHR",
         (PFN_vkVoidFunction)get_representations},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        if (strcmp(name, table[i].name) == 0)
            return table[i].function;
    return NULL;
}

static PFN_vkVoidFunction get_device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction own = own_function(name);
    return own ? own : state.device_proc(device, name);
}

static PFN_vkVoidFunction get_instance_proc(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction own = own_function(name);
    if (own || !state.instance_proc)
        return own;
    return state.instance_proc(instance, name);
}

EXPORT VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version);
EXPORT VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version)
{
    if (version->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    version->loaderLayerInterfaceVersion = 2;
    version->pfnGetInstanceProcAddr = get_instance_proc;
    version->pfnGetDeviceProcAddr = get_device_proc;
    version->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
