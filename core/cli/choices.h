/* SPDX-License-Identifier: MIT */
/* Options that several subcommands share: rows for their tables, and where the values go. */
#ifndef CLI_CHOICES_H
#define CLI_CHOICES_H

#include "cli/arguments.h"
#include "judge/judge.h"
#include "report/report.h"
#include "result/compare.h"
#include "script/script.h"

#define CHOICES_SEED 1 /* fixed, so that two runs of a script are the same run */

/* What makes a plan of a script. */
struct choices_plan {
    struct arguments_list sets, options, filters, plugins;
    const char *case_prefix, *device;
    int64_t seed; /* set by choices_plan_init */
    int64_t script_deadline_ns;
    bool trust;
    void (*reads)(void *user, const char *path); /* as in script_params, or NULL */
    void *reads_user;
};

/* clang-format off */
#define CHOICES_PLUGIN_ROW                                                                         \
    {"plugin", 0, "FILE", "one more plugin, beside those in ASSAY_PLUGIN_PATH,\n"                  \
                          "$XDG_DATA_HOME/assay/plugins and the install directory"}
/* clang-format on */

/* clang-format off */
#define CHOICES_PLAN_ROWS                                                                          \
    {"set", 0, "NAME=VALUE", "a parameter of every experiment that has it: --set bytes=1MiB"},     \
    {"option", 0, "NAME=VALUE", "an option that the script declares with assay.option"},           \
    {"device", 0, "DEVICE", "for cases whose script names none: an index, a UUID, a PCI address,\n"\
                            "a part of the name, 'cpu' or 'gpu' ('assay devices' lists them)"},    \
    {"seed", 0, "N", "of all random inputs; a part of each case's id (1)"},                        \
    {"filter", 0, "GLOB", "only cases whose 'experiment/workload name=value ...' matches;\n"       \
                          "several must all match"},                                               \
    {"case", 0, "ID", "only the case whose id starts with these digits"},                          \
    {"script-deadline", 0, "TIME", "how long the script may compute at a time (10s)"},             \
    {"trust", 0, NULL, "give the script the Lua libraries os and io"},                             \
    CHOICES_PLUGIN_ROW
/* clang-format on */

void choices_plan_init(struct choices_plan *choices);
void choices_plan_free(struct choices_plan *choices);
/* False with an empty error: not an option of this set. */
bool choices_plan_take(struct choices_plan *choices, const char *name, const char *value,
                       struct assay_error *error);
/* The journal names the script, and records are UTF-8. ASSAY_INVALID. */
bool choices_check_path(const char *path, struct assay_error *error);
/* Loads the script and selects cases. An empty selection is not a failure. */
struct script *choices_plan_load(const struct choices_plan *choices, const char *path,
                                 const struct catalog *catalog, struct assay_error *error);

/* What becomes of the results. */
struct choices_output {
    const char *json;  /* NULL: none; "-": on stdout in place of the table */
    const char *junit; /* file or NULL */
    const char *trace; /* the same */
    int color;         /* 0 auto, 1 always, 2 never */
    bool all_rows;
    struct judge_policy policy;
    const char *thresholds, *baseline; /* files or NULL */
    bool has_margin, has_noise;
    struct compare_params compare; /* to the baseline */
};

/* clang-format off */
#define CHOICES_OUTPUT_ROWS                                                                        \
    {"json", 0, "[=FILE]", "a JSON report into FILE, or on the standard output in place of\n"      \
                           "the table"},                                                           \
    {"junit", 0, "FILE", "a JUnit report, for GitLab, GitHub and Jenkins"},                        \
    {"trace", 0, "FILE", "what ran when, for Perfetto and Chrome's tracing; a journal has it\n"       \
                         "when the run was asked for it"},                                         \
    {"no-skip", 0, NULL, "skips and bounds not judged are failures"},                              \
    {"inconclusive", 0, "HOW", "'pass' or 'fail': what inconclusive bounds count as"},             \
    {"all-rows", 0, NULL, "do not abbreviate long tables"},                                        \
    {"color", 0, "WHEN", "'auto', 'always' or 'never' (auto; NO_COLOR is honoured)"}
/* clang-format on */

/* clang-format off */
#define CHOICES_BOUNDS_ROWS                                                                        \
    {"thresholds", 0, "FILE", "more bounds, by device: a Lua table of constants\n"                 \
                              "(docs/scripting.md)"},                                              \
    {"baseline", 0, "JOURNAL", "more bounds: nothing may be slower than in this earlier run"},     \
    {"margin", 0, "SHARE", "how far a time may be from the baseline's and be the same (1%)"},      \
    {"noise", 0, "SHARE", "how much whole runs are known to differ on this machine; unless\n"      \
                          "given, runs of under 64 samples count as 20% apart or more"}
/* clang-format on */

void choices_output_init(struct choices_output *choices);
/* False with an empty error: not an option of this set. */
bool choices_output_take(struct choices_output *choices, const char *name, const char *value,
                         struct assay_error *error);
/* Whether the files can be written, before anything is measured for them. ASSAY_INVALID. */
bool choices_output_check(const struct choices_output *choices, struct assay_error *error);
/* Colours and width of what goes to stdout. */
struct report_style choices_output_style(const struct choices_output *choices);
/* "pass", "fail" or NULL for the third status. */
const char *choices_output_inconclusive(const struct choices_output *choices);

/* --noise of comparisons: a share; 0 says that runs are known not to differ. */
bool choices_noise(const char *name, const char *value, double *out, struct assay_error *error);

/* Tries both sets; an option of neither is a defect of the table. */
bool choices_take(struct choices_plan *plan, struct choices_output *output, const char *name,
                  const char *value, struct assay_error *error);

#endif
