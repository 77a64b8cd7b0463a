/* SPDX-License-Identifier: MIT */
/* Which queues the stages of a batch get, how they wait for each other there and who may touch
 * their buffers: what the engine tells the driver, and what the record says of it. On any device;
 * tests/fault/fault_layer.c gives one three families of queues, and so has Khronos' mock driver,
 * which executes nothing. Results are verified elsewhere, or on a driver that executes. */
#include "vulkan_fixture.h"

#include "base/json.h"
#include "measure/measure.h"

#include <assay/buffer.h>
#include <assay/command.h>

#define BYTES 4096
#define MOCK "Vulkan Mock Device"

static struct fixture fixture;

/* What reaches the driver. */
struct submission {
    VkQueue queue;
    unsigned waits, signals;
};
static struct {
    pthread_mutex_t lock;
    PFN_vkQueueSubmit submit;
    PFN_vkCreateBuffer create_buffer;
    struct submission list[65536];
    size_t count;
    unsigned shared, exclusive;
    uint32_t families; /* of the shared ones */
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static VKAPI_ATTR VkResult VKAPI_CALL watch_submit(VkQueue queue, uint32_t count,
                                                   const VkSubmitInfo *submits, VkFence fence)
{
    pthread_mutex_lock(&seen.lock);
    if (seen.count < sizeof(seen.list) / sizeof(seen.list[0]))
        seen.list[seen.count++] = (struct submission){queue, submits[0].waitSemaphoreCount,
                                                      submits[0].signalSemaphoreCount};
    pthread_mutex_unlock(&seen.lock);
    return seen.submit(queue, count, submits, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL watch_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                   const VkAllocationCallbacks *callbacks,
                                                   VkBuffer *buffer)
{
    bool shared = info->sharingMode == VK_SHARING_MODE_CONCURRENT;
    seen.shared += shared;
    seen.exclusive += !shared;
    seen.families = shared ? info->queueFamilyIndexCount : seen.families;
    return seen.create_buffer(device, info, callbacks, buffer);
}

static struct assay_device *open_device(enum vulkan_queue_choice queues, struct assay_error *error)
{
    const struct vulkan_device_params params = {
        .physical = &fixture.index, .member_count = 1, .queues = queues};
    *error = (struct assay_error){0};
    struct assay_device *device = device_create(fixture.instance, &params, error);
    if (!device)
        return NULL;
    fixture_assert_ok(device_measure_empty_regions(device, error), error);
    struct VolkDeviceTable *vk = &device->members[0]->vk;
    seen.submit = vk->vkQueueSubmit;
    seen.create_buffer = vk->vkCreateBuffer;
    vk->vkQueueSubmit = watch_submit;
    vk->vkCreateBuffer = watch_buffer;
    seen.count = seen.shared = seen.exclusive = seen.families = 0;
    return device;
}

/* The workload: host, upload, compute (a copy on the device), download, host. */
struct copies {
    struct assay_buffer *given, *first, *second, *taken;
    const unsigned char *given_bytes;
};
static struct {
    unsigned runs, fail_at, created, destroyed;
    bool executes;
} host;

static struct assay_buffer *make(struct assay_slot *slot, const char *name,
                                 enum assay_memory memory, enum assay_role role,
                                 struct assay_error *error)
{
    const struct assay_buffer_params params = {.size = sizeof(params),
                                               .name = name,
                                               .bytes = BYTES,
                                               .memory = memory,
                                               .role = role,
                                               .fill = {.kind = ASSAY_FILL_RANDOM_BITS}};
    return assay_buffer_create(slot, &params, error);
}

static void destroy(void **at)
{
    struct copies *self = *at;
    if (!self)
        return;
    assay_buffer_destroy(&self->given);
    assay_buffer_destroy(&self->first);
    assay_buffer_destroy(&self->second);
    assay_buffer_destroy(&self->taken);
    free(self);
    host.destroyed++;
    *at = NULL;
}

static void *create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    void *self = calloc(1, sizeof(struct copies));
    struct copies *copies = self;
    (void)params;
    assert_non_null(self);
    host.created++;
    copies->given = make(slot, "given", ASSAY_MEMORY_PINNED, ASSAY_ROLE_INPUT, error);
    copies->first = make(slot, "first", ASSAY_MEMORY_DEVICE, ASSAY_ROLE_SCRATCH, error);
    copies->second = make(slot, "second", ASSAY_MEMORY_DEVICE, ASSAY_ROLE_SCRATCH, error);
    copies->taken = make(slot, "taken", ASSAY_MEMORY_CACHED, ASSAY_ROLE_OUTPUT, error);
    if (copies->given && copies->first && copies->second && copies->taken)
        return self;
    destroy(&self);
    return NULL;
}

static bool run(const struct assay_stage *stage, void *self, struct assay_error *error)
{
    (void)stage;
    (void)self;
    pthread_mutex_lock(&seen.lock);
    unsigned number = ++host.runs;
    pthread_mutex_unlock(&seen.lock);
    return host.fail_at == 0 || number < host.fail_at ||
           assay_fail(error, ASSAY_INVALID, "run %u", number);
}

static bool record(const struct assay_stage *stage, void *at, struct assay_command *command,
                   struct assay_error *error)
{
    struct copies *self = at;
    if (strcmp(stage->name, "upload") == 0)
        return assay_command_copy(command, self->first, 0, self->given, 0, BYTES, error);
    if (strcmp(stage->name, "compute") == 0)
        return assay_command_copy(command, self->second, 0, self->first, 0, BYTES, error);
    return assay_command_copy(command, self->taken, 0, self->second, 0, BYTES, error);
}

static bool verify(void *at, struct assay_verification *verification, struct assay_error *error)
{
    struct copies *self = at;
    unsigned char wanted[BYTES], got[BYTES];
    (void)verification;
    if (!host.executes)
        return true;
    if (!assay_buffer_read(self->given, 0, BYTES, wanted, error) ||
        !assay_buffer_read(self->taken, 0, BYTES, got, error))
        return false;
    return memcmp(wanted, got, BYTES) == 0 ||
           assay_fail(error, ASSAY_WRONG_RESULT, "what came back is not what was given");
}

static const struct assay_stage prepare = {
    .size = sizeof(prepare), .name = "prepare", .kind = ASSAY_STAGE_HOST, .run = run};
static const struct assay_stage upload = {
    .size = sizeof(upload), .name = "upload", .kind = ASSAY_STAGE_TRANSFER, .record = record};
static const struct assay_stage compute = {
    .size = sizeof(compute), .name = "compute", .kind = ASSAY_STAGE_COMPUTE, .record = record};
static const struct assay_stage download = {
    .size = sizeof(download), .name = "download", .kind = ASSAY_STAGE_TRANSFER, .record = record};
static const struct assay_stage consume = {
    .size = sizeof(consume), .name = "consume", .kind = ASSAY_STAGE_HOST, .run = run};
static const struct assay_stage *const all_stages[] = {&prepare,  &upload,  &compute,
                                                       &download, &consume, NULL};
static const struct assay_stage *const device_stages[] = {&upload, &compute, &download, NULL};

static bool measure(struct assay_device *device, const struct assay_stage *const *stages,
                    int64_t depth, struct measure_result *result, struct assay_error *error)
{
    const struct assay_workload workload = {.size = sizeof(workload),
                                            .name = "copies",
                                            .stages = stages,
                                            .create = create,
                                            .verify = verify,
                                            .destroy = destroy};
    struct measure_request request = {.workload = &workload,
                                      .device = device,
                                      .seed = 42,
                                      .budget = {.budget_ns = 1, .warmup_ns = 1},
                                      .perturb = true,
                                      .perturb_seed = 7};
    request.schedule = schedule_default(SCHEDULE_PIPELINED);
    request.schedule.depth = depth;
    *result = (struct measure_result){0};
    *error = (struct assay_error){0};
    host.runs = host.created = host.destroyed = 0;
    seen.count = 0;
    return measure_case(&request, result, error);
}

/* The name of the group that has the stage, in the case's record. */
static const char *group_of(const json_t *pipeline, const char *stage)
{
    size_t i, j;
    json_t *group, *entry;
    json_array_foreach(json_object_get(pipeline, "groups"), i, group)
        json_array_foreach(json_object_get(group, "stages"), j,
                           entry) if (strcmp(json_text(entry, "name", ""), stage) ==
                                      0) return json_text(group, "name", "");
    return "";
}

struct expected {
    unsigned upload, compute, download; /* families */
    unsigned families;
};

static unsigned queues_of(const struct expected *e)
{
    return 1 + (e->upload != e->compute) + (e->download != e->compute && e->download != e->upload);
}

/* Of the submissions that the engine makes ahead: each signals, and waits where the stage before is
 * on another queue. */
static void check_submissions(struct assay_device *device, const struct expected *expected)
{
    const struct vulkan_device *member = device->members[0];
    const unsigned families[] = {expected->upload, expected->compute, expected->download};
    size_t waits = 0, signals = 0, per_batch = 0;
    for (unsigned i = 1; i < 3; i++)
        per_batch += families[i] != families[i - 1];
    for (size_t i = 0; i < seen.count; i++) {
        assert_true(seen.list[i].waits <= 1 && seen.list[i].signals <= 1);
        assert_true(seen.list[i].signals >= seen.list[i].waits);
        waits += seen.list[i].waits;
        signals += seen.list[i].signals;
    }
    if (!member->timelines) {
        assert_int_equal(signals, 0);
        return;
    }
    assert_true(signals > 0);
    assert_int_equal(signals % 3, 0);
    assert_int_equal(waits, signals / 3 * per_batch);
}

static void check_record(struct assay_device *device, const struct expected *expected)
{
    const struct {
        const char *role;
        unsigned family;
    } wanted[] = {{"compute", expected->compute},
                  {"transfer", expected->upload},
                  {"transfer_back", expected->download}};
    json_t *device_json = device_record(device);
    const json_t *queues = json_object_get(device_json, "queues");
    assert_int_equal(json_array_size(queues), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *queue = json_array_get(queues, i);
        bool shared = false;
        for (size_t j = 0; j < 3; j++)
            shared = shared || (j != i && wanted[j].family == wanted[i].family);
        assert_string_equal(json_text(queue, "role", ""), wanted[i].role);
        assert_int_equal(json_whole(queue, "family", -1), wanted[i].family);
        assert_int_equal(json_whole(queue, "index", -1), 0);
        assert_int_equal(json_flag(queue, "shared", !shared), shared);
    }
    json_decref(device_json);
}

static void check_groups(const struct measure_result *result, const struct expected *expected,
                         bool host_stages)
{
    struct assay_error error = {0};
    char upload_name[32], compute_name[32], download_name[32];
    json_t *pipeline = json_read(result->pipeline.data, result->pipeline.length, "x", &error);
    fixture_assert_ok(pipeline != NULL, &error);
    snprintf(upload_name, sizeof(upload_name), "queue 0.%u.0", expected->upload);
    snprintf(compute_name, sizeof(compute_name), "queue 0.%u.0", expected->compute);
    snprintf(download_name, sizeof(download_name), "queue 0.%u.0", expected->download);
    assert_string_equal(group_of(pipeline, "upload"), upload_name);
    assert_string_equal(group_of(pipeline, "compute"), compute_name);
    assert_string_equal(group_of(pipeline, "download"), download_name);
    assert_string_equal(group_of(pipeline, "prepare"), host_stages ? "host" : "");
    assert_string_equal(group_of(pipeline, "consume"), host_stages ? "host" : "");
    assert_int_equal(json_array_size(json_object_get(pipeline, "groups")),
                     queues_of(expected) + host_stages);
    json_decref(pipeline);
}

static void check_choice(enum vulkan_queue_choice queues, const struct expected *expected)
{
    struct assay_error error;
    struct assay_device *device = open_device(queues, &error);
    fixture_assert_ok(device != NULL, &error);
    check_record(device, expected);
    for (int64_t depth = 1; depth <= 4; depth++) {
        for (int host_stages = 0; host_stages < 2; host_stages++) {
            struct measure_result result;
            bool good = measure(device, host_stages ? all_stages : device_stages, depth, &result,
                                &error);
            fixture_assert_ok(good, &error);
            check_groups(&result, expected, host_stages);
            check_submissions(device, expected);
            assert_int_equal(host.created, depth);
            assert_int_equal(host.destroyed, depth);
            measure_result_free(&result);
        }
    }
    bool shared = expected->families > 1;
    assert_true((shared ? seen.shared : seen.exclusive) > 0);
    assert_int_equal(shared ? seen.exclusive : seen.shared, 0);
    assert_int_equal(seen.families, shared ? expected->families : 0);
    fixture_assert_quiet(&fixture); /* while objects are there */
    device_destroy(&device);
    fixture_assert_quiet(&fixture); /* and gone */
}

static const struct vulkan_physical *physical(void)
{
    return vulkan_physical_at(fixture.instance, fixture.index);
}

/* By tests/fault/fault_layer.c. */
static bool has_three(void)
{
    return getenv("ASSAY_FAULT_FAMILIES") != NULL;
}

static bool is_mock(void)
{
    return strcmp(physical()->name, MOCK) == 0;
}

/* The device's first family computes; those behind it are, on the mock driver, for video. */
static const struct expected one = {0, 0, 0, 1}, back_apart = {0, 0, 1, 2}, three = {1, 0, 2, 3};

static void one_queue(void **state)
{
    (void)state;
    check_choice(VULKAN_QUEUES_ONE, &one);
}

static void queues_by_role(void **state)
{
    (void)state;
    if (!has_three() && !is_mock() && physical()->queue_family_count > 1)
        fixture_skip("known_queues", "the queues of this device are not known beforehand");
    check_choice(VULKAN_QUEUES_AUTO, has_three() ? &three : is_mock() ? &back_apart : &one);
}

static void dedicated_queues(void **state)
{
    struct assay_error error;
    (void)state;
    if (has_three()) {
        check_choice(VULKAN_QUEUES_DEDICATED, &three);
        return;
    }
    if (!is_mock() && physical()->queue_family_count > 1)
        fixture_skip("known_queues", "the queues of this device are not known beforehand");
    assert_null(open_device(VULKAN_QUEUES_DEDICATED, &error));
    assert_int_equal(error.status, ASSAY_UNSUPPORTED);
    assert_non_null(strstr(error.text, "no queue family is for transfers alone"));
}

/* With batches in flight on all queues. */
static void failing_stage_drains_what_is_in_flight(void **state)
{
    static const enum vulkan_queue_choice choices[] = {VULKAN_QUEUES_AUTO, VULKAN_QUEUES_ONE};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct assay_error error;
        struct measure_result result;
        struct assay_device *device = open_device(choices[i], &error);
        fixture_assert_ok(device != NULL, &error);
        host.fail_at = 23;
        assert_false(measure(device, all_stages, 4, &result, &error));
        host.fail_at = 0;
        assert_int_equal(error.status, ASSAY_INVALID);
        assert_string_equal(error.text, "run 23");
        assert_int_equal(host.created, 4);
        assert_int_equal(host.destroyed, 4);
        measure_result_free(&result);
        fixture_assert_ok(measure(device, all_stages, 4, &result, &error), &error);
        measure_result_free(&result);
        device_destroy(&device);
        fixture_assert_quiet(&fixture);
    }
}

static int set_up(void **state)
{
    (void)state;
    host.executes = !is_mock();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_queue),
        cmocka_unit_test(queues_by_role),
        cmocka_unit_test(dedicated_queues),
        cmocka_unit_test(failing_stage_drains_what_is_in_flight),
    };
    return fixture_run(&fixture, tests, set_up, NULL);
}
