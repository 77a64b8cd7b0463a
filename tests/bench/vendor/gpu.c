/* SPDX-License-Identifier: MIT */
/* cuBLAS beside CUDA's runtime and rocBLAS beside HIP's, which has the same functions by another
 * prefix. Column-major: C' = B' A' is what lies in memory as C = A B by rows. */
#include "vendor.h"

#include <stdio.h>
#include <stdlib.h>

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3 };

static struct {
    int (*device_at)(int *device, const char *pci);
    int (*device_set)(int device);
    int (*allocate)(void **memory, size_t bytes);
    int (*copy)(void *to, const void *from, size_t bytes, int direction);
    int (*wait)(void);
    int (*version)(int *version);
    const char *(*error)(int status);
    bool (*gemm)(void);
    enum vendor_kind kind;
    int n;
    uint64_t bytes; /* of a copy */
    void *handle, *a, *b, *c;
} gpu;

/* A status of the runtime. */
static bool fine(int status, const char *what)
{
    return status == 0 || vendor_fail("%s failed: %s", what, gpu.error(status));
}

/* A status of the BLAS. */
static bool blas_fine(int status, const char *what)
{
    return status == 0 || vendor_fail("%s failed with status %d", what, status);
}

static bool runtime_find(void *library, const char *prefix, const char *name, void *function)
{
    char whole[64];
    snprintf(whole, sizeof(whole), "%s%s", prefix, name);
    return vendor_find(library, whole, function);
}

static bool runtime_open(const char *const *names, const char *prefix, const char *pci)
{
    int device = 0;
    void *runtime = vendor_open(names);
    return runtime && runtime_find(runtime, prefix, "DeviceGetByPCIBusId", &gpu.device_at) &&
           runtime_find(runtime, prefix, "SetDevice", &gpu.device_set) &&
           runtime_find(runtime, prefix, "Malloc", &gpu.allocate) &&
           runtime_find(runtime, prefix, "Memcpy", &gpu.copy) &&
           runtime_find(runtime, prefix, "DeviceSynchronize", &gpu.wait) &&
           runtime_find(runtime, prefix, "RuntimeGetVersion", &gpu.version) &&
           runtime_find(runtime, prefix, "GetErrorString", &gpu.error) &&
           (!pci || fine(gpu.device_at(&device, pci), "looking for the device by its address")) &&
           fine(gpu.device_set(device), "choosing the device");
}

static bool gpu_prepare(enum vendor_kind kind, uint64_t n)
{
    uint64_t inputs = kind == VENDOR_COPY ? n : n * n * vendor_input_bytes(kind);
    uint64_t outputs = kind == VENDOR_COPY ? n : n * n * vendor_result_bytes(kind);
    void *b = NULL, *a = NULL;
    gpu.kind = kind;
    gpu.n = kind == VENDOR_COPY ? 0 : (int)n;
    gpu.bytes = n;
    if (kind == VENDOR_COPY) {
        unsigned char *bytes = a = malloc(n);
        for (uint64_t i = 0; bytes && i < n; i++)
            bytes[i] = (unsigned char)vendor_left(i);
    } else {
        a = vendor_matrix(kind, n, true);
        b = vendor_matrix(kind, n, false);
    }
    bool good = (a && (b || kind == VENDOR_COPY)) || vendor_fail("no host memory for the inputs");
    good = good && fine(gpu.allocate(&gpu.a, inputs), "allocating memory") &&
           fine(gpu.allocate(&gpu.c, outputs), "allocating memory") &&
           fine(gpu.copy(gpu.a, a, inputs, HOST_TO_DEVICE), "an upload");
    if (good && b)
        good = fine(gpu.allocate(&gpu.b, inputs), "allocating memory") &&
               fine(gpu.copy(gpu.b, b, inputs, HOST_TO_DEVICE), "an upload");
    free(a);
    free(b);
    return good;
}

static bool gpu_run(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        if (gpu.kind == VENDOR_COPY
                ? !fine(gpu.copy(gpu.c, gpu.a, gpu.bytes, DEVICE_TO_DEVICE), "a copy")
                : !gpu.gemm())
            return false;
    return fine(gpu.wait(), "waiting");
}

static bool gpu_result(uint64_t i, uint64_t j, double *value)
{
    union {
        unsigned char byte;
        float single;
        double twice;
    } element = {0};
    uint64_t bytes = vendor_result_bytes(gpu.kind);
    uint64_t at = gpu.kind == VENDOR_COPY ? i : i * (uint64_t)gpu.n + j;
    if (!fine(gpu.copy(&element, (char *)gpu.c + at * bytes, bytes, DEVICE_TO_HOST), "a download"))
        return false;
    *value = gpu.kind == VENDOR_COPY   ? element.byte
             : gpu.kind == VENDOR_FP64 ? element.twice
                                       : (double)element.single;
    return true;
}

/* --- CUDA */

enum { CUBLAS_NO_TRANSPOSE = 0, CUDA_FP32 = 0, CUDA_FP16 = 2, CUBLAS_FP32 = 68, CUBLAS_ANY = -1 };

static struct {
    int (*create)(void **handle);
    int (*version)(void *handle, int *version);
    int (*sgemm)(void *, int, int, int, int, int, const float *, const void *, int, const void *,
                 int, const float *, void *, int);
    int (*dgemm)(void *, int, int, int, int, int, const double *, const void *, int, const void *,
                 int, const double *, void *, int);
    int (*gemm_mixed)(void *, int, int, int, int, int, const void *, const void *, int, int,
                      const void *, int, int, const void *, void *, int, int, int, int);
} cublas;

static bool cuda_gemm(void)
{
    static const float one = 1, zero = 0;
    static const double one_fp64 = 1, zero_fp64 = 0;
    int n = gpu.n;
    if (gpu.kind == VENDOR_FP32)
        return blas_fine(cublas.sgemm(gpu.handle, CUBLAS_NO_TRANSPOSE, CUBLAS_NO_TRANSPOSE, n, n, n,
                                      &one, gpu.b, n, gpu.a, n, &zero, gpu.c, n),
                         "cublasSgemm");
    if (gpu.kind == VENDOR_FP64)
        return blas_fine(cublas.dgemm(gpu.handle, CUBLAS_NO_TRANSPOSE, CUBLAS_NO_TRANSPOSE, n, n, n,
                                      &one_fp64, gpu.b, n, gpu.a, n, &zero_fp64, gpu.c, n),
                         "cublasDgemm");
    return blas_fine(cublas.gemm_mixed(gpu.handle, CUBLAS_NO_TRANSPOSE, CUBLAS_NO_TRANSPOSE, n, n,
                                       n, &one, gpu.b, CUDA_FP16, n, gpu.a, CUDA_FP16, n, &zero,
                                       gpu.c, CUDA_FP32, n, CUBLAS_FP32, CUBLAS_ANY),
                     "cublasGemmEx");
}

static bool cuda_open(const char *pci, char *text, uint64_t text_bytes)
{
    static const char *const runtimes[] = {"libcudart.so", "libcudart.so.13", "libcudart.so.12",
                                           "libcudart.so.11.0", NULL};
    static const char *const libraries[] = {"libcublas.so", "libcublas.so.13", "libcublas.so.12",
                                            "libcublas.so.11", NULL};
    int runtime = 0, version = 0;
    if (!runtime_open(runtimes, "cuda", pci))
        return false;
    void *library = vendor_open(libraries);
    if (!library || !vendor_find(library, "cublasCreate_v2", &cublas.create) ||
        !vendor_find(library, "cublasGetVersion_v2", &cublas.version) ||
        !vendor_find(library, "cublasSgemm_v2", &cublas.sgemm) ||
        !vendor_find(library, "cublasDgemm_v2", &cublas.dgemm) ||
        !vendor_find(library, "cublasGemmEx", &cublas.gemm_mixed) ||
        !blas_fine(cublas.create(&gpu.handle), "cublasCreate") ||
        !blas_fine(cublas.version(gpu.handle, &version), "cublasGetVersion") ||
        !fine(gpu.version(&runtime), "cudaRuntimeGetVersion"))
        return false;
    gpu.gemm = cuda_gemm;
    snprintf(text, text_bytes, "cuBLAS %d, CUDA %d.%d", version, runtime / 1000,
             runtime % 1000 / 10);
    return true;
}

/* --- ROCm */

enum { ROCBLAS_NO_TRANSPOSE = 111, ROCBLAS_FP16 = 150, ROCBLAS_FP32 = 151, ROCBLAS_STANDARD = 0 };

static struct {
    int (*create)(void **handle);
    int (*sgemm)(void *, int, int, int, int, int, const float *, const void *, int, const void *,
                 int, const float *, void *, int);
    int (*dgemm)(void *, int, int, int, int, int, const double *, const void *, int, const void *,
                 int, const double *, void *, int);
    int (*gemm_mixed)(void *, int, int, int, int, int, const void *, const void *, int, int,
                      const void *, int, int, const void *, const void *, int, int, void *, int,
                      int, int, int, int32_t, uint32_t);
} rocblas;

static bool rocm_gemm(void)
{
    static const float one = 1, zero = 0;
    static const double one_fp64 = 1, zero_fp64 = 0;
    int n = gpu.n;
    if (gpu.kind == VENDOR_FP32)
        return blas_fine(rocblas.sgemm(gpu.handle, ROCBLAS_NO_TRANSPOSE, ROCBLAS_NO_TRANSPOSE, n, n,
                                       n, &one, gpu.b, n, gpu.a, n, &zero, gpu.c, n),
                         "rocblas_sgemm");
    if (gpu.kind == VENDOR_FP64)
        return blas_fine(rocblas.dgemm(gpu.handle, ROCBLAS_NO_TRANSPOSE, ROCBLAS_NO_TRANSPOSE, n, n,
                                       n, &one_fp64, gpu.b, n, gpu.a, n, &zero_fp64, gpu.c, n),
                         "rocblas_dgemm");
    return blas_fine(rocblas.gemm_mixed(gpu.handle, ROCBLAS_NO_TRANSPOSE, ROCBLAS_NO_TRANSPOSE, n,
                                        n, n, &one, gpu.b, ROCBLAS_FP16, n, gpu.a, ROCBLAS_FP16, n,
                                        &zero, gpu.c, ROCBLAS_FP32, n, gpu.c, ROCBLAS_FP32, n,
                                        ROCBLAS_FP32, ROCBLAS_STANDARD, 0, 0),
                     "rocblas_gemm_ex");
}

static bool rocm_open(const char *pci, char *text, uint64_t text_bytes)
{
    static const char *const runtimes[] = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                                           "libamdhip64.so.5", NULL};
    static const char *const libraries[] = {"librocblas.so", "librocblas.so.5", "librocblas.so.4",
                                            "librocblas.so.0", NULL};
    int runtime = 0;
    if (!runtime_open(runtimes, "hip", pci))
        return false;
    void *library = vendor_open(libraries);
    if (!library || !vendor_find(library, "rocblas_create_handle", &rocblas.create) ||
        !vendor_find(library, "rocblas_sgemm", &rocblas.sgemm) ||
        !vendor_find(library, "rocblas_dgemm", &rocblas.dgemm) ||
        !vendor_find(library, "rocblas_gemm_ex", &rocblas.gemm_mixed) ||
        !blas_fine(rocblas.create(&gpu.handle), "rocblas_create_handle") ||
        !fine(gpu.version(&runtime), "hipRuntimeGetVersion"))
        return false;
    gpu.gemm = rocm_gemm;
    snprintf(text, text_bytes, "rocBLAS, HIP %d.%d", runtime / 10000000, runtime / 100000 % 100);
    return true;
}

const struct vendor_library vendor_cuda = {.name = "cuda",
                                           .open = cuda_open,
                                           .prepare = gpu_prepare,
                                           .run = gpu_run,
                                           .result = gpu_result};
const struct vendor_library vendor_rocm = {.name = "rocm",
                                           .open = rocm_open,
                                           .prepare = gpu_prepare,
                                           .run = gpu_run,
                                           .result = gpu_result};
