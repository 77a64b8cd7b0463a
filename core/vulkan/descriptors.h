/* SPDX-License-Identifier: MIT */
/* Descriptor sets of dispatches; for kernel.c and dispatch.c. */
#ifndef VULKAN_DESCRIPTORS_H
#define VULKAN_DESCRIPTORS_H

#include "vulkan/kernel.h"
#include "vulkan/recording.h"

/* Of any kind but REFLECT_UNSUPPORTED. */
VkDescriptorType descriptors_type(enum reflect_kind kind);
/* Bytes that a checked binding takes of its buffer. */
uint64_t descriptors_range(const struct assay_binding *given);
/* Allocates the kernel's sets for one dispatch, `set_count` of them, and writes the bindings into
 * them: `given` has one for each of the kernel's, checked. Sets and views live as long as the
 * recording. */
bool descriptors_make(struct assay_command *command, const struct assay_kernel *kernel,
                      const struct assay_binding *const *given, VkDescriptorSet *sets,
                      struct assay_error *error);

#endif
