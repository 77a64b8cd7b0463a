/* SPDX-License-Identifier: MIT */
/* A timeline semaphore of one queue: its value counts the submissions that have ended. Other queues
 * of the same logical device and the host wait for a value. */
#ifndef VULKAN_TIMELINE_H
#define VULKAN_TIMELINE_H

#include "vulkan/device.h"

struct timeline;
struct timeline *timeline_create(struct assay_device *device, unsigned member, const char *name,
                                 struct assay_error *error);
/* What waits for it or signals it must have ended. NULL is allowed. */
void timeline_destroy(struct timeline **timeline);

VkSemaphore timeline_handle(const struct timeline *timeline);
/* Whether the value has been reached; any thread. */
bool timeline_reached(const struct timeline *timeline, uint64_t value, bool *reached,
                      struct assay_error *error);
/* Waits at most the set's limit; as queue_wait, a wait that fails marks the set lost
 * (ASSAY_TIMEOUT on expiry). `what` names the work in messages. Any thread. */
bool timeline_wait(const struct timeline *timeline, uint64_t value, const char *what,
                   struct assay_error *error);

#endif
