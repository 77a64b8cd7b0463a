/* SPDX-License-Identifier: MIT */
/* Report files of a command that ends without a report: a file of an earlier run must not pass for
 * this one's. */
#ifndef CLI_FAILURE_H
#define CLI_FAILURE_H

#include "cli/choices.h"

/* Writes the report files so that they say `reason`. What cannot be written is said on stderr. */
void failure_write(const struct choices_output *output, const char *reason, int status);
/* The same before work that may end the process; the report, or failure_write, replaces them. What
 * is there and no regular file is left alone. */
bool failure_expect(const struct choices_output *output, const char *reason,
                    struct assay_error *error);

#endif
