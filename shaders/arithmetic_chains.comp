// SPDX-License-Identifier: MIT
// Multiply-adds on values that stay in registers. In each turn of a loop VECTORS vectors start from one
// value, which the turn's number gives, go through STEPS steps without looking at each other, and are
// folded into one, which is all that the loop carries: one that carries every vector costs a driver that
// masks its invocations a copy of each, and turns that wait for the one before cost their latency.
//   bindings    results: WIDTH words an invocation; those of one component stand together
//   push        rounds: turns of the loop; factor: a step is value * factor + factor
//   constants   WORKGROUP: local size in x
//   defines     NUMBER: type of a component; WIDTH: components of a vector; VECTOR: its type (NUMBER when
//               WIDTH is 1); VECTORS; STEPS; UNROLLED: steps that are
//               written out, a divisor of STEPS; STORED: float or int, the type of the results and of the
//               push constants; FOLDED: as VECTOR, of a type that holds what is carried and of which a
//               register holds a whole subgroup's; MIX: - or, for whole numbers, which a compiler may add up
//               in any order, ^
//   limiter     arithmetic units of one number kind
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types : require

layout(local_size_x = 64, local_size_x_id = 0) in;
layout(constant_id = 0) const uint WORKGROUP = 64;

layout(set = 0, binding = 0, std430) writeonly buffer results_block { STORED values[]; } results;
layout(push_constant) uniform push_block { uint rounds; STORED factor; } push;

#if WIDTH == 1
#define COMPONENT(vector, i) vector
#define SPREAD(vector) NUMBER(0)
#else
#define COMPONENT(vector, i) vector[i]
#if WIDTH == 2
#define SPREAD(vector) (vector.x - vector.y)
#else
#define SPREAD(vector) ((vector.x - vector.y) + (vector.z - vector.w))
#endif
#endif

void main()
{
    uint invocation = gl_GlobalInvocationID.x;
    VECTOR factor = VECTOR(NUMBER(push.factor));
    FOLDED carried = FOLDED(0);
    for (uint round = 0; round < push.rounds; round++) {
        VECTOR first, value[VECTORS];
        [[unroll]] for (int i = 0; i < WIDTH; i++)
            COMPONENT(first, i) = NUMBER(int((invocation + round + i) & 127u));
        [[unroll]] for (int v = 0; v < VECTORS; v++)
            value[v] = first + VECTOR(NUMBER(v));
        // A driver that does not fuse the two keeps this order, in which both have the most time to end.
#if UNROLLED < STEPS
        for (int block = 0; block < STEPS / UNROLLED; block++)
#endif
        [[unroll]] for (int s = 0; s < UNROLLED; s++) {
            [[unroll]] for (int v = 0; v < VECTORS; v++)
                value[v] = value[v] * factor;
            [[unroll]] for (int v = 0; v < VECTORS; v++)
                value[v] = value[v] + factor;
        }
        // Signs add up to one. The second pass begins with what the first made of all values, so that
        // they have to be there at once: else a compiler may go through them one after the other.
        const int odd = VECTORS % 2;
        VECTOR rest = value[odd * (VECTORS - 1)];
        [[unroll]] for (int v = 1; v < VECTORS; v += 2)
            rest += value[v - 1] - value[v];
        rest += VECTOR(SPREAD(rest));
        [[unroll]] for (int v = 1; v < VECTORS; v += 2)
            rest = (rest MIX value[v]) + value[v - 1];
        if (odd == 1)
            rest = (rest MIX value[VECTORS - 1]) + value[VECTORS - 1];
        carried = FOLDED(rest) - carried;
    }
    [[unroll]] for (int i = 0; i < WIDTH; i++)
        results.values[i * gl_NumWorkGroups.x * WORKGROUP + invocation] = STORED(COMPONENT(carried, i));
}
