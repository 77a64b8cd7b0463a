/* SPDX-License-Identifier: MIT */
/* An instance with the validation layers on, and a device set on the best device there is (or
 * $ASSAY_TEST_DEVICE). A message of the layers fails the test that caused it. $ASSAY_TEST_REQUIRE
 * lists, with commas, what may not be skipped for want of it: "device", and features by the names
 * that `assay devices --json` has. */
#ifndef TESTS_VULKAN_FIXTURE_H
#define TESTS_VULKAN_FIXTURE_H

#include "vulkan/device.h"
#include "vulkan/selector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SKIPPED 77

struct fixture {
    struct vulkan_instance *instance;
    size_t index; /* of the device chosen */
};

static inline bool fixture_requires(const char *what)
{
    const char *list = getenv("ASSAY_TEST_REQUIRE");
    const size_t length = strlen(what);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, what, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* Ends the test: skipped for want of a feature, or failed where that is required. */
static inline void fixture_skip(const char *feature, const char *why_not)
{
    print_message("no %s: %s\n", feature, why_not);
    if (fixture_requires(feature))
        fail_msg("%s is required", feature);
    skip();
}

/* 0, or the exit status to end with: SKIPPED without a device or without the layer, 1 for the rest;
 * the reason is on stdout. */
static inline int fixture_open(struct fixture *fixture)
{
    struct assay_error error = {0};
    const struct vulkan_instance_params params = {.validate = true};
    fixture->instance = vulkan_instance_create(&params, &error);
    json_t *inventory = fixture->instance ? vulkan_inventory(fixture->instance) : NULL;
    const bool ok = inventory &&
                    vulkan_select(inventory, getenv("ASSAY_TEST_DEVICE"), &fixture->index, &error);
    json_decref(inventory);
    if (ok)
        return 0;
    const bool absent = error.status == ASSAY_NO_DEVICE || error.status == ASSAY_INVALID;
    const bool skipped = absent && !fixture_requires("device");
    printf("%s: %s\n", skipped ? "skipped" : "failed", error.text);
    vulkan_instance_destroy(&fixture->instance);
    return skipped ? SKIPPED : 1;
}

static inline void fixture_assert_quiet(struct fixture *fixture)
{
    struct text messages = {0};
    const size_t count = vulkan_instance_take_messages(fixture->instance, &messages);
    if (count > 0)
        print_error("%s", text_string(&messages));
    text_free(&messages);
    assert_int_equal(count, 0);
}

static inline void fixture_assert_ok(bool ok, const struct assay_error *error)
{
    if (!ok)
        print_error("%s\n", error->text);
    assert_true(ok);
}

/* A set of `members` logical devices on the one device. */
static inline struct assay_device *fixture_device(struct fixture *fixture, unsigned members)
{
    struct assay_error error = {0};
    size_t physical[VULKAN_MEMBERS_MAX];
    for (unsigned i = 0; i < VULKAN_MEMBERS_MAX; i++)
        physical[i] = fixture->index;
    const struct vulkan_device_params params = {.physical = physical, .member_count = members};
    struct assay_device *device = device_create(fixture->instance, &params, &error);
    fixture_assert_ok(device != NULL, &error);
    return device;
}

/* The exit status of a group of tests, which begins with fixture_open and ends the instance. */
#define fixture_run(fixture, tests, set_up, tear_down)                                             \
    fixture_run_tests(fixture, tests, sizeof(tests) / sizeof((tests)[0]), set_up, tear_down)
static inline int fixture_run_tests(struct fixture *fixture, const struct CMUnitTest *tests,
                                    size_t count, CMFixtureFunction set_up,
                                    CMFixtureFunction tear_down)
{
    const int unable = fixture_open(fixture);
    if (unable)
        return unable;
    const int failed = _cmocka_run_group_tests("tests", tests, count, set_up, tear_down);
    vulkan_instance_destroy(&fixture->instance);
    return failed ? 1 : 0;
}

#endif
