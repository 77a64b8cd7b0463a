/* SPDX-License-Identifier: MIT */
/* Operands as shaders/gemm_pack.comp packs them for shaders/gemm_subgroup.comp, and the pieces into
 * which the work is cut for it. Pure: no device is asked. */
#ifndef GEMM_PACKING_H
#define GEMM_PACKING_H

#include "problem.h"

/* What a device has that matters here. */
struct gemm_packing_limits {
    struct gemm_bounds bounds;
    uint64_t texels; /* of 16 bytes, in a binding */
    uint32_t lanes;  /* of a subgroup */
};

/* How one operand is packed. A's rows and B's columns are called rows here. */
struct gemm_packing {
    const struct gemm_matrix *matrix;
    uint32_t slots;   /* rows of a lane in a panel */
    uint32_t spread;  /* panels that share their rows */
    bool depth_first; /* k runs along a stored row */
    bool wide;        /* can be read by 16 bytes */
    uint64_t bytes;   /* of the largest piece's panels */
};
struct gemm_packings {
    uint32_t lanes;
    uint32_t turn; /* steps in a turn of the loop */
    bool quads;    /* rows of C begin and end on four elements */
    struct gemm_packing a, b;
    struct gemm_grain grain;
    struct gemm_plan plan;
};
/* ASSAY_UNSUPPORTED for tiles that subgroups of this size cannot make, and where gemm_plan_make
 * says so. `problem` must live as long as the packings. */
bool gemm_packings_make(const struct gemm_problem *problem, const char *shape,
                        const struct gemm_packing_limits *limits, struct gemm_packings *packings,
                        struct assay_error *why_not);

#define GEMM_PACKING_BLOCK 16u /* products along k that a group of the packing kernel takes */
/* Numbers of one row in a texel. */
uint32_t gemm_packed_numbers(const struct gemm_problem *problem);
/* Panels that hold `rows`, a multiple of the spread, and the steps of one with `depth`. */
uint64_t gemm_packing_panels(const struct gemm_packing *packing, uint32_t lanes, uint64_t rows);
uint64_t gemm_packing_steps(const struct gemm_problem *problem, uint64_t depth);

#endif
