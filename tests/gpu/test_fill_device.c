/* SPDX-License-Identifier: MIT */
/* Large fills are done on the device, and hold what the host would have put there, bit by bit. */
#include "vulkan_fixture.h"

#include "base/element.h"
#include "vulkan/fill_device.h"
#include "vulkan/slot.h"

#include <string.h>

static struct fixture fixture;

/* Makes a buffer with the fill and compares all of it. */
static size_t fills_done(struct assay_slot *slot, const struct assay_fill *fill,
                         enum assay_role role, uint64_t bytes)
{
    struct assay_error error = {0};
    const size_t before = fill_device_count();
    const struct assay_buffer_params params = {.size = sizeof(params),
                                               .name = "filled",
                                               .bytes = bytes,
                                               .memory = ASSAY_MEMORY_DEVICE,
                                               .role = role,
                                               .fill = *fill};
    struct assay_buffer *buffer = assay_buffer_create(slot, &params, &error);
    fixture_assert_ok(buffer != NULL, &error);
    const size_t count = fill_device_count() - before;
    char *got = malloc(bytes), *wanted = malloc(bytes);
    assert_true(got && wanted);
    fixture_assert_ok(assay_buffer_read(buffer, 0, bytes, got, &error), &error);
    assay_buffer_fill_bytes(buffer, 0, bytes, wanted);
    assert_memory_equal(got, wanted, bytes);
    free(got);
    free(wanted);
    assay_buffer_destroy(&buffer);
    return count;
}

#define BYTES (FILL_DEVICE_BYTES + 12) /* the host does the last four */

static void every_kind_is_the_same(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    struct assay_error error = {0};
    const struct slot_params params = {.device = device, .case_seed = 3};
    struct assay_slot *slot = slot_create(&params, &error);
    fixture_assert_ok(slot != NULL, &error);
    const struct assay_fill fills[] = {
        {.kind = ASSAY_FILL_RANDOM_BITS},
        {.kind = ASSAY_FILL_WORD, .word = 0x12345678},
        {.kind = ASSAY_FILL_VALUE, .element = ASSAY_ELEMENT_HALF, .from = 1.5},
        {.kind = ASSAY_FILL_VALUE, .element = ASSAY_ELEMENT_DOUBLE, .from = 0.1},
        {.kind = ASSAY_FILL_UNIFORM_FP32, .low = -1, .high = 1},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_FLOAT, .from = 0.1, .to = 1e6},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_FLOAT, .from = 1, .to = 1 + 0x1p-23},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_HALF, .from = -1, .to = 1},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_HALF, .from = 0, .to = 0x1p-12},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_HALF, .from = -65504, .to = 65504},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_HALF, .from = -2, .to = 0},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_BFLOAT16, .from = -3, .to = 7},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_INT8, .from = -128, .to = 127},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_UINT8, .from = 3, .to = 9},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_INT16, .from = -1000, .to = 10},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_INT32, .from = -5, .to = 1e9},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_UINT32, .to = 4294967295.0},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_INT64, .from = -0x1p53, .to = 0x1p53},
        {.kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_UINT64, .from = 7, .to = 1e15},
    };
    for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++)
        assert_int_equal(fills_done(slot, &fills[i], ASSAY_ROLE_INPUT, BYTES), 1);
    const struct assay_fill wide = {
        .kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_DOUBLE, .from = -0.3, .to = 1e9};
    assert_int_equal(fills_done(slot, &wide, ASSAY_ROLE_INPUT, BYTES),
                     assay_device_has(device, ASSAY_FEATURE_FP64, NULL) ? 1 : 0);
    assert_int_equal(fills_done(slot, &fills[0], ASSAY_ROLE_OUTPUT, BYTES), 1);
    /* two pieces of 64 MiB and a bit: places are counted from the start of the buffer */
    assert_int_equal(fills_done(slot, &fills[5], ASSAY_ROLE_INPUT, (UINT64_C(64) << 20) + 4096), 1);
    slot_destroy(&slot);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

static void the_rest_is_the_hosts(void **state)
{
    (void)state;
    struct assay_device *device = fixture_device(&fixture, 1);
    struct assay_error error = {0};
    const struct slot_params params = {.device = device, .case_seed = 3};
    struct assay_slot *slot = slot_create(&params, &error);
    fixture_assert_ok(slot != NULL, &error);
    const struct assay_fill random = {.kind = ASSAY_FILL_RANDOM_BITS};
    assert_int_equal(fills_done(slot, &random, ASSAY_ROLE_INPUT, FILL_DEVICE_BYTES - 1), 0);
    const struct assay_fill sequence = {.kind = ASSAY_FILL_SEQUENCE, .to = 1};
    assert_int_equal(fills_done(slot, &sequence, ASSAY_ROLE_INPUT, BYTES), 0);
    const struct assay_fill tiny = {
        .kind = ASSAY_FILL_UNIFORM, .element = ASSAY_ELEMENT_FLOAT, .to = 1e-36};
    assert_int_equal(fills_done(slot, &tiny, ASSAY_ROLE_INPUT, BYTES), 0);
    slot_destroy(&slot);
    device_destroy(&device);
    fixture_assert_quiet(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_the_same),
        cmocka_unit_test(the_rest_is_the_hosts),
    };
    return fixture_run(&fixture, tests, NULL, NULL);
}
