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
extern const struct cli_command cli_run, cli_list, cli_describe, cli_devices, cli_check,
    cli_compare, cli_noise, cli_tune, cli_dump, cli_new;

#define CLI_STATUS_HELP                                                                            \
    "exit status: the first that applies of\n"                                                     \
    "  2  the script or the command line is wrong\n"                                               \
    "  5  nothing was measured (no device, all skipped or filtered away)\n"                        \
    "  4  a case ended in error (crash, timeout, device lost, wrong result)\n"                     \
    "  1  a bound failed\n"                                                                        \
    "  3  no bound failed, but some are inconclusive\n"                                            \
    "  0  all bounds hold\n"                                                                       \
    "and 128 + n after signal n\n"

/* The exit status that fits an error: 2 for what the user asked for, 5 for no device, else 4. */
int cli_status(const struct assay_error *error);
/* Prints "assay: TEXT" to stderr and returns cli_status. */
int cli_error(const struct assay_error *error);
/* Writes `out` to stdout and frees it. A reader that went away (EPIPE) is silent; anything else is
 * said on stderr and turns status 0 into CLI_USAGE. Returns the exit status. */
int cli_finish(struct text *out, int status);
/* How a command without a judgement ends: what it has to say, or the error; frees `out`. */
int cli_answer(bool good, struct text *out, const struct assay_error *error);

#endif
