/* SPDX-License-Identifier: MIT */
/* The workload of saxpy.lua as a plugin in C. */
#include <assay/assay.h>

#include <math.h>
#include <stdlib.h>

struct params {
    int64_t n;
};

struct saxpy {
    const struct params *params;
    struct assay_buffer *from, *x, *y, *to;
    struct assay_kernel *kernel;
};

static const struct assay_option n_option = {.size = sizeof(n_option),
                                             .name = "n",
                                             .kind = ASSAY_OPTION_INTEGER,
                                             .offset = offsetof(struct params, n),
                                             .unit = "elements",
                                             .fallback = "65536",
                                             .min = 1,
                                             .max = 1 << 28,
                                             .help = "length of the vectors"};
static const struct assay_option *const options[] = {&n_option, NULL};

static struct assay_buffer *buffer(struct assay_slot *slot, const struct params *params,
                                   const char *name, enum assay_memory memory,
                                   const struct assay_fill *fill, struct assay_error *error)
{
    struct assay_buffer_params buffer = {.size = sizeof(buffer),
                                         .name = name,
                                         .bytes = 4 * (uint64_t)params->n,
                                         .memory = memory,
                                         .role = fill ? ASSAY_ROLE_INPUT : ASSAY_ROLE_OUTPUT};
    if (fill)
        buffer.fill = *fill;
    return assay_buffer_create(slot, &buffer, error);
}

static void saxpy_destroy(void **self)
{
    struct saxpy *saxpy = *self;
    *self = NULL;
    if (!saxpy)
        return;
    assay_kernel_destroy(&saxpy->kernel);
    assay_buffer_destroy(&saxpy->from);
    assay_buffer_destroy(&saxpy->x);
    assay_buffer_destroy(&saxpy->y);
    assay_buffer_destroy(&saxpy->to);
    free(saxpy);
}

static void *saxpy_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    static const struct assay_fill random = {.kind = ASSAY_FILL_UNIFORM_FP32, .low = -1, .high = 1};
    static const struct assay_fill ones = {.kind = ASSAY_FILL_WORD, .word = 0x3f800000};
    static const struct assay_constant workgroup = {"WORKGROUP", 64};
    struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                         .source = "saxpy.comp",
                                         .constants = &workgroup,
                                         .constant_count = 1};
    struct saxpy *saxpy = calloc(1, sizeof(*saxpy));
    void *self = saxpy;
    if (!saxpy) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    saxpy->params = params;
    if ((saxpy->from = buffer(slot, params, "from", ASSAY_MEMORY_PINNED, &random, error)) &&
        (saxpy->x = buffer(slot, params, "x", ASSAY_MEMORY_DEVICE, NULL, error)) &&
        (saxpy->y = buffer(slot, params, "y", ASSAY_MEMORY_DEVICE, &ones, error)) &&
        (saxpy->to = buffer(slot, params, "to", ASSAY_MEMORY_CACHED, NULL, error)) &&
        (saxpy->kernel = assay_kernel_create(slot, &kernel, error)))
        return saxpy;
    saxpy_destroy(&self);
    return NULL;
}

static bool upload(const struct assay_stage *stage, void *self, struct assay_command *command,
                   struct assay_error *error)
{
    struct saxpy *saxpy = self;
    (void)stage;
    return assay_command_copy(command, saxpy->x, 0, saxpy->from, 0, assay_buffer_bytes(saxpy->x),
                              error);
}

static bool compute(const struct assay_stage *stage, void *self, struct assay_command *command,
                    struct assay_error *error)
{
    struct saxpy *saxpy = self;
    const struct assay_binding bindings[] = {{.name = "x", .buffer = saxpy->x},
                                             {.name = "y", .buffer = saxpy->y}};
    const struct assay_push pushes[] = {{"n", (double)saxpy->params->n}, {"a", 2}};
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = saxpy->kernel,
                                      .bindings = bindings,
                                      .binding_count = 2,
                                      .pushes = pushes,
                                      .push_count = 2,
                                      .invocations = {(uint64_t)saxpy->params->n}};
    (void)stage;
    return assay_command_dispatch(command, &dispatch, error);
}

static bool download(const struct assay_stage *stage, void *self, struct assay_command *command,
                     struct assay_error *error)
{
    struct saxpy *saxpy = self;
    (void)stage;
    return assay_command_copy(command, saxpy->to, 0, saxpy->y, 0, assay_buffer_bytes(saxpy->y),
                              error);
}

static bool saxpy_verify(void *self, struct assay_verification *verification,
                         struct assay_error *error)
{
    struct saxpy *saxpy = self;
    uint64_t bytes = assay_buffer_bytes(saxpy->to);
    float *x = malloc(bytes), *y = malloc(bytes);
    double worst = 0;
    bool good = x && y;
    if (!good)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
    good = good && assay_buffer_read(saxpy->from, 0, bytes, x, error) &&
           assay_buffer_read(saxpy->to, 0, bytes, y, error);
    for (int64_t i = 0; good && i < saxpy->params->n; i++) {
        double wanted = 2.0 * x[i] + 1.0;
        worst = fmax(worst, fabs(y[i] - wanted) / (1e-6 + 1e-6 * fabs(wanted)));
    }
    free(x);
    free(y);
    return good && assay_verification_error(verification, worst, error);
}

static void moved(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    out->payload_bytes = 4 * (uint64_t)((const struct params *)params)->n;
}

static void computed(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    out->flops = 2 * (uint64_t)((const struct params *)params)->n;
    out->flop_kind = ASSAY_NUMBER_FP32;
}

static const struct assay_stage upload_stage = {.size = sizeof(upload_stage),
                                                .name = "upload",
                                                .help = "x to the device",
                                                .kind = ASSAY_STAGE_TRANSFER,
                                                .cost = moved,
                                                .record = upload};
static const struct assay_stage compute_stage = {.size = sizeof(compute_stage),
                                                 .name = "compute",
                                                 .help = "y = a x + y",
                                                 .kind = ASSAY_STAGE_COMPUTE,
                                                 .cost = computed,
                                                 .record = compute};
static const struct assay_stage download_stage = {.size = sizeof(download_stage),
                                                  .name = "download",
                                                  .help = "y to the host",
                                                  .kind = ASSAY_STAGE_TRANSFER,
                                                  .cost = moved,
                                                  .record = download};
static const struct assay_stage *const stages[] = {&upload_stage, &compute_stage, &download_stage,
                                                   NULL};
static const struct assay_workload saxpy = {.size = sizeof(saxpy),
                                            .name = "saxpy_c",
                                            .version = "1",
                                            .summary = "y = a x + y over one vector",
                                            .options = options,
                                            .params_size = sizeof(struct params),
                                            .stages = stages,
                                            .create = saxpy_create,
                                            .verify = saxpy_verify,
                                            .destroy = saxpy_destroy};
static const struct assay_workload *const workloads[] = {&saxpy, NULL};
static const struct assay_plugin plugin = {.size = sizeof(plugin),
                                           .abi = ASSAY_ABI,
                                           .name = "saxpy",
                                           .version = "1",
                                           .workloads = workloads};

ASSAY_PLUGIN_ENTRY(saxpy)
{
    return &plugin;
}
