/* SPDX-License-Identifier: MIT */
/* Logical devices and the device set. */
#ifndef VULKAN_DEVICE_H
#define VULKAN_DEVICE_H

#include <assay/device.h>

#include "base/clock.h"
#include "base/error.h"
#include "vulkan/instance.h"

#include <pthread.h>
#include <stdatomic.h>

enum vulkan_role {
    VULKAN_ROLE_COMPUTE,       /* compute-only family before one with graphics */
    VULKAN_ROLE_TRANSFER,      /* transfer-only family, else compute's */
    VULKAN_ROLE_TRANSFER_BACK, /* a second queue of the transfer family, or another family; else the
                                  same queue */
    VULKAN_ROLE_COUNT
};

enum vulkan_queue_choice { VULKAN_QUEUES_AUTO, VULKAN_QUEUES_ONE, VULKAN_QUEUES_DEDICATED };

struct vulkan_queue {
    VkQueue handle;
    uint32_t family, index;
    uint32_t timestamp_bits; /* 0: no timestamps on this queue, or no host reset of queries */
    double tick_ns;          /* timestampPeriod */
    int64_t step_ns; /* between two values that its timestamps can have, at least 1; measured with
                        empty_region_ns, before that the period */
    pthread_mutex_t lock;    /* held while something is submitted (queue_submit) */
    VkCommandPool pool;      /* for the one thread that records */
    int64_t empty_region_ns; /* median device time between two timestamps with nothing between; -1:
                                not measured or no timestamps */
};

/* One logical device. Member of a set. */
struct vulkan_device {
    const struct vulkan_physical *physical;
    VkDevice handle;
    struct VolkDeviceTable vk;
    struct vulkan_queue queues[VULKAN_ROLE_COUNT]; /* distinct queues first; see role */
    uint32_t queue_count;
    uint32_t role[VULKAN_ROLE_COUNT];                   /* index into queues */
    uint32_t families[VULKAN_ROLE_COUNT], family_count; /* distinct, for CONCURRENT buffers */
    const char *missing[ASSAY_FEATURE_COUNT];           /* NULL: there; else why not */
    bool host_import, calibrated_timestamps, memory_budget, debug_utils;
    bool timelines; /* timeline semaphores; required of Vulkan 1.2, and denied by some all the same
                     */
    bool texel_formats;         /* shaderStorageImageExtendedFormats */
    const char *no_executables; /* why its pipelines cannot be looked into; NULL: they can */
    uint64_t held_bytes[VK_MAX_MEMORY_HEAPS]; /* by all buffers, without imported memory */
};

#define VULKAN_MEMBERS_MAX 4

struct assay_device {
    struct vulkan_instance *instance; /* not owned; outlives the device */
    unsigned member_count;
    struct vulkan_device *members[VULKAN_MEMBERS_MAX];
    struct assay_limits limits;
    struct assay_matrix_shape *shapes; /* vulkan/matrix.h; those that all members have */
    size_t shape_count;
    int64_t wait_limit_ns;    /* every fence wait; on expiry the set is unusable (ASSAY_TIMEOUT) and
                                 its process must end */
    struct staging *staging;  /* vulkan/staging.h; made at its first use */
    struct fill_device *fill; /* vulkan/fill_device.h; the same */
    atomic_bool lost; /* a wait expired or the device was lost: objects leak rather than wait */
};

struct vulkan_device_params {
    const size_t
        *physical; /* indices into the instance's devices, one a member; several need host import */
    unsigned member_count;
    enum vulkan_queue_choice queues;
    int64_t wait_limit_ns; /* 0: 10 s */
    bool executables;      /* keep what the driver tells of pipelines, where it does: they may be
                              compiled otherwise than without */
};
/* Several devices (sets) may be open at once. */
struct assay_device *device_create(struct vulkan_instance *instance,
                                   const struct vulkan_device_params *params,
                                   struct assay_error *error);
void device_destroy(struct assay_device **device);
struct vulkan_queue *device_queue(struct vulkan_device *member, enum vulkan_role role);
/* Debug name for any object; no-op without VK_EXT_debug_utils. */
void device_name_object(const struct vulkan_device *member, VkObjectType type, uint64_t handle,
                        const char *name);
/* Fills error from a VkResult (out of memory, device lost and timeout get their status). Always
 * false. `call` is the function's name. Marks the set lost on VK_ERROR_DEVICE_LOST. */
bool device_fail(struct assay_device *device, VkResult result, const char *call,
                 struct assay_error *error);
/* Measures and stores empty_region_ns of each queue, once (bounded, some ms). */
bool device_measure_empty_regions(struct assay_device *device, struct assay_error *error);
/* What ran, for the record: name, uuid, pci, driver, members, queues with role, family and whether
 * shared. New reference. */
json_t *device_record(const struct assay_device *device);

#endif
