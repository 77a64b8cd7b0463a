// SPDX-License-Identifier: MIT
// C = A B from packed operands (gemm_pack.comp), made for drivers that run a subgroup as one thread's vectors, where
// shared memory and blocks cost a turn for each lane, but texel loads and shuffles by constants do not.
//   bindings    a, b: packed operands, as texels; c: the piece's part of C
//   push        m, n: size of the piece; a_panels, b_panels: of a packed matrix; steps: of a panel, whole
//               turns; c_first, c_row, c_matrix: elements of C to its beginning, from a row, a matrix to the next
//   defines     OPERAND_FP64: sums in fp64, else fp32; OPERAND_INT8: C is int32;
//               QUADS: rows of C begin and end on four elements; WORDS64: stores of 64 bits
//   constants   LANES: local size in x, that of a subgroup; A_SLOTS, B_SLOTS, A_SPREAD, B_SPREAD: of packed
//               operands; TURN: steps in a turn of the loop; ACCUMULATE: C holds the sum so far
//   groups      panels of B, panels of A, matrices
//   limiter     instructions: two of arithmetic for a multiply-add (the driver does not fuse), one or two for what
//               goes with them; a turn must fit in the processor's cache of decoded instructions
// A lane has A_SLOTS rows and B_SLOTS columns. It multiplies its columns by its rows and, lane i, by those of
// lane i ^ j for every j: sum j of it belongs to rows of the one and columns of the other. So all lanes' products
// are made with a shuffle inside of registers for each j, not a broadcast for each lane.
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#ifdef WORDS64
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 8;
layout(constant_id = 1) const uint A_SLOTS = 4;
layout(constant_id = 2) const uint B_SLOTS = 4;
layout(constant_id = 3) const uint A_SPREAD = 1;
layout(constant_id = 4) const uint B_SPREAD = 1;
layout(constant_id = 5) const uint TURN = 1;
layout(constant_id = 6) const bool ACCUMULATE = false;

#include "include/gemm_packed.glsl"

#if defined(OPERAND_FP64)
#define REAL double
#define SUM double
#define TEXEL dvec2
layout(set = 0, binding = 0, rgba32ui) readonly uniform uimageBuffer a;
layout(set = 0, binding = 1, rgba32ui) readonly uniform uimageBuffer b;
#else
#define REAL float
#define TEXEL vec4
layout(set = 0, binding = 0, rgba32f) readonly uniform imageBuffer a;
layout(set = 0, binding = 1, rgba32f) readonly uniform imageBuffer b;
#endif

#if defined(OPERAND_INT8)
#define SUM int
#define SUMS ivec4
#define TOTALS totals
// Of 1024 products of 8-bit numbers every sum is a whole number that fp32 holds exactly.
#define EXACT_STEPS (1024 / PACKED)
#else
#define TOTALS sums
#endif
#if !defined(OPERAND_INT8) && !defined(OPERAND_FP64)
#define SUM float
#define SUMS vec4
#endif
// For each sum of a lane.
#define ALL(statement)                                                                                               \
    [[unroll]] for (uint s = 0; s < A_SLOTS; s++)                                                                    \
        [[unroll]] for (uint j = 0; j < LANES; j++)                                                                  \
            [[unroll]] for (uint t = 0; t < B_SLOTS; t++)                                                            \
                statement;

#if !defined(QUADS)
layout(set = 0, binding = 2, std430) buffer c_block { SUM elements[]; } c;
#elif defined(OPERAND_FP64)
layout(set = 0, binding = 2, std430) buffer c_block { dvec2 pairs[]; } c;
#elif defined(WORDS64)
layout(set = 0, binding = 2, std430) buffer c_block { u64vec2 quads[]; } c;
#else
layout(set = 0, binding = 2, std430) buffer c_block { uvec4 quads[]; } c;
#endif
layout(push_constant) uniform push_block {
    uint m, n;
    uint a_panels, b_panels, steps;
    uint c_first, c_row, c_matrix;
} push;

// Of all texels that a binding may have: what the compiler knows not to be negative costs it nothing to extend to 64 bits.
#define PLACES 0x7ffffff
#if defined(OPERAND_FP64)
#define LOAD(image, at) unpacked_pair(imageLoad(image, at & PLACES))
dvec2 unpacked_pair(uvec4 words)
{
    return dvec2(packDouble2x32(words.xy), packDouble2x32(words.zw));
}
#else
#define LOAD(image, at) imageLoad(image, at & PLACES)
#endif

// Four elements of C from number UNIT * at on; of elements alone `count` of these.
#if defined(QUADS)
#define UNIT 4
#else
#define UNIT 1
#endif
#if !defined(QUADS)
void store(uint at, SUM sums[4], uint count)
{
    for (uint i = 0; i < count; i++)
        c.elements[at + i] = ACCUMULATE ? c.elements[at + i] + sums[i] : sums[i];
}
#elif defined(OPERAND_FP64)
void store(uint at, SUM sums[4], uint count)
{
    dvec2 low = dvec2(sums[0], sums[1]), high = dvec2(sums[2], sums[3]);
    c.pairs[2 * at] = ACCUMULATE ? c.pairs[2 * at] + low : low;
    c.pairs[2 * at + 1] = ACCUMULATE ? c.pairs[2 * at + 1] + high : high;
}
#else
#if defined(OPERAND_INT8)
#define TO_BITS uvec4
#define FROM_BITS ivec4
#else
#define TO_BITS floatBitsToUint
#define FROM_BITS uintBitsToFloat
#endif
uvec4 stored_quad(uint at)
{
#ifdef WORDS64
    u64vec2 words = c.quads[at];
    return uvec4(unpackUint2x32(words.x), unpackUint2x32(words.y));
#else
    return c.quads[at];
#endif
}

void store(uint at, SUM sums[4], uint count)
{
    SUMS quad = SUMS(sums[0], sums[1], sums[2], sums[3]);
    if (ACCUMULATE)
        quad += FROM_BITS(stored_quad(at));
    uvec4 bits = TO_BITS(quad);
#ifdef WORDS64
    c.quads[at] = u64vec2(packUint2x32(bits.xy), packUint2x32(bits.zw));
#else
    c.quads[at] = bits;
#endif
}
#endif

void main()
{
    const uint lane = gl_LocalInvocationID.x, matrix = gl_WorkGroupID.z;
    const uint row_panel = gl_WorkGroupID.y, column_panel = gl_WorkGroupID.x;
    int a_at = int(packed_texel(matrix * push.a_panels + row_panel, 0, push.steps, 0, A_SLOTS, lane));
    int b_at =
        int(packed_texel(matrix * push.b_panels + column_panel, 0, push.steps, 0, B_SLOTS, lane));
    // Not behind the loop: lavapipe's compiler would keep less of the loop in registers.
    const uint first = push.c_first / UNIT + matrix * (push.c_matrix / UNIT);
    const uint pitch = push.c_row / UNIT;

    REAL sums[A_SLOTS][LANES][B_SLOTS];
    uint step = 0, end = push.steps;
#if defined(OPERAND_INT8)
    SUM totals[A_SLOTS][LANES][B_SLOTS];
    ALL(totals[s][j][t] = 0)
    do {
        end = min(step + EXACT_STEPS, push.steps);
#endif
    ALL(sums[s][j][t] = REAL(0))
    do {
        TEXEL columns[TURN][B_SLOTS], rows[TURN], next_rows[TURN];
        [[unroll]] for (uint q = 0; q < TURN; q++) {
            [[unroll]] for (uint t = 0; t < B_SLOTS; t++)
                columns[q][t] = LOAD(b, b_at + int((q * B_SLOTS + t) * LANES));
            rows[q] = LOAD(a, a_at + int(q * A_SLOTS * LANES));
        }
        [[unroll]] for (uint s = 0; s < A_SLOTS; s++) {
            // What comes next is loaded before the arithmetic, whose latency it would add to otherwise.
            [[unroll]] for (uint q = 0; q < TURN; q++)
                if (s + 1 < A_SLOTS)
                    next_rows[q] = LOAD(a, a_at + int((q * A_SLOTS + s + 1) * LANES));
            [[unroll]] for (uint j = 0; j < LANES; j++)
                [[unroll]] for (uint q = 0; q < TURN; q++)
                    [[unroll]] for (uint i = 0; i < PACKED; i++) {
                        REAL row = j == 0 ? rows[q][i] : subgroupShuffleXor(rows[q][i], j);
                        [[unroll]] for (uint t = 0; t < B_SLOTS; t++)
                            sums[s][j][t] += row * columns[q][t][i];
                    }
            [[unroll]] for (uint q = 0; q < TURN; q++)
                if (s + 1 < A_SLOTS)
                    rows[q] = next_rows[q];
        }
        a_at += int(TURN * A_SLOTS * LANES);
        b_at += int(TURN * B_SLOTS * LANES);
        step += TURN;
    } while (step < end);
#if defined(OPERAND_INT8)
        ALL(totals[s][j][t] += SUM(sums[s][j][t]))
    } while (step < push.steps);
#endif

    [[unroll]] for (uint s = 0; s < A_SLOTS; s++)
        [[unroll]] for (uint j = 0; j < LANES; j++) {
            uint row = packed_row(row_panel, A_SPREAD, s, A_SLOTS, lane ^ j);
            [[unroll]] for (uint t = 0; t < B_SLOTS; t += 4) {
                uint column = packed_row(column_panel, B_SPREAD, t, B_SLOTS, lane);
                SUM four[4];
                // No index past the end: for that, all sums would be put in memory.
                [[unroll]] for (uint i = 0; i < 4; i++)
                    four[i] = TOTALS[s][j][min(t + i, B_SLOTS - 1)];
                if (row < push.m && column < push.n)
                    store(first + row * pitch + column / UNIT, four,
                          min(min(4, B_SLOTS), push.n - column));
            }
        }
}
