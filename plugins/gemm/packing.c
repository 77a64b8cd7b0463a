/* SPDX-License-Identifier: MIT */
#include "packing.h"

#include "variant.h"

#include <inttypes.h>

#define TEXEL_BYTES 16u
/* Vector multiply-adds in a turn of the loop: as many as pay for it, and as few as fit in what
 * processors hold of decoded instructions, about two of these for each. */
#define TURN_LEAST 512u
#define TURN_MOST 1024u
/* Tiles of less arithmetic for a step are slow on lavapipe, and slow to build. */
#define STEP_LEAST 256u
/* Of a lane. Fewer columns cannot be stored by four, and without that a kernel of 16 lanes takes
 * lavapipe half a minute to build. */
#define ROWS_LEAST 2u
#define COLUMNS_LEAST 4u

static uint64_t parts_of(uint64_t whole, uint64_t part)
{
    return whole / part + (whole % part != 0);
}

uint32_t gemm_packed_numbers(const struct gemm_problem *problem)
{
    return problem->precision == GEMM_FP64 ? 2 : 4;
}

static uint32_t stored_numbers(const struct gemm_packing *packing)
{
    return TEXEL_BYTES / (uint32_t)gemm_number_bytes(packing->matrix->number);
}

uint64_t gemm_packing_panels(const struct gemm_packing *packing, uint32_t lanes, uint64_t rows)
{
    const uint64_t shared = (uint64_t)packing->slots * packing->spread * lanes;
    return parts_of(rows, shared) * packing->spread;
}

uint64_t gemm_packing_steps(const struct gemm_problem *problem, uint64_t depth)
{
    return parts_of(depth, GEMM_PACKING_BLOCK) *
           (GEMM_PACKING_BLOCK / gemm_packed_numbers(problem));
}

static bool make_shape(const char *shape, uint32_t lanes, struct gemm_packings *out,
                       struct assay_error *why_not)
{
    uint32_t rows = 1, columns = 1;
    gemm_shape_parse(shape, &rows, &columns);
    out->a.slots = rows / lanes;
    out->b.slots = columns / lanes;
    const uint32_t step = out->a.slots * out->b.slots * lanes * 4;
    if (out->a.slots < ROWS_LEAST || out->b.slots < COLUMNS_LEAST || step < STEP_LEAST ||
        step > TURN_MOST)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "tile %s: subgroups have %" PRIu32 " lanes on this device, which make "
                          "tiles of at least %" PRIu32 "x%" PRIu32 " with %" PRIu32 " to %" PRIu32
                          " elements",
                          shape, lanes, ROWS_LEAST * lanes, COLUMNS_LEAST * lanes,
                          STEP_LEAST / 4 * lanes, TURN_MOST / 4 * lanes);
    out->turn = step < TURN_LEAST ? 2 : 1;
    return true;
}

static struct gemm_packing make_packing(const struct gemm_matrix *matrix, uint32_t slots,
                                        bool depth_first)
{
    struct gemm_packing packing = {
        .matrix = matrix, .slots = slots, .spread = 1, .depth_first = depth_first};
    const uint32_t stored = stored_numbers(&packing);
    packing.wide = matrix->columns % stored == 0;
    if (packing.wide && !depth_first && stored > slots)
        packing.spread = stored / slots;
    return packing;
}

/* Pieces must begin and end on 16 bytes, too. */
static void check_wide(struct gemm_packing *packing, uint64_t rows, uint64_t depth)
{
    const uint64_t along = packing->depth_first ? depth : rows;
    if (along != packing->matrix->columns && along % stored_numbers(packing) != 0)
        packing->wide = false;
}

static uint64_t packed_bytes(const struct gemm_problem *problem, const struct gemm_packing *packing,
                             const struct gemm_packings *all, uint64_t rows)
{
    return all->plan.batches * gemm_packing_panels(packing, all->lanes, rows) *
           gemm_packing_steps(problem, all->plan.depth) * packing->slots * all->lanes * TEXEL_BYTES;
}

/* Each panel is a group of the product, and those that share rows are one grain. 0: unlimited. */
static uint32_t grains_of(uint32_t groups, const struct gemm_packing *packing)
{
    const uint32_t grains = groups / packing->spread;
    return groups > 0 && grains == 0 ? 1 : grains;
}

/* Cuts the work so that what is packed, padding included, fits in a binding. */
static bool make_plan(const struct gemm_problem *problem, const struct gemm_packing_limits *limits,
                      struct gemm_packings *out, struct assay_error *why_not)
{
    const uint64_t texel_bytes = limits->texels * TEXEL_BYTES;
    struct gemm_problem packed = *problem;
    struct gemm_bounds bounds = limits->bounds;
    if (bounds.range_bytes > texel_bytes)
        bounds.range_bytes = texel_bytes;
    const uint64_t most = bounds.range_bytes;
    bounds.groups[0] = grains_of(bounds.groups[0], &out->b);
    bounds.groups[1] = grains_of(bounds.groups[1], &out->a);
    if (problem->precision != GEMM_FP64)
        packed.a.number = packed.b.number = GEMM_NUMBER_FP32;
    for (;;) {
        if (!gemm_plan_make(&packed, &out->grain, &bounds, &out->plan, why_not))
            return false;
        out->a.bytes = packed_bytes(problem, &out->a, out, out->plan.rows);
        out->b.bytes = packed_bytes(problem, &out->b, out, out->plan.columns);
        if (out->a.bytes <= most && out->b.bytes <= most)
            return true;
        bounds.range_bytes /= 2;
    }
}

bool gemm_packings_make(const struct gemm_problem *problem, const char *shape,
                        const struct gemm_packing_limits *limits, struct gemm_packings *packings,
                        struct assay_error *why_not)
{
    struct gemm_packings *out = packings;
    *out = (struct gemm_packings){.lanes = limits->lanes};
    if (!make_shape(shape, limits->lanes, out, why_not))
        return false;
    out->a = make_packing(&problem->a, out->a.slots, !problem->a.transposed);
    out->b = make_packing(&problem->b, out->b.slots, problem->b.transposed);
    out->grain = (struct gemm_grain){.rows = out->a.slots * out->a.spread * out->lanes,
                                     .columns = out->b.slots * out->b.spread * out->lanes,
                                     .k = GEMM_PACKING_BLOCK};
    if (!make_plan(problem, limits, out, why_not))
        return false;
    check_wide(&out->a, out->plan.rows, out->plan.depth);
    check_wide(&out->b, out->plan.columns, out->plan.depth);
    out->quads = out->b.slots % 4 == 0 && problem->n % 4 == 0 &&
                 (out->plan.columns == problem->n || out->plan.columns % 4 == 0);
    return true;
}
