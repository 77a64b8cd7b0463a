/* SPDX-License-Identifier: MIT */
#include "vulkan/fill.h"

#include "base/error.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

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
    }
    return assay_fail(error, ASSAY_INVALID, "%d is no kind of fill", (int)fill->kind);
}

static float uniform(const struct assay_fill *fill, uint32_t bits)
{
    const double unit = (double)(bits >> 8) * 0x1p-24;
    const float value = (float)((double)fill->low +
                                ((double)fill->high - (double)fill->low) * unit);
    /* Rounding to float may reach the excluded bound. */
    return value < fill->high ? value : nextafterf(fill->high, fill->low);
}

/* Whole blocks are made aside and copied: the destination may be write-combined, where reading back
 * crawls. */
#define BLOCK_WORDS 1024

static void fill_block(const struct assay_fill *fill, uint64_t seed, uint64_t offset,
                       uint32_t words[BLOCK_WORDS])
{
    if (fill->kind == ASSAY_FILL_WORD) {
        for (size_t i = 0; i < BLOCK_WORDS; i++)
            words[i] = fill->word;
        return;
    }
    random_fill(seed, offset / 8, words, BLOCK_WORDS * sizeof(words[0]));
    for (size_t i = 0; i < BLOCK_WORDS; i++) {
        const float value = uniform(fill, words[i]);
        memcpy(&words[i], &value, sizeof(value));
    }
}

void fill_bytes(const struct assay_fill *fill, uint64_t seed, uint64_t offset, uint64_t bytes,
                void *out)
{
    if (fill->kind == ASSAY_FILL_RANDOM_BITS) {
        random_fill(seed, offset / 8, out, (size_t)bytes);
        return;
    }
    uint32_t words[BLOCK_WORDS];
    if (fill->kind == ASSAY_FILL_WORD)
        fill_block(fill, seed, offset, words);
    for (uint64_t done = 0; done < bytes; done += sizeof(words)) {
        const uint64_t left = bytes - done;
        if (fill->kind != ASSAY_FILL_WORD)
            fill_block(fill, seed, offset + done, words);
        memcpy((char *)out + done, words, left < sizeof(words) ? (size_t)left : sizeof(words));
    }
}
