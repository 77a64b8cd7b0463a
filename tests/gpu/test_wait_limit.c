/* SPDX-License-Identifier: MIT */
/* Work that does not end within the limit: the set is lost, and nothing waits for it any more. */
#include "vulkan_fixture.h"

#include "vulkan/queue.h"

#include <string.h>

static struct fixture fixture;
static struct assay_device *volatile lost; /* leaked on purpose; kept in sight of leak checkers */
static struct vulkan_instance *volatile leaked;

struct stuck {
    VkEvent event; /* the work waits for it */
    VkCommandBuffer commands;
    VkFence fence;
};

static void record_stuck(const struct vulkan_device *member, struct stuck *stuck)
{
    const VkEventCreateInfo event = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = member->queues[0].pool,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(member->vk.vkCreateEvent(member->handle, &event, NULL, &stuck->event), 0);
    assert_int_equal(member->vk.vkCreateFence(member->handle, &fence, NULL, &stuck->fence), 0);
    assert_int_equal(
        member->vk.vkAllocateCommandBuffers(member->handle, &allocate, &stuck->commands), 0);
    assert_int_equal(member->vk.vkBeginCommandBuffer(stuck->commands, &begin), 0);
    member->vk.vkCmdWaitEvents(stuck->commands, 1, &stuck->event, VK_PIPELINE_STAGE_HOST_BIT,
                               VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL, 0, NULL, 0, NULL);
    assert_int_equal(member->vk.vkEndCommandBuffer(stuck->commands), 0);
}

static void limit_expires(void **state)
{
    (void)state;
    struct assay_error error = {0};
    const struct vulkan_device_params params = {
        .physical = &fixture.index, .member_count = 1, .wait_limit_ns = 20000000};
    struct assay_device *device = device_create(fixture.instance, &params, &error);
    fixture_assert_ok(device != NULL, &error);
    struct vulkan_device *member = device->members[0];
    struct stuck stuck;
    record_stuck(member, &stuck);
    lost = device;
    leaked = fixture.instance;

    assert_false(queue_run(device, member, &member->queues[0], stuck.commands, stuck.fence,
                           "the stuck work", &error));
    assert_int_equal(error.status, ASSAY_TIMEOUT);
    assert_string_equal(error.text, "the stuck work did not end within 20 ms");
    assert_true(device->lost);
    device_destroy(&device);
    vulkan_instance_destroy(&fixture.instance);
    assert_null(device);
    assert_null(fixture.instance);

    /* The driver's threads must not run while the process ends. */
    assert_int_equal(member->vk.vkSetEvent(member->handle, stuck.event), 0);
    assert_int_equal(member->vk.vkDeviceWaitIdle(member->handle), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limit_expires)};
    const int unable = fixture_open(&fixture);
    return unable ? unable : cmocka_run_group_tests(tests, NULL, NULL);
}
