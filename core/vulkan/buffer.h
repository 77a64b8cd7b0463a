/* SPDX-License-Identifier: MIT */
/* The inside of a buffer; for command.c, kernel.c, slot.c. */
#ifndef VULKAN_BUFFER_H
#define VULKAN_BUFFER_H

#include <assay/buffer.h>

#include "vulkan/device.h"

struct assay_buffer {
    struct assay_slot *slot; /* NULL for internal ones */
    struct assay_device *device;
    struct assay_buffer *next;
    struct assay_buffer_params params; /* name copied */
    char name[64];
    bool unnamed;
    uint64_t seed;                        /* of its random bits: fill or poison */
    VkBuffer handles[VULKAN_MEMBERS_MAX]; /* all VK_NULL_HANDLE for pageable */
    VkDeviceMemory memory[VULKAN_MEMBERS_MAX];
    uint64_t held_bytes; /* of a heap of the only member's, unless imported; counted there */
    uint32_t held_heap;
    void *address; /* host address or NULL */
    uint32_t
        guard_bytes;  /* behind the end of what the host can address; written once, and checked */
    void *allocation; /* malloc'ed (pageable) or aligned host memory (imported, or any kind in a set
                         of several) */
    bool
        device_local; /* allocated from device-local memory by kind: DEVICE and BAR of one member */
    bool coherent;    /* false: flush before submit, invalidate after */
    /* Host sides, made by partner.c; of the slot like any other buffer. */
    struct assay_buffer *source; /* an upload brings its contents: restored, it is poisoned */
    struct assay_buffer *sink;   /* where downloads go */
    bool partly_uploaded;        /* restored, it keeps its fill */
    void *data;                  /* of a DATA fill */
};

/* A buffer that belongs to no slot (staging); assay_buffer_destroy before the device goes. The
 * params' fill is drawn from `seed`. */
struct assay_buffer *buffer_create_internal(struct assay_device *device,
                                            const struct assay_buffer_params *params, uint64_t seed,
                                            struct assay_error *error);
/* Names a buffer that was made without a name, for messages. */
void buffer_name_late(struct assay_buffer *buffer, const char *name);
/* Makes the buffer one of the slot's. */
void buffer_adopt(struct assay_slot *slot, struct assay_buffer *buffer);
/* Puts fill (INPUT) or poison (OUTPUT) into the whole buffer; nothing for SCRATCH. */
bool buffer_restore(struct assay_buffer *buffer, struct assay_error *error);
/* ASSAY_WRONG_RESULT when something was written behind the buffer's end, where that can be seen. */
bool buffer_check_guard(const struct assay_buffer *buffer, struct assay_error *error);
/* Not-coherent memory: makes host writes visible to the device / device writes visible to the host.
 */
bool buffer_flush(struct assay_buffer *buffer, struct assay_error *error);
bool buffer_invalidate(struct assay_buffer *buffer, struct assay_error *error);
bool buffer_is_host(const struct assay_buffer *buffer); /* kind is not DEVICE */

#endif
