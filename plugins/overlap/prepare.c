/* SPDX-License-Identifier: MIT */
/* What the host makes of records before they are uploaded. */
#include "overlap.h"

#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { BLOCK_WORDS = 1024 }; /* stays in the nearest cache */

static uint16_t half_of(float value)
{
    uint32_t bits, sign;
    memcpy(&bits, &value, sizeof(bits));
    sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits < UINT32_C(113) << 23) { /* under 2^-14: the addition rounds to a multiple of 2^-24 */
        float shifted;
        memcpy(&shifted, &bits, sizeof(shifted));
        shifted += 0.5f;
        memcpy(&bits, &shifted, sizeof(bits));
        return (uint16_t)(sign | (bits - (UINT32_C(126) << 23)));
    }
    bits += 0xfff + (bits >> 13 & 1); /* ties to even */
    return (uint16_t)(sign | ((bits >> 13) - (UINT32_C(112) << 10)));
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) static uint64_t narrow_eights(const float *in, uint64_t count,
                                                                  uint16_t *out)
{
    uint64_t done = 0;
    for (; done + 8 <= count; done += 8) {
        __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in + done), _MM_FROUND_TO_NEAREST_INT);
        memcpy(out + done, &halves, sizeof(halves));
    }
    return done;
}

/* Not every compiler can be asked for f16c; what has AVX2 has it. */
static uint64_t narrow_fast(const float *in, uint64_t count, uint16_t *out)
{
    return __builtin_cpu_supports("avx2") ? narrow_eights(in, count, out) : 0;
}
#else
static uint64_t narrow_fast(const float *in, uint64_t count, uint16_t *out)
{
    (void)in;
    (void)count;
    (void)out;
    return 0;
}
#endif

void narrow(const float *in, uint64_t count, uint16_t *out)
{
    for (uint64_t i = narrow_fast(in, count, out); i < count; i++)
        out[i] = half_of(in[i]);
}

/* Records first ... first + count - 1. */
static void select_fields(const struct params *p, const float *in, uint64_t first, uint64_t count,
                          float *out)
{
    uint64_t fields = (uint64_t)p->fields, used = (uint64_t)p->used;
    for (uint64_t record = 0; record < count; record++)
        for (uint64_t field = 0; field < used; field++)
            out[record * used + field] = in[(first + record) * fields + field];
}

/* A block of records at a time, through the cache. */
static void select_and_narrow(const struct params *p, const float *in, uint64_t records,
                              uint16_t *out)
{
    float block[BLOCK_WORDS];
    uint64_t used = (uint64_t)p->used, most = BLOCK_WORDS / used;
    for (uint64_t first = 0; first < records; first += most) {
        uint64_t count = records - first < most ? records - first : most;
        select_fields(p, in, first, count, block);
        narrow(block, count * used, out + first * used);
    }
}

static int64_t cpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The copy is a part of the time that is stated. */
static void decode(const struct overlap *o, const float *in, void *out)
{
    int64_t end_ns = cpu_now_ns() + o->params->decode_time * o->params->items;
    memcpy(out, in, (size_t)(o->layout.sent_words * WORD_BYTES));
    while (cpu_now_ns() < end_ns)
        continue;
}

bool overlap_prepare(const struct assay_stage *stage, void *self, struct assay_error *error)
{
    (void)stage;
    (void)error;
    const struct overlap *o = self;
    const struct layout *layout = &o->layout;
    const float *in = assay_buffer_address(o->records);
    void *out = assay_buffer_address(o->staged);
    switch (o->params->prepare) {
    case PREPARE_SELECT:
        select_fields(o->params, in, 0, layout->records, out);
        break;
    case PREPARE_NARROW:
        narrow(in, layout->kept_words, out);
        break;
    case PREPARE_BOTH:
        select_and_narrow(o->params, in, layout->records, out);
        break;
    default:
        decode(o, in, out);
        break;
    }
    if (prepare_narrows(o->params) && layout->kept_words % 2 == 1)
        ((uint16_t *)out)[layout->kept_words] = 0;
    return true;
}
