/* SPDX-License-Identifier: MIT */
/* Blocks of one size, each written, until the limit is reached or one is refused. */
#include "memory.h"

#include <assay/vulkan.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 65536
#define CHUNK_BYTES (UINT64_C(64) << 10)

struct params {
    int64_t step, limit;
    double share;
};

struct capacity {
    const struct params *params;
    struct assay_slot *slot;
    struct assay_buffer **blocks;
    unsigned char *chunk; /* two: what is written, what is read */
    uint64_t heap, limit;
    size_t count, reached; /* blocks that are held; that the last batch had */
    bool refused;
};

static bool capacity_check(const void *params, struct assay_error *error)
{
    const struct params *p = params;
    if (p->step <= p->limit && p->limit / p->step <= BLOCKS_MAX)
        return true;
    return assay_fail(error, ASSAY_INVALID,
                      "limit %" PRId64 " B takes steps of %" PRId64 " B to %" PRId64 " B", p->limit,
                      p->limit / BLOCKS_MAX + 1, p->limit);
}

static void release(struct capacity *capacity)
{
    while (capacity->count)
        assay_buffer_destroy(&capacity->blocks[--capacity->count]);
}

static void capacity_destroy(void **self)
{
    struct capacity *capacity = *self;
    if (!capacity)
        return;
    release(capacity);
    free(capacity->blocks);
    free(capacity->chunk);
    free(capacity);
    *self = NULL;
}

static void *capacity_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    struct capacity *capacity = calloc(1, sizeof(*capacity));
    void *self = capacity;
    const struct params *p = params;
    if (capacity) {
        capacity->blocks = calloc((size_t)(p->limit / p->step) + 1, sizeof(*capacity->blocks));
        capacity->chunk = malloc(2 * CHUNK_BYTES);
    }
    if (!capacity || !capacity->blocks || !capacity->chunk) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        capacity_destroy(&self);
        return NULL;
    }
    capacity->params = p;
    capacity->slot = slot;
    capacity->heap = assay_device_limits(assay_slot_device(slot))->device_heap_bytes;
    double share = p->share * (double)capacity->heap;
    capacity->limit = (double)p->limit < share ? (uint64_t)p->limit : (uint64_t)share;
    return self;
}

/* Each block gets bytes of its own, so that two that share memory show. */
static bool touch(struct capacity *capacity, size_t index, bool compare,
                  struct assay_verification *verification, struct assay_error *error)
{
    uint64_t bytes = (uint64_t)capacity->params->step;
    unsigned char *wanted = capacity->chunk, *got = wanted + CHUNK_BYTES;
    for (uint64_t offset = 0; offset < bytes; offset += CHUNK_BYTES) {
        uint64_t count = bytes - offset < CHUNK_BYTES ? bytes - offset : CHUNK_BYTES;
        memset(wanted, (int)(1 + (index + offset / CHUNK_BYTES) % 251), count);
        if (!compare) {
            if (!assay_buffer_write(capacity->blocks[index], offset, count, wanted, error))
                return false;
        } else if (!assay_buffer_read(capacity->blocks[index], offset, count, got, error) ||
                   !assay_verification_bytes(verification, "block", got, wanted, count,
                                             index * bytes + offset, error)) {
            return false;
        }
    }
    return true;
}

/* What was refused ends the batch, and is its result. */
static bool allocate_run(const struct assay_stage *stage, void *self, struct assay_error *error)
{
    (void)stage;
    struct capacity *capacity = self;
    uint64_t step = (uint64_t)capacity->params->step;
    struct assay_buffer_params params = {.size = sizeof(params),
                                         .name = "block",
                                         .bytes = step,
                                         .memory = ASSAY_MEMORY_DEVICE,
                                         .role = ASSAY_ROLE_SCRATCH};
    release(capacity);
    capacity->refused = false;
    while ((capacity->count + 1) * step <= capacity->limit) {
        struct assay_buffer *block = assay_buffer_create(capacity->slot, &params, NULL);
        capacity->refused = !block;
        if (!block)
            break;
        capacity->blocks[capacity->count++] = block;
        if (!touch(capacity, capacity->count - 1, false, NULL, error))
            return false;
    }
    capacity->reached = capacity->count;
    return true;
}

static bool capacity_verify(void *self, struct assay_verification *verification,
                            struct assay_error *error)
{
    struct capacity *capacity = self;
    for (size_t i = 0; i < capacity->count; i++)
        if (!touch(capacity, i, true, verification, error))
            return false;
    return true;
}

/* What the driver says that this process may have now; false where it does not tell. */
static bool read_budget(const struct assay_device *device, double *budget)
{
    PFN_vkGetPhysicalDeviceMemoryProperties2 get;
    PFN_vkEnumerateDeviceExtensionProperties list;
    PFN_vkVoidFunction found = assay_device_function(device, 0,
                                                     "vkGetPhysicalDeviceMemoryProperties2");
    PFN_vkVoidFunction lister = assay_device_function(device, 0,
                                                      "vkEnumerateDeviceExtensionProperties");
    VkPhysicalDevice physical = assay_device_physical(device, 0);
    uint32_t count = 0;
    bool there = false;
    if (!found || !lister)
        return false;
    memcpy(&get, &found, sizeof(get));
    memcpy(&list, &lister, sizeof(list));
    if (list(physical, NULL, &count, NULL) != VK_SUCCESS)
        return false;
    VkExtensionProperties *extensions = calloc(count + 1, sizeof(*extensions));
    if (extensions && list(physical, NULL, &count, extensions) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            there = there ||
                    strcmp(extensions[i].extensionName, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0;
    free(extensions);
    if (!there)
        return false;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT told = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &told};
    get(physical, &properties);
    *budget = 0;
    for (uint32_t i = 0; i < properties.memoryProperties.memoryHeapCount; i++)
        if ((properties.memoryProperties.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
            (double)told.heapBudget[i] > *budget)
            *budget = (double)told.heapBudget[i];
    return true;
}

static bool capacity_report(void *self, struct assay_metrics *metrics, struct assay_error *error)
{
    struct capacity *capacity = self;
    double allocated = (double)capacity->reached * (double)capacity->params->step, budget;
    if (read_budget(assay_slot_device(capacity->slot), &budget) &&
        !assay_metrics_add(metrics, "budget", budget, error))
        return false;
    return assay_metrics_add(metrics, "allocated", allocated, error) &&
           assay_metrics_add(metrics, "heap", (double)capacity->heap, error) &&
           assay_metrics_add(metrics, "allowed", (double)capacity->limit, error) &&
           assay_metrics_add(metrics, "refused", capacity->refused ? 1 : 0, error);
}

static const struct assay_option step_option = {.size = sizeof(step_option),
                                                .name = "step",
                                                .kind = ASSAY_OPTION_INTEGER,
                                                .offset = offsetof(struct params, step),
                                                .unit = "B",
                                                .fallback = "4 MiB",
                                                .min = 4096,
                                                .help = "of a block"};
static const struct assay_option limit_option = {.size = sizeof(limit_option),
                                                 .name = "limit",
                                                 .kind = ASSAY_OPTION_INTEGER,
                                                 .offset = offsetof(struct params, limit),
                                                 .unit = "B",
                                                 .fallback = "64 MiB",
                                                 .min = 4096,
                                                 .help = "never more than this ..."};
static const struct assay_option share_option = {.size = sizeof(share_option),
                                                 .name = "share",
                                                 .kind = ASSAY_OPTION_REAL,
                                                 .offset = offsetof(struct params, share),
                                                 .fallback = "0.1",
                                                 .real_min = 0.001,
                                                 .real_max = 1,
                                                 .help = "... nor than this share of the heap"};
static const struct assay_option *const options[] = {&step_option, &limit_option, &share_option,
                                                     NULL};

static const struct assay_stage allocate_stage = {
    .size = sizeof(allocate_stage),
    .name = "allocate",
    .help = "frees all blocks, then allocates and writes them until the limit or a refusal",
    .kind = ASSAY_STAGE_HOST,
    .run = allocate_run};
static const struct assay_stage *const stages[] = {&allocate_stage, NULL};

#define METRIC(id, unit_name, text)                                                                \
    static const struct assay_metric_info id##_metric = {                                          \
        .size = sizeof(id##_metric), .name = #id, .unit = unit_name, .help = text}
METRIC(allocated, "B", "in blocks, all written and read back");
METRIC(allowed, "B", "by limit and share");
METRIC(heap, "B", "size of the device's largest heap");
METRIC(budget, "B", "what the driver says that may be had of it now (VK_EXT_memory_budget)");
METRIC(refused, "1", "1: a block was refused before the limit was reached");
static const struct assay_metric_info *const metrics[] = {
    &allocated_metric, &allowed_metric, &heap_metric, &budget_metric, &refused_metric, NULL};

const struct assay_workload memory_capacity = {
    .size = sizeof(struct assay_workload),
    .name = "memory_capacity",
    .version = "1",
    .summary = "device memory in blocks of one size, up to a limit, each byte verified",
    .options = options,
    .params_size = sizeof(struct params),
    .stages = stages,
    .metrics = metrics,
    .check = capacity_check,
    .create = capacity_create,
    .verify = capacity_verify,
    .report = capacity_report,
    .destroy = capacity_destroy};
