/* SPDX-License-Identifier: MIT */
/* inotify on directories: editors replace files, and a watch on the file itself would stay with the
 * old one. */
#include "base/os.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS INT64_C(200000000) /* how late a signal may be seen */
#define EVENTS                                                                                     \
    (IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF |       \
     IN_MOVE_SELF)

/* A name in a directory. */
struct watched {
    int directory; /* its watch */
    char *name;
    char *path; /* as it was given */
};

struct os_watch {
    int fd;
    struct watched *items;
    size_t count, room;
    struct timespec since; /* what is newer and was not watched yet has changed */
    bool changed;
    struct text what;
};

struct os_watch *os_watch_create(struct assay_error *error)
{
    struct os_watch *watch = calloc(1, sizeof(*watch));
    if (!watch) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory to watch files");
        return NULL;
    }
    watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch->fd >= 0) {
        os_watch_begin(watch);
        return watch;
    }
    error_fail_errno(error, "cannot watch files");
    free(watch);
    return NULL;
}

void os_watch_destroy(struct os_watch **watch)
{
    struct os_watch *self = *watch;
    *watch = NULL;
    if (!self)
        return;
    for (size_t i = 0; i < self->count; i++) {
        free(self->items[i].name);
        free(self->items[i].path);
    }
    free(self->items);
    text_free(&self->what);
    close(self->fd);
    free(self);
}

void os_watch_begin(struct os_watch *watch)
{
    /* The clock that file systems take their times from. */
    clock_gettime(CLOCK_REALTIME_COARSE, &watch->since);
    watch->changed = false;
    text_clear(&watch->what);
}

/* The first is told. */
static void note_change(struct os_watch *watch, const char *path)
{
    if (!watch->what.length)
        text_add(&watch->what, path);
    watch->changed = true;
}

/* Not before: the clock is coarse. */
static bool is_since(const struct timespec *time, const struct timespec *since)
{
    return time->tv_sec > since->tv_sec ||
           (time->tv_sec == since->tv_sec && time->tv_nsec >= since->tv_nsec);
}

static bool holds(const struct os_watch *watch, int directory, const char *name)
{
    for (size_t i = 0; i < watch->count; i++)
        if (watch->items[i].directory == directory && strcmp(watch->items[i].name, name) == 0)
            return true;
    return false;
}

static bool add_name(struct os_watch *watch, const char *directory, const char *name,
                     const char *path, struct assay_error *error)
{
    int id = inotify_add_watch(watch->fd, directory, EVENTS | IN_ONLYDIR);
    if (id < 0)
        return error_fail_errno(error, "cannot watch the directory '%s'", directory);
    if (holds(watch, id, name))
        return true;
    if (watch->count == watch->room) {
        size_t room = watch->room ? 2 * watch->room : 16;
        struct watched *items = realloc(watch->items, room * sizeof(*items));
        if (!items)
            return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory to watch files");
        watch->items = items;
        watch->room = room;
    }
    struct watched item = {id, strdup(name), strdup(path)};
    if (!item.name || !item.path) {
        free(item.name);
        free(item.path);
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory to watch files");
    }
    watch->items[watch->count++] = item;
    struct stat info;
    if (stat(path, &info) == 0 && is_since(&info.st_mtim, &watch->since))
        note_change(watch, path);
    return true;
}

/* Where the directory is not there either, the first part of the path that can appear. */
static bool add_path(struct os_watch *watch, const char *place, const char *path,
                     struct assay_error *error)
{
    struct text directory = {0}, below = {0};
    const char *slash = strrchr(place, '/');
    const char *name = slash ? slash + 1 : place;
    os_path_directory(&directory, place);
    bool good;
    if (!os_is_directory(text_string(&directory)) && strcmp(text_string(&directory), place) != 0) {
        text_add(&below, text_string(&directory));
        good = add_path(watch, text_string(&below), path, error);
    } else {
        good = add_name(watch, text_string(&directory), name, path, error);
    }
    text_free(&directory);
    text_free(&below);
    return good;
}

bool os_watch_add(struct os_watch *watch, const char *path, struct assay_error *error)
{
    char *real = realpath(path, NULL);
    bool good = add_path(watch, path, path, error);
    if (good && real) /* what a symbolic link leads to changes elsewhere */
        good = add_path(watch, real, path, error);
    free(real);
    return good;
}

size_t os_watch_count(const struct os_watch *watch)
{
    size_t count = 0;
    for (size_t i = 0; i < watch->count; i++) {
        size_t k = 0;
        while (strcmp(watch->items[k].path, watch->items[i].path) != 0)
            k++;
        count += k == i && os_is_file(watch->items[i].path);
    }
    return count;
}

static void take_event(struct os_watch *watch, const struct inotify_event *event)
{
    for (size_t i = 0; i < watch->count; i++) {
        const struct watched *item = &watch->items[i];
        bool lost = event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED);
        if ((event->mask & IN_Q_OVERFLOW) ||
            (item->directory == event->wd &&
             (lost || (event->len && strcmp(event->name, item->name) == 0))))
            note_change(watch, item->path);
    }
    if (!(event->mask & IN_IGNORED))
        return;
    /* The number of a watch that is gone may not come again, but its names must be added again. */
    for (size_t i = watch->count; i-- > 0;) {
        if (watch->items[i].directory != event->wd)
            continue;
        free(watch->items[i].name);
        free(watch->items[i].path);
        watch->items[i] = watch->items[--watch->count];
    }
}

/* Whether something came within limit_ns that concerns a watched name. */
static bool take_events(struct os_watch *watch, int64_t limit_ns)
{
    /* Room for the longest name, aligned as the events are. */
    union {
        struct inotify_event event;
        char bytes[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
    } buffer;
    struct timespec limit = {.tv_sec = (time_t)(limit_ns / 1000000000),
                             .tv_nsec = (long)(limit_ns % 1000000000)};
    struct pollfd wanted = {.fd = watch->fd, .events = POLLIN};
    bool before = watch->changed;
    if (ppoll(&wanted, 1, &limit, NULL) <= 0)
        return false;
    watch->changed = false;
    ssize_t got;
    while ((got = read(watch->fd, buffer.bytes, sizeof(buffer.bytes))) > 0) {
        for (ssize_t at = 0; at < got;) {
            struct inotify_event event;
            memcpy(&event, buffer.bytes + at, sizeof(event));
            take_event(watch, (const struct inotify_event *)(const void *)(buffer.bytes + at));
            at += (ssize_t)sizeof(event) + event.len;
        }
    }
    bool now = watch->changed;
    watch->changed = before || now;
    return now;
}

const char *os_watch_wait(struct os_watch *watch, int64_t quiet_ns, const volatile int *interrupted)
{
    struct assay_clock *clock = clock_monotonic();
    while (!watch->changed && !*interrupted)
        take_events(watch, SLICE_NS);
    /* A change rarely comes alone: an editor writes, renames, and writes again. */
    int64_t last = clock_now(clock);
    while (!*interrupted) {
        int64_t left = last + quiet_ns - clock_now(clock);
        if (left <= 0)
            return text_string(&watch->what);
        if (take_events(watch, left))
            last = clock_now(clock);
    }
    return NULL;
}
