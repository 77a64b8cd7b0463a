/* SPDX-License-Identifier: MIT */
/* The arithmetic of overlap_work.comp on one thread of the host: the same steps in the same order,
 * of which a compiler can make vectors. */
#include "overlap.h"

#include <string.h>

static const volatile float factor_one = 1; /* the kernel's push constant: no compiler knows it */

/* What a round carries to the next: 0, in exact steps. */
static float round_end(float first, float factor)
{
    float value[CHAINS];
    for (unsigned v = 0; v < CHAINS; v++)
        value[v] = first + (float)v;
    for (unsigned s = 0; s < STEPS; s++)
        for (unsigned v = 0; v < CHAINS; v++)
            value[v] = value[v] * factor + factor;
    float carried = -(float)(CHAINS / 2);
    for (unsigned v = 1; v < CHAINS; v += 2)
        carried += value[v] - value[v - 1];
    return carried;
}

bool overlap_host_compute(const struct assay_stage *stage, void *self, struct assay_error *error)
{
    const struct overlap *o = self;
    const uint32_t *in = assay_buffer_address(o->staged);
    uint32_t *out = assay_buffer_address(o->results);
    const float factor = factor_one;
    (void)stage;
    (void)error;
    for (uint64_t at = 0; at < o->work.results; at++) {
        uint32_t word = in[data_gathered(o, at)], bits;
        if (at < o->work.working) {
            float carried = 0, first = (float)(word & 127u);
            for (uint64_t round = 0; round < o->work.rounds; round++)
                carried = round_end(first + carried, factor);
            memcpy(&bits, &carried, sizeof(bits));
            word ^= bits;
        }
        out[at] = word;
    }
    return true;
}
