/* SPDX-License-Identifier: MIT */
/* Tiles of C by groups, through shared memory: what fits GPUs. */
#include "variant.h"

#include <string.h>

/* Rows and columns are of C, in a group and in an invocation of it; depth is along k. A strip takes
 * up to depth + 1 turns of loops, which drivers bound all together. */
#define K_MOST 32768u
static const struct tile {
    const char *shape;
    struct gemm_grain grain;
    uint32_t block_rows, block_columns, depth;
} tiles[] = {
    {"64x64", {64, 64, 1, K_MOST}, 4, 4, 16},
    {"128x128", {128, 128, 1, K_MOST}, 8, 8, 16},
    {"128x64", {128, 64, 1, K_MOST}, 8, 4, 16},
    {"32x32", {32, 32, 1, K_MOST}, 4, 4, 16},
};
enum { TILES = sizeof(tiles) / sizeof(tiles[0]) };
static const char *const shapes[] = {"64x64", "128x128", "128x64", "32x32", NULL};

static struct tile tile_of(const struct gemm_problem *problem, const char *shape)
{
    struct tile tile = tiles[0];
    for (size_t i = 0; i < TILES; i++)
        if (strcmp(tiles[i].shape, shape) == 0)
            tile = tiles[i];
    if (problem->precision == GEMM_FP64)
        tile.depth = 8; /* numbers are twice as long */
    return tile;
}

static uint32_t group_of(const struct tile *tile)
{
    return tile->grain.rows / tile->block_rows * (tile->grain.columns / tile->block_columns);
}

static bool tile_supported(const struct assay_device *device, const struct gemm_problem *problem,
                           const char *shape, struct assay_error *why_not)
{
    enum { PITCH = 4 }; /* as in the kernel */
    const struct tile tile = tile_of(problem, shape);
    const struct gemm_bounds bounds = gemm_bounds_of(assay_device_limits(device));
    const uint32_t element = problem->precision == GEMM_FP64         ? 8
                             : problem->precision == GEMM_FP16_ACC16 ? 2
                                                                     : 4;
    const uint32_t shared = (tile.grain.rows + tile.grain.columns + 2 * PITCH) * tile.depth *
                            element;
    struct gemm_plan plan;
    if (assay_device_limits(device)->on_cpu && tile.grain.rows > 64)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "tile %s: its kernel takes the driver of a CPU too long to compile; "
                          "tiles 64x64 and 32x32 do not",
                          shape);
    return gemm_group_supported(device, shape, group_of(&tile), 1, shared, why_not) &&
           gemm_plan_make(problem, &tile.grain, &bounds, &plan, why_not);
}

/* How many steps along k are one piece of code: on a CPU, where this variant has nothing to win,
 * what takes least to compile. */
static uint32_t turns_of(const struct assay_device *device)
{
    return assay_device_limits(device)->on_cpu ? 1 : 4;
}

static bool tile_create(struct gemm_slot *slot, struct assay_error *error)
{
    const struct tile tile = tile_of(&slot->problem, slot->shape);
    struct gemm_defines defines;
    gemm_operand_defines(&slot->problem, &defines);
    const struct assay_constant constants[] = {
        {"GROUP", group_of(&tile)},
        {"TILE_ROWS", tile.grain.rows},
        {"TILE_COLUMNS", tile.grain.columns},
        {"TILE_DEPTH", tile.depth},
        {"BLOCK_ROWS", tile.block_rows},
        {"BLOCK_COLUMNS", tile.block_columns},
        {"TURNS", turns_of(assay_slot_device(slot->slot))},
    };
    const struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                               .source = "gemm_tile.comp",
                                               .constants = constants,
                                               .constant_count = sizeof(constants) /
                                                                 sizeof(constants[0]),
                                               .defines = defines.items,
                                               .define_count = defines.count};
    slot->own = assay_kernel_create(slot->slot, &kernel, error);
    return slot->own;
}

static bool tile_record(struct gemm_slot *slot, struct assay_command *command,
                        struct assay_error *error)
{
    const struct tile tile = tile_of(&slot->problem, slot->shape);
    return gemm_record_pieces(slot, command, slot->own, &tile.grain, error);
}

const struct gemm_variant gemm_tile = {.name = "tile",
                                       .shapes = shapes,
                                       .supported = tile_supported,
                                       .create = tile_create,
                                       .record = tile_record,
                                       .destroy = gemm_destroy_kernel};
