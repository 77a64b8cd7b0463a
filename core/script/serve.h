/* SPDX-License-Identifier: MIT */
/* A script in a worker, which executes it only to get at the workloads that it defines: plans,
 * checks and summaries are the supervisor's. No Lua headers here. */
#ifndef SCRIPT_SERVE_H
#define SCRIPT_SERVE_H

#include "run/worker.h"
#include "script/script.h"

/* For worker_main. */
extern const struct worker_scripts script_serving;

/* What a worker needs: {"path", "source", "modules": [{"path", "name", "source"}], "options":
 * [...], "trust", "deadline_ns", "memory_bytes"}, where a source is {"text"} or, when it is not
 * UTF-8,
 * {"hex"}. A plugin folder is {"path", "plugin"}: its name, and its init.lua, which is read in the
 * worker, as its modules are. NULL with an empty error: the script defines no workload and explores
 * nothing. New reference. */
json_t *script_sent(const struct script *script, struct assay_error *error);

/* Executes the script once more, for a thread of its own. */
struct script *script_serve_again(const struct script *script, struct assay_error *error);

#endif
