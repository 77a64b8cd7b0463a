/* SPDX-License-Identifier: MIT */
/* What a schedule is called, holds and looks like in JSON. */
#include "base/json.h"
#include "experiment/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct schedule read_schedule(const char *line)
{
    struct assay_error error = {0};
    struct schedule schedule;
    json_t *json = json_read(line, strlen(line), "schedule", &error);
    assert_non_null(json);
    if (!schedule_from_json(json, &schedule, &error))
        fail_msg("%s", error.text);
    json_decref(json);
    return schedule;
}

static void refuse(const char *line, const char *why)
{
    struct assay_error error = {0};
    struct schedule schedule;
    json_t *json = json_read(line, strlen(line), "schedule", &error);
    assert_non_null(json);
    assert_false(schedule_from_json(json, &schedule, &error));
    assert_string_equal(error.text, why);
    json_decref(json);
}

/* Sorted: the canonical form. */
static void assert_json(const struct schedule *schedule, const char *wanted)
{
    struct assay_error error = {0};
    struct text line = {0};
    json_t *json = schedule_to_json(schedule);
    assert_true(json_add_line(&line, json, true, &error));
    assert_string_equal(text_string(&line), wanted);
    json_decref(json);
    text_free(&line);
}

static void assert_label(const struct schedule *schedule, const char *wanted)
{
    struct text label = {0};
    schedule_add_label(schedule, &label);
    assert_string_equal(text_string(&label), wanted);
    text_free(&label);
}

static void only_what_is_given_is_written(void **state)
{
    (void)state;
    static const char line[] = "{\"arrivals\":\"even\",\"batch_max\":16,\"name\":\"open_loop\","
                               "\"rate\":200.0,\"wait_max\":5000000}";
    struct schedule open = read_schedule(line);
    assert_int_equal(open.kind, SCHEDULE_OPEN_LOOP);
    assert_true(open.rate == 200);
    assert_int_equal(open.arrivals, SCHEDULE_ARRIVALS_EVEN);
    assert_int_equal(open.batch_max, 16);
    assert_int_equal(open.wait_max_ns, 5000000);
    assert_int_equal(open.queue_max, 10000); /* the default */
    assert_json(&open, line);
    assert_label(&open, "open_loop rate=200req/s arrivals=even batch_max=16 wait_max=5ms");
    struct schedule serial = schedule_default(SCHEDULE_SERIAL);
    assert_json(&serial, "{\"name\":\"serial\"}");
    assert_label(&serial, "serial");
}

static void null_is_serial(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct schedule schedule;
    assert_true(schedule_from_json(NULL, &schedule, &error));
    assert_int_equal(schedule.kind, SCHEDULE_SERIAL);
    assert_int_equal(schedule.depth, 1);
}

/* A default that is given is another schedule than one that is not: ids differ too. */
static void equal_is_as_given(void **state)
{
    (void)state;
    struct schedule two = read_schedule("{\"name\":\"pipelined\",\"depth\":2}");
    struct schedule same = read_schedule("{\"name\":\"pipelined\",\"depth\":2}");
    struct schedule three = read_schedule("{\"name\":\"pipelined\",\"depth\":3}");
    struct schedule unsaid = read_schedule("{\"name\":\"pipelined\"}");
    assert_int_equal(unsaid.depth, 2);
    assert_true(schedule_equal(&two, &same));
    assert_false(schedule_equal(&two, &three));
    assert_false(schedule_equal(&two, &unsaid));
    assert_label(&unsaid, "pipelined");
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refuse("{\"name\":\"pipelined\",\"depth\":0}",
           "depth: 0 is out of range, allowed are 1 to 1024");
    refuse("{\"name\":\"pipelined\",\"rate\":1}",
           "'pipelined' has no parameter 'rate'; it has depth, queues and sensitivity");
    refuse("{\"name\":\"serial\",\"depth\":1}", "'serial' has no parameter 'depth'; it has queues");
    refuse("{\"name\":\"serial\",\"queues\":\"devices\"}",
           "queues: 'devices' is none of auto, one and dedicated");
    refuse("{\"name\":\"open_loop\"}", "rate has to be given: requests that arrive a second");
    refuse("{\"name\":\"open_loop\",\"rate\":0}",
           "rate: 0 req/s is out of range, allowed are 0.001 req/s to 10000000 req/s");
    refuse("{\"name\":\"sustained\",\"duration\":0}",
           "duration: 0 ns is out of range, allowed are 1 ns to 86400 s");
    refuse("{\"name\":\"open_loop\",\"rate\":1,\"wait_max\":1000}",
           "wait_max is the time that a request waits for others of its batch, and batches hold "
           "one request; give batch_max too");
    refuse("{\"name\":\"sustained\",\"duration\":1000,\"window\":500}",
           "window: at least 10 windows are wanted in the duration");
    refuse("{\"name\":\"sustained\",\"duration\":20002,\"window\":2}",
           "window: at most 10000 windows are kept in the duration; give a longer one");
    refuse("{\"name\":\"open_loop\",\"rate\":10,\"duration\":7900000000}",
           "duration: fewer than 80 requests arrive in it at this rate, which says nothing of "
           "their latency; give a longer one");
    refuse(
        "{\"name\":\"open_loop\",\"rate\":10,\"batch_max\":8,\"queue_max\":7}",
        "queue_max: so few requests wait that no batch is ever full; give at least batch_max, 8");
    refuse("{\"name\":\"open_loop\",\"rate\":2.5}",
           "duration has to be given at this rate: until 80 requests arrive it takes over 30 s");
    refuse("{\"name\":\"dance\"}", "there is no schedule 'dance'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_given_is_written),
        cmocka_unit_test(null_is_serial),
        cmocka_unit_test(equal_is_as_given),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
