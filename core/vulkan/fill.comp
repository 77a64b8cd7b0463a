// SPDX-License-Identifier: MIT
// What fill.c computes, bit by bit the same. Each invocation writes two words. KIND is one of the
// numbers below; WIDTH the bytes of an element.
#version 450
#define RANDOM 0 // random bits
#define VALUE 1  // a pattern of two words
#define FLOAT 2  // uniform, fp32
#define SMALL 3  // uniform, rounded to a half, or to a bfloat16 where BFLOAT is 1
#define WHOLE 4  // uniform, whole
#define DOUBLE 5 // uniform, fp64

layout(local_size_x = 256) in;
layout(binding = 0) writeonly buffer words_block { uint words[]; };
layout(push_constant) uniform push {
    uint pairs;                // to write
    uint first_low, first_high; // index of the first pair in the buffer
    uint seed_low, seed_high;
    uint a_low, a_high; // VALUE: the pattern; WHOLE: the lowest value
    uint b_low, b_high; // WHOLE: how many values there are
    uint top, under;    // SMALL: bits of the excluded bound, and what stands for it
    float low, high, below;
#if KIND == DOUBLE
    double wide_low, wide_high, wide_below;
#endif
};

uvec2 add(uvec2 a, uvec2 b)
{
    uint carry;
    uint x = uaddCarry(a.x, b.x, carry);
    return uvec2(x, a.y + b.y + carry);
}

uvec2 multiply(uvec2 a, uvec2 b)
{
    uint high, low;
    umulExtended(a.x, b.x, high, low);
    return uvec2(low, high + a.x * b.y + a.y * b.x);
}

uvec2 multiply_high(uvec2 a, uvec2 b)
{
    uint high, low;
    umulExtended(a.x, b.x, high, low);
    uvec2 middle = uvec2(high, 0u);
    umulExtended(a.y, b.x, high, low);
    middle = add(middle, uvec2(low, high));
    uvec2 other;
    umulExtended(a.x, b.y, high, low);
    other = add(uvec2(low, high), uvec2(middle.x, 0u));
    umulExtended(a.y, b.y, high, low);
    return add(add(uvec2(low, high), uvec2(middle.y, 0u)), uvec2(other.y, 0u));
}

uvec2 shifted(uvec2 z, int bits)
{
    return uvec2(z.x >> bits | z.y << (32 - bits), z.y >> bits);
}

// splitmix64
uvec2 random_at(uvec2 index)
{
    uvec2 z = add(uvec2(seed_low, seed_high), multiply(add(index, uvec2(1u, 0u)), uvec2(0x7F4A7C15u, 0x9E3779B9u)));
    z = multiply(z ^ shifted(z, 30), uvec2(0x1CE4E5B9u, 0xBF58476Du));
    z = multiply(z ^ shifted(z, 27), uvec2(0x133111EBu, 0x94D049BBu));
    return z ^ shifted(z, 31);
}

float uniform_float(uint bits)
{
    precise float span = high - low;
    precise float value = low + span * (float(bits >> 8) * (1.0 / 16777216.0));
    return value < high ? value : below;
}

// To nearest, ties to even, by integers alone: conversions of drivers round as they like.
uint rounded(uint value, uint bits)
{
    uint left = value & ((1u << bits) - 1u), middle = 1u << (bits - 1u);
    uint whole = value >> bits;
    return whole + uint(left > middle || (left == middle && (whole & 1u) == 1u));
}

uint small(float value)
{
    uint bits = floatBitsToUint(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    uint result;
#if BFLOAT
    result = rounded(magnitude, 16u);
#else
    uint exponent = magnitude >> 23;
    if (exponent >= 113u)
        result = min(rounded(magnitude - (112u << 23), 13u), 0x7c00u);
    else if (exponent >= 102u)
        result = rounded((magnitude & 0x7fffffu) | 0x800000u, 126u - exponent);
    else
        result = 0u;
#endif
    result |= sign;
    bool reached = result == top || (((top | result) & 0x7fffu) == 0u);
    return reached ? under : result;
}

uint whole(uint bits)
{
    uint product_high, product_low;
    umulExtended(bits, b_low, product_high, product_low);
    return a_low + product_high + (b_high != 0u ? bits : 0u);
}

#if KIND == DOUBLE
uvec2 uniform_double(uvec2 bits)
{
    uvec2 upper = shifted(bits, 11);
    precise double unit = (double(upper.y) * 4294967296.0LF + double(upper.x)) * (1.0LF / 9007199254740992.0LF);
    precise double span = wide_high - wide_low;
    precise double value = wide_low + span * unit;
    return unpackDouble2x32(value < wide_high ? value : wide_below);
}
#endif

// Element number `at` of the pair, from its random bits.
uint element(uint bits)
{
#if KIND == SMALL
    return small(uniform_float(bits)) & 0xffffu;
#elif KIND == WHOLE
    return whole(bits) & (WIDTH == 1 ? 0xffu : WIDTH == 2 ? 0xffffu : 0xffffffffu);
#else
    return floatBitsToUint(uniform_float(bits));
#endif
}

uvec2 pair(uvec2 index)
{
#if KIND == RANDOM
    return random_at(index);
#elif KIND == VALUE
    return uvec2(a_low, a_high);
#elif KIND == DOUBLE
    return uniform_double(random_at(index));
#elif WIDTH == 8
    return add(uvec2(a_low, a_high), multiply_high(random_at(index), uvec2(b_low, b_high)));
#else
    const uint randoms = 4u / WIDTH; // of 64 bits
    uvec2 result = uvec2(0u);
    uvec2 first = multiply(index, uvec2(randoms, 0u));
    for (uint i = 0u; i < randoms; i++) {
        uvec2 bits = random_at(add(first, uvec2(i, 0u)));
        for (uint half_of = 0u; half_of < 2u; half_of++) {
            uint place = (2u * i + half_of) * WIDTH * 8u; // in the pair, in bits
            result[place / 32u] |= element(bits[half_of]) << (place % 32u);
        }
    }
    return result;
#endif
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= pairs)
        return;
    uvec2 both = pair(add(uvec2(first_low, first_high), uvec2(i, 0u)));
    words[2u * i] = both.x;
    words[2u * i + 1u] = both.y;
}
