/* SPDX-License-Identifier: MIT */
/* Copies of bytes between host and device memory, by every means that Vulkan has. */
#include <assay/assay.h>

#include <inttypes.h>
#include <stdlib.h>

#define PIECES_MAX INT64_C(1000000)
#define FILL_WORD UINT32_C(0x9e3779b9)
#define WORD_BYTES 4u
#define INVOCATION_BYTES 16u /* each invocation of the kernel copies four words */

enum direction { UPLOAD, DOWNLOAD, DEVICE, BOTH };
enum method { COMMAND, SHADER, FILL, MAP };

static const char *const directions[] = {"upload", "download", "device", "both", NULL};
static const char *const memories[] = {"pageable", "pinned", "cached", "imported", "bar", NULL};
static const enum assay_memory memory_kinds[] = {
    ASSAY_MEMORY_PAGEABLE, ASSAY_MEMORY_PINNED, ASSAY_MEMORY_CACHED,
    ASSAY_MEMORY_IMPORTED, ASSAY_MEMORY_BAR,
};
static const char *const methods[] = {"command", "shader", "fill", "map", NULL};

struct params {
    int direction, host_memory, method;
    int64_t bytes, chunk;
    const char *kernel;
};

/* Source to destination, on a lane of its own. A fill has no source. */
struct way {
    struct assay_buffer *source, *destination;
};

struct copy {
    const struct params *params;
    struct assay_slot *slot;
    struct way ways[2];
    unsigned way_count;
    struct assay_kernel *kernel;
};

static uint64_t piece_bytes(const struct params *p)
{
    return (uint64_t)(p->chunk == 0 || p->chunk > p->bytes ? p->bytes : p->chunk);
}

static uint64_t piece_count(const struct params *p)
{
    uint64_t piece = piece_bytes(p);
    return (uint64_t)p->bytes / piece + ((uint64_t)p->bytes % piece != 0);
}

static bool check_direction(const struct params *p, struct assay_error *error)
{
    if (p->method == FILL && p->direction != DEVICE)
        return assay_fail(error, ASSAY_INVALID,
                          "method fill writes device memory and reads nothing: it goes with "
                          "direction device, not with %s",
                          directions[p->direction]);
    if (p->method == MAP && p->direction != UPLOAD && p->direction != DOWNLOAD)
        return assay_fail(error, ASSAY_INVALID,
                          "method map is a copy by the host: it goes with direction upload or "
                          "download, not with %s",
                          directions[p->direction]);
    return true;
}

static bool check_words(const struct params *p, struct assay_error *error)
{
    bool bytes_wrong = p->bytes % WORD_BYTES != 0;
    if (!bytes_wrong && p->chunk % WORD_BYTES == 0)
        return true;
    return assay_fail(error, ASSAY_INVALID,
                      "%s: %" PRId64 " B is not a multiple of 4 B, as method %s needs; method "
                      "command takes any size",
                      bytes_wrong ? "bytes" : "chunk", bytes_wrong ? p->bytes : p->chunk,
                      methods[p->method]);
}

static bool copy_check(const void *params, struct assay_error *error)
{
    const struct params *p = params;
    if (!check_direction(p, error))
        return false;
    if ((p->method == SHADER || p->method == FILL) && !check_words(p, error))
        return false;
    if (piece_count(p) <= PIECES_MAX)
        return true;
    int64_t least = p->bytes / PIECES_MAX + (p->bytes % PIECES_MAX != 0);
    return assay_fail(error, ASSAY_INVALID,
                      "chunk: %" PRId64 " B in pieces of %" PRId64 " B are %" PRIu64
                      " pieces, at most %" PRId64 " are allowed: give a chunk of at least %" PRId64
                      " B, or 0 for the whole",
                      p->bytes, p->chunk, piece_count(p), PIECES_MAX,
                      least + (WORD_BYTES - least % WORD_BYTES) % WORD_BYTES);
}

static bool supported_pageable(const struct params *p, struct assay_error *why_not)
{
    if (p->direction == DEVICE || memory_kinds[p->host_memory] != ASSAY_MEMORY_PAGEABLE)
        return true;
    if (p->method == SHADER)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "a shader cannot reach pageable memory; host_memory pinned, cached, "
                          "imported and bar can be reached");
    if (p->direction == BOTH)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "pageable memory is staged by the host, piece by piece, so both ways "
                          "cannot run at once; host_memory pinned, cached, imported and bar can");
    return true;
}

static bool copy_supported(const struct assay_device *device, const void *params,
                           struct assay_error *why_not)
{
    const struct params *p = params;
    if (!supported_pageable(p, why_not))
        return false;
    uint64_t alignment = assay_device_limits(device)->storage_alignment_bytes;
    bool aligned = alignment == 0 || piece_bytes(p) % alignment == 0;
    if (p->method == SHADER && piece_count(p) > 1 && !aligned)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "chunk: %" PRIu64 " B is not a multiple of %" PRIu64
                          " B (minStorageBufferOffsetAlignment of this device), as method shader "
                          "needs",
                          piece_bytes(p), alignment);
    return true;
}

static struct assay_buffer *make(struct copy *copy, const char *name, enum assay_memory memory,
                                 enum assay_role role, struct assay_error *error)
{
    struct assay_buffer_params params = {.size = sizeof(params),
                                         .name = name,
                                         .bytes = (uint64_t)copy->params->bytes,
                                         .memory = memory,
                                         .role = role};
    return assay_buffer_create(copy->slot, &params, error);
}

/* The device's side first: a size that it cannot hold is refused before the host's memory is
 * touched. */
static bool make_upload(struct copy *copy, struct way *way, enum assay_memory device_memory,
                        struct assay_error *error)
{
    enum assay_memory host = memory_kinds[copy->params->host_memory];
    way->destination = make(copy, "upload destination", device_memory, ASSAY_ROLE_OUTPUT, error);
    if (way->destination)
        way->source = make(copy, "upload source", host, ASSAY_ROLE_INPUT, error);
    return way->source;
}

static bool make_download(struct copy *copy, struct way *way, enum assay_memory device_memory,
                          struct assay_error *error)
{
    enum assay_memory host = memory_kinds[copy->params->host_memory];
    way->source = make(copy, "download source", device_memory, ASSAY_ROLE_INPUT, error);
    if (way->source)
        way->destination = make(copy, "download destination", host, ASSAY_ROLE_OUTPUT, error);
    return way->destination;
}

static bool make_device(struct copy *copy, struct way *way, struct assay_error *error)
{
    way->destination = make(copy, "destination", ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT, error);
    if (!way->destination || copy->params->method == FILL)
        return way->destination;
    way->source = make(copy, "source", ASSAY_MEMORY_DEVICE, ASSAY_ROLE_INPUT, error);
    return way->source;
}

static bool make_ways(struct copy *copy, struct assay_error *error)
{
    const struct params *p = copy->params;
    enum assay_memory device_memory = p->method == MAP ? ASSAY_MEMORY_BAR : ASSAY_MEMORY_DEVICE;
    copy->way_count = p->direction == BOTH ? 2 : 1;
    switch (p->direction) {
    case UPLOAD:
        return make_upload(copy, &copy->ways[0], device_memory, error);
    case DOWNLOAD:
        return make_download(copy, &copy->ways[0], device_memory, error);
    case DEVICE:
        return make_device(copy, &copy->ways[0], error);
    default:
        return make_upload(copy, &copy->ways[0], device_memory, error) &&
               make_download(copy, &copy->ways[1], device_memory, error);
    }
}

static void copy_destroy(void **self)
{
    struct copy *copy = *self;
    if (!copy)
        return;
    assay_kernel_destroy(&copy->kernel);
    for (unsigned i = 0; i < 2; i++) {
        assay_buffer_destroy(&copy->ways[i].source);
        assay_buffer_destroy(&copy->ways[i].destination);
    }
    free(copy);
    *self = NULL;
}

static void *copy_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    struct copy *copy = calloc(1, sizeof(*copy));
    void *self = copy;
    if (!copy) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    copy->slot = slot;
    copy->params = params;
    if (copy->params->method == SHADER) {
        struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                             .source = copy->params->kernel};
        copy->kernel = assay_kernel_create(slot, &kernel, error);
        if (!copy->kernel)
            goto fail;
    }
    if (make_ways(copy, error))
        return copy;
fail:
    copy_destroy(&self);
    return NULL;
}

/* What one dispatch can cover: within the storage range and the group count, in whole alignments
 * of a binding's offset. */
static uint64_t dispatch_bytes(const struct copy *copy)
{
    const struct assay_limits *limits = assay_device_limits(assay_slot_device(copy->slot));
    uint32_t local[3];
    assay_kernel_local_size(copy->kernel, local);
    uint64_t alignment = limits->storage_alignment_bytes;
    if (alignment < INVOCATION_BYTES)
        alignment = INVOCATION_BYTES;
    uint64_t groups = (uint64_t)limits->max_groups[0] * local[0] * INVOCATION_BYTES;
    uint64_t range = limits->max_storage_range_bytes;
    uint64_t most = range < groups ? range : groups;
    return most < alignment ? alignment : most / alignment * alignment;
}

static bool record_dispatch(struct copy *copy, struct assay_command *command, const struct way *way,
                            uint64_t offset, uint64_t bytes, struct assay_error *error)
{
    struct assay_binding bindings[] = {
        {.name = "source", .buffer = way->source, .offset = offset, .bytes = bytes},
        {.name = "destination", .buffer = way->destination, .offset = offset, .bytes = bytes},
    };
    struct assay_push push = {.name = "words", .value = (double)(bytes / WORD_BYTES)};
    uint64_t invocations = bytes / INVOCATION_BYTES + (bytes % INVOCATION_BYTES != 0);
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = copy->kernel,
                                      .bindings = bindings,
                                      .binding_count = 2,
                                      .pushes = &push,
                                      .push_count = 1,
                                      .invocations = {invocations, 1, 1}};
    return assay_command_dispatch(command, &dispatch, error);
}

static bool record_shader(struct copy *copy, struct assay_command *command, const struct way *way,
                          uint64_t offset, uint64_t bytes, struct assay_error *error)
{
    uint64_t most = dispatch_bytes(copy);
    for (uint64_t done = 0; done < bytes; done += most) {
        uint64_t count = bytes - done < most ? bytes - done : most;
        if (!record_dispatch(copy, command, way, offset + done, count, error))
            return false;
    }
    return true;
}

static bool record_piece(struct copy *copy, struct assay_command *command, const struct way *way,
                         uint64_t offset, uint64_t bytes, struct assay_error *error)
{
    switch (copy->params->method) {
    case SHADER:
        return record_shader(copy, command, way, offset, bytes, error);
    case FILL:
        return assay_command_fill(command, way->destination, offset, bytes, FILL_WORD, error);
    case MAP:
        return assay_command_host_copy(command, way->destination, offset, way->source, offset,
                                       bytes, error);
    default:
        return assay_command_copy(command, way->destination, offset, way->source, offset, bytes,
                                  error);
    }
}

static bool copy_record(const struct assay_stage *stage, void *self, struct assay_command *command,
                        struct assay_error *error)
{
    (void)stage;
    struct copy *copy = self;
    uint64_t bytes = (uint64_t)copy->params->bytes, piece = piece_bytes(copy->params);
    for (unsigned i = 0; i < copy->way_count; i++) {
        if (i > 0 && !assay_command_lane(command, i, error))
            return false;
        for (uint64_t offset = 0; offset < bytes; offset += piece) {
            uint64_t count = bytes - offset < piece ? bytes - offset : piece;
            if (!record_piece(copy, command, &copy->ways[i], offset, count, error))
                return false;
        }
    }
    return true;
}

static bool verify_fill(const struct copy *copy, struct assay_verification *verification,
                        struct assay_error *error)
{
    enum { BLOCK_WORDS = 16384, BLOCK_BYTES = 4 * BLOCK_WORDS };
    uint64_t bytes = (uint64_t)copy->params->bytes;
    uint32_t *got = malloc(BLOCK_BYTES), *wanted = malloc(BLOCK_BYTES);
    bool right = got && wanted;
    if (!right)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
    for (unsigned i = 0; wanted && i < BLOCK_WORDS; i++)
        wanted[i] = FILL_WORD;
    for (uint64_t offset = 0; right && offset < bytes; offset += BLOCK_BYTES) {
        uint64_t count = bytes - offset < BLOCK_BYTES ? bytes - offset : BLOCK_BYTES;
        right = assay_buffer_read(copy->ways[0].destination, offset, count, got, error) &&
                assay_verification_bytes(verification, "fill", got, wanted, count, offset, error);
    }
    free(got);
    free(wanted);
    return right;
}

static bool copy_verify(void *self, struct assay_verification *verification,
                        struct assay_error *error)
{
    struct copy *copy = self;
    if (copy->params->method == FILL)
        return verify_fill(copy, verification, error);
    for (unsigned i = 0; i < copy->way_count; i++)
        if (!assay_verification_copy_of(verification, copy->ways[i].destination,
                                        copy->ways[i].source, error))
            return false;
    return true;
}

static bool copy_report(void *self, struct assay_metrics *metrics, struct assay_error *error)
{
    const struct copy *copy = self;
    return assay_metrics_add(metrics, "pieces",
                             (double)(copy->way_count * piece_count(copy->params)), error);
}

static void copy_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    const struct params *p = params;
    out->payload_bytes = (p->direction == BOTH ? 2 : 1) * (uint64_t)p->bytes;
    out->read_bytes = p->method == FILL ? 0 : out->payload_bytes;
    out->written_bytes = out->payload_bytes;
    if (p->direction == UPLOAD || p->direction == BOTH)
        out->upload_bytes = (uint64_t)p->bytes;
    if (p->direction == DOWNLOAD || p->direction == BOTH)
        out->download_bytes = (uint64_t)p->bytes;
}

static bool by_shader(const struct assay_stage *stage, const void *params)
{
    (void)stage;
    return ((const struct params *)params)->method == SHADER;
}

static bool by_transfer(const struct assay_stage *stage, const void *params)
{
    (void)stage;
    return !by_shader(stage, params);
}

/* One stage to the user; the queue that serves it depends on the method. */
static const struct assay_stage *const stages[] = {
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "copy",
                                .help = "all bytes once, in pieces of chunk (method shader: on the "
                                        "compute queue)",
                                .kind = ASSAY_STAGE_TRANSFER,
                                .present = by_transfer,
                                .cost = copy_cost,
                                .record = copy_record},
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "copy",
                                .kind = ASSAY_STAGE_COMPUTE,
                                .present = by_shader,
                                .cost = copy_cost,
                                .record = copy_record},
    NULL,
};

#define OPTION(member, option_kind, value, text)                                                   \
    .size = sizeof(struct assay_option), .name = #member, .kind = option_kind,                     \
    .offset = offsetof(struct params, member), .fallback = value, .help = text

static const struct assay_option direction_option = {
    OPTION(direction, ASSAY_OPTION_CHOICE, "upload",
           "where the bytes go; both: up and down at once"),
    .choices = directions};
static const struct assay_option host_memory_option = {
    OPTION(host_memory, ASSAY_OPTION_CHOICE, "pinned", "kind of memory on the host's side"),
    .choices = memories};
static const struct assay_option method_option = {
    OPTION(method, ASSAY_OPTION_CHOICE, "command", "what moves the bytes"), .choices = methods};
static const struct assay_option bytes_option = {
    OPTION(bytes, ASSAY_OPTION_INTEGER, "64 MiB", "size of the transfer, each way"), .unit = "B",
    .min = 1, .max = INT64_C(1) << 53};
static const struct assay_option chunk_option = {
    OPTION(chunk, ASSAY_OPTION_INTEGER, "0",
           "the transfer is cut in pieces of this size; 0: whole"),
    .unit = "B", .max = INT64_C(1) << 53};
static const struct assay_option kernel_option = {OPTION(
    kernel, ASSAY_OPTION_SOURCE, "copy_words.comp", "GLSL or SPIR-V file that method shader runs")};

static const struct assay_option *const options[] = {
    &direction_option, &host_memory_option, &method_option, &bytes_option,
    &chunk_option,     &kernel_option,      NULL,
};

static const struct assay_metric_info pieces_metric = {
    .size = sizeof(struct assay_metric_info),
    .name = "pieces",
    .unit = "1",
    .help = "pieces that a batch moves, both ways together"};
static const struct assay_metric_info *const metrics[] = {&pieces_metric, NULL};

static const struct assay_workload workload = {
    .size = sizeof(struct assay_workload),
    .name = "copy",
    .version = "1",
    .summary = "bytes between host and device memory, verified byte by byte",
    .options = options,
    .params_size = sizeof(struct params),
    .stages = stages,
    .metrics = metrics,
    .check = copy_check,
    .supported = copy_supported,
    .create = copy_create,
    .verify = copy_verify,
    .report = copy_report,
    .destroy = copy_destroy,
};

static const struct assay_workload *const workloads[] = {&workload, NULL};

ASSAY_PLUGIN_ENTRY(copy)
{
    static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                               .abi = ASSAY_ABI,
                                               .name = "copy",
                                               .version = "1",
                                               .workloads = workloads};
    return &plugin;
}
