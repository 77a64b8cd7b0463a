/* SPDX-License-Identifier: MIT */
#include "vulkan/slot.h"

#include "base/hash.h"
#include "vulkan/buffer.h"

#include <stdlib.h>

struct assay_slot *slot_create(const struct slot_params *params, struct assay_error *error)
{
    struct assay_slot *slot = calloc(1, sizeof(*slot));
    if (!slot) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for a slot");
        return NULL;
    }
    slot->device = params->device;
    slot->seed = random_child(params->case_seed, params->index);
    if (params->search) {
        slot->own_search = *params->search;
        slot->own_search.trace = &slot->trace;
        slot->search = &slot->own_search;
    }
    return slot;
}

size_t slot_destroy(struct assay_slot **slot)
{
    size_t left = 0;
    if (!*slot)
        return 0;
    for (; (*slot)->kernels; left++) {
        struct assay_kernel *kernel = (*slot)->kernels;
        assay_kernel_destroy(&kernel);
    }
    for (; (*slot)->buffers; left++) {
        struct assay_buffer *buffer = (*slot)->buffers;
        assay_buffer_destroy(&buffer);
    }
    slot_files_free(*slot);
    text_free(&(*slot)->notes);
    shader_trace_free(&(*slot)->trace);
    free(*slot);
    *slot = NULL;
    return left;
}

bool slot_restore(struct assay_slot *slot, struct assay_error *error)
{
    for (struct assay_buffer *buffer = slot->buffers; buffer; buffer = buffer->next)
        if (!buffer_restore(buffer, error))
            return false;
    return true;
}

bool slot_check_guards(const struct assay_slot *slot, struct assay_error *error)
{
    for (const struct assay_buffer *buffer = slot->buffers; buffer; buffer = buffer->next)
        if (!buffer_check_guard(buffer, error))
            return false;
    return true;
}

void slot_memory(const struct assay_slot *slot, uint64_t *device_bytes, uint64_t *host_bytes)
{
    *device_bytes = *host_bytes = 0;
    for (const struct assay_buffer *buffer = slot->buffers; buffer; buffer = buffer->next)
        if (buffer->device_local)
            *device_bytes += buffer->params.bytes;
        else
            *host_bytes += buffer->params.bytes;
}

struct assay_device *assay_slot_device(const struct assay_slot *slot)
{
    return slot->device;
}

uint64_t assay_slot_seed(const struct assay_slot *slot)
{
    return slot->seed;
}
