/* SPDX-License-Identifier: MIT */
/* A plugin that is written in C++ links and is taken like any other. */
#include "experiment/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

extern assay_plugin_entry assay_plugin_get;

static void it_is_taken(void **state)
{
    (void)state;
    struct assay_error error = {0};
    assay_plugin_entry *const plugins[] = {assay_plugin_get, NULL};
    struct registry *registry = registry_create(plugins, &error);
    assert_string_equal(error.text, "");
    assert_non_null(registry);
    const struct assay_workload *workload = registry_find(registry, "cpp");
    assert_non_null(workload);
    assert_true(workload_is_model(workload));
    assert_false(workload->check(registry_defaults(registry, workload), &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text, "this cannot be had");
    registry_destroy(&registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
