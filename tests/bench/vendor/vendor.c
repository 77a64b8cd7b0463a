/* SPDX-License-Identifier: MIT */
#include "vendor.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char reason[512];

bool vendor_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(reason, sizeof(reason), format, list);
    va_end(list);
    return false;
}

const char *vendor_reason(void)
{
    return reason;
}

double vendor_left(uint64_t row)
{
    return (double)(row % 7 + 1);
}

double vendor_right(uint64_t column)
{
    return (double)(column % 5 + 1);
}

void *vendor_open(const char *const *names)
{
    for (const char *const *name = names; *name; name++) {
        void *library = dlopen(*name, RTLD_NOW | RTLD_GLOBAL);
        if (library)
            return library;
        if (name == names)
            vendor_fail("%s", dlerror());
    }
    return NULL;
}

bool vendor_find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    if (!found)
        return vendor_fail("%s", dlerror());
    memcpy(function, &found, sizeof(found));
    return true;
}

uint64_t vendor_input_bytes(enum vendor_kind kind)
{
    static const uint64_t bytes[] = {
        [VENDOR_FP64] = 8, [VENDOR_FP32] = 4, [VENDOR_FP16] = 2, [VENDOR_COPY] = 1};
    return bytes[kind];
}

uint64_t vendor_result_bytes(enum vendor_kind kind)
{
    return kind == VENDOR_FP16 ? 4 : vendor_input_bytes(kind);
}

/* Of a small integer, at most 7. */
static uint16_t half_bits(double value)
{
    unsigned exponent = 0;
    while ((1u << (exponent + 1)) <= (unsigned)value)
        exponent++;
    unsigned fraction = ((unsigned)value << 10 >> exponent) & 0x3ff;
    return (uint16_t)((exponent + 15) << 10 | fraction);
}

void *vendor_matrix(enum vendor_kind kind, uint64_t n, bool left)
{
    unsigned char *matrix = NULL;
    uint64_t bytes = vendor_input_bytes(kind);
    if (n > 0 && n <= UINT32_MAX / 8)
        matrix = malloc(n * n * bytes);
    if (!matrix) {
        vendor_fail("no host memory for %llu rows", (unsigned long long)n);
        return NULL;
    }
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t j = 0; j < n; j++) {
            double value = left ? vendor_left(i) : vendor_right(j);
            float single = (float)value;
            uint16_t half = half_bits(value);
            const void *element = kind == VENDOR_FP64   ? (const void *)&value
                                  : kind == VENDOR_FP32 ? (const void *)&single
                                                        : (const void *)&half;
            memcpy(matrix + (i * n + j) * bytes, element, bytes);
        }
    }
    return matrix;
}
