/* SPDX-License-Identifier: MIT */
/* Case and samples records (docs/journal.md) as text: the worker writes them for what it ran, the
 * supervisor for what a dead worker left. */
#ifndef RESULT_RECORD_H
#define RESULT_RECORD_H

#include "base/error.h"
#include "base/text.h"

#include <jansson.h>

/* A JSON string with its quotes. Invalid UTF-8 becomes U+FFFD. NULL becomes null. */
void record_add_string(struct text *out, const char *string);
/* How a case ended that failed with `status`: "done", "skipped", "crash", ... */
const char *record_status(enum assay_status status);

/* Members that are JSON texts may be NULL or "": the record then has what a case without figures
 * has. */
struct record_case {
    const json_t *request; /* the request (docs/protocol.md): what was asked is copied from it */
    const char *params;    /* "": the parameters that were set */
    const char *device;    /* "": {"selector": ...} when the request names one, else null */
    const char *status;    /* of record_status */
    const char *reason;    /* plain text, NULL when done */
    const char *metrics, *sampling, *stages, *verification, *memory, *shaders, *sources, *sensors,
        *notes;
    const char *tuning, *pipeline, *load, *search; /* "": left out */
    const char *output;                            /* of assay.explore: plain text, NULL: none */
};
bool record_add_case(struct text *out, const struct record_case *record, struct assay_error *error);
/* JSON texts of the objects; `trace` "": none. */
void record_add_samples(struct text *out, const char *id, const char *series, const char *trace);

#endif
