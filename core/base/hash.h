/* SPDX-License-Identifier: MIT */
/* XXH3-128 for ids, caches and file hashes, and the counter-based random bits of fills. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <assay/api.h>

struct hash128 {
    unsigned char bytes[16]; /* canonical (big-endian) form */
};
#define HASH_HEX_BYTES 33

struct hash128 hash_bytes(const void *data, size_t count);
/* XXH3-64 with a seed: for sums that must differ from one owner to another. */
uint64_t hash_seeded(const void *data, size_t count, uint64_t seed);
void hash_hex(const struct hash128 *hash, char hex[HASH_HEX_BYTES]);
bool hash_from_hex(const char *hex, struct hash128 *hash);

/* 64 random bits at position `index` of the stream `seed` (splitmix64 of seed + index * golden
 * gamma; Steele, Lea, Flood 2014): position 0 is the first number of the generator seeded so. Any
 * position can be computed alone. */
uint64_t random_at(uint64_t seed, uint64_t index);
/* Fills bytes [8 * first_index, ...) of the stream, little-endian; count may be any number. */
void random_fill(uint64_t seed, uint64_t first_index, void *out, size_t count);
/* A seed for a child stream: cases, slots, buffers. 63 bits: it fits in a JSON integer. */
uint64_t random_child(uint64_t seed, uint64_t index);

#endif
