/* SPDX-License-Identifier: MIT */
/* Reports: each a function of the journal alone. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/error.h"
#include "base/text.h"
#include "result/journal.h"

/* Where a report comes from. */
struct report_source {
    struct journal_reader *results;
    struct journal_reader *judgement; /* whose verdict and end records count; NULL: results */
    const char *journal;              /* its path, for the reader's eyes; NULL: not said */
};

#define REPORT_ROWS 200

struct report_style {
    bool color;     /* never with NO_COLOR or without a terminal: the caller decides */
    unsigned width; /* columns to aim at: columns that matter less are left out; 0: unlimited */
    bool
        all_rows; /* else at most REPORT_ROWS rows a table and failures, with a line that says so */
    const char
        *script; /* for the command that repeats a failure alone; NULL: from the run record */
};

/* Tables by experiment (varied parameters, status, the metrics that its stages have), failures with
 * the command that repeats each alone, skips and unjudged bounds with reasons, the verdict line. */
bool report_table(const struct report_source *source, const struct report_style *style,
                  struct text *out, struct assay_error *error);
/* JUnit XML that GitLab, GitHub and Jenkins take: a testsuite an experiment, a testcase a case (and
 * one for its summary), failure, error, skipped; figures in system-out. An inconclusive bound is a
 * failure unless the run said --inconclusive pass. A run that did not come to its end (interrupted,
 * cases not run, a script error while judging) is a testcase in error of its own. */
bool report_junit(const struct report_source *source, struct text *out, struct assay_error *error);
/* One JSON object: run, end, cases with metrics and verdicts, verdicts of the summaries. Ends with
 * a newline. */
bool report_json(const struct report_source *source, struct text *out, struct assay_error *error);
/* The same of a command that ended before there was anything to report: one testcase in error, and
 * an object of the usual shape without run and cases. A status below 0 is not known. */
bool report_junit_failure(const char *reason, struct text *out, struct assay_error *error);
bool report_json_failure(const char *reason, int status, struct text *out,
                         struct assay_error *error);
/* What ran when, of the cases whose samples record has a trace (run --trace): JSON of the kind that
 * Chrome's tracing and Perfetto show, a process a case, a row a queue or host thread. */
bool report_trace(const struct report_source *source, struct text *out, struct assay_error *error);
/* Adds text escaped for XML/HTML; bytes that are no UTF-8 and characters that XML 1.0 forbids
 * become U+FFFD. The one escaper. */
void report_add_escaped(struct text *out, const char *string);

#endif
