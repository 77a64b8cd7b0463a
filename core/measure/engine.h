/* SPDX-License-Identifier: MIT */
/* Issues batches over slots: the machine under every schedule but the serial one. The stages of a
 * batch run in order. Stages that share a queue or a thread form a group, and a group serves the
 * oldest batch whose stage is ready, one stage at a time.
 *
 * Batch n uses slot n % depth and can begin when batch n - depth has ended. When a batch is issued,
 * and which of the recordings of its slot it uses, is the schedule's business: it gives a source
 * (struct engine_source). A new schedule is a source, what it makes of the events, and its entry in
 * measure/method.h. */
#ifndef MEASURE_ENGINE_H
#define MEASURE_ENGINE_H

#include "measure/events.h"
#include "measure/serial.h"

enum engine_place {
    ENGINE_QUEUE,  /* a queue of a device */
    ENGINE_THREAD, /* host stages: a thread of their own */
    ENGINE_MODEL,  /* stages of kind MODEL, on a simulated clock */
};

/* Which stages share what. */
struct engine_group {
    enum engine_place place;
    unsigned member;            /* QUEUE: of the device set */
    struct vulkan_queue *queue; /* QUEUE */
    bool driven; /* QUEUE: a stage has work of the host's inside (host copies, waits, a second
                    queue): the group's thread runs each stage from its begin to its end, and none
                    is submitted ahead of what it waits for */
    bool run;    /* its stages follow each other in a batch, so that one that is submitted ahead of
                    what it waits for stands in no other's way */
    unsigned number; /* THREAD, MODEL: what its stages said (assay_stage.group); 0: nothing */
    char name[48];   /* "queue 0.1.0" (member, family, index), "host", "host 2", "upload" */
};
struct engine_layout {
    unsigned stages, groups;
    unsigned group_of[MEASURE_STAGES_MAX]; /* of each stage */
    struct engine_group group[MEASURE_STAGES_MAX];
};
/* Of the stages of slots that have the same ones; `params` are those of the workload. A group is
 * driven where one slot needs it. Pure. */
void engine_layout_make(struct serial *const *slots, unsigned slot_count, const void *params,
                        struct engine_layout *layout);

struct engine;
struct engine_params {
    struct assay_device *device; /* NULL for MODEL workloads */
    struct assay_clock *clock;
    const struct engine_layout *layout; /* copied */
    /* [variant * depth + slot]: the recordings that a batch may use. Variants are the same stages
     * at other sizes, in the same slot of the ring; they outlive the engine. */
    struct serial *const *slots;
    unsigned depth, variants; /* at least 1 */
    bool stamps;              /* events have what the device said of their stages */
};
/* Starts the threads; they sleep between runs. */
struct engine *engine_create(const struct engine_params *params, struct assay_error *error);
void engine_destroy(struct engine **engine);

enum engine_answer {
    ENGINE_ISSUE, /* the batch begins now, with `variant` */
    ENGINE_LATER, /* asked again at `when_ns` at the latest, and whenever a batch ends; INT64_MAX:
                     only then */
    ENGINE_END,   /* no more batches: those in flight end, and the run is over */
};
struct engine_issue {
    unsigned variant;
    int64_t when_ns;
};
/* Both are called under the engine's lock, from any of its threads, one at a time: they must be
 * quick and may not call the engine. The time is the clock's. */
struct engine_source {
    void *user;
    /* A slot is free for batch number `batch`. */
    enum engine_answer (*next)(void *user, uint64_t batch, int64_t now_ns,
                               struct engine_issue *issue);
    /* A stage has ended. That of the last stage is the end of its batch, and comes before the
     * question for the batch that takes its slot. False with error ends the run. */
    bool (*ended)(void *user, const struct event *event, struct assay_error *error);
};

/* Delays. The first kind brings missing waits to light: a right engine does not show it in its
 * results. */
struct engine_perturb {
    uint64_t seed;
    unsigned late_stage; /* each execution of this one begins late by half to all of `late_ns`,
                            those of the others by up to an eighth of it */
    int64_t late_ns;     /* 0: no delays */
    /* What a stage's time is to the whole: the stage of this number, from 1, ends `held_ns` later
     * than its work (its events say how much it was), so that what begins with it still runs beside
     * the same; its group does nothing ahead then. 0: none. */
    unsigned held_stage;
    int64_t held_ns;
    /* For tests of the above: the stage of this number, from 1, does not wait for the one before
     * it. 0: all wait. */
    unsigned defect_stage;
};

/* Runs batches until the source ends it. `perturb`: NULL for none. False with error when a stage
 * or the source fails: nothing new is begun then, what is in flight is waited for (bounded by the
 * device's limit), and the first cause is kept. With a simulated clock this is an exact
 * simulation. */
bool engine_run(struct engine *engine, const struct engine_source *source,
                const struct engine_perturb *perturb, struct assay_error *error);

#endif
