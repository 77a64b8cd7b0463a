/* SPDX-License-Identifier: MIT */
/* The directory of overlap's files: it is removed in the end, also when its process is killed, and
 * nothing is written that does not fit. */
#include "../../plugins/overlap/overlap.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char parent[64];

static void put_file(const struct scratch *scratch, const char *name)
{
    int fd = openat(scratch->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void what_is_in_it_goes_with_it(void **state)
{
    (void)state;
    struct scratch scratch;
    struct assay_error error = {0};
    assert_true(scratch_create(parent, &scratch, &error));
    assert_int_equal(strncmp(scratch.path, parent, strlen(parent)), 0);
    put_file(&scratch, "000000.records");
    put_file(&scratch, "not expected");
    char *path = strdup(scratch.path);
    scratch_destroy(&scratch);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(errno, ENOENT);
    free(path);
    scratch_destroy(&scratch); /* nothing is left to do */
}

/* As the supervisor does it: the whole group at once. */
static _Noreturn void make_and_die(int tell)
{
    struct scratch scratch;
    struct assay_error error = {0};
    setpgid(0, 0);
    if (!scratch_create(parent, &scratch, &error))
        _exit(1);
    int fd = openat(scratch.fd, "000000.records", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    size_t length = strlen(scratch.path) + 1;
    if (fd < 0 || write(tell, scratch.path, length) != (ssize_t)length)
        _exit(1);
    kill(0, SIGKILL);
    _exit(1);
}

static void a_killed_process_leaves_nothing(void **state)
{
    (void)state;
    int ends[2], status;
    char path[256] = "";
    const struct timespec pause = {.tv_nsec = 10000000};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        make_and_die(ends[1]);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(read(ends[0], path, sizeof(path) - 1) > 0);
    close(ends[0]);
    bool there = true;
    for (int i = 0; there && i < 6000; i++) {
        nanosleep(&pause, NULL);
        there = access(path, F_OK) == 0;
    }
    assert_false(there);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct scratch scratch;
    struct assay_error error = {0};
    assert_true(scratch_create(parent, &scratch, &error));
    assert_true(scratch_holds(&scratch, 1, 4, &error));
    static const uint64_t counts[] = {1, 1000000}, bytes[] = {UINT64_MAX, UINT64_C(1) << 53};
    for (int i = 0; i < 2; i++) {
        error = (struct assay_error){0};
        assert_false(scratch_holds(&scratch, counts[i], bytes[i], &error));
        assert_int_equal(error.status, ASSAY_UNSUPPORTED);
        assert_non_null(strstr(error.text, " B are too much for the file system of "));
    }
    scratch_destroy(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_it_goes_with_it),
        cmocka_unit_test(a_killed_process_leaves_nothing),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    snprintf(parent, sizeof(parent), "/tmp/assay-test-XXXXXX");
    if (!mkdtemp(parent))
        return 1;
    int status = cmocka_run_group_tests_name("overlap_scratch", tests, NULL, NULL);
    rmdir(parent);
    return status;
}
