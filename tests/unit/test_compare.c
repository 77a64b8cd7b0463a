/* SPDX-License-Identifier: MIT */
#include "result/compare.h"

#include "base/json.h"
#include "result/conditions.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct compare_params one_percent = {.margin = 0.01};

/* A case of one stage "copy" that moved `bytes` in `ns` each of 6 times, on the simulated clock. */
static json_t *record_of(double ns, double bytes)
{
    double s = ns / 1e9;
    return json_pack(
        "{s:s, s:{s:s}, s:[{s:s, s:{s:f}}], s:{s:{s:s, s:f, s:f, s:f, s:i}, s:{s:s, s:f, s:f, s:f, "
        "s:i}, s:{s:s, s:f, s:f, s:f, s:i}, s:{s:s, s:s}}}",
        "status", "done", "sampling", "clock", "simulated", "stages", "name", "copy", "cost",
        "payload_bytes", bytes, "metrics", "time", "unit", "s", "value", s, "low", s, "high", s,
        "n", 6, "copy.rate", "unit", "B/s", "value", bytes / s, "low", bytes / s, "high", bytes / s,
        "n", 6, "pieces", "unit", "1", "value", 3.0, "low", 3.0, "high", 3.0, "n", 0,
        "copy.flop_rate", "unit", "flop/s", "absent", "the stage has no flops");
}

static json_t *samples_of(int ns)
{
    return json_pack("{s:{s:[i,i,i,i,i,i], s:[i,i,i,i,i,i]}}", "series", "time", ns, ns, ns, ns, ns,
                     ns, "copy.time", ns, ns, ns, ns, ns, ns);
}

struct pair {
    struct compare_side a, b;
};

static struct pair pair_of(int ns_a, double bytes_a, int ns_b, double bytes_b)
{
    return (struct pair){{record_of(ns_a, bytes_a), samples_of(ns_a)},
                         {record_of(ns_b, bytes_b), samples_of(ns_b)}};
}

static void pair_free(struct pair *pair)
{
    json_decref((json_t *)pair->a.record);
    json_decref((json_t *)pair->a.samples);
    json_decref((json_t *)pair->b.record);
    json_decref((json_t *)pair->b.samples);
}

static void times_and_rates(void **state)
{
    struct pair pair = pair_of(1000, 4000, 1250, 4000);
    struct comparison out;
    struct assay_error error = {0};
    (void)state;
    assert_true(compare_metric("time", &pair.a, &pair.b, &one_percent, &out, &error));
    assert_true(out.compared);
    assert_int_equal(out.answer, STATS_SLOWER);
    assert_float_equal(out.ratio.estimate, 1.25, 1e-9);
    assert_float_equal(out.ratio.low, 1.25, 1e-9);
    assert_float_equal(out.ratio.high, 1.25, 1e-9);
    assert_true(compare_metric("copy.rate", &pair.a, &pair.b, &one_percent, &out, &error));
    assert_int_equal(out.answer, STATS_SLOWER);
    assert_float_equal(out.ratio.estimate, 0.8, 1e-9);
    assert_true(compare_metric("copy.rate", &pair.b, &pair.a, &one_percent, &out, &error));
    assert_int_equal(out.answer, STATS_FASTER);
    assert_float_equal(out.ratio.estimate, 1.25, 1e-9);
    assert_true(compare_metric("time", &pair.a, &pair.a, &one_percent, &out, &error));
    assert_int_equal(out.answer, STATS_SAME);
    assert_string_equal(out.why, "");
    pair_free(&pair);
}

/* Twice the bytes in twice the time: the time is slower, the rate is the same. */
static void amounts_count(void **state)
{
    struct pair pair = pair_of(1000, 4000, 2000, 8000);
    struct comparison out;
    struct assay_error error = {0};
    (void)state;
    assert_true(compare_metric("time", &pair.a, &pair.b, &one_percent, &out, &error));
    assert_int_equal(out.answer, STATS_SLOWER);
    assert_true(compare_metric("copy.rate", &pair.a, &pair.b, &one_percent, &out, &error));
    assert_int_equal(out.answer, STATS_SAME);
    assert_float_equal(out.ratio.estimate, 1, 1e-9);
    pair_free(&pair);
}

/* Six samples on a real clock say nothing of how much runs differ: 20 % either way are allowed. */
static void short_runs(void **state)
{
    struct pair pair = pair_of(1000, 4000, 1100, 4000);
    struct comparison out;
    struct assay_error error = {0};
    (void)state;
    json_object_set_new(json_object_get(pair.b.record, "sampling"), "clock",
                        json_string("monotonic"));
    assert_true(compare_metric("time", &pair.a, &pair.b, &one_percent, &out, &error));
    assert_int_equal(out.answer, STATS_UNDECIDED);
    assert_true(out.compared && *out.why);
    const struct compare_params known = {.margin = 0.01, .between = 0.02};
    assert_true(compare_metric("time", &pair.a, &pair.b, &known, &out, &error));
    assert_int_equal(out.answer, STATS_SLOWER);
    assert_float_equal(out.ratio.estimate, 1.1, 1e-9);
    assert_float_equal(out.ratio.low, 1.1 * 0.980199, 1e-5); /* exp(-0.02) */
    pair_free(&pair);
}

static void exact_and_absent(void **state)
{
    json_t *a = json_pack("{s:{s:{s:s, s:f}, s:{s:s, s:s}, s:{s:s, s:f}}}", "metrics", "setup",
                          "unit", "s", "value", 2.0, "none", "unit", "s", "absent", "no such",
                          "other", "unit", "s", "value", 1.0);
    json_t *b = json_pack("{s:{s:{s:s, s:f}, s:{s:s, s:f}, s:{s:s, s:f}}}", "metrics", "setup",
                          "unit", "s", "value", 1.5, "none", "unit", "s", "value", 1.0, "other",
                          "unit", "B/s", "value", 1.0);
    struct compare_side sides[] = {{a, NULL}, {b, NULL}};
    struct comparison out;
    struct assay_error error = {0};
    (void)state;
    assert_true(compare_metric("setup", &sides[0], &sides[1], &one_percent, &out, &error));
    assert_int_equal(out.answer, STATS_FASTER);
    assert_float_equal(out.ratio.estimate, 0.75, 1e-12);
    assert_true(compare_metric("none", &sides[0], &sides[1], &one_percent, &out, &error));
    assert_false(out.compared);
    assert_string_equal(out.why, "no such");
    assert_true(compare_metric("other", &sides[0], &sides[1], &one_percent, &out, &error));
    assert_false(out.compared);
    assert_string_equal(out.why, "the two records have it in different units");
    json_decref(a);
    json_decref(b);
}

static void neither_time_nor_rate(void **state)
{
    struct pair pair = pair_of(1000, 4000, 1000, 4000);
    struct comparison out;
    struct assay_error error = {0};
    (void)state;
    assert_false(compare_metric("pieces", &pair.a, &pair.b, &one_percent, &out, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text,
                        "'pieces' is a number, but only times and rates can be faster or slower");
    pair_free(&pair);
}

static void edited(void **state)
{
    struct pair pair = pair_of(1000, 4000, 1000, 4000);
    struct comparison out;
    struct assay_error error = {0};
    (void)state;
    json_t *time = json_object_get(json_object_get(pair.b.record, "metrics"), "time");
    json_object_set_new(time, "value", json_real(0.9e-6));
    json_object_set_new(time, "low", json_real(0.9e-6));
    assert_true(compare_metric("time", &pair.a, &pair.b, &one_percent, &out, &error));
    assert_false(out.compared);
    assert_int_equal(out.answer, STATS_UNDECIDED);
    assert_string_equal(out.why, "a figure does not fit its samples: the record was changed");
    struct compare_side bare = {pair.a.record, NULL};
    assert_true(compare_metric("time", &pair.a, &bare, &one_percent, &out, &error));
    assert_string_equal(out.why, "there are no samples in the journal");
    json_array_set_new(json_object_get(json_object_get(pair.a.samples, "series"), "time"), 2,
                       json_string("1000"));
    assert_true(compare_metric("time", &pair.a, &pair.b, &one_percent, &out, &error));
    assert_string_equal(out.why, "a sample is not a time over 0");
    pair_free(&pair);
}

static void names_of_metrics(void **state)
{
    struct pair pair = pair_of(1000, 4000, 1000, 4000);
    const char *names[COMPARE_METRICS];
    (void)state;
    assert_int_equal(compare_metric_names(pair.a.record, pair.b.record, names), 2);
    assert_string_equal(names[0], "time");
    assert_string_equal(names[1], "copy.rate");
    /* A lone stage without a rate adds nothing. */
    json_object_del(json_object_get(pair.b.record, "metrics"), "copy.rate");
    assert_int_equal(compare_metric_names(pair.a.record, pair.b.record, names), 1);
    pair_free(&pair);
}

static json_t *run_of(const char *version, const char *hash, int seed, const char *size)
{
    return json_pack("{s:s, s:i, s:b, s:{s:s, s:s, s:i, s:s}, s:{s:s, s:s, s:[{s:s, s:s}], "
                     "s:{s:s}}}",
                     "assay", version, "seed", seed, "quick", 0, "host", "name", "h", "cpu", "c",
                     "cores", 2, "kernel", "Linux 6", "script", "path", "x.lua", "hash", hash,
                     "modules", "path", "m.lua", "hash", "00000000000000000000000000000000",
                     "options", "size", size);
}

static void runs_compared(void **state)
{
    struct assay_error error = {0};
    const char *only;
    (void)state;
    struct conditions *conditions = conditions_create(&error);
    json_t *a = run_of("1.0", "0123456789abcdef", 1, "1MiB");
    json_t *b = run_of("1.0", "0123456789abcdef", 1, "1MiB");
    assert_true(conditions_add_runs(conditions, a, b, &error));
    assert_int_equal(conditions_things(conditions, &only), 0);
    assert_null(only);
    json_decref(b);
    b = run_of("1.0", "fedcba9876543210", 1, "1MiB");
    assert_true(conditions_add_runs(conditions, a, b, &error));
    assert_int_equal(conditions_things(conditions, &only), 1);
    assert_string_equal(only, "script");
    assert_string_equal(conditions_at(conditions, 0)->detail, "x.lua");
    assert_string_equal(conditions_at(conditions, 0)->from, "01234567");
    assert_string_equal(conditions_at(conditions, 0)->to, "fedcba98");
    json_decref(b);
    b = run_of("1.1", "0123456789abcdef", 2, "2MiB");
    assert_true(conditions_add_runs(conditions, a, b, &error));
    assert_int_equal(conditions_things(conditions, &only), 4); /* script, assay, seed, options */
    assert_null(only);
    json_decref(b);
    /* A real number is said in as few digits as tell it. */
    b = run_of("1.0", "0123456789abcdef", 1, "1MiB");
    json_object_set_new(json_object_get(json_object_get(b, "script"), "options"), "size",
                        json_real(0.9));
    size_t before = conditions_count(conditions);
    assert_true(conditions_add_runs(conditions, a, b, &error));
    assert_string_equal(conditions_at(conditions, before)->from, "1MiB");
    assert_string_equal(conditions_at(conditions, before)->to, "0.9");
    json_decref(a);
    json_decref(b);
    conditions_destroy(&conditions);
}

static json_t *case_on(const char *device, const char *uuid, const char *info, const char *shader)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s, s:s}}, s:[{s:s, s:s}], s:{s:i}}", "workload",
                     "copy", "version", "1", "device", "name", device, "uuid", uuid, "driver",
                     "name", "d", "info", info, "shaders", "name", "k.comp", "hash", shader,
                     "params", "bytes", 4);
}

static void cases_compared(void **state)
{
    struct assay_error error = {0};
    const char *only;
    (void)state;
    struct conditions *conditions = conditions_create(&error);
    json_t *a = case_on("gpu", "u1", "22", "aaaaaaaaaa");
    json_t *b = case_on("gpu", "u2", "23", "aaaaaaaaaa");
    /* Another driver, so the UUID alone is no other device. */
    assert_true(conditions_add_cases(conditions, a, b, &error));
    assert_true(conditions_add_cases(conditions, a, b, &error));
    assert_int_equal(conditions_count(conditions), 1);
    assert_string_equal(conditions_at(conditions, 0)->from, "d 22");
    assert_string_equal(conditions_at(conditions, 0)->to, "d 23");
    assert_int_equal(conditions_at(conditions, 0)->cases, 2);
    assert_int_equal(conditions_things(conditions, &only), 1);
    assert_string_equal(only, "driver");
    json_decref(b);
    b = case_on("gpu", "u2", "22", "bbbbbbbbbb");
    assert_true(conditions_add_cases(conditions, a, b, &error));
    assert_int_equal(conditions_things(conditions, &only), 3);
    assert_string_equal(conditions_at(conditions, 1)->thing, "device");
    assert_string_equal(conditions_at(conditions, 1)->to, "gpu (u2)");
    assert_string_equal(conditions_at(conditions, 2)->detail, "k.comp");
    json_decref(a);
    json_decref(b);
    conditions_destroy(&conditions);
}

/* Nine times around 1 and around 2: at 95 % the interval of each median goes from the second to the
 * eighth, at 99 % from the first to the last. 6 samples cannot cover 99 %, but the extremes that
 * they have are taken. */
static void the_confidence_may_be_that_of_a_look(void **state)
{
    static const int times[] = {1000, 900, 1100, 960, 1040, 980, 1020, 990, 1010};
    struct pair pair = pair_of(1000, 4000, 2000, 4000);
    struct compare_params params = {.margin = 0.01, .between = 1e-12};
    struct comparison out;
    struct assay_error error = {0};
    (void)state;
    for (int side = 0; side < 2; side++) {
        json_t *series = json_array(),
               *samples = json_object_get(side ? pair.b.samples : pair.a.samples, "series");
        for (size_t i = 0; i < 9; i++)
            json_array_append_new(series, json_integer((side + 1) * times[i]));
        json_object_set_new(samples, "time", series);
    }
    double low = log(1 / 0.96), high = log(1.04); /* of the second and the eighth */
    assert_true(compare_metric("time", &pair.a, &pair.b, &params, &out, &error));
    assert_true(out.compared);
    assert_float_equal(log(out.ratio.estimate / out.ratio.low), hypot(low, high), 1e-9);
    params.confidence = 0.99;
    low = log(1 / 0.9), high = log(1.1);
    assert_true(compare_metric("time", &pair.a, &pair.b, &params, &out, &error));
    assert_float_equal(log(out.ratio.estimate / out.ratio.low), hypot(low, high), 1e-9);
    pair_free(&pair);
    pair = pair_of(1000, 4000, 1250, 4000);
    assert_true(compare_metric("time", &pair.a, &pair.b, &params, &out, &error));
    assert_int_equal(out.answer, STATS_SLOWER);
    pair_free(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_confidence_may_be_that_of_a_look),
        cmocka_unit_test(times_and_rates),
        cmocka_unit_test(amounts_count),
        cmocka_unit_test(short_runs),
        cmocka_unit_test(exact_and_absent),
        cmocka_unit_test(edited),
        cmocka_unit_test(neither_time_nor_rate),
        cmocka_unit_test(names_of_metrics),
        cmocka_unit_test(runs_compared),
        cmocka_unit_test(cases_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
