/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RETRY_NS INT64_C(20000000)

/* The file may have been removed between opening and locking it: the next one would lock another.
 */
static bool is_there(int fd, const char *path)
{
    struct stat ours, theirs;
    return fstat(fd, &ours) == 0 && stat(path, &theirs) == 0 && ours.st_ino == theirs.st_ino &&
           ours.st_dev == theirs.st_dev;
}

int os_lock_take(const char *path, int64_t limit_ns, struct assay_error *error)
{
    struct assay_clock *clock = clock_monotonic();
    int64_t end_ns = clock_now(clock) + limit_ns;
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK,
                      0666);
        if (fd < 0) {
            error_fail_errno(error, "cannot open %s", path);
            return -1;
        }
        bool taken = flock(fd, LOCK_EX | LOCK_NB) == 0;
        int reason = errno;
        if (taken && is_there(fd, path))
            return fd;
        close(fd);
        if (!taken && reason != EWOULDBLOCK && reason != EINTR) {
            errno = reason;
            error_fail_errno(error, "cannot lock %s", path);
            return -1;
        }
        if (clock_now(clock) >= end_ns) {
            assay_fail(error, ASSAY_TIMEOUT, "another process holds %s", path);
            return -1;
        }
        if (!taken)
            clock->sleep_until_ns(clock, clock_now(clock) + RETRY_NS);
    }
}
