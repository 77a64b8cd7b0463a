/* SPDX-License-Identifier: MIT */
/* Integer dot products: int8, four products by one instruction. */
#include "variant.h"

static const char *const shapes[] = {"64x64", "32x32", "16x16", "128x128", NULL};

#define DEPTH 32u     /* elements along k that a group shares at a time */
#define PAD_BYTES 4u  /* of each row of a tile */
#define WIDE_BLOCK 8u /* of an invocation, rows and columns, where tiles are large */
#define BLOCK 4u

struct layout {
    struct gemm_grain grain;
    uint32_t block, lanes;
};

static bool make_layout(const struct assay_device *device, const char *shape, struct layout *layout,
                        struct assay_error *why_not)
{
    uint32_t rows = 1, columns = 1;
    gemm_shape_parse(shape, &rows, &columns);
    const bool nested = assay_device_limits(device)->on_cpu;
    *layout = (struct layout){.grain = {.rows = rows,
                                        .columns = columns,
                                        .k = DEPTH,
                                        .k_most = nested ? GEMM_K_NESTED : 0},
                              .block = rows >= 128 ? WIDE_BLOCK : BLOCK};
    layout->lanes = rows / layout->block * (columns / layout->block);
    return gemm_group_supported(device, shape, layout->lanes, 1,
                                (rows + columns) * (DEPTH + PAD_BYTES), why_not);
}

static bool dot_supported(const struct assay_device *device, const struct gemm_problem *problem,
                          const char *shape, struct assay_error *why_not)
{
    const struct gemm_bounds bounds = gemm_bounds_of(assay_device_limits(device));
    const char *missing = NULL;
    struct layout layout;
    struct gemm_plan plan;
    if (problem->precision != GEMM_INT8)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "variant dot: dot products are of int8, not of %s",
                          gemm_precision_names[problem->precision]);
    if (!assay_device_has(device, ASSAY_FEATURE_INTEGER_DOT, &missing))
        return assay_fail(why_not, ASSAY_UNSUPPORTED, "variant dot: %s", missing);
    return make_layout(device, shape, &layout, why_not) &&
           gemm_plan_make(problem, &layout.grain, &bounds, &plan, why_not);
}

static bool dot_create(struct gemm_slot *slot, struct assay_error *error)
{
    const struct assay_device *device = assay_slot_device(slot->slot);
    struct gemm_defines defines;
    struct layout layout;
    gemm_operand_defines(&slot->problem, &defines);
    if (!make_layout(device, slot->shape, &layout, error) ||
        !gemm_wide_defines(device, &slot->problem, &layout.grain, &defines, error))
        return false;
    const struct assay_constant constants[] = {{"LANES", layout.lanes},
                                               {"ROWS", layout.grain.rows},
                                               {"COLUMNS", layout.grain.columns},
                                               {"BLOCK", layout.block}};
    const struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                               .source = "gemm_dot.comp",
                                               .constants = constants,
                                               .constant_count = sizeof(constants) /
                                                                 sizeof(constants[0]),
                                               .defines = defines.items,
                                               .define_count = defines.count};
    slot->own = assay_kernel_create(slot->slot, &kernel, error);
    return slot->own;
}

static bool dot_record(struct gemm_slot *slot, struct assay_command *command,
                       struct assay_error *error)
{
    struct layout layout;
    return make_layout(assay_slot_device(slot->slot), slot->shape, &layout, error) &&
           gemm_record_pieces(slot, command, slot->own, &layout.grain, error);
}

const struct gemm_variant gemm_dot = {.name = "dot",
                                      .shapes = shapes,
                                      .supported = dot_supported,
                                      .flop_kind = gemm_no_kind,
                                      .create = dot_create,
                                      .record = dot_record,
                                      .destroy = gemm_destroy_kernel};
