/* SPDX-License-Identifier: MIT */
/* What a compute shader's SPIR-V says of its interface. Own parser, pure. */
#ifndef VULKAN_REFLECT_H
#define VULKAN_REFLECT_H

#include "base/error.h"
#include "base/text.h"

enum reflect_type { REFLECT_OTHER, REFLECT_BOOL, REFLECT_INT, REFLECT_UINT, REFLECT_FLOAT };

struct reflect_scalar {
    enum reflect_type type;
    unsigned bits;
};

enum reflect_kind {
    REFLECT_STORAGE_BUFFER,
    REFLECT_UNIFORM_BUFFER,
    REFLECT_STORAGE_TEXEL_BUFFER,
    REFLECT_UNIFORM_TEXEL_BUFFER, /* refused, too: its format is nowhere in the shader */
    REFLECT_UNSUPPORTED,          /* images, samplers, ...: refused when a kernel is made of it */
};

struct reflect_binding {
    uint32_t set, binding;
    enum reflect_kind kind;
    const char *instance, *block, *member; /* names it answers to, best first; NULL where there is
                                              none (member: only a block with a single member) */
    bool readonly, writeonly;
    uint64_t fixed_bytes;  /* size of a block without a runtime array, else offset of the array */
    uint64_t stride_bytes; /* of the trailing runtime array, 0 without one */
    uint32_t texel_format; /* image format of a texel buffer, as SPIR-V has it; 0: not declared */
};

struct reflect_push {
    const char *name;
    uint32_t offset, bytes;
    struct reflect_scalar scalar; /* REFLECT_OTHER for vectors, matrices, structs */
};

struct reflect_constant {
    const char *name; /* NULL when stripped */
    uint32_t id;      /* SpecId */
    struct reflect_scalar scalar;
    uint64_t bits; /* its default, as reflect_encode has it */
};

struct reflection {
    const struct reflect_binding *bindings; /* sorted by set, binding */
    size_t binding_count;
    const struct reflect_push *pushes;
    size_t push_count;
    uint32_t push_bytes;                      /* of the whole block, 0 without */
    const struct reflect_constant *constants; /* sorted by id */
    size_t constant_count;
    uint32_t local_size[3];
    uint32_t local_size_id[3]; /* SpecId that sets it, UINT32_MAX when fixed */
    const char *entry;
    const uint32_t *capabilities; /* SPIR-V capability numbers, in order */
    size_t capability_count;
    const struct spirv_module *module; /* for spirv_shared_bytes; needs the words */
};

/* All memory from the arena; the words are not copied. ASSAY_INVALID for words that are no compute
 * shader or are cut short.
 */
bool reflect_spirv(const uint32_t *words, size_t word_count, struct arena *arena,
                   struct reflection *out, struct assay_error *error);
/* A number as the scalar's bits, in the low bits of `*bits`. Integers must be whole and in range,
 * booleans 0 or 1, floats finite and in range (rounded to nearest). False: `*wanted` says what is
 * allowed. */
bool reflect_encode(struct reflect_scalar scalar, double value, uint64_t *bits,
                    const char **wanted);
/* The number behind the bits of a float (16, 32 or 64 wide). */
double reflect_decode_float(unsigned width, uint64_t bits);
const char *
reflect_scalar_name(struct reflect_scalar scalar); /* "uint32", "float64", "bool", ... */
/* Index of the constant that `name` means ("[3]" or "3": the constant_id), or -1: error names what
 * there is. */
int reflect_find_constant(const struct reflection *reflection, const char *name,
                          struct assay_error *error);
/* The best name of a binding for messages: "source", or "[3]". */
void reflect_binding_add(struct text *text, const struct reflect_binding *binding);
/* Index of the binding that `name` means ("[3]" or "3": the binding number of set 0), or -1: error
 * names what there is, or the two blocks that both match. */
int reflect_find_binding(const struct reflection *reflection, const char *name,
                         struct assay_error *error);

#endif
