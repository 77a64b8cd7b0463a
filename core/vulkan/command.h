/* SPDX-License-Identifier: MIT */
/* The inside of a recording: a program of host copies and device segments, recorded once, replayed
 * for each sample. */
#ifndef VULKAN_COMMAND_H
#define VULKAN_COMMAND_H

#include <assay/command.h>

#include "base/clock.h"
#include "base/text.h"
#include "vulkan/device.h"

struct timeline;

struct command_params {
    struct assay_slot *slot;
    const char *name; /* of the stage: debug name */
    enum vulkan_role role;
    unsigned member;
};

struct assay_command *command_create(const struct command_params *params,
                                     struct assay_error *error);
void command_destroy(struct assay_command **command);
/* Closes the recording: ends command buffers with a barrier to host reads, writes the second
 * timestamps. Nothing can be recorded after. A recording without any operation is refused. */
bool command_finish(struct assay_command *command, struct assay_error *error);

/* The slot that it was created for. */
const struct assay_slot *command_slot(const struct assay_command *command);
/* Whether host memory or the host takes part: then the stage's time is host time, else device time.
 */
bool command_touches_host(const struct assay_command *command);
/* Whether device time can be had on all its queues. */
bool command_has_timestamps(const struct assay_command *command);
/* Device segments: each is submitted and waited for on its own. */
size_t command_submission_count(const struct assay_command *command);
/* Copies, fills and dispatches that were recorded. */
size_t command_operation_count(const struct assay_command *command);
/* What the copies and fills read and write, staging aside. False: dispatches or raw commands are
 * among the operations, of which that is not known. */
bool command_traffic(const struct assay_command *command, uint64_t *read_bytes,
                     uint64_t *written_bytes);
/* Whether the same operations can be recorded many times over between one pair of timestamps, to
 * no other effect than once. `why_not` is added to when not. */
bool command_can_repeat(const struct assay_command *command, struct text *why_not);
/* Between two repeats within one recording: what was recorded completes before what follows
 * starts, on each lane; back on lane 0. */
bool command_again(struct assay_command *command, struct assay_error *error);
/* Number of queues that the lanes really use: 1 or 2; 0 when nothing is submitted. */
unsigned command_queue_count(const struct assay_command *command);

struct command_times {
    int64_t begin_ns, end_ns; /* on the given clock: first host action; result readable */
    int64_t submit_ns;        /* host time spent in submit calls */
};
/* Runs the program: host copies, submits, one bounded wait a segment. Device: ASSAY_TIMEOUT after
 * the set's wait limit. */
bool command_execute(struct assay_command *command, struct assay_clock *clock,
                     struct command_times *times, struct assay_error *error);
/* Whether the recording is one submission to one queue, in which the host takes no part, on a
 * device with timeline semaphores: only then command_submit takes it. */
bool command_is_one_submission(const struct assay_command *command);
/* The queue of lane 0. */
struct vulkan_queue *command_queue(const struct assay_command *command);
/* Whether all of its work is copies from device memory to the host's. */
bool command_is_download(const struct assay_command *command);

/* Another queue's timeline, and the value to wait for. */
struct command_wait {
    const struct timeline *timeline;
    uint64_t value;
};
/* Submits without waiting: the queue waits for `wait` (NULL: for nothing), and when the work has
 * ended `signal` gets `value`. Any thread, one a recording at a time; until command_settle was
 * called it may not be submitted or executed again. */
bool command_submit(struct assay_command *command, const struct command_wait *wait,
                    const struct timeline *signal, uint64_t value, struct assay_error *error);
/* After the value was reached: the host can read what was written. */
bool command_settle(struct assay_command *command, struct assay_error *error);

/* Whether all of it runs on one queue that has timestamps. */
bool command_has_stamps(const struct assay_command *command);
/* The first and the last timestamp of the last execution, on the queue's own clock; only where
 * command_has_stamps, and after it has ended. */
bool command_stamps(struct assay_command *command, uint64_t *begin, uint64_t *end,
                    struct assay_error *error);
/* Device time of the last execution: the sum over device segments, longest lane of each; -1 without
 * timestamps. A call of its own, since reading timestamps costs host time that no batch should
 * carry. */
bool command_device_time(struct assay_command *command, int64_t *device_ns,
                         struct assay_error *error);

#endif
