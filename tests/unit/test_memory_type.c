/* SPDX-License-Identifier: MIT */
#include "vulkan/memory.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define L VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define V VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define C VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define K VK_MEMORY_PROPERTY_HOST_CACHED_BIT
#define P VK_MEMORY_PROPERTY_PROTECTED_BIT
#define U VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD

static struct vulkan_physical fake(const VkMemoryPropertyFlags *types, uint32_t count)
{
    struct vulkan_physical physical = {.import_alignment_bytes = 4096};
    physical.memory.memoryTypeCount = count;
    for (uint32_t i = 0; i < count; i++)
        physical.memory.memoryTypes[i].propertyFlags = types[i];
    return physical;
}

#define FAKE(...)                                                                                  \
    fake((const VkMemoryPropertyFlags[]){__VA_ARGS__},                                             \
         sizeof((const VkMemoryPropertyFlags[]){__VA_ARGS__}) / sizeof(VkMemoryPropertyFlags))

static int find(const struct vulkan_physical *physical, enum assay_memory memory)
{
    const char *why_not = NULL;
    const int type = memory_type_find(physical, memory, UINT32_MAX, &why_not);
    assert_true((type < 0) == (why_not != NULL));
    return type;
}

static void discrete_without_bar(void **state)
{
    (void)state;
    const struct vulkan_physical gpu = FAKE(0, L, V | C, V | C | K);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_DEVICE), 1);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_PINNED), 2);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_CACHED), 3);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_BAR), -1);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_IMPORTED), 3);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_PAGEABLE), 2);
    const char *why_not = NULL;
    memory_type_find(&gpu, ASSAY_MEMORY_BAR, UINT32_MAX, &why_not);
    assert_string_equal(why_not, "no memory type is both device-local and host-visible");
}

static void discrete_with_bar(void **state)
{
    (void)state;
    /* The BAR's type may stand before those of system memory. */
    const struct vulkan_physical gpu = FAKE(L, L | V | C, V | C, V | C | K);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_DEVICE), 0);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_PINNED), 2);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_CACHED), 3);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_BAR), 1);
}

static void integrated(void **state)
{
    (void)state;
    const struct vulkan_physical gpu = FAKE(L, L | V | C, L | V | K, L | V | C | K);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_DEVICE), 0);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_PINNED), 1);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_CACHED), 3);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_BAR), 1);
    const struct vulkan_physical not_coherent = FAKE(L | V | C, L | V | K);
    assert_int_equal(find(&not_coherent, ASSAY_MEMORY_CACHED), 1);
}

static void software(void **state)
{
    (void)state;
    const struct vulkan_physical cpu = FAKE(L | V | C | K);
    for (int i = 0; i < ASSAY_MEMORY_COUNT; i++)
        assert_int_equal(find(&cpu, (enum assay_memory)i), 0);
}

static void special_types_are_left_alone(void **state)
{
    (void)state;
    const struct vulkan_physical gpu = FAKE(L | P, L | U, L, V | C | U, V | C);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_DEVICE), 2);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_PINNED), 4);
}

static void only_allowed_types(void **state)
{
    (void)state;
    const struct vulkan_physical gpu = FAKE(L, L, V | C);
    const char *why_not = NULL;
    assert_int_equal(memory_type_find(&gpu, ASSAY_MEMORY_DEVICE, 1 << 1, &why_not), 1);
    assert_null(why_not);
    assert_int_equal(memory_type_find(&gpu, ASSAY_MEMORY_DEVICE, 1 << 2, &why_not), -1);
    assert_string_equal(why_not, "no memory type is device-local");
}

static void import_needs_its_extension(void **state)
{
    (void)state;
    struct vulkan_physical gpu = FAKE(L | V | C | K);
    gpu.import_alignment_bytes = 0;
    const char *why_not = NULL;
    assert_int_equal(memory_type_find(&gpu, ASSAY_MEMORY_IMPORTED, UINT32_MAX, &why_not), -1);
    assert_string_equal(why_not, "VK_EXT_external_memory_host is not there");
}

static void imported_memory_is_coherent(void **state)
{
    (void)state;
    const struct vulkan_physical gpu = FAKE(L, V | K, V | C);
    assert_int_equal(find(&gpu, ASSAY_MEMORY_IMPORTED), 2);
    const struct vulkan_physical none = FAKE(L, V | K);
    const char *why_not = NULL;
    assert_int_equal(memory_type_find(&none, ASSAY_MEMORY_IMPORTED, UINT32_MAX, &why_not), -1);
    assert_string_equal(why_not, "no coherent memory type takes imported host memory");
}

static void refuses(const struct assay_device *device, enum assay_memory memory, uint64_t bytes,
                    const char *text)
{
    struct assay_error error = {0};
    assert_false(memory_check_size(device, memory, bytes, &error));
    assert_int_equal(error.status, ASSAY_UNSUPPORTED);
    assert_string_equal(error.text, text);
}

static void no_room(const struct vulkan_device *device, uint32_t type, uint64_t bytes,
                    uint64_t host_left, const char *text)
{
    struct assay_error error = {0};
    assert_false(memory_check_left(device, type, ASSAY_MEMORY_DEVICE, bytes, host_left, &error));
    assert_int_equal(error.status, ASSAY_OUT_OF_MEMORY);
    assert_true(error.foreseen);
    assert_string_equal(error.text, text);
}

/* What a heap and the host have left, not what they have. */
static void room_beside_other_buffers(void **state)
{
    (void)state;
    struct vulkan_physical gpu = FAKE(L, V | C);
    struct assay_error error = {0};
    gpu.class = VULKAN_CLASS_DISCRETE;
    gpu.memory.memoryHeapCount = 2;
    gpu.memory.memoryHeaps[0] = (VkMemoryHeap){1000, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    gpu.memory.memoryHeaps[1] = (VkMemoryHeap){5000, 0};
    gpu.memory.memoryTypes[1].heapIndex = 1;
    struct vulkan_device device = {.physical = &gpu, .held_bytes = {600, 0}};
    /* A card's memory has nothing to do with the host's. */
    assert_true(memory_check_left(&device, 0, ASSAY_MEMORY_DEVICE, 400, 10, &error));
    no_room(&device, 0, 401, UINT64_MAX,
            "401 B (401 B) of device memory wanted, but what other buffers leave of the heap is "
            "400 B (heap size less theirs, 400 B)");
    assert_true(memory_check_left(&device, 1, ASSAY_MEMORY_PINNED, 5000, 5000, &error));
    no_room(&device, 1, 5000, 4999,
            "5 kB (5000 B) of device memory wanted, but what this machine has left is 4.999 kB "
            "(available host memory, 4999 B)");
    gpu.class = VULKAN_CLASS_CPU;
    assert_true(memory_check_left(&device, 0, ASSAY_MEMORY_DEVICE, 300, 300, &error));
    no_room(&device, 0, 300, 299,
            "300 B (300 B) of device memory wanted, but what this machine has left is 299 B "
            "(available host memory, 299 B)");
    device.held_bytes[0] = 2000; /* never below nothing */
    no_room(&device, 0, 1, UINT64_MAX,
            "1 B (1 B) of device memory wanted, but what other buffers leave of the heap is 0 B "
            "(heap size less theirs, 0 B)");
    assert_true(error.status == ASSAY_OK);
}

static void sizes_against_limits(void **state)
{
    (void)state;
    struct vulkan_physical gpu = FAKE(L, V | C);
    gpu.memory.memoryHeapCount = 2;
    gpu.memory.memoryHeaps[0].size = UINT64_C(8) << 30;
    gpu.memory.memoryHeaps[1].size = UINT64_C(1) << 30;
    gpu.memory.memoryTypes[1].heapIndex = 1;
    gpu.max_allocation_bytes = UINT64_C(4) << 30;
    gpu.max_buffer_bytes = UINT64_C(2) << 30;
    struct vulkan_device member = {.physical = &gpu};
    struct assay_device device = {.member_count = 1, .members = {&member}};
    struct assay_error error = {0};
    assert_true(memory_check_size(&device, ASSAY_MEMORY_DEVICE, UINT64_C(2) << 30, &error));
    assert_true(memory_check_size(&device, ASSAY_MEMORY_PINNED, UINT64_C(1) << 30, &error));
    refuses(&device, ASSAY_MEMORY_DEVICE, (UINT64_C(2) << 30) + 1,
            "2.147 GB (2147483649 B) of device memory wanted, but one buffer holds at most 2 GiB "
            "(maxBufferSize, 2147483648 B)");
    refuses(&device, ASSAY_MEMORY_DEVICE, UINT64_C(6) << 30,
            "6 GiB (6442450944 B) of device memory wanted, but one allocation holds at most 4 GiB "
            "(maxMemoryAllocationSize, 4294967296 B)");
    refuses(&device, ASSAY_MEMORY_DEVICE, UINT64_C(64) << 30,
            "64 GiB (68719476736 B) of device memory wanted, but the heap of that memory has "
            "8 GiB (heap size, 8589934592 B)");
    refuses(&device, ASSAY_MEMORY_PINNED, UINT64_C(2) << 30,
            "2 GiB (2147483648 B) of pinned memory wanted, but the heap of that memory "
            "has 1 GiB (heap size, 1073741824 B)");
    /* What the driver makes of a size that fits: its rounding, its choice of a type. */
    assert_true(memory_check_allocation(&gpu, 1, ASSAY_MEMORY_DEVICE, UINT64_C(1) << 30, &error));
    assert_false(
        memory_check_allocation(&gpu, 1, ASSAY_MEMORY_DEVICE, (UINT64_C(1) << 30) + 1, &error));
    assert_string_equal(error.text,
                        "1.074 GB (1073741825 B) of device memory wanted, but the heap of that "
                        "memory has 1 GiB (heap size, 1073741824 B)");
    error = (struct assay_error){0};
    gpu.max_buffer_bytes = 0;
    assert_true(memory_check_size(&device, ASSAY_MEMORY_DEVICE, UINT64_C(4) << 30, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discrete_without_bar),
        cmocka_unit_test(discrete_with_bar),
        cmocka_unit_test(integrated),
        cmocka_unit_test(software),
        cmocka_unit_test(special_types_are_left_alone),
        cmocka_unit_test(only_allowed_types),
        cmocka_unit_test(import_needs_its_extension),
        cmocka_unit_test(imported_memory_is_coherent),
        cmocka_unit_test(room_beside_other_buffers),
        cmocka_unit_test(sizes_against_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
