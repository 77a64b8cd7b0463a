// SPDX-License-Identifier: MIT
// Packs an operand of a product for gemm_subgroup.comp, as include/gemm_packed.glsl says: numbers under 32 bits
// become fp32, zeroes stand where there is no row or no k. B's columns are rows here.
//   bindings    source: the operand's part, texels of 16 bytes where WIDE is defined; panels: what is made
//   push        rows, depth: of the part; first, pitch, matrix: its first element, elements from one stored row
//               to the next, and from a matrix of the batch to the next; panels, steps: of a packed matrix
//   defines     OPERAND_*: what is stored, as in gemm_numbers.glsl; DEPTH_FIRST: k runs along a stored row, else
//               rows do; WIDE: stored rows begin and end on 16 bytes; WORDS64: stores of 64 bits
//   constants   LANES: local size in x, that of a subgroup; SLOTS, SPREAD: see gemm_packed.glsl
//   groups      panels (all that share rows: one), blocks of BLOCK k, matrices
//   limiter     stores, which lavapipe does one lane after the other
#version 460
#extension GL_EXT_control_flow_attributes : require
#ifdef WORDS64
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LANES = 8;
layout(constant_id = 1) const uint SLOTS = 4;
layout(constant_id = 2) const uint SPREAD = 1;
#define BLOCK 16

#include "include/gemm_numbers.glsl"
#include "include/gemm_packed.glsl"

#if defined(OPERAND_FP64)
#define VALUE uvec2
#define STORED 2
#elif defined(OPERAND_FP32)
#define VALUE uint
#define STORED 4
#else
#define VALUE uint
#define STORED (4 * PER_WORD)
#endif
// STORED numbers stand in 16 bytes; a VALUE has the bits of one as it is packed.

#ifdef WIDE
layout(set = 0, binding = 0, rgba32ui) readonly uniform uimageBuffer source;
#elif defined(OPERAND_FP64)
layout(set = 0, binding = 0, std430) readonly buffer source_block { uvec2 elements[]; } source;
#else
layout(set = 0, binding = 0, std430) readonly buffer source_block { uint elements[]; } source;
#endif
#ifdef WORDS64
layout(set = 0, binding = 1, std430) writeonly buffer panels_block { u64vec2 texels[]; } panels;
#else
layout(set = 0, binding = 1, std430) writeonly buffer panels_block { uvec4 texels[]; } panels;
#endif
layout(push_constant) uniform push_block {
    uint rows, depth;
    uint first, pitch, matrix;
    uint panels, steps;
} push;

// Number `place` of 16 stored bytes.
VALUE value(uvec4 stored, uint place)
{
#if defined(OPERAND_FP64)
    return place == 0 ? stored.xy : stored.zw;
#elif defined(OPERAND_FP32)
    return stored[place];
#else
    return floatBitsToUint(float(unpacked(stored[place / PER_WORD], place % PER_WORD)));
#endif
}

uint stored_at(uint row, uint k)
{
#ifdef DEPTH_FIRST
    return push.first + gl_WorkGroupID.z * push.matrix + row * push.pitch + k;
#else
    return push.first + gl_WorkGroupID.z * push.matrix + k * push.pitch + row;
#endif
}

void store(uint panel, uint step, uint slot, VALUE values[PACKED])
{
#if defined(OPERAND_FP64)
    uvec4 words = uvec4(values[0], values[1]);
#else
    uvec4 words = uvec4(values[0], values[1], values[2], values[3]);
#endif
    uint at = packed_texel(gl_WorkGroupID.z * push.panels + panel, step, push.steps, slot, SLOTS,
                           gl_LocalInvocationID.x);
#ifdef WORDS64
    panels.texels[at] = u64vec2(packUint2x32(words.xy), packUint2x32(words.zw));
#else
    panels.texels[at] = words;
#endif
}

#ifdef WIDE
// The 16 bytes in which the number of this row and k is the first.
uvec4 load(uint row, uint k)
{
    bool inside = row < push.rows && k < push.depth;
    uvec4 stored = imageLoad(source, int(inside ? stored_at(row, k) / STORED : 0));
    return mix(uvec4(0), stored, bvec4(inside));
}
#else
VALUE load(uint row, uint k)
{
    if (row >= push.rows || k >= push.depth)
        return VALUE(0);
    uint at = stored_at(row, k);
#ifdef PER_WORD
    return floatBitsToUint(float(unpacked(source.elements[at / PER_WORD], at % PER_WORD)));
#else
    return source.elements[at];
#endif
}
#endif

#if defined(WIDE) && defined(DEPTH_FIRST)
void pack(uint panel, uint block)
{
    [[unroll]] for (uint slot = 0; slot < SLOTS; slot++) {
        uint row = packed_row(panel, SPREAD, slot, SLOTS, gl_LocalInvocationID.x);
        [[unroll]] for (uint k = 0; k < BLOCK; k += STORED) {
            uvec4 stored = load(row, block * BLOCK + k);
            [[unroll]] for (uint i = 0; i < STORED; i += PACKED) {
                VALUE values[PACKED];
                [[unroll]] for (uint j = 0; j < PACKED; j++)
                    values[j] = value(stored, i + j);
                store(panel, (block * BLOCK + k + i) / PACKED, slot, values);
            }
        }
    }
}
#elif defined(WIDE)
// The group packs all panels that share rows: a lane has SPREAD * SLOTS of these, side by side in memory.
void pack(uint panel_group, uint block)
{
    uint row = packed_row(panel_group * SPREAD, SPREAD, 0, SLOTS, gl_LocalInvocationID.x);
    [[unroll]] for (uint k = 0; k < BLOCK; k += PACKED)
        [[unroll]] for (uint r = 0; r < SPREAD * SLOTS; r += STORED) {
            uvec4 stored[PACKED];
            [[unroll]] for (uint j = 0; j < PACKED; j++)
                stored[j] = load(row + r, block * BLOCK + k + j);
            [[unroll]] for (uint i = 0; i < STORED; i++) {
                VALUE values[PACKED];
                [[unroll]] for (uint j = 0; j < PACKED; j++)
                    values[j] = value(stored[j], i);
                store(panel_group * SPREAD + (r + i) / SLOTS, (block * BLOCK + k) / PACKED,
                      (r + i) % SLOTS, values);
            }
        }
}
#else
void pack(uint panel, uint block)
{
    for (uint slot = 0; slot < SLOTS; slot++) {
        uint row = packed_row(panel, SPREAD, slot, SLOTS, gl_LocalInvocationID.x);
        for (uint k = 0; k < BLOCK; k += PACKED) {
            VALUE values[PACKED];
            [[unroll]] for (uint j = 0; j < PACKED; j++)
                values[j] = load(row, block * BLOCK + k + j);
            store(panel, (block * BLOCK + k) / PACKED, slot, values);
        }
    }
}
#endif

void main()
{
    pack(gl_WorkGroupID.x, gl_WorkGroupID.y);
}
