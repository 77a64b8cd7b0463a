// SPDX-License-Identifier: MIT
// Copies `words` 32-bit words from `source` to `destination`; both start at their binding's offset.
//   bindings    source, destination: blocks of words
//   push        words: how many
//   constants   WORKGROUP: local size in x; WORDS_PER_INVOCATION: words that one invocation copies,
//               so dispatch ceil(words / WORDS_PER_INVOCATION) invocations
//   limiter     memory bandwidth, read and write
#version 450
#include "include/index.glsl"

layout(local_size_x = 64, local_size_x_id = 0) in;
layout(constant_id = 0) const uint WORKGROUP = 64;
layout(constant_id = 1) const uint WORDS_PER_INVOCATION = 4;

layout(set = 0, binding = 0, std430) readonly buffer source_block { uint words[]; } source;
layout(set = 0, binding = 1, std430) writeonly buffer destination_block { uint words[]; } destination;
layout(push_constant) uniform push_block { uint words; } push;

void main()
{
    for (uint i = 0; i < WORDS_PER_INVOCATION; i++) {
        uint at = strided_element(i, WORDS_PER_INVOCATION, WORKGROUP);
        if (at < push.words)
            destination.words[at] = source.words[at];
    }
}
