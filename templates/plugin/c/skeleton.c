/* SPDX-License-Identifier: MIT */
/* y = factor * x, one float an invocation: a plugin for assay with one workload. Each hook is
 * explained in assay's docs/plugins.md; units, errors, ownership and threads of every function
 * stand in <assay/...>. */
#include <assay/assay.h>

#include <math.h>
#include <stdlib.h>

#define FLOAT_BYTES 4u

/* What a script can set. The options below say how it is written there. */
struct params {
    int64_t n;
    double factor;
};

/* One slot: one set of buffers. Several may be alive at once. */
struct work {
    const struct params *params;
    struct assay_buffer *x, *y;
    struct assay_kernel *kernel;
};

static uint64_t buffer_bytes(const struct params *params)
{
    return (uint64_t)params->n * FLOAT_BYTES;
}

static void work_destroy(void **self)
{
    struct work *work = *self;
    if (!work)
        return;
    assay_kernel_destroy(&work->kernel);
    assay_buffer_destroy(&work->x);
    assay_buffer_destroy(&work->y);
    free(work);
    *self = NULL;
}

static void *work_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    struct work *work = calloc(1, sizeof(*work));
    void *self = work;
    if (!work) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    work->params = params;
    struct assay_buffer_params x = {.size = sizeof(x),
                                    .name = "x",
                                    .bytes = buffer_bytes(params),
                                    .memory = ASSAY_MEMORY_DEVICE,
                                    .role = ASSAY_ROLE_INPUT,
                                    .fill = {.kind = ASSAY_FILL_UNIFORM_FP32, .low = 1, .high = 2}};
    struct assay_buffer_params y = {.size = sizeof(y),
                                    .name = "y",
                                    .bytes = buffer_bytes(params),
                                    .memory = ASSAY_MEMORY_DEVICE,
                                    .role = ASSAY_ROLE_OUTPUT};
    struct assay_constant workgroup = {.name = "WORKGROUP", .value = 64};
    struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                         .source = "skeleton.comp", /* beside this library */
                                         .constants = &workgroup,
                                         .constant_count = 1};
    work->x = assay_buffer_create(slot, &x, error);
    if (work->x)
        work->y = assay_buffer_create(slot, &y, error);
    if (work->y)
        work->kernel = assay_kernel_create(slot, &kernel, error);
    if (!work->kernel)
        work_destroy(&self);
    return self;
}

/* Recorded once, and replayed for each sample. */
static bool compute_record(const struct assay_stage *stage, void *self,
                           struct assay_command *command, struct assay_error *error)
{
    (void)stage;
    const struct work *work = self;
    struct assay_binding bindings[] = {
        {.name = "x", .buffer = work->x},
        {.name = "y", .buffer = work->y},
    };
    struct assay_push pushes[] = {
        {.name = "n", .value = (double)work->params->n},
        {.name = "factor", .value = work->params->factor},
    };
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = work->kernel,
                                      .bindings = bindings,
                                      .binding_count = 2,
                                      .pushes = pushes,
                                      .push_count = 2,
                                      .invocations = {(uint64_t)work->params->n, 1, 1}};
    return assay_command_dispatch(command, &dispatch, error);
}

/* What one execution does by construction: rates and floors come from it. */
static void compute_cost(const struct assay_stage *stage, const void *params,
                         struct assay_cost *out)
{
    (void)stage;
    out->payload_bytes = out->read_bytes = out->written_bytes = buffer_bytes(params);
    out->flops = (uint64_t)((const struct params *)params)->n;
    out->flop_kind = ASSAY_NUMBER_FP32;
}

/* After one more batch on fresh inputs. A case whose result is wrong has no figures. */
static bool work_verify(void *self, struct assay_verification *verification,
                        struct assay_error *error)
{
    const struct work *work = self;
    const uint64_t bytes = buffer_bytes(work->params);
    const float factor = (float)work->params->factor;
    float *x = malloc(bytes), *y = malloc(bytes);
    double worst = 0;
    bool good = x && y;
    if (!good)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
    good = good && assay_buffer_read(work->y, 0, bytes, y, error);
    if (good)
        assay_buffer_fill_bytes(work->x, 0, bytes, x);
    for (int64_t i = 0; good && i < work->params->n; i++) {
        const double wanted = (double)factor * (double)x[i];
        const double off = fabs((double)y[i] - wanted) / (1e-6 * fabs(wanted) + 1e-30);
        if (!(off <= worst)) /* also NaN */
            worst = off;
    }
    good = good && assay_verification_error(verification, worst, error);
    free(x);
    free(y);
    return good;
}

static const struct assay_option n_option = {.size = sizeof(n_option),
                                             .name = "n",
                                             .kind = ASSAY_OPTION_INTEGER,
                                             .offset = offsetof(struct params, n),
                                             .unit = "elements",
                                             .fallback = "1048576",
                                             .min = 1,
                                             .max = 1 << 28,
                                             .help = "length of x and y"};
static const struct assay_option factor_option = {.size = sizeof(factor_option),
                                                  .name = "factor",
                                                  .kind = ASSAY_OPTION_REAL,
                                                  .offset = offsetof(struct params, factor),
                                                  .fallback = "2",
                                                  .help = "of each element"};
static const struct assay_option *const options[] = {&n_option, &factor_option, NULL};

static const struct assay_stage compute_stage = {.size = sizeof(compute_stage),
                                                 .name = "compute",
                                                 .help = "one product an element",
                                                 .kind = ASSAY_STAGE_COMPUTE,
                                                 .cost = compute_cost,
                                                 .record = compute_record};
static const struct assay_stage *const stages[] = {&compute_stage, NULL};

static const struct assay_workload workload = {.size = sizeof(workload),
                                               .name = "skeleton",
                                               .version = "1",
                                               .summary = "y = factor * x, verified",
                                               .options = options,
                                               .params_size = sizeof(struct params),
                                               .stages = stages,
                                               .create = work_create,
                                               .verify = work_verify,
                                               .destroy = work_destroy};
static const struct assay_workload *const workloads[] = {&workload, NULL};
static const struct assay_plugin plugin = {.size = sizeof(plugin),
                                           .abi = ASSAY_ABI,
                                           .name = "skeleton",
                                           .version = "0.1",
                                           .workloads = workloads};

ASSAY_PLUGIN_ENTRY(skeleton)
{
    return &plugin;
}
