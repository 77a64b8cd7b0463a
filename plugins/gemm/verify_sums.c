/* SPDX-License-Identifier: MIT */
/* Large products: C x against A (B x) for random signs x, block of columns by block, the elements
 * of the blocks that are farthest off, and some whole rows. One pass over each matrix. */
#include "verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PART = 1024,        /* elements that are read at once */
    WIDTH = 256,        /* columns of a block */
    BLOCKS = 16,        /* at most, so */
    WIDTH_COARSE = 128, /* the same for sums in fp16, whose errors are near the elements' size */
    BLOCKS_COARSE = 64,
    ROWS_SAMPLED = 2,  /* whole rows, at random */
    PARTS_SUSPECT = 8, /* blocks of rows that are looked into */
};
/* Of a sum of independent errors, over their spread: once in 10^10 (Hoeffding). */
#define SPREADS 7

/* A block of a row, and how far its sum is off, over the norms of what it is made of. */
struct suspect {
    uint64_t row, block;
    double off;
};

/* The squares of numbers, added up; apart those that fp64 would lose or overflow with. */
struct squares {
    double small, middle, large; /* small: times 2^1200; large: times 2^-1200 */
};

struct sums {
    const struct gemm_view *view;
    uint64_t width, blocks;
    double *x;                                   /* n signs; 0 where B's column is not finite */
    double *y;                                   /* blocks rows of k: B x */
    double *v;                                   /* blocks rows of m: A (B x) */
    struct squares *block_squares, *row_squares; /* of all elements of a block of B, a row of A */
    double *block_norms, *row_norms; /* their roots; NaN or infinite where one cannot be told */
    uint64_t *rows;                  /* to check whole; m + ROWS_SAMPLED */
    uint64_t *columns;
    uint64_t row_count, column_count;
    struct suspect suspects[PARTS_SUSPECT]; /* the farthest first */
    double part[PART];
};

static size_t part_of(uint64_t size, uint64_t first)
{
    return size - first < PART ? (size_t)(size - first) : PART;
}

/* Sums in several lanes, of which a compiler makes vectors. */
enum { LANES = 8 };

static double product_of(const double *a, const double *b, size_t count)
{
    double lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += a[i + lane] * b[i + lane];
    for (size_t lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    for (; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add_squares(struct squares *squares, const double *values, size_t count)
{
    const double sum = product_of(values, values, count);
    if (sum > 0x1p-900 && sum < 0x1p900) {
        squares->middle += sum;
        return;
    }
    const bool large = sum >= 0x1p900;
    const double factor = large ? 0x1p-600 : 0x1p600;
    double scaled = 0;
    for (size_t i = 0; i < count; i++)
        scaled += values[i] * factor * (values[i] * factor);
    *(large ? &squares->large : &squares->small) += scaled;
}

static void take_roots(const struct squares *squares, uint64_t count, double *norms)
{
    for (uint64_t i = 0; i < count; i++)
        norms[i] = hypot(hypot(sqrt(squares[i].small) * 0x1p-600, sqrt(squares[i].middle)),
                         sqrt(squares[i].large) * 0x1p600);
}

static void add_scaled(double *sum, const double *from, double factor, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] += factor * from[i];
}

static uint64_t block_end(const struct sums *s, uint64_t block)
{
    const uint64_t end = (block + 1) * s->width;
    return end < s->view->n ? end : s->view->n;
}

static void read_b(struct sums *s, uint64_t first, size_t count)
{
    gemm_numbers_read(s->view->b.number, s->view->b_data, first, count, s->view->check->flush,
                      s->part);
}

/* A NaN or an infinity in B spoils its column: it is left out of the sums and checked whole. */
static bool find_columns(struct sums *s)
{
    const struct gemm_view *view = s->view;
    const uint64_t count = view->b.elements;
    for (uint64_t at = 0; at < count; at += PART) {
        const size_t size = part_of(count, at);
        read_b(s, at, size);
        for (size_t i = 0; i < size; i++)
            if (!isfinite(s->part[i]))
                s->x[view->b.transposed ? (at + i) / view->k : (at + i) % view->n] = 0;
    }
    for (uint64_t j = 0; j < view->n; j++)
        s->column_count += s->x[j] == 0;
    s->columns = calloc(s->column_count + 1, sizeof(*s->columns));
    for (uint64_t j = 0, i = 0; s->columns && j < view->n; j++)
        if (s->x[j] == 0)
            s->columns[i++] = j;
    return s->columns;
}

static void clear_columns(struct sums *s, uint64_t column, size_t count)
{
    for (size_t i = 0; s->column_count && i < count; i++)
        if (s->x[column + i] == 0)
            s->part[i] = 0;
}

/* Row k of B, as it is stored. */
static void take_row_of_b(struct sums *s, uint64_t k)
{
    for (uint64_t block = 0; block < s->blocks; block++) {
        const uint64_t end = block_end(s, block);
        double sum = 0;
        size_t count;
        for (uint64_t column = block * s->width; column < end; column += count) {
            count = part_of(end, column);
            read_b(s, k * s->view->n + column, count);
            clear_columns(s, column, count);
            sum += product_of(s->part, s->x + column, count);
            add_squares(&s->block_squares[block], s->part, count);
        }
        s->y[block * s->view->k + k] = sum;
    }
}

/* Column of B, which is a row as it is stored. */
static void take_column_of_b(struct sums *s, uint64_t column)
{
    const uint64_t k = s->view->k, block = column / s->width;
    size_t count;
    for (uint64_t at = 0; s->x[column] != 0 && at < k; at += count) {
        count = part_of(k, at);
        read_b(s, column * k + at, count);
        add_scaled(s->y + block * k + at, s->part, s->x[column], count);
        add_squares(&s->block_squares[block], s->part, count);
    }
}

static void take_b(struct sums *s)
{
    const struct gemm_view *view = s->view;
    if (view->b.transposed)
        for (uint64_t column = 0; column < view->n; column++)
            take_column_of_b(s, column);
    else
        for (uint64_t k = 0; k < view->k; k++)
            take_row_of_b(s, k);
    take_roots(s->block_squares, s->blocks, s->block_norms);
}

static void take_row_of_a(struct sums *s, uint64_t row)
{
    const uint64_t k = s->view->k;
    size_t count;
    for (uint64_t at = 0; at < k; at += count) {
        count = part_of(k, at);
        gemm_view_a(s->view, row, at, count, s->part);
        add_squares(&s->row_squares[row], s->part, count);
        for (uint64_t block = 0; block < s->blocks; block++)
            s->v[block * s->view->m + row] += product_of(s->part, s->y + block * k + at, count);
    }
}

/* Column k of A, which is a row as it is stored. */
static void take_column_of_a(struct sums *s, uint64_t k)
{
    const uint64_t m = s->view->m;
    size_t count;
    for (uint64_t row = 0; row < m; row += count) {
        count = part_of(m, row);
        gemm_numbers_read(s->view->a.number, s->view->a_data, k * m + row, count,
                          s->view->check->flush, s->part);
        for (size_t i = 0; i < count; i++)
            add_squares(&s->row_squares[row + i], s->part + i, 1);
        for (uint64_t block = 0; block < s->blocks; block++)
            add_scaled(s->v + block * m + row, s->part, s->y[block * s->view->k + k], count);
    }
}

static void take_a(struct sums *s)
{
    const struct gemm_view *view = s->view;
    if (view->a.transposed)
        for (uint64_t k = 0; k < view->k; k++)
            take_column_of_a(s, k);
    else
        for (uint64_t row = 0; row < view->m; row++)
            take_row_of_a(s, row);
    take_roots(s->row_squares, view->m, s->row_norms);
}

/* How far the sum over a block's elements of one row of C may be off. */
static double allowed(const struct sums *s, uint64_t row, uint64_t block)
{
    const struct gemm_view *view = s->view;
    const enum gemm_number number = view->check->problem->c.number;
    const double k = (double)view->k, width = (double)(block_end(s, block) - block * s->width);
    const double u = gemm_number_roundoff(number), least = gemm_number_least_normal(number);
    /* In the worst case each of the k errors is of |A| |B|; for operands of random signs it is of
     * the partial sums, which are sqrt(k) times less. Sums of 32 bits may be cut off and so be
     * biased, those of 16 bits are rounded. */
    const double likely = number == GEMM_NUMBER_FP16 ? (SPREADS + 1) * sqrt(0.5)
                                                     : (SPREADS - 1) * sqrt(k);
    const double worst = SPREADS * (k + 1);
    double factor = likely < worst ? likely : worst;
    if (number == GEMM_NUMBER_FP64)
        factor *= 2; /* for the reference */
    const double flushed = view->check->denormal ? 2 * (k + 1) * sqrt(width)
                                                 : SPREADS * sqrt(k * width);
    return factor * u * s->row_norms[row] * s->block_norms[block] + flushed * least;
}

static void report(const struct sums *s, uint64_t row, uint64_t block, double difference,
                   double bound, struct gemm_finding *finding)
{
    snprintf(finding->text, sizeof(finding->text),
             "row %" PRIu64 " of C, columns %" PRIu64 " to %" PRIu64 ", of matrix %" PRIu64
             ": their sum with random signs is %.9g off, at most %.3g is allowed",
             row, block * s->width, block_end(s, block) - 1, s->view->matrix, difference, bound);
    finding->wrong = true;
}

static void suspect(struct sums *s, uint64_t row, uint64_t block, double difference)
{
    const double of_a = s->row_norms[row], of_b = s->block_norms[block];
    const double off = of_a > 0 && of_b > 0 ? difference / of_a / of_b : 0;
    size_t at = PARTS_SUSPECT;
    for (; at > 0 && off > s->suspects[at - 1].off; at--)
        if (at < PARTS_SUSPECT)
            s->suspects[at] = s->suspects[at - 1];
    if (at < PARTS_SUSPECT)
        s->suspects[at] = (struct suspect){row, block, off};
}

/* An element that is wrong puts its block among those that are farthest off long before the sum
 * of all errors is over its bound. */
static bool check_suspects(struct sums *s, struct gemm_finding *finding, struct assay_error *error)
{
    for (size_t i = 0; i < PARTS_SUSPECT && s->suspects[i].off > 0; i++) {
        const uint64_t block = s->suspects[i].block;
        if (!gemm_check_part(s->view, s->suspects[i].row, block * s->width, block_end(s, block),
                             finding, error))
            return false;
    }
    return true;
}

static bool take_block_of_c(struct sums *s, uint64_t row, uint64_t block,
                            struct gemm_finding *finding, struct assay_error *error)
{
    const uint64_t end = block_end(s, block);
    const bool whole = s->view->check->problem->c.number == GEMM_NUMBER_INT32;
    const double wanted = s->v[block * s->view->m + row];
    double sum = 0;
    size_t count;
    for (uint64_t column = block * s->width; column < end; column += count) {
        count = part_of(end, column);
        gemm_view_c(s->view, row, column, count, s->part);
        clear_columns(s, column, count);
        sum += product_of(s->part, s->x + column, count);
    }
    double difference = fabs(sum - wanted), bound = 0;
    if (whole && (uint32_t)(int64_t)sum == (uint32_t)(int64_t)wanted)
        return true;
    if (!whole) {
        bound = allowed(s, row, block);
        /* Numbers so large that their sums overflow are compared one by one. */
        if (!isfinite(difference) || !isfinite(bound))
            return gemm_check_part(s->view, row, block * s->width, end, finding, error);
        suspect(s, row, block, difference);
        const double ratio = difference == 0 ? 0 : difference / bound;
        if (ratio <= 1) {
            if (ratio > finding->error_over_bound)
                finding->error_over_bound = ratio;
            return true;
        }
    }
    /* Which element it is, where that one alone is over its bound. */
    if (!gemm_check_rows(s->view, &row, 1, finding, error))
        return false;
    if (!finding->wrong)
        report(s, row, block, difference, bound, finding);
    return true;
}

static bool take_c(struct sums *s, struct gemm_finding *finding, struct assay_error *error)
{
    for (uint64_t row = 0; row < s->view->m; row++) {
        if (!isfinite(s->row_norms[row]))
            continue;
        for (uint64_t block = 0; block < s->blocks && !finding->wrong; block++)
            if (!take_block_of_c(s, row, block, finding, error))
                return false;
    }
    return true;
}

static bool check_whole_ones(struct sums *s, struct gemm_finding *finding,
                             struct assay_error *error)
{
    const struct gemm_view *view = s->view, turned = gemm_view_transpose(view);
    for (uint64_t row = 0; row < view->m; row++)
        if (!isfinite(s->row_norms[row]))
            s->rows[s->row_count++] = row;
    for (uint64_t i = 0; i < ROWS_SAMPLED; i++)
        s->rows[s->row_count++] = gemm_random(~view->check->seed, i) % view->m;
    return gemm_check_rows(view, s->rows, s->row_count, finding, error) &&
           gemm_check_rows(&turned, s->columns, s->column_count, finding, error);
}

static bool allocate(struct sums *s)
{
    const struct gemm_view *view = s->view;
    s->x = malloc(view->n * sizeof(*s->x));
    s->y = calloc(s->blocks * view->k, sizeof(*s->y));
    s->block_squares = calloc(s->blocks, sizeof(*s->block_squares));
    s->block_norms = calloc(s->blocks, sizeof(*s->block_norms));
    s->v = calloc(s->blocks * view->m, sizeof(*s->v));
    s->row_squares = calloc(view->m, sizeof(*s->row_squares));
    s->row_norms = calloc(view->m, sizeof(*s->row_norms));
    s->rows = calloc(view->m + ROWS_SAMPLED, sizeof(*s->rows));
    return s->x && s->y && s->block_squares && s->block_norms && s->v && s->row_squares &&
           s->row_norms && s->rows;
}

static bool check_all(struct sums *s, struct gemm_finding *finding, struct assay_error *error)
{
    if (!allocate(s))
        goto no_memory;
    for (uint64_t j = 0; j < s->view->n; j++)
        s->x[j] = gemm_random(s->view->check->seed, j) >> 63 ? -1 : 1;
    if (s->view->check->special && !find_columns(s))
        goto no_memory;
    take_b(s);
    take_a(s);
    return take_c(s, finding, error) && check_suspects(s, finding, error) &&
           check_whole_ones(s, finding, error);
no_memory:
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
}

static uint64_t width_of(const struct gemm_view *view)
{
    const bool coarse = view->check->problem->c.number == GEMM_NUMBER_FP16;
    const uint64_t width = coarse ? WIDTH_COARSE : WIDTH;
    const uint64_t least = (view->n - 1) / (coarse ? BLOCKS_COARSE : BLOCKS) + 1;
    return least > width ? least : width;
}

bool gemm_check_sums(const struct gemm_view *view, struct gemm_finding *finding,
                     struct assay_error *error)
{
    struct sums *s = calloc(1, sizeof(*s));
    if (!s)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for verification");
    s->view = view;
    s->width = width_of(view);
    s->blocks = (view->n - 1) / s->width + 1;
    const bool done = check_all(s, finding, error);
    free(s->x);
    free(s->y);
    free(s->block_squares);
    free(s->block_norms);
    free(s->v);
    free(s->row_squares);
    free(s->row_norms);
    free(s->rows);
    free(s->columns);
    free(s);
    return done;
}
