/* SPDX-License-Identifier: MIT */
#include "cli/watch.h"

#include <stdio.h>
#include <unistd.h>

#define QUIET_NS INT64_C(200000000) /* an editor's last change lies so far back */

bool watch_open(struct watch *watch, struct assay_error *error)
{
    watch->files = os_watch_create(error);
    return watch->files != NULL;
}

void watch_close(struct watch *watch)
{
    os_watch_destroy(&watch->files);
    text_free(&watch->directory);
}

const char *watch_begin(struct watch *watch, const char *given)
{
    if (!watch->files)
        return given;
    os_watch_begin(watch->files);
    if (!given)
        return NULL;
    unsigned number = 0;
    do {
        text_clear(&watch->directory);
        os_path_join(&watch->directory, given, "run-");
        text_addf(&watch->directory, "%u", ++number);
    } while (access(text_string(&watch->directory), F_OK) == 0);
    return text_string(&watch->directory);
}

void watch_read(void *user, const char *path)
{
    struct watch *watch = user;
    if (watch->files)
        os_watch_add(watch->files, path, &watch->failure);
}

void watch_files(struct watch *watch, const json_t *paths)
{
    size_t i;
    json_t *path;
    json_array_foreach(paths, i, path)
    {
        if (json_is_string(path))
            watch_read(watch, json_string_value(path));
    }
}

void watch_case(struct watch *watch, const json_t *record)
{
    const json_t *sources = json_object_get(record, "sources");
    watch_files(watch, json_object_get(sources, "read"));
    watch_files(watch, json_object_get(sources, "absent"));
}

bool watch_next(struct watch *watch, const volatile int *interrupted, struct assay_error *error)
{
    if (watch->failure.status != ASSAY_OK) {
        *error = watch->failure;
        return false;
    }
    if (*interrupted)
        return false;
    size_t count = os_watch_count(watch->files);
    if (count == 0)
        return assay_fail(error, ASSAY_INVALID,
                          "nothing to watch: the run ended before it read the script; see above");
    fprintf(stderr, "assay: watching %zu file%s; Ctrl-C ends\n", count, count == 1 ? "" : "s");
    const char *changed = os_watch_wait(watch->files, QUIET_NS, interrupted);
    if (changed)
        fprintf(stderr, "\nassay: %s has changed\n", changed);
    return changed != NULL;
}
