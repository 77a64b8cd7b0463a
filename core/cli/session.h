/* SPDX-License-Identifier: MIT */
/* A worker and what it says of its workloads. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "experiment/catalog.h"
#include "run/supervisor.h"

struct session {
    struct supervisor *supervisor;
    json_t *description;
    struct catalog *catalog;
};

/* Starts a worker in describe mode; the same worker serves the run later. log_path may be NULL. */
bool session_open(struct session *session, const struct supervisor_params *params,
                  struct assay_error *error);
/* Accepts a zeroed or half-open session. */
void session_close(struct session *session);

#endif
