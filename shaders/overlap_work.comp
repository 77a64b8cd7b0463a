// SPDX-License-Identifier: MIT
// Results that words of the source are in, and multiply-adds whose end is known: so many that the work is
// as long as it is asked to be, and each result is the word it was made of when all went well.
//   bindings    source, results: blocks of words
//   push        words: of the source; stride: source words from one result to the next, 0 when there are more
//               results than words; results: how many, each made of another place, the last of the last word;
//               first, end: of this dispatch, one an invocation; rounds: of each; factor: 1, which no compiler
//               knows
//   constants   WORKGROUP: local size in x; ARITHMETIC: whether there is any (a driver may go through it even
//               where no invocation wants it, so that the two are kernels of their own)
//   limiter     fp32 arithmetic, or memory latency where there is none
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64, local_size_x_id = 0) in;
layout(constant_id = 0) const uint WORKGROUP = 64;
layout(constant_id = 1) const bool ARITHMETIC = true;

layout(set = 0, binding = 0, std430) readonly buffer source_block { uint words[]; } source;
layout(set = 0, binding = 1, std430) writeonly buffer results_block { uint words[]; } results;
layout(push_constant) uniform push_block { uint words, stride, results, first, end, rounds; float factor; } push;

const int CHAINS = 8; // as overlap.c counts
const int STEPS = 64;

uint gathered(uint at)
{
    if (push.stride == 0)
        return at % push.words;
    return at + 1 == push.results ? push.words - 1 : at * push.stride;
}

// Whole numbers below 2^24, so that each step is exact, fused or not. A round ends with what it began with: 0.
float work(float first)
{
    float carried = 0.0;
    for (uint round = 0; round < push.rounds; round++) {
        float value[CHAINS];
        [[unroll]] for (int v = 0; v < CHAINS; v++)
            value[v] = first + float(v) + carried;
        // A driver that does not fuse the two keeps this order, in which both have the most time to end.
        [[unroll]] for (int s = 0; s < STEPS; s++) {
            [[unroll]] for (int v = 0; v < CHAINS; v++)
                value[v] = value[v] * push.factor;
            [[unroll]] for (int v = 0; v < CHAINS; v++)
                value[v] = value[v] + push.factor;
        }
        carried = -float(CHAINS / 2);
        [[unroll]] for (int v = 1; v < CHAINS; v += 2)
            carried += value[v] - value[v - 1];
    }
    return carried;
}

void main()
{
    uint at = push.first + gl_GlobalInvocationID.x;
    if (at >= push.end)
        return;
    uint word = source.words[gathered(at)];
    if (ARITHMETIC)
        word ^= floatBitsToUint(work(float(word & 127u)));
    results.words[at] = word;
}
