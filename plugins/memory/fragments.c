/* SPDX-License-Identifier: MIT */
/* Blocks of many sizes and two lifetimes in one pool of device memory: what is free in one piece,
 * against all that is free. */
#include "memory.h"

#include <stdlib.h>

#define PAGE UINT64_C(4096)
#define PAGES_MAX (1 << 18)

enum fit { FIRST, BEST };
static const char *const fits[] = {"first", "best", NULL};

struct params {
    int64_t pool, blocks, smallest, largest;
    double long_lived;
    int fit;
};

struct fragments {
    const struct params *params;
    struct assay_buffer *pool;
    uint32_t *owner; /* of each page; 0: free */
    uint32_t pages;
    uint64_t seed, random;
    uint32_t total_free, largest_free, failed;
};

static bool fragments_check(const void *params, struct assay_error *error)
{
    const struct params *p = params;
    return (p->smallest <= p->largest && p->largest <= p->pool) ||
           assay_fail(error, ASSAY_INVALID, "smallest, largest and pool must not fall");
}

static void fragments_destroy(void **self)
{
    struct fragments *fragments = *self;
    if (!fragments)
        return;
    assay_buffer_destroy(&fragments->pool);
    free(fragments->owner);
    free(fragments);
    *self = NULL;
}

static void *fragments_create(struct assay_slot *slot, const void *params,
                              struct assay_error *error)
{
    struct fragments *fragments = calloc(1, sizeof(*fragments));
    void *self = fragments;
    const struct params *p = params;
    struct assay_buffer_params pool = {.size = sizeof(pool),
                                       .name = "pool",
                                       .bytes = (uint64_t)p->pool / PAGE * PAGE,
                                       .memory = ASSAY_MEMORY_DEVICE,
                                       .role = ASSAY_ROLE_SCRATCH};
    if (fragments) {
        fragments->params = p;
        fragments->seed = assay_slot_seed(slot);
        fragments->pages = (uint32_t)(pool.bytes / PAGE);
        fragments->owner = calloc(fragments->pages, sizeof(*fragments->owner));
    }
    if (!fragments || !fragments->owner)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
    else
        fragments->pool = assay_buffer_create(slot, &pool, error);
    if (!fragments || !fragments->pool)
        fragments_destroy(&self);
    return self;
}

/* xorshift64*, Vigna 2016 */
static uint64_t draw(struct fragments *fragments)
{
    uint64_t x = fragments->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    fragments->random = x;
    return x * UINT64_C(2685821657736338717) >> 16;
}

/* The pages of a run that starts at `first`, free or not. */
static uint32_t run_length(const struct fragments *fragments, uint32_t first)
{
    uint32_t end = first;
    while (end < fragments->pages && fragments->owner[end] == fragments->owner[first])
        end++;
    return end - first;
}

/* The first page of where `wanted` pages go; `pages` when nowhere. */
static uint32_t find_place(const struct fragments *fragments, uint32_t wanted)
{
    uint32_t place = fragments->pages, best = UINT32_MAX, length;
    for (uint32_t i = 0; i < fragments->pages; i += length) {
        length = run_length(fragments, i);
        if (fragments->owner[i] != 0 || length < wanted || length >= best)
            continue;
        place = i;
        best = length;
        if (fragments->params->fit == FIRST)
            break;
    }
    return place;
}

static void release_short(struct fragments *fragments)
{
    for (uint32_t i = 0; i < fragments->pages; i++)
        if (fragments->owner[i] & 1)
            fragments->owner[i] = 0;
}

static void measure_free(struct fragments *fragments)
{
    uint32_t length;
    fragments->total_free = fragments->largest_free = 0;
    for (uint32_t i = 0; i < fragments->pages; i += length) {
        length = run_length(fragments, i);
        if (fragments->owner[i] != 0)
            continue;
        fragments->total_free += length;
        if (length > fragments->largest_free)
            fragments->largest_free = length;
    }
}

/* Odd numbers live shortly: they all go at the end. */
static bool churn_run(const struct assay_stage *stage, void *self, struct assay_error *error)
{
    (void)stage;
    (void)error;
    struct fragments *fragments = self;
    const struct params *p = fragments->params;
    uint64_t low = (uint64_t)p->smallest / PAGE, span = (uint64_t)p->largest / PAGE - low + 1;
    fragments->random = fragments->seed | 1;
    fragments->failed = 0;
    for (uint32_t i = 0; i < fragments->pages; i++)
        fragments->owner[i] = 0;
    for (uint32_t block = 1; block <= (uint32_t)p->blocks; block++) {
        uint32_t wanted = (uint32_t)(low + draw(fragments) % span);
        bool lasts = (double)(draw(fragments) % 10000) < 1e4 * p->long_lived;
        uint32_t place = find_place(fragments, wanted);
        if (place == fragments->pages)
            fragments->failed++;
        for (uint32_t i = 0; place < fragments->pages && i < wanted; i++)
            fragments->owner[place + i] = 2 * block + (lasts ? 0 : 1);
    }
    release_short(fragments);
    measure_free(fragments);
    return true;
}

/* Every page is written with its owner, and still has it when all are. */
static bool fragments_verify(void *self, struct assay_verification *verification,
                             struct assay_error *error)
{
    struct fragments *fragments = self;
    uint32_t page[1024], got[1024];
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < fragments->pages; i++) {
            for (uint32_t w = 0; w < 1024; w++)
                page[w] = fragments->owner[i] * 1024 + w;
            bool good = pass == 0
                            ? assay_buffer_write(fragments->pool, i * PAGE, PAGE, page, error)
                            : assay_buffer_read(fragments->pool, i * PAGE, PAGE, got, error) &&
                                  assay_verification_bytes(verification, "page", got, page, PAGE,
                                                           i * PAGE, error);
            if (!good)
                return false;
        }
    }
    return true;
}

static bool fragments_report(void *self, struct assay_metrics *metrics, struct assay_error *error)
{
    const struct fragments *fragments = self;
    double total = fragments->total_free, largest = fragments->largest_free;
    return assay_metrics_add(metrics, "total_free", total * (double)PAGE, error) &&
           assay_metrics_add(metrics, "largest_free", largest * (double)PAGE, error) &&
           assay_metrics_add(metrics, "fragmentation", total > 0 ? 1 - largest / total : 0,
                             error) &&
           assay_metrics_add(metrics, "failed", fragments->failed, error);
}

#define BYTES(member, value, most, text)                                                           \
    static const struct assay_option member##_option = {.size = sizeof(member##_option),           \
                                                        .name = #member,                           \
                                                        .kind = ASSAY_OPTION_INTEGER,              \
                                                        .offset = offsetof(struct params, member), \
                                                        .unit = "B",                               \
                                                        .fallback = value,                         \
                                                        .min = (int64_t)PAGE,                      \
                                                        .max = (int64_t)PAGE * (most),             \
                                                        .help = text}
BYTES(pool, "16 MiB", PAGES_MAX, "device memory that the blocks are cut from");
BYTES(smallest, "4 KiB", PAGES_MAX, "block; whole pages of 4 KiB");
BYTES(largest, "256 KiB", PAGES_MAX, "block");
static const struct assay_option blocks_option = {.size = sizeof(blocks_option),
                                                  .name = "blocks",
                                                  .kind = ASSAY_OPTION_INTEGER,
                                                  .offset = offsetof(struct params, blocks),
                                                  .unit = "blocks",
                                                  .fallback = "256",
                                                  .min = 1,
                                                  .max = 100000,
                                                  .help = "asked for, one after the other"};
static const struct assay_option long_lived_option = {.size = sizeof(long_lived_option),
                                                      .name = "long_lived",
                                                      .kind = ASSAY_OPTION_REAL,
                                                      .offset = offsetof(struct params, long_lived),
                                                      .fallback = "0.5",
                                                      .real_max = 1,
                                                      .help = "share of blocks that stay"};
static const struct assay_option fit_option = {.size = sizeof(fit_option),
                                               .name = "fit",
                                               .kind = ASSAY_OPTION_CHOICE,
                                               .offset = offsetof(struct params, fit),
                                               .fallback = "first",
                                               .choices = fits,
                                               .help = "the first free range, or the smallest"};
static const struct assay_option *const options[] = {&pool_option,
                                                     &blocks_option,
                                                     &smallest_option,
                                                     &largest_option,
                                                     &long_lived_option,
                                                     &fit_option,
                                                     NULL};

static const struct assay_stage churn_stage = {
    .size = sizeof(churn_stage),
    .name = "churn",
    .help = "asks for all blocks, then frees the short-lived ones",
    .kind = ASSAY_STAGE_HOST,
    .run = churn_run};
static const struct assay_stage *const stages[] = {&churn_stage, NULL};

#define METRIC(id, unit_name, text)                                                                \
    static const struct assay_metric_info id##_metric = {                                          \
        .size = sizeof(id##_metric), .name = #id, .unit = unit_name, .help = text}
METRIC(total_free, "B", "after the short-lived blocks have gone");
METRIC(largest_free, "B", "in one piece");
METRIC(fragmentation, "1", "1 - largest_free / total_free");
METRIC(failed, "1", "blocks for which no range was large enough");
static const struct assay_metric_info *const metrics[] = {
    &total_free_metric, &largest_free_metric, &fragmentation_metric, &failed_metric, NULL};

const struct assay_workload memory_fragments = {
    .size = sizeof(struct assay_workload),
    .name = "memory_fragments",
    .version = "1",
    .summary =
        "blocks of two lifetimes in one pool: the largest free range against all that is free",
    .options = options,
    .params_size = sizeof(struct params),
    .stages = stages,
    .metrics = metrics,
    .check = fragments_check,
    .create = fragments_create,
    .verify = fragments_verify,
    .report = fragments_report,
    .destroy = fragments_destroy};
