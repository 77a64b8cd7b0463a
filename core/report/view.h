/* SPDX-License-Identifier: MIT */
/* What the formats share: verdicts by case, labels, and the command that repeats a case. Inside
 * core/report only. */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "base/hash.h"
#include "base/options.h"
#include "report/report.h"

enum view_verdict { VIEW_PASS, VIEW_FAIL, VIEW_INCONCLUSIVE, VIEW_NOT_JUDGED, VIEW_NONE };
/* The word in the record: "pass", "fail", "inconclusive", "not judged". */
extern const char *const view_verdict_names[];

struct view {
    struct journal_reader *results, *judgement;
    const json_t *run, *end; /* borrowed; end may be NULL */
    size_t case_count, verdict_count;
    /* Chains of verdicts: index + 1, 0 ends. A case's chain starts at first[case], that of all
     * summaries at first[case_count]. */
    uint32_t *first, *next;
    uint8_t *worst;       /* enum view_verdict of each case */
    struct hash128 group; /* the pair group of the last case that view_judged was asked of */
    uint8_t group_worst;
    size_t bounds[VIEW_NONE]; /* how many of each verdict */
    struct arena *arena;
    struct view_workload *workloads;
    size_t workload_count;
};

bool view_open(const struct report_source *source, struct view *view, struct assay_error *error);
void view_close(struct view *view);

/* The option table of a workload as the run recorded it, or NULL. */
const struct assay_option *const *view_options(const struct view *view, const char *workload);
/* A parameter as people write it: "64MiB". */
void view_add_value(const struct view *view, const struct assay_option *option, const json_t *value,
                    struct text *out);
/* "copy bytes=64MiB host_memory=pageable" of a case record: what was set, in the workload's order.
 */
void view_add_label(const struct view *view, const json_t *record, struct text *out);
/* "assay run SCRIPT --case ID --seed N ..." of a case record; for a summary (record NULL) the
 * experiment alone. `script` NULL: the run's. */
void view_add_command(const struct view *view, const json_t *record, const char *experiment,
                      const char *script, struct text *out);
/* What the bounds on a case came to (enum view_verdict). Those on a pair group stand at the group's
 * first case in the journal and hold for all: *shared is set for the others. Cases are asked for in
 * the journal's order. */
uint8_t view_judged(struct view *view, size_t at, const json_t *record, bool *shared);
/* The device's short name, or NULL when the case has none. */
const char *view_device(const json_t *record);
/* 3, or 0 or 1: what an inconclusive bound counts as; and whether skips count as failures. */
int view_inconclusive(const struct view *view);
bool view_no_skip(const struct view *view);

enum view_verdict view_verdict(const json_t *verdict);

#endif
