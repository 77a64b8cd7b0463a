/* SPDX-License-Identifier: MIT */
/* Kernels: constants by name, local size, limits, what is refused. */
#include "vulkan_fixture.h"

#include "vulkan/command.h"
#include "vulkan/kernel.h"
#include "vulkan/slot.h"

#include <assay/command.h>

#include <string.h>

static struct fixture fixture;
static struct assay_device *device;
static struct assay_slot *slot;

#define CONSTANTS                                                                                  \
    "#version 450\n"                                                                               \
    "layout(local_size_x_id = 0) in;\n"                                                            \
    "layout(constant_id = 0) const uint WORKGROUP = 16;\n"                                         \
    "layout(constant_id = 1) const float SCALE = 1.5;\n"                                           \
    "layout(constant_id = 2) const bool FLAG = false;\n"                                           \
    "layout(constant_id = 3) const int SHIFT = 1;\n"                                               \
    "layout(set = 0, binding = 0) writeonly buffer target_block { float x[]; } target;\n"          \
    "layout(set = 2, binding = 5, std140) uniform added_block { float added; };\n"                 \
    "layout(push_constant) uniform push_block { int i; float f; } push;\n"                         \
    "void main() {\n"                                                                              \
    "    float v = SCALE * float(SHIFT) + added + float(push.i) + push.f;\n"                       \
    "    target.x[gl_GlobalInvocationID.x] = FLAG ? v : float(WORKGROUP);\n"                       \
    "}\n"

static struct assay_kernel *make(const char *text, const struct assay_constant *constants,
                                 size_t count, struct assay_error *error)
{
    const struct assay_kernel_params params = {.size = sizeof(params),
                                               .source = "k.comp",
                                               .text = text,
                                               .constants = constants,
                                               .constant_count = count};
    return assay_kernel_create(slot, &params, error);
}

static struct assay_buffer *make_buffer(uint64_t bytes)
{
    struct assay_error error = {0};
    const struct assay_buffer_params params = {.size = sizeof(params),
                                               .name = "buffer",
                                               .bytes = bytes,
                                               .memory = ASSAY_MEMORY_PINNED,
                                               .role = ASSAY_ROLE_SCRATCH};
    struct assay_buffer *buffer = assay_buffer_create(slot, &params, &error);
    fixture_assert_ok(buffer != NULL, &error);
    return buffer;
}

/* Value that the kernel writes to x[3]. */
static float result(struct assay_kernel *kernel)
{
    struct assay_error error = {0};
    struct command_times times;
    struct assay_buffer *target = make_buffer(64 * sizeof(float)), *added = make_buffer(16);
    float *values = assay_buffer_address(target), *value = assay_buffer_address(added);
    memset(values, 0, 64 * sizeof(float));
    *value = 100.0f;
    const struct assay_binding bindings[] = {{.name = "added", .buffer = added},
                                             {.name = "target", .buffer = target}};
    const struct assay_push pushes[] = {{"f", 0.25}, {"i", -3}};
    const struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                            .kernel = kernel,
                                            .bindings = bindings,
                                            .binding_count = 2,
                                            .pushes = pushes,
                                            .push_count = 2,
                                            .invocations = {4}};
    const struct command_params params = {
        .slot = slot, .name = "compute", .role = VULKAN_ROLE_COMPUTE};
    struct assay_command *command = command_create(&params, &error);
    fixture_assert_ok(command != NULL, &error);
    fixture_assert_ok(assay_command_dispatch(command, &dispatch, &error), &error);
    fixture_assert_ok(command_finish(command, &error), &error);
    fixture_assert_ok(command_execute(command, clock_monotonic(), &times, &error), &error);
    float x = values[3];
    uint32_t local[3];
    assay_kernel_local_size(kernel, local);
    assert_true(values[local[0] - 1] != 0.0f); /* the whole group ran, */
    assert_true(values[local[0]] == 0.0f);     /* and one group alone */
    command_destroy(&command);
    assay_buffer_destroy(&target);
    assay_buffer_destroy(&added);
    return x;
}

static void constants_by_name(void **state)
{
    (void)state;
    struct assay_error error = {0};
    uint32_t local[3];
    struct assay_kernel *kernel = make(CONSTANTS, NULL, 0, &error);
    fixture_assert_ok(kernel != NULL, &error);
    assay_kernel_local_size(kernel, local);
    assert_int_equal(local[0], 16); /* WORKGROUP's default counts for local_size_x_id too */
    assert_int_equal(local[1], 1);
    assert_true(result(kernel) == 16.0f);
    assay_kernel_destroy(&kernel);
    assert_null(kernel);

    const struct assay_constant given[] = {
        {"FLAG", 1}, {"SHIFT", -4}, {"WORKGROUP", 8}, {"[1]", 2.5}};
    kernel = make(CONSTANTS, given, 4, &error);
    fixture_assert_ok(kernel != NULL, &error);
    assay_kernel_local_size(kernel, local);
    assert_int_equal(local[0], 8);
    assert_true(result(kernel) == 2.5f * -4 + 100 - 3 + 0.25f);
    assay_kernel_destroy(&kernel);
    fixture_assert_quiet(&fixture);
}

static void refused(const char *text, const char *name, double value, enum assay_status status,
                    const char *expected)
{
    struct assay_error error = {0};
    const struct assay_constant constant = {name, value};
    assert_null(make(text, &constant, name != NULL, &error));
    assert_string_equal(error.text, expected);
    assert_int_equal(error.status, status);
    fixture_assert_quiet(&fixture);
}

static void refusals(void **state)
{
    (void)state;
    refused(CONSTANTS, "WORKGROUPS", 4, ASSAY_INVALID,
            "kernel 'k.comp': there is no specialisation constant 'WORKGROUPS'; did you mean "
            "'WORKGROUP'? There is WORKGROUP, SCALE, FLAG and SHIFT");
    refused(CONSTANTS, "SHIFT", 0.5, ASSAY_INVALID,
            "kernel 'k.comp': constant 'SHIFT' is int32: 0.5 does not fit, allowed is a whole "
            "number from -2147483648 to 2147483647");
    refused(CONSTANTS, "FLAG", 2, ASSAY_INVALID,
            "kernel 'k.comp': constant 'FLAG' is bool: 2 does not fit, allowed is 0 or 1");
    refused(CONSTANTS, "WORKGROUP", 0, ASSAY_INVALID, "kernel 'k.comp': the local size in x is 0");
    refused("#version 450\nvoid main() { x(); }\n", NULL, 0, ASSAY_SCRIPT,
            "k.comp:2: 'x' : no matching overloaded function found");
    refused("#version 450\nlayout(local_size_x = 1) in;\n"
            "layout(set = 0, binding = 1, rgba8) uniform image2D picture;\n"
            "void main() { imageStore(picture, ivec2(0), vec4(0)); }\n",
            NULL, 0, ASSAY_UNSUPPORTED,
            "kernel 'k.comp': set 0, binding 1 is no buffer; kernels may bind single buffers, no "
            "images, samplers or arrays of descriptors");
    char text[200];
    const struct assay_limits *limits = assay_device_limits(device);
    snprintf(text, sizeof(text),
             "kernel 'k.comp': local size 1000000 in x, maxComputeWorkGroupSize[0] is %u",
             limits->max_group_size[0]);
    refused(CONSTANTS, "WORKGROUP", 1000000, ASSAY_UNSUPPORTED, text);
    struct text pushes = {0};
    text_addf(
        &pushes,
        "#version 450\nlayout(local_size_x = 1) in;\n"
        "layout(push_constant) uniform block { uint n[%u]; } push;\n"
        "layout(set = 0, binding = 0) buffer b { uint x; };\nvoid main() { x = push.n[1]; }\n",
        limits->max_push_bytes / 4 + 1);
    snprintf(text, sizeof(text),
             "kernel 'k.comp': its push constants take %u B, maxPushConstantsSize is %u",
             (limits->max_push_bytes / 4 + 1) * 4, limits->max_push_bytes);
    refused(text_string(&pushes), NULL, 0, ASSAY_UNSUPPORTED, text);
    text_free(&pushes);
}

#define SHARED                                                                                     \
    "#version 450\nlayout(local_size_x = 1) in;\n"                                                 \
    "layout(constant_id = 0) const uint N = 16;\nshared uint tile[N * N];\n"                       \
    "layout(binding = 0) buffer b { uint x; };\n"                                                  \
    "void main() { tile[0] = x; x = tile[N - 1]; }\n"

static void shared_memory_and_descriptors_are_limited(void **state)
{
    (void)state;
    struct assay_error error = {0};
    char text[200];
    struct assay_kernel *kernel = make(SHARED, NULL, 0, &error);
    fixture_assert_ok(kernel != NULL, &error);
    assay_kernel_destroy(&kernel);
    snprintf(text, sizeof(text),
             "kernel 'k.comp': its shared variables take 67108864 B, maxComputeSharedMemorySize is "
             "%u",
             assay_device_limits(device)->max_shared_bytes);
    refused(SHARED, "N", 4096, ASSAY_UNSUPPORTED, text);

    VkPhysicalDeviceLimits *limits =
        (VkPhysicalDeviceLimits *)&device->members[0]->physical->properties.limits;
    const uint32_t kept = limits->maxPerStageDescriptorStorageBuffers;
    limits->maxPerStageDescriptorStorageBuffers = 0;
    refused(SHARED, NULL, 0, ASSAY_UNSUPPORTED,
            "kernel 'k.comp' uses 1 storage buffers, maxPerStageDescriptorStorageBuffers is 0");
    limits->maxPerStageDescriptorStorageBuffers = kept;
}

static void missing_features_are_named(void **state)
{
    (void)state;
    struct assay_error error = {0};
    const char *why = device->members[0]->missing[ASSAY_FEATURE_FP64];
    device->members[0]->missing[ASSAY_FEATURE_FP64] = "shaderFloat64 is not supported";
    struct assay_kernel *kernel = make("#version 450\nlayout(local_size_x = 1) in;\n"
                                       "layout(set = 0, binding = 0) buffer b { double x; };\n"
                                       "void main() { x = x * 2.0lf; }\n",
                                       NULL, 0, &error);
    device->members[0]->missing[ASSAY_FEATURE_FP64] = why;
    assert_null(kernel);
    assert_string_equal(error.text,
                        "kernel 'k.comp' uses 64-bit floats: shaderFloat64 is not supported");
    assert_int_equal(error.status, ASSAY_UNSUPPORTED);
}

static void the_slot_cleans_up(void **state)
{
    (void)state;
    struct assay_error error = {0};
    const struct slot_params params = {.device = device, .case_seed = 1};
    struct assay_slot *kept = slot;
    slot = slot_create(&params, &error);
    fixture_assert_ok(slot != NULL, &error);
    assert_non_null(make(CONSTANTS, NULL, 0, &error));
    assert_non_null(make(CONSTANTS, NULL, 0, &error));
    assert_int_equal(slot_destroy(&slot), 2);
    slot = kept;
    fixture_assert_quiet(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_by_name),
        cmocka_unit_test(refusals),
        cmocka_unit_test(shared_memory_and_descriptors_are_limited),
        cmocka_unit_test(missing_features_are_named),
        cmocka_unit_test(the_slot_cleans_up),
    };
    struct assay_error error = {0};
    const int unable = fixture_open(&fixture);
    if (unable)
        return unable;
    device = fixture_device(&fixture, 1);
    const struct slot_params params = {.device = device, .case_seed = 1};
    slot = slot_create(&params, &error);
    int failed = slot == NULL || cmocka_run_group_tests(tests, NULL, NULL);
    slot_destroy(&slot);
    device_destroy(&device);
    vulkan_instance_destroy(&fixture.instance);
    return failed ? 1 : 0;
}
