/* SPDX-License-Identifier: MIT */
#include "measure/events.h"

#include <stdlib.h>

bool events_reserve(struct events *events, size_t count, struct assay_error *error)
{
    if (count <= events->capacity - events->count)
        return true;
    size_t most = SIZE_MAX / sizeof(*events->list);
    size_t capacity = events->capacity < most / 2 ? 2 * events->capacity : most;
    if (count <= most - events->count && capacity < events->count + count)
        capacity = events->count + count;
    struct event *list = count <= most - events->count
                             ? realloc(events->list, capacity * sizeof(*list))
                             : NULL;
    if (!list)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY,
                          "out of host memory for the events of %zu "
                          "stages",
                          count);
    events->list = list;
    events->capacity = capacity;
    return true;
}

bool events_add(struct events *events, const struct event *event, struct assay_error *error)
{
    if (!events_reserve(events, 1, error))
        return false;
    events->list[events->count++] = *event;
    return true;
}

void events_clear(struct events *events)
{
    events->count = 0;
}

void events_free(struct events *events)
{
    free(events->list);
    *events = (struct events){0};
}

void events_batches(const struct events *events, uint64_t first, size_t count,
                    struct event_batch *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (struct event_batch){.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->list[i];
        if (event->batch < first || event->batch - first >= count)
            continue;
        struct event_batch *batch = &out[event->batch - first];
        batch->begin_ns = event->begin_ns < batch->begin_ns ? event->begin_ns : batch->begin_ns;
        batch->end_ns = event->end_ns > batch->end_ns ? event->end_ns : batch->end_ns;
    }
}

void events_use(const struct events *events, unsigned stages, unsigned groups,
                struct event_use *use)
{
    for (unsigned i = 0; i < stages; i++)
        use->stage_ns[i] = use->stage_cpu_ns[i] = 0;
    for (unsigned i = 0; i < groups; i++)
        use->group_ns[i] = 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->list[i];
        int64_t begin = event->begin_ns > use->begin_ns ? event->begin_ns : use->begin_ns;
        int64_t end = event->end_ns < use->end_ns ? event->end_ns : use->end_ns;
        if (end > begin) {
            use->stage_ns[event->stage] += end - begin;
            use->group_ns[event->group] += end - begin; /* one at a time */
        }
        bool inside = event->end_ns > use->begin_ns && event->end_ns <= use->end_ns;
        int64_t *cpu_ns = &use->stage_cpu_ns[event->stage];
        if (event->cpu_ns < 0)
            *cpu_ns = -1;
        else if (inside && *cpu_ns >= 0)
            *cpu_ns += event->cpu_ns;
    }
}
