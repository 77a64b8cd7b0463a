// SPDX-License-Identifier: MIT
// What GEMM kernels share of their interface, whatever way they read operands.
//   bindings    c: the piece's part of C, with what stands before and between its rows
//   push        m, n, k: size of the piece; X_first: element of the piece's beginning; X_row: elements from
//               a row to the next, as stored; X_matrix: from a matrix of the batch to the next;
//               accumulate: 1 adds to what c holds
//   defines     one of OPERAND_FP64, OPERAND_FP32, OPERAND_FP16 (sums in fp32), OPERAND_FP16_ACC16 (sums in
//               fp16), OPERAND_BF16, OPERAND_INT8, OPERAND_FP8; TRANSPOSE_A, TRANSPOSE_B: stored transposed
// SUM is the type of a sum and of an element of C.
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require

#if defined(OPERAND_FP64)
#define SUM double
#elif defined(OPERAND_FP16_ACC16)
#define SUM float16_t
#elif defined(OPERAND_INT8)
#define SUM int
#else
#define SUM float
#endif

layout(set = 0, binding = 2, std430) buffer c_block { SUM elements[]; } c;
layout(push_constant) uniform push_block {
    uint m, n, k;
    uint a_first, b_first, c_first;
    uint a_row, b_row, c_row;
    uint a_matrix, b_matrix, c_matrix;
    uint accumulate;
} push;

// Where the element of the operand stands that the piece has at this place.
uint a_index(uint matrix, uint row, uint k)
{
    uint first = push.a_first + matrix * push.a_matrix;
#ifdef TRANSPOSE_A
    return first + k * push.a_row + row;
#else
    return first + row * push.a_row + k;
#endif
}

uint b_index(uint matrix, uint k, uint column)
{
    uint first = push.b_first + matrix * push.b_matrix;
#ifdef TRANSPOSE_B
    return first + column * push.b_row + k;
#else
    return first + k * push.b_row + column;
#endif
}

void store_c(uint matrix, uint row, uint column, SUM sum)
{
    uint at = push.c_first + matrix * push.c_matrix + row * push.c_row + column;
    c.elements[at] = push.accumulate == 1 ? c.elements[at] + sum : sum;
}
