/* SPDX-License-Identifier: MIT */
#include "cli/failure.h"

#include "base/os.h"
#include "cli/cli.h"

#include <string.h>
#include <sys/stat.h>

static bool replaceable(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

static bool write_json(const char *path, const char *reason, int status, struct assay_error *error)
{
    struct text text = {0};
    bool good = report_json_failure(reason, status, &text, error) &&
                os_file_write_atomic(path, text_string(&text), text.length, error);
    text_free(&text);
    return good;
}

static bool write_junit(const char *path, const char *reason, struct assay_error *error)
{
    struct text text = {0};
    bool good = report_junit_failure(reason, &text, error) &&
                os_file_write_atomic(path, text_string(&text), text.length, error);
    text_free(&text);
    return good;
}

/* --json alone is the standard output, not a file. */
static const char *json_file(const struct choices_output *output)
{
    return output->json && strcmp(output->json, "-") != 0 ? output->json : NULL;
}

bool failure_expect(const struct choices_output *output, const char *reason,
                    struct assay_error *error)
{
    const char *json = json_file(output);
    if (json && replaceable(json) && !write_json(json, reason, -1, error))
        return false;
    return !output->junit || !replaceable(output->junit) ||
           write_junit(output->junit, reason, error);
}

void failure_write(const struct choices_output *output, const char *reason, int status)
{
    const char *json = json_file(output);
    struct assay_error error = {0};
    /* Files that cannot be had are the failure itself, or fail a command that has failed. */
    if (!choices_output_check(output, &error))
        return;
    if (json && !write_json(json, reason, status, &error))
        cli_error(&error);
    error = (struct assay_error){0};
    if (output->junit && !write_junit(output->junit, reason, &error))
        cli_error(&error);
}
