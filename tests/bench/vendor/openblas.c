/* SPDX-License-Identifier: MIT */
/* OpenBLAS, on $OPENBLAS_NUM_THREADS threads, by its C interface; a copy is memcpy's. */
#include "vendor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };

typedef void gemm_fp32(int, int, int, int, int, int, float, const float *, int, const float *, int,
                       float, float *, int);
typedef void gemm_fp64(int, int, int, int, int, int, double, const double *, int, const double *,
                       int, double, double *, int);

static struct {
    gemm_fp32 *sgemm;
    gemm_fp64 *dgemm;
    enum vendor_kind kind;
    uint64_t n;
    void *a, *b, *c;
} blas;

static bool openblas_open(const char *pci, char *text, uint64_t text_bytes)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", NULL};
    void *library = vendor_open(names);
    char *(*config)(void), *(*core)(void);
    int (*threads)(void);
    (void)pci;
    if (!library || !vendor_find(library, "cblas_sgemm", &blas.sgemm) ||
        !vendor_find(library, "cblas_dgemm", &blas.dgemm) ||
        !vendor_find(library, "openblas_get_config", &config) ||
        !vendor_find(library, "openblas_get_corename", &core) ||
        !vendor_find(library, "openblas_get_num_threads", &threads))
        return false;
    int version = (int)strcspn(strchr(config(), ' ') ? strchr(config(), ' ') + 1 : "", " ");
    snprintf(text, text_bytes, "OpenBLAS %.*s, %s, %d threads", version,
             version ? strchr(config(), ' ') + 1 : "", core(), threads());
    return true;
}

static bool openblas_prepare(enum vendor_kind kind, uint64_t n)
{
    blas.kind = kind;
    blas.n = n;
    if (kind == VENDOR_FP16)
        return vendor_fail("OpenBLAS has no fp16");
    if (kind == VENDOR_COPY) {
        blas.a = malloc(n);
        blas.c = calloc(n, 1);
        for (uint64_t i = 0; blas.a && i < n; i++)
            ((unsigned char *)blas.a)[i] = (unsigned char)vendor_left(i);
        return (blas.a && blas.c) || vendor_fail("no host memory for a copy");
    }
    blas.a = vendor_matrix(kind, n, true);
    blas.b = vendor_matrix(kind, n, false);
    blas.c = calloc(n * n, vendor_result_bytes(kind));
    return blas.a && blas.b && (blas.c || vendor_fail("no host memory for the result"));
}

static bool openblas_run(unsigned times)
{
    int n = (int)blas.n;
    for (unsigned i = 0; i < times; i++) {
        if (blas.kind == VENDOR_COPY)
            memcpy(blas.c, blas.a, blas.n);
        else if (blas.kind == VENDOR_FP32)
            blas.sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1, blas.a, n, blas.b, n, 0,
                       blas.c, n);
        else
            blas.dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1, blas.a, n, blas.b, n, 0,
                       blas.c, n);
    }
    return true;
}

static bool openblas_result(uint64_t i, uint64_t j, double *value)
{
    if (blas.kind == VENDOR_COPY)
        *value = ((unsigned char *)blas.c)[i];
    else if (blas.kind == VENDOR_FP32)
        *value = ((float *)blas.c)[i * blas.n + j];
    else
        *value = ((double *)blas.c)[i * blas.n + j];
    return true;
}

const struct vendor_library vendor_openblas = {.name = "openblas",
                                               .open = openblas_open,
                                               .prepare = openblas_prepare,
                                               .run = openblas_run,
                                               .result = openblas_result};
