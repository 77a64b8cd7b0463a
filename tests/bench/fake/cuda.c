/* SPDX-License-Identifier: MIT */
/* CUDA's runtime and cuBLAS as far as bench_vendor calls them, on the processor: for the test of
 * how it opens and calls the real ones. Built twice: libcudart.so and libcublas.so.
 * $FAKE_CUDA_WRONG makes products wrong in one element. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#ifdef FAKE_CUDART

EXPORT int cudaDeviceGetByPCIBusId(int *device, const char *pci);
EXPORT int cudaSetDevice(int device);
EXPORT int cudaMalloc(void **memory, size_t bytes);
EXPORT int cudaMemcpy(void *to, const void *from, size_t bytes, int direction);
EXPORT int cudaDeviceSynchronize(void);
EXPORT int cudaRuntimeGetVersion(int *version);
EXPORT const char *cudaGetErrorString(int status);

enum { NO_DEVICE = 100, NO_MEMORY = 2 };

int cudaDeviceGetByPCIBusId(int *device, const char *pci)
{
    *device = 3;
    return strcmp(pci, "0000:01:00.0") == 0 ? 0 : NO_DEVICE;
}

int cudaSetDevice(int device)
{
    return device == 0 || device == 3 ? 0 : NO_DEVICE;
}

int cudaMalloc(void **memory, size_t bytes)
{
    *memory = malloc(bytes);
    return *memory ? 0 : NO_MEMORY;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int direction)
{
    memcpy(to, from, bytes);
    return direction >= 1 && direction <= 3 ? 0 : 1;
}

int cudaDeviceSynchronize(void)
{
    return 0;
}

int cudaRuntimeGetVersion(int *version)
{
    *version = 12030;
    return 0;
}

const char *cudaGetErrorString(int status)
{
    return status == NO_DEVICE ? "no CUDA-capable device is detected" : "something else";
}

#else

EXPORT int cublasCreate_v2(void **handle);
EXPORT int cublasGetVersion_v2(void *handle, int *version);
EXPORT int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha,
                          const float *a, int lda, const float *b, int ldb, const float *beta,
                          float *c, int ldc);
EXPORT int cublasDgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const double *alpha,
                          const double *a, int lda, const double *b, int ldb, const double *beta,
                          double *c, int ldc);
EXPORT int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha,
                        const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
                        const void *beta, void *c, int type_c, int ldc, int compute, int algorithm);

int cublasCreate_v2(void **handle)
{
    static int one;
    *handle = &one;
    return 0;
}

int cublasGetVersion_v2(void *handle, int *version)
{
    *version = 120301;
    return handle ? 0 : 1;
}

/* Column by column, neither operand transposed: c = alpha a b + beta c. */
#define PRODUCT(a_at, b_at, c_type)                                                                \
    for (int j = 0; j < n; j++) {                                                                  \
        for (int i = 0; i < m; i++) {                                                              \
            double sum = 0;                                                                        \
            for (int l = 0; l < k; l++)                                                            \
                sum += (double)(a_at) * (double)(b_at);                                            \
            if (i == 1 && j == 1 && getenv("FAKE_CUDA_WRONG"))                                     \
                sum += 1;                                                                          \
            c[j * ldc + i] = (c_type)sum;                                                          \
        }                                                                                          \
    }

int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha,
                   const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                   int ldc)
{
    if (!handle || ta || tb || *alpha != 1 || *beta != 0)
        return 7;
    PRODUCT(a[l * lda + i], b[j * ldb + l], float)
    return 0;
}

int cublasDgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const double *alpha,
                   const double *a, int lda, const double *b, int ldb, const double *beta,
                   double *c, int ldc)
{
    if (!handle || ta || tb || *alpha != 1 || *beta != 0)
        return 7;
    PRODUCT(a[l * lda + i], b[j * ldb + l], double)
    return 0;
}

/* Of a normal number. */
static double half(uint16_t bits)
{
    return ldexp(1 + (bits & 0x3ff) / 1024.0, (bits >> 10 & 31) - 15);
}

int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha,
                 const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
                 const void *beta, void *result, int type_c, int ldc, int compute, int algorithm)
{
    enum { REAL_32 = 0, REAL_16 = 2, COMPUTE_32 = 68, DEFAULT = -1 };
    const uint16_t *x = a, *y = b;
    float *c = result;
    if (!handle || ta || tb || *(const float *)alpha != 1 || *(const float *)beta != 0 ||
        type_a != REAL_16 || type_b != REAL_16 || type_c != REAL_32 || compute != COMPUTE_32 ||
        algorithm != DEFAULT)
        return 7;
    PRODUCT(half(x[l * lda + i]), half(y[j * ldb + l]), float)
    return 0;
}

#endif
