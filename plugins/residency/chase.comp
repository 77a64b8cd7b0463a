// SPDX-License-Identifier: MIT
// Pointer chasing: each invocation follows a chain of loads, each of which says where the next one is. A batch goes on
// where the last one stopped, so that it does not find what that one left in the caches.
#version 450
layout(constant_id = 0) const uint WIDTH = 1;
layout(local_size_x_id = 0) in;
layout(binding = 0) readonly buffer chain_block { uint chain[]; };
layout(binding = 1) buffer place_block { uint place[]; };
layout(push_constant) uniform push {
    uint loads;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint at = place[i];
    for (uint k = 0; k < loads; k++)
        at = chain[at];
    place[i] = at;
}
