// SPDX-License-Identifier: MIT
// Tunable work: each invocation does `steps` dependent integer steps x = 1664525 x + 1013904223 (mod 2^32) from
// x = 2654435761 i + seed, and stores the last as word i; i = first + its number.
//   bindings    destination: block of words
//   push        first, count: words of this dispatch; steps; seed
//   constants   WORKGROUP: local size in x
//   limiter     the latency of an integer multiply-add, or the dispatch itself
#version 450

layout(local_size_x = 64, local_size_x_id = 0) in;

layout(set = 0, binding = 0, std430) writeonly buffer destination_block { uint words[]; } destination;
layout(push_constant) uniform push_block { uint first, count, steps, seed; } push;

void main()
{
    if (gl_GlobalInvocationID.x >= push.count)
        return;
    uint at = push.first + gl_GlobalInvocationID.x;
    uint x = 2654435761u * at + push.seed;
    for (uint step = 0; step < push.steps; step++)
        x = 1664525u * x + 1013904223u;
    destination.words[at] = x;
}
