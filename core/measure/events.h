/* SPDX-License-Identifier: MIT */
/* What ran when: each execution of a stage is one event, all on one time axis. Pure. */
#ifndef MEASURE_EVENTS_H
#define MEASURE_EVENTS_H

#include "base/error.h"

/* What the device said of a stage, on the clock of its queue. */
struct event_stamps {
    bool there;
    uint64_t begin, end;
};

struct event {
    uint64_t batch; /* counts from 0 in each run of an engine */
    unsigned slot, stage, group;
    int64_t begin_ns, end_ns; /* on the case's clock */
    int64_t cpu_ns;           /* of the thread that ran or submitted it; -1: not read */
    int64_t held_ns;          /* of its time, how long it was held after its work (engine.h) */
    struct event_stamps stamps;
};

/* All zero is empty. In order of their ends. */
struct events {
    struct event *list;
    size_t count, capacity;
};
/* Room for `count` more, so that adding them does not fail. */
bool events_reserve(struct events *events, size_t count, struct assay_error *error);
bool events_add(struct events *events, const struct event *event, struct assay_error *error);
void events_clear(struct events *events); /* keeps the room */
void events_free(struct events *events);

/* From the first stage's begin to the last one's end. */
struct event_batch {
    int64_t begin_ns, end_ns;
};
/* Of the batches `first` ... first + count - 1, all of whose events must be there. */
void events_batches(const struct events *events, uint64_t first, size_t count,
                    struct event_batch *out);

/* How a window of time was used. */
struct event_use {
    int64_t begin_ns, end_ns; /* the window */
    int64_t *stage_ns;        /* for each stage: how long it ran inside the window */
    int64_t *group_ns;        /* for each group: how long any of its stages did */
    int64_t *stage_cpu_ns;    /* CPU time of those that ended inside; -1: not read */
};
/* The arrays belong to the caller and hold `stages` and `groups` numbers. */
void events_use(const struct events *events, unsigned stages, unsigned groups,
                struct event_use *use);

#endif
