/* SPDX-License-Identifier: MIT */
#include "cli/choices.h"
#include "cli/cli.h"
#include "cli/given.h"

#include "base/os.h"
#include "report/compare.h"

#include <string.h>

struct compare_choices {
    struct choices_output output;
    struct arguments_list metrics;
    struct compare_params params;
    int undecided;
};

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    static const char *const hows[] = {"pass", "fail", NULL};
    struct compare_choices *choices = user;
    if (strcmp(name, "metric") == 0)
        return arguments_list_add(&choices->metrics, value, error);
    if (strcmp(name, "margin") == 0)
        return arguments_share(name, value, 0.99, &choices->params.margin, error);
    if (strcmp(name, "noise") == 0)
        return choices_noise(name, value, &choices->params.between, error);
    if (strcmp(name, "undecided") == 0)
        return arguments_choice(name, value, hows, &choices->undecided, error);
    return choices_take(NULL, &choices->output, name, value, error);
}

static bool report(const struct compare_choices *choices, const struct compare_source *source,
                   struct text *out, struct compare_counts *counts, struct assay_error *error)
{
    struct report_style style = choices_output_style(&choices->output);
    const char *file = choices->output.json;
    if (file && strcmp(file, "-") == 0)
        return compare_json(source, out, counts, error);
    if (file) {
        struct text json = {0};
        bool good = compare_json(source, &json, counts, error) &&
                    os_file_write_atomic(file, text_string(&json), json.length, error);
        text_free(&json);
        if (!good)
            return false;
    }
    return compare_table(source, &style, out, counts, error);
}

static int compare_journals(const struct compare_choices *choices, char **words)
{
    struct assay_error error = {0};
    struct text paths[2] = {{0}}, out = {0};
    struct compare_source source = {.metrics = arguments_list_items(&choices->metrics),
                                    .params = choices->params,
                                    .undecided = choices->undecided};
    struct compare_counts counts = {0};
    int status = CLI_USAGE;
    source.a = given_journal(words[0], &paths[0], &error);
    source.b = source.a ? given_journal(words[1], &paths[1], &error) : NULL;
    source.path_a = text_string(&paths[0]);
    source.path_b = text_string(&paths[1]);
    if (source.b && report(choices, &source, &out, &counts, &error))
        status = cli_finish(&out, compare_exit_status(&source, &counts));
    else
        cli_error(&error);
    journal_reader_destroy(&source.a);
    journal_reader_destroy(&source.b);
    text_free(&paths[0]);
    text_free(&paths[1]);
    text_free(&out);
    return status;
}

static const struct arguments_option options[] = {
    {"margin", 0, "SHARE", "how far a ratio may be from 1 and still be the same (1%)"},
    {"metric", 0, "NAME",
     "compare this metric, such as copy.rate; may be given several times\n"
     "(the end-to-end time, and the rate or time of each stage)"},
    {"noise", 0, "SHARE",
     "how much whole runs are known to differ on this machine; unless given,\n"
     "runs of under 64 samples count as 20% apart or more"},
    {"undecided", 0, "HOW", "'pass' or 'fail': what undecided comparisons count as"},
    {"json", 0, "[=FILE]",
     "a JSON report into FILE, or on the standard output in place of\n"
     "the table"},
    {"all-rows", 0, NULL, "do not abbreviate long tables"},
    {"color", 0, "WHEN", "'auto', 'always' or 'never' (auto; NO_COLOR is honoured)"},
    {0},
};

static const struct arguments arguments = {
    .command = "compare",
    .usage = "A B [OPTION...]",
    .about =
        "Puts two journals side by side, case by case: each metric of B is the same as in A, "
        "faster,\nslower, or that is undecided. Faster and slower mean that the whole 95 % "
        "interval of the\nratio lies outside of 1 +- margin, same that it lies inside. The runs "
        "were made at\ndifferent times, so the interval is widened by what the samples tell of "
        "the machine; what\ntakes turns within one run (pair) can be told apart much closer. Then "
        "it says which\nconditions changed. A and B are journals or the directories that hold "
        "them.\n",
    .options = options,
    .min_words = 2,
    .max_words = 2,
    .take = take,
    .footer = "exit status: the first that applies of\n"
              "  2  a journal cannot be read, the two have no case in common, or the command line "
              "is wrong\n"
              "  1  something is slower in B, or a case that was done in A ended in error in B\n"
              "  3  something is undecided\n"
              "  5  nothing was compared: no case is done in both\n"
              "  0  all is the same or faster\n",
};

static int run(int argc, char **argv)
{
    struct compare_choices choices = {.params = {.margin = RATIO_MARGIN},
                                      .undecided = CLI_INCONCLUSIVE};
    char **words;
    choices_output_init(&choices.output);
    int status = arguments_parse(&arguments, argc, argv, &choices, &words);
    if (status == ARGUMENTS_GO)
        status = compare_journals(&choices, words);
    arguments_list_free(&choices.metrics);
    return status;
}

const struct cli_command cli_compare = {"compare", "put two journals side by side", run};
