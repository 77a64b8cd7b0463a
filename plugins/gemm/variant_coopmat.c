/* SPDX-License-Identifier: MIT */
/* Cooperative matrices, in a shape that the device has for the precision's numbers: its groups
 * share a tile of operands, and each of its subgroups makes a block of matrices of C. */
#include "variant.h"

#include <stdlib.h>

#define BLOCK_MOST 4u    /* matrices of a subgroup in a direction; more do not fit in registers */
#define STEP_BYTES 64u   /* of a row along k that is shared at a time, where the shape allows */
#define VECTOR_BYTES 16u /* read at a time; a row of a tile ends with as many that are not used */
static const char *const shapes[] = {"128x128", "64x64", "32x32", "16x16", "128x64", NULL};

/* How a group works on its tile. */
struct layout {
    const struct assay_matrix_shape *shape;
    struct gemm_grain grain; /* k: a step */
    uint32_t grid_rows, grid_columns, block_rows, block_columns;
    uint32_t lanes, shared_bytes;
    bool narrow; /* matrices have rows of 8 bytes in a tile */
    bool rolled; /* loops stay loops: compilers of CPU drivers take minutes, if they end, for what
                    matrices are unrolled to */
};

struct coopmat {
    struct layout layout;
    struct assay_kernel *kernel;
};

/* Types of what is multiplied and of sums; false: matrices never have them. */
static bool types_of(const struct gemm_problem *problem, enum assay_element *operand,
                     enum assay_element *sum)
{
    switch (problem->precision) {
    case GEMM_FP64:
        *operand = *sum = ASSAY_ELEMENT_DOUBLE;
        return true;
    case GEMM_FP32:
        *operand = *sum = ASSAY_ELEMENT_FLOAT;
        return true;
    case GEMM_FP16_ACC16:
        *operand = *sum = ASSAY_ELEMENT_HALF;
        return true;
    case GEMM_FP16:
    case GEMM_FP8: /* fp16 holds them all */
        *operand = ASSAY_ELEMENT_HALF;
        *sum = ASSAY_ELEMENT_FLOAT;
        return true;
    case GEMM_INT8:
        *operand = ASSAY_ELEMENT_INT8;
        *sum = ASSAY_ELEMENT_INT32;
        return true;
    default:
        return false;
    }
}

/* The largest shape that divides the tile; NULL: none. */
static const struct assay_matrix_shape *find_shape(const struct assay_device *device,
                                                   enum assay_element operand,
                                                   enum assay_element sum, uint32_t rows,
                                                   uint32_t columns)
{
    const struct assay_matrix_shape *best = NULL, *at;
    for (size_t i = 0; (at = assay_device_matrix_shape(device, i)) != NULL; i++)
        if (at->a == operand && at->b == operand && at->c == sum && at->r == sum &&
            !at->saturating && rows % at->m == 0 && columns % at->n == 0 &&
            (!best || (uint64_t)at->m * at->n * at->k > (uint64_t)best->m * best->n * best->k))
            best = at;
    return best;
}

static uint32_t block_of(uint32_t matrices)
{
    uint32_t block = BLOCK_MOST;
    while (matrices % block != 0)
        block--;
    return block;
}

/* Bytes of shared memory that a tile takes. */
static uint32_t tile_bytes(uint32_t outer, uint32_t inner, uint32_t bytes)
{
    return outer * (inner * bytes + VECTOR_BYTES);
}

static bool make_layout(const struct assay_device *device, const struct gemm_problem *problem,
                        const char *name, struct layout *layout, struct assay_error *why_not)
{
    enum assay_element operand, sum;
    uint32_t rows = 1, columns = 1;
    gemm_shape_parse(name, &rows, &columns);
    if (!types_of(problem, &operand, &sum))
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "precision %s: this build knows no cooperative matrices of it",
                          gemm_precision_names[problem->precision]);
    const struct assay_matrix_shape *shape = find_shape(device, operand, sum, rows, columns);
    if (!shape)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "precision %s: this device has no cooperative matrices of it whose shape "
                          "divides a tile of %s",
                          gemm_precision_names[problem->precision], name);
    const uint32_t bytes = (uint32_t)assay_element_bytes(operand);
    const uint32_t steps = (STEP_BYTES / bytes + shape->k - 1) / shape->k;
    *layout = (struct layout){.shape = shape,
                              .grain = {.rows = rows, .columns = columns, .k = steps * shape->k},
                              .block_rows = block_of(rows / shape->m),
                              .block_columns = block_of(columns / shape->n)};
    const uint32_t a_row = (problem->a.transposed ? shape->m : shape->k) * bytes;
    const uint32_t b_row = (problem->b.transposed ? shape->k : shape->n) * bytes;
    if (a_row % 8 != 0 || b_row % 8 != 0)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "precision %s: matrices of this device have rows of under 8 B",
                          gemm_precision_names[problem->precision]);
    layout->narrow = a_row % VECTOR_BYTES != 0 || b_row % VECTOR_BYTES != 0;
    layout->grid_rows = rows / shape->m / layout->block_rows;
    layout->grid_columns = columns / shape->n / layout->block_columns;
    const uint32_t subgroups = layout->grid_rows * layout->grid_columns, k = layout->grain.k;
    const uint32_t subgroup = assay_device_limits(device)->subgroup_size;
    layout->lanes = subgroups * subgroup;
    layout->rolled = assay_device_limits(device)->on_cpu;
    layout->grain.k_most = layout->rolled ? GEMM_K_NESTED : 0;
    layout->shared_bytes =
        (problem->a.transposed ? tile_bytes(k, rows, bytes) : tile_bytes(rows, k, bytes)) +
        (problem->b.transposed ? tile_bytes(columns, k, bytes) : tile_bytes(k, columns, bytes)) +
        subgroups * shape->m * shape->n * (uint32_t)assay_element_bytes(sum);
    return gemm_group_supported(device, name, layout->lanes, 1, layout->shared_bytes, why_not);
}

static bool has_features(const struct assay_device *device, const struct gemm_problem *problem,
                         struct assay_error *why_not)
{
    const char *missing = NULL;
    if (!assay_device_has(device, ASSAY_FEATURE_COOPERATIVE_MATRIX, &missing))
        return assay_fail(why_not, ASSAY_UNSUPPORTED, "variant coopmat: %s", missing);
    const bool half = problem->precision == GEMM_FP16 || problem->precision == GEMM_FP8;
    if ((half && !assay_device_has(device, ASSAY_FEATURE_FP16, &missing)) ||
        (problem->precision == GEMM_INT8 &&
         !assay_device_has(device, ASSAY_FEATURE_INT8, &missing)))
        return assay_fail(why_not, ASSAY_UNSUPPORTED, "variant coopmat, precision %s: %s",
                          gemm_precision_names[problem->precision], missing);
    return true;
}

static bool coopmat_supported(const struct assay_device *device, const struct gemm_problem *problem,
                              const char *shape, struct assay_error *why_not)
{
    const struct gemm_bounds bounds = gemm_bounds_of(assay_device_limits(device));
    struct layout layout;
    struct gemm_plan plan;
    return has_features(device, problem, why_not) &&
           make_layout(device, problem, shape, &layout, why_not) &&
           gemm_plan_make(problem, &layout.grain, &bounds, &plan, why_not);
}

static bool make_kernel(struct gemm_slot *slot, struct coopmat *self, struct assay_error *error)
{
    const struct assay_device *device = assay_slot_device(slot->slot);
    const struct layout *l = &self->layout;
    struct gemm_defines defines;
    gemm_operand_defines(&slot->problem, &defines);
    if (!gemm_wide_defines(device, &slot->problem, &l->grain, &defines, error))
        return false;
    defines.items[defines.count++] = (struct assay_define){"TILE_WORD",
                                                           l->narrow ? "uvec2" : "uvec4"};
    if (l->rolled)
        defines.items[defines.count++] = (struct assay_define){"ROLLED", "1"};
    const struct assay_constant constants[] = {
        {"LANES", l->lanes},
        {"M", l->shape->m},
        {"N", l->shape->n},
        {"K", l->shape->k},
        {"GRID_ROWS", l->grid_rows},
        {"GRID_COLUMNS", l->grid_columns},
        {"BLOCK_ROWS", l->block_rows},
        {"BLOCK_COLUMNS", l->block_columns},
        {"DEPTH", l->grain.k},
    };
    const struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                               .source = "gemm_coopmat.comp",
                                               .constants = constants,
                                               .constant_count = sizeof(constants) /
                                                                 sizeof(constants[0]),
                                               .defines = defines.items,
                                               .define_count = defines.count};
    self->kernel = assay_kernel_create(slot->slot, &kernel, error);
    return self->kernel;
}

static bool coopmat_create(struct gemm_slot *slot, struct assay_error *error)
{
    struct coopmat *self = calloc(1, sizeof(*self));
    if (!self)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
    slot->own = self;
    return make_layout(assay_slot_device(slot->slot), &slot->problem, slot->shape, &self->layout,
                       error) &&
           make_kernel(slot, self, error);
}

static bool coopmat_record(struct gemm_slot *slot, struct assay_command *command,
                           struct assay_error *error)
{
    const struct coopmat *self = slot->own;
    return gemm_record_pieces(slot, command, self->kernel, &self->layout.grain, error);
}

static void coopmat_destroy(struct gemm_slot *slot)
{
    struct coopmat *self = slot->own;
    if (self)
        assay_kernel_destroy(&self->kernel);
    free(self);
    slot->own = NULL;
}

const struct gemm_variant gemm_coopmat = {.name = "coopmat",
                                          .shapes = shapes,
                                          .supported = coopmat_supported,
                                          .flop_kind = gemm_no_kind,
                                          .create = coopmat_create,
                                          .record = coopmat_record,
                                          .destroy = coopmat_destroy};
