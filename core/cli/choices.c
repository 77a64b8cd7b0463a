/* SPDX-License-Identifier: MIT */
#include "cli/choices.h"

#include "base/os.h"
#include "base/units.h"
#include "experiment/peaks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAIN_WIDTH 120 /* of a report that does not go to a terminal */

void choices_plan_init(struct choices_plan *choices)
{
    *choices = (struct choices_plan){.seed = CHOICES_SEED};
}

void choices_plan_free(struct choices_plan *choices)
{
    arguments_list_free(&choices->sets);
    arguments_list_free(&choices->options);
    arguments_list_free(&choices->filters);
    arguments_list_free(&choices->plugins);
}

bool choices_plan_take(struct choices_plan *choices, const char *name, const char *value,
                       struct assay_error *error)
{
    if (strcmp(name, "set") == 0) {
        return arguments_pair(name, value, error) &&
               arguments_list_add(&choices->sets, value, error);
    }
    if (strcmp(name, "option") == 0) {
        return arguments_pair(name, value, error) &&
               arguments_list_add(&choices->options, value, error);
    }
    if (strcmp(name, "filter") == 0)
        return arguments_list_add(&choices->filters, value, error);
    if (strcmp(name, "plugin") == 0)
        return arguments_list_add(&choices->plugins, value, error);
    if (strcmp(name, "seed") == 0)
        return arguments_whole(name, value, 0, INT64_MAX, &choices->seed, error);
    if (strcmp(name, "script-deadline") == 0)
        return arguments_time(name, value, &choices->script_deadline_ns, error);
    if (strcmp(name, "device") == 0) {
        choices->device = value;
        return true;
    }
    if (strcmp(name, "case") == 0) {
        choices->case_prefix = value;
        return true;
    }
    if (strcmp(name, "trust") == 0) {
        choices->trust = true;
        return true;
    }
    return false;
}

static bool select_cases(const struct choices_plan *choices, struct plan *plan,
                         struct assay_error *error)
{
    for (size_t i = 0; i < choices->filters.count; i++)
        plan_select_glob(plan, choices->filters.items[i]);
    if (choices->case_prefix && !plan_select_id(plan, choices->case_prefix, error))
        return false;
    peaks_select(plan);
    return true;
}

bool choices_check_path(const char *path, struct assay_error *error)
{
    if (text_is_utf8(path))
        return true;
    struct text shown = {0};
    text_add_clean(&shown, path);
    assay_fail(error, ASSAY_INVALID,
               "the path '%s' is not UTF-8, as the journal's records must be; rename the file or "
               "its directory",
               text_string(&shown));
    text_free(&shown);
    return false;
}

struct script *choices_plan_load(const struct choices_plan *choices, const char *path,
                                 const struct catalog *catalog, struct assay_error *error)
{
    struct script_params params = {
        .path = path,
        .catalog = catalog,
        .seed = (uint64_t)choices->seed,
        .sets = arguments_list_items(&choices->sets),
        .options = arguments_list_items(&choices->options),
        .plugins = arguments_list_items(&choices->plugins),
        .device = choices->device,
        .trust = choices->trust,
        .deadline_ns = choices->script_deadline_ns,
        .reads = choices->reads,
        .reads_user = choices->reads_user,
    };
    struct script *script = choices_check_path(path, error) ? script_load(&params, error) : NULL;
    if (!script)
        return NULL;
    struct plan *plan = script_plan(script);
    if (choices->device) {
        plan->device = arena_copy(plan->arena, choices->device);
        if (!plan->device) {
            assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the plan");
            goto fail;
        }
    }
    if (select_cases(choices, plan, error))
        return script;
fail:
    script_destroy(&script);
    return NULL;
}

void choices_output_init(struct choices_output *choices)
{
    *choices = (struct choices_output){.policy = {.inconclusive = 3},
                                       .compare = {.margin = RATIO_MARGIN}};
}

bool choices_noise(const char *name, const char *value, double *out, struct assay_error *error)
{
    if (!arguments_share(name, value, 10, out, error))
        return false;
    if (*out < RATIO_NO_SPREAD)
        *out = RATIO_NO_SPREAD;
    return true;
}

static bool take_bounds(struct choices_output *choices, const char *name, const char *value,
                        struct assay_error *error)
{
    if (strcmp(name, "thresholds") == 0) {
        choices->thresholds = value;
        return true;
    }
    if (strcmp(name, "baseline") == 0) {
        choices->baseline = value;
        return true;
    }
    if (strcmp(name, "margin") == 0) {
        choices->has_margin = true;
        return arguments_share(name, value, 0.99, &choices->compare.margin, error);
    }
    if (strcmp(name, "noise") == 0) {
        choices->has_noise = true;
        return choices_noise(name, value, &choices->compare.between, error);
    }
    return false;
}

bool choices_output_take(struct choices_output *choices, const char *name, const char *value,
                         struct assay_error *error)
{
    static const char *const colors[] = {"auto", "always", "never", NULL};
    static const char *const hows[] = {"pass", "fail", NULL};
    if (strcmp(name, "json") == 0) {
        choices->json = value ? value : "-";
        return true;
    }
    if (strcmp(name, "junit") == 0) {
        choices->junit = value;
        return true;
    }
    if (strcmp(name, "trace") == 0) {
        choices->trace = value;
        return true;
    }
    if (strcmp(name, "no-skip") == 0) {
        choices->policy.no_skip = true;
        return true;
    }
    if (strcmp(name, "all-rows") == 0) {
        choices->all_rows = true;
        return true;
    }
    if (strcmp(name, "inconclusive") == 0)
        return arguments_choice(name, value, hows, &choices->policy.inconclusive, error);
    if (strcmp(name, "color") == 0)
        return arguments_choice(name, value, colors, &choices->color, error);
    return take_bounds(choices, name, value, error);
}

/* A file is written beside and renamed (os_file_write_atomic): its directory must take it. */
static bool check_report(const char *option, const char *path, struct assay_error *error)
{
    struct stat status;
    struct text directory = {0};
    const char *reason = NULL;
    bool there = stat(path, &status) == 0;
    os_path_directory(&directory, path);
    if (!*path)
        reason = "a file's name is wanted";
    else if (there && S_ISDIR(status.st_mode))
        reason = strerror(EISDIR);
    else if (there && !S_ISREG(status.st_mode))
        reason = access(path, W_OK) == 0 ? NULL : strerror(errno);
    else if (access(text_string(&directory), W_OK | X_OK) != 0)
        reason = strerror(errno);
    text_free(&directory);
    return !reason ||
           assay_fail(error, ASSAY_INVALID, "--%s: cannot write '%s': %s", option, path, reason);
}

bool choices_output_check(const struct choices_output *choices, struct assay_error *error)
{
    if (choices->json && strcmp(choices->json, "-") != 0 &&
        !check_report("json", choices->json, error))
        return false;
    if (choices->trace && !check_report("trace", choices->trace, error))
        return false;
    return !choices->junit || check_report("junit", choices->junit, error);
}

const char *choices_output_inconclusive(const struct choices_output *choices)
{
    int how = choices->policy.inconclusive;
    return how == 0 ? "pass" : how == 1 ? "fail" : NULL;
}

static bool wants_color(int choice)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    if (choice != 0)
        return choice == 1;
    return isatty(STDOUT_FILENO) && !(none && *none) && !(term && strcmp(term, "dumb") == 0);
}

static unsigned wanted_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    struct assay_error ignored = {0}; /* an odd COLUMNS is no reason to fail */
    int64_t width;
    if (columns && arguments_whole("columns", columns, 40, 10000, &width, &ignored))
        return (unsigned)width;
    return PLAIN_WIDTH;
}

struct report_style choices_output_style(const struct choices_output *choices)
{
    return (struct report_style){.color = wants_color(choices->color),
                                 .width = wanted_width(),
                                 .all_rows = choices->all_rows};
}

bool choices_take(struct choices_plan *plan, struct choices_output *output, const char *name,
                  const char *value, struct assay_error *error)
{
    if ((plan && choices_plan_take(plan, name, value, error)) ||
        (output && !error->status && choices_output_take(output, name, value, error)))
        return true;
    return error->status ? false
                         : assay_fail(error, ASSAY_INTERNAL, "option '--%s' is not handled", name);
}
