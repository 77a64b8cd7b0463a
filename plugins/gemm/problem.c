/* SPDX-License-Identifier: MIT */
#include "problem.h"

#include <inttypes.h>

const char *const gemm_precision_names[] = {"fp64", "fp32", "fp16", "fp16_acc16",
                                            "bf16", "int8", "fp8",  NULL};

static const struct {
    enum gemm_number operand, sum;
} numbers[GEMM_PRECISION_COUNT] = {
    [GEMM_FP64] = {GEMM_NUMBER_FP64, GEMM_NUMBER_FP64},
    [GEMM_FP32] = {GEMM_NUMBER_FP32, GEMM_NUMBER_FP32},
    [GEMM_FP16] = {GEMM_NUMBER_FP16, GEMM_NUMBER_FP32},
    [GEMM_FP16_ACC16] = {GEMM_NUMBER_FP16, GEMM_NUMBER_FP16},
    [GEMM_BF16] = {GEMM_NUMBER_BF16, GEMM_NUMBER_FP32},
    [GEMM_INT8] = {GEMM_NUMBER_INT8, GEMM_NUMBER_INT32},
    [GEMM_FP8] = {GEMM_NUMBER_FP8, GEMM_NUMBER_FP32},
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t pieces_of(uint64_t whole, uint64_t piece)
{
    return whole / piece + (whole % piece != 0);
}

/* False when the product does not fit in 63 bits. */
static bool multiply(uint64_t *product, uint64_t factor)
{
    return !__builtin_mul_overflow(*product, factor, product) && *product <= INT64_MAX;
}

static bool make_matrix(struct gemm_matrix *matrix, enum gemm_number number, uint64_t rows,
                        uint64_t columns, bool transposed, uint64_t batch)
{
    *matrix = (struct gemm_matrix){.number = number,
                                   .rows = transposed ? columns : rows,
                                   .columns = transposed ? rows : columns,
                                   .elements = rows,
                                   .transposed = transposed};
    if (!multiply(&matrix->elements, columns))
        return false;
    matrix->bytes = matrix->elements;
    return multiply(&matrix->bytes, batch) && multiply(&matrix->bytes, gemm_number_bytes(number)) &&
           matrix->bytes < INT64_MAX - 15;
}

bool gemm_problem_make(const struct gemm_params *params, struct gemm_problem *problem,
                       struct assay_error *error)
{
    const enum gemm_precision precision = (enum gemm_precision)params->precision;
    *problem = (struct gemm_problem){.m = (uint64_t)(params->m ? params->m : params->size),
                                     .n = (uint64_t)(params->n ? params->n : params->size),
                                     .k = (uint64_t)(params->k ? params->k : params->size),
                                     .batch = (uint64_t)params->batch,
                                     .precision = precision,
                                     .flops = 2};
    struct gemm_problem *p = problem;
    const enum gemm_number operand = numbers[precision].operand, sum = numbers[precision].sum;
    if (make_matrix(&p->a, operand, p->m, p->k, params->transpose_a, p->batch) &&
        make_matrix(&p->b, operand, p->k, p->n, params->transpose_b, p->batch) &&
        make_matrix(&p->c, sum, p->m, p->n, false, p->batch) && multiply(&p->flops, p->m) &&
        multiply(&p->flops, p->n) && multiply(&p->flops, p->k) && multiply(&p->flops, p->batch))
        return true;
    return assay_fail(error, ASSAY_INVALID,
                      "m, n, k, batch: %" PRIu64 " x %" PRIu64 " x %" PRIu64 ", %" PRIu64
                      " times, have more bytes or operations than 63 bits can count; give less",
                      p->m, p->n, p->k, p->batch);
}

struct gemm_bounds gemm_bounds_of(const struct assay_limits *limits)
{
    return (struct gemm_bounds){
        .range_bytes = limits->max_storage_range_bytes,
        .alignment_bytes = limits->storage_alignment_bytes,
        .groups = {limits->max_groups[0], limits->max_groups[1], limits->max_groups[2]},
        .k_most = GEMM_K_MOST};
}

struct gemm_span gemm_matrix_span(const struct gemm_matrix *matrix, uint64_t batch,
                                  uint64_t batches, uint64_t row, uint64_t rows, uint64_t column,
                                  uint64_t columns, uint64_t alignment_bytes)
{
    const uint64_t element = gemm_number_bytes(matrix->number);
    /* Elements are addressed within words. */
    const uint64_t unit = alignment_bytes > 4 ? alignment_bytes : 4;
    const uint64_t first = batch * matrix->elements + row * matrix->columns + column;
    const uint64_t count = (batches - 1) * matrix->elements + (rows - 1) * matrix->columns +
                           columns;
    const uint64_t offset = first * element / unit * unit;
    const uint64_t end = (first + count) * element;
    return (struct gemm_span){.offset_bytes = offset,
                              .bytes = pieces_of(end - offset, 4) * 4,
                              .first = (first * element - offset) / element};
}

void gemm_piece_spans(const struct gemm_problem *problem, const struct gemm_piece *piece,
                      uint64_t alignment_bytes, struct gemm_span *a, struct gemm_span *b,
                      struct gemm_span *c)
{
    const struct gemm_piece *p = piece;
    const uint64_t z = p->batch, count = p->batches;
    *a = problem->a.transposed ? gemm_matrix_span(&problem->a, z, count, p->k, p->depth, p->row,
                                                  p->rows, alignment_bytes)
                               : gemm_matrix_span(&problem->a, z, count, p->row, p->rows, p->k,
                                                  p->depth, alignment_bytes);
    *b = problem->b.transposed ? gemm_matrix_span(&problem->b, z, count, p->column, p->columns,
                                                  p->k, p->depth, alignment_bytes)
                               : gemm_matrix_span(&problem->b, z, count, p->k, p->depth, p->column,
                                                  p->columns, alignment_bytes);
    *c = gemm_matrix_span(&problem->c, z, count, p->row, p->rows, p->column, p->columns,
                          alignment_bytes);
}

/* At most `most` of `size`, in whole grains where it can be. */
static uint64_t in_grains(uint64_t size, uint64_t most, uint64_t grain)
{
    if (size <= most)
        return size;
    return most < grain ? most : most / grain * grain;
}

/* Makes the piece's part of one stored matrix fit in the range: fewer rows, then fewer columns. */
static void fit(const struct gemm_matrix *matrix, const struct gemm_bounds *bounds, uint64_t *rows,
                uint64_t row_grain, uint64_t *columns, uint64_t column_grain)
{
    const uint64_t slack = bounds->alignment_bytes + 4;
    const uint64_t range = bounds->range_bytes > slack ? bounds->range_bytes - slack : 1;
    const uint64_t most = range / gemm_number_bytes(matrix->number); /* elements */
    if (*columns > most) {
        *rows = 1;
        *columns = in_grains(*columns, most ? most : 1, column_grain);
    } else {
        *rows = in_grains(*rows, (most - *columns) / matrix->columns + 1, row_grain);
    }
}

static void fit_operands(const struct gemm_problem *problem, const struct gemm_grain *grain,
                         const struct gemm_bounds *bounds, struct gemm_plan *plan)
{
    const uint64_t k_grain = grain->k ? grain->k : 1;
    if (problem->a.transposed)
        fit(&problem->a, bounds, &plan->depth, k_grain, &plan->rows, grain->rows);
    else
        fit(&problem->a, bounds, &plan->rows, grain->rows, &plan->depth, k_grain);
    if (problem->b.transposed)
        fit(&problem->b, bounds, &plan->columns, grain->columns, &plan->depth, k_grain);
    else
        fit(&problem->b, bounds, &plan->depth, k_grain, &plan->columns, grain->columns);
    fit(&problem->c, bounds, &plan->rows, grain->rows, &plan->columns, grain->columns);
}

/* How many matrices of the batch one dispatch takes: those that its ranges and groups hold. */
static uint64_t batches_of(const struct gemm_problem *problem, const struct gemm_bounds *bounds)
{
    const struct gemm_matrix *matrices[] = {&problem->a, &problem->b, &problem->c};
    const uint64_t slack = bounds->alignment_bytes + 4;
    const uint64_t range = bounds->range_bytes > slack ? bounds->range_bytes - slack : 1;
    uint64_t most = problem->batch;
    if (bounds->groups[2])
        most = least(most, bounds->groups[2]);
    for (size_t i = 0; i < 3; i++)
        most = least(most, range / gemm_number_bytes(matrices[i]->number) / matrices[i]->elements);
    return most ? most : 1;
}

/* False when there are too many. */
static bool count_pieces(const struct gemm_problem *problem, struct gemm_plan *plan)
{
    plan->batch_count = pieces_of(problem->batch, plan->batches);
    plan->row_count = pieces_of(problem->m, plan->rows);
    plan->column_count = pieces_of(problem->n, plan->columns);
    plan->depth_count = pieces_of(problem->k, plan->depth);
    plan->count = 1;
    return multiply(&plan->count, plan->batch_count) && multiply(&plan->count, plan->row_count) &&
           multiply(&plan->count, plan->column_count) &&
           multiply(&plan->count, plan->depth_count) && plan->count <= GEMM_PIECES_MAX;
}

bool gemm_plan_make(const struct gemm_problem *problem, const struct gemm_grain *grain,
                    const struct gemm_bounds *bounds, struct gemm_plan *plan,
                    struct assay_error *why_not)
{
    const uint64_t k_grain = grain->k ? grain->k : 1;
    *plan = (struct gemm_plan){.rows = problem->m, .columns = problem->n, .depth = problem->k};
    if (bounds->groups[0])
        plan->columns = least(plan->columns, (uint64_t)bounds->groups[0] * grain->columns);
    if (bounds->groups[1])
        plan->rows = least(plan->rows, (uint64_t)bounds->groups[1] * grain->rows);
    if (bounds->k_most)
        plan->depth = in_grains(plan->depth, bounds->k_most, k_grain);
    if (grain->k_most)
        plan->depth = in_grains(plan->depth, grain->k_most, k_grain);
    fit_operands(problem, grain, bounds, plan);
    plan->batches = batches_of(problem, bounds);
    if (count_pieces(problem, plan))
        return true;
    return assay_fail(why_not, ASSAY_UNSUPPORTED,
                      "m, n, k, batch: within a storage range of %" PRIu64 " B and %" PRIu32
                      " x %" PRIu32 " x %" PRIu32
                      " groups of this device the work is cut into more than %u dispatches",
                      bounds->range_bytes, bounds->groups[0], bounds->groups[1], bounds->groups[2],
                      GEMM_PIECES_MAX);
}

/* The most of `size` that `most` has room for in whole grains, one at least. */
static uint64_t grains_within(uint64_t size, uint64_t most, uint64_t grain)
{
    return least(size, most < grain ? grain : most / grain * grain);
}

bool gemm_plan_divide(const struct gemm_problem *problem, const struct gemm_grain *grain,
                      uint64_t most, struct gemm_plan *plan, struct assay_error *why_not)
{
    /* Each fits in 63 bits, being a part of the problem. */
    const uint64_t of_column = plan->rows * plan->depth, of_matrix = of_column * plan->columns;
    plan->batches = grains_within(plan->batches, most / of_matrix, 1);
    /* Columns first: what a kernel packs of A serves all of a row of pieces. */
    plan->columns = grains_within(plan->columns, most / of_column, grain->columns);
    plan->rows = grains_within(plan->rows, most / (plan->columns * plan->depth), grain->rows);
    if (count_pieces(problem, plan))
        return true;
    return assay_fail(why_not, ASSAY_UNSUPPORTED,
                      "m, n, k, batch: in submissions that end within the limit of a wait the work "
                      "is cut into more than %u dispatches",
                      GEMM_PIECES_MAX);
}

void gemm_plan_piece(const struct gemm_problem *problem, const struct gemm_plan *plan,
                     uint64_t index, struct gemm_piece *piece)
{
    const uint64_t column = index % plan->column_count * plan->columns;
    index /= plan->column_count;
    const uint64_t row = index % plan->row_count * plan->rows;
    index /= plan->row_count;
    const uint64_t batch = index % plan->batch_count * plan->batches;
    const uint64_t k = index / plan->batch_count * plan->depth;
    *piece = (struct gemm_piece){.batch = batch,
                                 .batches = least(plan->batches, problem->batch - batch),
                                 .row = row,
                                 .rows = least(plan->rows, problem->m - row),
                                 .column = column,
                                 .columns = least(plan->columns, problem->n - column),
                                 .k = k,
                                 .depth = least(plan->depth, problem->k - k),
                                 .accumulate = k > 0};
}
