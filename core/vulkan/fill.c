/* SPDX-License-Identifier: MIT */
#include "vulkan/fill.h"

#include "base/element.h"
#include "base/error.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

#define WHOLE_MAX 0x1p53

static bool check_whole(const struct assay_fill *fill, double value, struct assay_error *error)
{
    double least, most;
    element_range(fill->element, &least, &most);
    if (value >= least && value <= most && fabs(value) <= WHOLE_MAX && value == nearbyint(value))
        return true;
    return assay_fail(error, ASSAY_INVALID,
                      "its fill wants whole numbers that fit in %s, of at most 2^53",
                      element_name(fill->element));
}

/* The value as it is stored: rounded to the element. */
static double stored(enum assay_element element, double value)
{
    unsigned char bytes[8] = {0};
    element_store(element, value, bytes);
    return element_real(element, bytes, 0);
}

static bool check_elements(const struct assay_fill *fill, struct assay_error *error)
{
    if ((unsigned)fill->element >= ASSAY_ELEMENT_COUNT)
        return assay_fail(error, ASSAY_INVALID, "%d is no kind of element", (int)fill->element);
    bool uniform = fill->kind == ASSAY_FILL_UNIFORM, whole = element_is_whole(fill->element);
    if (whole && fill->kind != ASSAY_FILL_SEQUENCE)
        return check_whole(fill, fill->from, error) &&
               (!uniform ||
                (check_whole(fill, fill->to, error) &&
                 (fill->from <= fill->to || assay_fail(error, ASSAY_INVALID,
                                                       "its fill wants a low bound of at most the "
                                                       "high one"))));
    if (whole && (fabs(fill->from) > WHOLE_MAX || fabs(fill->to) > WHOLE_MAX ||
                  fill->from != nearbyint(fill->from) || fill->to != nearbyint(fill->to)))
        return assay_fail(error, ASSAY_INVALID, "its fill wants whole numbers of at most 2^53");
    if (!uniform)
        return true;
    double low = stored(fill->element, fill->from), high = stored(fill->element, fill->to);
    if (isfinite(low) && isfinite(high) && isfinite(high - low) && low < high)
        return true;
    return assay_fail(error, ASSAY_INVALID,
                      "its fill wants finite bounds with low below high, as %s holds them",
                      element_name(fill->element));
}

bool fill_check(const struct assay_fill *fill, struct assay_error *error)
{
    switch (fill->kind) {
    case ASSAY_FILL_RANDOM_BITS:
    case ASSAY_FILL_WORD:
        return true;
    case ASSAY_FILL_UNIFORM_FP32:
        if (isfinite(fill->low) && isfinite(fill->high) && fill->low < fill->high)
            return true;
        return assay_fail(error, ASSAY_INVALID, "its fill wants finite bounds with low below high");
    case ASSAY_FILL_VALUE:
    case ASSAY_FILL_UNIFORM:
    case ASSAY_FILL_SEQUENCE:
        return check_elements(fill, error);
    case ASSAY_FILL_DATA:
        return fill->data ||
               assay_fail(error, ASSAY_INVALID, "its fill wants data, as long as the buffer");
    }
    return assay_fail(error, ASSAY_INVALID, "%d is no kind of fill", (int)fill->kind);
}

struct assay_fill fill_plain(const struct assay_fill *fill)
{
    struct assay_fill plain = *fill;
    if (fill->kind == ASSAY_FILL_UNIFORM_FP32) {
        plain.kind = ASSAY_FILL_UNIFORM;
        plain.element = ASSAY_ELEMENT_FLOAT;
        plain.from = (double)fill->low;
        plain.to = (double)fill->high;
    } else if (fill->kind == ASSAY_FILL_WORD) {
        plain.kind = ASSAY_FILL_VALUE;
        plain.element = ASSAY_ELEMENT_UINT32;
        plain.from = fill->word;
    }
    return plain;
}

/* The largest float under the high bound. */
static float below(float high, float low)
{
    return nextafterf(high, low);
}

/* Every operation is a rounded one of fp32, so that a shader can do the same. Rounding may reach
 * the excluded bound. */
static float uniform_float(float low, float high, uint32_t bits)
{
    const float span = high - low;
    const float value = low + span * ((float)(bits >> 8) * 0x1p-24f);
    return value < high ? value : below(high, low);
}

static double uniform_double(double low, double high, uint64_t bits)
{
    const double value = low + (high - low) * ((double)(bits >> 11) * 0x1p-53);
    return value < high ? value : nextafter(high, low);
}

void fill_small_bounds(enum assay_element element, double low, double high, uint16_t *top,
                       uint16_t *under)
{
    const double step = element_spacing(element, high);
    /* Below a power of two neighbours are half as far apart. */
    const double near = high - step / 2;
    *top = *under = 0;
    element_store(element, high, top);
    element_store(element, stored(element, near) < high ? near : high - step, under);
    if (element_real(element, under, 0) < low)
        element_store(element, low, under);
}

static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    return a1 * b1 + (middle >> 32) + ((a0 * b1 + (uint32_t)middle) >> 32);
}

static void store_whole(const struct assay_fill *fill, uint32_t word, uint64_t wide, void *out)
{
    const uint64_t range = (uint64_t)(fill->to - fill->from) + 1;
    const uint64_t offset = element_bytes(fill->element) == 8 ? multiply_high(wide, range)
                                                              : word * range >> 32;
    element_store_whole(fill->element, (int64_t)fill->from + (int64_t)offset, out);
}

/* Whole blocks are made aside and copied: the destination may be write-combined, where reading back
 * crawls. */
#define BLOCK_BYTES 4096

static void uniform_block(const struct assay_fill *fill, uint64_t seed, uint64_t first,
                          unsigned char block[BLOCK_BYTES])
{
    const size_t width = element_bytes(fill->element), count = BLOCK_BYTES / width;
    const enum assay_element element = fill->element;
    const bool whole = element_is_whole(element);
    const float low = whole ? 0 : (float)stored(element, fill->from);
    const float high = whole ? 0 : (float)stored(element, fill->to);
    const bool small = !whole && width < 4;
    uint16_t top, under = 0;
    uint32_t words[512];
    if (small)
        fill_small_bounds(element, (double)low, (double)high, &top, &under);
    for (size_t i = 0; i < count; i++) {
        unsigned char *out = block + i * width;
        const uint64_t wide = width == 8 ? random_at(seed, first + i) : 0;
        if (width < 8 && i % 512 == 0)
            random_fill(seed, (first + i) / 2, words, sizeof(words));
        if (whole) {
            store_whole(fill, width < 8 ? words[i % 512] : 0, wide, out);
        } else if (element == ASSAY_ELEMENT_DOUBLE) {
            element_store(element, uniform_double(fill->from, fill->to, wide), out);
        } else {
            const float value = uniform_float(low, high, words[i % 512]);
            element_store(element, (double)value, out);
            if (small && element_real(element, out, 0) >= (double)high)
                memcpy(out, &under, width);
        }
    }
}

static void sequence_block(const struct assay_fill *fill, uint64_t first,
                           unsigned char block[BLOCK_BYTES])
{
    const size_t width = element_bytes(fill->element), count = BLOCK_BYTES / width;
    const bool whole = element_is_whole(fill->element);
    for (size_t i = 0; i < count; i++) {
        if (!whole) {
            element_store(fill->element, fill->from + (double)(first + i) * fill->to,
                          block + i * width);
            continue;
        }
        const uint64_t value = (uint64_t)(int64_t)fill->from +
                               (first + i) * (uint64_t)(int64_t)fill->to;
        for (size_t byte = 0; byte < width; byte++)
            block[i * width + byte] = (unsigned char)(value >> (8 * byte));
    }
}

uint64_t fill_pattern(const struct assay_fill *fill)
{
    const size_t width = element_bytes(fill->element);
    unsigned char bytes[8] = {0};
    uint64_t pattern;
    for (size_t i = 0; i < sizeof(bytes); i += width)
        element_store(fill->element, fill->from, bytes + i);
    memcpy(&pattern, bytes, sizeof(pattern));
    return pattern;
}

static void pattern_block(uint64_t pattern, unsigned char block[BLOCK_BYTES])
{
    for (size_t i = 0; i < BLOCK_BYTES; i += sizeof(pattern))
        memcpy(block + i, &pattern, sizeof(pattern));
}

void fill_bytes(const struct assay_fill *given, uint64_t seed, uint64_t offset, uint64_t bytes,
                void *out)
{
    const struct assay_fill fill = fill_plain(given);
    if (fill.kind == ASSAY_FILL_RANDOM_BITS) {
        random_fill(seed, offset / 8, out, (size_t)bytes);
        return;
    }
    if (fill.kind == ASSAY_FILL_DATA) {
        memcpy(out, (const char *)fill.data + offset, (size_t)bytes);
        return;
    }
    unsigned char block[BLOCK_BYTES];
    if (fill.kind == ASSAY_FILL_VALUE)
        pattern_block(fill_pattern(&fill), block);
    for (uint64_t done = 0; done < bytes; done += sizeof(block)) {
        const uint64_t left = bytes - done;
        const uint64_t first = (offset + done) / element_bytes(fill.element);
        if (fill.kind == ASSAY_FILL_UNIFORM)
            uniform_block(&fill, seed, first, block);
        else if (fill.kind == ASSAY_FILL_SEQUENCE)
            sequence_block(&fill, first, block);
        memcpy((char *)out + done, block, left < sizeof(block) ? (size_t)left : sizeof(block));
    }
}
