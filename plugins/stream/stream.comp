// SPDX-License-Identifier: MIT
// Sequential streams over arrays of 32-bit words, four at a time: the loads and stores of STREAM
// (McCalpin), and reading and writing alone. Each invocation takes every T-th vector, T being the
// number of invocations, so that neighbours read neighbours.
#version 450
layout(local_size_x = 256) in;
layout(constant_id = 0) const uint OPERATION = 0;
const uint COPY = 0, SCALE = 1, ADD = 2, TRIAD = 3, READ = 4, WRITE = 5;
layout(binding = 0) readonly buffer source_block { uvec4 a[]; };
layout(binding = 1) readonly buffer second_block { uvec4 b[]; };
layout(binding = 2) writeonly buffer destination_block { uvec4 c[]; };
layout(push_constant) uniform push {
    uint n; // vectors in an array
    float q;
};

void main()
{
    uint total = gl_NumWorkGroups.x * 256u;
    uvec4 sum = uvec4(0u);
    for (uint i = gl_GlobalInvocationID.x; i < n; i += total) {
        if (OPERATION == COPY) {
            c[i] = a[i];
        } else if (OPERATION == SCALE) {
            c[i] = floatBitsToUint(q * uintBitsToFloat(a[i]));
        } else if (OPERATION == ADD) {
            c[i] = floatBitsToUint(uintBitsToFloat(a[i]) + uintBitsToFloat(b[i]));
        } else if (OPERATION == TRIAD) {
            c[i] = floatBitsToUint(uintBitsToFloat(a[i]) + q * uintBitsToFloat(b[i]));
        } else if (OPERATION == READ) {
            sum += a[i];
        } else {
            c[i] = uvec4(4u * i, 4u * i + 1u, 4u * i + 2u, 4u * i + 3u);
        }
    }
    // What is read must be of use, or a compiler leaves the reading out.
    if (OPERATION == READ)
        c[gl_GlobalInvocationID.x] = sum;
}
