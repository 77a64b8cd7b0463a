/* SPDX-License-Identifier: MIT */
/* A journal that the command line names. */
#ifndef CLI_GIVEN_H
#define CLI_GIVEN_H

#include "base/text.h"
#include "result/journal.h"

/* `given` is the file or the directory that holds it; *path gets the file's path, `path` is the
 * caller's to free. What is damaged is told on stderr. NULL: as journal_read. */
struct journal_reader *given_journal(const char *given, struct text *path,
                                     struct assay_error *error);

#endif
