// SPDX-License-Identifier: MIT
// C = A B by cooperative matrices (GL_KHR_cooperative_matrix): a group makes ROWS x COLUMNS of C, its
// subgroups a block of BLOCK_ROWS x BLOCK_COLUMNS matrices of M x N each; operands go through shared memory.
//   bindings    a, b: words, or vectors of 16 bytes where WIDE_A, WIDE_B are defined; c
//   push        as include/gemm_places.glsl says
//   defines     those of include/gemm_places.glsl; WIDE_A, WIDE_B: rows, and parts of one that a piece starts
//               with, are whole vectors; TILE_WORD: uvec4, or uvec2 where a matrix has rows of 8 bytes in a tile;
//               ROLLED: loops stay loops, and nothing is read ahead: for compilers that unrolled ones overwhelm
//   constants   LANES: invocations of a group; M, N, K: a shape of the device; GRID_ROWS, GRID_COLUMNS:
//               subgroups of a group; BLOCK_ROWS, BLOCK_COLUMNS: matrices of a subgroup; DEPTH: a step along k
//   limiter     the matrix units; shared memory where a block is small
// What is outside of the operands counts as zero, and is not stored: sizes need not be multiples of anything.
#version 450
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_control_flow_attributes : require
#include "include/gemm_places.glsl"

#if defined(OPERAND_FP64)
#define ELEMENT double
#define STORED_BYTES 8
#define TILE_BYTES 8
#elif defined(OPERAND_FP32)
#define ELEMENT float
#define STORED_BYTES 4
#define TILE_BYTES 4
#elif defined(OPERAND_INT8)
#define ELEMENT int8_t
#define STORED_BYTES 1
#define TILE_BYTES 1
#elif defined(OPERAND_FP8)
#define ELEMENT float16_t
#define STORED_BYTES 1
#define TILE_BYTES 2
#else
#define ELEMENT float16_t
#define STORED_BYTES 2
#define TILE_BYTES 2
#endif

layout(local_size_x = 32, local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 32;
layout(constant_id = 1) const uint M = 16;
layout(constant_id = 2) const uint N = 16;
layout(constant_id = 3) const uint K = 16;
layout(constant_id = 4) const uint GRID_ROWS = 1;
layout(constant_id = 5) const uint GRID_COLUMNS = 1;
layout(constant_id = 6) const uint BLOCK_ROWS = 2;
layout(constant_id = 7) const uint BLOCK_COLUMNS = 2;
layout(constant_id = 8) const uint DEPTH = 32;

const uint ROWS = GRID_ROWS * BLOCK_ROWS * M;
const uint COLUMNS = GRID_COLUMNS * BLOCK_COLUMNS * N;
const uint PER_VECTOR = 16 / TILE_BYTES;

// A tile has OUTER rows of INNER elements, in the order of memory.
#ifdef TRANSPOSE_A
#define A_OUTER DEPTH
#define A_INNER ROWS
#define A_LAYOUT gl_CooperativeMatrixLayoutColumnMajor
#else
#define A_OUTER ROWS
#define A_INNER DEPTH
#define A_LAYOUT gl_CooperativeMatrixLayoutRowMajor
#endif
#ifdef TRANSPOSE_B
#define B_OUTER COLUMNS
#define B_INNER DEPTH
#define B_LAYOUT gl_CooperativeMatrixLayoutColumnMajor
#else
#define B_OUTER DEPTH
#define B_INNER COLUMNS
#define B_LAYOUT gl_CooperativeMatrixLayoutRowMajor
#endif

// Vectors of a tile; how many an invocation moves; words from a row to the next, one vector apart so that
// rows start in different banks.
const uint A_VECTORS = A_OUTER * A_INNER / PER_VECTOR, B_VECTORS = B_OUTER * B_INNER / PER_VECTOR;
const uint A_EACH = (A_VECTORS + LANES - 1) / LANES, B_EACH = (B_VECTORS + LANES - 1) / LANES;
#define uvec4_BYTES 16
#define uvec2_BYTES 8
#define BYTES_OF_(type) type##_BYTES
#define BYTES_OF(type) BYTES_OF_(type)
const uint WORD_BYTES = BYTES_OF(TILE_WORD), PER_WORD = WORD_BYTES / TILE_BYTES;
const uint A_STRIDE = A_INNER / PER_WORD + 16 / WORD_BYTES;
const uint B_STRIDE = B_INNER / PER_WORD + 16 / WORD_BYTES;

shared TILE_WORD a_tile[A_OUTER * A_STRIDE];
shared TILE_WORD b_tile[B_OUTER * B_STRIDE];
shared SUM c_tile[GRID_ROWS * GRID_COLUMNS * M * N];

#ifdef WIDE_A
layout(set = 0, binding = 0, std430) readonly buffer a_block { uvec4 vectors[]; } a;
#else
layout(set = 0, binding = 0, std430) readonly buffer a_block { uint words[]; } a;
#endif
#ifdef WIDE_B
layout(set = 0, binding = 1, std430) readonly buffer b_block { uvec4 vectors[]; } b;
#else
layout(set = 0, binding = 1, std430) readonly buffer b_block { uint words[]; } b;
#endif

// The bits of an E4M3 as fp16, which holds them all: 8 more of exponent, and denormal ones become normal.
uint half_of_e4m3(uint bits)
{
    uint magnitude = bits & 0x7fu;
    uint result = magnitude < 8 ? packHalf2x16(vec2(float(magnitude) * 0.001953125, 0))
                                : (magnitude << 7) + (8u << 10);
    result = magnitude == 0x7fu ? 0x7e00u : result;
    return result | (bits & 0x80u) << 8;
}

#ifdef WIDE_A
#define WIDE
#endif
#define OPERAND a
#define FETCH fetch_a
#include "include/gemm_fetch.glsl"
#undef WIDE
#undef OPERAND
#undef FETCH
#ifdef WIDE_B
#define WIDE
#endif
#define OPERAND b
#define FETCH fetch_b
#include "include/gemm_fetch.glsl"

// Vector `i` of this invocation's part of a step: read, and put into the tile.
uvec4 read_a(uint i, uint k)
{
    uint first = push.a_first + gl_WorkGroupID.z * push.a_matrix, vector = i * LANES + gl_LocalInvocationIndex;
    uint outer = vector / (A_INNER / PER_VECTOR), inner = vector % (A_INNER / PER_VECTOR) * PER_VECTOR;
#ifdef TRANSPOSE_A
    return fetch_a(first, push.a_row, k + outer, gl_WorkGroupID.y * ROWS + inner, push.k, push.m);
#else
    return fetch_a(first, push.a_row, gl_WorkGroupID.y * ROWS + outer, k + inner, push.m, push.k);
#endif
}

uvec4 read_b(uint i, uint k)
{
    uint first = push.b_first + gl_WorkGroupID.z * push.b_matrix, vector = i * LANES + gl_LocalInvocationIndex;
    uint outer = vector / (B_INNER / PER_VECTOR), inner = vector % (B_INNER / PER_VECTOR) * PER_VECTOR;
#ifdef TRANSPOSE_B
    return fetch_b(first, push.b_row, gl_WorkGroupID.x * COLUMNS + outer, k + inner, push.n, push.k);
#else
    return fetch_b(first, push.b_row, k + outer, gl_WorkGroupID.x * COLUMNS + inner, push.k, push.n);
#endif
}

#define uvec4_PUT(tile, at, bits) tile[at] = bits
#define uvec2_PUT(tile, at, bits) tile[at] = (bits).xy, tile[(at) + 1] = (bits).zw
#define PUT_(type, tile, at, bits) type##_PUT(tile, at, bits)
#define PUT(type, tile, at, bits) PUT_(type, tile, at, bits)

void put_a(uint i, uvec4 bits)
{
    uint vector = i * LANES + gl_LocalInvocationIndex;
    uint outer = vector / (A_INNER / PER_VECTOR), inner = vector % (A_INNER / PER_VECTOR);
    if (outer < A_OUTER)
        PUT(TILE_WORD, a_tile, outer * A_STRIDE + inner * (16 / WORD_BYTES), bits);
}

void put_b(uint i, uvec4 bits)
{
    uint vector = i * LANES + gl_LocalInvocationIndex;
    uint outer = vector / (B_INNER / PER_VECTOR), inner = vector % (B_INNER / PER_VECTOR);
    if (outer < B_OUTER)
        PUT(TILE_WORD, b_tile, outer * B_STRIDE + inner * (16 / WORD_BYTES), bits);
}

#ifdef ROLLED
#define LOOP [[dont_unroll]]

void fetch_step(uint k) {}

void share_step(uint k)
{
    LOOP for (uint i = 0; i < A_EACH; i++)
        put_a(i, read_a(i, k));
    LOOP for (uint i = 0; i < B_EACH; i++)
        put_b(i, read_b(i, k));
}
#else
#define LOOP [[unroll]]

// The step that is multiplied next waits here while the one before is.
uvec4 a_next[A_EACH], b_next[B_EACH];

void fetch_step(uint k)
{
    LOOP for (uint i = 0; i < A_EACH; i++)
        a_next[i] = read_a(i, k);
    LOOP for (uint i = 0; i < B_EACH; i++)
        b_next[i] = read_b(i, k);
}

void share_step(uint k)
{
    LOOP for (uint i = 0; i < A_EACH; i++)
        put_a(i, a_next[i]);
    LOOP for (uint i = 0; i < B_EACH; i++)
        put_b(i, b_next[i]);
}
#endif

// Where in the tiles a matrix starts.
uint a_word(uint row, uint k)
{
#ifdef TRANSPOSE_A
    return k * A_STRIDE + row / PER_WORD;
#else
    return row * A_STRIDE + k / PER_WORD;
#endif
}

uint b_word(uint k, uint column)
{
#ifdef TRANSPOSE_B
    return column * B_STRIDE + k / PER_WORD;
#else
    return k * B_STRIDE + column / PER_WORD;
#endif
}

void main()
{
    coopmat<SUM, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> sums[BLOCK_ROWS * BLOCK_COLUMNS];
    coopmat<ELEMENT, gl_ScopeSubgroup, M, K, gl_MatrixUseA> a_part[BLOCK_ROWS];
    coopmat<ELEMENT, gl_ScopeSubgroup, K, N, gl_MatrixUseB> b_part;
    // Of this subgroup's block in the group's tile.
    uint first_row = gl_SubgroupID / GRID_COLUMNS * BLOCK_ROWS * M;
    uint first_column = gl_SubgroupID % GRID_COLUMNS * BLOCK_COLUMNS * N;
    LOOP for (uint i = 0; i < BLOCK_ROWS * BLOCK_COLUMNS; i++)
        sums[i] = coopmat<SUM, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(SUM(0));
    fetch_step(0);
    for (uint step = 0; step < push.k; step += DEPTH) {
        barrier();
        share_step(step);
        barrier();
        if (step + DEPTH < push.k)
            fetch_step(step + DEPTH);
        LOOP for (uint k = 0; k < DEPTH; k += K) {
            LOOP for (uint i = 0; i < BLOCK_ROWS; i++)
                coopMatLoad(a_part[i], a_tile, a_word(first_row + i * M, k), A_STRIDE, A_LAYOUT);
            LOOP for (uint j = 0; j < BLOCK_COLUMNS; j++) {
                coopMatLoad(b_part, b_tile, b_word(k, first_column + j * N), B_STRIDE, B_LAYOUT);
                LOOP for (uint i = 0; i < BLOCK_ROWS; i++)
                    sums[i * BLOCK_COLUMNS + j] = coopMatMulAdd(a_part[i], b_part, sums[i * BLOCK_COLUMNS + j]);
            }
        }
    }
    first_row += gl_WorkGroupID.y * ROWS;
    first_column += gl_WorkGroupID.x * COLUMNS;
    LOOP for (uint i = 0; i < BLOCK_ROWS * BLOCK_COLUMNS; i++) {
        uint row = first_row + i / BLOCK_COLUMNS * M, column = first_column + i % BLOCK_COLUMNS * N;
        barrier();
        coopMatStore(sums[i], c_tile, gl_SubgroupID * M * N, N, gl_CooperativeMatrixLayoutRowMajor);
        barrier();
        for (uint j = gl_SubgroupInvocationID; j < M * N; j += gl_SubgroupSize)
            if (row + j / N < push.m && column + j % N < push.n)
                store_c(gl_WorkGroupID.z, row + j / N, column + j % N, c_tile[gl_SubgroupID * M * N + j]);
    }
}
