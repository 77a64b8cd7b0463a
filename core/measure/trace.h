/* SPDX-License-Identifier: MIT */
/* The events of one run of a case, for its samples record: what a trace shows. */
#ifndef MEASURE_TRACE_H
#define MEASURE_TRACE_H

#include "base/text.h"
#include "measure/engine.h"
#include "vulkan/timer.h"

#define TRACE_EVENTS_MAX 4096u
#define TRACE_BYTES (TRACE_EVENTS_MAX * 96u) /* of its text, by far */

/* All zero is empty. */
struct trace {
    struct events events; /* of the first batches, as many as there is room for, each whole */
    uint64_t batches;     /* of the run, those without events included */
    struct engine_source listened; /* trace_listen() */
    unsigned stages;
    /* Of each member of the device set: both clocks, before the run and after it. */
    struct timer_axis axes[VULKAN_MEMBERS_MAX];
    bool looked[VULKAN_MEMBERS_MAX]; /* the device's times can be put on the host's axis */
};
/* Before trace_listen() and trace_event(): room for the events of a run, which is then kept without
 * allocating. */
bool trace_open(struct trace *trace, const struct engine_layout *layout, struct assay_error *error);
/* Before the run, and `after` it: looks at the clocks of the devices (NULL: a model has none).
 * Where they cannot be compared the trace has the host's times alone. */
void trace_look(struct trace *trace, struct assay_device *device, bool after);
/* In place of what it held: the events of the run that the source returned is given to, which
 * forwards all to `source`. Both stay until that run has ended. */
struct engine_source trace_listen(struct trace *trace, const struct engine_source *source);
/* After trace_open(): one event more, of the first batches as long as there is room. */
bool trace_event(struct trace *trace, const struct event *event, struct assay_error *error);
/* In place of what it held: the events of a run of batches 0 ... batches - 1 that has ended. */
bool trace_keep(struct trace *trace, const struct engine_layout *layout,
                const struct events *events, uint64_t batches, struct assay_error *error);
/* {"depth":d,"batches":n,"groups":[...],"clocks":[...],"stages":[...],"events":[[...],...]}, as
 * docs/journal.md has it; nothing when it is empty. */
void trace_add(const struct trace *trace, const struct engine_layout *layout,
               const struct serial *serial, unsigned depth, struct text *out);
void trace_free(struct trace *trace);

#endif
