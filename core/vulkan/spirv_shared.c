/* SPDX-License-Identifier: MIT */
/* Workgroup memory of a module, for the values that its specialisation constants will have. */
#include "vulkan/spirv.h"

#define SHARED_DEPTH_MAX 32 /* nesting of types and of constant expressions */
#define SHARED_VISITS_MAX 4096u

/* Garbage may nest without end or refer to itself; `visits` bounds the work in any module. */
struct walk {
    const struct spirv_module *module;
    const struct spirv_value *values;
    size_t value_count;
    uint32_t visits;
};

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool constant(struct walk *walk, uint32_t id, unsigned depth, uint64_t *value);

/* 32-bit arithmetic of array lengths. */
static bool operation(struct walk *walk, const struct spirv_id *at, unsigned depth, uint64_t *value)
{
    uint64_t a, b;
    if (at->count != 6 || !constant(walk, at->words[4], depth + 1, &a) ||
        !constant(walk, at->words[5], depth + 1, &b))
        return false;
    switch (at->words[3]) {
    case SPIRV_OP_ADD:
        *value = (uint32_t)(a + b);
        return true;
    case SPIRV_OP_SUBTRACT:
        *value = (uint32_t)(a - b);
        return true;
    case SPIRV_OP_MULTIPLY:
        *value = (uint32_t)(a * b);
        return true;
    case SPIRV_OP_DIVIDE:
        *value = b > 0 ? a / b : 0;
        return b > 0;
    case SPIRV_OP_SHIFT_LEFT:
        *value = b < 32 ? (uint32_t)(a << b) : 0;
        return b < 32;
    default:
        return false;
    }
}

static bool constant(struct walk *walk, uint32_t id, unsigned depth, uint64_t *value)
{
    if (id >= walk->module->bound || depth > SHARED_DEPTH_MAX || walk->visits == 0)
        return false;
    walk->visits--;
    const struct spirv_id *at = &walk->module->ids[id];
    if (at->opcode == SPIRV_SPEC_CONSTANT_OP)
        return operation(walk, at, depth, value);
    if ((at->opcode != SPIRV_CONSTANT && at->opcode != SPIRV_SPEC_CONSTANT) || at->count < 4)
        return false;
    *value = at->words[3];
    for (size_t i = 0; at->has_spec_id && i < walk->value_count; i++)
        if (walk->values[i].id == at->spec_id)
            *value = walk->values[i].bits & UINT32_MAX;
    return true;
}

/* Packed: what a driver adds for alignment comes on top. Unknown lengths count as one element. */
static uint64_t type_bytes(struct walk *walk, uint32_t type, unsigned depth)
{
    if (type >= walk->module->bound || depth > SHARED_DEPTH_MAX || walk->visits == 0)
        return 0;
    walk->visits--;
    const struct spirv_id *at = &walk->module->ids[type];
    uint64_t length = 1, bytes = 0;
    switch (at->opcode) {
    case SPIRV_TYPE_BOOL:
        return 4;
    case SPIRV_TYPE_INT:
    case SPIRV_TYPE_FLOAT:
        return at->count >= 3 ? at->words[2] / 8 : 0;
    case SPIRV_TYPE_VECTOR:
    case SPIRV_TYPE_MATRIX:
        return at->count >= 4 ? multiply(at->words[3], type_bytes(walk, at->words[2], depth + 1))
                              : 0;
    case SPIRV_TYPE_ARRAY:
        if (at->count < 4)
            return 0;
        if (!constant(walk, at->words[3], depth, &length))
            length = 1;
        return multiply(length, type_bytes(walk, at->words[2], depth + 1));
    case SPIRV_TYPE_STRUCT:
        for (uint32_t i = 2; i < at->count; i++)
            bytes = add(bytes, type_bytes(walk, at->words[i], depth + 1));
        return bytes;
    default:
        return 0;
    }
}

uint64_t spirv_shared_bytes(const struct spirv_module *module, const struct spirv_value *values,
                            size_t value_count)
{
    struct walk walk = {.module = module,
                        .values = values,
                        .value_count = value_count,
                        .visits = SHARED_VISITS_MAX};
    uint64_t bytes = 0;
    for (size_t i = 0; i < module->variable_count; i++) {
        const struct spirv_id *variable = &module->ids[module->variables[i]];
        const struct spirv_id *pointer = spirv_get(module, variable->words[1], SPIRV_TYPE_POINTER,
                                                   4);
        if (variable->words[3] == SPIRV_WORKGROUP && pointer != NULL)
            bytes = add(bytes, type_bytes(&walk, pointer->words[3], 0));
    }
    return bytes;
}
