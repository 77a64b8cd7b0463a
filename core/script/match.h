/* SPDX-License-Identifier: MIT */
/* What names such as `bytes`, `device` or `schedule` are of a case: which cases all:one{...} and
 * all:where{...} mean, and which are of one group. Inside core/script only; all may raise. */
#ifndef SCRIPT_MATCH_H
#define SCRIPT_MATCH_H

#include "script/inside.h"

#define MAX_MATCHES 64

enum match_kind {
    MATCH_OPTION, /* of the workload, or a field of the schedule */
    MATCH_WORKLOAD,
    MATCH_DEVICE,
    MATCH_REPLICA,
    MATCH_SCHEDULE
};
struct match { /* one name of { bytes = "4 KiB" }; option values are parsed for each workload */
    const char *name;
    enum match_kind kind;
    const struct catalog_workload *workload; /* for which `option` and `value` hold */
    int option;                              /* -1: this workload has no such parameter */
    struct option_value value;
};

/* The names of the table at index 2, sorted. One that no workload or schedule of the experiment has
 * is a slip, whatever the cases hold; so is a value that none takes. `method` is for messages. */
size_t matches_read(lua_State *L, const char *method, struct match matches[MAX_MATCHES]);
/* Whether the case is one of those meant; the table is still at index 2. */
bool matches_case(lua_State *L, struct match *matches, size_t count, const struct plan_case *item);
/* Whether it is a parameter of the workload, for which `option` and `value` then hold. */
bool match_option(lua_State *L, struct match *match, const struct catalog_workload *workload);
/* Raises for a name that no workload or schedule of the experiment has. */
void match_check_name(lua_State *L, const char *name);
/* Adds what the case has under the name, as text that tells values apart. */
void match_add_key(lua_State *L, struct text *key, const struct plan_case *item, const char *name);
/* The workloads of the experiment in their order; *at starts at 0; NULL at the end. They count, not
 * those of a collection, which may be empty. */
const struct catalog_workload *match_workload_next(lua_State *L, size_t *at);

#endif
