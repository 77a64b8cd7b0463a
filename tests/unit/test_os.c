/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/os.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG_NS INT64_C(30000000000)

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/assay-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : -1;
}

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void files(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct text text = {0};
    const char *path = in_folder("file");
    assert_true(os_file_write_atomic(path, "first", 5, &error));
    assert_true(os_file_write_atomic(path, "a\0b", 3, &error));
    assert_true(os_file_read(path, 3, &text, &error));
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.data, "a\0b", 4);
    text_clear(&text);
    assert_false(os_file_read(path, 2, &text, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_non_null(strstr(error.text, "is larger than the 2 bytes allowed"));
    text_clear(&text);
    assert_true(os_is_file(path) && !os_is_directory(path) && os_is_directory(folder));
    error = (struct assay_error){0};
    assert_true(os_file_write_atomic(path, "", 0, &error));
    assert_true(os_file_read(path, 10, &text, &error));
    assert_non_null(text.data);
    assert_int_equal(text.length, 0);
    text_free(&text);
    char command[600];
    snprintf(command, sizeof command, "test \"$(ls -A '%s')\" = file", folder);
    assert_int_equal(system(command), 0); /* nothing is left beside it */
}

static void bad_files(void **state)
{
    (void)state;
    struct text text = {0};
    struct assay_error error = {0};
    assert_false(os_file_read("/nonexistent/x.lua", 10, &text, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text, "cannot read /nonexistent/x.lua: No such file or directory");
    error = (struct assay_error){0};
    assert_false(os_file_read("/tmp", 10, &text, &error));
    assert_string_equal(error.text, "/tmp is a directory, but a file is wanted");
    error = (struct assay_error){0};
    assert_false(os_file_read("/dev/zero", 10, &text, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text,
                        "/dev/zero is a pipe or a device, but a regular file is wanted");
    error = (struct assay_error){0};
    const char *pipe = in_folder("pipe"); /* without a writer: no wait for one */
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_false(os_file_read(pipe, 10, &text, &error));
    assert_non_null(strstr(error.text, "is a pipe or a device"));
    assert_int_equal(unlink(pipe), 0);
    error = (struct assay_error){0};
    assert_false(os_file_write_atomic("/dev/full", "x", 1, &error));
    assert_int_equal(error.status, ASSAY_SYSTEM);
    assert_string_equal(error.text, "cannot write /dev/full: No space left on device");
    error = (struct assay_error){0};
    assert_false(os_file_write_atomic("/nonexistent/x", "x", 1, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    text_free(&text);
}

static void directories(void **state)
{
    (void)state;
    struct assay_error error = {0};
    assert_true(os_make_directories(in_folder("a/b//c/"), &error));
    assert_true(os_is_directory(in_folder("a/b/c")));
    assert_true(os_make_directories(in_folder("a/b/c"), &error));
    assert_true(os_file_write_atomic(in_folder("plain"), "x", 1, &error));
    assert_false(os_make_directories(in_folder("plain/x"), &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_non_null(strstr(error.text, "cannot make directory "));
    assert_non_null(strstr(error.text, "plain: Not a directory"));
    assert_false(os_make_directories("", NULL));
}

static void temporary(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct text made = {0};
    static const char deep[] = "a-place-with-a-long-name/whose-path-has-more-than-64-characters";
    assert_true(os_make_directories(in_folder(deep), &error));
    assert_int_equal(setenv("TMPDIR", in_folder(deep), 1), 0);
    assert_true(os_make_temporary(&made, &error));
    assert_int_equal(strncmp(text_string(&made), in_folder(deep), strlen(in_folder(deep))), 0);
    assert_true(os_is_directory(text_string(&made)));
    text_free(&made);
    assert_int_equal(setenv("TMPDIR", "/nonexistent", 1), 0);
    assert_false(os_make_temporary(&made, &error));
    assert_string_equal(error.text, "cannot make a temporary directory in /nonexistent: No such "
                                    "file or directory");
    assert_int_equal(made.length, 0);
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

static void path_is(void (*part)(struct text *, const char *), const char *path, const char *wanted)
{
    struct text text = {0};
    part(&text, path);
    assert_string_equal(text_string(&text), wanted);
    text_free(&text);
}

static void joined_is(const char *directory, const char *name, const char *wanted)
{
    struct text text = {0};
    os_path_join(&text, directory, name);
    assert_string_equal(text_string(&text), wanted);
    text_free(&text);
}

static void paths(void **state)
{
    (void)state;
    path_is(os_path_directory, "a/b.lua", "a");
    path_is(os_path_directory, "b.lua", ".");
    path_is(os_path_directory, "/b.lua", "/");
    path_is(os_path_directory, "/", "/");
    path_is(os_path_directory, "a//b/", "a");
    path_is(os_path_directory, "", ".");
    path_is(os_path_stem, "a/b.lua", "b");
    path_is(os_path_stem, "a.tar.gz", "a.tar");
    path_is(os_path_stem, "dir.d/.hidden", ".hidden");
    path_is(os_path_stem, "a/b/", "b");
    joined_is("a", "b", "a/b");
    joined_is("a/", "b", "a/b");
    joined_is("a", "/b", "/b");
    joined_is("", "b", "b");
}

static void places(void **state)
{
    (void)state;
    struct text text = {0};
    setenv("XDG_CACHE_HOME", "/x", 1);
    assert_true(os_cache_directory(&text));
    assert_string_equal(text_string(&text), "/x/assay");
    text_clear(&text);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/h", 1);
    assert_true(os_cache_directory(&text));
    assert_string_equal(text_string(&text), "/h/.cache/assay");
    text_clear(&text);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(os_cache_directory(&text));
    struct assay_error error = {0};
    assert_true(os_executable_path(&text, &error));
    assert_non_null(strstr(text_string(&text), "test_os"));
    text_clear(&text);
    setenv("ASSAY_SHADER_DIR", "/tmp", 1);
    assert_true(os_shader_directory(&text, &error));
    assert_string_equal(text_string(&text), "/tmp");
    setenv("ASSAY_SHADER_DIR", "/nonexistent", 1);
    assert_false(os_shader_directory(&text, &error));
    assert_string_equal(error.text, "ASSAY_SHADER_DIR=/nonexistent is no directory");
    text_free(&text);
}

static struct os_process *shell(const char *script, int log_fd)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct os_process_params params = {.argv = argv, .log_fd = log_fd};
    struct assay_error error = {0};
    struct os_process *process = os_process_start(&params, &error);
    if (!process)
        fail_msg("%s", error.text);
    return process;
}

static void ended_as(const char *script, const char *wanted)
{
    struct os_process *process = shell(script, -1);
    const char *how = NULL;
    assert_true(os_process_wait(process, LONG_NS, &how));
    assert_string_equal(how, wanted);
    assert_true(os_process_wait(process, 0, &how)); /* and again */
    os_process_destroy(&process);
    assert_null(process);
}

static void endings(void **state)
{
    (void)state;
    ended_as("exit 3", "exited with status 3");
    ended_as("exit 0", "exited with status 0");
    ended_as("kill -SEGV $$", "was killed by signal 11 (Segmentation fault)");
    /* stdin is /dev/null: cat ends at once. */
    ended_as("cat", "exited with status 0");
}

static void talks(void **state)
{
    (void)state;
    int log_fd = open(in_folder("log"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct os_process *process = shell("read x <&3; echo got $x >&4; echo out; echo err >&2; ls "
                                       "/proc/self/fd | wc -l",
                                       log_fd);
    assert_true(os_write_all(os_process_input(process), "hello\n", 6));
    char answer[32] = {0};
    assert_int_equal(read(os_process_output(process), answer, sizeof answer - 1), 10);
    assert_string_equal(answer, "got hello\n");
    assert_true(os_process_wait(process, LONG_NS, NULL));
    os_process_destroy(&process);
    char log[64] = {0};
    assert_true(pread(log_fd, log, sizeof log - 1, 0) > 0);
    /* 0 to 4 and the directory that ls reads: nothing else was inherited. */
    assert_string_equal(log, "out\nerr\n6\n");
    close(log_fd);
}

/* The descriptors of the pipes themselves are in the way of 0 to 4. */
static void low_descriptors(void **state)
{
    (void)state;
    int kept[5];
    for (int i = 0; i < 5; i++)
        kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 20);
    for (int i = 0; i < 5; i++)
        close(i);
    struct os_process *process = shell("read x <&3; echo got $x >&4", -1);
    bool written = os_write_all(os_process_input(process), "low\n", 4);
    char answer[32] = {0};
    ssize_t got = read(os_process_output(process), answer, sizeof answer - 1);
    os_process_destroy(&process);
    for (int i = 0; i < 5; i++)
        if (kept[i] >= 0) {
            dup2(kept[i], i);
            close(kept[i]);
        }
    assert_true(written);
    assert_int_equal(got, 8);
    assert_string_equal(answer, "got low\n");
}

static void limits_and_kills(void **state)
{
    (void)state;
    struct os_process *process = shell("exec sleep 1000", -1);
    pid_t pid = os_process_id(process);
    const char *how = NULL;
    assert_false(os_process_wait(process, 1000000, &how));
    os_process_kill(process);
    assert_true(os_process_wait(process, LONG_NS, &how));
    assert_string_equal(how, "was killed by signal 9 (Killed)");
    os_process_destroy(&process);
    process = shell("exec sleep 1000", -1);
    pid = os_process_id(process);
    os_process_destroy(&process); /* kills and reaps */
    assert_int_equal(kill(pid, 0), -1);
    os_process_destroy(&process);
}

static void not_startable(void **state)
{
    (void)state;
    const char *const argv[] = {"/nonexistent/assay", NULL};
    struct os_process_params params = {.argv = argv, .log_fd = -1};
    struct assay_error error = {0};
    assert_null(os_process_start(&params, &error));
    assert_int_equal(error.status, ASSAY_SYSTEM);
    assert_string_equal(error.text, "cannot start /nonexistent/assay: No such file or directory");
}

/* A child outlives nobody: the middle process starts a sleeper, tells its id and is killed. */
static void dies_with_its_parent(void **state)
{
    (void)state;
    int tell[2];
    assert_int_equal(pipe(tell), 0);
    pid_t middle = fork();
    assert_true(middle >= 0);
    if (middle == 0) {
        struct os_process *process = shell("exec sleep 1000", -1);
        pid_t sleeper = os_process_id(process);
        if (write(tell[1], &sleeper, sizeof sleeper) != (ssize_t)sizeof sleeper)
            _exit(1);
        pause();
        _exit(0);
    }
    pid_t sleeper = 0;
    assert_int_equal(read(tell[0], &sleeper, sizeof sleeper), sizeof sleeper);
    assert_int_equal(kill(sleeper, 0), 0);
    kill(middle, SIGKILL);
    char path[64], line[256] = {0};
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)sleeper);
    bool gone = false;
    for (int i = 0; i < 10000 && !gone; i++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        gone = fd < 0 || read(fd, line, sizeof line - 1) <= 0 || strstr(line, ") Z ") != NULL;
        if (fd >= 0)
            close(fd);
        usleep(1000);
    }
    assert_true(gone);
    close(tell[0]);
    close(tell[1]);
}

static void clocks(void **state)
{
    (void)state;
    struct clock_simulated simulated;
    clock_simulated_init(&simulated);
    assert_true(simulated.clock.simulated);
    assert_int_equal(clock_now(&simulated.clock), 0);
    simulated.clock.sleep_until_ns(&simulated.clock, 500);
    simulated.clock.sleep_until_ns(&simulated.clock, 200); /* time never goes back */
    assert_int_equal(clock_now(&simulated.clock), 500);
    struct assay_clock *real = clock_monotonic();
    assert_false(real->simulated);
    int64_t start = clock_now(real);
    real->sleep_until_ns(real, start + 1000000);
    assert_true(clock_now(real) >= start + 1000000);
    assert_true(clock_process_cpu_ns() > 0);
}

static void programs(void **state)
{
    (void)state;
    struct text path = {0}, out = {0};
    struct assay_error error = {0};
    const char *before = getenv("PATH");
    char *kept = before ? strdup(before) : NULL;
    int fd = open(in_folder("tool"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644); /* no program yet */
    assert_true(fd >= 0 && close(fd) == 0);
    text_addf(&out, "/nonexistent:%s:/bin", folder);
    setenv("PATH", text_string(&out), 1);
    text_clear(&out);
    assert_false(os_program_find("tool", &path));
    assert_int_equal(chmod(in_folder("tool"), 0755), 0);
    assert_true(os_program_find("tool", &path));
    assert_true(os_program_find("sh", &path));
    assert_string_equal(text_string(&path), "/bin/sh");
    if (kept)
        setenv("PATH", kept, 1);
    free(kept);
    text_add(&out, "<");
    const char *const upper[] = {"/bin/sh", "-c", "tr a-z A-Z; echo told >&2", NULL};
    assert_true(os_program_run(upper, "a b\n", 4, LONG_NS, &out, &error));
    assert_string_equal(text_string(&out), "<A B\ntold\n");
    const char *const fails[] = {"/bin/sh", "-c", "echo why not; exit 3", NULL};
    assert_false(os_program_run(fails, NULL, 0, LONG_NS, &out, &error));
    assert_string_equal(error.text, "/bin/sh exited with status 3: why not");
    error = (struct assay_error){0};
    const char *const hangs[] = {"/bin/sh", "-c", "sleep 100", NULL};
    assert_false(os_program_run(hangs, NULL, 0, 10000000, &out, &error));
    assert_string_equal(error.text, "/bin/sh did not end in time");
    error = (struct assay_error){0};
    const char *const absent[] = {"/nonexistent/program", NULL};
    assert_false(os_program_run(absent, NULL, 0, LONG_NS, &out, &error));
    assert_string_equal(error.text, "cannot start /nonexistent/program: No such file or directory");
    assert_string_equal(text_string(&out), "<A B\ntold\n");
    text_free(&path);
    text_free(&out);
}

static void memory_left(void **state)
{
    (void)state;
    uint64_t left = os_memory_available();
    uint64_t total = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(left > 0 && left <= total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(bad_files, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(directories, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(temporary, make_folder, drop_folder),
        cmocka_unit_test(paths),
        cmocka_unit_test(endings),
        cmocka_unit_test_setup_teardown(talks, make_folder, drop_folder),
        cmocka_unit_test(low_descriptors),
        cmocka_unit_test(limits_and_kills),
        cmocka_unit_test(not_startable),
        cmocka_unit_test(dies_with_its_parent),
        cmocka_unit_test(clocks),
        cmocka_unit_test_setup_teardown(programs, make_folder, drop_folder),
        cmocka_unit_test(memory_left),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
