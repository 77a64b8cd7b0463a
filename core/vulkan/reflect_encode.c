/* SPDX-License-Identifier: MIT */
/* Numbers as the bits of a shader's scalar types. */
#include "vulkan/reflect.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define HALF_MAX 65504.0

static const char *integer_wanted(struct reflect_scalar scalar)
{
    bool sign = scalar.type == REFLECT_INT;
    switch (scalar.bits) {
    case 8:
        return sign ? "a whole number from -128 to 127" : "a whole number from 0 to 255";
    case 16:
        return sign ? "a whole number from -32768 to 32767" : "a whole number from 0 to 65535";
    case 32:
        return sign ? "a whole number from -2147483648 to 2147483647"
                    : "a whole number from 0 to 4294967295";
    default:
        return sign ? "a whole number from -2^63 to 2^63 - 1" : "a whole number from 0 to 2^64 - 1";
    }
}

static bool encode_integer(struct reflect_scalar scalar, double value, uint64_t *bits)
{
    bool sign = scalar.type == REFLECT_INT;
    double span = ldexp(1.0, (int)scalar.bits - (sign ? 1 : 0));
    if (!(value < span) || value < (sign ? -span : 0.0) || value != floor(value))
        return false;
    *bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    if (scalar.bits < 64)
        *bits &= (UINT64_C(1) << scalar.bits) - 1;
    return true;
}

/* IEEE 754 binary16, to nearest, ties to even; |value| <= HALF_MAX. */
static uint16_t encode_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent = 0;
    frexp(fabs(value), &exponent);
    if (value == 0.0 || exponent < -13) /* subnormal: units of 2^-24 */
        return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(fabs(value), 24)));
    /* 11 bits of significand; a carry out of it moves on into the exponent by itself. */
    double significand = nearbyint(ldexp(fabs(value), 11 - exponent));
    return (uint16_t)(sign | (((unsigned)(exponent + 13) << 10) + (unsigned)significand));
}

static bool encode_float(unsigned width, double value, uint64_t *bits)
{
    float single = 0.0f;
    uint32_t word = 0;
    if (!isfinite(value))
        return false;
    switch (width) {
    case 16:
        if (fabs(value) > HALF_MAX)
            return false;
        *bits = encode_half(value);
        return true;
    case 32:
        if (fabs(value) > (double)FLT_MAX)
            return false;
        single = (float)value;
        memcpy(&word, &single, sizeof(word));
        *bits = word;
        return true;
    default:
        memcpy(bits, &value, sizeof(*bits));
        return true;
    }
}

static double decode_half(uint64_t bits)
{
    const int exponent = (int)(bits >> 10 & 0x1f);
    const double fraction = (double)(bits & 0x3ff);
    double value = exponent > 0 ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    if (exponent == 0x1f)
        value = fraction > 0 ? (double)NAN : (double)INFINITY;
    return bits & 0x8000 ? -value : value;
}

double reflect_decode_float(unsigned width, uint64_t bits)
{
    float single = 0.0f;
    double value = 0.0;
    const uint32_t word = (uint32_t)bits;
    switch (width) {
    case 16:
        return decode_half(bits);
    case 32:
        memcpy(&single, &word, sizeof(single));
        return (double)single;
    default:
        memcpy(&value, &bits, sizeof(value));
        return value;
    }
}

bool reflect_encode(struct reflect_scalar scalar, double value, uint64_t *bits, const char **wanted)
{
    *bits = 0;
    switch (scalar.type) {
    case REFLECT_BOOL:
        *wanted = "0 or 1";
        *bits = value != 0.0;
        return value == 0.0 || value == 1.0;
    case REFLECT_INT:
    case REFLECT_UINT:
        *wanted = integer_wanted(scalar);
        return encode_integer(scalar, value, bits);
    case REFLECT_FLOAT:
        *wanted = scalar.bits == 16   ? "a finite number up to 65504"
                  : scalar.bits == 32 ? "a finite number in the range of fp32"
                                      : "a finite number";
        return encode_float(scalar.bits, value, bits);
    default:
        *wanted = "a scalar (vectors, matrices and arrays cannot be set by name)";
        return false;
    }
}

const char *reflect_scalar_name(struct reflect_scalar scalar)
{
    static const char *const names[3][4] = {
        {"int8", "int16", "int32", "int64"},
        {"uint8", "uint16", "uint32", "uint64"},
        {"float8", "float16", "float32", "float64"},
    };
    int width = scalar.bits == 8 ? 0 : scalar.bits == 16 ? 1 : scalar.bits == 32 ? 2 : 3;
    switch (scalar.type) {
    case REFLECT_BOOL:
        return "bool";
    case REFLECT_INT:
        return names[0][width];
    case REFLECT_UINT:
        return names[1][width];
    case REFLECT_FLOAT:
        return names[2][width];
    default:
        return "no scalar";
    }
}
