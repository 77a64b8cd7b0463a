/* SPDX-License-Identifier: MIT */
#include "fake_catalog.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void reads_descriptions(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct catalog *catalog = fake_catalog(&error);
    assert_string_equal(error.text, "");
    assert_non_null(catalog);
    assert_int_equal(catalog_count(catalog), 2);
    const struct catalog_workload *copy = catalog_at(catalog, 0);
    assert_string_equal(copy->name, "copy");
    assert_string_equal(copy->version, "1");
    assert_false(copy->model);
    assert_string_equal(copy->options[2]->name, "bytes");
    assert_int_equal(copy->options[2]->max, INT64_C(1) << 40);
    assert_int_equal(copy->stage_count, 1);
    assert_string_equal(copy->stages[0].kind, "transfer");
    assert_int_equal(copy->extra_count, 1);
    assert_true(catalog_at(catalog, 1)->model);
    catalog_destroy(&catalog);
    assert_null(catalog);
    catalog_destroy(&catalog);
}

static void finds_by_name(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct catalog *catalog = fake_catalog(&error);
    assert_int_equal(catalog_find(catalog, "null", &error), 1);
    assert_int_equal(catalog_find(catalog, "cpoy", &error), -1);
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(
        error.text, "there is no workload 'cpoy'; did you mean 'copy'? There are copy and null");
    error = (struct assay_error){0};
    assert_int_equal(catalog_find(catalog, "gemm", &error), -1);
    assert_string_equal(error.text, "there is no workload 'gemm'; there are copy and null");
    catalog_destroy(&catalog);
}

static void collect(void *user, const struct metric_description *metric)
{
    struct text *text = user;
    text_addf(text, "%s[%s] ", metric->name, dimension_symbol(metric->dimension));
}

static void names_metrics_in_order(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct catalog *catalog = fake_catalog(&error);
    struct text text = {0};
    catalog_each_metric(catalog_at(catalog, 0), collect, &text);
    assert_string_equal(text_string(&text),
                        "time[s] submit_time[s] device_time[s] host_cpu_time[s] copy.time[s] "
                        "copy.rate[B/s] copy.flop_rate[flop/s] copy.item_rate[item/s] "
                        "copy.device_time[s] copy.device_rate[B/s] checks[item] ");
    text_free(&text);
    catalog_destroy(&catalog);
}

static void refuses(const char *json, const char *wanted)
{
    struct assay_error error = {0};
    json_t *description = json_read(json, strlen(json), "description", &error);
    assert_non_null(description);
    assert_null(catalog_create(description, &error));
    assert_string_equal(error.text, wanted);
    json_decref(description);
}

static void refuses_damaged_descriptions(void **state)
{
    (void)state;
    refuses("{}", "the workload descriptions are not a JSON array");
    refuses("[{\"version\":\"1\"}]", "a workload description has no name");
    refuses("[{\"name\":\"a\",\"options\":[],\"stages\":[{}]}]",
            "workload 'a': stage 0 has no name");
    refuses("[{\"name\":\"a\",\"options\":[],\"stages\":[],\"metrics\":[{}]}]",
            "workload 'a': metric 0 has no name");
}

static void reserves_names(void **state)
{
    (void)state;
    static const char *const wanted[] = {"p", "status", "device", "time", "bottleneck", "one"};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        bool found = false;
        for (size_t k = 0; catalog_reserved_names[k]; k++)
            found = found || strcmp(catalog_reserved_names[k], wanted[i]) == 0;
        assert_true(found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_descriptions),     cmocka_unit_test(finds_by_name),
        cmocka_unit_test(names_metrics_in_order), cmocka_unit_test(refuses_damaged_descriptions),
        cmocka_unit_test(reserves_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
