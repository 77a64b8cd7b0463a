/* SPDX-License-Identifier: MIT */
/* Cases of one journal in another. */
#ifndef RESULT_MATCH_H
#define RESULT_MATCH_H

#include "result/journal.h"

struct match;
/* Looks in `reader`, which must outlive it. */
struct match *match_create(struct journal_reader *reader, struct assay_error *error);
void match_destroy(struct match **match);
/* *found: the case with the id of `record`, else the one that agrees in all of its id but the seed
 * and the workload's version (experiment, workload, set, schedule, replica, device's selector); or
 * -1. False: a record cannot be read. */
bool match_find(struct match *match, const json_t *record, long *found, struct assay_error *error);

#endif
