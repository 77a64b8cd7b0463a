/* SPDX-License-Identifier: MIT */
/* The device that a slot lives on, as a plugin sees it: limits and features. The handle is a
 * *device set*: one or more logical devices that see the same buffers; one member is the usual
 * case. */
#ifndef ASSAY_DEVICE_H
#define ASSAY_DEVICE_H

#include <assay/element.h>

ASSAY_BEGIN_DECLARATIONS

struct assay_device;
struct assay_slot;

/* What not every device has. */
enum assay_feature {
    ASSAY_FEATURE_FP16,               /* 16-bit float arithmetic and storage in shaders */
    ASSAY_FEATURE_FP64,               /* 64-bit float arithmetic */
    ASSAY_FEATURE_INT8,               /* 8-bit integer arithmetic and storage */
    ASSAY_FEATURE_INT16,              /* 16-bit integer arithmetic and storage */
    ASSAY_FEATURE_INT64,              /* 64-bit integer arithmetic */
    ASSAY_FEATURE_HOST_IMPORT,        /* VK_EXT_external_memory_host */
    ASSAY_FEATURE_COOPERATIVE_MATRIX, /* VK_KHR_cooperative_matrix, and a GLSL compiler that knows
                                         it: then there are shapes, too */
    ASSAY_FEATURE_INTEGER_DOT,        /* VK_KHR_shader_integer_dot_product */
    ASSAY_FEATURE_COUNT
};

/* The smallest over the members of the set. */
struct assay_limits {
    uint64_t max_allocation_bytes;    /* maxMemoryAllocationSize, and maxBufferSize where the driver
                                         tells it */
    uint64_t max_storage_range_bytes; /* maxStorageBufferRange */
    uint64_t device_heap_bytes;       /* size of the largest device-local heap */
    uint64_t host_heap_bytes;         /* size of the largest heap with host-visible memory */
    uint64_t import_alignment_bytes;  /* minImportedHostPointerAlignment; 0 without host import */
    uint64_t storage_alignment_bytes; /* minStorageBufferOffsetAlignment */
    uint32_t max_groups[3];           /* maxComputeWorkGroupCount */
    uint32_t max_group_size[3];       /* maxComputeWorkGroupSize */
    uint32_t max_group_invocations;   /* maxComputeWorkGroupInvocations */
    uint32_t max_shared_bytes;        /* maxComputeSharedMemorySize */
    uint32_t max_texel_elements;      /* maxTexelBufferElements */
    uint32_t max_push_bytes;          /* maxPushConstantsSize */
    uint32_t subgroup_size;           /* subgroupSize */
    uint64_t texel_alignment_bytes;   /* minTexelBufferOffsetAlignment */
    bool on_cpu;                      /* a driver that computes on the CPU, not on a device */
};

/* Valid as long as the device. Any thread. */
ASSAY_API const struct assay_limits *assay_device_limits(const struct assay_device *device);
/* False when absent; `*why_not` (if wanted) then says what is missing. Any thread. */
ASSAY_API bool assay_device_has(const struct assay_device *device, enum assay_feature feature,
                                const char **why_not);

/* How long the host waits for one submission, in ns, before it takes the device for lost
 * (ASSAY_TIMEOUT). Work that comes near it, on a busy machine, is to be recorded as several:
 * assay_command_wait. Any thread. */
ASSAY_API int64_t assay_device_wait_limit_ns(const struct assay_device *device);

/* A product of matrices that a subgroup computes at once: r = a b + c, with a of m x k, b of k x n,
 * c and r of m x n elements. */
struct assay_matrix_shape {
    uint32_t m, n, k;           /* in elements */
    enum assay_element a, b, c; /* types of the operands */
    enum assay_element r;       /* of the result */
    bool saturating;            /* whole results stop at their type's bounds instead of wrapping */
};
/* Shape number `index`, from 0, of those that every member of the set has, in the driver's order;
 * valid as long as the device. NULL past the last: at once without
 * ASSAY_FEATURE_COOPERATIVE_MATRIX. Any thread. */
ASSAY_API const struct assay_matrix_shape *
assay_device_matrix_shape(const struct assay_device *device, size_t index);

/* Name as the driver gives it, made valid UTF-8 without control characters; valid as long as the
 * device. Any thread. */
ASSAY_API const char *assay_device_name(const struct assay_device *device);

/* The slot's device, valid longer than the slot; NULL for a workload of MODEL stages alone. Any
 * thread. */
ASSAY_API struct assay_device *assay_slot_device(const struct assay_slot *slot);
/* Seed of this slot, 64 random bits: derived from the case's seed and the slot's index, so slots
 * have distinct inputs. Any thread. */
ASSAY_API uint64_t assay_slot_seed(const struct assay_slot *slot);

ASSAY_END_DECLARATIONS

#endif
