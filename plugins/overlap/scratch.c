/* SPDX-License-Identifier: MIT */
/* A directory that goes with the process that made it, however that one ends: a shell waits for the
 * end of a pipe that only this process holds, and removes the directory then. It is in a session of
 * its own, since who kills this process may kill its whole group. */
#include "overlap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* What this process has open, the keeper has not: who waits for the end of one of those would wait
 * for it too. */
static int set_up_keeper(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                         int reads)
{
    sigset_t none;
    sigemptyset(&none);
    int number = posix_spawn_file_actions_adddup2(actions, reads, 0);
    for (int fd = 1; number == 0 && fd <= 2; fd++)
        number = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_WRONLY, 0);
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 34)
    if (number == 0)
        number = posix_spawn_file_actions_addclosefrom_np(actions, 3);
#endif
#endif
    if (number == 0)
        number = posix_spawnattr_setsigmask(attributes, &none);
    return number
               ? number
               : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
}

static int spawn_keeper(struct scratch *scratch, int reads)
{
    const char *const command[] = {"sh", "-c",          "read -r end; rm -rf -- \"$1\"",
                                   "sh", scratch->path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int number = posix_spawn_file_actions_init(&actions);
    if (number)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (number == 0) {
        number = set_up_keeper(&actions, &attributes, reads);
        if (number == 0)
            number = posix_spawn(&scratch->keeper, "/bin/sh", &actions, &attributes,
                                 (char *const *)(uintptr_t)command, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

static bool start_keeper(struct scratch *scratch, struct assay_error *error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return assay_fail(error, ASSAY_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    int number = spawn_keeper(scratch, ends[0]);
    close(ends[0]);
    scratch->pipe = ends[1];
    if (number == 0)
        return true;
    scratch->keeper = 0;
    return assay_fail(error, ASSAY_SYSTEM, "cannot start /bin/sh, which removes %s in the end: %s",
                      scratch->path, strerror(number));
}

bool scratch_create(const char *in, struct scratch *scratch, struct assay_error *error)
{
    const char *temporary = getenv("TMPDIR");
    *scratch = (struct scratch){.fd = -1, .pipe = -1};
    if (!*in)
        in = temporary && *temporary ? temporary : "/tmp";
    if (asprintf(&scratch->path, "%s/assay-overlap-XXXXXX", in) < 0) {
        scratch->path = NULL;
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
    }
    if (!mkdtemp(scratch->path)) {
        int number = errno;
        free(scratch->path);
        scratch->path = NULL;
        return assay_fail(error, ASSAY_SYSTEM,
                          "directory: cannot make one for the records in %s: %s", in,
                          strerror(number));
    }
    if (!start_keeper(scratch, error))
        return false;
    scratch->fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return scratch->fd >= 0 || assay_fail(error, ASSAY_SYSTEM, "directory: cannot open %s: %s",
                                          scratch->path, strerror(errno));
}

void scratch_destroy(struct scratch *scratch)
{
    close_one(&scratch->fd);
    close_one(&scratch->pipe);
    if (scratch->keeper > 0)
        while (waitpid(scratch->keeper, NULL, 0) < 0 && errno == EINTR)
            continue;
    else if (scratch->path)
        rmdir(scratch->path);
    free(scratch->path);
    *scratch = (struct scratch){.fd = -1, .pipe = -1};
}

bool scratch_holds(const struct scratch *scratch, uint64_t count, uint64_t bytes,
                   struct assay_error *error)
{
    struct statvfs system;
    if (fstatvfs(scratch->fd, &system) != 0)
        return assay_fail(error, ASSAY_SYSTEM, "directory: cannot ask how much is free in %s: %s",
                          scratch->path, strerror(errno));
    if (system.f_blocks == 0 || system.f_frsize == 0)
        return true; /* it does not tell */
    uint64_t block = system.f_frsize, blocks = bytes / block + (bytes % block != 0);
    if (blocks <= system.f_bavail / count)
        return true;
    return assay_fail(error, ASSAY_UNSUPPORTED,
                      "file_bytes: %" PRIu64 " files of %" PRIu64
                      " B are too much for the file system of %s, which has %" PRIu64
                      " B free; give less, or a directory on another one",
                      count, bytes, scratch->path, (uint64_t)system.f_bavail * block);
}
