/* SPDX-License-Identifier: MIT */
/* Host stages in Lua: all of a script's run on one thread, with a Lua state of its own, in which
 * the script was executed once more. */
#ifndef SCRIPT_HOST_H
#define SCRIPT_HOST_H

#include "script/workload.h"

struct script_host;

/* A slot of a workload in Lua. */
struct script_slot {
    const struct script_workload *workload;
    const void *params;
    struct script_device *device; /* NULL for MODEL workloads */
    int s, p;                     /* references in the script's state */
    struct script_host *host;     /* NULL: no host stages */
    int host_s, host_p;           /* references in the host's state */
};

/* Starts the thread at the first call; gives its state an `s` with the slot's buffers, kernels and
 * plain values as they are now. */
bool script_host_slot_open(struct script_slot *slot, struct assay_error *error);
void script_host_slot_close(struct script_slot *slot);
/* One run of host stage `index`; waits for its end. */
bool script_host_run(struct script_slot *slot, size_t index, struct assay_error *error);
/* Ends the thread. NULL is allowed. */
void script_host_destroy(struct script_host **host);

#endif
