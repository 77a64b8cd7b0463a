/* SPDX-License-Identifier: MIT */
#include "vulkan_fixture.h"

#include "base/json.h"
#include "vulkan/queue.h"
#include "vulkan/timer.h"

#include <assay/vulkan.h>

#include <string.h>

static struct fixture fixture;

static void inventory_is_whole(void **state)
{
    (void)state;
    json_t *inventory = vulkan_inventory(fixture.instance);
    assert_int_equal(json_array_size(inventory), vulkan_physical_count(fixture.instance));
    const json_t *device = json_array_get(inventory, fixture.index);
    assert_int_equal(json_whole(device, "index", -1), (int)fixture.index);
    assert_true(strlen(json_text(device, "name", "")) > 0);
    assert_int_equal(strlen(json_text(device, "uuid", "")), 36);
    assert_true(json_whole(json_object_get(device, "limits"), "max_group_invocations", 0) >= 128);
    assert_true(json_whole(json_object_get(device, "limits"), "max_push_bytes", 0) >= 128);
    assert_int_equal(json_object_size(json_object_get(device, "features")), ASSAY_FEATURE_COUNT);
    assert_true(json_array_size(json_object_get(device, "heaps")) >= 1);
    assert_true(json_array_size(json_object_get(device, "queues")) >= 1);
    assert_true(json_is_null(json_object_get(device, "unusable")));
    json_decref(inventory);
    fixture_assert_quiet(&fixture);
}

static void opens_and_describes_itself(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    const struct vulkan_physical *physical = vulkan_physical_at(fixture.instance, fixture.index);
    assert_string_equal(assay_device_name(device), physical->name);
    assert_int_equal(assay_device_limits(device)->max_group_size[0],
                     physical->properties.limits.maxComputeWorkGroupSize[0]);
    assert_ptr_equal(assay_device_physical(device, 0), physical->handle);
    assert_null(assay_device_physical(device, 1));
    assert_non_null(assay_device_function(device, 0, "vkQueueSubmit"));
    assert_non_null(assay_device_instance(device));
    json_t *record = device_record(device);
    assert_int_equal(json_whole(record, "members", 0), 1);
    assert_int_equal(json_array_size(json_object_get(record, "queues")), VULKAN_ROLE_COUNT);
    json_decref(record);
    device_destroy(&device);
    assert_null(device);
    fixture_assert_quiet(&fixture);
}

static void features_have_reasons(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    for (int i = 0; i < ASSAY_FEATURE_COUNT; i++) {
        const char *why_not = NULL;
        const bool there = assay_device_has(device, (enum assay_feature)i, &why_not);
        assert_true(there == (why_not == NULL));
    }
    const char *why_not = NULL;
    assert_false(assay_device_has(device, ASSAY_FEATURE_COUNT, &why_not));
    assert_non_null(why_not);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

/* Of $ASSAY_TEST_REQUIRE, in which every word means something. */
static void required_features_are_there(void **state)
{
    (void)state;
    json_t *inventory = vulkan_inventory(fixture.instance);
    json_t *device = json_array_get(inventory, fixture.index), *there;
    const char *name, *list = getenv("ASSAY_TEST_REQUIRE");
    int words = list && *list ? 1 : 0, known = fixture_requires("device");
    for (const char *at = list; at && *at; at++)
        words += *at == ',';
    json_object_foreach(json_object_get(device, "features"), name, there)
    {
        if (!fixture_requires(name))
            continue;
        known++;
        if (!json_is_true(there))
            fail_msg("%s is required: %s", name, json_string_value(there));
    }
    assert_int_equal(known, words);
    json_decref(inventory);
}

static void several_at_once(void **state)
{
    (void)state;
    struct assay_device *a = fixture_device(&fixture, 1), *b = fixture_device(&fixture, 1);
    assert_ptr_not_equal(assay_device_handle(a, 0), assay_device_handle(b, 0));
    device_destroy(&a);
    struct assay_error error = {0};
    fixture_assert_ok(device_measure_empty_regions(b, &error), &error);
    device_destroy(&b);
    fixture_assert_quiet(&fixture);
}

static void empty_regions(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    struct assay_error error = {0};
    fixture_assert_ok(device_measure_empty_regions(device, &error), &error);
    struct vulkan_device *member = device->members[0];
    for (uint32_t i = 0; i < member->queue_count; i++) {
        const struct vulkan_queue *queue = &member->queues[i];
        assert_true(queue->timestamp_bits == 0 ? queue->empty_region_ns == -1
                                               : queue->empty_region_ns >= 0);
        assert_in_range(queue->step_ns, 1, 1000000);
    }
    json_t *record = device_record(device), *used;
    size_t role;
    json_array_foreach(json_object_get(record, "queues"), role, used)
    {
        const json_t *empty = json_object_get(used, "empty_region_ns");
        int64_t ns = device_queue(device->members[0], (enum vulkan_role)role)->empty_region_ns;
        assert_true(ns < 0 ? json_is_null(empty) : json_integer_value(empty) == ns);
    }
    assert_int_equal(role, VULKAN_ROLE_COUNT);
    json_decref(record);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

static void one_queue_when_asked(void **state)
{
    (void)state;
    struct assay_error error = {0};
    const struct vulkan_device_params params = {
        .physical = &fixture.index, .member_count = 1, .queues = VULKAN_QUEUES_ONE};
    struct assay_device *device = device_create(fixture.instance, &params, &error);
    fixture_assert_ok(device != NULL, &error);
    struct vulkan_device *member = device->members[0];
    assert_int_equal(member->queue_count, 1);
    assert_ptr_equal(device_queue(member, VULKAN_ROLE_COMPUTE),
                     device_queue(member, VULKAN_ROLE_TRANSFER_BACK));
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

static void calibrates(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    struct assay_error error = {0};
    struct timer_calibration first, second;
    struct vulkan_device *member = device->members[0];
    if (timer_calibrate(member, &first, &error)) {
        fixture_assert_ok(timer_calibrate(member, &second, &error), &error);
        assert_true(second.host_ns >= first.host_ns);
        const int64_t now = clock_now(clock_monotonic());
        assert_true(second.host_ns <= now && second.host_ns > now - INT64_C(60000000000));
    } else {
        assert_int_equal(error.status, ASSAY_UNSUPPORTED);
    }
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    struct assay_error error = {0};
    size_t index = vulkan_physical_count(fixture.instance);
    struct vulkan_device_params params = {.physical = &index, .member_count = 1};
    assert_null(device_create(fixture.instance, &params, &error));
    assert_int_equal(error.status, ASSAY_NO_DEVICE);
    error = (struct assay_error){0};
    params.member_count = 0;
    assert_null(device_create(fixture.instance, &params, &error));
    assert_string_equal(error.text, "0 devices in a set; 1 to 4 are allowed");
    fixture_assert_quiet(&fixture);
}

/* The fixture would be worthless if wrong use went unseen. */
static void wrong_use_is_seen(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    const struct vulkan_device *member = device->members[0];
    VkBuffer buffer = VK_NULL_HANDLE;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 0,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
    };
    if (member->vk.vkCreateBuffer(member->handle, &info, NULL, &buffer) == VK_SUCCESS)
        member->vk.vkDestroyBuffer(member->handle, buffer, NULL);
    struct text messages = {0};
    assert_int_equal(vulkan_instance_take_messages(fixture.instance, &messages), 1);
    const char *text = text_string(&messages);
    assert_int_equal(strncmp(text, "VUID-VkBufferCreateInfo-size-00912: ", 36), 0);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    text_free(&messages);
    assert_int_equal(vulkan_instance_take_messages(fixture.instance, &messages), 0);
    text_free(&messages);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inventory_is_whole),    cmocka_unit_test(opens_and_describes_itself),
        cmocka_unit_test(features_have_reasons), cmocka_unit_test(required_features_are_there),
        cmocka_unit_test(several_at_once),       cmocka_unit_test(empty_regions),
        cmocka_unit_test(one_queue_when_asked),  cmocka_unit_test(calibrates),
        cmocka_unit_test(refuses_nonsense),      cmocka_unit_test(wrong_use_is_seen),
    };
    return fixture_run(&fixture, tests, NULL, NULL);
}
