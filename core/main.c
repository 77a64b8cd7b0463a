/* SPDX-License-Identifier: MIT */
/* The program: a table of subcommands, and the worker's side door. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "script/serve.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct cli_command *const commands[] = {
    &cli_run,     &cli_list,  &cli_describe, &cli_devices, &cli_check,
    &cli_compare, &cli_noise, &cli_tune,     &cli_dump,    &cli_new,
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* A closed standard descriptor would be given to the next file that is opened, and a report would
 * then be written into the journal. Read-only, so that writing to it still fails. */
static bool keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
            return false;
    return true;
}

static int print_help(void)
{
    struct text out = {0};
    text_add(&out, "usage: assay SUBCOMMAND [OPTION...] [ARGUMENT...]\n\n"
                   "Measures what a GPU really delivers: a Lua script says what to run and what "
                   "must hold,\nand the exit status says whether it did.\n\nsubcommands\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        text_addf(&out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    text_add(&out, "\n  --help     this text; 'assay SUBCOMMAND --help' tells more\n"
                   "  --version  the version\n\n" CLI_STATUS_HELP);
    return cli_finish(&out, CLI_PASS);
}

static int print_version(void)
{
    struct text out = {0};
    text_add(&out, "assay " ASSAY_VERSION "\n");
    return cli_finish(&out, CLI_PASS);
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    const char *near = text_nearest(name, names, COMMAND_COUNT);
    struct text message = {0};
    text_addf(&message, "assay: unknown %s '%s'", name[0] == '-' ? "option" : "subcommand", name);
    if (near)
        text_addf(&message, " (did you mean '%s'?)", near);
    text_add(&message, "; there are ");
    text_add_list(&message, names, COMMAND_COUNT);
    fprintf(stderr, "%s\n", text_string(&message));
    text_free(&message);
    return CLI_USAGE;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return worker_main(&script_serving);
    if (!keep_standard_descriptors())
        return CLI_USAGE;
    /* A reader that goes away early (assay ... | head) must not cost the run its verdict. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a failed write, as a full disk is */
    if (argc < 2) {
        fprintf(stderr, "assay: no subcommand; 'assay --help' lists them\n");
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0)
        return print_version();
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(argc - 1, argv + 1);
    return unknown_command(argv[1]);
}
