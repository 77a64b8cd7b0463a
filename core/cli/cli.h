/* SPDX-License-Identifier: MIT */
/* Subcommands and what they share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/error.h"
#include "base/text.h"

enum cli_exit {
    CLI_PASS = 0,
    CLI_BOUND_FAILED = 1,
    CLI_USAGE = 2,
    CLI_INCONCLUSIVE = 3,
    CLI_CASE_ERROR = 4,
    CLI_NOTHING_MEASURED = 5,
};

struct cli_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand */
};
extern const struct cli_command cli_run, cli_list, cli_describe, cli_devices, cli_check;

/* Prints "assay: TEXT" to stderr and returns the exit status that fits the error. */
int cli_error(const struct assay_error *error);
/* Flushes stdout: EPIPE is silent, anything else is an error (message, at least CLI_USAGE). Returns
 * `status` or that. */
int cli_finish(int status);

#endif
