/* SPDX-License-Identifier: MIT */
/* Cases under open_loop, closed_loop and sustained, on the simulated clock: figures by hand. */
#include "base/json.h"
#include "null_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

static bool measure(struct null_fixture *f, const struct schedule *schedule,
                    const char *const *settings)
{
    f->request.budget.budget_ns = 1000 * MS;
    f->request.schedule = *schedule;
    return measure_settings(f, settings);
}

/* To be freed. */
static json_t *sampling_of(struct null_fixture *f)
{
    json_t *sampling = json_read(f->result.sampling.data, f->result.sampling.length, "sampling",
                                 &f->error);
    assert_non_null(sampling);
    return sampling;
}

static void assert_value(const struct null_fixture *f, const char *name, double value)
{
    struct metric metric;
    metric_from_json(f->metrics, name, &metric);
    if (metric.absent || fabs(metric.value - value) > 1e-9 * value)
        fail_msg("%s is %.12g (%s), not %.12g", name, metric.value,
                 metric.absent ? metric.absent : "", value);
}

static const char *const settings[] = {"upload", "300 us", "compute", "600 us", "per_item",
                                       "100 us", "items",  "1",       NULL};

/* One a ms, four a batch at 300 + 600 + 400 us. When the first of a batch comes, the last batch
 * still runs for 0.3 ms. */
static void batches_are_of_their_own_size(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_OPEN_LOOP);
    schedule.rate = 1000;
    schedule.arrivals = SCHEDULE_ARRIVALS_EVEN;
    schedule.batch_max = 4;
    schedule.wait_max_ns = 100 * MS;
    schedule.duration_ns = 4000 * MS;
    schedule.deadline_ns = 4 * MS;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "latency.service", 1.3e-3);
    assert_value(f, "latency.waiting", 0.075e-3);
    assert_value(f, "latency.batching", (2.7 + 2 + 1 + 0) / 4 * 1e-3);
    assert_value(f, "latency.mean", (0.075 + 5.7 / 4 + 1.3) * 1e-3);
    assert_value(f, "time", 1.3e-3);
    assert_value(f, "upload.time", 0.3e-3);
    assert_value(f, "compute.time", 1e-3);
    /* Latencies are 4.3, 3.3, 2.3 and 1.3 ms. */
    struct metric throughput, goodput;
    metric_from_json(f->metrics, "throughput", &throughput);
    metric_from_json(f->metrics, "goodput", &goodput);
    assert_true(fabs(goodput.value / throughput.value - 0.75) < 1e-9);
    json_t *sampling = sampling_of(f);
    assert_int_equal(json_whole(sampling, "n", 0), 40);
    json_decref(sampling);
    assert_non_null(strstr(text_string(&f->result.load), "\"overload\":false"));
}

static void overload_is_said(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_OPEN_LOOP);
    schedule.rate = 1200;
    assert_true(measure(f, &schedule, settings)); /* 1 ms each */
    struct metric p95;
    metric_from_json(f->metrics, "latency.p95", &p95);
    assert_non_null(p95.absent);
    assert_non_null(strstr(text_string(&f->result.notes), "overload: "));
    assert_non_null(strstr(text_string(&f->result.load), "\"overload\":true"));
    assert_value(f, "time", 1e-3); /* it is the latency that rises */
    assert_null(strstr(text_string(&f->result.notes), "drift"));
    assert_null(strstr(text_string(&f->result.notes), "unsettled"));
}

static void a_few_turned_away_are_said(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_OPEN_LOOP);
    schedule.rate = 600;
    schedule.queue_max = 5;
    schedule.duration_ns = INT64_C(10000000000);
    assert_true(measure(f, &schedule, settings));
    assert_non_null(strstr(text_string(&f->result.notes), " requests were turned away, as "));
    assert_non_null(strstr(text_string(&f->result.load), "\"overload\":false"));
}

/* 80 requests take 8 s; ten of them a window. */
static void a_low_rate_takes_longer_than_the_budget(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_OPEN_LOOP);
    schedule.rate = 10;
    schedule.arrivals = SCHEDULE_ARRIVALS_EVEN;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "latency.mean", 1e-3);
    assert_value(f, "throughput", 10);
    json_t *sampling = sampling_of(f);
    assert_int_equal(json_whole(sampling, "n", 0), 8);
    json_decref(sampling);
}

/* Five of eight: 0.3 + 0.6 + 0.8 ms after the wait. Every window holds such batches. */
static void batches_that_are_never_full(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_CLOSED_LOOP);
    schedule.clients = 5;
    schedule.batch_max = 8;
    schedule.wait_max_ns = 20 * MS;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "time", 1.7e-3);
    assert_value(f, "latency.mean", 21.7e-3);
    struct metric throughput;
    metric_from_json(f->metrics, "throughput", &throughput); /* a window cuts a batch's wait */
    assert_true(fabs(throughput.value * 21.7e-3 / 5 - 1) < 0.01);
    assert_non_null(strstr(text_string(&f->result.notes),
                           "5 clients never fill a batch of 8: each batch waits wait_max, 20 ms"));
}

static void nothing_ends(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_CLOSED_LOOP);
    schedule.clients = 5;
    schedule.batch_max = 8;
    schedule.wait_max_ns = 86400000 * MS;
    assert_false(measure(f, &schedule, settings));
    assert_int_equal(f->error.status, ASSAY_INVALID);
    assert_non_null(strstr(f->error.text, "no request ended in "));
    assert_non_null(strstr(f->error.text, "batches wait for up to wait_max to hold batch_max, 8 "));
}

/* 2000 clients of 1 ms: the first results take 2 s, which count nowhere. */
static void all_clients_ask_at_once_in_the_begin(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_CLOSED_LOOP);
    schedule.clients = 2000;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "latency.mean", 2);
    assert_value(f, "throughput", 1000);
}

static void clients_share_a_batch(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_CLOSED_LOOP);
    schedule.clients = 4;
    schedule.batch_max = 4;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "latency.mean", 1.3e-3);
    assert_value(f, "latency.waiting", 0);
    assert_value(f, "throughput", 4 / 1.3e-3);
    assert_value(f, "utilisation", 1);
}

/* Sizes 1, 2 and 4 are verified, each in its slot. */
static void a_wrong_slot_is_named(void **state)
{
    struct null_fixture *f = *state;
    static const char *const wrong[] = {"fault", "wrong_result", "items", "1", NULL};
    struct schedule schedule = schedule_default(SCHEDULE_CLOSED_LOOP);
    schedule.clients = schedule.batch_max = 4;
    assert_false(measure(f, &schedule, wrong));
    assert_int_equal(f->error.status, ASSAY_WRONG_RESULT);
    assert_memory_equal(f->error.text, "slot 1 of 3: null: ", 19);
}

/* Two in flight: the slower stage decides. */
static void a_long_run_is_steady(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_SUSTAINED);
    schedule.duration_ns = 4000 * MS;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "period", 1e-3);
    assert_value(f, "throughput", 1000);
    assert_value(f, "drift", 0);
    json_t *sampling = sampling_of(f);
    assert_int_equal(json_whole(sampling, "n", 0), 40);
    assert_false(json_flag(json_object_get(sampling, "drift"), "drifting", true));
    json_decref(sampling);
}

/* A batch takes 1 ms, so 40 windows of two take 80 ms, whatever was asked for. */
static void a_run_that_is_too_short_is_told(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_SUSTAINED);
    schedule.duration_ns = MS / 10;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "period", 1e-3);
    assert_non_null(strstr(text_string(&f->result.notes),
                           "the run took 80 ms, longer than its duration: each of its 40 windows "
                           "has two batches at least"));
}

static void a_long_run_keeps_what_is_in_flight(void **state)
{
    struct null_fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_SUSTAINED);
    schedule.duration_ns = 4000 * MS;
    schedule.depth = 2;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "period", 0.7e-3);
    assert_value(f, "throughput", 1 / 0.7e-3);
    assert_value(f, "time", 1.4e-3); /* depth times the period: the first ones had no queue */
}

#define QUEUED_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUEUED_TEST(batches_are_of_their_own_size),
        QUEUED_TEST(overload_is_said),
        QUEUED_TEST(a_few_turned_away_are_said),
        QUEUED_TEST(a_low_rate_takes_longer_than_the_budget),
        QUEUED_TEST(batches_that_are_never_full),
        QUEUED_TEST(nothing_ends),
        QUEUED_TEST(all_clients_ask_at_once_in_the_begin),
        QUEUED_TEST(clients_share_a_batch),
        QUEUED_TEST(a_wrong_slot_is_named),
        QUEUED_TEST(a_run_that_is_too_short_is_told),
        QUEUED_TEST(a_long_run_is_steady),
        QUEUED_TEST(a_long_run_keeps_what_is_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
