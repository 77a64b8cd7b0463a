/* SPDX-License-Identifier: MIT */
/* Whole rows of C, element by element, against sums in double precision. */
#include "verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The work goes through blocks that stay in a cache. */
enum { ROWS = 16, COLUMNS = 512, DEPTH = 1024 };

struct block {
    uint64_t row[ROWS];
    size_t rows, columns, depth;
    uint64_t column, k;
    bool squares; /* magnitude: of the squares of the products */
    double a[ROWS][DEPTH];
    double b[DEPTH > COLUMNS ? DEPTH : COLUMNS];
    double sum[ROWS][COLUMNS], magnitude[ROWS][COLUMNS]; /* of A B and of |A| |B| */
    double got[COLUMNS];
};

static size_t part(uint64_t size, uint64_t first, size_t most)
{
    return size - first < most ? (size_t)(size - first) : most;
}

static void add_sizes(struct block *block, size_t row, double a)
{
    double *sum = block->sum[row], *magnitude = block->magnitude[row];
    const double size = fabs(a);
    for (size_t j = 0; j < block->columns; j++) {
        sum[j] += a * block->b[j];
        magnitude[j] += size * fabs(block->b[j]);
    }
}

static void add_squares(struct block *block, size_t row, double a)
{
    double *sum = block->sum[row], *magnitude = block->magnitude[row];
    for (size_t j = 0; j < block->columns; j++) {
        const double product = a * block->b[j];
        sum[j] += product;
        magnitude[j] += product * product;
    }
}

static inline double magnitude_of(const struct block *block, double product)
{
    return block->squares ? product * product : fabs(product);
}

static void add_row_of_b(struct block *block, size_t k)
{
    for (size_t row = 0; row < block->rows; row++) {
        const double a = block->a[row][k];
        if (block->squares)
            add_squares(block, row, a);
        else
            add_sizes(block, row, a);
    }
}

static void add_column_of_b(struct block *block, size_t column)
{
    for (size_t row = 0; row < block->rows; row++) {
        enum { LANES = 4 };
        double sums[LANES] = {0}, magnitudes[LANES] = {0};
        const double *a = block->a[row];
        size_t i = 0;
        for (; i + LANES <= block->depth; i += LANES)
            for (size_t lane = 0; lane < LANES; lane++) {
                const double product = a[i + lane] * block->b[i + lane];
                sums[lane] += product;
                magnitudes[lane] += magnitude_of(block, product);
            }
        for (; i < block->depth; i++) {
            sums[0] += a[i] * block->b[i];
            magnitudes[0] += magnitude_of(block, a[i] * block->b[i]);
        }
        block->sum[row][column] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        block->magnitude[row][column] += (magnitudes[0] + magnitudes[1]) +
                                         (magnitudes[2] + magnitudes[3]);
    }
}

static void add_depth(const struct gemm_view *view, struct block *block)
{
    const bool flush = view->check->flush;
    for (size_t row = 0; row < block->rows; row++)
        gemm_view_a(view, block->row[row], block->k, block->depth, block->a[row]);
    if (view->b.transposed) {
        for (size_t j = 0; j < block->columns; j++) {
            gemm_numbers_read(view->b.number, view->b_data,
                              (block->column + j) * view->k + block->k, block->depth, flush,
                              block->b);
            add_column_of_b(block, j);
        }
        return;
    }
    for (size_t k = 0; k < block->depth; k++) {
        gemm_numbers_read(view->b.number, view->b_data, (block->k + k) * view->n + block->column,
                          block->columns, flush, block->b);
        add_row_of_b(block, k);
    }
}

/* Error over bound; infinite where the reference has another NaN or infinity. */
static double error_of(double got, double wanted, double bound)
{
    if (isnan(wanted))
        return isnan(got) ? 0 : (double)INFINITY;
    if (isinf(wanted) || !isfinite(got))
        return got == wanted ? 0 : (double)INFINITY;
    const double error = fabs(got - wanted);
    return error == 0 ? 0 : error / bound;
}

static double wrapped(double sum)
{
    return (double)(int32_t)(uint32_t)(int64_t)sum;
}

static void report(const struct gemm_view *view, const struct block *block, size_t row, size_t j,
                   double wanted, double bound, struct gemm_finding *finding)
{
    uint64_t at[2] = {block->row[row], block->column + j};
    snprintf(finding->text, sizeof(finding->text),
             "C[%" PRIu64 "][%" PRIu64 "] of matrix %" PRIu64
             " is %.9g, wanted %.9g, at most %.3g apart",
             at[view->c_transposed], at[!view->c_transposed], view->matrix, block->got[j], wanted,
             bound);
    finding->wrong = true;
}

static void compare_row(const struct gemm_view *view, struct block *block, size_t row,
                        struct gemm_finding *finding)
{
    const enum gemm_number number = view->check->problem->c.number;
    const double gamma = block->squares ? gemm_gamma_fp16(view->k) : gemm_gamma(number, view->k);
    /* Products and sums under the least normal number may be flushed. */
    const double flushed = (2 * (double)view->k + 1) * gemm_number_least_normal(number);
    gemm_view_c(view, block->row[row], block->column, block->columns, block->got);
    for (size_t j = 0; j < block->columns; j++) {
        double wanted = block->sum[row][j];
        if (number == GEMM_NUMBER_INT32)
            wanted = wrapped(wanted);
        const double magnitude = block->magnitude[row][j];
        const double bound = gamma * (block->squares ? sqrt(magnitude) : magnitude) + flushed;
        const double error = error_of(block->got[j], wanted, bound);
        if (error > finding->error_over_bound)
            finding->error_over_bound = error;
        if (error > 1 && !finding->wrong)
            report(view, block, row, j, wanted, bound, finding);
    }
}

static void check_block(const struct gemm_view *view, struct block *block, uint64_t first,
                        uint64_t end, struct gemm_finding *finding)
{
    for (uint64_t next = first; next < end; next += block->columns) {
        block->column = next;
        block->columns = part(end, next, COLUMNS);
        memset(block->sum, 0, sizeof(block->sum));
        memset(block->magnitude, 0, sizeof(block->magnitude));
        for (block->k = 0; block->k < view->k; block->k += block->depth) {
            block->depth = part(view->k, block->k, DEPTH);
            add_depth(view, block);
        }
        for (size_t row = 0; row < block->rows; row++)
            compare_row(view, block, row, finding);
    }
}

static struct block *make_block(const struct gemm_view *view, struct assay_error *error)
{
    struct block *block = malloc(sizeof(*block));
    if (block)
        block->squares = view->check->problem->c.number == GEMM_NUMBER_FP16;
    else
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
    return block;
}

bool gemm_check_rows(const struct gemm_view *view, const uint64_t *rows, uint64_t count,
                     struct gemm_finding *finding, struct assay_error *error)
{
    struct block *block = make_block(view, error);
    if (!block)
        return false;
    for (uint64_t first = 0; first < count; first += block->rows) {
        block->rows = part(count, first, ROWS);
        for (size_t row = 0; row < block->rows; row++)
            block->row[row] = rows ? rows[first + row] : first + row;
        check_block(view, block, 0, view->n, finding);
    }
    free(block);
    return true;
}

bool gemm_check_part(const struct gemm_view *view, uint64_t row, uint64_t first, uint64_t end,
                     struct gemm_finding *finding, struct assay_error *error)
{
    struct block *block = make_block(view, error);
    if (!block)
        return false;
    block->rows = 1;
    block->row[0] = row;
    check_block(view, block, first, end, finding);
    free(block);
    return true;
}
