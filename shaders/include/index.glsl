// SPDX-License-Identifier: MIT
// Where an invocation stands in a one-dimensional dispatch over words.

// The first of `count` neighbouring words that are this invocation's, or `limit` when there is none
// left for it; cannot wrap.
uint first_word(uint count, uint limit)
{
    uint index = gl_GlobalInvocationID.x;
    return index > limit / count ? limit : index * count;
}
