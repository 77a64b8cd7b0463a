/* SPDX-License-Identifier: MIT */
/* Under which conditions two runs were made, and what differs. */
#ifndef RESULT_CONDITIONS_H
#define RESULT_CONDITIONS_H

#include "base/error.h"
#include "base/text.h"

#include <jansson.h>

/* One difference. `thing` groups what counts as one: "device", "driver", "assay", "script",
 * "shaders", "seed", "host", "system", "options", "workload", "parameters", "measurement". */
struct condition {
    const char *thing;
    const char *detail; /* "size" of options; "" when the thing says it all */
    const char *from, *to;
    size_t cases; /* that show it; 0: it is of the runs */
};

struct conditions;
struct conditions *conditions_create(struct assay_error *error);
void conditions_destroy(struct conditions **conditions);
/* Adds what differs between two run records, and between two records of a case. */
bool conditions_add_runs(struct conditions *conditions, const json_t *a, const json_t *b,
                         struct assay_error *error);
bool conditions_add_cases(struct conditions *conditions, const json_t *a, const json_t *b,
                          struct assay_error *error);
size_t conditions_count(const struct conditions *conditions);
const struct condition *conditions_at(const struct conditions *conditions, size_t index);
/* How many things differ; *only gets the thing when it is one. */
size_t conditions_things(const struct conditions *conditions, const char **only);
/* Differences left out because there were too many. */
size_t conditions_left_out(const struct conditions *conditions);

#endif
