/* SPDX-License-Identifier: MIT */
/* One request for a case or a pair group, from the plan to the records that the worker gave or left
 * owing. Inside core/run only. */
#ifndef RUN_TURN_H
#define RUN_TURN_H

#include "result/journal.h"
#include "run/link.h"
#include "run/supervisor.h"

/* Set by the caller: the first part. All zero is a fresh one; used again for each group. */
struct turn {
    struct link *link;
    const struct plan *plan;
    const struct supervisor_events *events; /* or NULL */
    const volatile int *interrupted;        /* or NULL */
    const json_t *devices;                  /* as supervisor_devices found them, or NULL */
    bool quick, perturb;
    int64_t perturb_seed;

    bool stopped; /* by a signal: the last group has no records */
    uint32_t group;
    int64_t deadline_ns; /* of the group */
    size_t count, room;
    const struct plan_case **items;
    const json_t **requests; /* of the members; borrowed from `request` */
    json_t **records;        /* as far as they came */
    size_t *ends;            /* of lines */
    size_t line_count, told; /* lines; members whose record came */
    unsigned looks;
    json_t *request;
    struct text line, lines, reason;
    struct text tried; /* the candidate that the tuner was trying when the worker ended; or empty */
};

/* True with the records of all members, or none when `stopped`. False: no worker takes the request,
 * or no memory. */
bool turn_run(struct turn *turn, uint32_t group, int64_t deadline_ns, struct assay_error *error);
/* Samples and case records, as lines in the order of the members. */
bool turn_journal(const struct turn *turn, struct journal_writer *journal,
                  struct assay_error *error);
void turn_free(struct turn *turn);

#endif
