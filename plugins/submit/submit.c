/* SPDX-License-Identifier: MIT */
/* A batch of small dispatches, submitted one by one or all at once: what submitting costs. */
#include <assay/assay.h>

#include <inttypes.h>
#include <stdlib.h>

#define DISPATCHES_MAX 10000
#define INVOCATIONS_MAX (INT64_C(1) << 20)
#define STEPS_MAX (INT64_C(1) << 24)
#define WORDS_MAX (INT64_C(1) << 26)
#define WORD_BYTES 4u
#define BLOCK_WORDS 16384u

enum wait { EACH, BATCH };
static const char *const waits[] = {"each", "batch", NULL};

struct params {
    int wait;
    int64_t dispatches, invocations, steps;
};

struct submit {
    const struct params *params;
    uint32_t seed;
    struct assay_kernel *kernel;
    struct assay_buffer *destination;
};

static uint64_t word_count(const struct params *p)
{
    return (uint64_t)p->dispatches * (uint64_t)p->invocations;
}

static bool submit_check(const void *params, struct assay_error *error)
{
    const struct params *p = params;
    if (word_count(p) <= WORDS_MAX)
        return true;
    return assay_fail(error, ASSAY_INVALID,
                      "%" PRId64 " dispatches of %" PRId64 " invocations store %" PRIu64
                      " words, at most %" PRId64 " are allowed",
                      p->dispatches, p->invocations, word_count(p), WORDS_MAX);
}

static bool submit_supported(const struct assay_device *device, const void *params,
                             struct assay_error *why_not)
{
    uint64_t bytes = WORD_BYTES * word_count(params);
    uint64_t most = assay_device_limits(device)->max_storage_range_bytes;
    if (bytes <= most)
        return true;
    return assay_fail(why_not, ASSAY_UNSUPPORTED,
                      "the result takes %" PRIu64 " B, maxStorageBufferRange is %" PRIu64 " B",
                      bytes, most);
}

static void submit_destroy(void **self)
{
    struct submit *submit = *self;
    if (!submit)
        return;
    assay_kernel_destroy(&submit->kernel);
    assay_buffer_destroy(&submit->destination);
    free(submit);
    *self = NULL;
}

/* Memory of the host: the result can be read when the wait is over, so the stage runs on the host's
 * clock however it is submitted, and its times compare. */
static void *submit_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    struct submit *submit = calloc(1, sizeof(*submit));
    void *self = submit;
    if (!submit) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    submit->params = params;
    submit->seed = (uint32_t)assay_slot_seed(slot);
    struct assay_kernel_params kernel = {.size = sizeof(kernel), .source = "submit_steps.comp"};
    struct assay_buffer_params buffer = {.size = sizeof(buffer),
                                         .name = "destination",
                                         .bytes = WORD_BYTES * word_count(params),
                                         .memory = ASSAY_MEMORY_PINNED,
                                         .role = ASSAY_ROLE_OUTPUT};
    submit->destination = assay_buffer_create(slot, &buffer, error);
    if (submit->destination)
        submit->kernel = assay_kernel_create(slot, &kernel, error);
    if (!submit->kernel)
        submit_destroy(&self);
    return self;
}

static bool record_dispatch(const struct submit *submit, struct assay_command *command,
                            int64_t index, struct assay_error *error)
{
    const struct params *p = submit->params;
    struct assay_binding binding = {.name = "destination", .buffer = submit->destination};
    struct assay_push pushes[] = {
        {.name = "first", .value = (double)(index * p->invocations)},
        {.name = "count", .value = (double)p->invocations},
        {.name = "steps", .value = (double)p->steps},
        {.name = "seed", .value = submit->seed},
    };
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = submit->kernel,
                                      .bindings = &binding,
                                      .binding_count = 1,
                                      .pushes = pushes,
                                      .push_count = 4,
                                      .invocations = {(uint64_t)p->invocations, 1, 1}};
    return assay_command_dispatch(command, &dispatch, error);
}

/* One after the other in either form: what differs is the submission alone. */
static bool submit_record(const struct assay_stage *stage, void *self,
                          struct assay_command *command, struct assay_error *error)
{
    (void)stage;
    const struct submit *submit = self;
    for (int64_t i = 0; i < submit->params->dispatches; i++) {
        bool apart = i == 0 ||
                     (submit->params->wait == EACH ? assay_command_wait(command, error)
                                                   : assay_command_barrier(command, error));
        if (!apart || !record_dispatch(submit, command, i, error))
            return false;
    }
    return true;
}

/* `steps` steps at once: x = factor x + term, by squaring. */
static void leap(int64_t steps, uint32_t *factor, uint32_t *term)
{
    uint32_t a = 1664525u, c = 1013904223u;
    *factor = 1;
    *term = 0;
    for (; steps > 0; steps >>= 1) {
        if (steps & 1) {
            *factor = a * *factor;
            *term = a * *term + c;
        }
        c = a * c + c;
        a = a * a;
    }
}

static bool submit_verify(void *self, struct assay_verification *verification,
                          struct assay_error *error)
{
    struct submit *submit = self;
    uint64_t words = word_count(submit->params);
    uint32_t factor, term;
    leap(submit->params->steps, &factor, &term);
    uint32_t *got = malloc(2 * BLOCK_WORDS * WORD_BYTES);
    if (!got)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
    uint32_t *wanted = got + BLOCK_WORDS;
    bool right = true;
    for (uint64_t first = 0; right && first < words; first += BLOCK_WORDS) {
        uint64_t count = words - first < BLOCK_WORDS ? words - first : BLOCK_WORDS;
        for (uint64_t i = 0; i < count; i++)
            wanted[i] = factor * (2654435761u * (uint32_t)(first + i) + submit->seed) + term;
        right = assay_buffer_read(submit->destination, WORD_BYTES * first, WORD_BYTES * count, got,
                                  error) &&
                assay_verification_bytes(verification, "result", got, wanted, WORD_BYTES * count,
                                         WORD_BYTES * first, error);
    }
    free(got);
    return right;
}

static bool submit_report(void *self, struct assay_metrics *metrics, struct assay_error *error)
{
    const struct params *p = ((const struct submit *)self)->params;
    return assay_metrics_add(metrics, "submissions", p->wait == EACH ? (double)p->dispatches : 1,
                             error);
}

static void submit_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    const struct params *p = params;
    out->written_bytes = WORD_BYTES * word_count(p);
    out->items = (uint64_t)p->dispatches;
}

static const struct assay_stage compute_stage = {
    .size = sizeof(struct assay_stage),
    .name = "compute",
    .help = "all dispatches, one after the other; items: dispatches",
    .kind = ASSAY_STAGE_COMPUTE,
    .cost = submit_cost,
    .record = submit_record,
};
static const struct assay_stage *const stages[] = {&compute_stage, NULL};

#define WHOLE(member, unit_name, least, most, value, text)                                         \
    {                                                                                              \
        .size = sizeof(struct assay_option), .name = #member, .kind = ASSAY_OPTION_INTEGER,        \
        .offset = offsetof(struct params, member), .unit = unit_name, .fallback = value,           \
        .min = least, .max = most, .help = text                                                    \
    }

static const struct assay_option wait_option = {
    .size = sizeof(struct assay_option),
    .name = "wait",
    .kind = ASSAY_OPTION_CHOICE,
    .offset = offsetof(struct params, wait),
    .fallback = "batch",
    .choices = waits,
    .help = "each: a submit and a wait for every dispatch; batch: one for all"};
static const struct assay_option dispatches_option = WHOLE(
    dispatches, "dispatches", 1, DISPATCHES_MAX, "16", "dispatches in a batch");
static const struct assay_option invocations_option = WHOLE(
    invocations, "invocations", 1, INVOCATIONS_MAX, "64", "invocations of a dispatch");
static const struct assay_option steps_option = WHOLE(steps, "steps", 0, STEPS_MAX, "100",
                                                      "dependent integer steps of an invocation");
static const struct assay_option *const options[] = {
    &wait_option, &dispatches_option, &invocations_option, &steps_option, NULL,
};

static const struct assay_metric_info submissions_metric = {
    .size = sizeof(struct assay_metric_info),
    .name = "submissions",
    .unit = "1",
    .help = "submits of a batch, each with a wait"};
static const struct assay_metric_info *const metrics[] = {&submissions_metric, NULL};

static const struct assay_workload workload = {
    .size = sizeof(struct assay_workload),
    .name = "submit",
    .version = "1",
    .summary = "small dispatches, submitted and waited for one by one or all at once",
    .options = options,
    .params_size = sizeof(struct params),
    .stages = stages,
    .metrics = metrics,
    .check = submit_check,
    .supported = submit_supported,
    .create = submit_create,
    .verify = submit_verify,
    .report = submit_report,
    .destroy = submit_destroy,
};

static const struct assay_workload *const workloads[] = {&workload, NULL};

ASSAY_PLUGIN_ENTRY(submit)
{
    static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                               .abi = ASSAY_ABI,
                                               .name = "submit",
                                               .version = "1",
                                               .workloads = workloads};
    return &plugin;
}
