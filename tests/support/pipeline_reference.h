/* SPDX-License-Identifier: MIT */
/* A pipeline of batches, simulated by itself: what the engine under test is held against. It knows
 * nothing of the engine and shares no code with it. */
#ifndef TESTS_PIPELINE_REFERENCE_H
#define TESTS_PIPELINE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REFERENCE_STAGES_MAX 16
#define REFERENCE_DEPTH_MAX 64

/* Stages of one group exclude each other. */
struct reference_stage {
    int64_t duration_ns; /* > 0 */
    unsigned group;      /* under REFERENCE_STAGES_MAX */
};

/* When each stage of each batch runs, from time 0 on: index is batch * count + stage. Stages of a
 * batch run in order; batch n begins when batch n - depth has ended at the earliest; a group that
 * is free serves the oldest batch whose stage is ready. False: an argument is out of range. */
bool reference_simulate(const struct reference_stage *stages, size_t count, unsigned depth,
                        size_t batches, int64_t *begin_ns, int64_t *end_ns);

/* The mean distance of the ends of batches in the steady state, in ns: of `batches` after as many
 * that fill the pipeline. Negative: out of range or out of memory. */
double reference_period_ns(const struct reference_stage *stages, size_t count, unsigned depth,
                           size_t batches);

/* A random list: 2 to 6 stages of 10 us to 10 ms; on groups of their own, or on 1 to `count`
 * groups. The same for the same seed. Returns how many. */
size_t reference_random(uint64_t seed, bool own_groups,
                        struct reference_stage stages[REFERENCE_STAGES_MAX]);

#endif
