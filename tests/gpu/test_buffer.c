/* SPDX-License-Identifier: MIT */
#include "vulkan_fixture.h"

#include "base/hash.h"
#include "vulkan/buffer.h"
#include "vulkan/memory.h"
#include "vulkan/slot.h"
#include "vulkan/staging.h"

#include <assay/command.h>
#include <assay/vulkan.h>

#include <string.h>

static struct fixture fixture;

static struct assay_slot *make_slot(struct assay_device *device, uint64_t seed)
{
    struct assay_error error = {0};
    const struct slot_params params = {.device = device, .case_seed = seed};
    struct assay_slot *slot = slot_create(&params, &error);
    fixture_assert_ok(slot != NULL, &error);
    return slot;
}

static struct assay_buffer *make(struct assay_slot *slot, enum assay_memory memory,
                                 enum assay_role role, uint64_t bytes)
{
    struct assay_error error = {0};
    const struct assay_buffer_params params = {
        .size = sizeof(params), .name = "tested", .bytes = bytes, .memory = memory, .role = role};
    struct assay_buffer *buffer = assay_buffer_create(slot, &params, &error);
    if (!buffer && error.status == ASSAY_UNSUPPORTED)
        return NULL;
    fixture_assert_ok(buffer != NULL, &error);
    return buffer;
}

static void assert_holds_fill(struct assay_buffer *buffer)
{
    struct assay_error error = {0};
    const uint64_t bytes = assay_buffer_bytes(buffer);
    char *got = malloc(bytes), *wanted = malloc(bytes);
    fixture_assert_ok(assay_buffer_read(buffer, 0, bytes, got, &error), &error);
    assay_buffer_fill_bytes(buffer, 0, bytes, wanted);
    assert_memory_equal(got, wanted, bytes);
    free(got);
    free(wanted);
}

#define BYTES UINT64_C(100003) /* no multiple of anything */

static void check_kind(struct assay_slot *slot, enum assay_memory memory)
{
    struct assay_error error = {0};
    struct assay_buffer *input = make(slot, memory, ASSAY_ROLE_INPUT, BYTES);
    if (!input)
        return;
    struct assay_buffer *output = make(slot, memory, ASSAY_ROLE_OUTPUT, BYTES);
    assert_int_equal(assay_buffer_bytes(input), BYTES);
    assert_true((assay_buffer_handle(input, 0) == VK_NULL_HANDLE) ==
                (memory == ASSAY_MEMORY_PAGEABLE));
    if (memory != ASSAY_MEMORY_DEVICE)
        assert_non_null(assay_buffer_address(input));
    assert_holds_fill(input);
    assert_holds_fill(output);
    char in[1000], out[1000];
    assay_buffer_fill_bytes(input, 0, sizeof(in), in);
    assay_buffer_fill_bytes(output, 0, sizeof(out), out);
    assert_memory_not_equal(in, out, sizeof(in));

    fixture_assert_ok(assay_buffer_write(output, 77, sizeof(in), in, &error), &error);
    fixture_assert_ok(assay_buffer_read(output, 77, sizeof(out), out, &error), &error);
    assert_memory_equal(in, out, sizeof(in));
    fixture_assert_ok(assay_buffer_write(input, BYTES - 9, 9, "overwrite", &error), &error);
    fixture_assert_ok(slot_restore(slot, &error), &error);
    assert_holds_fill(input);
    assert_holds_fill(output);

    assert_false(assay_buffer_read(input, BYTES - 8, 9, out, &error));
    assert_string_equal(error.text, "buffer 'tested' has 100003 B; 9 B from offset 99995 on are "
                                    "not all inside");
    assay_buffer_destroy(&input);
    assay_buffer_destroy(&output);
}

static void every_kind(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    struct assay_slot *slot = make_slot(device, 1);
    for (int i = 0; i < ASSAY_MEMORY_COUNT; i++)
        check_kind(slot, (enum assay_memory)i);
    assert_int_equal(slot_destroy(&slot), 0);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

/* Also where device memory is visible to the host, so that software drivers test it too. */
static void through_staging(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    struct assay_slot *slot = make_slot(device, 2);
    struct assay_error error = {0};
    const uint64_t bytes = 2 * ASSAY_STAGING_BYTES + 13;
    struct assay_buffer *buffer = make(slot, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT, bytes);
    assert_non_null(buffer);
    assert_holds_fill(buffer);
    char *data = malloc(bytes), *wanted = malloc(bytes);
    random_fill(99, 0, data, bytes);
    fixture_assert_ok(staging_write(buffer, 0, 5, data, &error), &error);
    fixture_assert_ok(staging_write(buffer, 0, bytes, data, &error), &error);
    memcpy(wanted, data, bytes);
    memset(data, 0, bytes);
    fixture_assert_ok(assay_buffer_read(buffer, 0, bytes, data, &error), &error);
    assert_memory_equal(data, wanted, bytes);
    memset(data, 0, bytes);
    fixture_assert_ok(staging_read(buffer, 3, bytes - 3, data, &error), &error);
    assert_memory_equal(data, wanted + 3, bytes - 3);
    fixture_assert_ok(staging_restore(buffer, &error), &error);
    assert_holds_fill(buffer);
    free(data);
    free(wanted);
    assert_int_equal(slot_destroy(&slot), 1);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

static void fills(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    struct assay_slot *slot = make_slot(device, 3);
    struct assay_error error = {0};
    struct assay_buffer_params params = {
        .size = sizeof(params), .name = "words", .bytes = 4099, .role = ASSAY_ROLE_INPUT};
    params.fill = (struct assay_fill){.kind = ASSAY_FILL_WORD, .word = 0x04030201};
    struct assay_buffer *buffer = assay_buffer_create(slot, &params, &error);
    fixture_assert_ok(buffer != NULL, &error);
    char got[4099];
    fixture_assert_ok(assay_buffer_read(buffer, 0, sizeof(got), got, &error), &error);
    for (size_t i = 0; i < sizeof(got); i++)
        assert_int_equal(got[i], i % 4 + 1);

    params.fill = (struct assay_fill){.kind = ASSAY_FILL_UNIFORM_FP32, .low = -1, .high = 3};
    params.name = "floats";
    params.bytes = 40000;
    struct assay_buffer *floats = assay_buffer_create(slot, &params, &error);
    fixture_assert_ok(floats != NULL, &error);
    float values[10000];
    fixture_assert_ok(assay_buffer_read(floats, 0, sizeof(values), values, &error), &error);
    double sum = 0;
    for (size_t i = 0; i < 10000; i++) {
        assert_true(values[i] >= -1 && values[i] < 3);
        sum += (double)values[i];
    }
    /* Mean 1, standard deviation of the mean 4 / sqrt(12 * 10000) = 0.0115. */
    assert_true(sum / 10000 > 0.94 && sum / 10000 < 1.06);

    params.fill.high = -1;
    assert_null(assay_buffer_create(slot, &params, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text,
                        "buffer 'floats': its fill wants finite bounds with low below high");
    assert_int_equal(slot_destroy(&slot), 2);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

static void sizes_out_of_range(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    struct assay_slot *slot = make_slot(device, 4);
    struct assay_buffer_params params = {.size = sizeof(params), .name = "source"};
    for (int i = 0; i < ASSAY_MEMORY_COUNT; i++) {
        struct assay_error error = {0};
        params.memory = (enum assay_memory)i;
        params.bytes = 0;
        assert_null(assay_buffer_create(slot, &params, &error));
        assert_int_equal(error.status, ASSAY_INVALID);
        assert_string_equal(error.text,
                            "buffer 'source': its size is 0 B, but at least 1 B is needed");
        for (int shift = 50; shift < 64; shift++) {
            error = (struct assay_error){0};
            params.bytes = UINT64_C(1) << shift;
            assert_null(assay_buffer_create(slot, &params, &error));
            assert_int_equal(error.status, ASSAY_UNSUPPORTED);
        }
        error = (struct assay_error){0};
        params.bytes = UINT64_MAX;
        assert_null(assay_buffer_create(slot, &params, &error));
        assert_int_equal(error.status, ASSAY_UNSUPPORTED);
    }
    struct assay_error error = {0};
    params.size = 8;
    assert_null(assay_buffer_create(slot, &params, &error));
    assert_int_equal(error.status, ASSAY_INTERNAL);
    assert_int_equal(slot->buffer_count, 0);
    assert_int_equal(slot_destroy(&slot), 0);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

static void slots_differ(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    struct assay_error error = {0};
    struct slot_params params = {.device = device, .case_seed = 5};
    struct assay_slot *a = slot_create(&params, &error);
    params.index = 1;
    struct assay_slot *b = slot_create(&params, &error);
    assert_ptr_equal(assay_slot_device(a), device);
    assert_true(assay_slot_seed(a) != assay_slot_seed(b));
    struct assay_buffer *first = make(a, ASSAY_MEMORY_PINNED, ASSAY_ROLE_INPUT, 64);
    struct assay_buffer *second = make(a, ASSAY_MEMORY_PAGEABLE, ASSAY_ROLE_INPUT, 32);
    struct assay_buffer *other = make(b, ASSAY_MEMORY_PINNED, ASSAY_ROLE_INPUT, 64);
    struct assay_buffer *third = make(a, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_SCRATCH, 1000);
    assert_memory_not_equal(assay_buffer_address(first), assay_buffer_address(other), 64);
    assert_memory_not_equal(assay_buffer_address(first), assay_buffer_address(second), 32);
    uint64_t device_bytes, host_bytes;
    slot_memory(a, &device_bytes, &host_bytes);
    assert_int_equal(device_bytes, 1000);
    assert_int_equal(host_bytes, 96);
    assay_buffer_destroy(&second);
    slot_memory(a, &device_bytes, &host_bytes);
    assert_int_equal(host_bytes, 64);
    assert_ptr_equal(a->buffers->next, third);
    assert_int_equal(slot_destroy(&a), 2);
    assert_int_equal(slot_destroy(&b), 1);
    assert_int_equal(slot_destroy(&b), 0);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

/* Member `m` copies the buffer's contents to its second half. */
static void copy_on_member(struct assay_device *device, unsigned m, struct assay_buffer *buffer,
                           uint64_t half)
{
    const struct vulkan_device *member = device->members[m];
    VkCommandBuffer commands;
    VkFence fence;
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = member->queues[0].pool,
        .commandBufferCount = 1,
    };
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    assert_int_equal(member->vk.vkAllocateCommandBuffers(member->handle, &allocate, &commands), 0);
    assert_int_equal(member->vk.vkCreateFence(member->handle, &fence_info, NULL, &fence), 0);
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(member->vk.vkBeginCommandBuffer(commands, &begin), 0);
    const VkBufferCopy region = {.dstOffset = half, .size = half};
    member->vk.vkCmdCopyBuffer(commands, buffer->handles[m], buffer->handles[m], 1, &region);
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    member->vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                    VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    assert_int_equal(member->vk.vkEndCommandBuffer(commands), 0);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    assert_int_equal(member->vk.vkQueueSubmit(member->queues[0].handle, 1, &submit, fence), 0);
    assert_int_equal(
        member->vk.vkWaitForFences(member->handle, 1, &fence, VK_TRUE, UINT64_C(10000000000)), 0);
    member->vk.vkDestroyFence(member->handle, fence, NULL);
    member->vk.vkFreeCommandBuffers(member->handle, member->queues[0].pool, 1, &commands);
}

static void two_members_share(void **state)
{
    (void)state;
    const struct vulkan_physical *physical = vulkan_physical_at(fixture.instance, fixture.index);
    if (physical->import_alignment_bytes == 0)
        skip();
    struct assay_device *device = fixture_device(&fixture, 2);
    assert_true(assay_device_handle(device, 0) != assay_device_handle(device, 1));
    struct assay_slot *slot = make_slot(device, 6);
    enum { HALF = 5000 };
    char got[2 * HALF], wanted[HALF];
    for (int kind = 0; kind < ASSAY_MEMORY_PAGEABLE; kind++) {
        struct assay_error error = {0};
        struct assay_buffer *buffer = make(slot, (enum assay_memory)kind, ASSAY_ROLE_OUTPUT,
                                           sizeof(got));
        assert_non_null(buffer);
        assert_true(assay_buffer_handle(buffer, 0) && assay_buffer_handle(buffer, 1));
        random_fill((uint64_t)kind, 0, wanted, sizeof(wanted));
        fixture_assert_ok(assay_buffer_write(buffer, 0, HALF, wanted, &error), &error);
        copy_on_member(device, 0, buffer, HALF);
        fixture_assert_ok(assay_buffer_read(buffer, 0, sizeof(got), got, &error), &error);
        assert_memory_equal(got + HALF, wanted, HALF);
        /* What the second writes is seen by all as well. */
        memset(assay_buffer_address(buffer), 7, HALF);
        fixture_assert_ok(buffer_flush(buffer, &error), &error);
        copy_on_member(device, 1, buffer, HALF);
        fixture_assert_ok(assay_buffer_read(buffer, 0, sizeof(got), got, &error), &error);
        for (size_t i = 0; i < sizeof(got); i++)
            assert_int_equal(got[i], 7);
        fixture_assert_ok(slot_restore(slot, &error), &error);
        assert_holds_fill(buffer);
        assay_buffer_destroy(&buffer);
    }
    slot_destroy(&slot);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

/* The heap is counted: nearly full, it refuses what it would hold alone, and gives back. */
static void the_heap_is_counted(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    struct assay_slot *slot = make_slot(device, 1);
    struct vulkan_device *member = device->members[0];
    struct assay_error error = {0};
    const struct assay_buffer_params params = {.size = sizeof(params),
                                               .name = "second",
                                               .bytes = 1 << 20,
                                               .memory = ASSAY_MEMORY_DEVICE,
                                               .role = ASSAY_ROLE_SCRATCH};
    struct assay_buffer *first = assay_buffer_create(slot, &params, &error);
    fixture_assert_ok(first != NULL, &error);
    const uint32_t heap = first->held_heap;
    const uint64_t held = member->held_bytes[heap];
    assert_true(held >= 1 << 20);
    member->held_bytes[heap] = member->physical->memory.memoryHeaps[heap].size - (1 << 19);
    assert_null(assay_buffer_create(slot, &params, &error));
    assert_int_equal(error.status, ASSAY_OUT_OF_MEMORY);
    assert_non_null(strstr(error.text,
                           "buffer 'second': 1 MiB (1048576 B) of device memory wanted, "
                           "but what other buffers leave of the heap is 512 KiB"));
    member->held_bytes[heap] = held;
    assay_buffer_destroy(&first);
    assert_true(member->held_bytes[heap] <= held - (1 << 20));
    slot_destroy(&slot);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(through_staging),
        cmocka_unit_test(fills),
        cmocka_unit_test(sizes_out_of_range),
        cmocka_unit_test(slots_differ),
        cmocka_unit_test(the_heap_is_counted),
        cmocka_unit_test(two_members_share),
    };
    return fixture_run(&fixture, tests, NULL, NULL);
}
