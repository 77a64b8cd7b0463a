/* SPDX-License-Identifier: MIT */
/* Storage texel buffers: what shaders read and write through them, and what is refused. */
#include "vulkan_fixture.h"

#include "vulkan/command.h"
#include "vulkan/descriptors.h"
#include "vulkan/slot.h"
#include "vulkan/texel.h"

#include <string.h>

static struct fixture fixture;
static struct assay_device *device;
static struct assay_slot *slot;

#define HEAD "#version 450\nlayout(local_size_x = 4) in;\n"
/* y[i] = the sum of x[i]'s components, and how many texels there are */
#define SUMS                                                                                       \
    HEAD "layout(binding = 0, rgba32f) uniform readonly imageBuffer x;\n"                          \
         "layout(binding = 1, r32ui) uniform uimageBuffer y;\n"                                    \
         "layout(binding = 2) buffer counts_block { uint counts[]; };\n"                           \
         "void main() {\n"                                                                         \
         "    int i = int(gl_GlobalInvocationID.x);\n"                                             \
         "    if (i >= imageSize(x)) return;\n"                                                    \
         "    vec4 v = imageLoad(x, i);\n"                                                         \
         "    uint sum = imageLoad(y, i).x + uint(v.x + v.y + v.z + v.w);\n"                       \
         "    imageStore(y, i, uvec4(sum));\n"                                                     \
         "    counts[0] = uint(imageSize(x));\n"                                                   \
         "    counts[1] = uint(imageSize(y));\n"                                                   \
         "}\n"

static struct assay_kernel *make(const char *text, struct assay_error *error)
{
    const struct assay_kernel_params params = {
        .size = sizeof(params), .source = "k.comp", .text = text};
    return assay_kernel_create(slot, &params, error);
}

static struct assay_buffer *make_buffer(const char *name, uint64_t bytes)
{
    struct assay_error error = {0};
    const struct assay_buffer_params params = {.size = sizeof(params),
                                               .name = name,
                                               .bytes = bytes,
                                               .memory = ASSAY_MEMORY_PINNED,
                                               .role = ASSAY_ROLE_SCRATCH};
    struct assay_buffer *buffer = assay_buffer_create(slot, &params, &error);
    fixture_assert_ok(buffer != NULL, &error);
    memset(assay_buffer_address(buffer), 0, bytes);
    return buffer;
}

static struct assay_command *begin(void)
{
    struct assay_error error = {0};
    const struct command_params params = {
        .slot = slot, .name = "compute", .role = VULKAN_ROLE_COMPUTE};
    struct assay_command *command = command_create(&params, &error);
    fixture_assert_ok(command != NULL, &error);
    return command;
}

static void run(struct assay_command *command)
{
    struct assay_error error = {0};
    struct command_times times;
    fixture_assert_ok(command_finish(command, &error), &error);
    fixture_assert_ok(command_execute(command, clock_monotonic(), &times, &error), &error);
}

/* Twice over the same range, once over another one, in one recording that is replayed. */
static void ranges_are_bound(void **state)
{
    (void)state;
    struct assay_error error = {0};
    const uint64_t part = device->limits.texel_alignment_bytes > 64
                              ? device->limits.texel_alignment_bytes
                              : 64;
    struct assay_buffer *x = make_buffer("x", part + 48), *y = make_buffer("y", 16);
    struct assay_buffer *counts = make_buffer("counts", 8);
    struct assay_kernel *kernel = make(SUMS, &error);
    fixture_assert_ok(kernel != NULL, &error);
    float *values = assay_buffer_address(x);
    for (uint64_t i = 0; i < part / 4 + 12; i++)
        values[i] = i < part / 4 ? 1.0f : (float)(i - part / 4);
    struct assay_binding bindings[] = {
        {.name = "x", .buffer = x, .offset = part},
        {.name = "counts", .buffer = counts},
        {.name = "y", .buffer = y},
    };
    const struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                            .kernel = kernel,
                                            .bindings = bindings,
                                            .binding_count = 3,
                                            .invocations = {4}};
    struct assay_command *command = begin();
    for (int i = 0; i < 2; i++) {
        fixture_assert_ok(assay_command_dispatch(command, &dispatch, &error), &error);
        fixture_assert_ok(assay_command_barrier(command, &error), &error);
    }
    assert_int_equal(command->views.count, 2); /* both share them */
    bindings[0].offset = 0;
    bindings[0].bytes = 32;
    bindings[2].bytes = 12;
    fixture_assert_ok(assay_command_dispatch(command, &dispatch, &error), &error);
    assert_int_equal(command->views.count, 4);
    run(command);
    const uint32_t *sums = assay_buffer_address(y), *sizes = assay_buffer_address(counts);
    /* twice 0 + 1 + 2 + 3 and 1 + 1 + 1 + 1, and so on; the third texel is not in the last range */
    assert_int_equal(sums[0], 2 * 6 + 4);
    assert_int_equal(sums[1], 2 * 22 + 4);
    assert_int_equal(sums[2], 2 * 38);
    assert_int_equal(sums[3], 0);
    assert_int_equal(sizes[0], 2);
    assert_int_equal(sizes[1], 3);
    struct command_times times;
    fixture_assert_ok(command_execute(command, clock_monotonic(), &times, &error), &error);
    assert_int_equal(sums[2], 4 * 38);
    command_destroy(&command);
    assay_kernel_destroy(&kernel);
    assay_buffer_destroy(&x);
    assay_buffer_destroy(&y);
    assay_buffer_destroy(&counts);
    fixture_assert_quiet(&fixture);
}

/* More than a pool of descriptors holds, each with a view of its own. */
static void many_views(void **state)
{
    (void)state;
    struct assay_error error = {0};
    const uint64_t step = device->limits.texel_alignment_bytes > 4
                              ? device->limits.texel_alignment_bytes
                              : 4;
    struct assay_buffer *y = make_buffer("y", 100 * step);
    struct assay_kernel *kernel = make(HEAD "layout(binding = 0, r32i) uniform writeonly "
                                            "iimageBuffer y;\n"
                                            "layout(push_constant) uniform push { int value; };\n"
                                            "void main() { imageStore(y, 0, ivec4(value)); }\n",
                                       &error);
    fixture_assert_ok(kernel != NULL, &error);
    struct assay_command *command = begin();
    for (unsigned i = 0; i < 100; i++) {
        const struct assay_binding binding = {
            .name = "y", .buffer = y, .offset = i * step, .bytes = 4};
        const struct assay_push push = {"value", 7.0 - i};
        const struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                                .kernel = kernel,
                                                .bindings = &binding,
                                                .binding_count = 1,
                                                .pushes = &push,
                                                .push_count = 1,
                                                .groups = {1}};
        fixture_assert_ok(assay_command_dispatch(command, &dispatch, &error), &error);
    }
    run(command);
    const int32_t *values = assay_buffer_address(y);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(values[i * step / 4], 7 - (int)i);
    command_destroy(&command);
    fixture_assert_quiet(&fixture);
}

static void refused(const char *text, const char *wanted)
{
    struct assay_error error = {0};
    assert_null(make(text, &error));
    assert_string_equal(error.text, wanted);
    assert_int_equal(error.status, ASSAY_UNSUPPORTED);
}

static void kernels_refused(void **state)
{
    (void)state;
    struct text wanted = {0};
    refused(HEAD "layout(binding = 0) uniform samplerBuffer table;\n"
                 "layout(binding = 1) buffer block { float y; };\n"
                 "void main() { y = texelFetch(table, 0).x; }\n",
            "kernel 'k.comp': binding 'table' is a uniform texel buffer (samplerBuffer, "
            "textureBuffer), which declares no format; use an imageBuffer with one, as in "
            "layout(rgba32f)");
    refused(HEAD "layout(binding = 3) uniform writeonly imageBuffer y;\n"
                 "void main() { imageStore(y, 0, vec4(1)); }\n",
            "kernel 'k.comp': binding 'y' is an imageBuffer without a format; declare one, as in "
            "layout(rgba32f)");
    const bool had = device->members[0]->texel_formats;
    device->members[0]->texel_formats = false;
    text_addf(&wanted,
              "kernel 'k.comp': binding 'y' is a texel buffer of rg16f, and "
              "shaderStorageImageExtendedFormats is not supported on %s",
              device->members[0]->physical->name);
    refused(HEAD "layout(binding = 0, rg16f) uniform writeonly imageBuffer y;\n"
                 "void main() { imageStore(y, 0, vec4(1)); }\n",
            text_string(&wanted));
    device->members[0]->texel_formats = had;
    text_free(&wanted);
    fixture_assert_quiet(&fixture);
}

static void bindings_refused(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct text wanted = {0};
    const uint64_t step = device->limits.texel_alignment_bytes;
    struct assay_buffer *y = make_buffer("y", 4096);
    struct assay_kernel *kernel = make(HEAD "layout(binding = 0, rgba16i) uniform writeonly "
                                            "iimageBuffer y;\n"
                                            "void main() { imageStore(y, 0, ivec4(1)); }\n",
                                       &error);
    fixture_assert_ok(kernel != NULL, &error);
    struct assay_binding binding = {.name = "y", .buffer = y, .bytes = 20};
    const struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                            .kernel = kernel,
                                            .bindings = &binding,
                                            .binding_count = 1,
                                            .groups = {1}};
    struct assay_command *command = begin();
    assert_false(assay_command_dispatch(command, &dispatch, &error));
    assert_string_equal(error.text, "kernel 'k.comp': binding 'y': 20 bytes are no whole number "
                                    "of texels, a rgba16i takes 8");
    assert_int_equal(error.status, ASSAY_INVALID);
    if (step > 1) {
        error = (struct assay_error){0};
        binding = (struct assay_binding){.name = "y", .buffer = y, .offset = step + 1, .bytes = 8};
        text_addf(&wanted,
                  "kernel 'k.comp': binding 'y' starts at offset %llu, the device wants a multiple "
                  "of %llu",
                  (unsigned long long)step + 1, (unsigned long long)step);
        assert_false(assay_command_dispatch(command, &dispatch, &error));
        assert_string_equal(error.text, text_string(&wanted));
        assert_int_equal(error.status, ASSAY_INVALID);
    }
    command_destroy(&command);
    text_free(&wanted);
    fixture_assert_quiet(&fixture);
}

static void limit_of_texels(void **state)
{
    (void)state;
    struct assay_error error = {0};
    const VkPhysicalDeviceLimits limits = {.maxTexelBufferElements = 65536};
    const struct reflect_binding binding = {.kind = REFLECT_STORAGE_TEXEL_BUFFER,
                                            .texel_format = 3}; /* R32f */
    assert_true(texel_check_range(&binding, 262144, &limits, &error));
    assert_false(texel_check_range(&binding, 262148, &limits, &error));
    assert_string_equal(error.text, "65537 texels of r32f, maxTexelBufferElements is 65536");
    assert_int_equal(error.status, ASSAY_UNSUPPORTED);
    assert_null(texel_format(0));
    assert_null(texel_format(41)); /* R64i */
    assert_string_equal(texel_format(30)->name, "rgba32ui");
    assert_int_equal(texel_format(30)->bytes, 16);
}

static int set_up(void **state)
{
    (void)state;
    struct assay_error error = {0};
    device = fixture_device(&fixture, 1);
    const struct slot_params params = {.device = device};
    slot = slot_create(&params, &error);
    fixture_assert_ok(slot != NULL, &error);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    slot_destroy(&slot);
    device_destroy(&device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_bound), cmocka_unit_test(many_views),
        cmocka_unit_test(kernels_refused),  cmocka_unit_test(bindings_refused),
        cmocka_unit_test(limit_of_texels),
    };
    return fixture_run(&fixture, tests, set_up, tear_down);
}
