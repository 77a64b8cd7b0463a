/* SPDX-License-Identifier: MIT */
/* The pipelined schedule on the simulated clock, with the workload `null`: its metrics by hand, and
 * its period against the closed form and a simulation of its own. */
#include "base/json.h"
#include "null_fixture.h"
#include "pipeline_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NULL_STAGES 5
#define LISTS 200

static bool measure(struct null_fixture *f, unsigned depth, const char *const *settings)
{
    bool sensitivity = f->request.schedule.sensitivity;
    f->request.budget.budget_ns = 1;
    f->request.schedule = schedule_default(SCHEDULE_PIPELINED);
    f->request.schedule.depth = depth;
    f->request.schedule.sensitivity = sensitivity;
    return measure_settings(f, settings);
}

static double value_of(const struct null_fixture *f, const char *name)
{
    struct metric metric;
    metric_from_json(f->metrics, name, &metric);
    assert_null(metric.absent);
    return metric.value;
}

static void assert_value(const struct null_fixture *f, const char *name, double value)
{
    assert_true(fabs(value_of(f, name) - value) <= 1e-9 * value);
}

/* design: upload 100 + compute 20 + download 10 ms at depth 2, all three on queues of their own. */
static void copy_bound(void **state)
{
    struct null_fixture *f = *state;
    assert_true(measure(
        f, 2,
        (const char *const[]){"upload", "100 ms", "compute", "20 ms", "download", "10 ms", NULL}));
    assert_value(f, "period", 0.1);
    assert_value(f, "serial_time", 0.13);
    assert_value(f, "ideal_period", 0.1);
    assert_value(f, "efficiency", 1);
    assert_value(f, "time", 0.13);
    assert_value(f, "upload.time", 0.1);
    /* Within the error of the histogram. */
    assert_true(fabs(value_of(f, "latency.p99") - 0.13) < 0.13 / 128);
    struct metric metric;
    metric_from_json(f->metrics, "extra_memory", &metric);
    assert_string_equal(metric.absent, "a model holds no memory");
}

/* design: 40 + 20 + 10 ms; not under 50 ms when the return shares the upload's queue. Batch 0 is
 * uploaded until 40 and computed until 60; batch 1 is uploaded from 40 to 80, then batch 0 returns
 * until 90, which frees its slot: batch 2 is uploaded from 90 to 130. Batch 1 is computed until 100
 * and returns from 130 to 140. The next upload begins at 140: one batch every 50 ms. */
static void shared_queue(void **state)
{
    struct null_fixture *f = *state;
    const char *const settings[] = {"upload", "40 ms",  "compute", "20 ms", "download",
                                    "10 ms",  "groups", "aba",     NULL};
    assert_true(measure(f, 2, settings));
    assert_value(f, "period", 0.05);
    assert_value(f, "ideal_period", 0.05);
    assert_value(f, "serial_time", 0.07);
    /* From 90 to 140 batch 2 is uploaded and batch 1 waits for its return: 40 to 140. */
    assert_value(f, "time", 0.1);
}

static void depth_1_is_serial(void **state)
{
    struct null_fixture *f = *state;
    assert_true(measure(f, 1, (const char *const[]){"upload", "30 us", "compute", "20 us", NULL}));
    assert_value(f, "period", 50e-6);
    assert_value(f, "ideal_period", 50e-6);
    assert_value(f, "time", 50e-6);
}

/* 10 us each: three slots hold the three stages busy, four only wait. */
static void latency_grows_with_depth(void **state)
{
    struct null_fixture *f = *state;
    const char *const settings[] = {"upload", "10 us",    "compute", "20 us",
                                    "finish", "10000 ns", NULL};
    assert_true(measure(f, 4, settings));
    assert_value(f, "period", 20e-6);
    /* Each upload follows the one before at once, until the slots are used up: a batch begins when
     * the one four before it has ended, 80 us after that one began. It is uploaded in 10 us, is
     * ready when three others are before it or in work, and ends 80 us after it began. */
    assert_value(f, "time", 80e-6);
}

static void record_tells_who_shares(void **state)
{
    struct null_fixture *f = *state;
    const char *const settings[] = {"upload", "40 ms",  "compute", "20 ms", "download",
                                    "10 ms",  "groups", "aba",     NULL};
    assert_true(measure(f, 2, settings));
    assert_string_equal(
        text_string(&f->result.pipeline),
        "{\"depth\":2,\"steady\":64,\"latencies\":\"log7 2623:384 "
        "#4738d3c5\",\"groups\":[{\"name\":\"model 1\",\"busy\":1,\"stages\":[{"
        "\"name\":\"upload\",\"busy\":0.8,\"cpu_ns\":null},{\"name\":\"download\",\"busy\":0.2,"
        "\"cpu_ns\":null}]},{\"name\":\"model 2\",\"busy\":0.4,\"stages\":[{\"name\":\"compute\","
        "\"busy\":0.4,\"cpu_ns\":null}]}]}");
    const char *samples = text_string(&f->result.samples);
    assert_non_null(strstr(samples, "\"period\":[50000000,50000000,"));
    assert_non_null(strstr(samples, "\"serial_time\":[70000000,"));
    assert_non_null(strstr(samples, "\"ideal_period\":[50000000,"));
}

/* Each stage in turn takes a quarter of the period longer: of three queues only the busiest counts,
 * and of one slot all do. Held for longer than it has room for, a stage counts in part. */
static void sensitivity_is_one_on_the_path(void **state)
{
    struct null_fixture *f = *state;
    const char *const settings[] = {"upload",   "100 ms", "compute", "20 ms",
                                    "download", "10 ms",  NULL};
    f->request.schedule.sensitivity = true;
    assert_true(measure(f, 2, settings));
    assert_value(f, "upload.sensitivity", 1);
    assert_value(f, "compute.sensitivity", 0);
    assert_value(f, "download.sensitivity", 0);
    assert_value(f, "period", 0.1);
    assert_true(measure(f, 1, settings));
    assert_value(f, "upload.sensitivity", 1);
    assert_value(f, "download.sensitivity", 1);
    /* 24 and 20 ms: 6 more make compute 26, of which 2 are over the upload's. */
    assert_true(measure(f, 4, (const char *const[]){"upload", "24 ms", "compute", "20 ms", NULL}));
    assert_true(fabs(value_of(f, "compute.sensitivity") - 2.0 / 6) < 1e-6);
}

/* A list as parameters of `null`; of the stages that it does not have none is there. */
static bool measure_list(struct null_fixture *f, unsigned depth,
                         const struct reference_stage *stages, size_t count)
{
    static const char *const names[NULL_STAGES] = {"prepare", "upload", "compute", "download",
                                                   "finish"};
    char times[NULL_STAGES][32], groups[NULL_STAGES + 1] = "";
    const char *settings[2 * NULL_STAGES + 3];
    size_t n = 0;
    for (size_t i = 0; i < NULL_STAGES; i++) {
        snprintf(times[i], sizeof(times[i]), "%" PRId64 " ns",
                 i < count ? stages[i].duration_ns : 0);
        if (i < count)
            groups[i] = (char)('a' + stages[i].group);
        settings[n++] = names[i];
        settings[n++] = times[i];
    }
    settings[n++] = "groups";
    settings[n++] = groups;
    settings[n] = NULL;
    return measure(f, depth, settings);
}

static double closed_form_ns(const struct reference_stage *stages, size_t count, unsigned depth)
{
    double sums[REFERENCE_STAGES_MAX] = {0}, all = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        all += (double)stages[i].duration_ns;
        sums[stages[i].group] += (double)stages[i].duration_ns;
        most = sums[stages[i].group] > most ? sums[stages[i].group] : most;
    }
    return all / depth > most ? all / depth : most;
}

static size_t random_list(uint64_t seed, bool own, struct reference_stage *stages)
{
    size_t count = reference_random(seed, own, stages);
    return count < NULL_STAGES ? count : NULL_STAGES;
}

static void distinct_groups_follow_the_closed_form(void **state)
{
    struct null_fixture *f = *state;
    struct reference_stage stages[REFERENCE_STAGES_MAX];
    for (uint64_t seed = 0; seed < LISTS; seed++) {
        size_t count = random_list(seed, true, stages);
        for (unsigned depth = 1; depth <= 8; depth++) {
            double ideal_ns = closed_form_ns(stages, count, depth);
            assert_true(measure_list(f, depth, stages, count));
            double period_ns = value_of(f, "period") * 1e9;
            assert_true(fabs(period_ns / ideal_ns - 1) < 0.03);
            assert_true(fabs(value_of(f, "ideal_period") * 1e9 - ideal_ns) <= 1);
        }
    }
}

static void shared_groups_follow_the_simulation(void **state)
{
    struct null_fixture *f = *state;
    struct reference_stage stages[REFERENCE_STAGES_MAX];
    for (uint64_t seed = 0; seed < LISTS; seed++) {
        size_t count = random_list(seed, false, stages);
        for (unsigned depth = 1; depth <= 8; depth++) {
            double bound_ns = closed_form_ns(stages, count, depth);
            double simulated_ns = reference_period_ns(stages, count, depth, 64 * depth);
            assert_true(measure_list(f, depth, stages, count));
            double period_ns = value_of(f, "period") * 1e9;
            assert_true(period_ns >= bound_ns - 1);
            assert_true(fabs(period_ns / simulated_ns - 1) < 0.03);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copy_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shared_queue, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_1_is_serial, set_up, tear_down),
        cmocka_unit_test_setup_teardown(latency_grows_with_depth, set_up, tear_down),
        cmocka_unit_test_setup_teardown(record_tells_who_shares, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sensitivity_is_one_on_the_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(distinct_groups_follow_the_closed_form, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shared_groups_follow_the_simulation, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
