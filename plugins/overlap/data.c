/* SPDX-License-Identifier: MIT */
/* What records hold, and whether all of it arrived. */
#include "overlap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_WORDS = 16384 };

/* splitmix64 (Steele, Lea, Flood 2014) at a position; 24 bits of it. */
float data_value(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (float)((int32_t)(z >> 40) - (1 << 23)) * 0x1p-23f;
}

void data_fill(uint64_t seed, uint64_t first, uint64_t count, float *out)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = data_value(seed, first + i);
}

/* Of kept word `kept` of the batch. */
static float kept_value(const struct overlap *o, uint64_t kept)
{
    uint64_t at = kept, fields = (uint64_t)o->params->fields, used = (uint64_t)o->params->used;
    if (prepare_selects(o->params))
        at = kept / used * fields + kept % used;
    return data_value(o->seed, o->first_word + at);
}

/* By another way than narrow() goes. Values are within [-1, 1]. */
static uint16_t nearest_half(double value)
{
    int exponent;
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double fraction = frexp(fabs(value), &exponent); /* [0.5, 1) */
    if (fraction == 0)
        return sign;
    if (exponent < -13) /* under 2^-14: multiples of 2^-24 */
        return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(fabs(value), 24)));
    double significand = nearbyint(ldexp(fraction, 11)); /* 1024 to 2048 */
    return (uint16_t)(sign + ((exponent + 13) << 10) + (int)significand);
}

static double half_value(uint16_t half)
{
    int exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
    double value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return half & 0x8000 ? -value : value;
}

/* The half that a value must have become; *worst is the largest error over its bound, which is half
 * a unit in the last place: 2^-11 of the value, 2^-25 below 2^-14. */
static uint16_t narrowed(double value, double *worst)
{
    uint16_t half = nearest_half(value);
    double error = fabs(half_value(half) - value) / fmax(0x1p-11 * fabs(value), 0x1p-25);
    *worst = fmax(*worst, error);
    return half;
}

/* Word `at` of what is uploaded. */
static uint32_t sent_word(const struct overlap *o, uint64_t at, double *worst)
{
    uint32_t word;
    if (prepare_narrows(o->params)) {
        word = narrowed((double)kept_value(o, 2 * at), worst);
        if (2 * at + 1 < o->layout.kept_words)
            word |= (uint32_t)narrowed((double)kept_value(o, 2 * at + 1), worst) << 16;
        return word;
    }
    float value = kept_value(o, at);
    memcpy(&word, &value, sizeof(word));
    return word;
}

uint64_t data_gathered(const struct overlap *o, uint64_t at)
{
    uint64_t stride = o->layout.sent_words / o->work.results;
    if (stride == 0)
        return at % o->layout.sent_words;
    return at + 1 == o->work.results ? o->layout.sent_words - 1 : at * stride;
}

struct comparison {
    const struct overlap *overlap;
    const char *what;
    struct assay_buffer *buffer;
    uint64_t words;
    bool results; /* else the input */
    double worst;
};

static bool compare(struct comparison *c, struct assay_verification *verification,
                    struct assay_error *error)
{
    uint32_t *got = malloc(BLOCK_WORDS * sizeof(*got)),
             *wanted = malloc(BLOCK_WORDS * sizeof(*wanted));
    bool right = got && wanted;
    if (!right)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
    for (uint64_t first = 0; right && first < c->words; first += BLOCK_WORDS) {
        uint64_t count = c->words - first < BLOCK_WORDS ? c->words - first : BLOCK_WORDS;
        for (uint64_t i = 0; i < count; i++)
            wanted[i] = sent_word(c->overlap,
                                  c->results ? data_gathered(c->overlap, first + i) : first + i,
                                  &c->worst);
        right = assay_buffer_read(c->buffer, first * WORD_BYTES, count * WORD_BYTES, got, error) &&
                assay_verification_bytes(verification, c->what, got, wanted, count * WORD_BYTES,
                                         first * WORD_BYTES, error);
    }
    free(got);
    free(wanted);
    return right;
}

bool overlap_verify(void *self, struct assay_verification *verification, struct assay_error *error)
{
    const struct overlap *o = self;
    struct comparison input = {o, "upload", o->input, o->layout.sent_words, false, 0};
    struct comparison results = {o, "compute", o->results, o->work.results, true, 0};
    struct comparison returned = {o, "download", o->returned, o->layout.download_words, true, 0};
    if ((o->returned && !compare(&returned, verification, error)) ||
        !compare(&results, verification, error) ||
        (o->input && !compare(&input, verification, error)))
        return false;
    return !prepare_narrows(o->params) ||
           assay_verification_error(verification, input.worst, error);
}
