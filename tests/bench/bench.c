/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include "vulkan/selector.h"

#include <stdio.h>
#include <stdlib.h>

bool bench_failed(const char *what, const struct assay_error *error)
{
    fprintf(stderr, "bench: %s: %s\n", what, error->text);
    return false;
}

bool bench_open(struct bench *bench, unsigned members)
{
    struct assay_error error = {0};
    *bench = (struct bench){0};
    bench->instance = vulkan_instance_create(&(struct vulkan_instance_params){0}, &error);
    if (!bench->instance)
        return bench_failed("instance", &error);
    json_t *inventory = vulkan_inventory(bench->instance);
    size_t index = 0;
    bool chosen = inventory &&
                  vulkan_select(inventory, getenv("ASSAY_BENCH_DEVICE"), &index, &error);
    json_decref(inventory);
    if (!chosen)
        return bench_failed("device", &error);
    size_t physical[VULKAN_MEMBERS_MAX];
    for (unsigned i = 0; i < VULKAN_MEMBERS_MAX; i++)
        physical[i] = index;
    struct vulkan_device_params params = {
        .physical = physical, .member_count = members, .wait_limit_ns = BENCH_WAIT_NS};
    bench->device = device_create(bench->instance, &params, &error);
    if (!bench->device)
        return bench_failed("device", &error);
    bench->slot = slot_create(
        &(struct slot_params){.device = bench->device, .case_seed = 1, .search = &bench->search},
        &error);
    return bench->slot || bench_failed("slot", &error);
}

void bench_close(struct bench *bench)
{
    slot_destroy(&bench->slot);
    device_destroy(&bench->device);
    vulkan_instance_destroy(&bench->instance);
}

struct assay_buffer *bench_buffer(struct bench *bench, const char *name, uint64_t bytes,
                                  enum assay_memory memory)
{
    struct assay_error error = {0};
    struct assay_buffer_params params = {
        .size = sizeof(params),
        .name = name,
        .bytes = bytes,
        .memory = memory,
        .role = ASSAY_ROLE_INPUT,
        .fill = {.kind = ASSAY_FILL_RANDOM_BITS},
    };
    struct assay_buffer *buffer = assay_buffer_create(bench->slot, &params, &error);
    if (!buffer)
        bench_failed(name, &error);
    return buffer;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
