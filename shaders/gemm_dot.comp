// SPDX-License-Identifier: MIT
// C = A B of int8 by integer dot products: four products and their sum by one instruction. A group makes
// ROWS x COLUMNS of C, an invocation BLOCK x BLOCK of them; operands go through shared memory, in words of
// four elements along k.
//   bindings    a, b: words, or vectors of 16 bytes where WIDE_A, WIDE_B are defined; c
//   push        as include/gemm_places.glsl says
//   defines     those of include/gemm_places.glsl, OPERAND_INT8 alone; WIDE_A, WIDE_B: rows, and parts of one
//               that a piece starts with, are whole vectors
//   constants   LANES: invocations of a group; ROWS, COLUMNS: of its tile, multiples of 16; BLOCK
//   limiter     dot products; shared memory where BLOCK is small
// The instruction is SPIR-V's own (SPV_KHR_integer_dot_product): older compilers have no word for it in GLSL.
#version 450
#extension GL_EXT_spirv_intrinsics : require
#include "include/gemm_places.glsl"

layout(local_size_x = 64, local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 64;
layout(constant_id = 1) const uint ROWS = 32;
layout(constant_id = 2) const uint COLUMNS = 32;
layout(constant_id = 3) const uint BLOCK = 4;

#define STORED_BYTES 1
#define TILE_BYTES 1
#define DEPTH 32 // elements of a step along k
#define STRIDE (DEPTH / 4 + 1) // words from a row of a tile to the next: rows start in different banks
shared uint a_tile[ROWS * STRIDE];
shared uint b_tile[COLUMNS * STRIDE];

#ifdef WIDE_A
#define WIDE
layout(set = 0, binding = 0, std430) readonly buffer a_block { uvec4 vectors[]; } a;
#else
layout(set = 0, binding = 0, std430) readonly buffer a_block { uint words[]; } a;
#endif
#define OPERAND a
#define FETCH fetch_a
#include "include/gemm_fetch.glsl"
#undef WIDE
#undef OPERAND
#undef FETCH
#ifdef WIDE_B
#define WIDE
layout(set = 0, binding = 1, std430) readonly buffer b_block { uvec4 vectors[]; } b;
#else
layout(set = 0, binding = 1, std430) readonly buffer b_block { uint words[]; } b;
#endif
#define OPERAND b
#define FETCH fetch_b
#include "include/gemm_fetch.glsl"

// OpSDotKHR of two words, in the format PackedVectorFormat4x8BitKHR (0).
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int dot_of_words(uint x, uint y, spirv_literal uint format);

// A tile's row holds `k` words of a row of A or a column of B. Where they follow each other in memory, 16 bytes
// are 4 words; else 4 times 16 bytes, of 4 places along k, are a word of 16 rows.
#define SHARE_ALONG(tile, size, bits_of)                                                              \
    for (uint i = gl_LocalInvocationIndex; i < size * (DEPTH / 16); i += LANES) {                     \
        uint row = i / (DEPTH / 16), word = i % (DEPTH / 16) * 4;                                     \
        uvec4 bits = bits_of(row, step + 4 * word);                                                   \
        for (uint j = 0; j < 4; j++)                                                                  \
            tile[row * STRIDE + word + j] = bits[j];                                                  \
    }
#define SHARE_ACROSS(tile, size, bits_of)                                                             \
    for (uint i = gl_LocalInvocationIndex; i < size / 16 * (DEPTH / 4); i += LANES) {                 \
        uint row = i % (size / 16) * 16, word = i / (size / 16), k = step + 4 * word;                 \
        uvec4 bits[4] = {bits_of(k, row), bits_of(k + 1, row), bits_of(k + 2, row), bits_of(k + 3, row)}; \
        for (uint j = 0; j < 16; j++) {                                                               \
            uint shift = j % 4 * 8;                                                                   \
            tile[(row + j) * STRIDE + word] =                                                         \
                bitfieldExtract(bits[0][j / 4], int(shift), 8) |                                      \
                bitfieldExtract(bits[1][j / 4], int(shift), 8) << 8 |                                 \
                bitfieldExtract(bits[2][j / 4], int(shift), 8) << 16 |                                \
                bitfieldExtract(bits[3][j / 4], int(shift), 8) << 24;                                 \
        }                                                                                             \
    }

uint a_first, b_first; // of the matrices

#ifdef TRANSPOSE_A
#define SHARE_A SHARE_ACROSS
uvec4 a_bits(uint k, uint row)
{
    return fetch_a(a_first, push.a_row, k, gl_WorkGroupID.y * ROWS + row, push.k, push.m);
}
#else
#define SHARE_A SHARE_ALONG
uvec4 a_bits(uint row, uint k)
{
    return fetch_a(a_first, push.a_row, gl_WorkGroupID.y * ROWS + row, k, push.m, push.k);
}
#endif

#ifdef TRANSPOSE_B
#define SHARE_B SHARE_ALONG
uvec4 b_bits(uint column, uint k)
{
    return fetch_b(b_first, push.b_row, gl_WorkGroupID.x * COLUMNS + column, k, push.n, push.k);
}
#else
#define SHARE_B SHARE_ACROSS
uvec4 b_bits(uint k, uint column)
{
    return fetch_b(b_first, push.b_row, k, gl_WorkGroupID.x * COLUMNS + column, push.k, push.n);
}
#endif

void main()
{
    // Rows and columns of an invocation stand apart, so that its neighbours read and store what is beside.
    const uint across = COLUMNS / BLOCK, down = ROWS / BLOCK;
    uint row = gl_LocalInvocationIndex / across, column = gl_LocalInvocationIndex % across;
    int sums[BLOCK * BLOCK];
    uint left[BLOCK];
    a_first = push.a_first + gl_WorkGroupID.z * push.a_matrix;
    b_first = push.b_first + gl_WorkGroupID.z * push.b_matrix;
    for (uint i = 0; i < BLOCK * BLOCK; i++)
        sums[i] = 0;
    for (uint step = 0; step < push.k; step += DEPTH) {
        barrier();
        SHARE_A(a_tile, ROWS, a_bits)
        SHARE_B(b_tile, COLUMNS, b_bits)
        barrier();
        for (uint word = 0; word < DEPTH / 4; word++) {
            for (uint i = 0; i < BLOCK; i++)
                left[i] = a_tile[(row + i * down) * STRIDE + word];
            for (uint j = 0; j < BLOCK; j++) {
                uint right = b_tile[(column + j * across) * STRIDE + word];
                for (uint i = 0; i < BLOCK; i++)
                    sums[i * BLOCK + j] += dot_of_words(left[i], right, 0);
            }
        }
    }
    row += gl_WorkGroupID.y * ROWS;
    column += gl_WorkGroupID.x * COLUMNS;
    for (uint i = 0; i < BLOCK * BLOCK; i++) {
        uint at_row = row + i / BLOCK * down, at_column = column + i % BLOCK * across;
        if (at_row < push.m && at_column < push.n)
            store_c(gl_WorkGroupID.z, at_row, at_column, sums[i]);
    }
}
