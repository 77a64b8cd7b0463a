/* SPDX-License-Identifier: MIT */
/* A tile of C in the registers of one subgroup, from packed operands: the fast way on drivers that
 * run a subgroup as one thread of vector instructions. */
#include "packing.h"
#include "variant.h"

#include <inttypes.h>
#include <stdlib.h>

/* Rows and columns are multiples of the subgroup's lanes: 8, 16 with vectors of 512 bits, 4 on
 * SwiftShader. */
static const char *const shapes[] = {"32x32", "16x32", "32x64", "64x64", "16x16", NULL};
#define LANES_LEAST 4u
#define LANES_MOST 16u
#define TEXELS_MOST (1u << 27) /* PLACES of gemm_subgroup.comp */

enum { OPERANDS = 2 }; /* A, B */
struct subgroup {
    struct gemm_packings packings;
    struct assay_buffer *panels[OPERANDS];
    struct assay_kernel *pack[OPERANDS];
    struct assay_kernel *first, *more; /* of a sum over k; more: NULL when it has one piece */
};

static bool make_packings(const struct assay_device *device, const struct gemm_problem *problem,
                          const char *shape, struct gemm_packings *packings,
                          struct assay_error *why_not)
{
    const struct assay_limits *limits = assay_device_limits(device);
    struct gemm_packing_limits given = {.bounds = gemm_bounds_of(limits),
                                        .texels = limits->max_texel_elements,
                                        .lanes = limits->subgroup_size};
    if (given.texels > TEXELS_MOST)
        given.texels = TEXELS_MOST;
    /* Panels of either operand are groups along x when they are packed. */
    if (given.bounds.groups[1] > given.bounds.groups[0])
        given.bounds.groups[1] = given.bounds.groups[0];
    return gemm_packings_make(problem, shape, &given, packings, why_not);
}

static bool subgroup_supported(const struct assay_device *device,
                               const struct gemm_problem *problem, const char *shape,
                               struct assay_error *why_not)
{
    struct gemm_packings packings;
    const uint32_t lanes = assay_device_limits(device)->subgroup_size;
    if (problem->precision == GEMM_FP16_ACC16)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "precision fp16_acc16: variant subgroup adds up in fp32 or fp64 only");
    if (lanes < LANES_LEAST || lanes > LANES_MOST || (lanes & (lanes - 1)) != 0)
        return assay_fail(why_not, ASSAY_UNSUPPORTED,
                          "variant subgroup: subgroups have %" PRIu32
                          " lanes on this device; it is made for %u to %u, those of processors",
                          lanes, LANES_LEAST, LANES_MOST);
    return make_packings(device, problem, shape, &packings, why_not);
}

/* Sums of lavapipe's lanes: 128 registers of vectors are the most that pay, and a lane has four
 * columns at least (packing.c). */
static const char *subgroup_guess(const struct assay_device *device,
                                  const struct gemm_problem *problem)
{
    if (assay_device_limits(device)->subgroup_size == LANES_MOST)
        return "32x64";
    return problem->precision == GEMM_FP64 ? "16x32" : "32x32";
}

static enum assay_number subgroup_flop_kind(const struct gemm_problem *problem)
{
    return problem->precision == GEMM_FP64 ? ASSAY_NUMBER_FP64 : ASSAY_NUMBER_FP32;
}

static void add_define(struct gemm_defines *defines, const char *name)
{
    defines->items[defines->count++] = (struct assay_define){name, "1"};
}

static void add_words64(struct gemm_slot *slot, struct gemm_defines *defines)
{
    if (assay_device_has(assay_slot_device(slot->slot), ASSAY_FEATURE_INT64, NULL))
        add_define(defines, "WORDS64");
}

static bool make_operand(struct gemm_slot *slot, unsigned index, const struct gemm_packing *packing,
                         struct assay_error *error)
{
    struct subgroup *own = slot->own;
    struct gemm_defines defines;
    gemm_operand_defines(&slot->problem, &defines);
    add_words64(slot, &defines);
    if (packing->depth_first)
        add_define(&defines, "DEPTH_FIRST");
    if (packing->wide)
        add_define(&defines, "WIDE");
    const struct assay_constant constants[] = {
        {"LANES", own->packings.lanes}, {"SLOTS", packing->slots}, {"SPREAD", packing->spread}};
    const struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                               .source = "gemm_pack.comp",
                                               .constants = constants,
                                               .constant_count = 3,
                                               .defines = defines.items,
                                               .define_count = defines.count};
    const struct assay_buffer_params panels = {.size = sizeof(panels),
                                               .name = index ? "packed B" : "packed A",
                                               .bytes = packing->bytes,
                                               .memory = ASSAY_MEMORY_DEVICE,
                                               .role = ASSAY_ROLE_SCRATCH};
    own->panels[index] = assay_buffer_create(slot->slot, &panels, error);
    if (own->panels[index])
        own->pack[index] = assay_kernel_create(slot->slot, &kernel, error);
    return own->pack[index];
}

static struct assay_kernel *make_product(struct gemm_slot *slot, bool accumulate,
                                         struct assay_error *error)
{
    const struct gemm_packings *p = &((struct subgroup *)slot->own)->packings;
    struct gemm_defines defines;
    gemm_operand_defines(&slot->problem, &defines);
    add_words64(slot, &defines);
    if (p->quads)
        add_define(&defines, "QUADS");
    const struct assay_constant constants[] = {{"LANES", p->lanes},
                                               {"A_SLOTS", p->a.slots},
                                               {"B_SLOTS", p->b.slots},
                                               {"A_SPREAD", p->a.spread},
                                               {"B_SPREAD", p->b.spread},
                                               {"TURN", p->turn},
                                               {"ACCUMULATE", accumulate ? 1 : 0}};
    const struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                               .source = "gemm_subgroup.comp",
                                               .constants = constants,
                                               .constant_count = sizeof(constants) /
                                                                 sizeof(constants[0]),
                                               .defines = defines.items,
                                               .define_count = defines.count};
    return assay_kernel_create(slot->slot, &kernel, error);
}

static bool subgroup_create(struct gemm_slot *slot, struct assay_error *error)
{
    struct subgroup *own = calloc(1, sizeof(*own));
    slot->own = own;
    if (!own)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
    if (!make_packings(assay_slot_device(slot->slot), &slot->problem, slot->shape, &own->packings,
                       error) ||
        !make_operand(slot, 0, &own->packings.a, error) ||
        !make_operand(slot, 1, &own->packings.b, error))
        return false;
    own->first = make_product(slot, false, error);
    if (own->first && own->packings.plan.depth_count > 1)
        own->more = make_product(slot, true, error);
    return own->first && (own->more || own->packings.plan.depth_count == 1);
}

static void subgroup_destroy(struct gemm_slot *slot)
{
    struct subgroup *own = slot->own;
    if (!own)
        return;
    for (unsigned i = 0; i < OPERANDS; i++) {
        assay_kernel_destroy(&own->pack[i]);
        assay_buffer_destroy(&own->panels[i]);
    }
    assay_kernel_destroy(&own->first);
    assay_kernel_destroy(&own->more);
    free(own);
    slot->own = NULL;
}

static uint32_t blocks_of(uint64_t depth)
{
    return (uint32_t)((depth + GEMM_PACKING_BLOCK - 1) / GEMM_PACKING_BLOCK);
}

/* Packs operand `index` of a piece: `rows` of it. */
static bool record_pack(struct gemm_slot *slot, struct assay_command *command, unsigned index,
                        const struct gemm_piece *piece, const struct gemm_span *span, uint64_t rows,
                        struct assay_error *error)
{
    const struct subgroup *own = slot->own;
    const struct gemm_packings *all = &own->packings;
    const struct gemm_packing *packing = index ? &all->b : &all->a;
    const uint64_t panels = gemm_packing_panels(packing, all->lanes, rows);
    const bool together = packing->wide && !packing->depth_first;
    const struct assay_binding bindings[] = {{.name = "source",
                                              .buffer = index ? slot->b : slot->a,
                                              .offset = span->offset_bytes,
                                              .bytes = span->bytes},
                                             {.name = "panels", .buffer = own->panels[index]}};
    const struct assay_push pushes[] = {
        {"rows", (double)rows},
        {"depth", (double)piece->depth},
        {"first", (double)span->first},
        {"pitch", (double)packing->matrix->columns},
        {"matrix", piece->batches == 1 ? 0 : (double)packing->matrix->elements},
        {"panels", (double)panels},
        {"steps", (double)gemm_packing_steps(&slot->problem, piece->depth)},
    };
    const struct assay_dispatch dispatch = {
        .size = sizeof(dispatch),
        .kernel = own->pack[index],
        .bindings = bindings,
        .binding_count = sizeof(bindings) / sizeof(bindings[0]),
        .pushes = pushes,
        .push_count = sizeof(pushes) / sizeof(pushes[0]),
        .groups = {(uint32_t)(together ? panels / packing->spread : panels),
                   blocks_of(piece->depth), (uint32_t)piece->batches}};
    return assay_command_dispatch(command, &dispatch, error);
}

static bool record_product(struct gemm_slot *slot, struct assay_command *command,
                           const struct gemm_piece *piece, const struct gemm_span *c,
                           struct assay_error *error)
{
    const struct subgroup *own = slot->own;
    const struct gemm_packings *all = &own->packings;
    const uint64_t a_panels = gemm_packing_panels(&all->a, all->lanes, piece->rows);
    const uint64_t b_panels = gemm_packing_panels(&all->b, all->lanes, piece->columns);
    const struct assay_binding bindings[] = {
        {.name = "a", .buffer = own->panels[0]},
        {.name = "b", .buffer = own->panels[1]},
        {.name = "c", .buffer = slot->c, .offset = c->offset_bytes, .bytes = c->bytes},
    };
    const struct assay_push pushes[] = {
        {"m", (double)piece->rows},
        {"n", (double)piece->columns},
        {"a_panels", (double)a_panels},
        {"b_panels", (double)b_panels},
        {"steps", (double)gemm_packing_steps(&slot->problem, piece->depth)},
        {"c_first", (double)c->first},
        {"c_row", (double)slot->problem.c.columns},
        {"c_matrix", piece->batches == 1 ? 0 : (double)slot->problem.c.elements},
    };
    const struct assay_dispatch dispatch = {
        .size = sizeof(dispatch),
        .kernel = piece->accumulate ? own->more : own->first,
        .bindings = bindings,
        .binding_count = sizeof(bindings) / sizeof(bindings[0]),
        .pushes = pushes,
        .push_count = sizeof(pushes) / sizeof(pushes[0]),
        .groups = {(uint32_t)b_panels, (uint32_t)a_panels, (uint32_t)piece->batches}};
    return assay_command_dispatch(command, &dispatch, error);
}

static bool record_piece(struct gemm_slot *slot, struct assay_command *command,
                         const struct gemm_piece *piece, void *user, struct assay_error *error)
{
    /* Pieces of a row have the same A. */
    const bool packs_a = piece->column == 0;
    (void)user;
    const struct assay_limits *limits = assay_device_limits(assay_slot_device(slot->slot));
    uint64_t alignment = 16; /* a texel; alignments are powers of two */
    struct gemm_span a, b, c;
    if (alignment < limits->storage_alignment_bytes)
        alignment = limits->storage_alignment_bytes;
    if (alignment < limits->texel_alignment_bytes)
        alignment = limits->texel_alignment_bytes;
    gemm_piece_spans(&slot->problem, piece, alignment, &a, &b, &c);
    return (!packs_a || record_pack(slot, command, 0, piece, &a, piece->rows, error)) &&
           record_pack(slot, command, 1, piece, &b, piece->columns, error) &&
           assay_command_barrier(command, error) && record_product(slot, command, piece, &c, error);
}

static bool subgroup_record(struct gemm_slot *slot, struct assay_command *command,
                            struct assay_error *error)
{
    const struct gemm_packings *packings = &((struct subgroup *)slot->own)->packings;
    const struct gemm_recorder recorder = {
        .grain = &packings->grain, .plan = &packings->plan, .apart = true, .piece = record_piece};
    return gemm_record_plan(slot, command, &recorder, error);
}

const struct gemm_variant gemm_subgroup = {.name = "subgroup",
                                           .shapes = shapes,
                                           .supported = subgroup_supported,
                                           .guess = subgroup_guess,
                                           .flop_kind = subgroup_flop_kind,
                                           .create = subgroup_create,
                                           .record = subgroup_record,
                                           .destroy = subgroup_destroy};
