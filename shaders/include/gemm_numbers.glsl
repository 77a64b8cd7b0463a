// SPDX-License-Identifier: MIT
// Numbers of under 32 bits: PER_WORD of them stand in a word, unpacked() takes one out. Not defined for others.
//   defines     one of OPERAND_FP16, OPERAND_BF16, OPERAND_INT8, OPERAND_FP8
#if defined(OPERAND_FP16)
#define PER_WORD 2
float unpacked(uint word, uint place)
{
    return unpackHalf2x16(word >> (16 * place)).x;
}
#elif defined(OPERAND_BF16)
#define PER_WORD 2
float unpacked(uint word, uint place)
{
    return uintBitsToFloat(word >> (16 * place) << 16);
}
#elif defined(OPERAND_INT8)
#define PER_WORD 4
int unpacked(uint word, uint place)
{
    return bitfieldExtract(int(word), int(8 * place), 8);
}
#elif defined(OPERAND_FP8)
#define PER_WORD 4
// E4M3: exponent and fraction at their place in a float, which has 120 more of exponent. Denormal ones are
// made of their fraction: no denormal float comes between, which a device may flush. Selections, no branches:
// kernels unroll this hundreds of times.
float unpacked(uint word, uint place)
{
    uint bits = word >> (8 * place) & 0xffu, magnitude = bits & 0x7fu;
    float value = mix(uintBitsToFloat((magnitude << 20) + (120u << 23)), float(magnitude) * 0.001953125,
                      magnitude < 8);
    uint words = mix(floatBitsToUint(value), 0x7fc00000u, magnitude == 0x7fu);
    return uintBitsToFloat(words | (bits & 0x80u) << 24);
}
#endif
