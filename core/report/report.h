/* SPDX-License-Identifier: MIT */
/* Reports: each a function of the journal alone. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/error.h"
#include "base/text.h"
#include "result/journal.h"

struct report_style {
    bool color;     /* never with NO_COLOR or without a terminal: the caller decides */
    unsigned width; /* columns to aim at; 0: unlimited */
    const char
        *script; /* for the command that repeats a failure alone; NULL: from the run record */
};

/* Tables by experiment (varied parameters, status, the metrics that its stages have), failures with
 * the command that repeats each alone, skips and unjudged bounds with reasons, the verdict line. */
bool report_table(struct journal_reader *reader, const struct report_style *style, struct text *out,
                  struct assay_error *error);
/* JUnit XML that GitLab, GitHub and Jenkins take: a testsuite an experiment, a testcase a case (and
 * one a summary), failure, error, skipped; figures as properties and in system-out. */
bool report_junit(struct journal_reader *reader, struct text *out, struct assay_error *error);
/* One JSON object: run, counts, exit, cases with metrics and verdicts. */
bool report_json(struct journal_reader *reader, struct text *out, struct assay_error *error);
/* Adds text escaped for XML/HTML; characters that XML 1.0 forbids become U+FFFD. The one escaper.
 */
void report_add_escaped(struct text *out, const char *string);

#endif
