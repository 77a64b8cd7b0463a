/* SPDX-License-Identifier: MIT */
/* A SPIR-V module as a table of ids; for reflect*.c. Numbers are those of the SPIR-V specification
 * 1.6. Every word of the module is untrusted. */
#ifndef VULKAN_SPIRV_H
#define VULKAN_SPIRV_H

#include "base/error.h"
#include "base/text.h"

enum spirv_opcode {
    SPIRV_NAME = 5,
    SPIRV_MEMBER_NAME = 6,
    SPIRV_ENTRY_POINT = 15,
    SPIRV_EXECUTION_MODE = 16,
    SPIRV_CAPABILITY = 17,
    SPIRV_TYPE_BOOL = 20,
    SPIRV_TYPE_INT = 21,
    SPIRV_TYPE_FLOAT = 22,
    SPIRV_TYPE_VECTOR = 23,
    SPIRV_TYPE_MATRIX = 24,
    SPIRV_TYPE_IMAGE = 25,
    SPIRV_TYPE_SAMPLED_IMAGE = 27,
    SPIRV_TYPE_ARRAY = 28,
    SPIRV_TYPE_RUNTIME_ARRAY = 29,
    SPIRV_TYPE_STRUCT = 30,
    SPIRV_TYPE_POINTER = 32,
    SPIRV_CONSTANT = 43,
    SPIRV_CONSTANT_COMPOSITE = 44,
    SPIRV_SPEC_CONSTANT_TRUE = 48,
    SPIRV_SPEC_CONSTANT_FALSE = 49,
    SPIRV_SPEC_CONSTANT = 50,
    SPIRV_SPEC_CONSTANT_COMPOSITE = 51,
    SPIRV_SPEC_CONSTANT_OP = 52,
    SPIRV_FUNCTION = 54,
    SPIRV_VARIABLE = 59,
    SPIRV_DECORATE = 71,
    SPIRV_MEMBER_DECORATE = 72,
    SPIRV_EXECUTION_MODE_ID = 331,
};

/* Of SPIRV_SPEC_CONSTANT_OP. */
enum spirv_operation {
    SPIRV_OP_ADD = 128,
    SPIRV_OP_SUBTRACT = 130,
    SPIRV_OP_MULTIPLY = 132,
    SPIRV_OP_DIVIDE = 134, /* unsigned */
    SPIRV_OP_SHIFT_LEFT = 196,
};

enum spirv_decoration {
    SPIRV_SPEC_ID = 1,
    SPIRV_BLOCK = 2,
    SPIRV_BUFFER_BLOCK = 3,
    SPIRV_ROW_MAJOR = 4,
    SPIRV_ARRAY_STRIDE = 6,
    SPIRV_MATRIX_STRIDE = 7,
    SPIRV_BUILTIN = 11,
    SPIRV_NON_WRITABLE = 24,
    SPIRV_NON_READABLE = 25,
    SPIRV_BINDING = 33,
    SPIRV_DESCRIPTOR_SET = 34,
    SPIRV_OFFSET = 35,
};

enum spirv_storage {
    SPIRV_UNIFORM_CONSTANT = 0,
    SPIRV_UNIFORM = 2,
    SPIRV_WORKGROUP = 4,
    SPIRV_PUSH_CONSTANT = 9,
    SPIRV_STORAGE_BUFFER = 12,
};

enum {
    SPIRV_MODEL_GLCOMPUTE = 5,
    SPIRV_MODE_LOCAL_SIZE = 17,
    SPIRV_MODE_LOCAL_SIZE_ID = 38,
    SPIRV_BUILTIN_WORKGROUP_SIZE = 25,
    SPIRV_DIM_BUFFER = 5,
};

/* One id: the instruction that makes it, and its decorations. */
struct spirv_id {
    uint32_t opcode;       /* 0: nothing makes it */
    const uint32_t *words; /* of the instruction, `count` of them, the first included */
    uint32_t count;
    const char *name; /* NULL or not empty */
    uint32_t set, binding, spec_id, array_stride;
    bool has_binding, has_spec_id, block, buffer_block, nonwritable, nonreadable;
};

struct spirv_member {
    uint32_t type, index;
    const char *name;
    uint32_t offset, matrix_stride;
    bool row_major, nonwritable, nonreadable;
};

struct spirv_module {
    struct arena *arena;
    struct spirv_id *ids;
    uint32_t bound;
    struct spirv_member *members; /* what was named or decorated */
    size_t member_count, member_capacity;
    uint32_t *variables, *constants; /* ids, in order; constants: those with a SpecId may be */
    size_t variable_count, constant_count;
    uint32_t *capabilities;
    size_t capability_count;
    uint32_t entry_id; /* function of the compute entry point; 0: none */
    const char *entry;
    uint32_t local_size[3], local_size_ids[3]; /* of the execution modes; ids 0: none */
    uint32_t workgroup_size_id;                /* the composite decorated so, or 0 */
};

/* Everything up to the first function. */
bool spirv_parse(const uint32_t *words, size_t word_count, struct arena *arena,
                 struct spirv_module *module, struct assay_error *error);
/* The id's instruction when it has that opcode and at least `count` words, else NULL. */
const struct spirv_id *spirv_get(const struct spirv_module *module, uint32_t id, uint32_t opcode,
                                 uint32_t count);
/* Its annotations; NULL when it has none. */
const struct spirv_member *spirv_member(const struct spirv_module *module, uint32_t type,
                                        uint32_t index);
/* Bytes that a value of the type takes in a block; saturates at UINT64_MAX. Runtime arrays and
 * arrays whose length is specialised count as empty. */
uint64_t spirv_size(const struct spirv_module *module, uint32_t type);
uint64_t spirv_member_size(const struct spirv_module *module, uint32_t structure, uint32_t index);

/* What a specialisation constant will be. */
struct spirv_value {
    uint32_t id; /* SpecId */
    uint64_t bits;
};
/* Bytes of all Workgroup variables, packed, so a driver never needs less; saturates at UINT64_MAX.
 * Constants that are not in `values` have their defaults; an array's length that cannot be computed
 * counts as 1. */
uint64_t spirv_shared_bytes(const struct spirv_module *module, const struct spirv_value *values,
                            size_t value_count);

#endif
