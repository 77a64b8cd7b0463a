// SPDX-License-Identifier: MIT
// Where an invocation's elements are in a one-dimensional dispatch.

// The i-th of the `count` elements of this invocation. A workgroup has `group_size * count`
// neighbouring elements, and its invocations take them in turn: neighbours touch neighbours at the
// same time. Does not wrap for the elements of a storage buffer (under 2^32 bytes).
uint strided_element(uint i, uint count, uint group_size)
{
    return (gl_WorkGroupID.x * count + i) * group_size + gl_LocalInvocationID.x;
}
