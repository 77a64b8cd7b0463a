/* SPDX-License-Identifier: MIT */
/* Sizes of values in blocks, from the Offset, ArrayStride and MatrixStride decorations. */
#include "vulkan/spirv.h"

#define SIZE_DEPTH_MAX 32 /* nesting of types; garbage may nest without end */
#define SIZE_MEMBERS_MAX 4096u

/* Types form a graph without cycles in a valid module; `budget` bounds the work in any. */
static uint64_t type_size(const struct spirv_module *module, uint32_t type, unsigned depth,
                          uint32_t *budget);

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t matrix_size(const struct spirv_module *module, const struct spirv_id *matrix,
                            const struct spirv_member *member)
{
    const struct spirv_id *column = spirv_get(module, matrix->words[2], SPIRV_TYPE_VECTOR, 4);
    uint32_t columns = matrix->words[3], rows = column != NULL ? column->words[3] : 1;
    if (member == NULL || member->matrix_stride == 0)
        return multiply(columns, spirv_size(module, matrix->words[2]));
    return multiply(member->row_major ? rows : columns, member->matrix_stride);
}

static uint64_t array_size(const struct spirv_module *module, const struct spirv_id *array,
                           unsigned depth, uint32_t *budget)
{
    const struct spirv_id *length = spirv_get(module, array->words[3], SPIRV_CONSTANT, 4);
    uint64_t stride = module->ids[array->words[1]].array_stride;
    if (stride == 0)
        stride = type_size(module, array->words[2], depth + 1, budget);
    return length != NULL ? multiply(length->words[3], stride) : 0;
}

static uint64_t member_size(const struct spirv_module *module, uint32_t type,
                            const struct spirv_member *member, unsigned depth, uint32_t *budget)
{
    const struct spirv_id *matrix = spirv_get(module, type, SPIRV_TYPE_MATRIX, 4);
    if (matrix != NULL)
        return matrix_size(module, matrix, member);
    return type_size(module, type, depth, budget);
}

static uint64_t struct_size(const struct spirv_module *module, const struct spirv_id *structure,
                            unsigned depth, uint32_t *budget)
{
    uint64_t size = 0;
    for (uint32_t i = 2; i < structure->count; i++) {
        const struct spirv_member *member = spirv_member(module, structure->words[1], i - 2);
        uint64_t end = add(member != NULL ? member->offset : 0,
                           member_size(module, structure->words[i], member, depth + 1, budget));
        size = end > size ? end : size;
    }
    return size;
}

static uint64_t type_size(const struct spirv_module *module, uint32_t type, unsigned depth,
                          uint32_t *budget)
{
    if (type >= module->bound || depth > SIZE_DEPTH_MAX || *budget == 0)
        return 0;
    --*budget;
    const struct spirv_id *id = &module->ids[type];
    uint64_t part = 0;
    switch (id->opcode) {
    case SPIRV_TYPE_BOOL:
        return 4;
    case SPIRV_TYPE_INT:
    case SPIRV_TYPE_FLOAT:
        return id->count >= 3 ? id->words[2] / 8 : 0;
    case SPIRV_TYPE_VECTOR:
        part = id->count >= 4 ? type_size(module, id->words[2], depth + 1, budget) : 0;
        return part > 0 ? multiply(id->words[3], part) : 0;
    case SPIRV_TYPE_MATRIX:
        part = id->count >= 4 ? type_size(module, id->words[2], depth + 1, budget) : 0;
        return part > 0 ? multiply(id->words[3], part) : 0;
    case SPIRV_TYPE_ARRAY:
        return id->count >= 4 ? array_size(module, id, depth, budget) : 0;
    case SPIRV_TYPE_STRUCT:
        return struct_size(module, id, depth, budget);
    case SPIRV_TYPE_POINTER:
        return 8;
    default:
        return 0;
    }
}

uint64_t spirv_size(const struct spirv_module *module, uint32_t type)
{
    uint32_t budget = SIZE_MEMBERS_MAX;
    return type_size(module, type, 0, &budget);
}

uint64_t spirv_member_size(const struct spirv_module *module, uint32_t structure, uint32_t index)
{
    const struct spirv_id *id = spirv_get(module, structure, SPIRV_TYPE_STRUCT, 0);
    uint32_t budget = SIZE_MEMBERS_MAX;
    if (id == NULL || index >= id->count - 2)
        return 0;
    return member_size(module, id->words[index + 2], spirv_member(module, structure, index), 0,
                       &budget);
}
