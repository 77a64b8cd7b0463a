/* SPDX-License-Identifier: MIT */
/* The supervisor's end of a worker process: starting, asking, and what is left when it dies. */
#ifndef RUN_LINK_H
#define RUN_LINK_H

#include "base/channel.h"
#include "base/error.h"
#include "base/text.h"

#include <jansson.h>
#include <sys/types.h>

struct link_params {
    const char *log_path; /* NULL: none */
    bool validate, trace;
    const char *const *shader_directories; /* NULL-terminated; NULL: none */
    const json_t *script;                  /* what defines workloads (script/serve.h); NULL: none */
};

struct link;
struct link *link_create(struct assay_error *error);
void link_destroy(struct link **link); /* asks a running worker to quit */
/* Copied; reaches the worker before the next request. */
bool link_configure(struct link *link, const struct link_params *params, struct assay_error *error);
/* Goes with each configuration: the files of plugins that have sensors. Keeps a reference. */
bool link_set_sensors(struct link *link, json_t *files, struct assay_error *error);

/* Starts a worker if none runs, and configures it if that is due. */
bool link_ready(struct link *link, struct assay_error *error);
/* One request, one answer. An answer that is an error fills `error`; a worker that dies or is
 * silent for limit_ns is ended: ASSAY_CRASH, ASSAY_TIMEOUT. `doing` completes "while ...". New
 * reference. */
json_t *link_ask(struct link *link, json_t *request, int64_t limit_ns, const char *doing,
                 struct assay_error *error);

/* The same in steps, for cases. link_send fails when the worker has died, or sent a line unasked
 * and is ended: it did not take the request. */
bool link_send(struct link *link, const char *line, size_t length, struct assay_error *error);
/* A line in the middle of a request. */
bool link_answer(struct link *link, const char *line, size_t length, struct assay_error *error);
enum channel_result link_receive(struct link *link, int64_t limit_ns, const char **line,
                                 size_t *length, struct assay_error *error);
/* Ends the worker, killing it unless it goes by itself within limit_ns. Adds how it ended ("was
 * killed by signal 11 (Segmentation fault)"), unless NULL. Returns its exit status; -1: it has
 * none.
 */
int link_end(struct link *link, int64_t limit_ns, struct text *how);
/* The process id of the worker that was started last; 0: none. */
pid_t link_worker(const struct link *link);
/* Adds "; the log ends with: LINES", if anything was logged since the mark. */
void link_add_log(struct link *link, struct text *out);

#endif
