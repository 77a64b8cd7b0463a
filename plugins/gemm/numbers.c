/* SPDX-License-Identifier: MIT */
#include "numbers.h"

#include <math.h>
#include <string.h>

/* Floating formats: bits of the exponent and of the stored fraction. The bias is half of the
 * exponents' range. */
struct format {
    size_t bytes;
    unsigned exponent_bits, fraction_bits;
};
static const struct format formats[] = {
    [GEMM_NUMBER_FP64] = {8, 11, 52}, [GEMM_NUMBER_FP32] = {4, 8, 23},
    [GEMM_NUMBER_FP16] = {2, 5, 10},  [GEMM_NUMBER_BF16] = {2, 8, 7},
    [GEMM_NUMBER_FP8] = {1, 4, 3},    [GEMM_NUMBER_INT8] = {1, 0, 0},
    [GEMM_NUMBER_INT32] = {4, 0, 0},
};

static int bias(const struct format *format)
{
    return (1 << (format->exponent_bits - 1)) - 1;
}

size_t gemm_number_bytes(enum gemm_number number)
{
    return formats[number].bytes;
}

double gemm_number_roundoff(enum gemm_number number)
{
    const struct format *format = &formats[number];
    return format->exponent_bits ? ldexp(1, -(int)format->fraction_bits - 1) : 0;
}

double gemm_number_least_normal(enum gemm_number number)
{
    const struct format *format = &formats[number];
    return format->exponent_bits ? ldexp(1, 1 - bias(format)) : 0;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* A small float: its bits at the top of a float's fraction, with the exponent put right by a
 * multiplication, which makes denormal ones right as well. What is `odd` and above stands for
 * itself. No branches: a compiler makes vectors of it. */
static inline double small_value(uint32_t bits, unsigned exponent_bits, unsigned fraction_bits,
                                 uint32_t odd, uint32_t odd_value)
{
    const uint32_t magnitude = bits & ((1u << (exponent_bits + fraction_bits)) - 1);
    const uint32_t sign = bits >> (exponent_bits + fraction_bits) << 31;
    const uint32_t scale = (254 - ((1u << (exponent_bits - 1)) - 1)) << 23;
    const uint32_t wide = magnitude << (23 - fraction_bits);
    const uint32_t usual = bits_of(float_of(wide) * float_of(scale));
    const uint32_t is_odd = (int32_t)magnitude >= (int32_t)odd ? UINT32_MAX : 0;
    return (double)float_of((usual & ~is_odd) | ((wide | odd_value) & is_odd) | sign);
}

/* The exponent of all ones is that of a float then, too. */
static inline double fp16_value(uint16_t bits)
{
    return small_value(bits, 5, 10, 0x7c00, 0x7f800000);
}

static inline double fp8_value(uint8_t bits)
{
    return small_value(bits, 4, 3, 0x7f, 0x7fc00000);
}

static inline double bf16_value(uint16_t bits)
{
    return (double)float_of((uint32_t)bits << 16);
}

/* As many at a time as compilers make vectors of without being asked for more. */
enum { TOGETHER = 16 };

#define READ(type, value)                                                                          \
    do {                                                                                           \
        const type *from = (const type *)array + first;                                            \
        size_t i = 0;                                                                              \
        for (; i + TOGETHER <= count; i += TOGETHER)                                               \
            for (size_t lane = 0; lane < TOGETHER; lane++)                                         \
                out[i + lane] = value(from[i + lane]);                                             \
        for (; i < count; i++)                                                                     \
            out[i] = value(from[i]);                                                               \
    } while (0)

void gemm_numbers_read(enum gemm_number number, const void *array, uint64_t first, size_t count,
                       bool flush, double *out)
{
    switch (number) {
    case GEMM_NUMBER_FP64:
        READ(double, );
        break;
    case GEMM_NUMBER_FP32:
        READ(float, (double));
        break;
    case GEMM_NUMBER_FP16:
        READ(uint16_t, fp16_value);
        break;
    case GEMM_NUMBER_BF16:
        READ(uint16_t, bf16_value);
        break;
    case GEMM_NUMBER_FP8:
        READ(uint8_t, fp8_value);
        break;
    case GEMM_NUMBER_INT8:
        READ(int8_t, (double));
        break;
    case GEMM_NUMBER_INT32:
        READ(int32_t, (double));
        break;
    }
    const double least = gemm_number_least_normal(number);
    for (size_t i = 0; flush && i < count; i++)
        out[i] = fabs(out[i]) < least ? 0 : out[i];
}

uint64_t gemm_random(uint64_t seed, uint64_t i)
{
    uint64_t x = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void store(const struct format *format, uint64_t bits, void *array, uint64_t i)
{
    unsigned char *out = (unsigned char *)array + i * format->bytes;
    for (size_t byte = 0; byte < format->bytes; byte++)
        out[byte] = (unsigned char)(bits >> (8 * byte));
}

void gemm_numbers_scatter(enum gemm_number number, enum gemm_scatter scatter, uint64_t seed,
                          uint64_t count, void *array)
{
    const struct format *format = &formats[number];
    const uint64_t fractions = UINT64_C(1) << format->fraction_bits;
    const unsigned sign_at = format->exponent_bits + format->fraction_bits;
    /* 4 ... 7 of the bias: 16 ... 128 for fp8 and fp16, far more for the others */
    const uint64_t large = (uint64_t)(bias(format) + (format->exponent_bits > 5 ? 60 : 5));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t random = gemm_random(seed, i);
        const uint64_t fraction = random & (fractions - 1), sign = random >> 63;
        uint64_t bits;
        if (scatter == GEMM_SCATTER_DENORMAL)
            bits = sign << sign_at | (fraction ? fraction : 1);
        else if (scatter == GEMM_SCATTER_LARGE)
            bits = large << format->fraction_bits | fraction;
        else
            bits = sign << sign_at |
                   ((uint64_t)bias(format) - 1 - (random >> 60 & 3)) << format->fraction_bits |
                   fraction;
        store(format, bits, array, i);
    }
}

void gemm_number_plant(enum gemm_number number, int sign, void *array, uint64_t i)
{
    const struct format *format = &formats[number];
    const unsigned sign_at = format->exponent_bits + format->fraction_bits;
    const uint64_t ones = ((UINT64_C(1) << format->exponent_bits) - 1) << format->fraction_bits;
    uint64_t bits = ones;
    if (number == GEMM_NUMBER_FP8)
        bits = 0x7f;
    else if (sign == 0)
        bits |= UINT64_C(1) << (format->fraction_bits - 1);
    else if (sign < 0)
        bits |= UINT64_C(1) << sign_at;
    store(format, bits, array, i);
}
