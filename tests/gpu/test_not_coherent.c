/* SPDX-License-Identifier: MIT */
/* Memory that is not coherent, which no software driver has: the host gets a copy of its own, as if
 * all of it stood in its cache. A flush carries what the host changed to the real memory, an
 * invalidation drops the copy, and with it changes that were not flushed. */
#include "vulkan_fixture.h"

#include "vulkan/buffer.h"
#include "vulkan/command.h"
#include "vulkan/slot.h"

#include <string.h>

#define BYTES UINT64_C(70001)

static struct fixture fixture;
static struct assay_device *device;
static struct assay_slot *slot;

struct cache {
    VkDeviceMemory memory;
    unsigned char *host, *synced, *real; /* what the host sees; that at the last call; the memory */
    size_t bytes;
};

static struct cache caches[64];
static size_t cache_count;
static uint64_t allocated_bytes;
static struct VolkDeviceTable driver; /* the functions that are replaced */

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice handle, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *callbacks,
                                               VkDeviceMemory *memory)
{
    allocated_bytes = info->allocationSize;
    return driver.vkAllocateMemory(handle, info, callbacks, memory);
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice handle, VkDeviceMemory memory,
                                          VkDeviceSize offset, VkDeviceSize size,
                                          VkMemoryMapFlags flags, void **address)
{
    void *real = NULL;
    const VkResult result = driver.vkMapMemory(handle, memory, offset, size, flags, &real);
    assert_true(cache_count < sizeof(caches) / sizeof(caches[0]));
    struct cache *cache = &caches[cache_count++];
    const size_t bytes = (size_t)allocated_bytes;
    *cache = (struct cache){memory, malloc(bytes), malloc(bytes), real, bytes};
    assert_true(result == VK_SUCCESS && cache->host && cache->synced);
    memcpy(cache->host, real, bytes);
    memcpy(cache->synced, real, bytes);
    *address = cache->host;
    return result;
}

static struct cache *find(const VkMappedMemoryRange *range)
{
    for (size_t i = cache_count; i-- > 0;)
        if (caches[i].memory == range->memory)
            return &caches[i];
    fail_msg("memory that is not mapped");
    return NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL flush(VkDevice handle, uint32_t count,
                                            const VkMappedMemoryRange *range)
{
    (void)handle;
    assert_int_equal(count, 1);
    struct cache *cache = find(range);
    for (size_t i = 0; i < cache->bytes; i++)
        if (cache->host[i] != cache->synced[i])
            cache->real[i] = cache->synced[i] = cache->host[i];
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL invalidate(VkDevice handle, uint32_t count,
                                                 const VkMappedMemoryRange *range)
{
    (void)handle;
    assert_int_equal(count, 1);
    struct cache *cache = find(range);
    memcpy(cache->host, cache->real, cache->bytes);
    memcpy(cache->synced, cache->real, cache->bytes);
    return VK_SUCCESS;
}

/* What is created between begin and end is not coherent; pinned memory always is. */
static VkMemoryPropertyFlags kept_flags[VK_MAX_MEMORY_TYPES];

static void not_coherent_begin(void)
{
    struct vulkan_device *member = device->members[0];
    VkPhysicalDeviceMemoryProperties *memory =
        (VkPhysicalDeviceMemoryProperties *)&member->physical->memory;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        kept_flags[i] = memory->memoryTypes[i].propertyFlags;
        memory->memoryTypes[i].propertyFlags &= ~(VkFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    }
    driver = member->vk;
    member->vk.vkAllocateMemory = allocate;
    member->vk.vkMapMemory = map;
    member->vk.vkFlushMappedMemoryRanges = flush;
    member->vk.vkInvalidateMappedMemoryRanges = invalidate;
}

static void not_coherent_end(void)
{
    struct vulkan_device *member = device->members[0];
    VkPhysicalDeviceMemoryProperties *memory =
        (VkPhysicalDeviceMemoryProperties *)&member->physical->memory;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
        memory->memoryTypes[i].propertyFlags = kept_flags[i];
    member->vk.vkAllocateMemory = driver.vkAllocateMemory;
    member->vk.vkMapMemory = driver.vkMapMemory;
}

static struct assay_buffer *make(enum assay_memory memory, enum assay_role role)
{
    struct assay_error error = {0};
    const struct assay_buffer_params params = {
        .size = sizeof(params), .name = "tested", .bytes = BYTES, .memory = memory, .role = role};
    struct assay_buffer *buffer = assay_buffer_create(slot, &params, &error);
    fixture_assert_ok(buffer != NULL, &error);
    return buffer;
}

static struct assay_buffer *make_not_coherent(enum assay_memory memory, enum assay_role role)
{
    not_coherent_begin();
    struct assay_buffer *buffer = make(memory, role);
    not_coherent_end();
    assert_false(buffer->coherent);
    return buffer;
}

static struct assay_command *begin(void)
{
    struct assay_error error = {0};
    const struct command_params params = {
        .slot = slot, .name = "stage", .role = VULKAN_ROLE_TRANSFER};
    struct assay_command *command = command_create(&params, &error);
    fixture_assert_ok(command != NULL, &error);
    return command;
}

static void finish(struct assay_command *command)
{
    struct assay_error error = {0};
    fixture_assert_ok(command_finish(command, &error), &error);
}

static void run(struct assay_command *command)
{
    struct assay_error error = {0};
    struct command_times times;
    fixture_assert_ok(command_execute(command, clock_monotonic(), &times, &error), &error);
}

static void assert_holds_fill_of(struct assay_buffer *buffer, const struct assay_buffer *filled)
{
    struct assay_error error = {0};
    unsigned char *got = malloc(BYTES), *wanted = malloc(BYTES);
    assert_true(got && wanted);
    fixture_assert_ok(assay_buffer_read(buffer, 0, BYTES, got, &error), &error);
    assay_buffer_fill_bytes(filled, 0, BYTES, wanted);
    assert_memory_equal(got, wanted, BYTES);
    free(got);
    free(wanted);
}

static const enum assay_memory kinds[] = {ASSAY_MEMORY_CACHED, ASSAY_MEMORY_BAR};

static void device_copies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct assay_error error = {0};
        struct assay_buffer *from = make_not_coherent(kinds[i], ASSAY_ROLE_INPUT);
        struct assay_buffer *middle = make(ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT);
        struct assay_buffer *to = make_not_coherent(kinds[i], ASSAY_ROLE_OUTPUT);
        struct assay_command *command = begin();
        fixture_assert_ok(assay_command_copy(command, middle, 0, from, 0, BYTES, &error), &error);
        fixture_assert_ok(assay_command_barrier(command, &error), &error);
        fixture_assert_ok(assay_command_copy(command, to, 0, middle, 0, BYTES, &error), &error);
        finish(command);
        for (int replay = 0; replay < 2; replay++) {
            fixture_assert_ok(slot_restore(slot, &error), &error);
            assert_holds_fill_of(to, to);
            run(command);
            assert_holds_fill_of(to, from);
            unsigned char *host = assay_buffer_address(to); /* without a read that invalidates */
            unsigned char first[16];
            assay_buffer_fill_bytes(from, 0, sizeof(first), first);
            assert_memory_equal(host, first, sizeof(first));
        }
        command_destroy(&command);
        assay_buffer_destroy(&from);
        assay_buffer_destroy(&middle);
        assay_buffer_destroy(&to);
    }
}

/* The host copies; then the host reads the destination, and the device does. */
static void host_copies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct assay_error error = {0};
        struct assay_buffer *from = make(ASSAY_MEMORY_PAGEABLE, ASSAY_ROLE_INPUT);
        struct assay_buffer *to = make_not_coherent(kinds[i], ASSAY_ROLE_OUTPUT);
        struct assay_command *command = begin();
        fixture_assert_ok(assay_command_host_copy(command, to, 0, from, 0, BYTES, &error), &error);
        finish(command);
        run(command);
        const struct cache *cache = &caches[cache_count - 1];
        assert_memory_equal(cache->real, assay_buffer_address(from), BYTES);
        assert_holds_fill_of(to, from);
        command_destroy(&command);
        assay_buffer_destroy(&from);
        assay_buffer_destroy(&to);
    }
}

static void writes_through_the_address(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct assay_buffer *buffer = make_not_coherent(ASSAY_MEMORY_CACHED, ASSAY_ROLE_SCRATCH);
    struct assay_buffer *to = make(ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT);
    unsigned char got[BYTES];
    memset(assay_buffer_address(buffer), 0x5a, BYTES);
    fixture_assert_ok(assay_buffer_read(buffer, 0, BYTES, got, &error), &error);
    assert_int_equal(got[0], 0x5a);
    assert_int_equal(got[BYTES - 1], 0x5a);
    struct assay_command *command = begin();
    fixture_assert_ok(assay_command_copy(command, to, 0, buffer, 0, BYTES, &error), &error);
    finish(command);
    memset(assay_buffer_address(buffer), 0xa5, BYTES);
    run(command);
    fixture_assert_ok(assay_buffer_read(to, 0, BYTES, got, &error), &error);
    assert_int_equal(got[0], 0xa5);
    assert_int_equal(got[BYTES - 1], 0xa5);
    command_destroy(&command);
    assay_buffer_destroy(&buffer);
    assay_buffer_destroy(&to);
}

static void staged_download(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct assay_buffer *from = make(ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT);
    struct assay_buffer *to = make(ASSAY_MEMORY_PAGEABLE, ASSAY_ROLE_OUTPUT);
    struct assay_command *command = begin();
    const size_t before = cache_count;
    not_coherent_begin();
    const bool recorded = assay_command_copy(command, to, 0, from, 0, BYTES, &error);
    not_coherent_end();
    fixture_assert_ok(recorded, &error);
    assert_int_equal(cache_count, before + 1);
    finish(command);
    run(command);
    assert_holds_fill_of(to, from);
    command_destroy(&command);
    assay_buffer_destroy(&from);
    assay_buffer_destroy(&to);
}

static bool has(enum assay_memory memory)
{
    struct assay_error error = {0};
    const struct assay_buffer_params params = {
        .size = sizeof(params), .name = "tried", .bytes = 64, .memory = memory};
    struct assay_buffer *buffer = assay_buffer_create(slot, &params, &error);
    assay_buffer_destroy(&buffer);
    return error.status == ASSAY_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_copies),
        cmocka_unit_test(host_copies),
        cmocka_unit_test(writes_through_the_address),
        cmocka_unit_test(staged_download),
    };
    struct assay_error error = {0};
    const int unable = fixture_open(&fixture);
    if (unable)
        return unable;
    device = fixture_device(&fixture, 1);
    const struct slot_params params = {.device = device, .case_seed = 7};
    slot = slot_create(&params, &error);
    int failed = 1;
    if (slot && has(ASSAY_MEMORY_CACHED) && has(ASSAY_MEMORY_BAR))
        failed = cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
    else
        failed = slot ? SKIPPED : 1;
    if (failed == SKIPPED)
        printf(
            "skipped: the device has no cached memory that it shares with the host, or no bar\n");
    slot_destroy(&slot);
    device_destroy(&device);
    for (size_t i = 0; i < cache_count; i++) {
        free(caches[i].host);
        free(caches[i].synced);
    }
    struct text messages = {0};
    if (vulkan_instance_take_messages(fixture.instance, &messages) > 0) {
        printf("%s", text_string(&messages));
        failed = 1;
    }
    text_free(&messages);
    vulkan_instance_destroy(&fixture.instance);
    return failed;
}
