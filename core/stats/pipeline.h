/* SPDX-License-Identifier: MIT */
/* What the times of a batch's stages allow a pipeline of batches. Pure, any thread. */
#ifndef STATS_PIPELINE_H
#define STATS_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

/* A stage of each batch. Those of one group share a queue or a thread: one works at a time. */
struct pipeline_stage {
    double time; /* >= 0; in any unit, the same for all */
    unsigned group;
};

struct pipeline {
    double serial;  /* of a batch alone: the sum of all times */
    double busiest; /* the largest sum of a group's times */
    unsigned group; /* that group; the first one of equals */
    double
        period; /* between two batches, `depth` of them in flight: max(busiest, serial / depth) */
    bool exact; /* no two stages share a group; else the period is a lower bound */
};

/* depth >= 1. */
void pipeline_predict(const struct pipeline_stage *stages, size_t count, unsigned depth,
                      struct pipeline *out);

#endif
