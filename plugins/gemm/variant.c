/* SPDX-License-Identifier: MIT */
#include "variant.h"

#include <inttypes.h>
#include <string.h>

static const struct gemm_variant *const variants[] = {NULL,           &gemm_plain,   &gemm_tile,
                                                      &gemm_subgroup, &gemm_coopmat, &gemm_dot};
const char *const gemm_variant_names[] = {"auto",    "plain", "tile", "subgroup",
                                          "coopmat", "dot",   NULL};

const struct gemm_variant *gemm_variant_at(int choice)
{
    return variants[choice];
}

static const char *take_number(const char *text, uint32_t *number)
{
    *number = 0;
    while (*text >= '0' && *text <= '9' && *number < 100000)
        *number = *number * 10 + (uint32_t)(*text++ - '0');
    return text;
}

bool gemm_shape_parse(const char *shape, uint32_t *rows, uint32_t *columns)
{
    const char *at = take_number(shape, rows);
    if (*at != 'x')
        return false;
    at = take_number(at + 1, columns);
    return *at == '\0' && *rows > 0 && *columns > 0;
}

const char *gemm_shape_find(const struct gemm_variant *variant, const char *name)
{
    for (size_t i = 0; variant->shapes[i]; i++)
        if (strcmp(variant->shapes[i], name) == 0)
            return variant->shapes[i];
    return NULL;
}

const char *gemm_shape_of(const struct gemm_variant *variant, const struct assay_device *device,
                          const struct gemm_problem *problem, const char *name)
{
    if (strcmp(name, "auto") != 0)
        return gemm_shape_find(variant, name);
    return variant->guess ? variant->guess(device, problem) : variant->shapes[0];
}

enum assay_number gemm_sum_kind(const struct gemm_problem *problem)
{
    switch (problem->precision) {
    case GEMM_FP64:
        return ASSAY_NUMBER_FP64;
    case GEMM_FP16_ACC16:
        return ASSAY_NUMBER_FP16;
    case GEMM_INT8:
        return ASSAY_NUMBER_INT32;
    default:
        return ASSAY_NUMBER_FP32;
    }
}

enum assay_number gemm_no_kind(const struct gemm_problem *problem)
{
    (void)problem;
    return ASSAY_NUMBER_NONE;
}

bool gemm_precision_supported(const struct assay_device *device, const struct gemm_problem *problem,
                              struct assay_error *why_not)
{
    const char *missing = NULL;
    if ((problem->precision == GEMM_FP64 &&
         !assay_device_has(device, ASSAY_FEATURE_FP64, &missing)) ||
        (problem->precision == GEMM_FP16_ACC16 &&
         !assay_device_has(device, ASSAY_FEATURE_FP16, &missing)))
        return assay_fail(why_not, ASSAY_UNSUPPORTED, "precision %s: %s",
                          gemm_precision_names[problem->precision], missing);
    return true;
}

bool gemm_group_supported(const struct assay_device *device, const char *shape, uint32_t x,
                          uint32_t y, uint32_t shared_bytes, struct assay_error *why_not)
{
    const struct assay_limits *limits = assay_device_limits(device);
    if (x > limits->max_group_size[0] || y > limits->max_group_size[1] ||
        (uint64_t)x * y > limits->max_group_invocations)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "tile %s: its group has %" PRIu32 " x %" PRIu32
                          " invocations, this device takes %" PRIu32 " x %" PRIu32 " and %" PRIu32
                          " in all",
                          shape, x, y, limits->max_group_size[0], limits->max_group_size[1],
                          limits->max_group_invocations);
    if (shared_bytes > limits->max_shared_bytes)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "tile %s: its group shares %" PRIu32 " B, this device has %" PRIu32 " B",
                          shape, shared_bytes, limits->max_shared_bytes);
    return true;
}

void gemm_operand_defines(const struct gemm_problem *problem, struct gemm_defines *defines)
{
    static const char *const operands[] = {
        [GEMM_FP64] = "OPERAND_FP64", [GEMM_FP32] = "OPERAND_FP32",
        [GEMM_FP16] = "OPERAND_FP16", [GEMM_FP16_ACC16] = "OPERAND_FP16_ACC16",
        [GEMM_BF16] = "OPERAND_BF16", [GEMM_INT8] = "OPERAND_INT8",
        [GEMM_FP8] = "OPERAND_FP8",
    };
    defines->count = 0;
    defines->items[defines->count++] = (struct assay_define){operands[problem->precision], "1"};
    if (problem->a.transposed)
        defines->items[defines->count++] = (struct assay_define){"TRANSPOSE_A", "1"};
    if (problem->b.transposed)
        defines->items[defines->count++] = (struct assay_define){"TRANSPOSE_B", "1"};
}

/* Whether rows, and what pieces take of them, are whole vectors. Those of fp8 are converted. */
static bool is_wide(const struct gemm_matrix *matrix, uint64_t step)
{
    const uint64_t bytes = gemm_number_bytes(matrix->number);
    return matrix->columns * bytes % 16 == 0 && step * bytes % 16 == 0 &&
           matrix->number != GEMM_NUMBER_FP8;
}

bool gemm_wide_defines(const struct assay_device *device, const struct gemm_problem *problem,
                       const struct gemm_grain *grain, struct gemm_defines *defines,
                       struct assay_error *error)
{
    const struct gemm_bounds bounds = gemm_bounds_of(assay_device_limits(device));
    struct gemm_plan plan;
    if (!gemm_plan_make(problem, grain, &bounds, &plan, error))
        return false;
    if (is_wide(&problem->a, problem->a.transposed ? plan.rows : plan.depth))
        defines->items[defines->count++] = (struct assay_define){"WIDE_A", "1"};
    if (is_wide(&problem->b, problem->b.transposed ? plan.depth : plan.columns))
        defines->items[defines->count++] = (struct assay_define){"WIDE_B", "1"};
    return true;
}

static uint32_t groups_of(uint64_t size, uint32_t grain)
{
    return (uint32_t)(size / grain + (size % grain != 0));
}

struct simple {
    struct assay_kernel *kernel;
    const struct gemm_grain *grain;
};

static bool record_piece(struct gemm_slot *slot, struct assay_command *command,
                         const struct gemm_piece *piece, void *user, struct assay_error *error)
{
    const struct simple *simple = user;
    const struct gemm_grain *grain = simple->grain;
    const struct gemm_problem *p = &slot->problem;
    const struct assay_limits *limits = assay_device_limits(assay_slot_device(slot->slot));
    struct gemm_span a, b, c;
    gemm_piece_spans(p, piece, limits->storage_alignment_bytes, &a, &b, &c);
    const struct assay_binding bindings[] = {
        {.name = "a", .buffer = slot->a, .offset = a.offset_bytes, .bytes = a.bytes},
        {.name = "b", .buffer = slot->b, .offset = b.offset_bytes, .bytes = b.bytes},
        {.name = "c", .buffer = slot->c, .offset = c.offset_bytes, .bytes = c.bytes},
    };
    /* Strides of a batch that do not fit in 32 bits are not used: it has one matrix then. */
    const bool one = piece->batches == 1;
    const struct assay_push pushes[] = {
        {"m", (double)piece->rows},
        {"n", (double)piece->columns},
        {"k", (double)piece->depth},
        {"a_first", (double)a.first},
        {"b_first", (double)b.first},
        {"c_first", (double)c.first},
        {"a_row", (double)p->a.columns},
        {"b_row", (double)p->b.columns},
        {"c_row", (double)p->c.columns},
        {"a_matrix", one ? 0 : (double)p->a.elements},
        {"b_matrix", one ? 0 : (double)p->b.elements},
        {"c_matrix", one ? 0 : (double)p->c.elements},
        {"accumulate", piece->accumulate ? 1 : 0},
    };
    const struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                            .kernel = simple->kernel,
                                            .bindings = bindings,
                                            .binding_count = sizeof(bindings) / sizeof(bindings[0]),
                                            .pushes = pushes,
                                            .push_count = sizeof(pushes) / sizeof(pushes[0]),
                                            .groups = {groups_of(piece->columns, grain->columns),
                                                       groups_of(piece->rows, grain->rows),
                                                       (uint32_t)piece->batches}};
    return assay_command_dispatch(command, &dispatch, error);
}

void gemm_destroy_kernel(struct gemm_slot *slot)
{
    struct assay_kernel *kernel = slot->own;
    assay_kernel_destroy(&kernel);
    slot->own = NULL;
}

bool gemm_record_pieces(struct gemm_slot *slot, struct assay_command *command,
                        struct assay_kernel *kernel, const struct gemm_grain *grain,
                        struct assay_error *error)
{
    const struct assay_limits *limits = assay_device_limits(assay_slot_device(slot->slot));
    const struct gemm_bounds bounds = gemm_bounds_of(limits);
    struct gemm_plan plan;
    struct simple simple = {.kernel = kernel, .grain = grain};
    const struct gemm_recorder recorder = {
        .grain = grain, .plan = &plan, .piece = record_piece, .user = &simple};
    return gemm_plan_make(&slot->problem, grain, &bounds, &plan, error) &&
           gemm_record_plan(slot, command, &recorder, error);
}
