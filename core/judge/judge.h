/* SPDX-License-Identifier: MIT */
/* Evaluates the script's checks on the results read back from a journal: journal + script ->
 * verdicts. */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include "experiment/plan.h"
#include "judge/bound.h"
#include "result/journal.h"

/* One bound evaluated. The text is complete: "scripts/upload.lua:9: copy.rate 1.21 GB/s
 * [1.18, 1.23] n=40 < 1.5 GB/s (bytes=64MiB host_memory=pageable, lavapipe)". */
struct judge_verdict {
    const char *experiment;
    const char *case_id; /* hex, or NULL for summary */
    enum verdict verdict;
    const char *script;
    int line;
    const char *bound; /* name */
    const char *message;
    const struct metric *metric; /* NULL for is_true and series */
    const struct bound *limits;  /* what the metric was held against; NULL without one */
};

/* What the closures talk to. */
struct judge;
bool judge_add(struct judge *judge, const struct judge_verdict *verdict, struct assay_error *error);

/* What a check looks at: a pair group, or one case. */
struct judge_group {
    const struct plan_case *const *items;
    size_t count;
    struct lazy *const *records;   /* one a case; NULL: it has none */
    json_t *const *samples;        /* at a look their samples records (NULL: none); else NULL */
    struct journal_reader *reader; /* where samples are to be had; NULL at a look */
};

/* Bounds from outside the script, each judged by itself behind the script's check. */
struct judge_outside {
    void *user;
    /* Judges the case at `index` of the group, which is done. False: what the script cannot help.
     */
    bool (*check)(void *user, const struct judge_group *group, size_t index, struct judge *judge,
                  struct assay_error *error);
    const struct judge_outside *next;
};

struct judge_script { /* the script room fills this in; the judge calls closures only through it */
    void *user;
    /* Runs the experiment's check. True when there is none. False: a script error (ASSAY_SCRIPT).
     */
    bool (*check)(void *user, uint32_t experiment, const struct judge_group *group,
                  struct judge *judge, struct assay_error *error);
    /* Runs its summary over the journal's cases of that experiment. */
    bool (*summary)(void *user, uint32_t experiment, struct journal_reader *reader,
                    struct judge *judge, struct assay_error *error);
    const struct judge_outside *outside; /* or NULL; who judges fills it in */
};

struct judge_counts {
    size_t done, skipped, errors; /* cases by status; errors: crash, timeout, ... */
    size_t passed, failed, inconclusive, not_judged; /* bounds */
    size_t missing;                                  /* selected cases without a record */
    size_t script_errors; /* among errors: cases of status "script error" */
    size_t yardsticks;    /* among done: peaks that were measured beside other cases */
};

/* A case whose time lies clearly under its floor (judge/floor.h), where the journal has the peaks
 * of its device, gets a failing verdict of its own, of the bound "floor": the measurement is
 * broken. The cases that measured peaks are not judged, and none of them is missing or skipped.
 * Calls check for each selected pair group of which a case has status `done` in the journal (a case
 * alone is a group), in the order of the plan, then the summaries of experiments with a selected
 * case; appends verdict records to `out` (may be NULL: judge only) with the number of this
 * judgement. `counts` is zeroed first. */
bool judge_run(const struct plan *plan, struct journal_reader *reader,
               const struct judge_script *script, struct journal_writer *out,
               struct judge_counts *counts, struct assay_error *error);

/* Runs the check of a group that is still sampled, writing nothing: whether any bound is undecided,
 * so that more samples may help. `group->records` are provisional. False when the check fails: the
 * final judgement will say how. */
bool judge_look(const struct judge_group *group, const struct judge_script *script);

/* Runs the check of a group that is still to be measured, so all of its metrics are absent: what
 * it will ask for, as far as it asks before it sees anything. `each` gets one bound at a time. What
 * goes wrong in the check is left to the judgement. */
void judge_preview(const struct plan *plan, uint32_t group, const struct judge_script *script,
                   void (*each)(void *user, const struct judge_verdict *verdict), void *user);

/* The number that this judgement's records (verdict, end) carry: one over the last in the journal.
 */
int64_t judge_number(struct journal_reader *reader);

/* Exit status: the first that applies of 2 (script_errors), 5 (no case done but yardsticks,
 * none in error), 4, 1, 3, 0. no_skip: skips and bounds not judged count as failed bounds. */
struct judge_policy {
    bool no_skip;
    int inconclusive; /* 3, or 0 / 1 for --inconclusive pass / fail */
};
int judge_exit_status(const struct judge_counts *counts, const struct judge_policy *policy);

#endif
