/* SPDX-License-Identifier: MIT */
#include "result/seal.h"

#include "base/hash.h"

#include <string.h>

static const char opening[] = ",\"seal\":\"", closing[] = "\"}";
static const char digits[] = "0123456789abcdef";

#define OPENING (sizeof(opening) - 1)
#define CLOSING (sizeof(closing) - 1)

bool seal_wanted(const char *line, size_t length)
{
    static const char *const without[] = {"{\"kind\":\"verdict\"", "{\"kind\":\"end\""};
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        if (strncmp(line, without[i], strlen(without[i])) == 0)
            return false;
    return length > 2 && line[length - 1] == '}';
}

size_t seal_make(const char *line, size_t length, uint64_t seed, char tail[SEAL_BYTES],
                 uint64_t *seal)
{
    char *at = tail + OPENING;
    *seal = hash_seeded(line, length - 1, seed);
    memcpy(tail, opening, OPENING);
    for (int shift = 60; shift >= 0; shift -= 4)
        *at++ = digits[(*seal >> shift) & 15];
    memcpy(at, closing, CLOSING);
    return SEAL_BYTES;
}

bool seal_check(const char *line, size_t length, uint64_t seed, uint64_t *seal, bool *fits)
{
    if (length < SEAL_BYTES)
        return false;
    const char *start = line + length - SEAL_BYTES;
    if (memcmp(start, opening, OPENING) != 0 ||
        memcmp(line + length - CLOSING, closing, CLOSING) != 0)
        return false;
    *seal = 0;
    for (size_t i = 0; i < 16; i++) {
        const char *digit = memchr(digits, start[OPENING + i], 16);
        if (!digit)
            return false;
        *seal = *seal << 4 | (uint64_t)(digit - digits);
    }
    *fits = hash_seeded(line, length - SEAL_BYTES, seed) == *seal;
    return true;
}
