// SPDX-License-Identifier: MIT
// A function that reads 16 bytes of a tile from an operand as it is stored; included once an operand.
//   defines     OPERAND: the operand's block, of words (uint), or of vectors (uvec4) where WIDE is defined:
//               every row and every part of one that is read starts at a multiple of 16 bytes then;
//               FETCH: the function's name; STORED_BYTES, TILE_BYTES: of an element in memory and in a tile
//               (1 and 2: E4M3, which becomes fp16)
// Outside of [0, outers) x [0, inners) a tile holds zeroes.
#ifdef WIDE
uvec4 FETCH(uint first, uint row, uint outer, uint inner, uint outers, uint inners)
{
    uvec4 bits = uvec4(0);
    if (outer < outers && inner < inners)
        bits = OPERAND.vectors[(first + outer * row + inner) / (16 / STORED_BYTES)];
    return bits;
}
#else
uvec4 FETCH(uint first, uint row, uint outer, uint inner, uint outers, uint inners)
{
    uvec4 bits = uvec4(0);
    uint at = first + outer * row + inner;
    uint count = outer < outers && inner < inners ? min(inners - inner, 16 / TILE_BYTES) : 0;
    for (uint i = 0; i < count; i++) {
#if TILE_BYTES == 8
        bits[2 * i] = OPERAND.words[2 * (at + i)];
        bits[2 * i + 1] = OPERAND.words[2 * (at + i) + 1];
#elif TILE_BYTES == 4
        bits[i] = OPERAND.words[at + i];
#else
        const uint in_word = 4 / STORED_BYTES, in_tile_word = 4 / TILE_BYTES;
        uint word = OPERAND.words[(at + i) / in_word] >> (8 * STORED_BYTES * ((at + i) % in_word));
#if STORED_BYTES < TILE_BYTES
        word = half_of_e4m3(word & 0xffu);
#else
        word &= (1u << (8 * STORED_BYTES)) - 1u;
#endif
        bits[i / in_tile_word] |= word << (8 * TILE_BYTES * (i % in_tile_word));
#endif
    }
    return bits;
}
#endif
