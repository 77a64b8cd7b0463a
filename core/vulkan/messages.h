/* SPDX-License-Identifier: MIT */
/* What the validation layers say, collected from any thread. */
#ifndef VULKAN_MESSAGES_H
#define VULKAN_MESSAGES_H

#include "base/error.h"
#include "base/text.h"
#include "vulkan/volk.h"

struct messages;
struct messages *messages_create(struct assay_error *error);
void messages_destroy(struct messages **messages);
/* A messenger that collects validation warnings and errors here; performance advice is left
 * out, and what the layer lacks for a check of its own. */
void messages_describe(struct messages *messages, VkDebugUtilsMessengerCreateInfoEXT *info);
/* As vulkan_instance_take_messages. */
size_t messages_take(struct messages *messages, struct text *out);

/* One message on one line: "VUID-...: text (objects: 'a', 'b')". Pure. */
void messages_format(const VkDebugUtilsMessengerCallbackDataEXT *data, struct text *out);

#endif
