/* SPDX-License-Identifier: MIT */
/* A plugin that was built for the first layout of this ABI: shorter structs, and behind them what
 * is no part of them. It uses each function that there was. */
#include <assay/assay.h>

#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 4u

struct params {
    int64_t words;
};

struct older {
    const struct params *params;
    struct assay_buffer *source, *middle, *destination;
    struct assay_kernel *kernel;
    uint32_t *want, *got;
};

/* The stage is a part of something larger, as C programs do. */
struct own_stage {
    struct assay_stage stage;
    unsigned char behind[64];
};

static const char doubled[] = "#version 450\n"
                              "layout(local_size_x = 64) in;\n"
                              "layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };\n"
                              "layout(push_constant) uniform Push { uint count; };\n"
                              "void main() {\n"
                              "    if (gl_GlobalInvocationID.x < count)\n"
                              "        data[gl_GlobalInvocationID.x] *= 2u;\n"
                              "}\n";

static uint64_t bytes_of(const struct params *params)
{
    return WORD_BYTES * (uint64_t)params->words;
}

static bool older_supported(const struct assay_device *device, const void *params,
                            struct assay_error *why_not)
{
    const char *reason = NULL;
    assay_device_has(device, ASSAY_FEATURE_FP64, &reason);
    if (bytes_of(params) <= assay_device_limits(device)->max_storage_range_bytes &&
        *assay_device_name(device))
        return true;
    return assay_fail(why_not, ASSAY_UNSUPPORTED, "the buffers are too large");
}

static void older_destroy(void **self)
{
    struct older *older = *self;
    if (!older)
        return;
    assay_kernel_destroy(&older->kernel);
    assay_buffer_destroy(&older->source);
    assay_buffer_destroy(&older->middle);
    assay_buffer_destroy(&older->destination);
    free(older->want);
    free(older->got);
    free(older);
    *self = NULL;
}

static struct assay_buffer *buffer(struct assay_slot *slot, const char *name, uint64_t bytes,
                                   enum assay_memory memory, enum assay_role role,
                                   struct assay_error *error)
{
    struct assay_buffer_params params = {.size = sizeof(params),
                                         .name = name,
                                         .bytes = bytes,
                                         .memory = memory,
                                         .role = role,
                                         .fill = {.kind = ASSAY_FILL_RANDOM_BITS}};
    return assay_buffer_create(slot, &params, error);
}

static void *older_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    struct older *older = calloc(1, sizeof(*older));
    void *self = older;
    if (!older) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    uint64_t bytes = bytes_of(params);
    uint32_t local[3];
    struct assay_kernel_params kernel = {
        .size = sizeof(kernel), .source = "doubled", .text = doubled};
    older->params = params;
    older->want = malloc(bytes);
    older->got = malloc(bytes);
    older->source = buffer(slot, "source", bytes, ASSAY_MEMORY_PINNED, ASSAY_ROLE_INPUT, error);
    older->middle = buffer(slot, "middle", bytes, ASSAY_MEMORY_DEVICE, ASSAY_ROLE_SCRATCH, error);
    older->destination = buffer(slot, "destination", bytes, ASSAY_MEMORY_CACHED, ASSAY_ROLE_OUTPUT,
                                error);
    older->kernel = assay_kernel_create(slot, &kernel, error);
    if (older->want && older->got && older->source && older->middle && older->destination &&
        older->kernel && assay_slot_device(slot)) {
        assay_kernel_local_size(older->kernel, local);
        if (local[0] == 64 && assay_slot_seed(slot) != 0)
            return self;
        assay_fail(error, ASSAY_INTERNAL, "the local size is %u", local[0]);
    }
    older_destroy(&self);
    return NULL;
}

static void older_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    out->payload_bytes = bytes_of(params);
}

static bool older_record(const struct assay_stage *stage, void *self, struct assay_command *command,
                         struct assay_error *error)
{
    const struct older *older = self;
    uint64_t bytes = bytes_of(older->params);
    unsigned char mark = ((const struct own_stage *)(const void *)stage)->behind[0];
    if (mark != 0xff)
        return assay_fail(error, ASSAY_INTERNAL, "the stage is not the plugin's own");
    struct assay_binding binding = {.name = "data", .buffer = older->middle};
    struct assay_push push = {.name = "count", .value = (double)older->params->words};
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = older->kernel,
                                      .bindings = &binding,
                                      .binding_count = 1,
                                      .pushes = &push,
                                      .push_count = 1,
                                      .invocations = {(uint64_t)older->params->words, 1, 1}};
    return assay_command_lane(command, 0, error) &&
           assay_command_fill(command, older->middle, 0, WORD_BYTES, 0, error) &&
           assay_command_barrier(command, error) &&
           assay_command_copy(command, older->middle, 0, older->source, 0, bytes, error) &&
           assay_command_barrier(command, error) &&
           assay_command_dispatch(command, &dispatch, error) &&
           assay_command_barrier(command, error) &&
           assay_command_copy(command, older->destination, 0, older->middle, 0, bytes, error);
}

static bool older_run(const struct assay_stage *stage, void *self, struct assay_error *error)
{
    const struct older *older = self;
    (void)stage;
    (void)error;
    memcpy(older->got, assay_buffer_address(older->destination), bytes_of(older->params));
    return true;
}

static bool older_verify(void *self, struct assay_verification *verification,
                         struct assay_error *error)
{
    struct older *older = self;
    uint64_t bytes = assay_buffer_bytes(older->destination);
    assay_buffer_fill_bytes(older->source, 0, bytes, older->want);
    for (int64_t i = 0; i < older->params->words; i++)
        older->want[i] *= 2;
    return assay_verification_bytes(verification, "result", older->got, older->want, bytes, 0,
                                    error) &&
           assay_verification_error(verification, 0.5, error);
}

static bool older_report(void *self, struct assay_metrics *metrics, struct assay_error *error)
{
    (void)self;
    return assay_metrics_add(metrics, "answer", 42, error);
}

static const struct assay_option words_option = {.size = sizeof(struct assay_option),
                                                 .name = "words",
                                                 .kind = ASSAY_OPTION_INTEGER,
                                                 .offset = offsetof(struct params, words),
                                                 .unit = "words",
                                                 .fallback = "65536",
                                                 .min = 1,
                                                 .max = 1 << 20,
                                                 .help = "32-bit words"};
static const struct assay_option *const options[] = {&words_option, NULL};

/* Were what follows read as members, they would not be zero. */
static struct own_stage work_stage = {.stage = {.size = sizeof(struct assay_stage),
                                                .name = "work",
                                                .help = "there, doubled, and back",
                                                .kind = ASSAY_STAGE_COMPUTE,
                                                .cost = older_cost,
                                                .record = older_record}};
static struct own_stage take_stage = {.stage = {.size = sizeof(struct assay_stage),
                                                .name = "take",
                                                .help = "by the host",
                                                .kind = ASSAY_STAGE_HOST,
                                                .run = older_run}};
static const struct assay_stage *const stages[] = {&work_stage.stage, &take_stage.stage, NULL};
static const struct assay_metric_info answer = {
    .size = sizeof(answer), .name = "answer", .unit = "1", .help = "always the same"};
static const struct assay_metric_info *const metrics[] = {&answer, NULL};

static const struct assay_workload workload = {.size = sizeof(struct assay_workload),
                                               .name = "older",
                                               .version = "1",
                                               .summary = "built for the first layout of the ABI",
                                               .options = options,
                                               .params_size = sizeof(struct params),
                                               .stages = stages,
                                               .metrics = metrics,
                                               .supported = older_supported,
                                               .create = older_create,
                                               .verify = older_verify,
                                               .report = older_report,
                                               .destroy = older_destroy};
static const struct assay_workload *const workloads[] = {&workload, NULL};

ASSAY_PLUGIN_ENTRY(older)
{
    static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                               .abi = ASSAY_ABI,
                                               .name = "older",
                                               .version = "1",
                                               .workloads = workloads};
    memset(work_stage.behind, 0xff, sizeof(work_stage.behind));
    memset(take_stage.behind, 0xff, sizeof(take_stage.behind));
    return &plugin;
}
