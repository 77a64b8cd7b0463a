/* SPDX-License-Identifier: MIT */
/* The worker process: owns the device and the plugins, answers the supervisor's requests
 * (docs/protocol.md). */
#ifndef RUN_WORKER_H
#define RUN_WORKER_H

#include "base/text.h"
#include "experiment/registry.h"

/* Workloads that are written in a script. Who executes scripts is in a room that this one does not
 * know. */
struct worker_scripts {
    /* Executes what `configure` handed over and adds its workloads. NULL with error. */
    void *(*load)(const json_t *script, struct registry *registry, struct assay_error *error);
    void (*unload)(void **loaded); /* after the registry is gone */
    /* Work by hand (assay.explore), which stands in the plan as a workload without stages: whether
     * the name is one, and running it, once. What it prints is added to `output`. */
    bool (*explores)(const void *loaded, const char *workload);
    bool (*explore)(void *loaded, const char *workload, struct assay_slot *slot,
                    struct text *output, struct assay_error *error);
};

/* With which a worker ends itself when a script's function goes on behind its deadline and cannot
 * be interrupted: that is the script's error. */
enum { WORKER_OVERDUE = 86 };

/* Serves requests from fd 3, answers on fd 4, until `quit` or the end of the pipe. `scripts`
 * NULL: there are none. Returns the process's exit status. */
int worker_main(const struct worker_scripts *scripts);

#endif
