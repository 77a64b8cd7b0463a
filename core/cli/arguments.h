/* SPDX-License-Identifier: MIT */
/* Command lines: getopt_long driven by a table, which also prints the help. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "base/error.h"
#include "base/text.h"

struct arguments_option {
    const char *name;  /* "device"; NULL ends the table */
    char letter;       /* 0: none */
    const char *value; /* "FILE"; "[=FILE]" when it may be left out; NULL: a flag */
    const char *help;  /* lines separated by newline */
};

struct arguments {
    const char *command; /* "run" */
    const char *usage;   /* "SCRIPT [OPTION...]" */
    const char *about;   /* what it does: lines, each with its newline */
    const struct arguments_option *options;
    int min_words, max_words; /* arguments that are no options */
    const char *footer;       /* lines after the options, or NULL */
    /* Called for each option in order, by its name; value is NULL for a flag. */
    bool (*take)(void *user, const char *name, const char *value, struct assay_error *error);
};

#define ARGUMENTS_GO (-1)
/* Parses; --help is known to every subcommand. ARGUMENTS_GO: go on, with *words pointing at the
 * arguments that are no options (NULL-terminated). Else the exit status: help was printed, or what
 * is wrong was said on stderr. */
int arguments_parse(const struct arguments *arguments, int argc, char **argv, void *user,
                    char ***words);

/* A list that options given several times add to. NULL-terminated once anything was added. */
struct arguments_list {
    const char **items;
    size_t count;
};
bool arguments_list_add(struct arguments_list *list, const char *item, struct assay_error *error);
/* The items, never NULL. */
const char *const *arguments_list_items(const struct arguments_list *list);
void arguments_list_free(struct arguments_list *list);

/* Values of options: ASSAY_INVALID with the option's name. */
bool arguments_whole(const char *option, const char *value, int64_t min, int64_t max, int64_t *out,
                     struct assay_error *error);
/* A time with its unit, over zero. */
bool arguments_time(const char *option, const char *value, int64_t *out_ns,
                    struct assay_error *error);
/* A share from 0 to `most`: "5 %" or 0.05. */
bool arguments_share(const char *option, const char *value, double most, double *out,
                     struct assay_error *error);
/* Index of `value` in the NULL-terminated words. */
bool arguments_choice(const char *option, const char *value, const char *const *words, int *out,
                      struct assay_error *error);
/* KEY=VALUE with both parts there. */
bool arguments_pair(const char *option, const char *value, struct assay_error *error);

#endif
