/* SPDX-License-Identifier: MIT */
/* From a journal and a script to verdicts, reports and the exit status: the end of `run`, and all
 * of `check`. */
#ifndef CLI_JUDGEMENT_H
#define CLI_JUDGEMENT_H

#include "cli/outside.h"

struct judgement_params {
    const char *journal;           /* path */
    struct journal_reader *reader; /* of it, read before `writer` was opened; NULL: it is read */
    struct journal_writer *writer; /* verdicts go there; NULL: the journal is left as it is */
    struct script *script;
    const char *script_path; /* for the commands that repeat a case */
    const struct choices_output *output;
    const struct outside *outside; /* bounds from outside the script, or NULL */
    int signal;                    /* that interrupted the run, or 0 */
};
/* Judges, appends verdicts and the end record, prints the reports. Returns the exit status. */
int judgement_run(const struct judgement_params *params);

#endif
