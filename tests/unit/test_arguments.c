/* SPDX-License-Identifier: MIT */
/* Command lines: what is taken, and the exact texts of what is refused. */
#include "cli/arguments.h"
#include "cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct taken {
    char names[256];
};

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    struct taken *taken = user;
    size_t length = strlen(taken->names);
    int64_t number;
    if (strcmp(name, "seed") == 0 && !arguments_whole(name, value, 0, 100, &number, error))
        return false;
    snprintf(taken->names + length, sizeof(taken->names) - length, "%s=%s;", name,
             value ? value : "");
    return true;
}

static const struct arguments_option options[] = {
    {"output", 'o', "DIR", "where"},
    {"quick", 'q', NULL, "less"},
    {"json", 0, "[=FILE]", "report"},
    {"seed", 0, "N", "seed"},
    {0},
};
static const struct arguments arguments = {.command = "run",
                                           .usage = "SCRIPT [OPTION...]",
                                           .about = "Runs.\n",
                                           .options = options,
                                           .min_words = 1,
                                           .max_words = 1,
                                           .take = take};

/* Parses a line of at most 8 words; what it says on `fd` (1 or 2) goes into `said`. */
static int parse(const char *const *line, int fd, struct taken *taken, char **word, char *said,
                 size_t size)
{
    char *argv[10] = {(char *)"run"};
    int argc = 1;
    char **words = NULL;
    FILE *file = tmpfile();
    assert_non_null(file);
    *taken = (struct taken){{0}};
    while (line[argc - 1]) {
        argv[argc] = (char *)line[argc - 1];
        argc++;
    }
    fflush(NULL);
    int saved = dup(fd);
    dup2(fileno(file), fd);
    int status = arguments_parse(&arguments, argc, argv, taken, &words);
    fflush(NULL);
    dup2(saved, fd);
    close(saved);
    rewind(file);
    said[fread(said, 1, size - 1, file)] = '\0';
    fclose(file);
    *word = words ? words[0] : NULL;
    return status;
}

static void refused(const char *const *line, const char *text)
{
    struct taken taken;
    char *word, said[512];
    assert_int_equal(parse(line, STDERR_FILENO, &taken, &word, said, sizeof(said)), CLI_USAGE);
    assert_string_equal(said, text);
}

static void takes_options_in_any_place(void **state)
{
    (void)state;
    struct taken taken;
    char *word, said[512];
    static const char *const line[] = {"a.lua", "-o", "dir", "--json", "--seed=7", "-q", NULL};
    assert_int_equal(parse(line, STDERR_FILENO, &taken, &word, said, sizeof(said)), ARGUMENTS_GO);
    assert_string_equal(taken.names, "output=dir;json=;seed=7;quick=;");
    assert_string_equal(word, "a.lua");
    assert_string_equal(said, "");
}

static void refuses_with_the_nearest_name(void **state)
{
    (void)state;
    refused(
        (const char *const[]){"a.lua", "--quik", NULL},
        "assay run: unknown option '--quik' (did you mean '--quick'?); 'assay run --help' shows "
        "the usage\n");
    refused((const char *const[]){"a.lua", "--zzzzzz=3", NULL},
            "assay run: unknown option '--zzzzzz'; 'assay run --help' shows the usage\n");
    refused((const char *const[]){"a.lua", "-x", NULL},
            "assay run: unknown option '-x'; 'assay run --help' shows the usage\n");
    refused((const char *const[]){"a.lua", "-qx", NULL},
            "assay run: unknown option '-x'; 'assay run --help' shows the usage\n");
}

static void refuses_values_that_do_not_fit(void **state)
{
    (void)state;
    refused((const char *const[]){"a.lua", "--quick=1", NULL},
            "assay run: option '--quick' takes no value; 'assay run --help' shows the usage\n");
    refused((const char *const[]){"a.lua", "--seed", NULL},
            "assay run: option '--seed' needs a value: --seed N; 'assay run --help' shows the "
            "usage\n");
    refused((const char *const[]){"a.lua", "-o", NULL},
            "assay run: option '--output' needs a value: --output DIR; 'assay run --help' shows "
            "the usage\n");
    refused((const char *const[]){"a.lua", "--seed", "101", NULL},
            "assay run: --seed: '101' is not a whole number from 0 to 100\n");
}

static void counts_the_words(void **state)
{
    (void)state;
    refused((const char *const[]){NULL},
            "assay run: an argument is missing: assay run SCRIPT [OPTION...]; 'assay run --help' "
            "shows the usage\n");
    refused((const char *const[]){"a.lua", "b.lua", NULL},
            "assay run: unexpected argument 'b.lua'; 'assay run --help' shows the usage\n");
}

static void help_shows_each_option(void **state)
{
    (void)state;
    struct taken taken;
    char *word, said[1024];
    static const char *const line[] = {"--help", NULL};
    assert_int_equal(parse(line, STDOUT_FILENO, &taken, &word, said, sizeof(said)), CLI_PASS);
    assert_string_equal(said, "usage: assay run SCRIPT [OPTION...]\n\nRuns.\n\noptions\n"
                              "  -o, --output DIR        where\n"
                              "  -q, --quick             less\n"
                              "      --json[=FILE]       report\n"
                              "      --seed N            seed\n"
                              "  -h, --help              this text\n");
}

static void times_need_a_unit(void **state)
{
    (void)state;
    int64_t ns = 0;
    struct assay_error error = {0};
    assert_true(arguments_time("deadline", "1.5 s", &ns, &error));
    assert_int_equal(ns, 1500000000);
    assert_false(arguments_time("deadline", "5 MB", &ns, &error));
    assert_string_equal(error.text, "--deadline: '5 MB' is a size, but a time is wanted: 30s");
    error = (struct assay_error){0};
    assert_false(arguments_time("deadline", "0 s", &ns, &error));
    assert_string_equal(error.text, "--deadline: '0 s' is out of range, allowed are 1 us to 1e9 s");
    assert_int_equal(error.status, ASSAY_INVALID);
}

static void choices_and_pairs(void **state)
{
    (void)state;
    static const char *const words[] = {"auto", "always", "never", NULL};
    struct assay_error error = {0};
    int choice = -1;
    assert_true(arguments_choice("color", "never", words, &choice, &error));
    assert_int_equal(choice, 2);
    assert_false(arguments_choice("color", "blue", words, &choice, &error));
    assert_string_equal(error.text, "--color: 'blue' is none of auto, always and never");
    error = (struct assay_error){0};
    assert_true(arguments_pair("set", "bytes=", &error));
    assert_false(arguments_pair("set", "=4", &error));
    assert_string_equal(error.text, "--set: '=4' is not of the form NAME=VALUE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_options_in_any_place),
        cmocka_unit_test(refuses_with_the_nearest_name),
        cmocka_unit_test(refuses_values_that_do_not_fit),
        cmocka_unit_test(counts_the_words),
        cmocka_unit_test(help_shows_each_option),
        cmocka_unit_test(times_need_a_unit),
        cmocka_unit_test(choices_and_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
