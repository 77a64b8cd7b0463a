// SPDX-License-Identifier: MIT
// Operands as they are stored, elements as what is added up; the rest as gemm_places.glsl says.
//   bindings    a, b: the piece's part of each matrix, with what stands before and between its rows
// Elements under 32 bits are taken out of words and converted, so that a device needs no feature for them;
// but for sums in fp16.
#include "gemm_places.glsl"

#if defined(OPERAND_FP64)
#define STORED double
#elif defined(OPERAND_FP32)
#define STORED float
#elif defined(OPERAND_FP16_ACC16)
#define STORED float16_t
#else
#define STORED uint
#endif

layout(set = 0, binding = 0, std430) readonly buffer a_block { STORED elements[]; } a;
layout(set = 0, binding = 1, std430) readonly buffer b_block { STORED elements[]; } b;

#include "gemm_numbers.glsl"

#ifdef PER_WORD
#define A_ELEMENT(i) unpacked(a.elements[(i) / PER_WORD], (i) % PER_WORD)
#define B_ELEMENT(i) unpacked(b.elements[(i) / PER_WORD], (i) % PER_WORD)
#else
#define A_ELEMENT(i) a.elements[i]
#define B_ELEMENT(i) b.elements[i]
#endif
