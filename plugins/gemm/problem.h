/* SPDX-License-Identifier: MIT */
/* What is multiplied: C = A B for each matrix of a batch, and how it is cut where a device has
 * limits. Pure: no device is asked. */
#ifndef GEMM_PROBLEM_H
#define GEMM_PROBLEM_H

#include <assay/device.h>
#include <assay/error.h>

#include "numbers.h"

enum gemm_precision {
    GEMM_FP64,
    GEMM_FP32,
    GEMM_FP16,       /* sums in fp32 */
    GEMM_FP16_ACC16, /* sums in fp16 */
    GEMM_BF16,
    GEMM_INT8,
    GEMM_FP8, /* E4M3 */
    GEMM_PRECISION_COUNT
};
extern const char *const gemm_precision_names[]; /* NULL-terminated */

enum gemm_values { GEMM_UNIFORM, GEMM_DENORMAL, GEMM_SPECIAL };

/* The user's parameters; offsets of the options. */
struct gemm_params {
    int64_t size, m, n, k; /* m, n, k: 0 means size */
    int64_t batch;
    int precision, variant, values;
    const char *tile;
    bool transpose_a, transpose_b, resident;
};

/* Matrices stand without gaps, row by row, one after the other. An operand that is transposed is
 * stored as its transpose. */
struct gemm_matrix {
    enum gemm_number number;
    uint64_t rows, columns; /* as stored */
    uint64_t elements;      /* of one matrix: the stride of the batch */
    uint64_t bytes;         /* of the batch */
    bool transposed;
};

struct gemm_problem {
    uint64_t m, n, k, batch;
    enum gemm_precision precision;
    struct gemm_matrix a, b, c;
    uint64_t flops;
};

/* ASSAY_INVALID for sizes whose bytes or operations do not fit in 63 bits. */
bool gemm_problem_make(const struct gemm_params *params, struct gemm_problem *problem,
                       struct assay_error *error);

/* What bounds one dispatch. Zeroes of the groups and of `k_most` mean unlimited. */
struct gemm_bounds {
    uint64_t range_bytes;     /* of a binding */
    uint64_t alignment_bytes; /* of its offset */
    uint32_t groups[3];       /* along the columns, the rows and the batch */
    uint64_t k_most;          /* products that one invocation may add up */
};
/* The C that one group makes. `k`: chunks of the sum are multiples of it (0: of 1), `k_most` the
 * most that a chunk may be (0: what bounds say). */
struct gemm_grain {
    uint32_t rows, columns, k, k_most;
};
/* The bounds of a device, but for k_most: GEMM_K_MOST. */
struct gemm_bounds gemm_bounds_of(const struct assay_limits *limits);
/* Some drivers end loops silently after 65535 turns, those of all loops of an invocation counted.
 */
#define GEMM_K_MOST 65535u
/* For grains, on a CPU, of kernels that take up to 32 turns for a product's k in nested loops. */
#define GEMM_K_NESTED 2048u

/* A part of the work for one dispatch. */
struct gemm_piece {
    uint64_t batch, batches; /* the first, and how many */
    uint64_t row, rows, column, columns, k, depth;
    bool accumulate; /* on what earlier pieces made; of others that have this k nothing is needed */
};
/* All pieces are of one size, but for the last of each row of them. */
struct gemm_plan {
    uint64_t batches, rows, columns, depth;                     /* of a piece */
    uint64_t batch_count, row_count, column_count, depth_count; /* pieces along each */
    uint64_t count;                                             /* of pieces */
};
#define GEMM_PIECES_MAX 16384u
/* ASSAY_UNSUPPORTED with limit and value when it takes more than GEMM_PIECES_MAX pieces. */
bool gemm_plan_make(const struct gemm_problem *problem, const struct gemm_grain *grain,
                    const struct gemm_bounds *bounds, struct gemm_plan *plan,
                    struct assay_error *why_not);
/* Makes pieces of at most `most` multiply-adds, as far as whole grains go and without more cuts of
 * the sums. Fails as gemm_plan_make does. */
bool gemm_plan_divide(const struct gemm_problem *problem, const struct gemm_grain *grain,
                      uint64_t most, struct gemm_plan *plan, struct assay_error *why_not);
/* Piece `index`; those of one `k` follow each other. */
void gemm_plan_piece(const struct gemm_problem *problem, const struct gemm_plan *plan,
                     uint64_t index, struct gemm_piece *piece);

/* Where in a matrix a piece begins and ends. */
struct gemm_span {
    uint64_t offset_bytes, bytes; /* for the binding; the offset is aligned down */
    uint64_t first;               /* element of the piece, counted from there */
};
/* [row, row + rows) x [column, column + columns) of the stored matrices [batch, batch + batches).
 * The bytes are whole words, which buffers have room for. */
struct gemm_span gemm_matrix_span(const struct gemm_matrix *matrix, uint64_t batch,
                                  uint64_t batches, uint64_t row, uint64_t rows, uint64_t column,
                                  uint64_t columns, uint64_t alignment_bytes);
/* The spans of a piece. */
void gemm_piece_spans(const struct gemm_problem *problem, const struct gemm_piece *piece,
                      uint64_t alignment_bytes, struct gemm_span *a, struct gemm_span *b,
                      struct gemm_span *c);

#endif
