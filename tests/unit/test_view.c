/* SPDX-License-Identifier: MIT */
/* Views and comparisons in Lua, without a device. */
#include "script/device.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct script script;

static int set_up(void **state)
{
    struct assay_error error = {0};
    (void)state;
    script = (struct script){.params = {.path = "t.lua"}, .arena = arena_create()};
    return script.arena && state_create(&script, &error) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    state_destroy(&script);
    arena_destroy(&script.arena);
    return script.view_bytes == 0 ? 0 : -1;
}

/* A view as the global of its name. */
static void make(const char *name, enum assay_element element, const void *data, uint64_t count)
{
    struct view *view = script_view_new(script.L, name, element);
    script_view_allocate(script.L, view, count);
    memcpy(view->data, data, (size_t)count * element_bytes(element));
    lua_setglobal(script.L, name);
}

static const char *run(const char *source, struct assay_error *error)
{
    struct text text = {0};
    *error = (struct assay_error){0};
    text_addf(&text, "local assay = require 'assay'\n%s", source);
    bool good = state_load(script.L, "t.lua", &text, error) && state_call(&script, 0, NULL, error);
    text_free(&text);
    assert_int_equal(good, error->status == ASSAY_OK);
    return error->text;
}

static void runs(const char *source)
{
    struct assay_error error;
    assert_string_equal(run(source, &error), "");
}

static void fails(const char *source, const char *wanted)
{
    struct assay_error error;
    assert_string_equal(run(source, &error), wanted);
    assert_int_equal(error.status, ASSAY_SCRIPT);
}

static void make_all(void)
{
    const float floats[] = {0.5F, -1.25F, 3.0F};
    const double doubles[] = {0.1, 1e300};
    const uint16_t halves[] = {0x3c00, 0x0001, 0x7c00, 0x7e00};
    const int8_t bytes[] = {-128, 127};
    const uint64_t wides[] = {UINT64_MAX, UINT64_C(1) << 63, 5};
    const int64_t longs[] = {INT64_MIN, INT64_MAX};
    make("f", ASSAY_ELEMENT_FLOAT, floats, 3);
    make("d", ASSAY_ELEMENT_DOUBLE, doubles, 2);
    make("h", ASSAY_ELEMENT_HALF, halves, 4);
    make("b", ASSAY_ELEMENT_INT8, bytes, 2);
    make("u", ASSAY_ELEMENT_UINT8, bytes, 2);
    make("w", ASSAY_ELEMENT_UINT64, wides, 3);
    make("l", ASSAY_ELEMENT_INT64, longs, 2);
}

static void views_are_typed(void **state)
{
    (void)state;
    make_all();
    runs("assert(#f == 3 and f[1] == 0.5 and f[2] == -1.25 and f[3] == 3.0)\n"
         "assert(math.type(f[3]) == 'float' and f.type == 'float' and f.name == 'f')\n"
         "assert(d[1] == 0.1 and d[2] == 1e300)\n"
         "assert(h[1] == 1 and h[2] == 2^-24 and h[3] == math.huge and h[4] ~= h[4])\n"
         "assert(b[1] == -128 and math.type(b[1]) == 'integer' and b[2] == 127)\n"
         "assert(u[1] == 128 and u[2] == 127)\n"
         "assert(w[1] == -1 and w[2] == math.mininteger and math.ult(5, w[1]) and w[3] == 5)\n"
         "assert(l[1] == math.mininteger and l[2] == math.maxinteger)\n"
         "assert(f[2.0] == -1.25)\n"
         "assert(tostring(w) == 'view of w: 3 elements of uint64')\n");
}

static void views_have_bounds(void **state)
{
    (void)state;
    make_all();
    fails("return f[0]", "t.lua:2: a view of f has 3 elements; [0] is outside, allowed are 1 to 3");
    fails("return f[4]", "t.lua:2: a view of f has 3 elements; [4] is outside, allowed are 1 to 3");
    fails("return f[-1]",
          "t.lua:2: a view of f has 3 elements; [-1] is outside, allowed are 1 to 3");
    fails("return f[1.5]",
          "t.lua:2: a view of f has 3 elements; [1.5] is outside, allowed are 1 to 3");
    fails("f[1] = 2",
          "t.lua:2: a view is read-only: it holds what the buffer held when it was read");
    fails("return f.tipe",
          "t.lua:2: a view has no member 'tipe'; did you mean 'type'? It has name and type");
}

static void comparisons(void **state)
{
    (void)state;
    make_all();
    runs("local c = assay.compare(f, f)\n"
         "assert(c.right and c.error == 0 and c.count == 3 and c.wrong == 0)\n"
         "assert(c.index == nil and c.got == nil and c.wanted == nil)\n"
         "c = assay.compare(f, function(i) return f[i] + 0.25 * (i - 1) end, { absolute = 0.5 })\n"
         "assert(c.right and c.error == 1.0)\n"
         "c = assay.compare(f, 0.5, { absolute = 0.25, relative = 0.5 })\n" /* bound 0.5 */
         "assert(not c.right and c.wrong == 2 and c.index == 2 and c.got == -1.25)\n"
         "assert(c.wanted == 0.5 and c.error == 5.0)\n"
         "assert(tostring(c) == 'f[2] is -1.25, wanted 0.5: the error 1.75 is 3.5 times its bound "
         "of 0.5; 2 of 3 elements are wrong', tostring(c))\n"
         "assert(tostring(assay.compare(f, f)) == 'f: all 3 elements are right')\n"
         "assert(assay.compare(d, function(i) return i == 1 and 0.1 + 2^-56 or 1e300 end, "
         "{ ulp = 1 }).right)\n"
         "assert(not assay.compare(h, h).right)\n" /* holds Inf and NaN */
         "assert(assay.compare(h, h).index == 3 and assay.compare(h, h).wrong == 2)\n"
         "assert(assay.compare(w, function(i) return w[i] end).right)\n"
         "assert(assay.compare(w, w).right and assay.compare(w, 5).wrong == 2)\n"
         "assert(assay.compare(l, function(i) return i == 1 and math.mininteger or "
         "math.maxinteger - 1 end).index == 2)\n"
         "assert(not assay.compare(u, 127.5).right and assay.compare(u, 127.5, "
         "{ absolute = 0.5 }).right)\n");
}

/* -1 as int64 and 2^64 - 1 as uint64 have the same bits and are not equal; equal ones are. */
static void signs(void **state)
{
    const int64_t longs[] = {-1, 7};
    const uint64_t wides[] = {UINT64_MAX, 7};
    const int32_t ints[] = {-1, 7};
    (void)state;
    make("l", ASSAY_ELEMENT_INT64, longs, 2);
    make("w", ASSAY_ELEMENT_UINT64, wides, 2);
    make("i", ASSAY_ELEMENT_INT32, ints, 2);
    runs("assert(assay.compare(l, w).wrong == 1 and assay.compare(w, l).index == 1)\n"
         "assert(assay.compare(w, i).wrong == 1 and assay.compare(i, w).wrong == 1)\n"
         "assert(assay.compare(l, i).right and assay.compare(i, l).right)\n"
         "assert(assay.compare(w, w).right and assay.compare(w, -1).index == 2)\n");
}

/* Neighbours of a float are 2^-149 apart at 0 and at denormals, on both sides; nothing is inside
 * a bound that overflows together with the error. */
static void neighbours(void **state)
{
    const float floats[] = {0x1p-149F, -0x1p-149F, -0.0F, -1.0F};
    const double doubles[] = {DBL_MAX};
    (void)state;
    make("f", ASSAY_ELEMENT_FLOAT, floats, 4);
    make("d", ASSAY_ELEMENT_DOUBLE, doubles, 1);
    runs("local wanted = { 0, 0, 0, -1 - 2^-23 }\n"
         "local function reference(i) return wanted[i] end\n"
         "assert(assay.compare(f, reference, { ulp = 1 }).right)\n"
         "assert(assay.compare(f, reference, { ulp = 0.5 }).wrong == 3)\n"
         "assert(assay.compare(f, reference).wrong == 3)\n"
         "assert(assay.compare(d, -d[1], { relative = 2 }).wrong == 1)\n"
         "assert(assay.compare(d, -math.huge, { relative = 2 }).wrong == 1)\n");
}

/* At the end all is finalized, the youngest first: what an older finalizer looks at may be gone. */
static void finalizers(void **state)
{
    (void)state;
    runs("last = setmetatable({}, { __gc = function(t)\n"
         "  collected = pcall(function() return t.view[1] end) == false and #t.view == 0\n"
         "end })");
    make_all();
    runs("last.view, last, f = f, nil, nil collectgarbage() assert(collected)");
}

static void mistakes(void **state)
{
    (void)state;
    make_all();
    fails("assay.compare(3, f)",
          "t.lua:2: assay.compare: a view (buffer:read \"float\") is wanted first, not 3");
    fails("assay.compare(f, d)", "t.lua:2: assay.compare: f has 3 elements, its reference d has 2");
    fails("assay.compare(f)", "t.lua:2: assay.compare: the reference is a view, a number or a "
                              "function of the index, not nil");
    fails("assay.compare(f, 1, 1e-6)", "t.lua:2: assay.compare: tolerances such as { relative = "
                                       "1e-6 } are wanted, not a number");
    fails(
        "assay.compare(f, 1, { relativ = 1 })",
        "t.lua:2: assay.compare has no field 'relativ'; did you mean 'relative'? It has absolute, "
        "relative and ulp");
    fails("assay.compare(f, 1, { ulp = -1 })", "t.lua:2: assay.compare ulp is -1; a finite number "
                                               "of at least 0 is wanted");
    fails("assay.compare(f, function(i) return i == 2 and 'x' or f[i] end)",
          "t.lua:2: assay.compare: the reference gave x for element 2, a number is wanted");
    fails("assay.compare(f, function(i)\nreturn f[i + 3] end)",
          "t.lua:3: a view of f has 3 elements; [4] is outside, allowed are 1 to 3");
    fails(
        "return assay.compare(f, f).zzz",
        "t.lua:2: a comparison has no member 'zzz'; it has right, error, count, wrong, index, got "
        "and wanted");
}

static void rounding(void **state)
{
    (void)state;
    runs("assert(assay.f32(0.1) == 0x1.99999ap-4 and assay.f32(16777217) == 16777216)\n"
         "assert(assay.f32(1e39) == math.huge and assay.f32(-1e-46) == 0)\n"
         "assert(assay.f16(0.1) == 0x1.998p-4 and assay.f16(2049) == 2048)\n"
         "assert(assay.f16(65519) == 65504 and assay.f16(65520) == math.huge)\n"
         "assert(assay.f16(-2^-24) == -2^-24)\n");
    fails("assay.f16 'x'", "t.lua:2: assay.f16: a number is wanted, not a string");
}

static void fills(void **state)
{
    (void)state;
    fails("assay.uniform(1, 1)", "t.lua:2: assay.uniform: its fill wants finite bounds with low "
                                 "below high, as float holds them");
    fails("assay.uniform(1)", "t.lua:2: assay.uniform: the high bound is a number, not nil");
    fails("assay.uniform(1, 2, 'floot')",
          "t.lua:2: assay.uniform has no type 'floot'; did you mean 'float'? It has float, double, "
          "half, bfloat16, int8, int16, int, int64, uint8, uint16, uint, uint64 and fp8_e4m3");
    fails("assay.fill(0.5, 'int')", "t.lua:2: assay.fill: its fill wants whole numbers that fit in "
                                    "int, of at most 2^53");
    fails("assay.fill(1 << 60, 'int64')",
          "t.lua:2: assay.fill: 'the value' is 1152921504606846976; "
          "whole numbers go up to 2^53");
    fails("assay.permutation(6)",
          "t.lua:2: assay.permutation: the stride is 6 B; a multiple of 4 B, "
          "the size of an index, is wanted");
    fails("assay.computed(3)",
          "t.lua:2: assay.computed: a function of the index is wanted, not a number");
    runs("assay.fill(1) assay.uniform(0, 9, 'uint8') assay.sequence(0) assay.random_bits()\n"
         "assay.permutation '64 B' assay.computed(function(i) return i end, 'half')\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(views_are_typed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(views_have_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comparisons, set_up, tear_down),
        cmocka_unit_test_setup_teardown(signs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(neighbours, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finalizers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rounding, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fills, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
