/* SPDX-License-Identifier: MIT */
/* A worker process with a device: this program starts itself as one. Its workload does what a
 * careless plugin does. */
#include "vulkan_fixture.h"

#include "base/json.h"
#include "base/os.h"
#include "experiment/plan.h"
#include "experiment/registry.h"
#include "result/journal.h"
#include "result/metric.h"
#include "run/supervisor.h"
#include "run/worker.h"

#include <assay/assay.h>
#include <assay/vulkan.h>

#include <string.h>
#include <unistd.h>

enum mode { QUIET, MESSAGE, LEAK, HOST };

struct params {
    int mode;
};

struct careless {
    struct assay_slot *slot;
    const struct params *params;
    struct assay_buffer *buffer;
};

static void *careless_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    struct careless *self = calloc(1, sizeof(*self));
    self->slot = slot;
    self->params = params;
    struct assay_buffer_params buffer = {.size = sizeof(buffer),
                                         .name = "words",
                                         .bytes = 64,
                                         .memory = ASSAY_MEMORY_DEVICE,
                                         .role = ASSAY_ROLE_OUTPUT};
    self->buffer = assay_buffer_create(slot, &buffer, error);
    return self->buffer ? self : NULL;
}

static void careless_destroy(void **object)
{
    struct careless *self = *object;
    if (self && self->params->mode != LEAK)
        assay_buffer_destroy(&self->buffer);
    free(self);
    *object = NULL;
}

static bool careless_record(const struct assay_stage *stage, void *object,
                            struct assay_command *command, struct assay_error *error)
{
    (void)stage;
    struct careless *self = object;
    if (!assay_command_fill(command, self->buffer, 0, 64, 7, error))
        return false;
    if (self->params->mode != MESSAGE)
        return true;
    struct assay_device *device = assay_slot_device(self->slot);
    unsigned member;
    VkCommandBuffer handle = assay_command_handle(command, &member, error);
    PFN_vkCmdFillBuffer fill = (PFN_vkCmdFillBuffer)assay_device_function(device, member,
                                                                          "vkCmdFillBuffer");
    if (!handle || !fill || !assay_command_barrier(command, error))
        return false;
    fill(handle, assay_buffer_handle(self->buffer, member), 0, 2, 7); /* no multiple of 4 */
    return true;
}

static bool careless_run(const struct assay_stage *stage, void *object, struct assay_error *error)
{
    (void)stage;
    struct careless *self = object;
    uint32_t word;
    return assay_buffer_read(self->buffer, 0, sizeof(word), &word, error);
}

static bool careless_host(const struct assay_stage *stage, const void *params)
{
    (void)stage;
    return ((const struct params *)params)->mode == HOST;
}

static bool careless_verify(void *object, struct assay_verification *verification,
                            struct assay_error *error)
{
    struct careless *self = object;
    uint32_t got[16], wanted[16];
    for (int i = 0; i < 16; i++)
        wanted[i] = 7;
    return assay_buffer_read(self->buffer, 0, sizeof(got), got, error) &&
           assay_verification_bytes(verification, "words", got, wanted, sizeof(got), 0, error);
}

static const char *const modes[] = {"quiet", "message", "leak", "host", NULL};
static const struct assay_option mode_option = {.size = sizeof(mode_option),
                                                .name = "mode",
                                                .kind = ASSAY_OPTION_CHOICE,
                                                .offset = offsetof(struct params, mode),
                                                .fallback = "quiet",
                                                .choices = modes,
                                                .help = "what it does wrong"};
static const struct assay_option *const options[] = {&mode_option, NULL};
static const struct assay_stage fill_stage = {.size = sizeof(fill_stage),
                                              .name = "fill",
                                              .help = "fills",
                                              .kind = ASSAY_STAGE_TRANSFER,
                                              .record = careless_record};
static const struct assay_stage read_stage = {.size = sizeof(read_stage),
                                              .name = "read",
                                              .help = "reads by the host",
                                              .kind = ASSAY_STAGE_HOST,
                                              .present = careless_host,
                                              .run = careless_run};
static const struct assay_stage *const stages[] = {&fill_stage, &read_stage, NULL};
static const struct assay_workload careless = {.size = sizeof(careless),
                                               .name = "careless",
                                               .version = "1",
                                               .summary = "a plugin with faults",
                                               .options = options,
                                               .params_size = sizeof(struct params),
                                               .stages = stages,
                                               .create = careless_create,
                                               .verify = careless_verify,
                                               .destroy = careless_destroy};
static const struct assay_workload *const workloads[] = {&careless, NULL};
static const struct assay_plugin plugin = {.size = sizeof(plugin),
                                           .abi = ASSAY_ABI,
                                           .name = "careless",
                                           .version = "1",
                                           .workloads = workloads};

static const struct assay_plugin *entry(void)
{
    return &plugin;
}

assay_plugin_entry *const registry_builtin[] = {entry, NULL};

struct session_fixture {
    char directory[64];
    struct text log, journal_path;
    struct supervisor *supervisor;
    struct catalog *catalog;
    struct plan *plan;
    struct journal_reader *reader;
    struct assay_error error;
};

static int set_up(void **state)
{
    static struct session_fixture f;
    f = (struct session_fixture){.directory = "/tmp/assay-test-XXXXXX"};
    assert_non_null(mkdtemp(f.directory));
    os_path_join(&f.log, f.directory, "worker.log");
    os_path_join(&f.journal_path, f.directory, "journal.jsonl");
    struct supervisor_params params = {
        .log_path = text_string(&f.log), .validate = true, .quick = true};
    f.supervisor = supervisor_create(&params, &f.error);
    fixture_assert_ok(f.supervisor != NULL, &f.error);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct session_fixture *f = *state;
    journal_reader_destroy(&f->reader);
    supervisor_destroy(&f->supervisor);
    plan_destroy(&f->plan);
    catalog_destroy(&f->catalog);
    unlink(text_string(&f->log));
    unlink(text_string(&f->journal_path));
    rmdir(f->directory);
    text_free(&f->log);
    text_free(&f->journal_path);
    return 0;
}

/* One case for each mode, all on the device that the tests use. */
static void run_modes(struct session_fixture *f, const char *const *given, size_t count,
                      const char *device)
{
    json_t *description = supervisor_describe(f->supervisor, &f->error);
    f->catalog = catalog_create(description, &f->error);
    json_decref(description);
    fixture_assert_ok(f->catalog != NULL, &f->error);
    const struct catalog_workload *workload = catalog_at(f->catalog, 0);
    f->plan = plan_create(f->catalog, 1, &f->error);
    struct plan_experiment experiment = {.name = "faults", .script = "faults.lua", .line = 1};
    assert_true(plan_add_experiment(f->plan, &experiment, &f->error));
    for (size_t i = 0; i < count; i++) {
        struct plan_setting setting = {.option = 0};
        assert_true(option_parse(workload->options[0], given[i], f->plan->arena, &setting.value,
                                 &f->error));
        struct plan_case item = {.replica = (uint32_t)i,
                                 .workload = workload,
                                 .device = device,
                                 .settings = &setting,
                                 .setting_count = 1};
        assert_true(plan_add_case(f->plan, &item, &f->error));
    }
    struct journal_writer *journal = journal_create(text_string(&f->journal_path), &f->error);
    static const char header[] = "{\"kind\":\"run\",\"format\":1}";
    assert_true(journal_append(journal, header, sizeof(header) - 1, &f->error));
    bool ok = supervisor_run(f->supervisor, f->plan, journal, NULL, NULL, &f->error);
    journal_writer_destroy(&journal);
    fixture_assert_ok(ok, &f->error);
    f->reader = journal_read(text_string(&f->journal_path), &f->error);
    assert_int_equal(journal_case_count(f->reader), count);
}

static json_t *record_at(struct session_fixture *f, size_t index, const char *status)
{
    json_t *record = journal_case(f->reader, index, &f->error);
    if (strcmp(json_text(record, "status", ""), status) != 0)
        print_error("%s\n", json_text(record, "reason", "no reason"));
    assert_string_equal(json_text(record, "status", ""), status);
    return record;
}

static void a_message_fails_its_case_only(void **state)
{
    struct session_fixture *f = *state;
    run_modes(f, (const char *const[]){"message", "quiet"}, 2, getenv("ASSAY_TEST_DEVICE"));
    json_t *record = record_at(f, 0, "validation");
    const char *reason = json_text(record, "reason", "");
    assert_non_null(strstr(reason, "of the validation layers"));
    assert_non_null(strstr(reason, "vkCmdFillBuffer"));
    assert_int_equal(json_object_size(json_object_get(record, "metrics")), 0);
    assert_null(journal_samples(f->reader, 0, &f->error));
    json_decref(record);
    json_decref(record_at(f, 1, "done"));
}

static void what_is_left_behind_is_noted(void **state)
{
    struct session_fixture *f = *state;
    run_modes(f, (const char *const[]){"leak", "quiet"}, 2, getenv("ASSAY_TEST_DEVICE"));
    json_t *record = record_at(f, 0, "done");
    bool noted = false;
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(record, "notes"), i, note)
    {
        noted = noted ||
                strcmp(json_string_value(note), "'careless' left 1 buffers or kernels behind") == 0;
    }
    assert_true(noted);
    json_decref(record);
    json_decref(record_at(f, 1, "done"));
}

static void host_and_device_stages_mix(void **state)
{
    struct session_fixture *f = *state;
    run_modes(f, (const char *const[]){"host"}, 1, getenv("ASSAY_TEST_DEVICE"));
    json_t *record = record_at(f, 0, "done");
    json_t *names = json_object_get(record, "stages");
    assert_int_equal(json_array_size(names), 2);
    assert_string_equal(json_text(json_array_get(names, 1), "clock", ""), "host");
    struct metric time, read;
    const json_t *metrics = json_object_get(record, "metrics");
    metric_from_json(metrics, "time", &time);
    metric_from_json(metrics, "read.time", &read);
    assert_null(time.absent);
    assert_null(read.absent);
    assert_true(time.value >= read.value);
    json_t *device = json_object_get(record, "device");
    assert_true(json_object_get(device, "selector") != NULL);
    assert_true(*json_text(device, "uuid", "") != '\0');
    json_decref(record);
}

static void an_absent_device_is_an_error(void **state)
{
    struct session_fixture *f = *state;
    run_modes(f, (const char *const[]){"quiet"}, 1, "no such device");
    json_t *record = record_at(f, 0, "error");
    assert_non_null(strstr(json_text(record, "reason", ""), "no such device"));
    assert_string_equal(json_text(json_object_get(record, "device"), "selector", ""),
                        "no such device");
    json_decref(record);
}

static void devices_are_passed_on(void **state)
{
    struct session_fixture *f = *state;
    json_t *answer = supervisor_devices(f->supervisor, &f->error);
    fixture_assert_ok(answer != NULL, &f->error);
    assert_true(json_array_size(json_object_get(answer, "devices")) > 0);
    assert_true(json_is_null(json_object_get(answer, "error")));
    assert_true(json_is_array(json_object_get(answer, "pci")));
    assert_null(json_object_get(answer, "tell"));
    json_decref(answer);
}

#define WITH_SESSION(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return worker_main(NULL);
    static struct fixture fixture;
    const int unable = fixture_open(&fixture);
    if (unable)
        return unable;
    vulkan_instance_destroy(&fixture.instance);
    const struct CMUnitTest tests[] = {
        WITH_SESSION(a_message_fails_its_case_only), WITH_SESSION(what_is_left_behind_is_noted),
        WITH_SESSION(host_and_device_stages_mix),    WITH_SESSION(an_absent_device_is_an_error),
        WITH_SESSION(devices_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
