/* SPDX-License-Identifier: MIT */
/* The values of a shader's specialisation constants, and what hangs on them. No device needed. */
#ifndef VULKAN_SPECIALISE_H
#define VULKAN_SPECIALISE_H

#include <assay/kernel.h>

#include "vulkan/reflect.h"
#include "vulkan/volk.h"

/* Constants as Vulkan wants them: packed values and where each one is. Those that are not there
 * have the module's default. */
struct specialisation {
    VkSpecializationInfo info;
    VkSpecializationMapEntry *entries; /* one a constant of the reflection at most */
    uint64_t *values;
    uint32_t local_size[3];
    uint64_t shared_bytes; /* of all shared variables, packed; saturates at UINT64_MAX */
};

/* Memory from the arena. ASSAY_INVALID, with the kernel's name in front, for a constant that the
 * module has not, that is given twice or whose value does not fit. */
bool specialise(const char *kernel, const struct reflection *reflection,
                const struct assay_constant *given, size_t count, struct arena *arena,
                struct specialisation *out, struct assay_error *error);
/* The constant's bits, given or default. */
uint64_t specialise_bits(const struct specialisation *specialisation,
                         const struct reflect_constant *constant);

#endif
