/* SPDX-License-Identifier: MIT */
/* Compute kernels from GLSL or SPIR-V; bindings, push constants and specialisation constants go by
 * the names in the source, found by reflection. */
#ifndef ASSAY_KERNEL_H
#define ASSAY_KERNEL_H

#include <assay/device.h>
#include <assay/error.h>

ASSAY_BEGIN_DECLARATIONS

struct assay_kernel;

struct assay_constant {
    const char *name; /* of the specialisation constant */
    double value; /* converted to the constant's type; refused when it does not fit exactly (fp32:
                     rounded) */
};

struct assay_define {
    const char *name, *value; /* a preprocessor macro */
};

struct assay_kernel_params {
    size_t size;        /* sizeof(struct assay_kernel_params) */
    const char *source; /* file name (.comp: GLSL, .spv: SPIR-V), searched beside the script, then
                           beside the plugin's file, then in shaders/ */
    const char *text;   /* or GLSL text; `source` is then its name in messages (NULL: "<text>") */
    const struct assay_constant *constants;
    size_t constant_count;
    const struct assay_define *defines;
    size_t define_count;
};

/* Belongs to the slot. ASSAY_SCRIPT with FILE:LINE: for GLSL errors; ASSAY_INVALID for an unknown
 * constant (names what there is). Compiled SPIR-V comes from the cache when it is there. */
ASSAY_API struct assay_kernel *assay_kernel_create(struct assay_slot *slot,
                                                   const struct assay_kernel_params *params,
                                                   struct assay_error *error);
ASSAY_API void assay_kernel_destroy(struct assay_kernel **kernel);
/* Local size of the workgroup in x, y, z, specialisation applied. */
ASSAY_API void assay_kernel_local_size(const struct assay_kernel *kernel, uint32_t local_size[3]);

ASSAY_END_DECLARATIONS

#endif
