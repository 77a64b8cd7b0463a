/* SPDX-License-Identifier: MIT */
/* C = A B: matrices in every precision, by kernels of several kinds, every result verified. */
#include "portions.h"
#include "tuning.h"
#include "variant.h"
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDED_BYTES 16u /* buffers end on this, so that kernels may read whole words */

static const char *const values_names[] = {"uniform", "denormal", "special", NULL};

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + ROUNDED_BYTES - 1) / ROUNDED_BYTES * ROUNDED_BYTES;
}

static bool gemm_check(const void *params, struct assay_error *error)
{
    const struct gemm_params *p = params;
    const struct gemm_variant *variant = gemm_variant_at(p->variant);
    struct gemm_problem problem;
    if (!variant && strcmp(p->tile, "auto") != 0)
        return assay_fail(error, ASSAY_INVALID,
                          "tile: '%s' belongs to a variant, and variant is auto; set both or none",
                          p->tile);
    if (variant && strcmp(p->tile, "auto") != 0 && !gemm_shape_find(variant, p->tile)) {
        char shapes[200] = "";
        size_t length = 0;
        for (size_t i = 0; variant->shapes[i] && length < sizeof(shapes) - 1; i++)
            length += (size_t)snprintf(shapes + length, sizeof(shapes) - length, ", %s",
                                       variant->shapes[i]);
        return assay_fail(error, ASSAY_INVALID, "tile: variant %s has no '%s'; allowed: auto%s",
                          variant->name, p->tile, shapes);
    }
    return gemm_problem_make(p, &problem, error);
}

static bool gemm_supported(const struct assay_device *device, const void *params,
                           struct assay_error *why_not)
{
    const struct gemm_params *p = params;
    const struct gemm_variant *variant = gemm_variant_at(p->variant);
    struct gemm_problem problem;
    if (p->values != GEMM_UNIFORM && p->precision == GEMM_INT8)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "values %s: int8 has none; values uniform takes all of its numbers",
                          values_names[p->values]);
    return gemm_problem_make(p, &problem, why_not) &&
           gemm_precision_supported(device, &problem, why_not) &&
           (!variant ||
            variant->supported(device, &problem, gemm_shape_of(variant, device, &problem, p->tile),
                               why_not));
}

/* --- A slot --- */

/* What operand `index` (0: A, 1: B) is filled with. Data that must be made stands in `*data`, to be
 * freed. */
static bool make_fill(const struct gemm_slot *slot, unsigned index, struct assay_fill *fill,
                      void **data, struct assay_error *error)
{
    static const enum assay_element elements[] = {
        [GEMM_NUMBER_FP64] = ASSAY_ELEMENT_DOUBLE, [GEMM_NUMBER_FP32] = ASSAY_ELEMENT_FLOAT,
        [GEMM_NUMBER_FP16] = ASSAY_ELEMENT_HALF,   [GEMM_NUMBER_BF16] = ASSAY_ELEMENT_BFLOAT16,
        [GEMM_NUMBER_INT8] = ASSAY_ELEMENT_INT8,
    };
    const struct gemm_matrix *matrix = index ? &slot->problem.b : &slot->problem.a;
    const enum gemm_number number = matrix->number;
    const uint64_t seed = assay_slot_seed(slot->slot) + index, count = matrix->elements;
    const int values = slot->params->values;
    if (values == GEMM_UNIFORM && number != GEMM_NUMBER_FP8) {
        const bool whole = number == GEMM_NUMBER_INT8;
        *fill = (struct assay_fill){.kind = ASSAY_FILL_UNIFORM,
                                    .element = elements[number],
                                    .from = whole ? -128 : -1,
                                    .to = whole ? 127 : 1};
        return true;
    }
    *data = calloc(1, rounded(matrix->bytes));
    if (!*data)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for values");
    enum gemm_scatter scatter = GEMM_SCATTER_FRACTION;
    if (values == GEMM_DENORMAL)
        scatter = index ? GEMM_SCATTER_LARGE : GEMM_SCATTER_DENORMAL;
    gemm_numbers_scatter(number, scatter, seed, count * slot->problem.batch, *data);
    if (values == GEMM_SPECIAL) {
        /* In three rows of A and two columns of B, some of which meet. */
        gemm_number_plant(number, index ? -1 : 0, *data, count / 2);
        gemm_number_plant(number, index ? 0 : 1, *data, count / 3);
        gemm_number_plant(number, -1, *data, count - 1);
    }
    *fill = (struct assay_fill){.kind = ASSAY_FILL_DATA, .data = *data};
    return true;
}

static struct assay_buffer *make(struct gemm_slot *slot, const char *name, uint64_t bytes,
                                 enum assay_memory memory, const struct assay_fill *fill,
                                 struct assay_error *error)
{
    struct assay_buffer_params params = {.size = sizeof(params),
                                         .name = name,
                                         .bytes = rounded(bytes),
                                         .memory = memory,
                                         .role = fill ? ASSAY_ROLE_INPUT : ASSAY_ROLE_OUTPUT};
    if (fill)
        params.fill = *fill;
    return assay_buffer_create(slot->slot, &params, error);
}

static bool make_operand(struct gemm_slot *slot, unsigned index, struct assay_error *error)
{
    static const char *const names[] = {"A", "B"}, *const host_names[] = {"host A", "host B"};
    struct assay_buffer **device = index ? &slot->b : &slot->a;
    struct assay_buffer **host = index ? &slot->host_b : &slot->host_a;
    const uint64_t bytes = index ? slot->problem.b.bytes : slot->problem.a.bytes;
    const bool resident = slot->params->resident;
    struct assay_fill fill;
    void *data = NULL;
    bool made = make_fill(slot, index, &fill, &data, error);
    if (made) {
        *device = make(slot, names[index], bytes, ASSAY_MEMORY_DEVICE, resident ? &fill : NULL,
                       error);
        made = *device;
    }
    if (made && !resident) {
        /* Cached, because verification reads it. */
        *host = make(slot, host_names[index], bytes, ASSAY_MEMORY_CACHED, &fill, error);
        made = *host;
    }
    free(data);
    return made;
}

static void gemm_destroy(void **self)
{
    struct gemm_slot *slot = *self;
    if (!slot)
        return;
    slot->variant->destroy(slot);
    assay_buffer_destroy(&slot->a);
    assay_buffer_destroy(&slot->b);
    assay_buffer_destroy(&slot->c);
    assay_buffer_destroy(&slot->host_a);
    assay_buffer_destroy(&slot->host_b);
    assay_buffer_destroy(&slot->host_c);
    free(slot);
    *self = NULL;
}

static void *gemm_create(struct assay_slot *assay_slot, const void *params,
                         struct assay_error *error)
{
    const struct gemm_variant *variant = gemm_variant_at(
        ((const struct gemm_params *)params)->variant);
    if (!variant) {
        assay_fail(error, ASSAY_INTERNAL, "variant auto was not replaced by one");
        return NULL;
    }
    struct gemm_slot *slot = calloc(1, sizeof(*slot));
    void *self = slot;
    if (!slot) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    slot->slot = assay_slot;
    slot->params = params;
    slot->variant = variant;
    if (!gemm_problem_make(params, &slot->problem, error))
        goto fail;
    slot->shape = gemm_shape_of(variant, assay_slot_device(assay_slot), &slot->problem,
                                slot->params->tile);
    if (!make_operand(slot, 0, error) || !make_operand(slot, 1, error))
        goto fail;
    slot->c = make(slot, "C", slot->problem.c.bytes, ASSAY_MEMORY_DEVICE, NULL, error);
    if (!slot->c)
        goto fail;
    slot->host_c = make(slot, "host C", slot->problem.c.bytes, ASSAY_MEMORY_CACHED, NULL, error);
    if (slot->host_c && slot->variant->create(slot, error) && gemm_portion_choose(slot, error))
        return slot;
fail:
    gemm_destroy(&self);
    return NULL;
}

/* --- Stages --- */

static bool upload_record(const struct assay_stage *stage, void *self,
                          struct assay_command *command, struct assay_error *error)
{
    (void)stage;
    struct gemm_slot *slot = self;
    return assay_command_copy(command, slot->a, 0, slot->host_a, 0, assay_buffer_bytes(slot->a),
                              error) &&
           assay_command_copy(command, slot->b, 0, slot->host_b, 0, assay_buffer_bytes(slot->b),
                              error);
}

static bool compute_record(const struct assay_stage *stage, void *self,
                           struct assay_command *command, struct assay_error *error)
{
    (void)stage;
    struct gemm_slot *slot = self;
    return slot->variant->record(slot, command, error);
}

static bool download_record(const struct assay_stage *stage, void *self,
                            struct assay_command *command, struct assay_error *error)
{
    (void)stage;
    struct gemm_slot *slot = self;
    return assay_command_copy(command, slot->host_c, 0, slot->c, 0, assay_buffer_bytes(slot->c),
                              error);
}

static bool not_resident(const struct assay_stage *stage, const void *params)
{
    (void)stage;
    return !((const struct gemm_params *)params)->resident;
}

/* Parameters that check has seen; false leaves the cost empty. */
static bool cost_problem(const void *params, struct gemm_problem *problem, struct assay_cost *out)
{
    if (!gemm_problem_make(params, problem, NULL))
        return false;
    out->items = problem->batch;
    return true;
}

static void upload_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    struct gemm_problem p;
    if (!cost_problem(params, &p, out))
        return;
    out->payload_bytes = p.a.bytes + p.b.bytes;
    out->read_bytes = out->written_bytes = out->upload_bytes = out->payload_bytes;
}

static void compute_cost(const struct assay_stage *stage, const void *params,
                         struct assay_cost *out)
{
    (void)stage;
    struct gemm_problem p;
    if (!cost_problem(params, &p, out))
        return;
    const struct gemm_params *given = params;
    const struct gemm_variant *variant = gemm_variant_at(given->variant);
    out->read_bytes = p.a.bytes + p.b.bytes;
    out->written_bytes = p.c.bytes;
    out->flops = p.flops;
    out->flop_kind = variant && variant->flop_kind ? variant->flop_kind(&p) : gemm_sum_kind(&p);
}

static void download_cost(const struct assay_stage *stage, const void *params,
                          struct assay_cost *out)
{
    (void)stage;
    struct gemm_problem p;
    if (!cost_problem(params, &p, out))
        return;
    out->payload_bytes = p.c.bytes;
    out->read_bytes = out->written_bytes = out->download_bytes = out->payload_bytes;
}

/* --- Verification --- */

/* What the host sees of a buffer, or a copy of it, which goes into `*copy`. Memory of a GPU is
 * copied even where it can be seen: reading it by the word is slow. */
static const void *contents(const struct gemm_slot *slot, struct assay_buffer *buffer, bool on_host,
                            void **copy, struct assay_error *error)
{
    const uint64_t bytes = assay_buffer_bytes(buffer);
    const struct assay_limits *limits = assay_device_limits(assay_slot_device(slot->slot));
    const void *address = assay_buffer_address(buffer);
    if (address && (on_host || limits->on_cpu))
        return address;
    *copy = malloc(bytes);
    if (!*copy) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
        return NULL;
    }
    return assay_buffer_read(buffer, 0, bytes, *copy, error) ? *copy : NULL;
}

static bool check_product(struct gemm_check *check, struct assay_verification *verification,
                          struct assay_error *error)
{
    struct gemm_finding finding, flushed;
    if (!gemm_verify(check, &finding, error))
        return false;
    if (finding.wrong && check->denormal) {
        /* Vulkan lets a device take denormal numbers for zero. */
        check->flush = true;
        if (!gemm_verify(check, &flushed, error))
            return false;
        if (flushed.wrong)
            return assay_fail(error, ASSAY_WRONG_RESULT, "%s; with denormal operands as zero: %s",
                              finding.text, flushed.text);
        finding = flushed;
    }
    if (finding.wrong)
        return assay_fail(error, ASSAY_WRONG_RESULT, "%s", finding.text);
    assay_verification_checked(verification, check->problem->c.bytes);
    return assay_verification_error(verification, finding.error_over_bound, error);
}

static bool gemm_verify_hook(void *self, struct assay_verification *verification,
                             struct assay_error *error)
{
    struct gemm_slot *slot = self;
    void *copies[3] = {NULL};
    struct gemm_check check = {.problem = &slot->problem,
                               .seed = assay_slot_seed(slot->slot),
                               .denormal = slot->params->values == GEMM_DENORMAL,
                               .special = slot->params->values == GEMM_SPECIAL};
    check.a = contents(slot, slot->host_a ? slot->host_a : slot->a, slot->host_a, &copies[0],
                       error);
    if (check.a)
        check.b = contents(slot, slot->host_b ? slot->host_b : slot->b, slot->host_b, &copies[1],
                           error);
    if (check.b)
        check.c = contents(slot, slot->host_c, true, &copies[2], error);
    const bool right = check.c && check_product(&check, verification, error);
    for (size_t i = 0; i < 3; i++)
        free(copies[i]);
    return right;
}

/* --- Tables --- */

static const struct assay_stage *const stages[] = {
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "upload",
                                .help = "A and B to the device; absent when they are resident",
                                .kind = ASSAY_STAGE_TRANSFER,
                                .present = not_resident,
                                .cost = upload_cost,
                                .record = upload_record},
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "compute",
                                .help = "all of C, packing of operands included",
                                .kind = ASSAY_STAGE_COMPUTE,
                                .cost = compute_cost,
                                .record = compute_record},
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "download",
                                .help = "C to the host",
                                .kind = ASSAY_STAGE_TRANSFER,
                                .cost = download_cost,
                                .record = download_record},
    NULL,
};

#define OPTION(member, option_kind, value, text)                                                   \
    .size = sizeof(struct assay_option), .name = #member, .kind = option_kind,                     \
    .offset = offsetof(struct gemm_params, member), .fallback = value, .help = text
#define SIZE_MAX_ELEMENTS INT32_MAX

static const struct assay_option size_option = {
    OPTION(size, ASSAY_OPTION_INTEGER, "1024", "m, n and k, where they are not set"),
    .unit = "elements", .min = 1, .max = SIZE_MAX_ELEMENTS};
static const struct assay_option m_option = {
    OPTION(m, ASSAY_OPTION_INTEGER, "0", "rows of A and C; 0: size"), .unit = "elements",
    .max = SIZE_MAX_ELEMENTS};
static const struct assay_option n_option = {
    OPTION(n, ASSAY_OPTION_INTEGER, "0", "columns of B and C; 0: size"), .unit = "elements",
    .max = SIZE_MAX_ELEMENTS};
static const struct assay_option k_option = {
    OPTION(k, ASSAY_OPTION_INTEGER, "0", "columns of A, rows of B; 0: size"), .unit = "elements",
    .max = SIZE_MAX_ELEMENTS};
static const struct assay_option batch_option = {
    OPTION(batch, ASSAY_OPTION_INTEGER, "1", "products of a batch, one behind the other in memory"),
    .unit = "products", .min = 1, .max = SIZE_MAX_ELEMENTS, .flags = ASSAY_OPTION_ITEMS};
static const struct assay_option precision_option = {
    OPTION(precision, ASSAY_OPTION_CHOICE, "fp32",
           "of A and B; sums and C: fp32, but fp64 of fp64, fp16 of fp16_acc16, int32 of int8"),
    .choices = gemm_precision_names};
static const struct assay_option variant_option = {
    OPTION(variant, ASSAY_OPTION_CHOICE, "auto",
           "kind of kernel; auto: the fastest, found by measurement ('assay tune')"),
    .choices = gemm_variant_names};
static const struct assay_option tile_option = {
    OPTION(tile, ASSAY_OPTION_TEXT, "auto",
           "part of C that a group makes, ROWSxCOLUMNS; auto: the variant's first, with variant "
           "auto the fastest")};
static const struct assay_option transpose_a_option = {
    OPTION(transpose_a, ASSAY_OPTION_BOOLEAN, "false", "A is stored as its transpose")};
static const struct assay_option transpose_b_option = {
    OPTION(transpose_b, ASSAY_OPTION_BOOLEAN, "false", "B is stored as its transpose")};
static const struct assay_option resident_option = {
    OPTION(resident, ASSAY_OPTION_BOOLEAN, "false", "A and B stay on the device: no upload")};
static const struct assay_option values_option = {
    OPTION(values, ASSAY_OPTION_CHOICE, "uniform",
           "of A and B: uniform in [-1, 1), denormal A, or with NaN and infinities in some places"),
    .choices = values_names};

static const struct assay_option *const options[] = {
    &m_option,         &n_option,       &k_option,    &size_option,        &batch_option,
    &precision_option, &variant_option, &tile_option, &transpose_a_option, &transpose_b_option,
    &resident_option,  &values_option,  NULL,
};

static const struct assay_workload workload = {
    .size = sizeof(struct assay_workload),
    .name = "gemm",
    .version = "1",
    .summary = "products of matrices, C = A B, in seven precisions, every result verified",
    .options = options,
    .params_size = sizeof(struct gemm_params),
    .stages = stages,
    .check = gemm_check,
    .supported = gemm_supported,
    .create = gemm_create,
    .verify = gemm_verify_hook,
    .destroy = gemm_destroy,
    .tuning = &gemm_tuning,
};

static const struct assay_workload *const workloads[] = {&workload, NULL};

ASSAY_PLUGIN_ENTRY(gemm)
{
    static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                               .abi = ASSAY_ABI,
                                               .name = "gemm",
                                               .version = "1",
                                               .workloads = workloads};
    return &plugin;
}
