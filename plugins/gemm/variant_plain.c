/* SPDX-License-Identifier: MIT */
/* One invocation, one element of C: the variant that runs everywhere. */
#include "variant.h"

static const char *const shapes[] = {"8x8", "1x64", "16x16", NULL};

static bool plain_supported(const struct assay_device *device, const struct gemm_problem *problem,
                            const char *shape, struct assay_error *why_not)
{
    const struct gemm_bounds bounds = gemm_bounds_of(assay_device_limits(device));
    struct gemm_grain grain = {.rows = 1, .columns = 1};
    struct gemm_plan plan;
    gemm_shape_parse(shape, &grain.rows, &grain.columns);
    return gemm_group_supported(device, shape, grain.columns, grain.rows, 0, why_not) &&
           gemm_plan_make(problem, &grain, &bounds, &plan, why_not);
}

static bool plain_create(struct gemm_slot *slot, struct assay_error *error)
{
    uint32_t rows = 1, columns = 1;
    struct gemm_defines defines;
    gemm_shape_parse(slot->shape, &rows, &columns);
    gemm_operand_defines(&slot->problem, &defines);
    const struct assay_constant constants[] = {{"COLUMNS", columns}, {"ROWS", rows}};
    const struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                               .source = "gemm_plain.comp",
                                               .constants = constants,
                                               .constant_count = 2,
                                               .defines = defines.items,
                                               .define_count = defines.count};
    slot->own = assay_kernel_create(slot->slot, &kernel, error);
    return slot->own;
}

static bool plain_record(struct gemm_slot *slot, struct assay_command *command,
                         struct assay_error *error)
{
    struct gemm_grain grain = {.rows = 1, .columns = 1};
    gemm_shape_parse(slot->shape, &grain.rows, &grain.columns);
    return gemm_record_pieces(slot, command, slot->own, &grain, error);
}

const struct gemm_variant gemm_plain = {.name = "plain",
                                        .shapes = shapes,
                                        .supported = plain_supported,
                                        .create = plain_create,
                                        .record = plain_record,
                                        .destroy = gemm_destroy_kernel};
