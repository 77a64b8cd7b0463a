/* SPDX-License-Identifier: MIT */
/* A built-in workload on the device of the tests: its cases are measured as a worker does it. */
#ifndef TESTS_BUILTIN_FIXTURE_H
#define TESTS_BUILTIN_FIXTURE_H

#include "vulkan_fixture.h"

#include "../workload_fixture.h"
#include "measure/measure.h"

struct builtin_fixture {
    struct fixture vulkan;
    struct workload_fixture workload;
    struct assay_device *device;
    const char *name;
};
static struct builtin_fixture builtin;

/* One case, sampled as little as can be. `directory` (or NULL) comes before the shaders' own.
 * Settings as for workload_params. */
static inline bool builtin_measure(const char *const *settings, const char *directory,
                                   struct measure_result *result, struct assay_error *error)
{
    *result = (struct measure_result){0};
    void *params = workload_params(&builtin.workload, settings, error);
    if (!params)
        return false;
    const char *const directories[] = {directory, getenv("ASSAY_SHADER_DIR"), NULL};
    struct shader_search search = {.directories = directory ? directories : directories + 1};
    struct measure_request request = {.workload = builtin.workload.workload,
                                      .params = params,
                                      .device = builtin.device,
                                      .search = &search,
                                      .seed = 42,
                                      .budget = {.budget_ns = 1, .warmup_ns = 1}};
    return measure_case(&request, result, error);
}

static inline int builtin_set_up(void **state)
{
    (void)state;
    struct assay_error error = {0};
    fixture_assert_ok(workload_open(&builtin.workload, builtin.name, &error), &error);
    builtin.device = fixture_device(&builtin.vulkan, 1);
    return 0;
}

static inline int builtin_tear_down(void **state)
{
    (void)state;
    device_destroy(&builtin.device);
    workload_close(&builtin.workload);
    return 0;
}

/* The exit status. set_up: builtin_set_up, or what calls it. */
#define builtin_run(workload_name, tests, set_up)                                                  \
    (builtin.name = (workload_name), fixture_run(&builtin.vulkan, tests, set_up, builtin_tear_down))

#endif
