/* SPDX-License-Identifier: MIT */
/* What the files of a load share: the queue (load.c) and what is told of it (load_figures.c). */
#ifndef MEASURE_LOAD_INSIDE_H
#define MEASURE_LOAD_INSIDE_H

#include "measure/load.h"

#include "stats/histogram.h"

struct load {
    struct schedule schedule;
    uint64_t seed;
    unsigned stages;

    /* Times are the load's own: the clock's less this. */
    int64_t offset_ns;
    bool begun;
    int64_t paused_ns, window_begin_ns, window_end_ns;
    int64_t ramp_end_ns; /* a window that begins with the first results of clients ends by then */

    double next_ns;      /* OPEN_LOOP: when the next request arrives ... */
    uint64_t next_index; /* ... and its number */
    int64_t *queue;      /* a ring: when those that wait were meant to arrive */
    size_t room, first, queued;
    int64_t newcomers; /* CLOSED_LOOP: clients that have had no result */
    bool ramping;      /* there were some when the window began */
    bool ramp_counts;  /* such results are in windows that count */
    int64_t *served;   /* the same of those in the batch that is served */
    size_t serving;
    int64_t issued_ns, free_ns; /* that batch; when the one before it ended */

    struct load_window now;
    double stage_ns[MEASURE_STAGES_MAX], batch_ns; /* sums of its batches */
    double squares;                                /* of its latencies */
    int64_t shortest_ns, longest_ns;               /* of them */
    struct histogram *latencies;                   /* of this window, and ... */

    struct load_window *windows; /* ... of those that count */
    size_t count, capacity;
    struct histogram *all;
    double all_squares;
    int64_t all_shortest_ns, all_longest_ns;
    struct text overload;
};

#endif
