// SPDX-License-Identifier: MIT
// y = factor * x, one element an invocation.
#version 450

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WORKGROUP = 64;
layout(std430, binding = 0) readonly buffer Input { float elements[]; } x;
layout(std430, binding = 1) writeonly buffer Output { float elements[]; } y;
layout(push_constant) uniform Push { uint n; float factor; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < n)
        y.elements[i] = factor * x.elements[i];
}
