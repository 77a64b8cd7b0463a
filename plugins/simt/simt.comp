// SPDX-License-Identifier: MIT
// A branch, each side a loop of multiply-adds. Which side an invocation takes depends on its number alone: neighbours
// go together in blocks of `granularity`, and of each PERIOD blocks `taken` take the first side, spread evenly.
#version 450
layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer input_block { uint x[]; };
layout(binding = 1) writeonly buffer output_block { uint y[]; };
layout(push_constant) uniform push {
    uint n;
    uint granularity;
    uint taken;
    uint steps;      // of the first side, 16 multiply-adds each
    uint steps_else; // of the second side
    float factor;    // 1, which no compiler knows: all results are whole numbers
};
const uint PERIOD = 1024;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= n)
        return;
    uint block = i / granularity % PERIOD;
    vec4 value = float(x[i]) + vec4(0, 1, 2, 3);
    if ((block + 1) * taken / PERIOD > block * taken / PERIOD) {
        for (uint k = 0; k < steps; k++) {
            value = value * factor + 1.0;
            value = value * factor + 1.0;
            value = value * factor + 1.0;
            value = value * factor + 1.0;
        }
    } else {
        for (uint k = 0; k < steps_else; k++) {
            value = value * factor + 2.0;
            value = value * factor + 2.0;
            value = value * factor + 2.0;
            value = value * factor + 2.0;
        }
    }
    y[i] = uint(value.x + value.y + value.z + value.w);
}
