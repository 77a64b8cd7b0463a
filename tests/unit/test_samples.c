/* SPDX-License-Identifier: MIT */
#include "../metrics_json.h"
#include "base/clock.h"
#include "measure/samples.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct assay_stage stage = {.name = "map", .kind = ASSAY_STAGE_HOST};

/* Interval of `name` in ns, of eight batches of `time_ns` each. */
static void interval_of(const struct serial *serial, int64_t time_ns, const char *name,
                        struct metric *metric)
{
    struct samples samples = {0};
    struct assay_error error = {0};
    struct metric_set *set = metric_set_create();
    struct serial_times times = {.time_ns = time_ns, .device_ns = -1, .cpu_ns = -1};
    times.stages[0].time_ns = time_ns;
    times.stages[0].device_ns = -1;
    for (int i = 0; i < 8; i++)
        assert_true(samples_add(&samples, serial, &times, &error));
    assert_true(samples_metrics(&samples, serial, 0.95, set, &error));
    assert_int_equal(samples_time_median(&samples, serial, &error), time_ns);
    json_t *json = metrics_json(set);
    metric_from_json(json, name, metric);
    metric->name = NULL;
    assert_null(metric->absent);
    json_decref(json);
    metric_set_destroy(&set);
    samples_free(&samples);
}

static void expect_ns(const struct metric *metric, double value, double low, double high)
{
    assert_float_equal(metric->value * 1e9, value, 1e-4);
    assert_float_equal(metric->low * 1e9, low, 1e-4);
    assert_float_equal(metric->high * 1e9, high, 1e-4);
}

/* Eight times the same value is one step of the clock wide, not nothing. */
static void no_finer_than_the_clock(void **state)
{
    (void)state;
    struct serial serial = {.clock = clock_monotonic(), .step_ns = 40, .count = 1};
    struct metric metric;
    serial.stages[0] = (struct serial_stage){.stage = &stage, .host_clock = true};
    interval_of(&serial, 40, "time", &metric);
    expect_ns(&metric, 40, 20, 60);
    interval_of(&serial, 5000, "map.time", &metric);
    expect_ns(&metric, 5000, 4980, 5020);
    /* A device's timestamps have a step of their own; of 20 repeats each has a 20th of it, of 200
     * a whole ns. */
    serial.stages[0].host_clock = false;
    serial.stages[0].step_ns = 80;
    interval_of(&serial, 400, "map.time", &metric);
    expect_ns(&metric, 400, 360, 440);
    serial.stages[0].repeat.count = 20;
    interval_of(&serial, 400, "map.time", &metric);
    expect_ns(&metric, 400, 398, 402);
    serial.stages[0].repeat.count = 200;
    interval_of(&serial, 400, "map.time", &metric);
    expect_ns(&metric, 400, 399.5, 400.5);
}

static void simulated_times_are_exact(void **state)
{
    (void)state;
    struct clock_simulated clock;
    clock_simulated_init(&clock);
    assert_int_equal(clock_step_ns(&clock.clock), 0);
    struct serial serial = {.clock = &clock.clock, .count = 1};
    struct metric metric;
    serial.stages[0] = (struct serial_stage){.stage = &stage, .host_clock = true};
    interval_of(&serial, 40, "time", &metric);
    expect_ns(&metric, 40, 40, 40);
}

static void the_clock_has_a_step(void **state)
{
    (void)state;
    int64_t step_ns = clock_step_ns(clock_monotonic());
    assert_true(step_ns > 0);
    assert_int_equal(clock_step_ns(clock_monotonic()), step_ns); /* measured once */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_finer_than_the_clock),
        cmocka_unit_test(simulated_times_are_exact),
        cmocka_unit_test(the_clock_has_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
