/* SPDX-License-Identifier: MIT */
#include "verify.h"

#include <math.h>

/* Rounding errors that are independent of each other add up to more than this many times their
 * spread once in 10^13 sums (Higham and Mary 2019, "A new approach to probabilistic rounding error
 * analysis", theorem 2.4). */
#define SPREADS 8

double gemm_gamma(enum gemm_number sum, uint64_t k)
{
    const double u = gemm_number_roundoff(sum);
    const double terms = (double)k + 1; /* one more: rounding need not be to nearest */
    const double worst = terms * u < 1 ? terms * u / (1 - terms * u) : (double)INFINITY;
    const double likely = expm1(SPREADS * sqrt(terms) * u + terms * u * u);
    const double gamma = worst < likely ? worst : likely;
    /* The reference rounds as well. */
    return sum == GEMM_NUMBER_FP64 ? 2 * gamma : gamma;
}

double gemm_gamma_fp16(uint64_t k)
{
    const double u = gemm_number_roundoff(GEMM_NUMBER_FP16), terms = (double)k + 1;
    const double worst = terms * u < 1 ? terms * u / (1 - terms * u) : (double)INFINITY;
    /* The sum of the sizes is at most sqrt(k) times this root. Partial sums of random signs are not
     * larger than it, up to a few times, and rounding to nearest makes independent errors of them:
     * 0.3 sqrt(k) u of it in the middle, more than 27 times that once in 10^13. */
    const double likely = SPREADS * sqrt(terms) * u;
    return fmin(worst * sqrt((double)k), likely);
}

static const void *matrix_data(const struct gemm_matrix *matrix, const void *data, uint64_t index)
{
    return (const char *)data + index * matrix->elements * gemm_number_bytes(matrix->number);
}

static struct gemm_view view_of(const struct gemm_check *check, uint64_t matrix)
{
    const struct gemm_problem *p = check->problem;
    return (struct gemm_view){.check = check,
                              .a = p->a,
                              .b = p->b,
                              .a_data = matrix_data(&p->a, check->a, matrix),
                              .b_data = matrix_data(&p->b, check->b, matrix),
                              .c_data = matrix_data(&p->c, check->c, matrix),
                              .matrix = matrix,
                              .m = p->m,
                              .n = p->n,
                              .k = p->k};
}

struct gemm_view gemm_view_transpose(const struct gemm_view *view)
{
    struct gemm_view turned = *view;
    turned.a = view->b;
    turned.b = view->a;
    turned.a.transposed = !view->b.transposed;
    turned.b.transposed = !view->a.transposed;
    turned.a_data = view->b_data;
    turned.b_data = view->a_data;
    turned.m = view->n;
    turned.n = view->m;
    turned.c_transposed = !view->c_transposed;
    return turned;
}

void gemm_view_a(const struct gemm_view *view, uint64_t row, uint64_t k, size_t count, double *out)
{
    const bool flush = view->check->flush;
    if (!view->a.transposed) {
        gemm_numbers_read(view->a.number, view->a_data, row * view->k + k, count, flush, out);
        return;
    }
    for (size_t i = 0; i < count; i++)
        gemm_numbers_read(view->a.number, view->a_data, (k + i) * view->m + row, 1, flush, out + i);
}

void gemm_view_c(const struct gemm_view *view, uint64_t row, uint64_t column, size_t count,
                 double *out)
{
    const enum gemm_number number = view->check->problem->c.number;
    if (!view->c_transposed) {
        gemm_numbers_read(number, view->c_data, row * view->n + column, count, false, out);
        return;
    }
    for (size_t i = 0; i < count; i++)
        gemm_numbers_read(number, view->c_data, (column + i) * view->m + row, 1, false, out + i);
}

bool gemm_verify(const struct gemm_check *check, struct gemm_finding *finding,
                 struct assay_error *error)
{
    const struct gemm_problem *p = check->problem;
    *finding = (struct gemm_finding){0};
    for (uint64_t matrix = 0; matrix < p->batch && !finding->wrong; matrix++) {
        const struct gemm_view view = view_of(check, matrix);
        const bool done = p->flops / 2 <= GEMM_WHOLE_MOST
                              ? gemm_check_rows(&view, NULL, p->m, finding, error)
                              : gemm_check_sums(&view, finding, error);
        if (!done)
            return false;
    }
    return true;
}
