/* SPDX-License-Identifier: MIT */
/* Whether C is the product of A and B, up to what the precision of its sums explains. Pure.
 * README.md tells how. */
#ifndef GEMM_VERIFY_H
#define GEMM_VERIFY_H

#include "problem.h"

struct gemm_check {
    const struct gemm_problem *problem;
    const void *a, *b, *c; /* the whole batch */
    uint64_t seed;         /* of random signs and rows */
    bool flush;            /* denormal operands count as zero */
    bool denormal;         /* operands are mostly denormal */
    bool special;          /* operands hold NaN or infinities */
};

struct gemm_finding {
    double error_over_bound; /* the largest; 1 and less are right */
    bool wrong;
    char text[240]; /* when wrong: what and where */
};

/* Up to this many multiply-adds in all every element is computed again. */
#define GEMM_WHOLE_MOST (UINT64_C(1) << 24)

/* False: out of memory, nothing was found out. */
bool gemm_verify(const struct gemm_check *check, struct gemm_finding *finding,
                 struct assay_error *error);

/* The bound's factor of (|A| |B|)_ij, for sums of k products in this number. */
double gemm_gamma(enum gemm_number sum, uint64_t k);
/* For sums in fp16: the bound's factor of the root of the sum of the squares of the products, for
 * products of random signs. */
double gemm_gamma_fp16(uint64_t k);

/* --- Parts of it --- */

/* One product of two matrices as the parts see it. Its transpose is one, too: C' = B' A'. */
struct gemm_view {
    const struct gemm_check *check;
    struct gemm_matrix a, b;
    const void *a_data, *b_data, *c_data; /* of this matrix of the batch */
    uint64_t matrix, m, n, k;
    bool c_transposed;
};
/* [row][k, k + count) of A and [row][column, column + count) of C. */
void gemm_view_a(const struct gemm_view *view, uint64_t row, uint64_t k, size_t count, double *out);
void gemm_view_c(const struct gemm_view *view, uint64_t row, uint64_t column, size_t count,
                 double *out);
/* The view of the transpose. */
struct gemm_view gemm_view_transpose(const struct gemm_view *view);

/* Computes whole rows again and compares each element. rows: NULL means all of 0 ... count - 1. */
bool gemm_check_rows(const struct gemm_view *view, const uint64_t *rows, uint64_t count,
                     struct gemm_finding *finding, struct assay_error *error);
/* The same of columns [first, end) of one row. */
bool gemm_check_part(const struct gemm_view *view, uint64_t row, uint64_t first, uint64_t end,
                     struct gemm_finding *finding, struct assay_error *error);
/* All elements by random sums over blocks of columns (Freivalds). */
bool gemm_check_sums(const struct gemm_view *view, struct gemm_finding *finding,
                     struct assay_error *error);

#endif
