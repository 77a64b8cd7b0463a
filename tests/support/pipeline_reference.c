/* SPDX-License-Identifier: MIT */
#include "pipeline_reference.h"

#include <stdlib.h>

/* A batch in flight. What it has begun ends at a known time, so that is when its next stage is
 * ready. */
struct flight {
    size_t batch, next; /* stage that it has not begun */
    int64_t ready_ns;
};

struct simulation {
    const struct reference_stage *stages;
    size_t count;
    unsigned depth;
    struct flight flights[REFERENCE_DEPTH_MAX];
    int64_t free_ns[REFERENCE_STAGES_MAX]; /* of each group: when it has ended what it began */
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When the group can begin something, were nothing else to happen; INT64_MAX: nothing waits. */
static int64_t next_start(const struct simulation *s, unsigned group)
{
    int64_t start_ns = INT64_MAX;
    for (unsigned i = 0; i < s->depth; i++) {
        const struct flight *flight = &s->flights[i];
        if (flight->next < s->count && s->stages[flight->next].group == group) {
            int64_t possible_ns = later(flight->ready_ns, s->free_ns[group]);
            start_ns = possible_ns < start_ns ? possible_ns : start_ns;
        }
    }
    return start_ns;
}

static struct flight *oldest_ready(struct simulation *s, unsigned group, int64_t now_ns)
{
    struct flight *oldest = NULL;
    for (unsigned i = 0; i < s->depth; i++) {
        struct flight *flight = &s->flights[i];
        if (flight->next < s->count && s->stages[flight->next].group == group &&
            flight->ready_ns <= now_ns && (!oldest || flight->batch < oldest->batch))
            oldest = flight;
    }
    return oldest;
}

/* Each step begins the stage that can begin first: nothing that is not begun yet can be ready
 * before. */
static void step(struct simulation *s, size_t batches, int64_t *begin_ns, int64_t *end_ns)
{
    unsigned group = 0;
    int64_t now_ns = INT64_MAX;
    for (unsigned i = 0; i < REFERENCE_STAGES_MAX; i++) {
        int64_t start_ns = next_start(s, i);
        if (start_ns < now_ns) {
            now_ns = start_ns;
            group = i;
        }
    }
    struct flight *flight = oldest_ready(s, group, now_ns);
    size_t at = flight->batch * s->count + flight->next;
    begin_ns[at] = now_ns;
    end_ns[at] = now_ns + s->stages[flight->next].duration_ns;
    s->free_ns[group] = flight->ready_ns = end_ns[at];
    if (++flight->next == s->count && flight->batch + s->depth < batches) {
        flight->batch += s->depth; /* the slot's next one */
        flight->next = 0;
    }
}

bool reference_simulate(const struct reference_stage *stages, size_t count, unsigned depth,
                        size_t batches, int64_t *begin_ns, int64_t *end_ns)
{
    struct simulation s = {.stages = stages, .count = count, .depth = depth};
    if (count < 1 || count > REFERENCE_STAGES_MAX || depth < 1 || depth > REFERENCE_DEPTH_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        if (stages[i].duration_ns < 1 || stages[i].group >= REFERENCE_STAGES_MAX)
            return false;
    for (unsigned i = 0; i < depth; i++)
        s.flights[i] = (struct flight){.batch = i, .next = i < batches ? 0 : count};
    for (size_t i = 0; i < batches * count; i++)
        step(&s, batches, begin_ns, end_ns);
    return true;
}

double reference_period_ns(const struct reference_stage *stages, size_t count, unsigned depth,
                           size_t batches)
{
    size_t all = 2 * batches + depth; /* the last ones have nothing behind them */
    int64_t *times_ns = calloc(2 * all * (count ? count : 1), sizeof(*times_ns));
    int64_t *end_ns = times_ns ? times_ns + all * count : NULL;
    double period_ns = -1;
    if (times_ns && batches > 0 && reference_simulate(stages, count, depth, all, times_ns, end_ns))
        period_ns = (double)(end_ns[2 * batches * count - 1] - end_ns[batches * count - 1]) /
                    (double)batches;
    free(times_ns);
    return period_ns;
}

/* xorshift64* (Vigna 2016) after a step that spreads small seeds. */
static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * UINT64_C(2685821657736338717) >> 33) % below;
}

size_t reference_random(uint64_t seed, bool own_groups,
                        struct reference_stage stages[REFERENCE_STAGES_MAX])
{
    uint64_t state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    size_t count = 2 + (size_t)draw(&state, 5);
    unsigned groups = 1 + (unsigned)draw(&state, count);
    for (size_t i = 0; i < count; i++) {
        stages[i].duration_ns = 10000 + (int64_t)draw(&state, 9990000);
        unsigned group = (unsigned)draw(&state, groups);
        stages[i].group = own_groups ? (unsigned)i : group;
    }
    return count;
}
