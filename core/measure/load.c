/* SPDX-License-Identifier: MIT */
/* Arrivals, the queue, and batches. */
#include "measure/load_inside.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>

unsigned load_sizes(int64_t batch_max)
{
    unsigned count = 1;
    while (load_size(batch_max, count - 1) < batch_max)
        count++;
    return count;
}

int64_t load_size(int64_t batch_max, unsigned index)
{
    int64_t size = index < 62 ? INT64_C(1) << index : INT64_MAX;
    return size < batch_max ? size : batch_max;
}

int64_t load_least_ns(const struct schedule *schedule)
{
    if (schedule->kind != SCHEDULE_OPEN_LOOP)
        return 0;
    return (int64_t)ceil(SCHEDULE_REQUESTS_LEAST * 1e9 / schedule->rate);
}

struct load *load_create(const struct schedule *schedule, uint64_t seed, unsigned stages,
                         struct assay_error *error)
{
    struct load *load = calloc(1, sizeof(*load));
    if (!load)
        goto no_memory;
    load->schedule = *schedule;
    load->all_shortest_ns = INT64_MAX;
    load->seed = seed;
    load->stages = stages;
    load->room = (size_t)(schedule->kind == SCHEDULE_CLOSED_LOOP ? schedule->clients
                                                                 : schedule->queue_max);
    load->queue = calloc(load->room, sizeof(*load->queue));
    load->served = calloc((size_t)schedule->batch_max, sizeof(*load->served));
    if (!load->queue || !load->served)
        goto no_memory;
    load->latencies = histogram_create(error);
    load->all = histogram_create(error);
    if (load->latencies && load->all)
        return load;
    load_destroy(&load);
    return NULL;
no_memory:
    assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a queue of requests");
    load_destroy(&load);
    return NULL;
}

void load_destroy(struct load **load)
{
    if (!*load)
        return;
    histogram_destroy(&(*load)->latencies);
    histogram_destroy(&(*load)->all);
    text_free(&(*load)->overload);
    free((*load)->queue);
    free((*load)->served);
    free((*load)->windows);
    free(*load);
    *load = NULL;
}

static void arrive(struct load *load, int64_t when_ns)
{
    load->now.arrived++;
    if (load->queued == load->room) {
        load->now.turned_away++;
        return;
    }
    load->queue[(load->first + load->queued++) % load->room] = when_ns;
}

/* From one arrival to the next. */
static double gap_ns(const struct load *load)
{
    double mean_ns = 1e9 / load->schedule.rate;
    if (load->schedule.arrivals == SCHEDULE_ARRIVALS_EVEN)
        return mean_ns;
    /* Evenly in (0, 1]. */
    double u = (double)((random_at(load->seed, load->next_index) >> 11) + 1) * 0x1p-53;
    return -log(u) * mean_ns;
}

static void arrive_next(struct load *load)
{
    load->next_ns += gap_ns(load);
    load->next_index++;
}

/* All that arrived meanwhile: the queue was not served, so it is as if each had been seen. */
static void arrive_until(struct load *load, int64_t now_ns)
{
    if (load->schedule.kind != SCHEDULE_OPEN_LOOP)
        return;
    for (; load->next_ns <= (double)now_ns; arrive_next(load))
        arrive(load, (int64_t)load->next_ns);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* When there is something to do, with nothing in flight and no batch to be issued yet. */
static int64_t next_event_ns(const struct load *load)
{
    int64_t when_ns = load->newcomers > 0 && load->ramp_end_ns > load->window_end_ns
                          ? load->ramp_end_ns
                          : load->window_end_ns;
    if (load->schedule.kind == SCHEDULE_OPEN_LOOP && load->next_ns < (double)when_ns)
        when_ns = (int64_t)ceil(load->next_ns);
    if (load->queued > 0)
        when_ns = least(when_ns, load->queue[load->first] + load->schedule.wait_max_ns);
    return when_ns;
}

static void issue(struct load *load, int64_t now_ns, struct engine_issue *wanted)
{
    load->serving = (size_t)least((int64_t)load->queued, load->schedule.batch_max);
    for (size_t i = 0; i < load->serving; i++)
        load->served[i] = load->queue[(load->first + i) % load->room];
    load->first = (load->first + load->serving) % load->room;
    load->queued -= load->serving;
    load->now.emptied += load->queued == 0;
    load->issued_ns = now_ns;
    while (load_size(load->schedule.batch_max, wanted->variant) < (int64_t)load->serving)
        wanted->variant++;
}

static enum engine_answer next(void *user, uint64_t batch, int64_t clock_ns,
                               struct engine_issue *wanted)
{
    struct load *load = user;
    int64_t now_ns = clock_ns - load->offset_ns;
    (void)batch;
    arrive_until(load, now_ns);
    if (now_ns >= load->window_end_ns && (load->newcomers == 0 || now_ns >= load->ramp_end_ns))
        return ENGINE_END;
    bool full = load->queued >= (size_t)load->schedule.batch_max;
    bool waited = load->queued > 0 &&
                  now_ns >= load->queue[load->first] + load->schedule.wait_max_ns;
    if (full || waited) {
        wanted->variant = 0;
        issue(load, now_ns, wanted);
        return ENGINE_ISSUE;
    }
    wanted->when_ns = next_event_ns(load) + load->offset_ns;
    return ENGINE_LATER;
}

/* One request has its result. What it waited while the device was busy is waiting; while the
 * device was free, and others were waited for, batching. */
static void serve(struct load *load, int64_t arrived_ns, int64_t end_ns)
{
    struct load_window *window = &load->now;
    int64_t latency_ns = end_ns - arrived_ns, queued_ns = load->issued_ns - arrived_ns;
    int64_t busy_ns = load->free_ns > arrived_ns ? load->free_ns - arrived_ns : 0;
    if (load->schedule.batch_max == 1)
        busy_ns = queued_ns;
    window->ended++;
    window->in_time += load->schedule.deadline_ns == 0 || latency_ns <= load->schedule.deadline_ns;
    window->latency += (double)latency_ns;
    window->waiting += (double)busy_ns;
    window->batching += (double)(queued_ns - busy_ns);
    window->service += (double)(end_ns - load->issued_ns);
    load->squares += (double)latency_ns * (double)latency_ns;
    histogram_add(load->latencies, latency_ns);
    load->shortest_ns = least(load->shortest_ns, latency_ns);
    load->longest_ns = -least(-load->longest_ns, -latency_ns);
    if (load->schedule.kind == SCHEDULE_CLOSED_LOOP)
        arrive(load, end_ns);
}

static bool ended(void *user, const struct event *event, struct assay_error *error)
{
    struct load *load = user;
    int64_t end_ns = event->end_ns - load->offset_ns;
    (void)error;
    load->stage_ns[event->stage] += (double)(event->end_ns - event->begin_ns);
    if (event->stage + 1 < load->stages)
        return true;
    for (size_t i = 0; i < load->serving; i++) {
        serve(load, load->served[i], end_ns);
        load->newcomers -= load->newcomers > 0; /* the queue is in order */
    }
    if ((int64_t)load->serving == load->schedule.batch_max) {
        load->now.full += load->serving;
        load->now.full_ns += end_ns - load->issued_ns;
    }
    load->serving = 0;
    load->free_ns = end_ns;
    load->now.batches++;
    load->now.busy_ns += end_ns - load->issued_ns;
    load->batch_ns += (double)(end_ns - load->issued_ns);
    return true;
}

/* All clients ask at once; nothing has arrived in an open loop. */
static void first_arrivals(struct load *load)
{
    if (load->schedule.kind == SCHEDULE_OPEN_LOOP)
        arrive_next(load);
    for (int64_t i = 0; load->schedule.kind == SCHEDULE_CLOSED_LOOP && i < load->schedule.clients;
         i++)
        arrive(load, 0);
    load->newcomers = load->schedule.kind == SCHEDULE_CLOSED_LOOP ? load->schedule.clients : 0;
}

struct engine_source load_begin(struct load *load, int64_t now_ns, int64_t window_ns,
                                int64_t ramp_ns)
{
    load->offset_ns = now_ns - load->paused_ns;
    load->window_begin_ns = load->paused_ns;
    load->window_end_ns = load->paused_ns + window_ns;
    load->ramp_end_ns = ramp_ns;
    load->now = (struct load_window){0};
    for (unsigned i = 0; i < load->stages; i++)
        load->stage_ns[i] = 0;
    load->batch_ns = load->squares = 0;
    load->shortest_ns = INT64_MAX;
    load->longest_ns = 0;
    histogram_clear(load->latencies);
    if (!load->begun)
        first_arrivals(load);
    load->begun = true;
    load->ramping = load->newcomers > 0;
    return (struct engine_source){.user = load, .next = next, .ended = ended};
}

static bool keep(struct load *load, struct assay_error *error)
{
    if (load->count == load->capacity) {
        size_t capacity = load->capacity ? 2 * load->capacity : 64;
        struct load_window *windows = realloc(load->windows, capacity * sizeof(*windows));
        if (!windows)
            return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu windows",
                              capacity);
        load->windows = windows;
        load->capacity = capacity;
    }
    load->windows[load->count++] = load->now;
    load->ramp_counts = load->ramp_counts || load->ramping;
    load->all_squares += load->squares;
    load->all_shortest_ns = least(load->all_shortest_ns, load->shortest_ns);
    load->all_longest_ns = -least(-load->all_longest_ns, -load->longest_ns);
    histogram_merge(load->all, load->latencies);
    return true;
}

bool load_end(struct load *load, int64_t now_ns, bool counts, struct load_times *times,
              struct assay_error *error)
{
    double batches = load->now.batches ? (double)load->now.batches : 1;
    double requests = load->now.ended ? (double)load->now.ended : 1;
    load->paused_ns = now_ns - load->offset_ns;
    load->now.duration_ns = load->paused_ns - load->window_begin_ns;
    load->now.queued = load->queued;
    *times = (struct load_times){.latency_ns = (int64_t)(load->now.latency / requests + 0.5),
                                 .batch_ns = (int64_t)(load->batch_ns / batches + 0.5)};
    for (unsigned i = 0; i < load->stages; i++)
        times->stage_ns[i] = (int64_t)(load->stage_ns[i] / batches + 0.5);
    return !counts || keep(load, error);
}

size_t load_window_count(const struct load *load)
{
    return load->count;
}

const struct load_window *load_window_at(const struct load *load, size_t index)
{
    return &load->windows[index];
}
