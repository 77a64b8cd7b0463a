/* SPDX-License-Identifier: MIT */
/* Stages that are short for their queue's timestamps are repeated to get their device time, and to
 * no other end. What an empty region costs is set here, so that short is what the test says. */
#include "builtin_fixture.h"

#include "../metrics_json.h"
#include "base/json.h"
#include "measure/repeat.h"

#include <assay/assay.h>

/* Ten of these are longer than any of the stages here takes on a busy machine. */
#define SHORT_NS INT64_C(2000000)

static unsigned min_samples; /* 0: the least */

struct outcome {
    struct measure_result result;
    json_t *series, *stage, *notes;
};

static void set_empty_region(int64_t ns)
{
    struct vulkan_device *member = builtin.device->members[0];
    for (uint32_t i = 0; i < member->queue_count; i++)
        member->queues[i].empty_region_ns = member->queues[i].timestamp_bits ? ns : -1;
}

static bool has_timestamps(void)
{
    struct vulkan_device *member = builtin.device->members[0];
    for (uint32_t i = 0; i < member->queue_count; i++)
        if (member->queues[i].timestamp_bits == 0)
            return false;
    return true;
}

static json_t *parse(const struct text *text)
{
    struct assay_error error = {0};
    json_t *json = text->length ? json_read(text->data, text->length, "text", &error)
                                : json_array();
    assert_non_null(json);
    return json;
}

static void measure(const struct assay_workload *workload, const void *params,
                    struct outcome *outcome)
{
    static const char *directories[2];
    directories[0] = getenv("ASSAY_SHADER_DIR");
    struct shader_search search = {.directories = directories};
    struct measure_request request = {
        .workload = workload,
        .params = params,
        .device = builtin.device,
        .search = &search,
        .seed = 7,
        .budget = {.min_samples = min_samples, .budget_ns = 1, .warmup_ns = 1}};
    struct assay_error error = {0};
    fixture_assert_ok(measure_case(&request, &outcome->result, &error), &error);
    outcome->series = parse(&outcome->result.samples);
    json_t *stages = parse(&outcome->result.stages);
    outcome->stage = json_incref(json_array_get(stages, 0));
    json_decref(stages);
    outcome->notes = parse(&outcome->result.notes);
    json_t *verification = parse(&outcome->result.verification);
    assert_string_equal(json_text(verification, "verdict", ""), "right");
    json_decref(verification);
    fixture_assert_quiet(&builtin.vulkan);
}

static void measure_copy(const char *direction, const char *memory, const char *bytes,
                         struct outcome *outcome)
{
    struct assay_error error = {0};
    void *params = workload_params(
        &builtin.workload,
        (const char *const[]){"direction", direction, "host_memory", memory, "bytes", bytes, NULL},
        &error);
    fixture_assert_ok(params, &error);
    measure(builtin.workload.workload, params, outcome);
}

static void release(struct outcome *outcome)
{
    json_decref(outcome->series);
    json_decref(outcome->stage);
    json_decref(outcome->notes);
    measure_result_free(&outcome->result);
}

static int64_t at(const struct outcome *outcome, const char *series, size_t i)
{
    return json_integer_value(json_array_get(json_object_get(outcome->series, series), i));
}

static size_t sample_count(const struct outcome *outcome)
{
    return json_array_size(json_object_get(outcome->series, "time"));
}

/* How many notes are about stages. */
static size_t stage_notes(const struct outcome *outcome)
{
    size_t i, count = 0;
    json_t *note;
    json_array_foreach(outcome->notes, i, note)
    {
        count += strncmp(json_string_value(note), "stage '", 7) == 0;
    }
    return count;
}

static void assert_note(const struct outcome *outcome, const char *text)
{
    const char *note = json_text(outcome->stage, "note", "");
    if (!strstr(note, text))
        print_error("%s\n", note);
    assert_non_null(strstr(note, text));
}

static void assert_repeated(const struct outcome *outcome)
{
    int64_t repeats = json_whole(outcome->stage, "repeats", -1);
    assert_in_range(repeats, 2, REPEAT_COUNT_MAX);
    char text[100];
    snprintf(text, sizeof(text), ": repeated %lld times", (long long)repeats);
    assert_note(outcome, text);
    if (repeats < REPEAT_COUNT_MAX)
        assert_note(outcome, "times between one pair of timestamps");
}

static void device_copy_is_repeated(void **state)
{
    (void)state;
    struct outcome outcome;
    set_empty_region(SHORT_NS);
    measure_copy("device", "pinned", "4096", &outcome);
    assert_repeated(&outcome);
    assert_string_equal(json_text(outcome.stage, "clock", ""), "device");
    assert_true(sample_count(&outcome) >= 6);
    for (size_t i = 0; i < sample_count(&outcome); i++) {
        /* On the device's clock the stage's time is its device time; the batch's sum is its own. */
        assert_int_equal(at(&outcome, "copy.time", i), at(&outcome, "copy.device_time", i));
        assert_true(at(&outcome, "device_time", i) <= at(&outcome, "time", i));
    }
    release(&outcome);
}

static void host_time_is_not_touched(void **state)
{
    (void)state;
    struct outcome outcome;
    set_empty_region(SHORT_NS);
    measure_copy("upload", "pinned", "4096", &outcome);
    assert_repeated(&outcome);
    assert_string_equal(json_text(outcome.stage, "clock", ""), "host");
    assert_int_equal(stage_notes(&outcome), 0);
    for (size_t i = 0; i < sample_count(&outcome); i++) {
        /* The wait is within the stage, and the stage within the batch. */
        assert_true(at(&outcome, "copy.time", i) <= at(&outcome, "time", i));
        assert_true(at(&outcome, "submit_time", i) <= at(&outcome, "copy.time", i));
        assert_true(at(&outcome, "device_time", i) <= at(&outcome, "copy.time", i));
    }
    release(&outcome);
}

/* Of many batches those that have none are null, and the metric counts the others. */
static void device_times_beside_host_times_are_sparse(void **state)
{
    (void)state;
    struct outcome outcome;
    set_empty_region(SHORT_NS);
    min_samples = 64;
    measure_copy("upload", "pinned", "4096", &outcome);
    min_samples = 0;
    assert_repeated(&outcome);
    assert_true(sample_count(&outcome) >= 64);
    const json_t *series = json_object_get(outcome.series, "copy.device_time");
    assert_int_equal(json_array_size(series), sample_count(&outcome));
    json_int_t there = 0;
    for (size_t i = 0; i < sample_count(&outcome); i++) {
        const json_t *value = json_array_get(series, i);
        assert_true(json_is_integer(value) || (i >= REPEAT_TURNS_LEAST && json_is_null(value)));
        assert_true(at(&outcome, "copy.time", i) > 0);
        there += json_is_integer(value);
    }
    json_t *metrics = metrics_json(outcome.result.metrics);
    json_t *metric = json_object_get(metrics, "copy.device_time");
    assert_int_equal(json_whole(metric, "n", -1), there);
    json_decref(metrics);
    release(&outcome);
}

static void both_ways_are_repeated(void **state)
{
    (void)state;
    struct outcome outcome;
    set_empty_region(SHORT_NS);
    measure_copy("both", "pinned", "4096", &outcome);
    assert_repeated(&outcome);
    release(&outcome);
}

static void long_stages_are_not_repeated(void **state)
{
    (void)state;
    struct outcome outcome;
    set_empty_region(0);
    measure_copy("device", "pinned", "4096", &outcome);
    assert_int_equal(json_whole(outcome.stage, "repeats", -1), 1);
    assert_true(json_is_null(json_object_get(outcome.stage, "note")));
    assert_int_equal(stage_notes(&outcome), 0);
    for (size_t i = 0; i < sample_count(&outcome); i++)
        assert_int_equal(at(&outcome, "device_time", i), at(&outcome, "copy.device_time", i));
    release(&outcome);
}

static void staged_copies_are_not_repeated(void **state)
{
    (void)state;
    struct outcome outcome;
    set_empty_region(INT64_C(1000000000));
    measure_copy("upload", "pageable", "4096", &outcome);
    assert_int_equal(json_whole(outcome.stage, "repeats", -1), 1);
    assert_note(&outcome, "mostly the timestamps' own cost; not repeated: the host takes part");
    release(&outcome);
}

static void repeats_are_limited(void **state)
{
    (void)state;
    struct outcome outcome;
    set_empty_region(INT64_C(1000000000));
    measure_copy("device", "pinned", "64", &outcome);
    assert_int_equal(json_whole(outcome.stage, "repeats", -1), REPEAT_COUNT_MAX);
    assert_note(&outcome, "repeated 4096 times, the most there may be, and still short");
    assert_int_equal(stage_notes(&outcome), 1);
    release(&outcome);
}

/* A workload that adds one to each word of `x`. */
#define WORDS 256

struct adder {
    struct assay_buffer *x;
    struct assay_kernel *kernel;
};
static enum assay_role adder_role;

static void *adder_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    (void)params;
    static struct adder adder;
    struct assay_kernel_params kernel = {
        .size = sizeof(kernel),
        .text = "#version 450\n"
                "layout(local_size_x = 64) in;\n"
                "layout(binding = 0, std430) buffer block { uint words[]; } x;\n"
                "void main() { x.words[gl_GlobalInvocationID.x] += 1; }\n"};
    struct assay_buffer_params buffer = {.size = sizeof(buffer),
                                         .name = "x",
                                         .bytes = 4 * WORDS,
                                         .memory = ASSAY_MEMORY_DEVICE,
                                         .role = adder_role};
    adder.kernel = assay_kernel_create(slot, &kernel, error);
    adder.x = adder.kernel ? assay_buffer_create(slot, &buffer, error) : NULL;
    return adder.x ? &adder : NULL;
}

static void adder_destroy(void **self)
{
    struct adder *adder = *self;
    assay_kernel_destroy(&adder->kernel);
    assay_buffer_destroy(&adder->x);
    *self = NULL;
}

static bool adder_record(const struct assay_stage *stage, void *self, struct assay_command *command,
                         struct assay_error *error)
{
    (void)stage;
    struct adder *adder = self;
    struct assay_binding binding = {.name = "x", .buffer = adder->x};
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = adder->kernel,
                                      .bindings = &binding,
                                      .binding_count = 1,
                                      .invocations = {WORDS}};
    return assay_command_dispatch(command, &dispatch, error);
}

static bool adder_verify(void *self, struct assay_verification *verification,
                         struct assay_error *error)
{
    struct adder *adder = self;
    uint32_t got[WORDS], wanted[WORDS];
    assay_buffer_fill_bytes(adder->x, 0, sizeof(wanted), wanted);
    for (int i = 0; i < WORDS; i++)
        wanted[i]++;
    if (!assay_buffer_read(adder->x, 0, sizeof(got), got, error))
        return false;
    return adder_role == ASSAY_ROLE_SCRATCH ||
           assay_verification_bytes(verification, "x", got, wanted, sizeof(got), 0, error);
}

static void measure_adder(enum assay_role role, bool in_place, struct outcome *outcome)
{
    const struct assay_stage stage = {.size = sizeof(stage),
                                      .name = "add",
                                      .kind = ASSAY_STAGE_COMPUTE,
                                      .record = adder_record,
                                      .in_place = in_place};
    const struct assay_stage *const stages[] = {&stage, NULL};
    const struct assay_workload workload = {.size = sizeof(workload),
                                            .name = "adder",
                                            .version = "1",
                                            .stages = stages,
                                            .create = adder_create,
                                            .verify = adder_verify,
                                            .destroy = adder_destroy};
    adder_role = role;
    measure(&workload, NULL, outcome);
}

static void work_in_place_is_not_repeated(void **state)
{
    (void)state;
    struct outcome outcome;
    set_empty_region(INT64_C(1000000000));
    measure_adder(ASSAY_ROLE_INPUT, false, &outcome);
    assert_int_equal(json_whole(outcome.stage, "repeats", -1), 1);
    assert_note(&outcome,
                "mostly the timestamps' own cost; not repeated: it works in place: it may "
                "write to its input 'x'");
    assert_int_equal(stage_notes(&outcome), 1);
    release(&outcome);
    measure_adder(ASSAY_ROLE_SCRATCH, true, &outcome);
    assert_int_equal(json_whole(outcome.stage, "repeats", -1), 1);
    assert_note(&outcome, "not repeated: it works in place");
    release(&outcome);
    set_empty_region(SHORT_NS);
    measure_adder(ASSAY_ROLE_SCRATCH, false, &outcome);
    assert_repeated(&outcome);
    release(&outcome);
}

static int no_timestamps(void **state)
{
    (void)state;
    if (!has_timestamps())
        skip();
    return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, no_timestamps)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(device_copy_is_repeated),        TEST(host_time_is_not_touched),
        TEST(both_ways_are_repeated),         TEST(long_stages_are_not_repeated),
        TEST(staged_copies_are_not_repeated), TEST(repeats_are_limited),
        TEST(work_in_place_is_not_repeated),  TEST(device_times_beside_host_times_are_sparse),
    };
    return builtin_run("copy", tests, builtin_set_up);
}
