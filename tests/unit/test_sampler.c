/* SPDX-License-Identifier: MIT */
/* When the sampler stops: times are given, so every decision is known beforehand. */
#include "base/json.h"
#include "measure/sampler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct sampler *make(struct measure_budget budget)
{
    struct assay_error error = {0};
    struct sampler *sampler = sampler_create(&budget, 1, &error);
    assert_non_null(sampler);
    return sampler;
}

/* Feeds warm-up times one after the other; returns how many were wanted. */
static size_t warm_up(struct sampler *sampler, const int64_t *times, size_t count)
{
    int64_t now = 0;
    size_t fed = 0;
    while (fed < count && sampler_wants_warmup(sampler)) {
        now += times[fed];
        sampler_warmup(sampler, &times[fed++], now);
    }
    return fed;
}

static size_t sample(struct sampler *sampler, const int64_t *times, size_t count)
{
    struct assay_error error = {0};
    int64_t now = 0;
    size_t fed = 0;
    while (fed < count && sampler_wants_more(sampler)) {
        now += times[fed];
        assert_true(sampler_add(sampler, &times[fed++], now, &error));
    }
    return fed;
}

static json_t *record(struct sampler *sampler)
{
    struct text text = {0};
    struct assay_error error = {0};
    struct drift drift;
    assert_true(sampler_drift(sampler, 0, &drift, &error));
    sampler_add_record(sampler, 0, "simulated", &drift, &text);
    json_t *json = json_read(text.data, text.length, "sampling", &error);
    assert_non_null(json);
    text_free(&text);
    return json;
}

static void constant_times_settle_after_two(void **state)
{
    (void)state;
    struct sampler *sampler = make((struct measure_budget){0});
    assert_int_equal(warm_up(sampler, (int64_t[]){100, 100, 100}, 3), 2);
    assert_int_equal(sample(sampler, (int64_t[]){100, 100, 100, 100, 100, 100, 100}, 7), 6);
    json_t *json = record(sampler);
    assert_int_equal(json_whole(json, "warmup", -1), 2);
    assert_true(json_flag(json, "settled", false));
    assert_int_equal(json_whole(json, "n", -1), 6);
    assert_string_equal(json_text(json, "stop", ""), "target");
    assert_true(json_number(json, "half_width", -1) == 0);
    assert_true(json_number(json, "target", -1) == 0.02);
    json_decref(json);
    sampler_destroy(&sampler);
    assert_null(sampler);
}

static void warmup_waits_for_two_equal_windows(void **state)
{
    (void)state;
    struct sampler *sampler = make((struct measure_budget){0});
    /* Medians of three: (900, 500, 300) against (200, 110, 104) differ; after each further sample
     * the windows move on by one. (300, 200, 110) : (104, 101, 100) and (200, 110, 104) : (101,
     * 100, 100) differ by 49 % and 9 %, (110, 104, 101) : (100, 100, 100) by 3.8 %. */
    int64_t times[] = {900, 500, 300, 200, 110, 104, 101, 100, 100, 100, 100};
    assert_int_equal(warm_up(sampler, times, 11), 10);
    json_t *json = record(sampler);
    assert_int_equal(json_whole(json, "first_ns", -1), 900);
    assert_int_equal(json_whole(json, "warmup_ns", -1), 2515);
    assert_true(json_flag(json, "settled", false));
    json_decref(json);
    sampler_destroy(&sampler);
}

static void warmup_is_bounded(void **state)
{
    (void)state;
    struct sampler *sampler = make((struct measure_budget){.warmup_ns = 1000});
    int64_t times[] = {600, 500, 100, 100};
    assert_int_equal(warm_up(sampler, times, 4), 2);
    json_t *json = record(sampler);
    assert_false(json_flag(json, "settled", true));
    json_decref(json);
    sampler_destroy(&sampler);
    /* Never under two, however long the first takes. */
    sampler = make((struct measure_budget){.warmup_ns = 1000});
    assert_int_equal(warm_up(sampler, (int64_t[]){5000, 4000, 1}, 3), 2);
    sampler_destroy(&sampler);
}

/* The interval of the median of 6 is (smallest, largest): 100 +- 10 is a half-width of 10 %. Of 12
 * it is ranks 3 to 10 (96.1 %). */
static void samples_double_between_looks(void **state)
{
    (void)state;
    struct sampler *sampler = make((struct measure_budget){.target = 0.05});
    int64_t times[] = {90, 110, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
    assert_int_equal(sample(sampler, times, 13), 12);
    json_t *json = record(sampler);
    assert_string_equal(json_text(json, "stop", ""), "target");
    assert_true(json_number(json, "half_width", -1) == 0);
    json_decref(json);
    sampler_destroy(&sampler);

    sampler = make((struct measure_budget){.target = 0.1});
    assert_int_equal(sample(sampler, times, 13), 6);
    json = record(sampler);
    assert_true(json_number(json, "half_width", -1) == 0.1);
    json_decref(json);
    sampler_destroy(&sampler);
}

static void budget_and_limits_stop(void **state)
{
    (void)state;
    int64_t times[40];
    for (int i = 0; i < 40; i++)
        times[i] = i % 2 ? 200 : 100;
    struct sampler *sampler = make((struct measure_budget){.budget_ns = 1200});
    /* 150 on average: 1200 ns are over with the 8th. */
    assert_int_equal(sample(sampler, times, 40), 8);
    json_t *json = record(sampler);
    assert_string_equal(json_text(json, "stop", ""), "budget");
    /* Ranks 1 and 8 of 8: 100 and 200 around 150. */
    assert_true(json_number(json, "half_width", -1) > 0.333 &&
                json_number(json, "half_width", -1) < 0.334);
    json_decref(json);
    sampler_destroy(&sampler);

    /* Six at least, though the budget is over with the first. */
    sampler = make((struct measure_budget){.budget_ns = 1});
    assert_int_equal(sample(sampler, times, 40), 6);
    sampler_destroy(&sampler);

    sampler = make((struct measure_budget){.max_samples = 10});
    assert_int_equal(sample(sampler, times, 40), 10);
    json = record(sampler);
    assert_string_equal(json_text(json, "stop", ""), "max_samples");
    json_decref(json);
    sampler_destroy(&sampler);

    sampler = make((struct measure_budget){.min_samples = 9});
    assert_int_equal(sample(sampler, (int64_t[]){7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, 10), 9);
    sampler_destroy(&sampler);
}

static void zero_times_are_constant(void **state)
{
    (void)state;
    struct sampler *sampler = make((struct measure_budget){0});
    assert_int_equal(warm_up(sampler, (int64_t[]){0, 0, 0}, 3), 2);
    assert_int_equal(sample(sampler, (int64_t[]){0, 0, 0, 0, 0, 0, 0}, 7), 6);
    sampler_destroy(&sampler);
    sampler_destroy(&sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_times_settle_after_two),
        cmocka_unit_test(warmup_waits_for_two_equal_windows),
        cmocka_unit_test(warmup_is_bounded),
        cmocka_unit_test(samples_double_between_looks),
        cmocka_unit_test(budget_and_limits_stop),
        cmocka_unit_test(zero_times_are_constant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
