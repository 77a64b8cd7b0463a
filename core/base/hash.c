/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <string.h>
#include <xxhash.h>

struct hash128 hash_bytes(const void *data, size_t count)
{
    XXH128_canonical_t canonical;
    struct hash128 hash;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, count));
    memcpy(hash.bytes, canonical.digest, sizeof hash.bytes);
    return hash;
}

uint64_t hash_seeded(const void *data, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, count, seed);
}

void hash_hex(const struct hash128 *hash, char hex[HASH_HEX_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 16; i++) {
        hex[2 * i] = digits[hash->bytes[i] >> 4];
        hex[2 * i + 1] = digits[hash->bytes[i] & 15];
    }
    hex[32] = '\0';
}

/* -1: none. */
static int hex_digit(char c)
{
    static const unsigned char digits[256] = {
        ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
        ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
        ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16};
    return digits[(unsigned char)c] - 1;
}

bool hash_from_hex(const char *hex, struct hash128 *hash)
{
    struct hash128 out;
    for (size_t i = 0; i < 16; i++) {
        int high = hex_digit(hex[2 * i]);
        int low = high < 0 ? -1 : hex_digit(hex[2 * i + 1]);
        if (low < 0)
            return false;
        out.bytes[i] = (unsigned char)(high << 4 | low);
    }
    if (hex[32] != '\0')
        return false;
    *hash = out;
    return true;
}

#define GOLDEN_GAMMA UINT64_C(0x9E3779B97F4A7C15)

static uint64_t mixed(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

uint64_t random_at(uint64_t seed, uint64_t index)
{
    return mixed(seed + (index + 1) * GOLDEN_GAMMA);
}

static void store_little_endian(unsigned char *out, uint64_t word)
{
    for (size_t i = 0; i < 8; i++)
        out[i] = (unsigned char)(word >> (8 * i));
}

void random_fill(uint64_t seed, uint64_t first_index, void *out, size_t count)
{
    unsigned char *bytes = out;
    uint64_t index = first_index;
    for (; count >= 8; count -= 8, bytes += 8)
        store_little_endian(bytes, random_at(seed, index++));
    if (count > 0) {
        unsigned char last[8];
        store_little_endian(last, random_at(seed, index));
        memcpy(bytes, last, count);
    }
}

uint64_t random_child(uint64_t seed, uint64_t index)
{
    /* A second mix with another constant, so that a child's stream is not a piece of its parent's.
     */
    return mixed(random_at(seed, index) ^ UINT64_C(0xD1B54A32D192ED03)) >> 1;
}
