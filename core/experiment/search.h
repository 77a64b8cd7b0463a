/* SPDX-License-Identifier: MIT */
/* The highest value of a parameter, or of a field of the schedule, that keeps a bound: what is
 * looked for, and which value is tried next. Pure. */
#ifndef EXPERIMENT_SEARCH_H
#define EXPERIMENT_SEARCH_H

#include "base/error.h"

#include <jansson.h>

struct search {
    const char *vary; /* the parameter or field */
    double from, to;  /* in its unit; 0 < from < to */
    bool whole;       /* it has whole values only */
    const char *metric;
    double bound;     /* of the metric, in base units */
    bool at_most;     /* else it is the least that is allowed */
    double precision; /* relative: of the gap between the last value that keeps it and the next */
};

/* {"vary","from","to","whole","metric","bound","at_most","precision"}. New reference; NULL: out of
 * memory. */
json_t *search_to_json(const struct search *search);
/* Strings are borrowed from the JSON. ASSAY_INVALID for what search_to_json cannot have made. */
bool search_from_json(const json_t *json, struct search *search, struct assay_error *error);

/* All zero has tried nothing. */
struct search_state {
    bool any_holds, any_fails;
    double holds, fails; /* the highest that keeps the bound, the lowest that does not */
};
/* The value to try next: from, to, then geometric means between; false: no more. */
bool search_next(const struct search *search, const struct search_state *state, double *value);
void search_tell(struct search_state *state, double value, bool holds);
/* How many values there are to try, at most. */
unsigned search_most(const struct search *search);

#endif
