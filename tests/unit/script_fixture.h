/* SPDX-License-Identifier: MIT */
/* Scripts written to files of a directory of their own, loaded with the fake catalog. */
#ifndef TESTS_SCRIPT_FIXTURE_H
#define TESTS_SCRIPT_FIXTURE_H

#include "base/os.h"
#include "fake_catalog.h"
#include "script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct catalog *catalog;
    struct script_params params;
    struct script *script;
    struct assay_error error;
    char directory[64], before[4096];
};

/* Takes the reference. */
static inline struct lazy *lazy_of(json_t *record)
{
    struct lazy *lazy = lazy_create_tree(record, NULL);
    assert_non_null(lazy);
    json_decref(record);
    return lazy;
}

static int fixture_set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/assay-test-XXXXXX");
    if (!fixture || !mkdtemp(fixture->directory) ||
        !getcwd(fixture->before, sizeof(fixture->before)) || chdir(fixture->directory) != 0)
        return -1;
    fixture->catalog = fake_catalog(&fixture->error);
    fixture->params = (struct script_params){
        .path = "t.lua", .catalog = fixture->catalog, .seed = 1};
    *state = fixture;
    return fixture->catalog ? 0 : -1;
}

static int fixture_tear_down(void **state)
{
    struct fixture *fixture = *state;
    char command[128];
    script_destroy(&fixture->script);
    catalog_destroy(&fixture->catalog);
    int left = chdir(fixture->before);
    snprintf(command, sizeof(command), "rm -rf %s", fixture->directory);
    int removed = system(command);
    free(fixture);
    return left == 0 && removed == 0 ? 0 : -1;
}

static void write_file(const char *name, const char *source)
{
    struct assay_error error = {0};
    if (!os_file_write_atomic(name, source, strlen(source), &error))
        fail_msg("%s", error.text);
}

/* Loads the source as t.lua; returns the error's text, "" when it went well. */
static const char *load(struct fixture *fixture, const char *source)
{
    script_destroy(&fixture->script);
    fixture->error = (struct assay_error){0};
    write_file("t.lua", source);
    fixture->script = script_load(&fixture->params, &fixture->error);
    return fixture->error.text;
}

/* An experiment's call with these fields, on line 2. */
static const char *load_experiment(struct fixture *fixture, const char *fields)
{
    char source[4096];
    snprintf(source, sizeof(source),
             "local assay = require \"assay\"\nassay.experiment { name = \"e\", %s }\n", fields);
    return load(fixture, source);
}

#define SCRIPT_TEST(function)                                                                      \
    cmocka_unit_test_setup_teardown(function, fixture_set_up, fixture_tear_down)

#endif
