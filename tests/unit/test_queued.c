/* SPDX-License-Identifier: MIT */
/* Cases under open_loop, closed_loop and sustained, on the simulated clock: figures by hand. */
#include "../metrics_json.h"
#include "../workload_fixture.h"
#include "base/json.h"
#include "measure/measure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

struct fixture {
    struct workload_fixture null;
    struct measure_result result;
    json_t *metrics, *sampling;
    struct assay_error error;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){0};
    assert_true(workload_open(&fixture.null, "null", &fixture.error));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    measure_result_free(&f->result);
    json_decref(f->metrics);
    json_decref(f->sampling);
    workload_close(&f->null);
    return 0;
}

static bool measure(struct fixture *f, const struct schedule *schedule, const char *const *settings)
{
    void *params = workload_params(&f->null, settings, &f->error);
    assert_non_null(params);
    struct measure_request request = {.workload = f->null.workload,
                                      .params = params,
                                      .seed = 1,
                                      .schedule = *schedule,
                                      .budget = {.budget_ns = 1000 * MS}};
    if (!measure_case(&request, &f->result, &f->error))
        return false;
    f->metrics = metrics_json(f->result.metrics);
    f->sampling = json_read(f->result.sampling.data, f->result.sampling.length, "sampling",
                            &f->error);
    assert_non_null(f->metrics);
    assert_non_null(f->sampling);
    return true;
}

static void assert_value(const struct fixture *f, const char *name, double value)
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
    struct fixture *f = *state;
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
    assert_int_equal(json_whole(f->sampling, "n", 0), 40);
    assert_non_null(strstr(text_string(&f->result.load), "\"overload\":false"));
}

static void overload_is_said(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_OPEN_LOOP);
    schedule.rate = 1200;
    assert_true(measure(f, &schedule, settings)); /* 1 ms each */
    struct metric p95;
    metric_from_json(f->metrics, "latency.p95", &p95);
    assert_non_null(p95.absent);
    assert_non_null(strstr(text_string(&f->result.notes), "overload: "));
    assert_non_null(strstr(text_string(&f->result.load), "\"overload\":true"));
}

static void too_short_a_run_is_refused(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_OPEN_LOOP);
    schedule.rate = 10;
    assert_false(measure(f, &schedule, settings));
    assert_int_equal(f->error.status, ASSAY_INVALID);
    assert_string_equal(f->error.text,
                        "duration: fewer than 80 requests arrive in it, which says nothing of "
                        "their latency; give at least 8 s");
}

static void clients_share_a_batch(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_CLOSED_LOOP);
    schedule.clients = 4;
    schedule.batch_max = 4;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "latency.mean", 1.3e-3);
    assert_value(f, "latency.waiting", 0);
    assert_value(f, "throughput", 4 / 1.3e-3);
    assert_value(f, "utilisation", 1);
}

/* Two in flight: the slower stage decides. */
static void a_long_run_is_steady(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_SUSTAINED);
    schedule.duration_ns = 4000 * MS;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "period", 1e-3);
    assert_value(f, "throughput", 1000);
    assert_value(f, "drift", 0);
    assert_int_equal(json_whole(f->sampling, "n", 0), 40);
    assert_false(json_flag(json_object_get(f->sampling, "drift"), "drifting", true));
}

static void a_long_run_keeps_what_is_in_flight(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_SUSTAINED);
    schedule.duration_ns = 4000 * MS;
    schedule.depth = 2;
    assert_true(measure(f, &schedule, settings));
    assert_value(f, "period", 0.7e-3);
    assert_value(f, "throughput", 1 / 0.7e-3);
}

#define QUEUED_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUEUED_TEST(batches_are_of_their_own_size), QUEUED_TEST(overload_is_said),
        QUEUED_TEST(too_short_a_run_is_refused),    QUEUED_TEST(clients_share_a_batch),
        QUEUED_TEST(a_long_run_is_steady),          QUEUED_TEST(a_long_run_keeps_what_is_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
