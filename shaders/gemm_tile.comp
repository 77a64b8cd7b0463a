// SPDX-License-Identifier: MIT
// C = A B, a tile of C for each group: strips of A and B go through shared memory, each invocation adds up
// a block of C in registers. The next strips are on their way while one is used.
//   bindings    a, b, c; push, defines: as include/gemm_operands.glsl says
//   constants   GROUP: local size in x, (TILE_ROWS / BLOCK_ROWS) * (TILE_COLUMNS / BLOCK_COLUMNS);
//               TILE_ROWS, TILE_COLUMNS: of C in a group; TILE_DEPTH: of a strip; BLOCK_ROWS,
//               BLOCK_COLUMNS: of C in an invocation; TURNS: of TILE_DEPTH at once. TILE_DEPTH
//               times each side of the tile is a multiple of GROUP
//   groups      go along columns, rows and the batch
//   limiter     arithmetic units, where blocks are large enough: an invocation reads BLOCK_ROWS +
//               BLOCK_COLUMNS shared elements for BLOCK_ROWS * BLOCK_COLUMNS multiply-adds
#version 450
#extension GL_EXT_control_flow_attributes : require
#include "include/gemm_operands.glsl"

layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 0) const uint GROUP = 256;
layout(constant_id = 1) const uint TILE_ROWS = 64;
layout(constant_id = 2) const uint TILE_COLUMNS = 64;
layout(constant_id = 3) const uint TILE_DEPTH = 16;
layout(constant_id = 4) const uint BLOCK_ROWS = 4;
layout(constant_id = 5) const uint BLOCK_COLUMNS = 4;
layout(constant_id = 6) const uint TURNS = 4;

// Rows of shared memory begin in other banks than their neighbours.
const uint A_PITCH = TILE_ROWS + 4;
const uint B_PITCH = TILE_COLUMNS + 4;
const uint A_LOADS = TILE_ROWS * TILE_DEPTH / GROUP;
const uint B_LOADS = TILE_COLUMNS * TILE_DEPTH / GROUP;
shared SUM a_strip[TILE_DEPTH * A_PITCH];
shared SUM b_strip[TILE_DEPTH * B_PITCH];

// The place of the load's element in its strip: x along C, y along k. Neighbours are neighbours in memory.
uvec2 a_place(uint load)
{
    uint i = load * GROUP + gl_LocalInvocationID.x;
#ifdef TRANSPOSE_A
    return uvec2(i % TILE_ROWS, i / TILE_ROWS);
#else
    return uvec2(i / TILE_DEPTH, i % TILE_DEPTH);
#endif
}

uvec2 b_place(uint load)
{
    uint i = load * GROUP + gl_LocalInvocationID.x;
#ifdef TRANSPOSE_B
    return uvec2(i / TILE_DEPTH, i % TILE_DEPTH);
#else
    return uvec2(i % TILE_COLUMNS, i / TILE_COLUMNS);
#endif
}

SUM load_a(uint row, uint k)
{
    return row < push.m && k < push.k ? SUM(A_ELEMENT(a_index(gl_WorkGroupID.z, row, k))) : SUM(0);
}

SUM load_b(uint k, uint column)
{
    return k < push.k && column < push.n ? SUM(B_ELEMENT(b_index(gl_WorkGroupID.z, k, column))) : SUM(0);
}

void main()
{
    const uint across = TILE_COLUMNS / BLOCK_COLUMNS;
    const uint first_row = gl_WorkGroupID.y * TILE_ROWS, first_column = gl_WorkGroupID.x * TILE_COLUMNS;
    const uint x = gl_LocalInvocationID.x % across, y = gl_LocalInvocationID.x / across;
    SUM sums[BLOCK_ROWS * BLOCK_COLUMNS], a_next[A_LOADS], b_next[B_LOADS];

    [[unroll]] for (uint i = 0; i < BLOCK_ROWS * BLOCK_COLUMNS; i++)
        sums[i] = SUM(0);
    [[unroll]] for (uint i = 0; i < A_LOADS; i++)
        a_next[i] = load_a(first_row + a_place(i).x, a_place(i).y);
    [[unroll]] for (uint i = 0; i < B_LOADS; i++)
        b_next[i] = load_b(b_place(i).y, first_column + b_place(i).x);

    for (uint k = 0; k < push.k; k += TILE_DEPTH) {
        barrier();
        [[unroll]] for (uint i = 0; i < A_LOADS; i++)
            a_strip[a_place(i).y * A_PITCH + a_place(i).x] = a_next[i];
        [[unroll]] for (uint i = 0; i < B_LOADS; i++)
            b_strip[b_place(i).y * B_PITCH + b_place(i).x] = b_next[i];
        barrier();
        const uint next = k + TILE_DEPTH;
        [[unroll]] for (uint i = 0; i < A_LOADS; i++)
            a_next[i] = load_a(first_row + a_place(i).x, next + a_place(i).y);
        [[unroll]] for (uint i = 0; i < B_LOADS; i++)
            b_next[i] = load_b(next + b_place(i).y, first_column + b_place(i).x);
        for (uint part = 0; part < TILE_DEPTH; part += TURNS)
            [[unroll]] for (uint turn = 0; turn < TURNS; turn++) {
                const uint depth = part + turn;
                SUM a_block[BLOCK_ROWS], b_block[BLOCK_COLUMNS];
                [[unroll]] for (uint i = 0; i < BLOCK_ROWS; i++)
                    a_block[i] = a_strip[depth * A_PITCH + y * BLOCK_ROWS + i];
                [[unroll]] for (uint j = 0; j < BLOCK_COLUMNS; j++)
                    b_block[j] = b_strip[depth * B_PITCH + j * across + x];
                [[unroll]] for (uint i = 0; i < BLOCK_ROWS; i++)
                    [[unroll]] for (uint j = 0; j < BLOCK_COLUMNS; j++)
                        sums[i * BLOCK_COLUMNS + j] += a_block[i] * b_block[j];
            }
    }

    [[unroll]] for (uint i = 0; i < BLOCK_ROWS; i++)
        [[unroll]] for (uint j = 0; j < BLOCK_COLUMNS; j++) {
            uint row = first_row + y * BLOCK_ROWS + i, column = first_column + j * across + x;
            if (row < push.m && column < push.n)
                store_c(gl_WorkGroupID.z, row, column, sums[i * BLOCK_COLUMNS + j]);
        }
}
