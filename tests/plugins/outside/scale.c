/* SPDX-License-Identifier: MIT */
/* Each word of a buffer times a factor. */
#include <assay/assay.h>

#include <inttypes.h>
#include <stdlib.h>

#define WORD_BYTES 4u

struct params {
    int64_t bytes, factor;
};

struct scale {
    const struct params *params;
    struct assay_buffer *source, *destination;
    struct assay_kernel *kernel;
};

static bool scale_check(const void *params, struct assay_error *error)
{
    const struct params *p = params;
    return p->bytes % WORD_BYTES == 0 ||
           assay_fail(error, ASSAY_INVALID, "%" PRId64 " B are no whole words of 4 B", p->bytes);
}

static void scale_destroy(void **self)
{
    struct scale *scale = *self;
    if (!scale)
        return;
    assay_kernel_destroy(&scale->kernel);
    assay_buffer_destroy(&scale->source);
    assay_buffer_destroy(&scale->destination);
    free(scale);
    *self = NULL;
}

static void *scale_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    struct scale *scale = calloc(1, sizeof(*scale));
    void *self = scale;
    if (!scale) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    scale->params = params;
    struct assay_buffer_params buffer = {.size = sizeof(buffer),
                                         .name = "source",
                                         .bytes = (uint64_t)scale->params->bytes,
                                         .memory = ASSAY_MEMORY_DEVICE,
                                         .role = ASSAY_ROLE_INPUT,
                                         .fill = {.kind = ASSAY_FILL_RANDOM_BITS}};
    struct assay_kernel_params kernel = {.size = sizeof(kernel), .source = "scale.comp"};
    scale->source = assay_buffer_create(slot, &buffer, error);
    buffer.name = "destination";
    buffer.role = ASSAY_ROLE_OUTPUT;
    if (scale->source)
        scale->destination = assay_buffer_create(slot, &buffer, error);
    if (scale->destination)
        scale->kernel = assay_kernel_create(slot, &kernel, error);
    if (!scale->kernel)
        scale_destroy(&self);
    return self;
}

static void scale_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    uint64_t bytes = (uint64_t)((const struct params *)params)->bytes;
    out->payload_bytes = out->read_bytes = out->written_bytes = bytes;
    out->items = bytes / WORD_BYTES;
}

static bool scale_record(const struct assay_stage *stage, void *self, struct assay_command *command,
                         struct assay_error *error)
{
    (void)stage;
    const struct scale *scale = self;
    uint64_t words = (uint64_t)scale->params->bytes / WORD_BYTES;
    struct assay_binding bindings[] = {
        {.name = "source", .buffer = scale->source},
        {.name = "destination", .buffer = scale->destination},
    };
    struct assay_push pushes[] = {
        {.name = "count", .value = (double)words},
        {.name = "factor", .value = (double)scale->params->factor},
    };
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = scale->kernel,
                                      .bindings = bindings,
                                      .binding_count = 2,
                                      .pushes = pushes,
                                      .push_count = 2,
                                      .invocations = {words, 1, 1}};
    return assay_command_dispatch(command, &dispatch, error);
}

static bool scale_verify(void *self, struct assay_verification *verification,
                         struct assay_error *error)
{
    struct scale *scale = self;
    uint64_t bytes = (uint64_t)scale->params->bytes;
    uint32_t *wanted = malloc(2 * bytes), *got = wanted + bytes / WORD_BYTES;
    if (!wanted)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
    assay_buffer_fill_bytes(scale->source, 0, bytes, wanted);
    for (uint64_t i = 0; i < bytes / WORD_BYTES; i++)
        wanted[i] *= (uint32_t)scale->params->factor;
    bool right = assay_buffer_read(scale->destination, 0, bytes, got, error) &&
                 assay_verification_bytes(verification, "product", got, wanted, bytes, 0, error);
    free(wanted);
    return right;
}

static const struct assay_option bytes_option = {.size = sizeof(bytes_option),
                                                 .name = "bytes",
                                                 .kind = ASSAY_OPTION_INTEGER,
                                                 .offset = offsetof(struct params, bytes),
                                                 .unit = "B",
                                                 .fallback = "1 MiB",
                                                 .min = 4,
                                                 .max = 1 << 26,
                                                 .help = "of the source"};
static const struct assay_option factor_option = {.size = sizeof(factor_option),
                                                  .name = "factor",
                                                  .kind = ASSAY_OPTION_INTEGER,
                                                  .offset = offsetof(struct params, factor),
                                                  .fallback = "3",
                                                  .min = 0,
                                                  .max = UINT32_MAX,
                                                  .help = "of each word"};
static const struct assay_option *const options[] = {&bytes_option, &factor_option, NULL};

static const struct assay_stage compute_stage = {.size = sizeof(compute_stage),
                                                 .name = "compute",
                                                 .help = "one product a word",
                                                 .kind = ASSAY_STAGE_COMPUTE,
                                                 .cost = scale_cost,
                                                 .record = scale_record};
static const struct assay_stage *const stages[] = {&compute_stage, NULL};

static const struct assay_workload workload = {.size = sizeof(workload),
                                               .name = "scale",
                                               .version = "1",
                                               .summary = "each word times a factor, verified",
                                               .options = options,
                                               .params_size = sizeof(struct params),
                                               .stages = stages,
                                               .check = scale_check,
                                               .create = scale_create,
                                               .verify = scale_verify,
                                               .destroy = scale_destroy};
static const struct assay_workload *const workloads[] = {&workload, NULL};
static const struct assay_plugin plugin = {.size = sizeof(plugin),
                                           .abi = ASSAY_ABI,
                                           .name = "scale",
                                           .version = "1.0",
                                           .workloads = workloads};

ASSAY_PLUGIN_ENTRY(scale)
{
    return &plugin;
}
