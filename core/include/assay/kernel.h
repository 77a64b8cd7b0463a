/* SPDX-License-Identifier: MIT */
/* Compute kernels from GLSL or SPIR-V; bindings, push constants and specialisation constants go by
 * the names in the source, found by reflection. One thread at a time a slot. Strings and arrays in
 * parameters are copied. */
#ifndef ASSAY_KERNEL_H
#define ASSAY_KERNEL_H

#include <assay/device.h>
#include <assay/error.h>

ASSAY_BEGIN_DECLARATIONS

struct assay_kernel;

/* The value of a specialisation constant; copied. */
struct assay_constant {
    const char *name; /* of the specialisation constant */
    double value; /* converted to the constant's type; refused when it does not fit exactly (fp32:
                     rounded) */
};

/* A macro for GLSL; copied. */
struct assay_define {
    const char *name, *value; /* a preprocessor macro */
};

/* What a kernel is made of. */
struct assay_kernel_params {
    size_t size;        /* sizeof(struct assay_kernel_params) */
    const char *source; /* file name (.comp: GLSL, .spv: SPIR-V), searched beside the script, then
                           beside the plugin's file, then in shaders/ */
    const char *text;   /* or GLSL text; `source` is then its name in messages (NULL: "<text>") */
    const struct assay_constant *constants; /* those that shall not have their default */
    size_t constant_count;                  /* of them */
    const struct assay_define *defines;     /* GLSL only */
    size_t define_count;                    /* of them */
};

/* Belongs to the slot. ASSAY_SCRIPT with FILE:LINE: for GLSL errors; ASSAY_INVALID for an unknown
 * constant (names what there is); ASSAY_UNSUPPORTED for one that needs more than the device has.
 * Compiled SPIR-V comes from the cache when it is there. */
ASSAY_API struct assay_kernel *assay_kernel_create(struct assay_slot *slot,
                                                   const struct assay_kernel_params *params,
                                                   struct assay_error *error);
/* NULL is allowed. What is left is released with the slot. */
ASSAY_API void assay_kernel_destroy(struct assay_kernel **kernel);
/* The size of a workgroup in invocations, into `local_size` in x, y, z, specialisation applied. */
ASSAY_API void assay_kernel_local_size(const struct assay_kernel *kernel, uint32_t local_size[3]);

ASSAY_END_DECLARATIONS

#endif
