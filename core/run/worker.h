/* SPDX-License-Identifier: MIT */
/* The worker process: owns the device and the plugins, answers the supervisor's requests
 * (docs/protocol.md). */
#ifndef RUN_WORKER_H
#define RUN_WORKER_H

/* Serves requests from fd 3, answers on fd 4, until `quit` or the end of the pipe. Returns the
 * process's exit status. */
int worker_main(void);

#endif
