/* SPDX-License-Identifier: MIT */
/* Requests that arrive by themselves (open loop) or when their client has its last result (closed
 * loop), wait in a queue, are put into batches and served: what an engine is fed with, one batch at
 * a time, and what came of it. Only times; no device.
 *
 * It has a time of its own, which stands still between two windows: nothing is in flight there, so
 * requests that wait find the same machine again, and none arrives meanwhile. A latency counts from
 * when the request was meant to arrive, however late it was looked at. */
#ifndef MEASURE_LOAD_H
#define MEASURE_LOAD_H

#include "base/text.h"
#include "experiment/schedule.h"
#include "measure/engine.h"
#include "result/metric.h"

/* Batches are recorded at sizes 1, 2, 4, ... and batch_max: one goes to the smallest that holds it.
 * The number of sizes, and one of them. Pure. */
unsigned load_sizes(int64_t batch_max);
int64_t load_size(int64_t batch_max, unsigned index);

/* Sums over the requests that ended in a window, in ns. */
struct load_window {
    int64_t duration_ns, busy_ns; /* of the device: its batches that ended here */
    uint64_t arrived, turned_away, ended, in_time, batches;
    double latency, waiting, batching, service;
    uint64_t queued;  /* at its end */
    uint64_t emptied; /* how often a batch left none waiting */
    uint64_t full;    /* of those that ended, the ones in batches of batch_max, and ... */
    int64_t full_ns;  /* ... what these batches took */
};

/* An open loop says something of latency only where so many requests arrive: how long that takes.
 */
int64_t load_least_ns(const struct schedule *schedule);

struct load;
/* `stages`: of a batch. The schedule is copied. */
struct load *load_create(const struct schedule *schedule, uint64_t seed, unsigned stages,
                         struct assay_error *error);
void load_destroy(struct load **load);

/* A window begins now; its source ends it after this time, one of a closed loop as late as
 * the load's own time `ramp_ns` where not every client has had a first result: all ask at once in
 * the begin, so what these took says nothing. */
struct engine_source load_begin(struct load *load, int64_t now_ns, int64_t window_ns,
                                int64_t ramp_ns);
/* It is over. `counts`: not of the warm-up. Times of a batch and its stages (of MEASURE_STAGES_MAX)
 * in it, on average; 0 where no batch ended. */
struct load_times {
    int64_t latency_ns, batch_ns, stage_ns[MEASURE_STAGES_MAX];
};
bool load_end(struct load *load, int64_t now_ns, bool counts, struct load_times *times,
              struct assay_error *error);

/* Of the windows that count. */
size_t load_window_count(const struct load *load);
const struct load_window *load_window_at(const struct load *load, size_t index);
/* Why there is no finite latency, or NULL: more arrives than is served. */
const char *load_overload(struct load *load);
/* Whether the reason of an absent figure is such a one. */
bool load_is_overload(const char *reason);
/* Why latencies say nothing, or NULL: overload, or first results of clients in windows that count.
 */
const char *load_unsteady(struct load *load);
/* Whether a request ended in the windows that count; ASSAY_SYSTEM says what it waited for. */
bool load_check_ended(const struct load *load, struct assay_error *error);
/* latency.mean, .waiting, .batching, .service, .p50, .p95, .p99, throughput, goodput, utilisation.
 * Intervals are those of batch means: over windows, with their effective number. */
bool load_metrics(struct load *load, double confidence, struct metric_set *set,
                  struct assay_error *error);
/* The record's `load`: {"overload":...,"latencies":"log7 ...","windows":[...]}. */
void load_add_record(struct load *load, struct text *out);

#endif
