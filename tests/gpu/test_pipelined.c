/* SPDX-License-Identifier: MIT */
/* Batches in flight on a device: on its queues, on two logical devices, with host stages, with
 * copies by the host; what a missing wait does, and a stage that fails. */
#include "builtin_fixture.h"

#include "base/text.h"

/* ASSAY_TEST_SEEDS sets fewer, for drivers that take seconds to build a kernel. */
#define SEEDS 100

struct setting {
    unsigned members, depth;
    unsigned defect_stage;
    bool perturb;
    uint64_t seed;
    const struct schedule *schedule; /* NULL: pipelined, with the depth */
};

static const char *const small[] = {"upload",   "16 KiB", "flops", "1 kFLOP",
                                    "download", "4 KiB",  NULL};

/* Two stages, and a kernel that is compiled in no time: what runs with each of the seeds. */
static const char *const least[] = {"upload", "4 KiB", "flops", "0", "download", "0", NULL};

static struct assay_device *devices[3]; /* by members */

static int tear_down(void **state)
{
    device_destroy(&devices[1]);
    device_destroy(&devices[2]);
    return builtin_tear_down(state);
}

static bool measure_params(const struct assay_workload *workload, const void *params,
                           const struct setting *setting, struct measure_result *result,
                           struct assay_error *error)
{
    const char *const directories[] = {getenv("ASSAY_SHADER_DIR"), NULL};
    struct shader_search search = {.directories = directories};
    struct assay_device **device = &devices[setting->members];
    if (!*device)
        *device = fixture_device(&builtin.vulkan, setting->members);
    struct measure_request request = {.workload = workload,
                                      .params = params,
                                      .device = *device,
                                      .search = &search,
                                      .seed = 42,
                                      .budget = {.budget_ns = 1, .warmup_ns = 1},
                                      .perturb = setting->perturb,
                                      .perturb_seed = setting->seed,
                                      .defect_stage = setting->defect_stage};
    request.schedule = schedule_default(SCHEDULE_PIPELINED);
    request.schedule.depth = setting->depth;
    if (setting->schedule)
        request.schedule = *setting->schedule;
    *error = (struct assay_error){0};
    return measure_case(&request, result, error);
}

static bool measure(const char *const *settings, const struct setting *setting,
                    struct measure_result *result, struct assay_error *error)
{
    void *params = workload_params(&builtin.workload, settings, error);
    *result = (struct measure_result){0};
    return params && measure_params(builtin.workload.workload, params, setting, result, error);
}

static void assert_right(const char *const *settings, struct setting setting, const char *groups)
{
    struct measure_result result;
    struct assay_error error;
    fixture_assert_ok(measure(settings, &setting, &result, &error), &error);
    assert_non_null(strstr(text_string(&result.verification), "\"verdict\":\"right\""));
    if (groups)
        assert_non_null(strstr(text_string(&result.pipeline), groups));
    measure_result_free(&result);
}

static void slots_are_right_on_the_queues_of_a_device(void **state)
{
    (void)state;
    assert_right(small, (struct setting){.members = 1, .depth = 1}, NULL);
    assert_right(small, (struct setting){.members = 1, .depth = 4, .perturb = true, .seed = 3},
                 NULL);
}

static void slots_are_right_on_two_devices(void **state)
{
    (void)state;
    assert_right(small, (struct setting){.members = 2, .depth = 3, .perturb = true, .seed = 3},
                 "\"name\":\"queue 1.0.0\"");
}

static void host_stages_have_a_thread(void **state)
{
    (void)state;
    const char *const settings[] = {"upload",  "16 KiB", "flops",  "1 kFLOP", "download", "4 KiB",
                                    "prepare", "narrow", "fields", "8",       NULL};
    assert_right(settings, (struct setting){.members = 1, .depth = 3, .perturb = true, .seed = 3},
                 "\"name\":\"host");
}

/* The host copies between pageable and pinned memory within the stage. */
static void stages_with_copies_of_the_host(void **state)
{
    (void)state;
    const char *const settings[] = {"upload", "16 KiB",      "flops",    "1 kFLOP", "download",
                                    "4 KiB",  "host_memory", "pageable", NULL};
    assert_right(settings, (struct setting){.members = 1, .depth = 3, .perturb = true, .seed = 3},
                 NULL);
}

static uint64_t seed_count(void)
{
    const char *text = getenv("ASSAY_TEST_SEEDS");
    const uint64_t count = text ? strtoull(text, NULL, 10) : SEEDS;
    assert_in_range(count, 1, SEEDS);
    return count;
}

/* compute is the second stage; nothing makes it wait for the upload on the other device. */
static void missing_wait_is_caught_with_every_seed(void **state)
{
    (void)state;
    const uint64_t seeds = seed_count();
    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct setting setting = {
            .members = 2, .depth = 2, .defect_stage = 2, .perturb = true, .seed = seed};
        struct measure_result result;
        struct assay_error error;
        assert_false(measure(least, &setting, &result, &error));
        assert_int_equal(error.status, ASSAY_WRONG_RESULT);
        measure_result_free(&result);
    }
}

static void right_engine_is_right_with_every_seed(void **state)
{
    (void)state;
    const uint64_t seeds = seed_count();
    for (uint64_t seed = 0; seed < seeds; seed++)
        assert_right(
            least, (struct setting){.members = 2, .depth = 2, .perturb = true, .seed = seed}, NULL);
}

/* A workload whose host stage fails in the middle of a burst. */
struct failing {
    struct assay_buffer *host, *device;
    unsigned *runs;
};
static unsigned failing_runs, failing_at, failing_created, failing_destroyed;

static void *failing_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    struct failing *self = calloc(1, sizeof(*self));
    struct assay_buffer_params buffer = {
        .size = sizeof(buffer), .name = "host", .bytes = 1 << 16, .memory = ASSAY_MEMORY_PINNED};
    (void)params;
    assert_non_null(self);
    failing_created++;
    self->runs = &failing_runs;
    self->host = assay_buffer_create(slot, &buffer, error);
    buffer.name = "device";
    buffer.memory = ASSAY_MEMORY_DEVICE;
    self->device = assay_buffer_create(slot, &buffer, error);
    return self;
}

static void failing_destroy(void **self)
{
    struct failing *failing = *self;
    if (!failing)
        return;
    assay_buffer_destroy(&failing->host);
    assay_buffer_destroy(&failing->device);
    free(failing);
    failing_destroyed++;
    *self = NULL;
}

static bool failing_run(const struct assay_stage *stage, void *self, struct assay_error *error)
{
    struct failing *failing = self;
    (void)stage;
    if (++*failing->runs < failing_at)
        return true;
    return assay_fail(error, ASSAY_INVALID, "run %u", *failing->runs);
}

static bool failing_record(const struct assay_stage *stage, void *self,
                           struct assay_command *command, struct assay_error *error)
{
    struct failing *failing = self;
    (void)stage;
    return assay_command_copy(command, failing->device, 0, failing->host, 0, 1 << 16, error);
}

static bool failing_verify(void *self, struct assay_verification *verification,
                           struct assay_error *error)
{
    (void)self;
    (void)verification;
    (void)error;
    return true;
}

static void failing_stage_drains_what_is_in_flight(void **state)
{
    static const struct assay_stage run = {
        .size = sizeof(run), .name = "check", .kind = ASSAY_STAGE_HOST, .run = failing_run};
    static const struct assay_stage upload = {.size = sizeof(upload),
                                              .name = "upload",
                                              .kind = ASSAY_STAGE_TRANSFER,
                                              .record = failing_record};
    static const struct assay_stage *const stages[] = {&upload, &run, NULL};
    static const struct assay_workload workload = {.size = sizeof(workload),
                                                   .name = "failing",
                                                   .stages = stages,
                                                   .create = failing_create,
                                                   .verify = failing_verify,
                                                   .destroy = failing_destroy};
    static const enum schedule_kind kinds[] = {SCHEDULE_SERIAL, SCHEDULE_PIPELINED,
                                               SCHEDULE_OPEN_LOOP, SCHEDULE_CLOSED_LOOP,
                                               SCHEDULE_SUSTAINED};
    (void)state;
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct schedule schedule = schedule_default(kinds[i]);
        bool flies = kinds[i] == SCHEDULE_PIPELINED || kinds[i] == SCHEDULE_SUSTAINED;
        unsigned slots = flies ? 4 : 1;
        schedule.depth = slots;
        schedule.rate = 10000;
        schedule.clients = 3;
        schedule.duration_ns = kinds[i] > SCHEDULE_PIPELINED ? 100000000 : 0;
        struct setting setting = {.members = 1, .schedule = &schedule};
        struct measure_result result = {0};
        struct assay_error error;
        failing_at = kinds[i] == SCHEDULE_SERIAL ? 4 : 12; /* which has few batches here */
        failing_runs = failing_created = failing_destroyed = 0;
        assert_false(measure_params(&workload, NULL, &setting, &result, &error));
        assert_int_equal(error.status, ASSAY_INVALID);
        assert_non_null(strstr(error.text, failing_at == 4 ? "run 4" : "run 12"));
        assert_int_equal(failing_created, slots);
        assert_int_equal(failing_destroyed, slots);
        fixture_assert_quiet(&builtin.vulkan);
        measure_result_free(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_stage_drains_what_is_in_flight),
        cmocka_unit_test(slots_are_right_on_the_queues_of_a_device),
        cmocka_unit_test(slots_are_right_on_two_devices),
        cmocka_unit_test(host_stages_have_a_thread),
        cmocka_unit_test(stages_with_copies_of_the_host),
        cmocka_unit_test(missing_wait_is_caught_with_every_seed),
        cmocka_unit_test(right_engine_is_right_with_every_seed),
    };
    builtin.name = "overlap";
    return fixture_run(&builtin.vulkan, tests, builtin_set_up, tear_down);
}
