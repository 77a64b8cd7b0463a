/* SPDX-License-Identifier: MIT */
/* `submit`: each dispatch on its own or all at once, the same words; and the order of its times,
 * which holds in every sample. */
#include "builtin_fixture.h"

#include "../metrics_json.h"
#include "base/json.h"

struct point {
    const char *wait, *dispatches, *invocations, *steps;
};

static bool measure(const struct point *point, struct measure_result *result,
                    struct assay_error *error)
{
    const char *const settings[] = {
        "wait",  point->wait,  "dispatches", point->dispatches, "invocations", point->invocations,
        "steps", point->steps, NULL};
    return builtin_measure(settings, NULL, result, error);
}

static json_t *parse(const struct text *text)
{
    struct assay_error error = {0};
    json_t *json = json_read(text->data, text->length, "text", &error);
    assert_non_null(json);
    return json;
}

static void assert_order(const struct measure_result *result)
{
    json_t *series = parse(&result->samples), *time;
    const json_t *submits = json_object_get(series, "submit_time");
    const json_t *stage = json_object_get(series, "compute.time");
    const json_t *devices = json_object_get(series, "device_time");
    size_t i;
    json_array_foreach(json_object_get(series, "time"), i, time)
    {
        int64_t end_to_end = json_integer_value(time);
        int64_t whole = json_integer_value(json_array_get(stage, i));
        assert_true(whole <= end_to_end);
        assert_true(json_integer_value(json_array_get(submits, i)) <= whole);
        if (devices)
            assert_true(json_integer_value(json_array_get(devices, i)) <= whole);
    }
    assert_true(i >= 6);
    json_decref(series);
}

static void run_point(const struct point *point)
{
    struct measure_result result;
    struct assay_error error = {0};
    fixture_assert_ok(measure(point, &result, &error), &error);
    int64_t dispatches = strtoll(point->dispatches, NULL, 10);
    bool each = strcmp(point->wait, "each") == 0;
    json_t *verification = parse(&result.verification);
    assert_string_equal(json_text(verification, "verdict", ""), "right");
    assert_int_equal(json_whole(verification, "checked_bytes", -1),
                     4 * dispatches * strtoll(point->invocations, NULL, 10));
    json_decref(verification);
    json_t *stages = parse(&result.stages);
    const json_t *stage = json_array_get(stages, 0);
    assert_string_equal(json_text(stage, "clock", ""), "host");
    assert_int_equal(json_whole(json_object_get(stage, "cost"), "items", -1), dispatches);
    if (each && dispatches > 1)
        assert_int_equal(json_whole(stage, "repeats", -1), 1);
    json_decref(stages);
    json_t *metrics = metrics_json(result.metrics);
    struct metric submissions;
    metric_from_json(metrics, "submissions", &submissions);
    assert_true(submissions.value == (each ? (double)dispatches : 1));
    json_decref(metrics);
    assert_order(&result);
    measure_result_free(&result);
    fixture_assert_quiet(&builtin.vulkan);
}

static void each_and_batch(void **state)
{
    (void)state;
    static const struct point points[] = {
        {"each", "1", "64", "100"},  {"batch", "1", "64", "100"}, {"each", "7", "1", "0"},
        {"batch", "7", "1", "0"},    {"each", "70", "100", "33"}, {"batch", "70", "100", "33"},
        {"batch", "300", "65", "1"}, {"each", "2", "70000", "5"}, {"batch", "2", "70000", "5"},
    };
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
        run_point(&points[i]);
}

static void too_many_words_are_refused(void **state)
{
    (void)state;
    struct measure_result result;
    struct assay_error error = {0};
    const struct point point = {"batch", "65", "1048576", "1"};
    assert_false(measure(&point, &result, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text, "65 dispatches of 1048576 invocations store 68157440 words, at "
                                    "most 67108864 are allowed");
    measure_result_free(&result);
}

static int set_up(void **state)
{
    struct assay_error error = {0};
    builtin_set_up(state);
    fixture_assert_ok(device_measure_empty_regions(builtin.device, &error), &error);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_and_batch),
        cmocka_unit_test(too_many_words_are_refused),
    };
    return builtin_run("submit", tests, set_up);
}
