/* SPDX-License-Identifier: MIT */
/* The serial schedule and its metrics on the simulated clock: every figure is known. */
#include "base/channel.h"
#include "base/json.h"
#include "measure/samples.h"
#include "measure/verification.h"
#include "null_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool measure(struct null_fixture *f, uint64_t seed, const char *const *settings)
{
    f->request.seed = seed;
    return measure_settings(f, settings);
}

static void assert_exact(const struct null_fixture *f, const char *name, double value)
{
    struct metric metric;
    metric_from_json(f->metrics, name, &metric);
    assert_null(metric.absent);
    assert_true(metric.value == value);
    assert_true(metric.low == value);
    assert_true(metric.high == value);
    assert_int_equal(metric.n, 6);
}

static void assert_absent(const struct null_fixture *f, const char *name, const char *reason)
{
    struct metric metric;
    metric_from_json(f->metrics, name, &metric);
    assert_non_null(metric.absent);
    assert_string_equal(metric.absent, reason);
}

static json_t *parse(const struct text *text)
{
    struct assay_error error = {0};
    json_t *json = json_read(text->data, text->length, "text", &error);
    assert_non_null(json);
    return json;
}

static void serial_stages_add_up(void **state)
{
    struct null_fixture *f = *state;
    const char *const settings[] = {"upload", "100 ms", "compute", "20 ms", "download",
                                    "10 ms",  "bytes",  "2 GB",    "flops", "3e9",
                                    "items",  "50",     NULL};
    assert_true(measure(f, 1, settings));
    assert_exact(f, "time", 0.13);
    assert_exact(f, "upload.time", 0.1);
    assert_exact(f, "upload.rate", 20e9);
    assert_exact(f, "download.rate", 200e9);
    assert_exact(f, "compute.time", 0.02);
    assert_exact(f, "compute.flop_rate", 150e9);
    assert_exact(f, "compute.item_rate", 2500);
    assert_exact(f, "upload.item_rate", 500);
    assert_absent(f, "compute.rate", "the stage has no payload");
    assert_absent(f, "upload.flop_rate", "the stage has no flops");
    assert_absent(f, "upload.device_time", "not a device stage");
    assert_absent(f, "submit_time", "no device stage");
    assert_absent(f, "device_time", "no device stage");
    assert_absent(f, "host_cpu_time", "simulated clock");
    struct metric batches;
    metric_from_json(f->metrics, "batches", &batches);
    assert_true(batches.value == 2 + 6 + 1);
    assert_int_equal(batches.n, 0);
}

static void metrics_as_text_are_the_tree(void **state)
{
    struct null_fixture *f = *state;
    assert_true(measure(f, 5, (const char *const[]){"noise", "0.3", "flops", "1e6", NULL}));
    struct text text = {0};
    metric_set_add_json(f->result.metrics, &text);
    json_t *parsed = parse(&text);
    assert_int_equal(json_object_size(parsed), json_object_size(f->metrics));
    const char *name;
    json_t *member;
    json_object_foreach(f->metrics, name, member)
    {
        struct metric a, b;
        metric_from_json(f->metrics, name, &a);
        metric_from_json(parsed, name, &b);
        assert_string_equal(a.absent ? a.absent : "", b.absent ? b.absent : "");
        assert_true(dimension_equal(a.dimension, b.dimension));
        assert_true(a.value == b.value && a.low == b.low && a.high == b.high && a.n == b.n);
    }
    json_decref(parsed);
    text_free(&text);
}

static void record_parts(void **state)
{
    struct null_fixture *f = *state;
    assert_true(measure(f, 1, (const char *const[]){"upload", "1 us", "bytes", "64 B", NULL}));
    assert_string_equal(text_string(&f->result.samples),
                        "{\"time\":[101000,101000,101000,101000,101000,101000],"
                        "\"upload.time\":[1000,1000,1000,1000,1000,1000],"
                        "\"compute.time\":[100000,100000,100000,100000,100000,100000]}");
    json_t *sampling = parse(&f->result.sampling);
    assert_string_equal(json_text(sampling, "clock", ""), "simulated");
    assert_string_equal(json_text(sampling, "stop", ""), "target");
    json_decref(sampling);
    json_t *stages = parse(&f->result.stages);
    assert_int_equal(json_array_size(stages), 2);
    json_t *upload = json_array_get(stages, 0);
    assert_string_equal(json_text(upload, "name", ""), "upload");
    assert_string_equal(json_text(upload, "kind", ""), "model");
    assert_string_equal(json_text(upload, "clock", ""), "simulated");
    assert_int_equal(json_whole(json_object_get(upload, "cost"), "payload_bytes", -1), 64);
    json_decref(stages);
    assert_int_equal(f->result.notes.length, 0);
    assert_int_equal(f->result.verification.length, 0);
}

/* A record is one line of limited length. */
static void samples_fit_their_record(void **state)
{
    struct null_fixture *f = *state;
    static const char *const settings[] = {"compute", "1000 s", "noise", "0.5", NULL};
    f->request.budget = (struct measure_budget){
        .target = 1e-9, .budget_ns = INT64_MAX / 2, .max_samples = 1000000};
    assert_true(measure(f, 1, settings));
    assert_true(f->result.samples.length < CHANNEL_LINE_BYTES - 4096);
    /* (16 MiB - 64 KiB - 384 KiB for a trace) / (6 columns of 20 bytes) */
    assert_non_null(
        strstr(text_string(&f->result.sampling), "\"n\":135987,\"stop\":\"max_samples\""));
    f->request.budget.min_samples = 200000;
    assert_false(measure(f, 1, settings));
    assert_int_equal(f->error.status, ASSAY_INVALID);
    assert_string_equal(f->error.text,
                        "min_samples: 200000 are wanted, but the record of this case "
                        "holds 135987 at most");
}

static void simulated_is_deterministic(void **state)
{
    struct null_fixture *f = *state;
    const char *const settings[] = {"compute", "1 ms", "noise", "0.1", NULL};
    assert_true(measure(f, 7, settings));
    char *first = json_dumps(f->metrics, 0);
    struct text series = {0};
    text_add(&series, text_string(&f->result.samples));
    assert_true(measure(f, 7, settings));
    char *second = json_dumps(f->metrics, 0);
    assert_string_equal(first, second);
    assert_string_equal(text_string(&series), text_string(&f->result.samples));
    struct metric time;
    metric_from_json(f->metrics, "time", &time);
    assert_true(time.low < time.value && time.value < time.high);
    assert_true(time.low >= 0.9e-3 && time.high <= 1.1e-3);
    assert_true(measure(f, 8, settings));
    assert_string_not_equal(text_string(&series), text_string(&f->result.samples));
    free(first);
    free(second);
    text_free(&series);
}

static void rate_interval_is_that_of_the_time(void **state)
{
    struct null_fixture *f = *state;
    const char *const settings[] = {"compute", "0",     "upload", "1 ms", "bytes",
                                    "1000 B",  "noise", "0.5",    NULL};
    assert_true(measure(f, 3, settings));
    struct metric time, rate;
    metric_from_json(f->metrics, "upload.time", &time);
    metric_from_json(f->metrics, "upload.rate", &rate);
    assert_true(fabs(rate.value * time.value - 1000) < 1e-9);
    assert_true(fabs(rate.low * time.high - 1000) < 1e-9);
    assert_true(fabs(rate.high * time.low - 1000) < 1e-9);
    assert_int_equal(rate.n, time.n);
}

static void no_stage_is_refused(void **state)
{
    struct null_fixture *f = *state;
    assert_false(measure(f, 1, (const char *const[]){"compute", "0", NULL}));
    assert_int_equal(f->error.status, ASSAY_INVALID);
    assert_string_equal(f->error.text,
                        "all stages have 0 ns; give at least one of prepare, upload, "
                        "compute, download and finish a duration");
}

/* Metrics of six made-up batches of one stage with a payload of 8 B. */
static void made_up(struct null_fixture *f, bool device, const int64_t times[6])
{
    static const struct assay_stage stage = {.name = "work"};
    struct clock_simulated clock;
    clock_simulated_init(&clock);
    struct serial serial = {.clock = &clock.clock, .count = 1, .device = device};
    serial.stages[0] = (struct serial_stage){.stage = &stage, .cost = {.payload_bytes = 8}};
    struct samples samples = {0};
    for (int i = 0; i < 6; i++) {
        struct serial_times row = {.time_ns = times[i], .submit_ns = 3};
        row.device_ns = row.stages[0].device_ns = device ? 4 : -1;
        row.stages[0].time_ns = times[i];
        assert_true(samples_add(&samples, &serial, &row, &f->error));
    }
    struct metric_set *set = metric_set_create();
    assert_true(samples_metrics(&samples, &serial, 0.95, set, &f->error));
    json_decref(f->metrics);
    f->metrics = metrics_json(set);
    metric_set_destroy(&set);
    samples_free(&samples);
}

static void times_of_zero_are_absent(void **state)
{
    struct null_fixture *f = *state;
    made_up(f, false, (const int64_t[]){0, 0, 0, 0, 0, 0});
    assert_absent(f, "time", "0 ns: too short for the clock");
    assert_absent(f, "work.time", "0 ns: too short for the clock");
    assert_absent(f, "work.rate", "0 ns: too short for the clock");
    made_up(f, false, (const int64_t[]){2, 0, 2, 2, 2, 2});
    struct metric time;
    metric_from_json(f->metrics, "work.time", &time);
    assert_null(time.absent);
    assert_true(time.low == 0 && time.value == 2e-9 && time.high == 2e-9);
    assert_absent(f, "work.rate", "the interval of its time reaches 0 ns: too short for the clock");
}

static void device_times_have_their_own_rates(void **state)
{
    struct null_fixture *f = *state;
    made_up(f, true, (const int64_t[]){16, 16, 16, 16, 16, 16});
    assert_exact(f, "work.time", 16e-9);
    assert_exact(f, "work.rate", 0.5e9);
    assert_exact(f, "work.device_time", 4e-9);
    assert_exact(f, "work.device_rate", 2e9);
    assert_exact(f, "device_time", 4e-9);
    assert_exact(f, "submit_time", 3e-9);
}

static void failures_keep_their_status(void **state)
{
    struct null_fixture *f = *state;
    static const struct {
        const char *fault;
        enum assay_status status;
        const char *text;
    } cases[] = {
        {"unsupported", ASSAY_UNSUPPORTED, "not supported, as fault=unsupported asks"},
        {"out_of_memory", ASSAY_OUT_OF_MEMORY, "out of memory, as fault=out_of_memory asks"},
        {"device_lost", ASSAY_DEVICE_LOST, "the device is lost, as fault=device_lost asks"},
        {"wrong_result", ASSAY_WRONG_RESULT, "null: byte 2 is 0x00, wanted 0x03"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_false(measure(f, 1, (const char *const[]){"fault", cases[i].fault, NULL}));
        assert_int_equal(f->error.status, cases[i].status);
        assert_string_equal(f->error.text, cases[i].text);
        assert_null(f->result.metrics);
        assert_int_equal(f->result.samples.length, 0);
    }
}

static void verification_refuses_nan(void **state)
{
    (void)state;
    struct assay_verification verification = {0};
    struct assay_error error = {0};
    assert_true(assay_verification_error(&verification, 0.25, &error));
    assert_true(assay_verification_error(&verification, 0.125, &error));
    assert_true(verification.error == 0.25);
    assert_false(assay_verification_error(&verification, (double)NAN, &error));
    assert_int_equal(error.status, ASSAY_WRONG_RESULT);
    error = (struct assay_error){0};
    assert_false(assay_verification_error(&verification, 1.5, &error));
    assert_int_equal(error.status, ASSAY_WRONG_RESULT);
    assert_true(verification.error == 1.5);
}

static void verification_locates_the_byte(void **state)
{
    (void)state;
    struct assay_verification verification = {0};
    struct assay_error error = {0};
    assert_true(assay_verification_bytes(&verification, "x", "abc", "abc", 3, 0, &error));
    assert_int_equal(verification.checked_bytes, 3);
    assert_false(assay_verification_bytes(&verification, "x", "abX", "abc", 3, 100, &error));
    assert_string_equal(error.text, "x: byte 102 is 0x58, wanted 0x63");
    assert_int_equal(verification.checked_bytes, 6);
}

static void extras_are_checked(void **state)
{
    struct null_fixture *f = *state;
    struct assay_error error = {0};
    struct assay_metrics metrics = {.workload = f->null.workload, .set = metric_set_create()};
    assert_false(assay_metrics_add(&metrics, "nonsense", 1, &error));
    assert_string_equal(error.text, "'null' reports a metric 'nonsense' that it does not declare");
    error = (struct assay_error){0};
    assert_true(assay_metrics_add(&metrics, "batches", (double)INFINITY, &error));
    assert_false(assay_metrics_add(&metrics, "batches", 1, &error));
    assert_string_equal(error.text, "'null' reports its metric 'batches' twice");
    error = (struct assay_error){0};
    assert_true(metrics_finish(&metrics, &error));
    f->metrics = metrics_json(metrics.set);
    assert_absent(f, "batches", "the workload reported a value that is not finite");
    metric_set_destroy(&metrics.set);

    metrics = (struct assay_metrics){.workload = f->null.workload, .set = metric_set_create()};
    assert_true(metrics_finish(&metrics, &error));
    json_decref(f->metrics);
    f->metrics = metrics_json(metrics.set);
    assert_absent(f, "batches", "the workload did not report it");
    metric_set_destroy(&metrics.set);
}

/* Each batch takes longer than the one before, by one in `growth` of the time that has passed. */
static int64_t growth;

static int64_t growing(const struct assay_stage *stage, void *self, int64_t now_ns)
{
    (void)stage;
    (void)self;
    return 1000 + now_ns / growth;
}

static void *growing_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    (void)slot;
    (void)params;
    (void)error;
    return &growth;
}

static void growing_destroy(void **self)
{
    *self = NULL;
}

static json_t *measure_growing(struct null_fixture *f, int64_t by, struct measure_budget budget)
{
    static const struct assay_stage stage = {
        .size = sizeof(stage), .name = "work", .kind = ASSAY_STAGE_MODEL, .duration_ns = growing};
    static const struct assay_stage *const stages[] = {&stage, NULL};
    static const struct assay_workload workload = {.size = sizeof(workload),
                                                   .name = "growing",
                                                   .version = "1",
                                                   .stages = stages,
                                                   .create = growing_create,
                                                   .destroy = growing_destroy};
    growth = by;
    measure_result_free(&f->result);
    struct measure_request request = {.workload = &workload, .budget = budget};
    f->error = (struct assay_error){0};
    assert_true(measure_case(&request, &f->result, &f->error));
    return parse(&f->result.sampling);
}

/* 1 % a batch: the warm-up's windows differ by 3 %, the last third of the samples from the first by
 * 8 batches' growth. */
static void drift_is_noted(void **state)
{
    struct null_fixture *f = *state;
    json_t *sampling = measure_growing(f, 100, (struct measure_budget){.max_samples = 12});
    assert_string_equal(json_text(sampling, "warmup_stop", ""), "settled");
    assert_int_equal(json_whole(sampling, "warmup", -1), 6);
    assert_true(json_flag(sampling, "settled", false));
    assert_string_equal(json_text(sampling, "stop", ""), "max_samples");
    json_t *drift = json_object_get(sampling, "drift");
    assert_true(json_flag(drift, "drifting", false));
    assert_true(json_number(drift, "tau", 0) == 1);
    double change = json_number(drift, "change", 0);
    assert_true(change > 0.082 && change < 0.084); /* 1.01^8 - 1 */
    json_decref(sampling);
    assert_string_equal(
        text_string(&f->result.notes),
        "[\"drift: time rose by 8.3 % from the first third of the 12 samples to the "
        "last\"]");
}

/* 10 % a batch never settles: 6 batches take 7,715 ns, 7 take 9,486. */
static void unsettled_warmup_is_noted(void **state)
{
    struct null_fixture *f = *state;
    json_t *sampling = measure_growing(
        f, 10, (struct measure_budget){.warmup_ns = 9000, .max_samples = 6});
    assert_string_equal(json_text(sampling, "warmup_stop", ""), "budget");
    assert_int_equal(json_whole(sampling, "warmup", -1), 7);
    assert_in_range(json_whole(sampling, "warmup_ns", -1), 9480, 9490);
    assert_false(json_flag(sampling, "settled", true));
    json_decref(sampling);
    assert_non_null(strstr(text_string(&f->result.notes),
                           "\"warm-up ended unsettled after 7 batches: its time was over\""));
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(serial_stages_add_up),
        WITH_FIXTURE(metrics_as_text_are_the_tree),
        WITH_FIXTURE(record_parts),
        WITH_FIXTURE(samples_fit_their_record),
        WITH_FIXTURE(simulated_is_deterministic),
        WITH_FIXTURE(rate_interval_is_that_of_the_time),
        WITH_FIXTURE(no_stage_is_refused),
        WITH_FIXTURE(times_of_zero_are_absent),
        WITH_FIXTURE(device_times_have_their_own_rates),
        WITH_FIXTURE(drift_is_noted),
        WITH_FIXTURE(unsettled_warmup_is_noted),
        WITH_FIXTURE(failures_keep_their_status),
        cmocka_unit_test(verification_refuses_nan),
        cmocka_unit_test(verification_locates_the_byte),
        WITH_FIXTURE(extras_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
