// SPDX-License-Identifier: MIT
// destination = factor * source, one word an invocation; bound by memory.
#version 450

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WORKGROUP = 64;
layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Destination { uint destination[]; };
layout(push_constant) uniform Push { uint count, factor; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < count)
        destination[i] = factor * source[i];
}
