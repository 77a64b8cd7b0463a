/* SPDX-License-Identifier: MIT */
#include "pipeline_reference.h"

#include <stdbool.h>
#include <stdlib.h>

#define GROUPS 16

struct batch {
    size_t stage;     /* the next one */
    int64_t ready_ns; /* when it can begin */
};

struct reference {
    const struct reference_stage *stages;
    size_t count, batches;
    unsigned depth;
    struct batch *all;
    int64_t free_ns[GROUPS]; /* when the group has done what it began */
};

static bool in_flight(const struct reference *r, size_t batch)
{
    if (r->all[batch].stage == r->count)
        return false;
    return batch < r->depth || r->all[batch - r->depth].stage == r->count;
}

static int64_t ready_ns(const struct reference *r, size_t batch)
{
    const struct batch *one = &r->all[batch];
    bool first = one->stage == 0 && batch >= r->depth;
    return first ? r->all[batch - r->depth].ready_ns : one->ready_ns;
}

/* When the group can begin its next stage at the earliest; INT64_MAX: it has none. */
static int64_t begin_ns(const struct reference *r, unsigned group)
{
    int64_t earliest = INT64_MAX;
    for (size_t i = 0; i < r->batches; i++)
        if (in_flight(r, i) && r->stages[r->all[i].stage].group == group &&
            ready_ns(r, i) < earliest)
            earliest = ready_ns(r, i);
    return earliest < r->free_ns[group] ? r->free_ns[group] : earliest;
}

/* The oldest that is ready then. */
static size_t choose(const struct reference *r, unsigned group, int64_t when_ns)
{
    for (size_t i = 0; i < r->batches; i++)
        if (in_flight(r, i) && r->stages[r->all[i].stage].group == group &&
            ready_ns(r, i) <= when_ns)
            return i;
    return r->batches;
}

static bool step(struct reference *r)
{
    unsigned group = 0;
    int64_t when_ns = INT64_MAX;
    for (unsigned g = 0; g < GROUPS; g++) {
        int64_t at_ns = begin_ns(r, g);
        if (at_ns < when_ns) {
            when_ns = at_ns;
            group = g;
        }
    }
    if (when_ns == INT64_MAX)
        return false;
    struct batch *batch = &r->all[choose(r, group, when_ns)];
    batch->ready_ns = r->free_ns[group] = when_ns + r->stages[batch->stage++].time_ns;
    return true;
}

double reference_period(const struct reference_stage *stages, size_t count, unsigned depth,
                        size_t batches, size_t skipped)
{
    struct reference r = {.stages = stages, .count = count, .batches = batches, .depth = depth};
    r.all = calloc(batches, sizeof(*r.all));
    if (!r.all)
        return -1;
    while (step(&r))
        continue;
    size_t last = batches - depth - 1; /* what comes after runs in a pipeline that empties */
    double span_ns = (double)(r.all[last].ready_ns - r.all[skipped].ready_ns);
    free(r.all);
    return span_ns / (double)(last - skipped);
}
