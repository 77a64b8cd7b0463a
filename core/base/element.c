/* SPDX-License-Identifier: MIT */
#include "base/element.h"

#include "base/format.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

const char *const element_names[ASSAY_ELEMENT_COUNT] = {
    [ASSAY_ELEMENT_FLOAT] = "float",       [ASSAY_ELEMENT_DOUBLE] = "double",
    [ASSAY_ELEMENT_HALF] = "half",         [ASSAY_ELEMENT_BFLOAT16] = "bfloat16",
    [ASSAY_ELEMENT_INT8] = "int8",         [ASSAY_ELEMENT_INT16] = "int16",
    [ASSAY_ELEMENT_INT32] = "int",         [ASSAY_ELEMENT_INT64] = "int64",
    [ASSAY_ELEMENT_UINT8] = "uint8",       [ASSAY_ELEMENT_UINT16] = "uint16",
    [ASSAY_ELEMENT_UINT32] = "uint",       [ASSAY_ELEMENT_UINT64] = "uint64",
    [ASSAY_ELEMENT_FP8_E4M3] = "fp8_e4m3",
};

/* Of a floating format. */
struct format {
    int digits;         /* of the significand */
    int least_exponent; /* as of frexp, of the smallest normal number */
    int exponent_bits;
    bool finite; /* no infinity: the highest exponent counts on, and all bits set is NaN */
};
static const struct format formats[] = {
    [ASSAY_ELEMENT_FLOAT] = {24, -125, 8, false}, [ASSAY_ELEMENT_DOUBLE] = {53, -1021, 11, false},
    [ASSAY_ELEMENT_HALF] = {11, -13, 5, false},   [ASSAY_ELEMENT_BFLOAT16] = {8, -125, 8, false},
    [ASSAY_ELEMENT_FP8_E4M3] = {4, -5, 4, true},
};

size_t assay_element_bytes(enum assay_element element)
{
    switch (element) {
    case ASSAY_ELEMENT_INT8:
    case ASSAY_ELEMENT_UINT8:
    case ASSAY_ELEMENT_FP8_E4M3:
        return 1;
    case ASSAY_ELEMENT_HALF:
    case ASSAY_ELEMENT_BFLOAT16:
    case ASSAY_ELEMENT_INT16:
    case ASSAY_ELEMENT_UINT16:
        return 2;
    case ASSAY_ELEMENT_FLOAT:
    case ASSAY_ELEMENT_INT32:
    case ASSAY_ELEMENT_UINT32:
        return 4;
    default:
        return 8;
    }
}

const char *element_name(enum assay_element element)
{
    return element_names[element];
}

bool element_from_name(const char *name, enum assay_element *element)
{
    static const struct {
        const char *name;
        enum assay_element element;
    } others[] = {
        {"float32", ASSAY_ELEMENT_FLOAT}, {"float64", ASSAY_ELEMENT_DOUBLE},
        {"float16", ASSAY_ELEMENT_HALF},  {"int32", ASSAY_ELEMENT_INT32},
        {"uint32", ASSAY_ELEMENT_UINT32},
    };
    for (int i = 0; i < ASSAY_ELEMENT_COUNT; i++)
        if (strcmp(name, element_names[i]) == 0) {
            *element = (enum assay_element)i;
            return true;
        }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(name, others[i].name) == 0) {
            *element = others[i].element;
            return true;
        }
    return false;
}

bool element_is_whole(enum assay_element element)
{
    return element >= ASSAY_ELEMENT_INT8 && element <= ASSAY_ELEMENT_UINT64;
}

bool element_is_signed(enum assay_element element)
{
    return element < ASSAY_ELEMENT_UINT8 || element > ASSAY_ELEMENT_UINT64;
}

void element_range(enum assay_element element, double *least, double *most)
{
    int bits = 8 * (int)element_bytes(element);
    bool has_sign = element_is_signed(element);
    *least = has_sign ? -ldexp(1, bits - 1) : 0;
    *most = ldexp(1, has_sign ? bits - 1 : bits);
    *most = bits == 64 ? nextafter(*most, 0) : *most - 1;
}

/* Of all bits but the sign: what follows the largest finite number. */
static uint16_t small_overflow(const struct format *format)
{
    const int fraction = format->digits - 1;
    if (format->finite)
        return (uint16_t)((1 << (format->exponent_bits + fraction)) - 1);
    return (uint16_t)(((1 << format->exponent_bits) - 1) << fraction);
}

static uint16_t small_sign(const struct format *format)
{
    return (uint16_t)(1 << (format->exponent_bits + format->digits - 1));
}

/* Bits of a format of 8 or 16 bits. A significand that is rounded up to the next power of two
 * carries into the exponent by itself, up to infinity. */
static uint16_t small_from_real(const struct format *format, double value)
{
    int fraction = format->digits - 1, exponent;
    uint16_t sign = signbit(value) ? small_sign(format) : 0;
    uint16_t overflow = small_overflow(format);
    double magnitude = fabs(value);
    if (isnan(value))
        return (uint16_t)(sign | overflow | 1 << (fraction - 1));
    if (isinf(value))
        return sign | overflow;
    frexp(magnitude, &exponent);
    if (magnitude == 0 || exponent < format->least_exponent)
        exponent = format->least_exponent;
    /* 2^fraction and more: normal; less: denormal, only at the smallest exponent */
    double significand = nearbyint(ldexp(magnitude, format->digits - exponent));
    int64_t bits = (int64_t)significand +
                   ((int64_t)(exponent - format->least_exponent) << fraction);
    return sign | (bits >= overflow ? overflow : (uint16_t)bits);
}

static double small_to_real(const struct format *format, uint16_t bits)
{
    const int fraction = format->digits - 1;
    const uint16_t sign = small_sign(format), magnitude_bits = bits & (uint16_t)(sign - 1);
    const int exponent = magnitude_bits >> fraction;
    const int significand = bits & ((1 << fraction) - 1);
    double magnitude;
    if (magnitude_bits >= small_overflow(format))
        magnitude = significand ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(significand, format->least_exponent - format->digits);
    else
        magnitude = ldexp(significand + (1 << fraction),
                          format->least_exponent - format->digits + exponent - 1);
    return bits & sign ? -magnitude : magnitude;
}

uint16_t half_from_real(double value)
{
    return small_from_real(&formats[ASSAY_ELEMENT_HALF], value);
}

double half_to_real(uint16_t bits)
{
    return small_to_real(&formats[ASSAY_ELEMENT_HALF], bits);
}

/* Sign-extended where the type has a sign. */
int64_t element_whole(enum assay_element element, const void *array, uint64_t index)
{
    size_t bytes = element_bytes(element);
    const unsigned char *at = (const unsigned char *)array + index * bytes;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    switch (bytes) {
    case 1:
        memcpy(&i8, at, sizeof(i8));
        return element_is_signed(element) ? i8 : (uint8_t)i8;
    case 2:
        memcpy(&i16, at, sizeof(i16));
        return element_is_signed(element) ? i16 : (uint16_t)i16;
    case 4:
        memcpy(&i32, at, sizeof(i32));
        return element_is_signed(element) ? i32 : (int64_t)(uint32_t)i32;
    default:
        memcpy(&i64, at, sizeof(i64));
        return i64;
    }
}

double element_real(enum assay_element element, const void *array, uint64_t index)
{
    const unsigned char *at = (const unsigned char *)array + index * element_bytes(element);
    float f32;
    double f64;
    uint16_t small;
    uint8_t tiny;
    switch (element) {
    case ASSAY_ELEMENT_FLOAT:
        memcpy(&f32, at, sizeof(f32));
        return (double)f32;
    case ASSAY_ELEMENT_DOUBLE:
        memcpy(&f64, at, sizeof(f64));
        return f64;
    case ASSAY_ELEMENT_HALF:
    case ASSAY_ELEMENT_BFLOAT16:
        memcpy(&small, at, sizeof(small));
        return small_to_real(&formats[element], small);
    case ASSAY_ELEMENT_FP8_E4M3:
        memcpy(&tiny, at, sizeof(tiny));
        return small_to_real(&formats[element], tiny);
    case ASSAY_ELEMENT_UINT64:
        return (double)(uint64_t)element_whole(element, array, index);
    default:
        return (double)element_whole(element, array, index);
    }
}

bool element_store_whole(enum assay_element element, int64_t value, void *out)
{
    double least, most;
    size_t bytes = element_bytes(element);
    if (!element_is_whole(element))
        return element_store(element, (double)value, out);
    element_range(element, &least, &most);
    if (bytes < 8 && ((double)value < least || (double)value > most))
        return false;
    const uint64_t bits = (uint64_t)value;
    const uint8_t b8 = (uint8_t)bits;
    const uint16_t b16 = (uint16_t)bits;
    const uint32_t b32 = (uint32_t)bits;
    const void *from = bytes == 1   ? (const void *)&b8
                       : bytes == 2 ? (const void *)&b16
                       : bytes == 4 ? (const void *)&b32
                                    : (const void *)&bits;
    memcpy(out, from, bytes);
    return true;
}

bool element_store(enum assay_element element, double value, void *out)
{
    double least, most;
    if (element_is_whole(element)) {
        element_range(element, &least, &most);
        if (!(value >= least && value <= most) || value != nearbyint(value))
            return false;
        return element_store_whole(element, value < 0 ? (int64_t)value : (int64_t)(uint64_t)value,
                                   out);
    }
    if (element == ASSAY_ELEMENT_FLOAT) {
        const float f32 = (float)value;
        memcpy(out, &f32, sizeof(f32));
    } else if (element == ASSAY_ELEMENT_DOUBLE) {
        memcpy(out, &value, sizeof(value));
    } else {
        const uint16_t small = small_from_real(&formats[element], value);
        const uint8_t tiny = (uint8_t)small;
        if (element == ASSAY_ELEMENT_FP8_E4M3)
            memcpy(out, &tiny, sizeof(tiny));
        else
            memcpy(out, &small, sizeof(small));
    }
    return true;
}

double assay_element_value(enum assay_element element, const void *data, uint64_t index)
{
    return element_real(element, data, index);
}

bool assay_element_store(enum assay_element element, double value, void *data, uint64_t index)
{
    return element_store(element, value, (unsigned char *)data + index * element_bytes(element));
}

double element_spacing(enum assay_element element, double value)
{
    int exponent;
    if (element_is_whole(element))
        return 1;
    const struct format *format = &formats[element];
    frexp(value, &exponent);
    if (value == 0 || exponent < format->least_exponent)
        exponent = format->least_exponent;
    return ldexp(1, exponent - format->digits);
}

/* The value that the element holds of the decimal. */
static double held(enum assay_element element, const char *decimal)
{
    unsigned char bytes[sizeof(double)] = {0};
    double value = NAN;
    if (number_parse(decimal, NULL, &value))
        element_store(element, value, bytes);
    return isnan(value) ? value : element_real(element, bytes, 0);
}

void element_add(struct text *text, enum assay_element element, double value)
{
    char digits[40];
    if (isnan(value) || isinf(value)) {
        text_add(text, isnan(value) ? "NaN" : value < 0 ? "-Inf" : "Inf");
        return;
    }
    if (element_is_whole(element) || (value == rint(value) && fabs(value) < 1e15)) {
        number_add(text, value);
        return;
    }
    for (int precision = 1; precision < 17; precision++) {
        format_number(digits, sizeof(digits), "%.*g", precision, value);
        if (held(element, digits) == value) {
            text_add(text, digits);
            return;
        }
    }
    number_add(text, value);
}
