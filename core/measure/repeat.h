/* SPDX-License-Identifier: MIT */
/* Device stages that are short for their queue's timestamps: a second recording repeats the stage's
 * operations between one pair of timestamps, and gives the stage's device time. */
#ifndef MEASURE_REPEAT_H
#define MEASURE_REPEAT_H

#include "base/text.h"
#include "vulkan/command.h"

/* A region shorter than this many empty ones is mostly the timestamps' own cost. */
#define REPEAT_EMPTY_REGIONS 10
#define REPEAT_COUNT_MAX 4096u
#define REPEAT_OPERATIONS_MAX 65536u /* in one recording */

struct repeat {
    struct assay_command *command; /* NULL: not repeated; owned */
    unsigned count;                /* repeats in it; 0: not repeated */
    int64_t watched_ns;            /* shortest device time seen while warming up; 0: none yet */
    struct text note;              /* why it is repeated, or why a short one is not; or empty */
    bool doubtful;                 /* the stage is short and was not repeated enough */
    bool most;                     /* there may be no more repeats */
};

/* How many repeats make a region of about 16 empty ones, after `repeats` took region_ns. 2 to
 * `most`. Pure. */
unsigned repeat_count(int64_t region_ns, unsigned repeats, int64_t empty_ns, unsigned most);

struct serial;
struct serial_times;
/* A batch of the warm-up. */
void repeat_watch(struct serial *serial, const struct serial_times *times);
/* After the warm-up: makes the second recordings. What cannot be repeated gets a note; false when
 * the device is past use. */
bool repeat_prepare(struct serial *serial, struct assay_slot *slot, struct assay_error *error);
/* After a batch: replaces the device times of repeated stages by those of one repeat, and their
 * times where those are device times. End to end and the batch's own sums stay. Where a stage's
 * time is the host's, its device time is had only in a turn that is `due`, else it is -1; what that
 * takes is added to *spent_ns. */
bool repeat_sample(struct serial *serial, bool due, struct serial_times *times, int64_t *spent_ns,
                   struct assay_error *error);

/* Device times beside host times may take a quarter of the sampling, but are there in the first
 * turns, which are enough for an interval: whether the next turn is one of theirs, when `turns`
 * were, which took spent_ns of used_ns. Pure. */
#define REPEAT_TURNS_LEAST 8u
bool repeat_due(unsigned turns, int64_t spent_ns, int64_t used_ns);
void repeat_finish(struct serial *serial);

#endif
