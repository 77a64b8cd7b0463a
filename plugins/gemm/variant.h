/* SPDX-License-Identifier: MIT */
/* A way to multiply: kernels with their tile shapes. A new one is a file with one constant struct
 * and a row in the table of variant.c. */
#ifndef GEMM_VARIANT_H
#define GEMM_VARIANT_H

#include <assay/assay.h>

#include "problem.h"

struct gemm_variant;

/* A slot while it lives. Buffers are on the device; their sizes are rounded up to 16 bytes. */
struct gemm_slot {
    struct assay_slot *slot;
    const struct gemm_params *params;
    struct gemm_problem problem;
    const struct gemm_variant *variant;
    const char *shape; /* one of the variant's */
    struct assay_buffer *a, *b, *c;
    struct assay_buffer *host_a, *host_b, *host_c; /* a and b: NULL when resident */
    void *own;                                     /* the variant's, from create to destroy */
    uint64_t portion; /* multiply-adds of a submission; 0: all that there are */
    bool trial;       /* record one submission alone, and note its work */
    uint64_t trial_work;
};

struct gemm_variant {
    const char *name;          /* value of the option */
    const char *const *shapes; /* NULL-terminated; "ROWSxCOLUMNS" of a tile, best guess first */
    /* What the shape and precision need of the device: ASSAY_UNSUPPORTED says what is missing. */
    bool (*supported)(const struct assay_device *device, const struct gemm_problem *problem,
                      const char *shape, struct assay_error *why_not);
    /* Optional: the shape to begin with for a problem; NULL: the first. */
    const char *(*guess)(const struct assay_device *device, const struct gemm_problem *problem);
    /* Optional: the kind of its arithmetic, for floors; NULL: gemm_sum_kind. */
    enum assay_number (*flop_kind)(const struct gemm_problem *problem);
    /* Kernels and scratch buffers. On failure destroy is called all the same. */
    bool (*create)(struct gemm_slot *slot, struct assay_error *error);
    /* All of C, whatever is in it. Packing counts. */
    bool (*record)(struct gemm_slot *slot, struct assay_command *command,
                   struct assay_error *error);
    void (*destroy)(struct gemm_slot *slot); /* Accepts what is half made */
};
extern const struct gemm_variant gemm_plain, gemm_tile, gemm_subgroup, gemm_coopmat, gemm_dot;

/* The values of the option `variant`, NULL-terminated, and what each stands for; NULL: auto, which
 * the tuner replaces (tuning.h). */
extern const char *const gemm_variant_names[];
const struct gemm_variant *gemm_variant_at(int choice);

/* Splits "32x64"; false for other texts and for zeroes. */
bool gemm_shape_parse(const char *shape, uint32_t *rows, uint32_t *columns);
/* `name` as the variant has it; NULL for one that it does not have. */
const char *gemm_shape_find(const struct gemm_variant *variant, const char *name);
/* The one that is used: `name`, which the variant has, or its guess for "auto". */
const char *gemm_shape_of(const struct gemm_variant *variant, const struct assay_device *device,
                          const struct gemm_problem *problem, const char *name);
/* The kind of number in which a kernel adds up that converts what it reads: fp16, bf16 and fp8 to
 * fp32, int8 to int32. */
enum assay_number gemm_sum_kind(const struct gemm_problem *problem);
/* ASSAY_NUMBER_NONE: no floor. Peaks are those of multiply-adds, which units for more than one at a
 * time are there to beat. */
enum assay_number gemm_no_kind(const struct gemm_problem *problem);
/* Features without which no kernel can read and add up the precision's numbers. */
bool gemm_precision_supported(const struct assay_device *device, const struct gemm_problem *problem,
                              struct assay_error *why_not);
/* A workgroup of this size and shared memory fits the device. */
bool gemm_group_supported(const struct assay_device *device, const char *shape, uint32_t x,
                          uint32_t y, uint32_t shared_bytes, struct assay_error *why_not);

/* Macros of a kernel. */
enum { GEMM_DEFINES_MAX = 16 };
struct gemm_defines {
    struct assay_define items[GEMM_DEFINES_MAX];
    size_t count;
};
/* Starts with those that shaders/include/gemm_places.glsl wants. */
void gemm_operand_defines(const struct gemm_problem *problem, struct gemm_defines *defines);

/* Adds WIDE_A and WIDE_B where operands allow them (shaders/include/gemm_fetch.glsl). Fails as
 * gemm_plan_make does. */
bool gemm_wide_defines(const struct assay_device *device, const struct gemm_problem *problem,
                       const struct gemm_grain *grain, struct gemm_defines *defines,
                       struct assay_error *error);

/* destroy of variants whose `own` is their one kernel. */
void gemm_destroy_kernel(struct gemm_slot *slot);

/* How pieces are recorded. */
struct gemm_recorder {
    const struct gemm_grain *grain;
    const struct gemm_plan *plan;
    bool apart; /* each uses what the one before used */
    bool (*piece)(struct gemm_slot *slot, struct assay_command *command,
                  const struct gemm_piece *piece, void *user, struct assay_error *error);
    void *user;
};
/* All pieces of the plan, cut into portions, with barriers where sums go on and waits between
 * submissions. */
bool gemm_record_plan(struct gemm_slot *slot, struct assay_command *command,
                      const struct gemm_recorder *recorder, struct assay_error *error);
/* Records one dispatch a piece of a kernel whose interface is gemm_operands.glsl's, with barriers
 * where sums go on. */
bool gemm_record_pieces(struct gemm_slot *slot, struct assay_command *command,
                        struct assay_kernel *kernel, const struct gemm_grain *grain,
                        struct assay_error *error);

#endif
