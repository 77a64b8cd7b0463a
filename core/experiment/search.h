/* SPDX-License-Identifier: MIT */
/* The highest value of a parameter, or of a field of the schedule, that keeps a bound: what is
 * looked for, which value is tried next, and what the values tried say. Pure. */
#ifndef EXPERIMENT_SEARCH_H
#define EXPERIMENT_SEARCH_H

#include "base/error.h"

#include <jansson.h>

struct search {
    const char *vary; /* the parameter or field */
    double from, to;  /* in its unit; 0 < from < to, multiples of `step` */
    double step;      /* values are multiples of it; 0: any value */
    const char *metric;
    double bound;     /* of the metric, in base units */
    bool at_most;     /* else it is the least that is allowed */
    double precision; /* relative: of the gap between the last value that keeps it and the next */
};

/* {"vary","from","to","step","metric","bound","at_most","precision"}. New reference; NULL: out of
 * memory. */
json_t *search_to_json(const struct search *search);
/* Strings are borrowed from the JSON. ASSAY_INVALID for what search_to_json cannot have made. */
bool search_from_json(const json_t *json, struct search *search, struct assay_error *error);

/* What a value showed. */
enum search_verdict {
    SEARCH_MISSES, /* the whole interval of the metric is on the wrong side */
    SEARCH_OPEN,   /* it reaches over the bound */
    SEARCH_KEEPS,
};
/* "misses", "open", "keeps". */
const char *search_verdict_name(enum search_verdict verdict);

#define SEARCH_MOST 128
/* All zero has tried nothing. */
struct search_state {
    struct search_probe {
        double value;
        enum search_verdict verdict;
    } probes[SEARCH_MOST]; /* ascending */
    unsigned count;
    bool looked_above, looked_below; /* for a second limit */
};
/* The value to try next; false: no more. First from and to, then geometric means: between the
 * highest that keeps the bound and the next that does not; where the next ones are open, up to the
 * first that surely misses it; and once in the widest gap above and below, since what rises and
 * falls has several limits. */
bool search_next(const struct search *search, struct search_state *state, double *value);
void search_tell(struct search_state *state, double value, enum search_verdict verdict);

struct search_answer {
    bool found;
    double value;  /* the highest that keeps the bound */
    double beyond; /* the lowest above it that surely misses it; without: the highest tried */
    bool kept_at_to;
    bool open;      /* values between the two are open */
    bool several;   /* one under `value` misses the bound, or ... */
    double missing; /* ... is open: the highest of them */
};
void search_answer(const struct search_state *state, struct search_answer *answer);
/* How many values there are to try, at most. */
unsigned search_most(const struct search *search);

#endif
