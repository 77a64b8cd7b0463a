/* SPDX-License-Identifier: MIT */
/* A named quantity with a unit, an estimate and an interval; or absent, with the reason. */
#ifndef RESULT_METRIC_H
#define RESULT_METRIC_H

#include "base/error.h"
#include "base/units.h"
#include "stats/quantile.h"

#include <jansson.h>

struct metric {
    const char *name; /* "copy.rate"; or the expression of a derived one: "copy.rate / copy.rate" */
    struct dimension dimension;
    double value, low, high; /* base units; low <= value <= high */
    size_t n;                /* samples behind it; 0: exact (a count, a constant) */
    const char *absent;      /* why there is no value, or NULL */
};

/* "20.1 GB/s [19.8, 20.3] n=31", or "absent (reason)". */
void metric_add(struct text *text, const struct metric *metric);

/* Arithmetic on metrics and numbers (a number is an exact metric). Intervals are carried by
 * interval arithmetic: the widest that the operands allow, so never too narrow, whatever their
 * dependence. Dividing by an interval that holds 0 gives absent; an absent operand gives absent
 * with its reason. +, - and the larger one check dimensions: ASSAY_INVALID. Names from the arena;
 * an operand without a name is written as its value. */
enum metric_operator {
    METRIC_ADD = '+',
    METRIC_SUBTRACT = '-',
    METRIC_MULTIPLY = '*',
    METRIC_DIVIDE = '/',
    METRIC_LARGER = '>' /* the larger one of the two: "max(a, b)" */
};
bool metric_combine(enum metric_operator by, const struct metric *a, const struct metric *b,
                    struct arena *arena, struct metric *out, struct assay_error *error);
/* The figures alone (value, low, high), or `absent` as a static text; the rest of *out is left as
 * it is, with absent NULL before. Both operands are present. */
void metric_compute(enum metric_operator by, const struct metric *a, const struct metric *b,
                    struct metric *out);

/* Set of metrics of a case, in order of addition. Names are copied. */
struct metric_set;
struct metric_set *metric_set_create(void);
void metric_set_destroy(struct metric_set **set);
bool metric_set_add(struct metric_set *set, const struct metric *metric, struct assay_error *error);
/* {"copy.rate": {"unit": "B/s", "value": v, "low": l, "high": h, "n": n} or {"unit": ..., "absent":
 * "reason"}}. */
void metric_set_add_json(const struct metric_set *set, struct text *out);
/* One metric of such an object; absent when it is not there. Strings belong to `metrics`. */
void metric_from_json(const json_t *metrics, const char *name, struct metric *out);

#endif
