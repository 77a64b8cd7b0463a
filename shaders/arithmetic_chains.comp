// SPDX-License-Identifier: MIT
// Multiply-adds on values that stay in registers. In each turn of a loop VECTORS vectors start from one
// value, go through STEPS steps without looking at each other, and are folded into one value again:
// a loop that carries a single value costs a driver that masks its invocations next to nothing, where
// one that carries all of them costs half the rate.
//   bindings    results: WIDTH words an invocation; those of one component stand together
//   push        rounds: turns of the loop; factor: a step is value * factor + factor
//   constants   WORKGROUP: local size in x
//   defines     NUMBER: type of a component; WIDTH: components of a vector; VECTOR: its type (NUMBER when
//               WIDTH is 1); VECTORS; STEPS; STORED: float or int, the type of the results and of the
//               push constants; FOLDED, FOLDED_NUMBER: as VECTOR and NUMBER, of a type that holds what is
//               carried and of which a register holds a whole subgroup's
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
#else
#define COMPONENT(vector, i) vector[i]
#endif

void main()
{
    uint invocation = gl_GlobalInvocationID.x;
    VECTOR factor = VECTOR(NUMBER(push.factor));
    FOLDED carried;
    [[unroll]] for (int i = 0; i < WIDTH; i++)
        COMPONENT(carried, i) = FOLDED_NUMBER(int((invocation + i) & 127u));
    for (uint round = 0; round < push.rounds; round++) {
        VECTOR value[VECTORS];
        value[0] = VECTOR(carried);
        [[unroll]] for (int v = 1; v < VECTORS; v++)
            value[v] = value[v - 1] + factor;
        [[unroll]] for (int s = 0; s < STEPS; s++)
            [[unroll]] for (int v = 0; v < VECTORS; v++)
                value[v] = value[v] * factor + factor;
        // Signs add up to one. The second pass works with the sum of the first, so that all values have
        // to be there at once: else a compiler may go through the vectors one after the other.
        carried = FOLDED(value[VECTORS % 2 == 0 ? 0 : VECTORS - 1]);
        [[unroll]] for (int v = 1; v < VECTORS; v += 2)
            carried += FOLDED(value[v - 1]) - FOLDED(value[v]);
        VECTOR sum = VECTOR(carried), rest = VECTOR(0);
        [[unroll]] for (int v = 1; v < VECTORS; v += 2)
            rest += (sum - value[v]) - (sum - value[v - 1]);
        carried += FOLDED(rest);
    }
    [[unroll]] for (int i = 0; i < WIDTH; i++)
        results.values[i * gl_NumWorkGroups.x * WORKGROUP + invocation] = STORED(COMPONENT(carried, i));
}
