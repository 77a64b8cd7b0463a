/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void known_hashes(void **state)
{
    (void)state;
    char hex[HASH_HEX_BYTES];
    struct hash128 empty = hash_bytes("", 0); /* XXH3-128 of nothing, from its specification */
    hash_hex(&empty, hex);
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
}

static void hex_goes_both_ways(void **state)
{
    (void)state;
    struct hash128 hash = hash_bytes("assay", 5), back;
    char hex[HASH_HEX_BYTES];
    hash_hex(&hash, hex);
    assert_true(hash_from_hex(hex, &back));
    assert_memory_equal(hash.bytes, back.bytes, 16);
    assert_false(hash_from_hex("", &back));
    assert_false(hash_from_hex("99aa06d3014798d86001c324468d497", &back));
    assert_false(hash_from_hex("99aa06d3014798d86001c324468d497ff", &back));
    assert_false(hash_from_hex("99aa06d3014798d86001c324468d497g", &back));
    assert_false(hash_from_hex("99AA06D3014798D86001C324468D497F", &back));
}

/* The published first numbers of splitmix64 with seed 0 and 1234567. */
static void known_random_numbers(void **state)
{
    (void)state;
    assert_true(random_at(0, 0) == UINT64_C(0xE220A8397B1DCDAF));
    assert_true(random_at(0, 1) == UINT64_C(0x6E789E6AA1B965F4));
    assert_true(random_at(1234567, 0) == UINT64_C(6457827717110365317));
    assert_true(random_at(1234567, 1) == UINT64_C(3203168211198807973));
}

static void fills_any_piece_alike(void **state)
{
    (void)state;
    unsigned char whole[67], piece[67];
    random_fill(42, 0, whole, sizeof whole);
    uint64_t first = random_at(42, 0);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(whole[i], (first >> (8 * i)) & 0xFF);
    random_fill(42, 3, piece, 67 - 24);
    assert_memory_equal(whole + 24, piece, 67 - 24);
    random_fill(43, 0, piece, sizeof piece);
    assert_memory_not_equal(whole, piece, sizeof piece);
}

static void children_differ_and_fit(void **state)
{
    (void)state;
    uint64_t seen[64];
    for (size_t i = 0; i < 64; i++) {
        seen[i] = random_child(7, i);
        assert_true(seen[i] <= INT64_MAX);
        for (size_t k = 0; k < i; k++)
            assert_true(seen[i] != seen[k]);
    }
    assert_true(random_child(8, 0) != seen[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes),
        cmocka_unit_test(hex_goes_both_ways),
        cmocka_unit_test(known_random_numbers),
        cmocka_unit_test(fills_any_piece_alike),
        cmocka_unit_test(children_differ_and_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
