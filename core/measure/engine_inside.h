/* SPDX-License-Identifier: MIT */
/* What the files of the engine share: the policy (engine.c), which the simulation (engine_model.c)
 * and the threads (engine_threads.c) both follow. */
#ifndef MEASURE_ENGINE_INSIDE_H
#define MEASURE_ENGINE_INSIDE_H

#include "measure/engine.h"

/* A batch in its slot. */
struct engine_batch {
    bool live;
    uint64_t number;
    struct serial *serial;
    unsigned taken, ended;              /* stages: handed to their group; over */
    int64_t ended_ns;                   /* of the last stage that ended */
    unsigned submitted;                 /* stages on whose end others can wait on the device */
    uint64_t value[MEASURE_STAGES_MAX]; /* of the group's timeline, for the submitted ones */
};

struct engine_threads;

struct engine {
    struct engine_layout layout;
    struct assay_device *device;
    struct assay_clock *clock;
    struct serial **slots;
    unsigned depth, variants;
    bool stamps;
    struct engine_threads *threads; /* NULL: MODEL stages */

    /* Of the run in progress. */
    const struct engine_source *source;
    struct engine_perturb perturb;
    struct engine_batch *ring; /* one a slot */
    uint64_t next;             /* number of the batch to be issued next */
    unsigned live;
    bool over;        /* the source has ended it */
    int64_t later_ns; /* when the source is to be asked again; INT64_MAX: when a batch ends */
    bool failed;
    struct assay_error cause;
};

/* All of a run before it; with threads, under their lock: they may yet be on their way to sleep. */
void engine_begin(struct engine *engine, const struct engine_source *source,
                  const struct engine_perturb *perturb);
/* Keeps the first cause; nothing is begun any more. */
void engine_fail(struct engine *engine, const struct assay_error *cause);
/* Asks the source for as many batches as there are free slots. */
void engine_ask(struct engine *engine, int64_t now_ns);
/* The slot of the oldest batch whose stage this group can take; false: none. */
bool engine_pick(const struct engine *engine, unsigned group, unsigned *slot);
/* The stage that `engine_pick` found is the group's. */
unsigned engine_take(struct engine *engine, unsigned slot);
/* A stage that was taken is over. */
void engine_ended(struct engine *engine, const struct event *event);
/* How late a stage begins. */
int64_t engine_delay_ns(const struct engine *engine, uint64_t batch, unsigned stage);

/* By how much longer a stage holds its group than its work takes. */
int64_t engine_hold_ns(const struct engine *engine, unsigned stage);

void engine_simulate(struct engine *engine);

/* Sets engine->threads before the first of them begins. */
struct engine_threads *engine_threads_create(struct engine *engine, struct assay_error *error);
void engine_threads_destroy(struct engine_threads **threads);
void engine_threads_run(struct engine *engine, const struct engine_source *source,
                        const struct engine_perturb *perturb);

#endif
