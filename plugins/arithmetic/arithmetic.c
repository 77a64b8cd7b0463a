/* SPDX-License-Identifier: MIT */
/* Multiply-adds in registers: how fast the arithmetic units of one number kind are at best. */
#include <assay/assay.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An invocation makes some rounds of STEPS multiply-adds on each of its values. */
#define STEPS 128
#define STEPS_INT8 16 /* without a loop: some compilers take minutes for 128 of 8-bit integers */
#define STEP_FLOPS 2  /* a multiplication and an addition */
#define WORD_BYTES 4u
#define CHAINS_MAX 64
#define ROUNDS_MAX 65535  /* some drivers end longer loops early */
#define FIRST_VALUES 128u /* a round starts from one of 0 ... 127 */

enum number { FP32, FP64, FP16, INT32, INT8 };
static const char *const numbers[] = {"fp32", "fp64", "fp16", "int32", "int8", NULL};

/* By number kind. A step is value * factor + factor: for floats value * 1 + 1, so that each result
 * is a whole number that the kind holds exactly, fused or not; no compiler knows that the factor
 * is 1. Integers wrap. */
struct kind {
    const char *scalar, *vector2, *vector4, *stored;
    enum assay_number number;
    int feature; /* enum assay_feature, or -1 */
    int factor;
    int64_t chains, rounds; /* unless the user says */
    int64_t rounds_most;
    const char *why_most;
    int unrolled; /* steps of a round that are written out, in a loop of their own if not all */
};
static const struct kind kinds[] = {
    [FP32] = {"float", "vec2", "vec4", "float", ASSAY_NUMBER_FP32, -1, 1, 12, 64, ROUNDS_MAX, NULL,
              STEPS},
    [FP64] = {"double", "dvec2", "dvec4", "float", ASSAY_NUMBER_FP64, ASSAY_FEATURE_FP64, 1, 6, 64,
              ROUNDS_MAX, NULL, STEPS},
    [FP16] = {"float16_t", "f16vec2", "f16vec4", "float", ASSAY_NUMBER_FP16, ASSAY_FEATURE_FP16, 1,
              12, 16, 16, "all its values are exact", STEPS},
    [INT32] = {"int", "ivec2", "ivec4", "int", ASSAY_NUMBER_INT32, -1, 5, 12, 64, ROUNDS_MAX, NULL,
               STEPS},
    [INT8] = {"int8_t", "i8vec2", "i8vec4", "int", ASSAY_NUMBER_INT8, ASSAY_FEATURE_INT8, 5, 12, 64,
              ROUNDS_MAX / (STEPS / STEPS_INT8), "its loops have at most 65535 turns in all",
              STEPS_INT8},
};

struct params {
    int number;
    int64_t width, flops, chains, rounds, workgroup;
};

struct arithmetic {
    const struct params *params;
    struct assay_slot *slot;
    struct assay_buffer *results;
    struct assay_kernel *kernel;
};

static uint64_t vector_count(const struct params *p)
{
    int64_t chains = p->chains ? p->chains : kinds[p->number].chains;
    return (uint64_t)(chains / p->width); /* the six of fp64 are one vector of width 4 */
}

static uint64_t round_count(const struct params *p)
{
    return (uint64_t)(p->rounds ? p->rounds : kinds[p->number].rounds);
}

static uint64_t invocation_flops(const struct params *p)
{
    return vector_count(p) * (uint64_t)p->width * round_count(p) * STEPS * STEP_FLOPS;
}

/* Whole workgroups that do at least the flops asked for. */
static uint64_t group_count(const struct params *p)
{
    uint64_t group_flops = invocation_flops(p) * (uint64_t)p->workgroup;
    return ((uint64_t)p->flops - 1) / group_flops + 1;
}

static uint64_t invocation_count(const struct params *p)
{
    return group_count(p) * (uint64_t)p->workgroup;
}

static uint64_t results_bytes(const struct params *p)
{
    return invocation_count(p) * (uint64_t)p->width * WORD_BYTES;
}

static bool arithmetic_check(const void *params, struct assay_error *error)
{
    const struct params *p = params;
    if (p->width != 1 && p->width != 2 && p->width != 4)
        return assay_fail(error, ASSAY_INVALID,
                          "width: %" PRId64 " is no width of a vector; 1, 2 and 4 are", p->width);
    if (p->chains % p->width != 0)
        return assay_fail(error, ASSAY_INVALID,
                          "chains: %" PRId64 " values do not make whole vectors of width %" PRId64
                          "; give a multiple of it, or 0",
                          p->chains, p->width);
    if (p->rounds > kinds[p->number].rounds_most)
        return assay_fail(error, ASSAY_INVALID, "rounds: %s takes at most %" PRId64 ", so that %s",
                          numbers[p->number], kinds[p->number].rounds_most,
                          kinds[p->number].why_most);
    return true;
}

static bool arithmetic_supported(const struct assay_device *device, const void *params,
                                 struct assay_error *why_not)
{
    const struct params *p = params;
    const struct assay_limits *limits = assay_device_limits(device);
    int feature = kinds[p->number].feature;
    const char *missing = NULL;
    if (feature >= 0 && !assay_device_has(device, (enum assay_feature)feature, &missing))
        return assay_fail(why_not, ASSAY_UNSUPPORTED, "number %s: %s", numbers[p->number], missing);
    uint64_t most = limits->max_group_invocations < limits->max_group_size[0]
                        ? limits->max_group_invocations
                        : limits->max_group_size[0];
    if ((uint64_t)p->workgroup > most)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "workgroup: %" PRId64 " invocations are over the %" PRIu64
                          " that this device takes",
                          p->workgroup, most);
    return true;
}

static void arithmetic_destroy(void **self)
{
    struct arithmetic *arithmetic = *self;
    if (!arithmetic)
        return;
    assay_kernel_destroy(&arithmetic->kernel);
    assay_buffer_destroy(&arithmetic->results);
    free(arithmetic);
    *self = NULL;
}

static const char *vector_type(const struct kind *kind, int64_t width)
{
    return width == 1 ? kind->scalar : width == 2 ? kind->vector2 : kind->vector4;
}

static bool make_kernel(struct arithmetic *arithmetic, struct assay_error *error)
{
    const struct params *p = arithmetic->params;
    const struct kind *kind = &kinds[p->number];
    char width[24], vectors[24], steps[24], unrolled[24];
    snprintf(width, sizeof(width), "%" PRId64, p->width);
    snprintf(vectors, sizeof(vectors), "%" PRIu64, vector_count(p));
    snprintf(steps, sizeof(steps), "%d", STEPS);
    snprintf(unrolled, sizeof(unrolled), "%d", kind->unrolled);
    struct assay_define defines[] = {
        {"NUMBER", kind->scalar},
        {"VECTOR", vector_type(kind, p->width)},
        {"WIDTH", width},
        {"VECTORS", vectors},
        {"STEPS", steps},
        {"UNROLLED", unrolled},
        {"STORED", kind->stored},
        {"MIX", p->number == INT32 || p->number == INT8 ? "^" : "-"},
        {"FOLDED", vector_type(p->number == FP64 ? &kinds[FP32] : kind, p->width)},
    };
    struct assay_constant workgroup = {.name = "WORKGROUP", .value = (double)p->workgroup};
    struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                         .source = "arithmetic_chains.comp",
                                         .constants = &workgroup,
                                         .constant_count = 1,
                                         .defines = defines,
                                         .define_count = sizeof(defines) / sizeof(defines[0])};
    arithmetic->kernel = assay_kernel_create(arithmetic->slot, &kernel, error);
    return arithmetic->kernel;
}

static void *arithmetic_create(struct assay_slot *slot, const void *params,
                               struct assay_error *error)
{
    struct arithmetic *arithmetic = calloc(1, sizeof(*arithmetic));
    void *self = arithmetic;
    if (!arithmetic) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    arithmetic->slot = slot;
    arithmetic->params = params;
    struct assay_buffer_params results = {.size = sizeof(results),
                                          .name = "results",
                                          .bytes = results_bytes(params),
                                          .memory = ASSAY_MEMORY_DEVICE,
                                          .role = ASSAY_ROLE_OUTPUT};
    if (make_kernel(arithmetic, error)) {
        arithmetic->results = assay_buffer_create(slot, &results, error);
        if (arithmetic->results)
            return arithmetic;
    }
    arithmetic_destroy(&self);
    return NULL;
}

static bool arithmetic_record(const struct assay_stage *stage, void *self,
                              struct assay_command *command, struct assay_error *error)
{
    (void)stage;
    struct arithmetic *arithmetic = self;
    const struct params *p = arithmetic->params;
    const struct kind *kind = &kinds[p->number];
    struct assay_binding results = {.name = "results", .buffer = arithmetic->results};
    struct assay_push pushes[] = {{"rounds", (double)round_count(p)}, {"factor", kind->factor}};
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = arithmetic->kernel,
                                      .bindings = &results,
                                      .binding_count = 1,
                                      .pushes = pushes,
                                      .push_count = sizeof(pushes) / sizeof(pushes[0]),
                                      .invocations = {invocation_count(p), 1, 1}};
    return assay_command_dispatch(command, &dispatch, error);
}

/* The kernel's round in whole numbers, which wrap: what the values of a component that starts from
 * `first` become, and their first pass. */
static uint32_t round_values(const struct params *p, uint32_t first, uint32_t values[CHAINS_MAX])
{
    uint32_t vectors = (uint32_t)vector_count(p), factor = (uint32_t)kinds[p->number].factor;
    for (uint32_t v = 0; v < vectors; v++) {
        values[v] = first + v;
        for (int step = 0; step < STEPS; step++)
            values[v] = values[v] * factor + factor;
    }
    uint32_t sum = values[vectors % 2 == 0 ? 0 : vectors - 1];
    for (uint32_t v = 1; v < vectors; v += 2)
        sum += values[v - 1] - values[v];
    return sum;
}

static uint32_t mixed(const struct params *p, uint32_t a, uint32_t b)
{
    return p->number == INT32 || p->number == INT8 ? a ^ b : a - b;
}

/* What a round makes of a component of an invocation of this number, where round and number count
 * alike. */
static uint32_t round_word(const struct params *p, uint32_t component, uint32_t number)
{
    uint32_t vectors = (uint32_t)vector_count(p), width = (uint32_t)p->width, values[CHAINS_MAX];
    uint32_t spread = 0;
    for (uint32_t i = 0; width > 1 && i < width; i++) {
        uint32_t sum = round_values(p, (number + i) % FIRST_VALUES, values);
        spread += i % 2 == 0 ? sum : 0 - sum;
    }
    uint32_t rest = round_values(p, (number + component) % FIRST_VALUES, values) + spread;
    for (uint32_t v = 1; v < vectors; v += 2)
        rest = mixed(p, rest, values[v]) + values[v - 1];
    if (vectors % 2 == 1)
        rest = mixed(p, rest, values[vectors - 1]) + values[vectors - 1];
    return rest;
}

/* What an invocation of this number stores. */
static uint32_t result_word(const struct params *p, const uint32_t *round_words,
                            uint32_t invocation)
{
    uint32_t carried = 0, word;
    for (uint64_t round = 0; round < round_count(p); round++)
        carried = round_words[(invocation + round) % FIRST_VALUES] - carried;
    if (p->number == INT32)
        return carried;
    if (p->number == INT8) {
        uint32_t low = carried & 0xff;
        return low < 0x80 ? low : low | 0xffffff00u;
    }
    float value = (float)(int32_t)carried;
    memcpy(&word, &value, sizeof(word));
    return word;
}

enum { BLOCK_WORDS = 16384 };

/* What component `component` of an invocation stores, by its number modulo FIRST_VALUES. */
static void component_words(const struct params *p, uint32_t component, uint32_t *words)
{
    uint32_t round_words[FIRST_VALUES];
    for (uint32_t i = 0; i < FIRST_VALUES; i++)
        round_words[i] = round_word(p, component, i);
    for (uint32_t i = 0; i < FIRST_VALUES; i++)
        words[i] = result_word(p, round_words, i);
}

/* One component of all invocations; its words repeat. */
static bool verify_component(const struct arithmetic *arithmetic, uint64_t component,
                             const uint32_t *words, uint32_t *got, uint32_t *wanted,
                             struct assay_verification *verification, struct assay_error *error)
{
    uint64_t invocations = invocation_count(arithmetic->params);
    for (uint64_t at = 0; at < invocations; at += BLOCK_WORDS) {
        uint64_t count = invocations - at < BLOCK_WORDS ? invocations - at : BLOCK_WORDS;
        uint64_t offset = (component * invocations + at) * WORD_BYTES;
        for (uint64_t i = 0; i < count; i++)
            wanted[i] = words[(at + i) % FIRST_VALUES];
        if (!assay_buffer_read(arithmetic->results, offset, count * WORD_BYTES, got, error) ||
            !assay_verification_bytes(verification, "results", got, wanted, count * WORD_BYTES,
                                      offset, error))
            return false;
    }
    return true;
}

static bool arithmetic_verify(void *self, struct assay_verification *verification,
                              struct assay_error *error)
{
    const struct arithmetic *arithmetic = self;
    uint64_t width = (uint64_t)arithmetic->params->width;
    uint32_t words[FIRST_VALUES];
    uint32_t *got = malloc(BLOCK_WORDS * sizeof(*got));
    uint32_t *wanted = malloc(BLOCK_WORDS * sizeof(*wanted));
    bool right = got && wanted;
    if (!right)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
    for (uint64_t i = 0; right && i < width; i++) {
        component_words(arithmetic->params, (uint32_t)i, words);
        right = verify_component(arithmetic, i, words, got, wanted, verification, error);
    }
    free(got);
    free(wanted);
    return right;
}

static void arithmetic_cost(const struct assay_stage *stage, const void *params,
                            struct assay_cost *out)
{
    (void)stage;
    const struct params *p = params;
    out->flops = invocation_count(p) * invocation_flops(p);
    out->written_bytes = results_bytes(p);
    out->flop_kind = kinds[p->number].number;
}

static const struct assay_stage *const stages[] = {
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "compute",
                                .help = "all multiply-adds in one dispatch",
                                .kind = ASSAY_STAGE_COMPUTE,
                                .cost = arithmetic_cost,
                                .record = arithmetic_record},
    NULL,
};

#define OPTION(member, option_kind, value, text)                                                   \
    .size = sizeof(struct assay_option), .name = #member, .kind = option_kind,                     \
    .offset = offsetof(struct params, member), .fallback = value, .help = text

static const struct assay_option number_option = {
    OPTION(number, ASSAY_OPTION_CHOICE, "fp32", "number kind"), .choices = numbers};
static const struct assay_option width_option = {
    OPTION(width, ASSAY_OPTION_INTEGER, "1", "components of a vector: 1, 2 or 4"),
    .unit = "components", .min = 1, .max = 4};
static const struct assay_option flops_option = {
    OPTION(flops, ASSAY_OPTION_INTEGER, "1 GFLOP",
           "work of a batch, rounded up to whole workgroups"),
    .unit = "flop", .min = 1, .max = INT64_C(1) << 48};
static const struct assay_option chains_option = {
    OPTION(chains, ASSAY_OPTION_INTEGER, "0",
           "independent values of an invocation; 0: 12, or 6 of fp64 (4 at width 4)"),
    .unit = "values", .max = CHAINS_MAX};
static const struct assay_option rounds_option = {
    OPTION(rounds, ASSAY_OPTION_INTEGER, "0",
           "turns of the loop, 128 steps each; 0: 64, for fp16 16"),
    .unit = "rounds", .max = ROUNDS_MAX};
static const struct assay_option workgroup_option = {
    OPTION(workgroup, ASSAY_OPTION_INTEGER, "64", "invocations of a workgroup"),
    .unit = "invocations", .min = 1, .max = 1024};

static const struct assay_option *const options[] = {
    &number_option, &width_option,     &flops_option, &chains_option,
    &rounds_option, &workgroup_option, NULL,
};

static const struct assay_workload workload = {
    .size = sizeof(struct assay_workload),
    .name = "arithmetic",
    .version = "1",
    .summary = "multiply-adds in registers, by number kind and vector width, every result verified",
    .options = options,
    .params_size = sizeof(struct params),
    .stages = stages,
    .check = arithmetic_check,
    .supported = arithmetic_supported,
    .create = arithmetic_create,
    .verify = arithmetic_verify,
    .destroy = arithmetic_destroy,
};

static const struct assay_workload *const workloads[] = {&workload, NULL};

ASSAY_PLUGIN_ENTRY(arithmetic)
{
    static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                               .abi = ASSAY_ABI,
                                               .name = "arithmetic",
                                               .version = "1",
                                               .workloads = workloads};
    return &plugin;
}
