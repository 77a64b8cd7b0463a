/* SPDX-License-Identifier: MIT */
/* `assay run --watch`: what a run has read, and waiting until some of it changes. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "base/error.h"
#include "base/os.h"

#include <jansson.h>

/* All zero: nothing is watched, and the functions do nothing. */
struct watch {
    struct os_watch *files;
    struct text directory;
    struct assay_error failure; /* a path that cannot be watched */
};

bool watch_open(struct watch *watch, struct assay_error *error);
void watch_close(struct watch *watch);
/* Before a run. The directory for its journal: each run has its own, in the one that --output
 * gives; NULL where it gives none. Valid until the next begin. */
const char *watch_begin(struct watch *watch, const char *given);
/* A file that the run reads or would read (`reads` of script_params; user: a struct watch). */
void watch_read(void *user, const char *path);
/* Paths, as an array: the plugins that a run looks at. */
void watch_files(struct watch *watch, const json_t *paths);
/* What the shaders of a case were made of. */
void watch_case(struct watch *watch, const json_t *record);
/* After a run: says so, and waits for a change. False when *interrupted, or with an error. */
bool watch_next(struct watch *watch, const volatile int *interrupted, struct assay_error *error);

#endif
