/* SPDX-License-Identifier: MIT */
/* The host's side of a slot: the device, the seed, and all buffers and kernels that the workload
 * made in it. */
#ifndef VULKAN_SLOT_H
#define VULKAN_SLOT_H

#include <assay/buffer.h>
#include <assay/kernel.h>
#include <assay/slot.h>

#include "vulkan/device.h"
#include "vulkan/shader.h"

struct assay_slot {
    struct assay_device *device; /* NULL for MODEL workloads */
    uint64_t seed;
    const struct shader_search *search; /* where kernels are looked for: `own_search`, or NULL */
    struct shader_search own_search;
    struct shader_trace trace;    /* of all kernels, those that could not be made included */
    struct assay_buffer *buffers; /* linked, in order of creation */
    struct assay_kernel *kernels;
    struct slot_file *files;
    struct text notes;     /* each with its NUL */
    uint32_t buffer_count; /* created so far: index of the next, for its stream of random bits */
};

struct slot_params {
    struct assay_device *device;
    uint64_t case_seed;
    unsigned index;
    const struct shader_search *search;
};
struct assay_slot *slot_create(const struct slot_params *params, struct assay_error *error);
/* Destroys what the workload left; returns how many buffers and kernels that were (0 is a
 * well-behaved workload). */
size_t slot_destroy(struct assay_slot **slot);
/* Frees the files that were read. */
void slot_files_free(struct assay_slot *slot);
/* Restores the fill of INPUT buffers, poisons OUTPUT buffers. */
bool slot_restore(struct assay_slot *slot, struct assay_error *error);
/* ASSAY_WRONG_RESULT when something was written behind the end of one of the slot's buffers. */
bool slot_check_guards(const struct assay_slot *slot, struct assay_error *error);
/* Bytes of device-local and host memory the slot's buffers hold. */
void slot_memory(const struct assay_slot *slot, uint64_t *device_bytes, uint64_t *host_bytes);

#endif
