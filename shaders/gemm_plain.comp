// SPDX-License-Identifier: MIT
// C = A B, one invocation for each element of C.
//   bindings    a, b, c; push, defines: as include/gemm_operands.glsl says
//   constants   COLUMNS, ROWS: local size in x and y; groups go along columns, rows and the batch
//   limiter     loads: two for each multiply-add, though neighbours share them
#version 450
#include "include/gemm_operands.glsl"

layout(local_size_x = 8, local_size_y = 8, local_size_x_id = 0, local_size_y_id = 1) in;
layout(constant_id = 0) const uint COLUMNS = 8;
layout(constant_id = 1) const uint ROWS = 8;

void main()
{
    uint row = gl_WorkGroupID.y * ROWS + gl_LocalInvocationID.y;
    uint column = gl_WorkGroupID.x * COLUMNS + gl_LocalInvocationID.x;
    uint matrix = gl_WorkGroupID.z;
    if (row >= push.m || column >= push.n)
        return;
    SUM sum = SUM(0);
    for (uint k = 0; k < push.k; k++)
        sum += A_ELEMENT(a_index(matrix, row, k)) * B_ELEMENT(b_index(matrix, k, column));
    store_c(matrix, row, column, sum);
}
