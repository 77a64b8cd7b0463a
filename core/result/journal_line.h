/* SPDX-License-Identifier: MIT */
/* Whether a line of a journal is as assay wrote it. Inside core/result only. */
#ifndef RESULT_JOURNAL_LINE_H
#define RESULT_JOURNAL_LINE_H

#include <assay/api.h>

struct journal_seal {
    bool sealed;
    uint64_t seal;
};

/* Why the line (with a NUL behind it) is none to build on, or NULL; static. `run`: the seal of the
 * run record, NULL before there is one. A run record is looked at by the caller. */
const char *journal_line_fault(const char *line, size_t length, const struct journal_seal *run);

#endif
