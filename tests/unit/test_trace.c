/* SPDX-License-Identifier: MIT */
/* What of a run's events is kept for a trace, and how it is written. */
#include "base/json.h"
#include "measure/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define STAGES 3

static const struct engine_layout layout = {.stages = STAGES,
                                            .groups = 2,
                                            .group_of = {1, 0, 0},
                                            .group = {{.name = "queue 0.0.0"}, {.name = "host"}}};
static const struct assay_stage stages[STAGES] = {
    {.name = "source"}, {.name = "upload"}, {.name = "compute"}};

/* Stage s of batch b runs from 10 b + s + 7 on for `long_ns`. */
static json_t *traced(uint64_t batches, int64_t long_ns, struct text *text)
{
    struct assay_error error = {0};
    struct events events = {0};
    struct trace trace = {0};
    struct serial serial = {.count = STAGES};
    for (unsigned s = 0; s < STAGES; s++)
        serial.stages[s].stage = &stages[s];
    for (uint64_t b = 0; b < batches; b++) {
        for (unsigned s = 0; s < STAGES; s++) {
            int64_t begin_ns = (int64_t)(10 * b + s + 7);
            struct event event = {.batch = b,
                                  .slot = b % 2,
                                  .stage = s,
                                  .group = layout.group_of[s],
                                  .begin_ns = begin_ns,
                                  .end_ns = begin_ns + long_ns,
                                  .cpu_ns = s == 0 ? 5 : -1};
            assert_true(events_add(&events, &event, &error));
        }
    }
    assert_true(trace_keep(&trace, &layout, &events, batches, &error));
    trace_add(&trace, &layout, &serial, 2, text);
    trace_free(&trace);
    events_free(&events);
    return text->length ? json_read(text->data, text->length, "trace", &error) : NULL;
}

static void every_member(void **state)
{
    (void)state;
    struct text text = {0};
    json_t *trace = traced(2, 1, &text);
    assert_string_equal(
        text_string(&text),
        "{\"depth\":2,\"batches\":2,\"groups\":[\"queue 0.0.0\",\"host\"],\"clocks\":[null,null],"
        "\"stages\":["
        "{\"name\":\"source\",\"group\":1},{\"name\":\"upload\",\"group\":0},"
        "{\"name\":\"compute\",\"group\":0}],\"events\":[[0,0,0,0,1,5],[0,0,1,1,2,null],"
        "[0,0,2,2,3,null],[1,1,0,10,11,5],[1,1,1,11,12,null],[1,1,2,12,13,null]]}");
    json_decref(trace);
    text_free(&text);
}

/* 4096 / 3: whole batches alone; a record has room for the longest numbers. */
static void a_long_run_is_cut(void **state)
{
    (void)state;
    struct text text = {0};
    json_t *trace = traced(5000, INT64_C(1) << 60, &text);
    const json_t *events = json_object_get(trace, "events");
    assert_int_equal(json_whole(trace, "batches", 0), 5000);
    assert_int_equal(json_array_size(events), 4095);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(events, 4094), 0)), 1364);
    assert_true(text.length < TRACE_BYTES);
    json_decref(trace);
    text_free(&text);
}

static void nothing_ran(void **state)
{
    (void)state;
    struct text text = {0};
    assert_null(traced(0, 1, &text));
    assert_int_equal(text.length, 0);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member),
        cmocka_unit_test(a_long_run_is_cut),
        cmocka_unit_test(nothing_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
