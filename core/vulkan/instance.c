/* SPDX-License-Identifier: MIT */
#include "vulkan/instance.h"
#include "vulkan/messages.h"
#include "vulkan/physical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"
#define NO_LOADER                                                                                  \
    "no Vulkan loader: libvulkan.so.1 was not found; install libvulkan1 and a driver such as "     \
    "mesa-vulkan-drivers (Debian, Ubuntu)"
#define NO_DRIVER                                                                                  \
    "no Vulkan driver: the loader found none that works; install one, such as "                    \
    "mesa-vulkan-drivers (Debian, Ubuntu), and see that VK_DRIVER_FILES and VK_ICD_FILENAMES, "    \
    "where set, name files that exist"
#define NO_PHYSICAL                                                                                \
    "no Vulkan device: a driver is installed, but it shows no device; mesa-vulkan-drivers "        \
    "(Debian, Ubuntu) brings one for the CPU"

struct vulkan_instance {
    VkInstance handle;
    VkDebugUtilsMessengerEXT messenger;
    struct messages *messages; /* NULL without validation */
    bool debug_utils, leak;
    char unwatched[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE * 3 + 128];
    struct vulkan_physical *physicals;
    size_t count;
};

static bool has_validation_layer(struct assay_error *error)
{
    uint32_t count = 0;
    if (vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS)
        count = 0;
    VkLayerProperties *layers = calloc(count + 1, sizeof(*layers));
    if (!layers)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %u layers", count);
    bool found = false;
    if (vkEnumerateInstanceLayerProperties(&count, layers) >= 0)
        for (uint32_t i = 0; i < count; i++)
            found |= strcmp(layers[i].layerName, VALIDATION_LAYER) == 0;
    free(layers);
    if (!found)
        return assay_fail(error, ASSAY_INVALID,
                          "validation is asked for, but the layer " VALIDATION_LAYER
                          " is not there; install vulkan-validationlayers (Debian, Ubuntu) or the "
                          "Vulkan SDK's layers");
    return true;
}

/* Debug names cost a few calls at creation and serve every tool that is hooked in, so the extension
 * is asked for always. Listing the instance's extensions first would load all drivers twice: try,
 * and do without on refusal. */
static VkResult create_handle(struct vulkan_instance *instance, bool validate, bool bounds)
{
    static const char *const layers[] = {VALIDATION_LAYER};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    static const VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,
        VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT,
        VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_RESERVE_BINDING_SLOT_EXT};
    VkDebugUtilsMessengerCreateInfoEXT messenger;
    if (validate)
        messages_describe(instance->messages, &messenger);
    const VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = &messenger,
        .enabledValidationFeatureCount = bounds ? 3 : 1,
        .pEnabledValidationFeatures = enables,
    };
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "assay",
        .pEngineName = "assay",
        .apiVersion = VK_API_VERSION_1_3,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = validate ? &features : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = validate ? 1 : 0,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = validate ? 2 : 1,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = vkCreateInstance(&info, NULL, &instance->handle);
    instance->debug_utils = result == VK_SUCCESS;
    if (result == VK_ERROR_EXTENSION_NOT_PRESENT && !validate) {
        info.enabledExtensionCount = 0;
        result = vkCreateInstance(&info, NULL, &instance->handle);
    }
    return result;
}

static bool fail_create(VkResult result, struct assay_error *error)
{
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return assay_fail(error, ASSAY_NO_DEVICE, NO_DRIVER);
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY) /* what the loader says of a damaged manifest, too */
        return assay_fail(
            error, ASSAY_NO_DEVICE,
            "the Vulkan loader found no driver that it can load (it says: out of host "
            "memory); check the drivers' manifests (VK_DRIVER_FILES, "
            "/usr/share/vulkan/icd.d), VK_LOADER_DEBUG=error says more");
    return assay_fail(error, ASSAY_NO_DEVICE, "vkCreateInstance failed (VkResult %d); %s", result,
                      "vulkaninfo from vulkan-tools may say more");
}

static bool make_messenger(struct vulkan_instance *instance, struct assay_error *error)
{
    VkDebugUtilsMessengerCreateInfoEXT info;
    messages_describe(instance->messages, &info);
    const VkResult result = vkCreateDebugUtilsMessengerEXT(instance->handle, &info, NULL,
                                                           &instance->messenger);
    if (result != VK_SUCCESS)
        return assay_fail(error, ASSAY_VULKAN, "vkCreateDebugUtilsMessengerEXT failed (%d)",
                          result);
    return true;
}

static bool list_physicals(struct vulkan_instance *instance, struct assay_error *error)
{
    uint32_t count = 0;
    VkResult result = vkEnumeratePhysicalDevices(instance->handle, &count, NULL);
    if (result == VK_ERROR_INITIALIZATION_FAILED || (result >= 0 && count == 0))
        return assay_fail(error, ASSAY_NO_DEVICE, NO_PHYSICAL);
    if (result < 0)
        return assay_fail(error, ASSAY_VULKAN, "vkEnumeratePhysicalDevices failed (%d)", result);
    VkPhysicalDevice *handles = calloc(count, sizeof(VkPhysicalDevice));
    instance->physicals = calloc(count, sizeof(*instance->physicals));
    bool ok = handles && instance->physicals;
    if (!ok)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %u devices", count);
    if (ok) {
        result = vkEnumeratePhysicalDevices(instance->handle, &count, handles);
        ok = result >= 0 ||
             assay_fail(error, ASSAY_VULKAN, "vkEnumeratePhysicalDevices failed (%d)", result);
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        instance->count = i + 1;
        ok = physical_fill(&instance->physicals[i], handles[i], error);
    }
    free(handles);
    return ok;
}

static struct vulkan_instance *create(const struct vulkan_instance_params *params,
                                      struct assay_error *error)
{
    if (volkInitialize() != VK_SUCCESS) {
        assay_fail(error, ASSAY_NO_DEVICE, NO_LOADER);
        return NULL;
    }
    struct vulkan_instance *instance = calloc(1, sizeof(*instance));
    if (!instance) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for the Vulkan instance");
        return NULL;
    }
    if (params->validate) {
        instance->messages = messages_create(error);
        if (!instance->messages || !has_validation_layer(error))
            goto fail;
    }
    const VkResult result = create_handle(instance, params->validate, params->bounds);
    if (result != VK_SUCCESS) {
        instance->handle = VK_NULL_HANDLE;
        fail_create(result, error);
        goto fail;
    }
    volkLoadInstanceOnly(instance->handle);
    if (!vkGetPhysicalDeviceProperties2 || !vkGetPhysicalDeviceFeatures2) {
        assay_fail(error, ASSAY_NO_DEVICE,
                   "the Vulkan loader is of version 1.0, but 1.2 is the floor; update libvulkan1");
        goto fail;
    }
    if (params->validate && !make_messenger(instance, error))
        goto fail;
    if (!list_physicals(instance, error))
        goto fail;
    return instance;
fail:
    vulkan_instance_destroy(&instance);
    return NULL;
}

/* One that would serve, but whose shaders the layer cannot watch; NULL: there is none. */
static const struct vulkan_physical *find_unwatchable(const struct vulkan_instance *instance)
{
    for (size_t i = 0; i < instance->count; i++)
        if (!instance->physicals[i].unusable && instance->physicals[i].unwatchable)
            return &instance->physicals[i];
    return NULL;
}

struct vulkan_instance *vulkan_instance_create(const struct vulkan_instance_params *params,
                                               struct assay_error *error)
{
    struct vulkan_instance *instance = create(params, error);
    const struct vulkan_physical *blind = instance && params->bounds ? find_unwatchable(instance)
                                                                     : NULL;
    if (!blind)
        return instance;
    char unwatched[sizeof(instance->unwatched)];
    snprintf(unwatched, sizeof(unwatched), "shaders' accesses are not watched: %s on %s",
             blind->unwatchable, blind->name);
    const struct vulkan_instance_params without = {.validate = params->validate};
    vulkan_instance_destroy(&instance);
    instance = create(&without, error);
    if (instance)
        memcpy(instance->unwatched, unwatched, sizeof(unwatched));
    return instance;
}

const char *vulkan_instance_unwatched(const struct vulkan_instance *instance)
{
    return instance->unwatched[0] ? instance->unwatched : NULL;
}

void vulkan_instance_destroy(struct vulkan_instance **instance)
{
    struct vulkan_instance *self = *instance;
    *instance = NULL;
    if (!self || self->leak)
        return;
    for (size_t i = 0; i < self->count; i++)
        physical_free(&self->physicals[i]);
    free(self->physicals);
    if (self->messenger)
        vkDestroyDebugUtilsMessengerEXT(self->handle, self->messenger, NULL);
    if (self->handle)
        vkDestroyInstance(self->handle, NULL);
    messages_destroy(&self->messages);
    free(self);
}

void vulkan_instance_leak(struct vulkan_instance *instance)
{
    instance->leak = true;
}

VkInstance vulkan_instance_handle(const struct vulkan_instance *instance)
{
    return instance->handle;
}

bool vulkan_instance_has_debug_utils(const struct vulkan_instance *instance)
{
    return instance->debug_utils;
}

size_t vulkan_physical_count(const struct vulkan_instance *instance)
{
    return instance->count;
}

const struct vulkan_physical *vulkan_physical_at(const struct vulkan_instance *instance,
                                                 size_t index)
{
    return index < instance->count ? &instance->physicals[index] : NULL;
}

size_t vulkan_instance_take_messages(struct vulkan_instance *instance, struct text *out)
{
    return instance->messages ? messages_take(instance->messages, out) : 0;
}
