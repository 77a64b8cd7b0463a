/* SPDX-License-Identifier: MIT */
/* The samples behind a metric of a case, turn by turn. */
#ifndef JUDGE_TURNS_H
#define JUDGE_TURNS_H

#include "base/error.h"

#include <jansson.h>

struct turns {
    double *values; /* times in ns; owned */
    size_t count;   /* 0: there are none */
    double scale;   /* the metric is time / scale, or of a rate scale / time; base units */
    bool rate;
    double confidence; /* of the record's intervals */
    uint64_t which;    /* 0: of all turns; else of a part of them, the same for the same part */
};

/* Reads them for `metric` ("time", "copy.rate", ...) from a case's samples record and the members
 * `sampling` and `stages` of its case record. A metric without samples of its own, or a
 * host_cpu_time that was not read in every batch, leaves *out empty. False only when out of memory.
 */
bool turns_read(const json_t *samples, const json_t *record, const char *metric, struct turns *out,
                struct assay_error *error);
void turns_free(struct turns *turns);
/* The metric's value for a time. */
double turns_value(const struct turns *turns, double time);

#endif
