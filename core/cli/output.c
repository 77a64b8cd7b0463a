/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include "base/os.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_PARENT "assay-out"
#define NAMES_MAX 1000 /* runs of a script within one second */

static bool refuse(struct assay_error *error, const char *path, const char *reason)
{
    return assay_fail(error, ASSAY_INVALID,
                      "output directory '%s' cannot be used: %s; choose another with --output DIR",
                      path, reason);
}

/* 1: made, 0: was there, -1: failed (errno). */
static int make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0)
        return 1;
    return errno == EEXIST ? 0 : -1;
}

static bool make_given(struct output *output, const char *given, struct assay_error *error)
{
    struct assay_error why = {0};
    text_add(&output->directory, given);
    output->made_directory = !os_is_directory(given);
    if (output->made_directory && !os_make_directories(given, &why)) {
        output->made_directory = false;
        return refuse(error, given, why.text);
    }
    return true;
}

static bool make_default(struct output *output, const char *script, struct assay_error *error)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm parts;
    struct text name = {0};
    localtime_r(&now, &parts);
    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &parts);
    text_add(&output->parent, DEFAULT_PARENT);
    int made = make_directory(DEFAULT_PARENT);
    output->made_parent = made == 1;
    text_add(&name, DEFAULT_PARENT "/");
    os_path_stem(&name, script);
    text_addf(&name, "-%s", stamp);
    for (int i = 1; made >= 0 && i < NAMES_MAX; i++) {
        text_clear(&output->directory);
        text_add(&output->directory, text_string(&name));
        if (i > 1)
            text_addf(&output->directory, "-%d", i);
        made = make_directory(text_string(&output->directory));
        if (made == 1)
            break;
    }
    output->made_directory = made == 1;
    bool good = made == 1 ||
                refuse(error, made < 0 && !name.length ? DEFAULT_PARENT : text_string(&name),
                       made < 0 ? strerror(errno) : "too many runs in this second");
    text_free(&name);
    return good;
}

bool output_prepare(struct output *output, const char *given, const char *script,
                    struct assay_error *error)
{
    *output = (struct output){0};
    if (!(given ? make_given(output, given, error) : make_default(output, script, error)))
        goto fail;
    const char *directory = text_string(&output->directory);
    os_path_join(&output->journal, directory, "journal.jsonl");
    os_path_join(&output->log, directory, "worker.log");
    if (access(directory, W_OK | X_OK) != 0) {
        refuse(error, directory, strerror(errno));
        goto fail;
    }
    if (access(text_string(&output->journal), F_OK) == 0) {
        refuse(error, directory, "it holds the journal of another run");
        goto fail;
    }
    output->made_log = access(text_string(&output->log), F_OK) != 0;
    return true;
fail:
    output_discard(output);
    output_free(output);
    return false;
}

void output_discard(struct output *output)
{
    if (output->made_log)
        unlink(text_string(&output->log));
    if (output->made_directory)
        rmdir(text_string(&output->directory));
    if (output->made_parent)
        rmdir(text_string(&output->parent));
}

void output_free(struct output *output)
{
    text_free(&output->directory);
    text_free(&output->parent);
    text_free(&output->journal);
    text_free(&output->log);
    *output = (struct output){0};
}
