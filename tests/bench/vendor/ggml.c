/* SPDX-License-Identifier: MIT */
/* ggml's Vulkan backend, by the part of its C interface that one matrix product needs; fp32. Its
 * libraries are looked for in $ASSAY_BENCH_GGML first. */
#include "vendor.h"

#include <stdio.h>
#include <stdlib.h>

/* As ggml.h declares them. */
enum { GGML_FP32 = 0 };
struct ggml_init_params {
    size_t bytes;
    void *memory;
    bool no_alloc;
};

static struct {
    void *(*init)(struct ggml_init_params);
    void *(*tensor_2d)(void *context, int type, int64_t columns, int64_t rows);
    void *(*mul_mat)(void *context, void *a, void *b);
    void *(*graph_new)(void *context);
    void (*graph_expand)(void *graph, void *tensor);
    void *(*allocate)(void *context, void *backend);
    void (*tensor_set)(void *tensor, const void *data, size_t offset, size_t bytes);
    void (*tensor_get)(const void *tensor, void *data, size_t offset, size_t bytes);
    int (*compute)(void *backend, void *graph);
    void *backend, *graph, *c;
    uint64_t n;
} ggml;

static bool open_file(const char *name, void **library)
{
    const char *directory = getenv("ASSAY_BENCH_GGML");
    char path[4096];
    snprintf(path, sizeof(path), "%s%s%s", directory ? directory : "", directory ? "/" : "", name);
    const char *const names[] = {path, NULL};
    return (*library = vendor_open(names)) != NULL;
}

static bool ggml_open(const char *pci, char *text, uint64_t text_bytes)
{
    void *base, *vulkan, *(*start)(size_t device);
    void (*describe)(int device, char *text, size_t bytes);
    int (*devices)(void);
    char device[128] = "";
    (void)pci;
    if (!open_file("libggml-base.so", &base) || !open_file("libggml-vulkan.so", &vulkan) ||
        !vendor_find(vulkan, "ggml_backend_vk_init", &start) ||
        !vendor_find(vulkan, "ggml_backend_vk_get_device_count", &devices) ||
        !vendor_find(vulkan, "ggml_backend_vk_get_device_description", &describe) ||
        !vendor_find(base, "ggml_init", &ggml.init) ||
        !vendor_find(base, "ggml_new_tensor_2d", &ggml.tensor_2d) ||
        !vendor_find(base, "ggml_mul_mat", &ggml.mul_mat) ||
        !vendor_find(base, "ggml_new_graph", &ggml.graph_new) ||
        !vendor_find(base, "ggml_build_forward_expand", &ggml.graph_expand) ||
        !vendor_find(base, "ggml_backend_alloc_ctx_tensors", &ggml.allocate) ||
        !vendor_find(base, "ggml_backend_tensor_set", &ggml.tensor_set) ||
        !vendor_find(base, "ggml_backend_tensor_get", &ggml.tensor_get) ||
        !vendor_find(base, "ggml_backend_graph_compute", &ggml.compute))
        return false;
    if (devices() < 1)
        return vendor_fail("ggml's Vulkan backend finds no device");
    ggml.backend = start(0);
    if (!ggml.backend)
        return vendor_fail("ggml's Vulkan backend does not start");
    describe(0, device, sizeof(device));
    snprintf(text, text_bytes, "ggml's Vulkan backend on %s", device);
    return true;
}

/* ggml's product is of rows with rows: C' = B' A', each transposed, is made of the two operands
 * that lie here as ggml wants them, B' by rows and A by rows. */
static bool ggml_prepare(enum vendor_kind kind, uint64_t n)
{
    uint64_t bytes = n * n * 4;
    struct ggml_init_params params = {.bytes = 1 << 20, .no_alloc = true};
    if (kind != VENDOR_FP32)
        return vendor_fail("of ggml's only fp32 is measured");
    ggml.n = n;
    float *a = vendor_matrix(kind, n, true), *b = vendor_matrix(kind, n, false);
    void *context = ggml.init(params);
    bool fine = a && b && (context || vendor_fail("ggml_init failed"));
    if (fine) {
        void *right = ggml.tensor_2d(context, GGML_FP32, (int64_t)n, (int64_t)n);
        void *left = ggml.tensor_2d(context, GGML_FP32, (int64_t)n, (int64_t)n);
        ggml.c = ggml.mul_mat(context, right, left);
        ggml.graph = ggml.graph_new(context);
        ggml.graph_expand(ggml.graph, ggml.c);
        fine = ggml.allocate(context, ggml.backend) || vendor_fail("ggml has no memory for it");
        if (fine) {
            for (uint64_t i = 0; i < n; i++) /* B transposed: row j holds column j */
                for (uint64_t j = 0; j < n; j++)
                    b[j * n + i] = (float)vendor_right(j);
            ggml.tensor_set(right, b, 0, bytes);
            ggml.tensor_set(left, a, 0, bytes);
        }
    }
    free(a);
    free(b);
    return fine;
}

static bool ggml_run(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        if (ggml.compute(ggml.backend, ggml.graph) != 0)
            return vendor_fail("ggml_backend_graph_compute failed");
    return true;
}

static bool ggml_result(uint64_t i, uint64_t j, double *value)
{
    float element;
    ggml.tensor_get(ggml.c, &element, (i * ggml.n + j) * sizeof(element), sizeof(element));
    *value = (double)element;
    return true;
}

const struct vendor_library vendor_ggml = {.name = "ggml",
                                           .open = ggml_open,
                                           .prepare = ggml_prepare,
                                           .run = ggml_run,
                                           .result = ggml_result};
