/* SPDX-License-Identifier: MIT */
/* Changes of files, in all the ways that editors make them. */
#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define QUIET_NS INT64_C(1000000)

static char folder[64], before[4096];

static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/assay-test-XXXXXX");
    return getcwd(before, sizeof(before)) && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return chdir(before) == 0 && system(command) == 0 ? 0 : -1;
}

static void put(const char *path, const char *contents)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(contents, file);
    assert_int_equal(fclose(file), 0);
}

/* The path that changed; NULL when none did. */
static const char *changed(struct os_watch *watch)
{
    static const volatile int go_on = 0;
    return os_watch_wait(watch, QUIET_NS, &go_on);
}

static void add(struct os_watch *watch, const char *path)
{
    struct assay_error error = {0};
    if (!os_watch_add(watch, path, &error))
        fail_msg("%s", error.text);
}

static void edits(void **state)
{
    (void)state;
    struct assay_error error = {0};
    put("script", "1");
    put("module", "1");
    usleep(20000); /* the clock of file times is coarse */
    struct os_watch *watch = os_watch_create(&error);
    assert_non_null(watch);
    add(watch, "script");
    add(watch, "module");
    add(watch, "script");
    add(watch, "absent");
    assert_int_equal(os_watch_count(watch), 2);
    static const struct {
        const char *from, *to; /* to NULL: `from` is removed; from NULL: `to` is written */
        const char *wanted;
    } rows[] = {
        {NULL, "script", "script"},   {NULL, "new", NULL},          {"new", "module", "module"},
        {"script", "away", "script"}, {"away", "script", "script"}, {"module", NULL, "module"},
        {NULL, "absent", "absent"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        os_watch_begin(watch);
        if (!rows[i].from)
            put(rows[i].to, "2");
        else if (!rows[i].to)
            assert_int_equal(unlink(rows[i].from), 0);
        else
            assert_int_equal(rename(rows[i].from, rows[i].to), 0);
        if (rows[i].wanted)
            assert_string_equal(changed(watch), rows[i].wanted);
    }
    assert_int_equal(os_watch_count(watch), 2);
    os_watch_destroy(&watch);
}

/* Writes that do not come at once: the first is what is told. */
static void a_burst(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct os_watch *watch = os_watch_create(&error);
    assert_non_null(watch);
    put("one", "1");
    add(watch, "one"); /* noted here: it is new */
    put("one", "2");
    assert_string_equal(changed(watch), "one");
    os_watch_destroy(&watch);
}

/* A file that changes after the begin and is named later; one whose folder is not there yet; what a
 * link leads to. */
static void later(void **state)
{
    (void)state;
    struct assay_error error = {0};
    assert_int_equal(mkdir("real", 0777), 0);
    put("real/file", "1");
    usleep(20000);
    struct os_watch *watch = os_watch_create(&error);
    put("late", "1");
    add(watch, "late");
    assert_string_equal(changed(watch), "late");
    assert_int_equal(symlink("real/file", "link"), 0);
    os_watch_begin(watch);
    add(watch, "link");
    add(watch, "sub/deep/file");
    put("real/file", "2");
    assert_string_equal(changed(watch), "link");
    os_watch_begin(watch);
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_string_equal(changed(watch), "sub/deep/file");
    os_watch_begin(watch);
    add(watch, "sub/deep/file");
    assert_int_equal(mkdir("sub/deep", 0777), 0);
    assert_string_equal(changed(watch), "sub/deep/file");
    /* Its folder goes, and with it the watch; added again it is told of again. */
    os_watch_begin(watch);
    add(watch, "sub/deep/file");
    assert_int_equal(rmdir("sub/deep"), 0);
    assert_string_equal(changed(watch), "sub/deep/file");
    os_watch_begin(watch);
    assert_int_equal(mkdir("sub/deep", 0777), 0);
    add(watch, "sub/deep/file");
    put("sub/deep/file", "1");
    assert_string_equal(changed(watch), "sub/deep/file");
    os_watch_destroy(&watch);
}

static void interrupted(void **state)
{
    (void)state;
    struct assay_error error = {0};
    static const volatile int stop = 2;
    struct os_watch *watch = os_watch_create(&error);
    add(watch, "absent");
    assert_null(os_watch_wait(watch, QUIET_NS, &stop));
    put("absent", "1");
    assert_null(os_watch_wait(watch, QUIET_NS, &stop));
    assert_string_equal(changed(watch), "absent");
    os_watch_destroy(&watch);
    os_watch_destroy(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(edits, enter, leave),
        cmocka_unit_test_setup_teardown(a_burst, enter, leave),
        cmocka_unit_test_setup_teardown(later, enter, leave),
        cmocka_unit_test_setup_teardown(interrupted, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
