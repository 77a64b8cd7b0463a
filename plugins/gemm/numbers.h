/* SPDX-License-Identifier: MIT */
/* The numbers that matrices hold: their formats, values for tests of them, and reading them. Pure.
 */
#ifndef GEMM_NUMBERS_H
#define GEMM_NUMBERS_H

#include <assay/buffer.h>

enum gemm_number {
    GEMM_NUMBER_FP64,
    GEMM_NUMBER_FP32,
    GEMM_NUMBER_FP16,
    GEMM_NUMBER_BF16,
    GEMM_NUMBER_FP8, /* E4M3: no infinities, NaN is all ones */
    GEMM_NUMBER_INT8,
    GEMM_NUMBER_INT32,
};

size_t gemm_number_bytes(enum gemm_number number);
/* What it is when bits say it: the unit roundoff (half the distance of 1 and the next), the
 * smallest normal number, 0 of whole numbers. */
double gemm_number_roundoff(enum gemm_number number);
double gemm_number_least_normal(enum gemm_number number);

/* Elements [first, first + count) of the array as doubles, exactly. `flush`: denormal ones become
 * zero. */
void gemm_numbers_read(enum gemm_number number, const void *array, uint64_t first, size_t count,
                       bool flush, double *out);

/* 64 random bits, which `seed` and i say alone. */
uint64_t gemm_random(uint64_t seed, uint64_t i);

/* Kinds of values that fills do not have. */
enum gemm_scatter {
    GEMM_SCATTER_FRACTION, /* of magnitude under 1, either sign, all normal */
    GEMM_SCATTER_DENORMAL, /* all denormal, either sign */
    GEMM_SCATTER_LARGE,    /* positive, so large that products with denormal ones are normal */
};
/* Element i depends on `seed` and i alone. Not for whole numbers. */
void gemm_numbers_scatter(enum gemm_number number, enum gemm_scatter scatter, uint64_t seed,
                          uint64_t count, void *array);
/* Puts NaN (sign 0) or an infinity of this sign (of fp8: NaN) into element i. */
void gemm_number_plant(enum gemm_number number, int sign, void *array, uint64_t i);

#endif
