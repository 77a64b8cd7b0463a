/* SPDX-License-Identifier: MIT */
#include "vulkan/messages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A loop that errs in each sample must not fill the memory. */
#define KEPT_BYTES ((size_t)256 << 10)

struct messages {
    pthread_mutex_t mutex;
    struct text lines;
    size_t count, dropped;
};

struct messages *messages_create(struct assay_error *error)
{
    struct messages *messages = calloc(1, sizeof(*messages));
    if (!messages || pthread_mutex_init(&messages->mutex, NULL) != 0) {
        free(messages);
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for validation messages");
        return NULL;
    }
    return messages;
}

void messages_destroy(struct messages **messages)
{
    if (!*messages)
        return;
    text_free(&(*messages)->lines);
    pthread_mutex_destroy(&(*messages)->mutex);
    free(*messages);
    *messages = NULL;
}

/* The layer puts the severity, all objects' handles and a hash in front: "... | MessageID = 0x1 |
 * text". Only the text helps a reader. */
static const char *skip_preamble(const char *message)
{
    const char *id = strstr(message, "| MessageID = ");
    const char *text = id ? strstr(id + 2, "| ") : NULL;
    return text ? text + 2 : message;
}

void messages_format(const VkDebugUtilsMessengerCallbackDataEXT *data, struct text *out)
{
    if (data->pMessageIdName && data->pMessageIdName[0]) {
        text_add_clean(out, data->pMessageIdName);
        text_add(out, ": ");
    }
    text_add_clean(out, skip_preamble(data->pMessage ? data->pMessage : ""));
    bool first = true;
    for (uint32_t i = 0; i < data->objectCount; i++) {
        const char *name = data->pObjects[i].pObjectName;
        if (!name || !name[0])
            continue;
        text_add(out, first ? " (objects: '" : ", '");
        text_add_clean(out, name);
        text_add_char(out, '\'');
        first = false;
    }
    if (!first)
        text_add_char(out, ')');
}

/* What the layer says of itself: what its own checks cost and need, and what it does for them. */
static bool is_of_the_layer(const VkDebugUtilsMessengerCallbackDataEXT *data)
{
    static const char *const own[] = {"UNASSIGNED-GPU-Assisted Validation Warning",
                                      "WARNING-GPU-Assisted-Validation", "VALIDATION-SETTINGS"};
    for (size_t i = 0; data->pMessageIdName && i < sizeof(own) / sizeof(own[0]); i++)
        if (strncmp(data->pMessageIdName, own[i], strlen(own[i])) == 0)
            return true;
    return false;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL collect(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                              VkDebugUtilsMessageTypeFlagsEXT types,
                                              const VkDebugUtilsMessengerCallbackDataEXT *data,
                                              void *user)
{
    (void)severity;
    (void)types;
    struct messages *messages = user;
    if (is_of_the_layer(data))
        return VK_FALSE;
    pthread_mutex_lock(&messages->mutex);
    messages->count++;
    if (messages->lines.length > KEPT_BYTES) {
        messages->dropped++;
    } else {
        messages_format(data, &messages->lines);
        text_add_char(&messages->lines, '\n');
    }
    pthread_mutex_unlock(&messages->mutex);
    return VK_FALSE;
}

void messages_describe(struct messages *messages, VkDebugUtilsMessengerCreateInfoEXT *info)
{
    *info = (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = collect,
        .pUserData = messages,
    };
}

size_t messages_take(struct messages *messages, struct text *out)
{
    pthread_mutex_lock(&messages->mutex);
    const size_t count = messages->count;
    if (messages->lines.length)
        text_add_bytes(out, messages->lines.data, messages->lines.length);
    if (messages->dropped)
        text_addf(out, "... and %zu more\n", messages->dropped);
    text_clear(&messages->lines);
    messages->lines.failed = false;
    messages->count = messages->dropped = 0;
    pthread_mutex_unlock(&messages->mutex);
    return count;
}
