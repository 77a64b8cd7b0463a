/* SPDX-License-Identifier: MIT */
#include "cli/arguments.h"

#include "base/os.h"
#include "base/units.h"
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPTIONS_MAX 40
#define HELP_COLUMN 26

int cli_status(const struct assay_error *error)
{
    switch (error->status) {
    case ASSAY_INVALID:
    case ASSAY_SCRIPT:
        return CLI_USAGE;
    case ASSAY_NO_DEVICE:
        return CLI_NOTHING_MEASURED;
    default:
        return CLI_CASE_ERROR;
    }
}

int cli_error(const struct assay_error *error)
{
    fprintf(stderr, "assay: %s\n", error->text);
    return cli_status(error);
}

int cli_finish(struct text *out, int status)
{
    if (out->failed) {
        fprintf(stderr, "assay: out of memory for the output\n");
        status = status == CLI_PASS ? CLI_USAGE : status;
    } else if (!os_write_all(STDOUT_FILENO, text_string(out), out->length) && errno != EPIPE) {
        fprintf(stderr, "assay: cannot write to the standard output: %s\n", strerror(errno));
        status = status == CLI_PASS ? CLI_USAGE : status;
    }
    text_free(out);
    return status;
}

int cli_answer(bool good, struct text *out, const struct assay_error *error)
{
    if (good)
        return cli_finish(out, CLI_PASS);
    text_free(out);
    return cli_error(error);
}

static size_t option_rows(const struct arguments *arguments)
{
    size_t count = 0;
    while (arguments->options[count].name)
        count++;
    return count < OPTIONS_MAX ? count : OPTIONS_MAX;
}

static void help_option(struct text *out, const struct arguments_option *option)
{
    struct text head = {0};
    if (option->letter)
        text_addf(&head, "  -%c, --%s", option->letter, option->name);
    else
        text_addf(&head, "      --%s", option->name);
    if (option->value)
        text_addf(&head, "%s%s", option->value[0] == '[' ? "" : " ", option->value);
    text_addf(out, "%-*s", HELP_COLUMN, text_string(&head));
    bool indent = head.length >= HELP_COLUMN;
    if (indent)
        text_add_char(out, '\n');
    for (const char *line = option->help; line;) {
        const char *end = strchr(line, '\n');
        if (indent)
            text_addf(out, "%*s", HELP_COLUMN, "");
        text_add_bytes(out, line, end ? (size_t)(end - line) : strlen(line));
        text_add_char(out, '\n');
        indent = true;
        line = end ? end + 1 : NULL;
    }
    text_free(&head);
}

static int print_help(const struct arguments *arguments)
{
    struct text out = {0};
    text_addf(&out, "usage: assay %s %s\n\n%s\noptions\n", arguments->command, arguments->usage,
              arguments->about);
    for (size_t i = 0; arguments->options[i].name; i++)
        help_option(&out, &arguments->options[i]);
    static const struct arguments_option help = {"help", 'h', NULL, "this text"};
    help_option(&out, &help);
    if (arguments->footer)
        text_addf(&out, "\n%s", arguments->footer);
    return cli_finish(&out, CLI_PASS);
}

static int wrong(const struct arguments *arguments, const char *message)
{
    fprintf(stderr, "assay %s: %s; 'assay %s --help' shows the usage\n", arguments->command,
            message, arguments->command);
    return CLI_USAGE;
}

/* What getopt refused: it only says that it did. */
static int refused(const struct arguments *arguments, const char *word)
{
    struct text message = {0};
    size_t rows = option_rows(arguments);
    const char *names[OPTIONS_MAX + 1];
    for (size_t i = 0; i < rows; i++)
        names[i] = arguments->options[i].name;
    names[rows] = "help";
    if (strncmp(word, "--", 2) != 0) {
        text_addf(&message, "unknown option '-%c'", optopt);
        int status = wrong(arguments, text_string(&message));
        text_free(&message);
        return status;
    }
    struct text name = {0};
    text_add_bytes(&name, word + 2, strcspn(word + 2, "="));
    const char *near = text_nearest(text_string(&name), names, rows + 1);
    text_addf(&message, "unknown option '--%s'", text_string(&name));
    if (near && strcmp(near, text_string(&name)) == 0) {
        text_clear(&message);
        text_addf(&message, "option '--%s' takes no value", near);
    } else if (near) {
        text_addf(&message, " (did you mean '--%s'?)", near);
    }
    int status = wrong(arguments, text_string(&message));
    text_free(&name);
    text_free(&message);
    return status;
}

static int lacks_value(const struct arguments *arguments, int code)
{
    struct text message = {0};
    for (size_t i = 0; arguments->options[i].name; i++) {
        const struct arguments_option *option = &arguments->options[i];
        if (code == (option->letter ? option->letter : 256 + (int)i)) {
            text_addf(&message, "option '--%s' needs a value: --%s %s", option->name, option->name,
                      option->value);
        }
    }
    int status = wrong(arguments, text_string(&message));
    text_free(&message);
    return status;
}

static void fill_tables(const struct arguments *arguments, struct option *longs, char *shorts)
{
    size_t rows = option_rows(arguments), at = 0;
    shorts[at++] = ':';
    shorts[at++] = 'h';
    for (size_t i = 0; i < rows; i++) {
        const struct arguments_option *option = &arguments->options[i];
        int has = !option->value            ? no_argument
                  : option->value[0] == '[' ? optional_argument
                                            : required_argument;
        longs[i] = (struct option){option->name, has, NULL,
                                   option->letter ? option->letter : 256 + (int)i};
        if (option->letter) {
            shorts[at++] = option->letter;
            if (has == required_argument)
                shorts[at++] = ':';
        }
    }
    longs[rows] = (struct option){"help", no_argument, NULL, 'h'};
    longs[rows + 1] = (struct option){NULL, 0, NULL, 0};
    shorts[at] = '\0';
}

static int check_words(const struct arguments *arguments, int count, char **words)
{
    struct text message = {0};
    if (count < arguments->min_words) {
        text_addf(&message, "an argument is missing: assay %s %s", arguments->command,
                  arguments->usage);
    } else if (count > arguments->max_words) {
        text_addf(&message, "unexpected argument '%s'", words[arguments->max_words]);
    } else {
        return ARGUMENTS_GO;
    }
    int status = wrong(arguments, text_string(&message));
    text_free(&message);
    return status;
}

static int option_index(const struct arguments *arguments, int code)
{
    for (int i = 0; arguments->options[i].name; i++)
        if (arguments->options[i].letter && arguments->options[i].letter == code)
            return i;
    return code - 256;
}

int arguments_parse(const struct arguments *arguments, int argc, char **argv, void *user,
                    char ***words)
{
    struct option longs[OPTIONS_MAX + 2];
    char shorts[3 + 2 * OPTIONS_MAX];
    fill_tables(arguments, longs, shorts);
    opterr = 0;
    optind = 1;
    for (;;) {
        int code = getopt_long(argc, argv, shorts, longs, NULL);
        if (code == -1)
            break;
        if (code == 'h')
            return print_help(arguments);
        if (code == '?') {
            /* Inside a cluster (-qx) optind still points at it. */
            const char *word = optind > 1 ? argv[optind - 1] : argv[optind];
            return refused(arguments, word);
        }
        if (code == ':')
            return lacks_value(arguments, optopt);
        struct assay_error error = {0};
        const struct arguments_option *option = &arguments->options[option_index(arguments, code)];
        if (!arguments->take(user, option->name, optarg, &error)) {
            fprintf(stderr, "assay %s: %s\n", arguments->command, error.text);
            return cli_status(&error);
        }
    }
    *words = argv + optind;
    return check_words(arguments, argc - optind, *words);
}

bool arguments_list_add(struct arguments_list *list, const char *item, struct assay_error *error)
{
    const char **items = realloc(list->items, (list->count + 2) * sizeof(*items));
    if (!items)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for the command line");
    list->items = items;
    items[list->count++] = item;
    items[list->count] = NULL;
    return true;
}

const char *const *arguments_list_items(const struct arguments_list *list)
{
    static const char *const none[] = {NULL};
    return list->items ? list->items : none;
}

void arguments_list_free(struct arguments_list *list)
{
    free(list->items);
    *list = (struct arguments_list){0};
}

bool arguments_whole(const char *option, const char *value, int64_t min, int64_t max, int64_t *out,
                     struct assay_error *error)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end || errno || number < min || number > max) {
        return assay_fail(error, ASSAY_INVALID,
                          "--%s: '%s' is not a whole number from %lld to %lld", option, value,
                          (long long)min, (long long)max);
    }
    *out = number;
    return true;
}

bool arguments_time(const char *option, const char *value, int64_t *out_ns,
                    struct assay_error *error)
{
    static const struct dimension seconds = {.seconds = 1};
    struct quantity quantity;
    if (!quantity_parse(value, &quantity, error)) {
        error_prefix(error, "--%s", option);
        return false;
    }
    if (!dimension_equal(quantity.dimension, seconds)) {
        return assay_fail(error, ASSAY_INVALID, "--%s: '%s' is %s, but a time is wanted: 30s",
                          option, value, dimension_words(quantity.dimension));
    }
    if (!(quantity.value >= 1e-6 && quantity.value <= 1e9)) {
        return assay_fail(error, ASSAY_INVALID,
                          "--%s: '%s' is out of range, allowed are 1 us to 1e9 s", option, value);
    }
    *out_ns = (int64_t)(quantity.value * 1e9);
    return true;
}

bool arguments_choice(const char *option, const char *value, const char *const *words, int *out,
                      struct assay_error *error)
{
    size_t count = 0;
    for (; words[count]; count++) {
        if (strcmp(words[count], value) == 0) {
            *out = (int)count;
            return true;
        }
    }
    struct text list = {0};
    text_add_list(&list, words, count);
    assay_fail(error, ASSAY_INVALID, "--%s: '%s' is none of %s", option, value, text_string(&list));
    text_free(&list);
    return false;
}

bool arguments_pair(const char *option, const char *value, struct assay_error *error)
{
    if (value[0] == '=' || !strchr(value, '=')) {
        return assay_fail(error, ASSAY_INVALID, "--%s: '%s' is not of the form NAME=VALUE", option,
                          value);
    }
    return true;
}

bool arguments_share(const char *option, const char *value, double most, double *out,
                     struct assay_error *error)
{
    struct quantity quantity;
    struct assay_error why = {0};
    if (!quantity_parse(value, &quantity, &why))
        return assay_fail(error, ASSAY_INVALID, "--%s: %s", option, why.text);
    if (!dimension_is_number(quantity.dimension) || !(quantity.value >= 0) ||
        quantity.value > most) {
        struct text text = {0};
        number_add(&text, most * 100);
        assay_fail(error, ASSAY_INVALID, "--%s: '%s' is not a share from 0 to %s %%", option, value,
                   text_string(&text));
        text_free(&text);
        return false;
    }
    *out = quantity.value;
    return true;
}
