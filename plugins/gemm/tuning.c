/* SPDX-License-Identifier: MIT */
/* variant = auto: which kernel with which tile is found by measurement, once for each class of
 * sizes. */
#include "tuning.h"

#include "variant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Larger problems are tuned by these: a GPU is filled, and no kernel takes seconds. On a CPU the
 * kernels that are made for GPUs take a hundred times as long as the one that is made for it: where
 * that one is there they are tried with small problems alone. */
#define SIZE_MOST 2048u
#define SIZE_MOST_CPU 512u
#define SIZE_SMALL 128u
#define BATCH_MANY 8u /* products, and more: alike in what is fast */
#define SHAPES_MOST_CPU 2u

/* The best guesses first: when the time is over the rest is not tried. */
static const char *const on_cpu[] = {"subgroup", "tile", "plain", "dot", "coopmat", NULL};
static const char *const on_gpu[] = {"coopmat", "dot", "tile", "subgroup", "plain", NULL};

static bool wanted(const void *params)
{
    return !gemm_variant_at(((const struct gemm_params *)params)->variant);
}

/* The power of two that is not below. */
static uint64_t class_of(uint64_t size)
{
    uint64_t top = 1;
    while (top < size)
        top *= 2;
    return top;
}

static int choice_of(const char *name, size_t length)
{
    for (int i = 0; gemm_variant_names[i]; i++)
        if (strlen(gemm_variant_names[i]) == length &&
            memcmp(gemm_variant_names[i], name, length) == 0)
            return i;
    return -1;
}

/* Whether the device is a CPU and has the kernel that is made for those. */
static bool has_cpu_kernel(const struct assay_device *device, const struct gemm_problem *problem)
{
    const int choice = choice_of(on_cpu[0], strlen(on_cpu[0]));
    const struct gemm_variant *variant = choice < 0 ? NULL : gemm_variant_at(choice);
    return assay_device_limits(device)->on_cpu && variant &&
           variant->supported(device, problem, gemm_shape_of(variant, device, problem, "auto"),
                              NULL);
}

static uint64_t size_most(const struct assay_device *device, const struct gemm_problem *problem)
{
    if (!assay_device_limits(device)->on_cpu)
        return SIZE_MOST;
    return has_cpu_kernel(device, problem) ? SIZE_MOST_CPU : SIZE_SMALL;
}

/* The case's own problem as far as it goes: its kernels have to be compiled anyway. */
static void reduce(const struct assay_device *device, void *params)
{
    struct gemm_params *p = params;
    struct gemm_problem problem;
    if (!gemm_problem_make(p, &problem, NULL))
        return; /* check refuses it */
    const uint64_t most = size_most(device, &problem);
    if (problem.m > most)
        p->m = (int64_t)most;
    if (problem.n > most)
        p->n = (int64_t)most;
    if (problem.k > most)
        p->k = (int64_t)most;
    const bool many = problem.batch >= BATCH_MANY && gemm_problem_make(p, &problem, NULL) &&
                      problem.flops / problem.batch * BATCH_MANY <= 2 * most * most * most;
    p->batch = many ? BATCH_MANY : 1;
    p->resident = true; /* the upload is the same for all */
}

static void key(const struct assay_device *device, const void *params, char *text, size_t bytes)
{
    static const char *const values[] = {"", " denormal", " special"};
    struct gemm_params p = *(const struct gemm_params *)params;
    struct gemm_problem problem;
    const char *layout = p.transpose_a ? p.transpose_b ? "tt" : "tn" : p.transpose_b ? "nt" : "nn";
    reduce(device, &p);
    if (!gemm_problem_make(&p, &problem, NULL)) {
        snprintf(text, bytes, "none");
        return;
    }
    snprintf(text, bytes, "%s %s %" PRIu64 "x%" PRIu64 "x%" PRIu64 "%s%s",
             gemm_precision_names[p.precision], layout, class_of(problem.m), class_of(problem.n),
             class_of(problem.k), p.batch > 1 ? " batch" : "", values[p.values]);
}

static bool is_for_gpus(const struct gemm_variant *variant)
{
    return strcmp(variant->name, on_cpu[0]) != 0;
}

/* Shape `index` of the variant that is worth a trial, the guess first; NULL: no more. Of a variant
 * that the device does not have one shape is enough, to say why. */
static const char *shape_at(const struct assay_device *device, const struct gemm_problem *problem,
                            const struct gemm_variant *variant, unsigned index)
{
    const bool few = assay_device_limits(device)->on_cpu;
    const char *guess = gemm_shape_of(variant, device, problem, "auto");
    if (is_for_gpus(variant) && has_cpu_kernel(device, problem) &&
        problem->flops / 2 > (uint64_t)SIZE_SMALL * SIZE_SMALL * SIZE_SMALL)
        return NULL;
    if (index == 0)
        return guess;
    /* To compile one takes a second or more there. */
    if (few && index >= SHAPES_MOST_CPU)
        return NULL;
    for (const char *const *shape = variant->shapes; *shape; shape++)
        if (strcmp(*shape, guess) != 0 && variant->supported(device, problem, *shape, NULL) &&
            --index == 0)
            return *shape;
    return NULL;
}

static bool candidate(const struct assay_device *device, const void *params, unsigned index,
                      char *text, size_t bytes)
{
    struct gemm_params p = *(const struct gemm_params *)params;
    const char *const *order = assay_device_limits(device)->on_cpu ? on_cpu : on_gpu;
    struct gemm_problem problem;
    reduce(device, &p);
    if (!gemm_problem_make(&p, &problem, NULL))
        return false; /* check refuses it */
    for (; *order; order++) {
        const int choice = choice_of(*order, strlen(*order));
        const struct gemm_variant *variant = choice < 0 ? NULL : gemm_variant_at(choice);
        const char *shape;
        for (unsigned i = 0; variant && (shape = shape_at(device, &problem, variant, i)); i++) {
            if (index-- > 0)
                continue;
            snprintf(text, bytes, "%s %s", variant->name, shape);
            return true;
        }
    }
    return false;
}

static bool choose(void *params, const char *name, struct assay_error *error)
{
    struct gemm_params *p = params;
    const char *space = strchr(name, ' ');
    const int choice = space ? choice_of(name, (size_t)(space - name)) : -1;
    const struct gemm_variant *variant = choice < 0 ? NULL : gemm_variant_at(choice);
    if (!variant || !gemm_shape_find(variant, space + 1))
        return assay_fail(error, ASSAY_INVALID, "there is no variant and tile '%s'", name);
    p->variant = choice;
    p->tile = space + 1;
    return true;
}

const struct assay_tuning gemm_tuning = {.size = sizeof(struct assay_tuning),
                                         .wanted = wanted,
                                         .key = key,
                                         .candidate = candidate,
                                         .choose = choose,
                                         .reduce = reduce};
