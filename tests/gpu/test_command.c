/* SPDX-License-Identifier: MIT */
/* Recordings: what they do to the bytes, what they refuse, and what they tell of time. */
#include "vulkan_fixture.h"

#include "vulkan/command.h"
#include "vulkan/slot.h"

#include "base/os.h"

#include <assay/vulkan.h>

#include <pthread.h>
#include <string.h>

static struct fixture fixture;
static struct text shader_directory;

struct bench {
    struct assay_device *device;
    struct assay_slot *slot;
    struct assay_command *command;
};

static void open_bench(struct bench *bench, unsigned members)
{
    static const char *directories[2];
    static const struct shader_search search = {.directories = directories};
    struct assay_error error = {0};
    directories[0] = text_string(&shader_directory);
    bench->device = fixture_device(&fixture, members);
    const struct slot_params params = {.device = bench->device, .case_seed = 42, .search = &search};
    bench->slot = slot_create(&params, &error);
    fixture_assert_ok(bench->slot != NULL, &error);
    bench->command = NULL;
}

static void record(struct bench *bench, enum vulkan_role role, unsigned member)
{
    struct assay_error error = {0};
    const struct command_params params = {
        .slot = bench->slot, .name = "stage", .role = role, .member = member};
    command_destroy(&bench->command);
    bench->command = command_create(&params, &error);
    fixture_assert_ok(bench->command != NULL, &error);
}

static void close_bench(struct bench *bench)
{
    command_destroy(&bench->command);
    assert_null(bench->command);
    slot_destroy(&bench->slot);
    device_destroy(&bench->device);
    fixture_assert_quiet(&fixture);
}

struct ran_times {
    int64_t begin_ns, end_ns, device_ns;
};

static void run(struct bench *bench, struct ran_times *times)
{
    struct assay_error error = {0};
    struct command_times host;
    fixture_assert_ok(command_execute(bench->command, clock_monotonic(), &host, &error), &error);
    assert_true(host.end_ns >= host.begin_ns);
    assert_true(host.submit_ns >= 0);
    *times = (struct ran_times){.begin_ns = host.begin_ns, .end_ns = host.end_ns};
    fixture_assert_ok(command_device_time(bench->command, &times->device_ns, &error), &error);
}

static void finish_and_run(struct bench *bench)
{
    struct assay_error error = {0};
    struct ran_times times;
    fixture_assert_ok(command_finish(bench->command, &error), &error);
    run(bench, &times);
}

static struct assay_buffer *make(struct bench *bench, const char *name, uint64_t bytes,
                                 enum assay_memory memory, enum assay_role role)
{
    struct assay_error error = {0};
    const struct assay_buffer_params params = {
        .size = sizeof(params), .name = name, .bytes = bytes, .memory = memory, .role = role};
    struct assay_buffer *buffer = assay_buffer_create(bench->slot, &params, &error);
    fixture_assert_ok(buffer != NULL, &error);
    return buffer;
}

static unsigned char *contents(struct assay_buffer *buffer)
{
    struct assay_error error = {0};
    size_t bytes = (size_t)assay_buffer_bytes(buffer);
    unsigned char *host = malloc(bytes);
    assert_non_null(host);
    fixture_assert_ok(assay_buffer_read(buffer, 0, bytes, host, &error), &error);
    return host;
}

/* [offset, offset + bytes) of `to` is what `from` holds at `source_offset`; the rest is poison. */
static void assert_copied(struct assay_buffer *to, uint64_t offset, struct assay_buffer *from,
                          uint64_t source_offset, uint64_t bytes)
{
    size_t size = (size_t)assay_buffer_bytes(to);
    unsigned char *actual = contents(to), *source = contents(from), *expected = malloc(size);
    assert_non_null(expected);
    assay_buffer_fill_bytes(to, 0, size, expected);
    memcpy(expected + offset, source + source_offset, (size_t)bytes);
    assert_memory_equal(actual, expected, size);
    free(actual);
    free(source);
    free(expected);
}

static void expect(bool done, const struct assay_error *error, enum assay_status status,
                   const char *text)
{
    assert_false(done);
    assert_string_equal(error->text, text);
    assert_int_equal(error->status, status);
}

static void copies_and_replays(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    struct ran_times times;
    open_bench(&bench, 1);
    struct assay_buffer *from = make(&bench, "from", 4096, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT);
    struct assay_buffer *to = make(&bench, "to", 8192, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT);
    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    fixture_assert_ok(assay_command_copy(bench.command, to, 104, from, 8, 4001, &error), &error);
    fixture_assert_ok(command_finish(bench.command, &error), &error);
    assert_false(command_touches_host(bench.command));
    assert_int_equal(command_queue_count(bench.command), 1);
    for (int i = 0; i < 3; i++) {
        fixture_assert_ok(slot_restore(bench.slot, &error), &error);
        run(&bench, &times);
        assert_copied(to, 104, from, 8, 4001);
        if (command_has_timestamps(bench.command))
            assert_true(times.device_ns >= 0 && times.device_ns <= times.end_ns - times.begin_ns);
        else
            assert_int_equal(times.device_ns, -1);
    }
    expect(assay_command_copy(bench.command, to, 0, from, 0, 4, &error), &error, ASSAY_INVALID,
           "stage 'stage' is recorded already; commands belong into its record hook");
    close_bench(&bench);
}

static void timestamps_grow_with_the_work(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    struct ran_times small, large;
    open_bench(&bench, 1);
    struct assay_buffer *buffer = make(&bench, "large", 64 << 20, ASSAY_MEMORY_DEVICE,
                                       ASSAY_ROLE_SCRATCH);
    for (int i = 0; i < 2; i++) {
        record(&bench, VULKAN_ROLE_COMPUTE, 0);
        uint64_t bytes = i == 0 ? 4 : 64 << 20;
        fixture_assert_ok(assay_command_fill(bench.command, buffer, 0, bytes, 7, &error), &error);
        finish_and_run(&bench);
        run(&bench, i == 0 ? &small : &large);
    }
    if (command_has_timestamps(bench.command)) {
        /* 64 MiB at 10 TB/s are 6.7 us: no device is faster. */
        assert_true(large.device_ns >= 6000);
        assert_true(large.device_ns > small.device_ns);
    }
    close_bench(&bench);
}

static void memory_kinds(void **state)
{
    (void)state;
    static const enum assay_memory kinds[] = {ASSAY_MEMORY_PINNED, ASSAY_MEMORY_CACHED,
                                              ASSAY_MEMORY_BAR, ASSAY_MEMORY_IMPORTED,
                                              ASSAY_MEMORY_PAGEABLE};
    struct bench bench;
    open_bench(&bench, 1);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct assay_error error = {0};
        const struct assay_buffer_params params = {.size = sizeof(params),
                                                   .name = "host",
                                                   .bytes = 10000,
                                                   .memory = kinds[i],
                                                   .role = ASSAY_ROLE_INPUT};
        struct assay_buffer *host = assay_buffer_create(bench.slot, &params, &error);
        if (host == NULL && error.status == ASSAY_UNSUPPORTED)
            continue;
        fixture_assert_ok(host != NULL, &error);
        struct assay_buffer *device = make(&bench, "device", 10000, ASSAY_MEMORY_DEVICE,
                                           ASSAY_ROLE_OUTPUT);
        struct assay_buffer *back = make(&bench, "back", 10000, kinds[i], ASSAY_ROLE_OUTPUT);
        record(&bench, VULKAN_ROLE_TRANSFER, 0);
        fixture_assert_ok(assay_command_copy(bench.command, device, 0, host, 0, 9999, &error),
                          &error);
        fixture_assert_ok(assay_command_barrier(bench.command, &error), &error);
        fixture_assert_ok(assay_command_copy(bench.command, back, 1, device, 0, 9999, &error),
                          &error);
        finish_and_run(&bench);
        assert_true(command_touches_host(bench.command));
        assert_copied(device, 0, host, 0, 9999);
        assert_copied(back, 1, host, 0, 9999);
    }
    close_bench(&bench);
}

/* More than one piece of staging each way, and an end that is no whole piece. */
static void staged_in_pieces(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    struct ran_times times;
    const uint64_t bytes = 2 * ASSAY_STAGING_BYTES + 12345;
    open_bench(&bench, 1);
    struct assay_buffer *host = make(&bench, "host", bytes, ASSAY_MEMORY_PAGEABLE,
                                     ASSAY_ROLE_INPUT);
    struct assay_buffer *device = make(&bench, "device", bytes + 8, ASSAY_MEMORY_DEVICE,
                                       ASSAY_ROLE_OUTPUT);
    struct assay_buffer *back = make(&bench, "back", bytes, ASSAY_MEMORY_PAGEABLE,
                                     ASSAY_ROLE_OUTPUT);
    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    fixture_assert_ok(assay_command_copy(bench.command, device, 8, host, 0, bytes, &error), &error);
    fixture_assert_ok(assay_command_copy(bench.command, back, 0, device, 8, bytes, &error), &error);
    fixture_assert_ok(command_finish(bench.command, &error), &error);
    for (int i = 0; i < 2; i++) {
        fixture_assert_ok(slot_restore(bench.slot, &error), &error);
        run(&bench, &times);
        assert_copied(device, 8, host, 0, bytes);
        assert_copied(back, 0, host, 0, bytes);
    }
    assert_true(command_touches_host(bench.command));
    close_bench(&bench);
}

static void host_copy_and_fill(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    open_bench(&bench, 1);
    struct assay_buffer *a = make(&bench, "a", 4096, ASSAY_MEMORY_PINNED, ASSAY_ROLE_INPUT);
    struct assay_buffer *b = make(&bench, "b", 4096, ASSAY_MEMORY_PAGEABLE, ASSAY_ROLE_OUTPUT);
    struct assay_buffer *c = make(&bench, "c", 4096, ASSAY_MEMORY_CACHED, ASSAY_ROLE_OUTPUT);
    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    fixture_assert_ok(assay_command_host_copy(bench.command, b, 3, a, 5, 1001, &error), &error);
    finish_and_run(&bench);
    assert_false(command_has_timestamps(bench.command)); /* no device work */
    assert_true(command_touches_host(bench.command));
    assert_copied(b, 3, a, 5, 1001);

    /* Device, host, device: each sees what the one before wrote. */
    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    fixture_assert_ok(assay_command_fill(bench.command, a, 0, 4096, 0xdeadbeef, &error), &error);
    fixture_assert_ok(assay_command_host_copy(bench.command, c, 0, a, 0, 4096, &error), &error);
    fixture_assert_ok(assay_command_fill(bench.command, c, 8, 4, 0x01020304, &error), &error);
    finish_and_run(&bench);
    uint32_t *words = (uint32_t *)contents(c);
    for (size_t i = 0; i < 1024; i++)
        assert_int_equal(words[i], i == 2 ? 0x01020304 : 0xdeadbeef);
    free(words);
    close_bench(&bench);
}

static struct assay_kernel *copy_kernel(struct bench *bench)
{
    struct assay_error error = {0};
    const struct assay_kernel_params params = {.size = sizeof(params), .source = "copy_words.comp"};
    struct assay_kernel *kernel = assay_kernel_create(bench->slot, &params, &error);
    fixture_assert_ok(kernel != NULL, &error);
    return kernel;
}

static void dispatch_by_names(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    open_bench(&bench, 1);
    struct assay_buffer *from = make(&bench, "from", 40000, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT);
    struct assay_buffer *to = make(&bench, "to", 40000, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT);
    const uint64_t offset = bench.device->limits.storage_alignment_bytes * 2;
    const struct assay_binding bindings[] = {
        {.name = "destination", .buffer = to, .offset = offset},
        {.name = "source_block", .buffer = from}};
    for (uint32_t words = 1; words < 9000; words = words * 3 + 1) {
        const struct assay_push push = {"words", words};
        const struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                                .kernel = copy_kernel(&bench),
                                                .bindings = bindings,
                                                .binding_count = 2,
                                                .pushes = &push,
                                                .push_count = 1,
                                                .invocations = {(words + 3) / 4}};
        fixture_assert_ok(slot_restore(bench.slot, &error), &error);
        record(&bench, VULKAN_ROLE_COMPUTE, 0);
        fixture_assert_ok(assay_command_dispatch(bench.command, &dispatch, &error), &error);
        finish_and_run(&bench);
        assert_copied(to, offset, from, 0, 4 * (uint64_t)words);
    }
    close_bench(&bench);
}

/* Many dispatches: descriptor pools grow. Each copies one word on from the word before. */
static void dispatches_in_a_row(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    open_bench(&bench, 1);
    const uint64_t step = bench.device->limits.storage_alignment_bytes > 4
                              ? bench.device->limits.storage_alignment_bytes
                              : 4;
    const unsigned count = 150;
    struct assay_buffer *chain = make(&bench, "chain", step * (count + 1), ASSAY_MEMORY_DEVICE,
                                      ASSAY_ROLE_SCRATCH);
    struct assay_kernel *kernel = copy_kernel(&bench);
    record(&bench, VULKAN_ROLE_COMPUTE, 0);
    fixture_assert_ok(assay_command_fill(bench.command, chain, 0, 4, 12345, &error), &error);
    for (unsigned i = 0; i < count; i++) {
        const struct assay_binding bindings[] = {
            {.name = "source", .buffer = chain, .offset = i * step, .bytes = 4},
            {.name = "destination", .buffer = chain, .offset = (i + 1) * step, .bytes = 4}};
        const struct assay_push push = {"words", 1};
        const struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                                .kernel = kernel,
                                                .bindings = bindings,
                                                .binding_count = 2,
                                                .pushes = &push,
                                                .push_count = 1,
                                                .groups = {1}};
        fixture_assert_ok(assay_command_barrier(bench.command, &error), &error);
        fixture_assert_ok(assay_command_dispatch(bench.command, &dispatch, &error), &error);
    }
    finish_and_run(&bench);
    unsigned char *bytes = contents(chain);
    uint32_t last;
    memcpy(&last, bytes + count * step, sizeof(last));
    assert_int_equal(last, 12345);
    free(bytes);
    close_bench(&bench);
}

static void dispatch_errors(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(&bench, 1);
    struct assay_buffer *from = make(&bench, "from", 4096, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT);
    struct assay_buffer *tiny = make(&bench, "tiny", 2, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_SCRATCH);
    struct assay_buffer *blind = make(&bench, "blind", 4096, ASSAY_MEMORY_PAGEABLE,
                                      ASSAY_ROLE_SCRATCH);
    struct assay_binding bindings[3] = {{.name = "source", .buffer = from},
                                        {.name = "dest", .buffer = from},
                                        {.name = "destination", .buffer = from}};
    struct assay_push pushes[2] = {{"words", 1}, {"extra", 1}};
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = copy_kernel(&bench),
                                      .bindings = bindings,
                                      .binding_count = 2,
                                      .pushes = pushes,
                                      .push_count = 1};
    record(&bench, VULKAN_ROLE_COMPUTE, 0);
#define REFUSED(status, text)                                                                      \
    do {                                                                                           \
        struct assay_error error = {0};                                                            \
        expect(assay_command_dispatch(bench.command, &dispatch, &error), &error, (status),         \
               (text));                                                                            \
    } while (0)
    REFUSED(ASSAY_INVALID,
            "kernel 'copy_words.comp' binds source and destination; given: source "
            "and dest (there is no binding 'dest'; there is source and destination)");
    dispatch.binding_count = 1;
    REFUSED(ASSAY_INVALID, "kernel 'copy_words.comp' binds source and destination; given: source");
    dispatch.binding_count = 2;
    bindings[1].name = "source_block";
    REFUSED(ASSAY_INVALID, "kernel 'copy_words.comp' binds source and destination; given: source "
                           "and source_block ('source' and 'source_block' are the same one)");
    bindings[1] = bindings[2];
    dispatch.push_count = 0;
    REFUSED(ASSAY_INVALID, "kernel 'copy_words.comp' has the push constants words; given: nothing");
    dispatch.push_count = 2;
    REFUSED(ASSAY_INVALID,
            "kernel 'copy_words.comp' has the push constants words; given: words and extra");
    dispatch.push_count = 1;
    pushes[0].value = 0.5;
    REFUSED(ASSAY_INVALID,
            "kernel 'copy_words.comp': push constant 'words' is uint32: 0.5 does not "
            "fit, allowed is a whole number from 0 to 4294967295");
    pushes[0].value = 1;
    bindings[0].buffer = tiny;
    REFUSED(ASSAY_INVALID, "kernel 'copy_words.comp': binding 'source' needs at least 4 bytes, "
                           "given are 2 of buffer 'tiny'");
    bindings[0].buffer = blind;
    REFUSED(ASSAY_UNSUPPORTED, "kernel 'copy_words.comp': binding 'source': buffer 'blind' is "
                               "pageable, the device cannot see it");
    bindings[0].buffer = from;
    bindings[0].offset = 4096;
    REFUSED(ASSAY_INVALID,
            "kernel 'copy_words.comp': binding 'source': stage 'stage': 1 bytes from "
            "offset 4096 lie outside buffer 'from' of 4096 bytes");
    bindings[0].offset = 1;
    if (bench.device->limits.storage_alignment_bytes == 16)
        REFUSED(ASSAY_INVALID, "kernel 'copy_words.comp': binding 'source' starts at offset 1, the "
                               "device wants a multiple of 16");
    bindings[0].offset = 0;
    char text[200];
    const uint64_t groups = (uint64_t)bench.device->limits.max_groups[0] + 1;
    dispatch.invocations[0] = groups * 64;
    snprintf(text, sizeof(text),
             "kernel 'copy_words.comp': %llu workgroups in x, maxComputeWorkGroupCount[0] is %u",
             (unsigned long long)groups, bench.device->limits.max_groups[0]);
    REFUSED(ASSAY_UNSUPPORTED, text);
    struct assay_error error = {0};
    expect(command_finish(bench.command, &error), &error, ASSAY_INVALID,
           "stage 'stage' records no operation");
    close_bench(&bench);
}

static void storage_range_is_respected(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(&bench, 1);
    const uint64_t range = bench.device->limits.max_storage_range_bytes;
    if (range > UINT64_C(512) << 20) {
        printf("maxStorageBufferRange is %llu: not tried\n", (unsigned long long)range);
        close_bench(&bench);
        skip();
    }
    struct assay_error error = {0};
    struct assay_buffer *large = make(&bench, "large", range + 4096, ASSAY_MEMORY_DEVICE,
                                      ASSAY_ROLE_SCRATCH);
    const struct assay_binding bindings[] = {
        {.name = "source", .buffer = large, .bytes = 4096},
        {.name = "destination", .buffer = large, .offset = 4096}};
    struct assay_binding whole[] = {bindings[0], {.name = "destination", .buffer = large}};
    const struct assay_push push = {"words", 4};
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = copy_kernel(&bench),
                                      .bindings = bindings,
                                      .binding_count = 2,
                                      .pushes = &push,
                                      .push_count = 1};
    record(&bench, VULKAN_ROLE_COMPUTE, 0);
    fixture_assert_ok(assay_command_dispatch(bench.command, &dispatch, &error), &error);
    dispatch.bindings = whole;
    char text[200];
    snprintf(text, sizeof(text),
             "kernel 'copy_words.comp': binding 'destination' takes %llu bytes, "
             "maxStorageBufferRange is %llu",
             (unsigned long long)range + 4096, (unsigned long long)range);
    expect(assay_command_dispatch(bench.command, &dispatch, &error), &error, ASSAY_UNSUPPORTED,
           text);
    close_bench(&bench);
}

static void copy_errors(void **state)
{
    (void)state;
    struct bench bench, other;
    open_bench(&bench, 1);
    open_bench(&other, 1);
    struct assay_buffer *a = make(&bench, "a", 100, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_SCRATCH);
    struct assay_buffer *page = make(&bench, "page", 100, ASSAY_MEMORY_PAGEABLE,
                                     ASSAY_ROLE_SCRATCH);
    struct assay_buffer *far = make(&other, "far", 100, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_SCRATCH);
    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    struct assay_command *command = bench.command;
    static const uint64_t huge = UINT64_MAX - 3;
    struct assay_error e[12] = {{0}};
    expect(assay_command_copy(command, a, 0, a, 50, 51, &e[0]), &e[0], ASSAY_INVALID,
           "stage 'stage': 51 bytes from offset 50 lie outside buffer 'a' of 100 bytes");
    expect(assay_command_copy(command, a, huge, a, 0, 8, &e[1]), &e[1], ASSAY_INVALID,
           "stage 'stage': 8 bytes from offset 18446744073709551612 lie outside buffer 'a' of 100 "
           "bytes");
    expect(assay_command_copy(command, a, 0, a, 10, 11, &e[2]), &e[2], ASSAY_INVALID,
           "stage 'stage': 11 bytes are copied from offset 10 to 0 of buffer 'a', the ranges "
           "overlap");
    expect(assay_command_copy(command, a, 0, a, 10, 0, &e[3]), &e[3], ASSAY_INVALID,
           "stage 'stage': 0 bytes of buffer 'a' are given");
    expect(assay_command_copy(command, a, 0, far, 0, 4, &e[4]), &e[4], ASSAY_INVALID,
           "stage 'stage': buffer 'far' belongs to another device");
    expect(
        assay_command_fill(command, a, 2, 4, 0, &e[5]), &e[5], ASSAY_INVALID,
        "stage 'stage': a fill of buffer 'a' has offset 2 and 4 bytes, both must be multiples of "
        "4");
    expect(assay_command_fill(command, page, 0, 4, 0, &e[6]), &e[6], ASSAY_UNSUPPORTED,
           "stage 'stage': buffer 'page' is pageable, the device cannot fill it");
    expect(assay_command_copy(command, page, 0, page, 50, 4, &e[7]), &e[7], ASSAY_UNSUPPORTED,
           "stage 'stage': buffers 'page' and 'page' are both pageable, so the device can take no "
           "part; use a host copy");
    expect(assay_command_lane(command, 2, &e[8]), &e[8], ASSAY_INVALID,
           "stage 'stage': lane 2 is not there, allowed are 0 and 1");
    assert_true(assay_command_lane(command, 1, &e[9]));
    expect(assay_command_copy(command, a, 0, page, 0, 4, &e[9]), &e[9], ASSAY_UNSUPPORTED,
           "stage 'stage': lane 1 would copy on the host (pageable memory does), but only lane 0 "
           "may");
    expect(assay_command_copy(command, a, 0, NULL, 0, 4, &e[10]), &e[10], ASSAY_INVALID,
           "stage 'stage': a buffer is missing");
    if (assay_buffer_address(a) == NULL)
        expect(assay_command_host_copy(command, page, 0, a, 0, 4, &e[11]), &e[11],
               ASSAY_UNSUPPORTED,
               "stage 'stage': the host cannot see the memory of buffer 'a', so it cannot copy it");
    close_bench(&bench);
    close_bench(&other);
}

static void lanes(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    struct ran_times times;
    open_bench(&bench, 1);
    struct assay_buffer *up = make(&bench, "up", 1 << 20, ASSAY_MEMORY_PINNED, ASSAY_ROLE_INPUT);
    struct assay_buffer *a = make(&bench, "a", 1 << 20, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT);
    struct assay_buffer *b = make(&bench, "b", 1 << 20, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT);
    struct assay_buffer *down = make(&bench, "down", 1 << 20, ASSAY_MEMORY_CACHED,
                                     ASSAY_ROLE_OUTPUT);
    for (unsigned first = 0; first < 2; first++) {
        record(&bench, VULKAN_ROLE_TRANSFER, 0);
        for (unsigned i = 0; i < 2; i++) {
            unsigned lane = (first + i) % 2;
            fixture_assert_ok(assay_command_lane(bench.command, lane, &error), &error);
            fixture_assert_ok(
                lane == 0 ? assay_command_copy(bench.command, a, 0, up, 0, 1 << 20, &error)
                          : assay_command_copy(bench.command, down, 0, b, 0, 1 << 20, &error),
                &error);
        }
        fixture_assert_ok(command_finish(bench.command, &error), &error);
        const struct vulkan_device *member = bench.device->members[0];
        assert_int_equal(command_queue_count(bench.command), member->queue_count > 1 ? 2 : 1);
        for (int i = 0; i < 2; i++) {
            fixture_assert_ok(slot_restore(bench.slot, &error), &error);
            run(&bench, &times);
            assert_copied(a, 0, up, 0, 1 << 20);
            assert_copied(down, 0, b, 0, 1 << 20);
            assert_true(times.device_ns > 0 || !command_has_timestamps(bench.command));
        }
    }
    /* A recording may use lane 1 alone. */
    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    fixture_assert_ok(assay_command_lane(bench.command, 1, &error), &error);
    fixture_assert_ok(assay_command_fill(bench.command, a, 0, 1 << 20, 5, &error), &error);
    finish_and_run(&bench);
    uint32_t *words = (uint32_t *)contents(a);
    assert_int_equal(words[0], 5);
    assert_int_equal(words[(1 << 18) - 1], 5);
    free(words);
    close_bench(&bench);
}

static struct assay_command *record_kernel(struct bench *bench, struct assay_kernel *kernel,
                                           unsigned member, struct assay_buffer *from,
                                           struct assay_buffer *to)
{
    struct assay_error error = {0};
    const struct assay_binding bindings[] = {{.name = "source", .buffer = from},
                                             {.name = "destination", .buffer = to}};
    const uint64_t words = assay_buffer_bytes(from) / 4;
    const struct assay_push push = {"words", (double)words};
    const struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                            .kernel = kernel,
                                            .bindings = bindings,
                                            .binding_count = 2,
                                            .pushes = &push,
                                            .push_count = 1,
                                            .invocations = {(words + 3) / 4}};
    record(bench, VULKAN_ROLE_COMPUTE, member);
    fixture_assert_ok(assay_command_dispatch(bench->command, &dispatch, &error), &error);
    fixture_assert_ok(command_finish(bench->command, &error), &error);
    struct assay_command *command = bench->command;
    bench->command = NULL;
    return command;
}

/* Members in turn read what the one before wrote, by kernels and by copies: the host waits in
 * between. */
static void two_members(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    const char *why = NULL;
    enum { BYTES = 65536, STEPS = 4 };
    open_bench(&bench, 1);
    bool imports = assay_device_has(bench.device, ASSAY_FEATURE_HOST_IMPORT, &why);
    close_bench(&bench);
    if (!imports) {
        printf("no device set of two: %s\n", why);
        skip();
    }
    open_bench(&bench, 2);
    struct assay_kernel *kernel = copy_kernel(&bench);
    struct assay_buffer *chain[STEPS + 1];
    for (int i = 0; i <= STEPS; i++)
        chain[i] = make(&bench, "link", BYTES,
                        i < STEPS ? ASSAY_MEMORY_DEVICE : ASSAY_MEMORY_PAGEABLE,
                        i > 0 ? ASSAY_ROLE_OUTPUT : ASSAY_ROLE_INPUT);
    struct assay_command *commands[STEPS];
    commands[0] = record_kernel(&bench, kernel, 0, chain[0], chain[1]);
    commands[1] = record_kernel(&bench, kernel, 1, chain[1], chain[2]);
    for (unsigned i = 2; i < STEPS; i++) {
        record(&bench, VULKAN_ROLE_TRANSFER, i % 2);
        fixture_assert_ok(
            assay_command_copy(bench.command, chain[i + 1], 0, chain[i], 0, BYTES, &error), &error);
        fixture_assert_ok(command_finish(bench.command, &error), &error);
        commands[i] = bench.command;
        bench.command = NULL;
    }
    for (int replay = 0; replay < 2; replay++) {
        fixture_assert_ok(slot_restore(bench.slot, &error), &error);
        for (int i = 0; i < STEPS; i++) {
            struct command_times times;
            fixture_assert_ok(command_execute(commands[i], clock_monotonic(), &times, &error),
                              &error);
            assert_copied(chain[i + 1], 0, chain[0], 0, BYTES);
        }
    }
    for (int i = 0; i < STEPS; i++)
        command_destroy(&commands[i]);
    close_bench(&bench);
}

struct half {
    pthread_t thread;
    struct assay_command *command;
    struct assay_error error;
    bool done;
};

static void *run_half(void *argument)
{
    struct half *half = argument;
    half->done = true;
    for (int i = 0; half->done && i < 20; i++) {
        struct command_times times;
        half->done = command_execute(half->command, clock_monotonic(), &times, &half->error);
    }
    return NULL;
}

/* Each member copies its half of the same buffers, at the same time. */
static void two_members_at_once(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    enum { BYTES = 1 << 20 };
    if (vulkan_physical_at(fixture.instance, fixture.index)->import_alignment_bytes == 0)
        skip();
    open_bench(&bench, 2);
    struct assay_buffer *from = make(&bench, "from", BYTES, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT);
    struct assay_buffer *to = make(&bench, "to", BYTES, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT);
    struct half halves[2] = {{.done = false}, {.done = false}};
    for (unsigned i = 0; i < 2; i++) {
        record(&bench, VULKAN_ROLE_TRANSFER, i);
        const uint64_t offset = i * (BYTES / 2);
        fixture_assert_ok(
            assay_command_copy(bench.command, to, offset, from, offset, BYTES / 2, &error), &error);
        fixture_assert_ok(command_finish(bench.command, &error), &error);
        halves[i].command = bench.command;
        bench.command = NULL;
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&halves[i].thread, NULL, run_half, &halves[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(halves[i].thread, NULL);
    for (int i = 0; i < 2; i++) {
        fixture_assert_ok(halves[i].done, &halves[i].error);
        command_destroy(&halves[i].command);
    }
    assert_copied(to, 0, from, 0, BYTES);
    close_bench(&bench);
}

static void raw_commands(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    unsigned member = 9;
    open_bench(&bench, 1);
    struct assay_buffer *a = make(&bench, "a", 64, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_SCRATCH);
    record(&bench, VULKAN_ROLE_COMPUTE, 0);
    VkCommandBuffer commands = assay_command_handle(bench.command, &member, &error);
    fixture_assert_ok(commands != NULL, &error);
    assert_int_equal(member, 0);
    PFN_vkCmdFillBuffer fill = (PFN_vkCmdFillBuffer)assay_device_function(bench.device, 0,
                                                                          "vkCmdFillBuffer");
    assert_non_null(fill);
    fill(commands, assay_buffer_handle(a, 0), 0, 64, 99);
    finish_and_run(&bench);
    uint32_t *words = (uint32_t *)contents(a);
    assert_int_equal(words[15], 99);
    free(words);
    close_bench(&bench);
}

static void dispatch_copy(struct bench *bench, struct assay_kernel *kernel,
                          struct assay_buffer *from, struct assay_buffer *to)
{
    struct assay_error error = {0};
    const struct assay_binding bindings[] = {{.name = "source", .buffer = from},
                                             {.name = "destination", .buffer = to}};
    const struct assay_push push = {"words", 1024};
    const struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                            .kernel = kernel,
                                            .bindings = bindings,
                                            .binding_count = 2,
                                            .pushes = &push,
                                            .push_count = 1,
                                            .invocations = {256}};
    fixture_assert_ok(assay_command_dispatch(bench->command, &dispatch, &error), &error);
}

/* A chain of three submissions, each of which reads what the one before wrote, over both lanes. */
static void waits_within_a_recording(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    struct ran_times times;
    struct text why = {0};
    open_bench(&bench, 1);
    struct assay_buffer *buffers[4];
    for (int i = 0; i < 4; i++)
        buffers[i] = make(&bench, "link", 4096, ASSAY_MEMORY_DEVICE,
                          i ? ASSAY_ROLE_OUTPUT : ASSAY_ROLE_INPUT);
    struct assay_kernel *kernel = copy_kernel(&bench);
    record(&bench, VULKAN_ROLE_COMPUTE, 0);
    fixture_assert_ok(assay_command_wait(bench.command, &error), &error);
    dispatch_copy(&bench, kernel, buffers[0], buffers[1]);
    fixture_assert_ok(assay_command_wait(bench.command, &error), &error);
    fixture_assert_ok(assay_command_wait(bench.command, &error), &error);
    assert_false(command_touches_host(bench.command));
    fixture_assert_ok(assay_command_copy(bench.command, buffers[2], 0, buffers[1], 0, 4096, &error),
                      &error);
    fixture_assert_ok(assay_command_wait(bench.command, &error), &error);
    fixture_assert_ok(assay_command_lane(bench.command, 1, &error), &error);
    dispatch_copy(&bench, kernel, buffers[2], buffers[3]);
    fixture_assert_ok(assay_command_wait(bench.command, &error), &error);
    fixture_assert_ok(command_finish(bench.command, &error), &error);
    assert_int_equal(command_submission_count(bench.command), 3);
    assert_int_equal(command_operation_count(bench.command), 3);
    assert_true(command_touches_host(bench.command));
    assert_false(command_can_repeat(bench.command, &why));
    assert_string_equal(text_string(&why), "it submits and waits 3 times");
    text_free(&why);
    for (int i = 0; i < 2; i++) {
        fixture_assert_ok(slot_restore(bench.slot, &error), &error);
        run(&bench, &times);
        assert_copied(buffers[3], 0, buffers[0], 0, 4096);
        if (command_has_timestamps(bench.command))
            assert_true(times.device_ns >= 0 && times.device_ns <= times.end_ns - times.begin_ns);
    }
    error = (struct assay_error){0};
    expect(assay_command_wait(bench.command, &error), &error, ASSAY_INVALID,
           "stage 'stage' is recorded already; commands belong into its record hook");
    close_bench(&bench);
}

static void assert_why_not(struct bench *bench, const char *wanted)
{
    struct text why = {0};
    assert_int_equal(command_can_repeat(bench->command, &why), wanted == NULL);
    assert_string_equal(text_string(&why), wanted ? wanted : "");
    text_free(&why);
}

static void what_can_be_repeated(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    open_bench(&bench, 1);
    struct assay_buffer *from = make(&bench, "from", 4096, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT);
    struct assay_buffer *other = make(&bench, "other", 4096, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT);
    struct assay_buffer *to = make(&bench, "to", 4096, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT);
    struct assay_buffer *blind = make(&bench, "blind", 4096, ASSAY_MEMORY_PAGEABLE,
                                      ASSAY_ROLE_OUTPUT);
    struct assay_kernel *kernel = copy_kernel(&bench);

    record(&bench, VULKAN_ROLE_COMPUTE, 0);
    dispatch_copy(&bench, kernel, from, to);
    assert_why_not(&bench, NULL);
    dispatch_copy(&bench, kernel, from, other);
    assert_why_not(&bench, "it works in place: it may write to its input 'other'");

    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    fixture_assert_ok(assay_command_copy(bench.command, to, 0, from, 0, 4096, &error), &error);
    assert_why_not(&bench, NULL);
    fixture_assert_ok(assay_command_barrier(bench.command, &error), &error);
    fixture_assert_ok(assay_command_copy(bench.command, from, 0, to, 0, 64, &error), &error);
    assert_why_not(&bench, "it works in place: it may write to its input 'from'");

    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    fixture_assert_ok(assay_command_fill(bench.command, from, 0, 64, 1, &error), &error);
    assert_why_not(&bench, "it works in place: it may write to its input 'from'");

    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    fixture_assert_ok(assay_command_copy(bench.command, blind, 0, from, 0, 4096, &error), &error);
    assert_why_not(&bench, "the host takes part in it");

    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    assert_non_null(assay_command_handle(bench.command, NULL, &error));
    assert_why_not(&bench, "it records Vulkan commands of its own");
    close_bench(&bench);
}

/* Lane 0 copies the first half, lane 1 the second, both many times over in one submission. */
static void repeats_in_one_recording(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_error error = {0};
    struct ran_times times;
    open_bench(&bench, 1);
    struct assay_buffer *from = make(&bench, "from", 8192, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT);
    struct assay_buffer *to = make(&bench, "to", 8192, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT);
    record(&bench, VULKAN_ROLE_TRANSFER, 0);
    for (int i = 0; i < 20; i++) {
        if (i > 0)
            fixture_assert_ok(command_again(bench.command, &error), &error);
        for (unsigned lane = 0; lane < 2; lane++) {
            fixture_assert_ok(assay_command_lane(bench.command, lane, &error), &error);
            fixture_assert_ok(
                assay_command_copy(bench.command, to, lane * 4096, from, lane * 4096, 4096, &error),
                &error);
        }
    }
    fixture_assert_ok(command_finish(bench.command, &error), &error);
    assert_int_equal(command_submission_count(bench.command), 1);
    assert_int_equal(command_operation_count(bench.command), 40);
    run(&bench, &times);
    assert_copied(to, 0, from, 0, 8192);
    close_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_within_a_recording),
        cmocka_unit_test(what_can_be_repeated),
        cmocka_unit_test(repeats_in_one_recording),
        cmocka_unit_test(copies_and_replays),
        cmocka_unit_test(timestamps_grow_with_the_work),
        cmocka_unit_test(memory_kinds),
        cmocka_unit_test(staged_in_pieces),
        cmocka_unit_test(host_copy_and_fill),
        cmocka_unit_test(dispatch_by_names),
        cmocka_unit_test(dispatches_in_a_row),
        cmocka_unit_test(dispatch_errors),
        cmocka_unit_test(storage_range_is_respected),
        cmocka_unit_test(copy_errors),
        cmocka_unit_test(lanes),
        cmocka_unit_test(two_members),
        cmocka_unit_test(two_members_at_once),
        cmocka_unit_test(raw_commands),
    };
    struct assay_error error = {0};
    if (!os_shader_directory(&shader_directory, &error)) {
        printf("failed: %s\n", error.text);
        return 1;
    }
    const int unable = fixture_open(&fixture);
    if (unable)
        return unable;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    vulkan_instance_destroy(&fixture.instance);
    text_free(&shader_directory);
    return failed ? 1 : 0;
}
