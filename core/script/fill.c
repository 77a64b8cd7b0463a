/* SPDX-License-Identifier: MIT */
/* assay.fill, assay.uniform, ...: what buffers hold to begin with. */
#include "script/device.h"

#include "base/hash.h"
#include "vulkan/fill.h"

#include <inttypes.h>
#include <string.h>

#define FILL "assay.fill"
#define COMPUTED_MAX (UINT64_C(1) << 22)

struct script_fill {
    enum { FILL_PLAIN, FILL_PERMUTATION, FILL_COMPUTED } kind;
    struct assay_fill fill; /* COMPUTED: its element alone; the function is the user value */
    uint64_t stride;        /* PERMUTATION: bytes */
};

static struct script_fill *fill_push(lua_State *L, const struct assay_fill *fill)
{
    struct script_fill *made = lua_newuserdatauv(L, sizeof(*made), 1);
    *made = (struct script_fill){.fill = *fill};
    luaL_setmetatable(L, FILL);
    return made;
}

enum assay_element script_element_of(lua_State *L, int index, const char *what)
{
    enum assay_element element;
    if (lua_type(L, index) != LUA_TSTRING)
        script_fail(L, "%s: the name of a type such as \"float\" is wanted, not %s", what,
                    script_shown(L, index));
    const char *name = lua_tostring(L, index);
    if (!element_from_name(name, &element))
        script_unknown(L, what, "type", name, element_names, ASSAY_ELEMENT_COUNT);
    return element;
}

static enum assay_element element_or_float(lua_State *L, int index, const char *what)
{
    return lua_isnoneornil(L, index) ? ASSAY_ELEMENT_FLOAT : script_element_of(L, index, what);
}

static double number_at(lua_State *L, int index, const char *what, const char *name)
{
    if (lua_type(L, index) != LUA_TNUMBER)
        script_fail(L, "%s: %s is a number, not %s", what, name, script_shown(L, index));
    lua_pushvalue(L, index);
    double number = script_number_of(L, what, name);
    lua_pop(L, 1);
    return number;
}

static int checked(lua_State *L, const struct assay_fill *fill, const char *what)
{
    struct assay_error error = {0};
    if (!fill_check(fill, &error))
        script_fail(L, "%s: %s", what, error.text);
    fill_push(L, fill);
    return 1;
}

/* assay.fill(value, type) */
static int fill_value(lua_State *L)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_VALUE};
    fill.from = number_at(L, 1, "assay.fill", "the value");
    fill.element = element_or_float(L, 2, "assay.fill");
    return checked(L, &fill, "assay.fill");
}

/* assay.uniform(low, high, type) */
static int fill_uniform(lua_State *L)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_UNIFORM};
    fill.from = number_at(L, 1, "assay.uniform", "the low bound");
    fill.to = number_at(L, 2, "assay.uniform", "the high bound");
    fill.element = element_or_float(L, 3, "assay.uniform");
    return checked(L, &fill, "assay.uniform");
}

/* assay.sequence(first, step, type) */
static int fill_sequence(lua_State *L)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_SEQUENCE, .to = 1};
    fill.from = number_at(L, 1, "assay.sequence", "the first value");
    if (!lua_isnoneornil(L, 2))
        fill.to = number_at(L, 2, "assay.sequence", "the step");
    fill.element = element_or_float(L, 3, "assay.sequence");
    return checked(L, &fill, "assay.sequence");
}

/* assay.random_bits() */
static int fill_random_bits(lua_State *L)
{
    const struct assay_fill fill = {.kind = ASSAY_FILL_RANDOM_BITS};
    fill_push(L, &fill);
    return 1;
}

/* assay.permutation(stride) */
static int fill_permutation(lua_State *L)
{
    uint64_t stride = lua_isnoneornil(L, 1) ? 4
                                            : script_bytes_of(L, 1, "assay.permutation stride", 4);
    if (stride % 4 != 0)
        script_fail(L,
                    "assay.permutation: the stride is %" PRIu64 " B; a multiple of 4 B, the size "
                    "of an index, is wanted",
                    stride);
    struct script_fill *made = fill_push(L, &(struct assay_fill){.kind = ASSAY_FILL_DATA});
    made->kind = FILL_PERMUTATION;
    made->stride = stride;
    return 1;
}

/* assay.computed(function(i) ... end, type) */
static int fill_computed(lua_State *L)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_DATA};
    if (!lua_isfunction(L, 1))
        script_fail(L, "assay.computed: a function of the index is wanted, not a %s",
                    luaL_typename(L, 1));
    fill.element = element_or_float(L, 2, "assay.computed");
    struct script_fill *made = fill_push(L, &fill);
    made->kind = FILL_COMPUTED;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

const luaL_Reg script_fill_functions[] = {{"fill", fill_value},
                                          {"uniform", fill_uniform},
                                          {"sequence", fill_sequence},
                                          {"random_bits", fill_random_bits},
                                          {"permutation", fill_permutation},
                                          {"computed", fill_computed},
                                          {NULL, NULL}};

/* One cycle through all places (Sattolo's algorithm): each holds the index of the next. */
static const void *permutation(lua_State *L, const struct script_fill *fill, const char *what,
                               uint64_t bytes, uint64_t seed)
{
    const uint64_t step = fill->stride / 4, count = bytes / fill->stride;
    if (count == 0 || bytes / 4 > UINT32_MAX)
        script_fail(L,
                    "%s: a permutation with a stride of %" PRIu64 " B needs a buffer of that "
                    "size at least and of less than 16 GiB; this one has %" PRIu64 " B",
                    what, fill->stride, bytes);
    uint32_t *words = script_alloc(L, (size_t)bytes);
    uint32_t *order = script_alloc(L, (size_t)count * sizeof(*order));
    for (uint64_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = count - 1; i > 0; i--) {
        const uint64_t other = random_at(seed, i) % i;
        const uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (uint64_t i = 0; i < count; i++)
        words[i * step] = (uint32_t)(order[i] * step);
    return words;
}

static void store(lua_State *L, enum assay_element element, const char *what, uint64_t index,
                  void *out)
{
    if (lua_type(L, -1) != LUA_TNUMBER)
        script_fail(L, "%s: the function gave %s for element %" PRIu64 ", a number is wanted", what,
                    luaL_tolstring(L, -1, NULL), index);
    bool stored = lua_isinteger(L, -1) ? element_store_whole(element, lua_tointeger(L, -1), out)
                                       : element_store(element, lua_tonumber(L, -1), out);
    if (!stored)
        script_fail(L, "%s: the function gave %s for element %" PRIu64 ", which does not fit in %s",
                    what, luaL_tolstring(L, -1, NULL), index, element_name(element));
}

/* `fill` is at the absolute index. */
static const void *computed(lua_State *L, int index, enum assay_element element, const char *what,
                            uint64_t bytes)
{
    const size_t width = element_bytes(element);
    const uint64_t count = bytes / width;
    if (count > COMPUTED_MAX)
        script_fail(L,
                    "%s: a function fills at most %" PRIu64 " elements, this buffer has %" PRIu64
                    "; use assay.uniform or assay.sequence",
                    what, COMPUTED_MAX, count);
    unsigned char *data = script_alloc(L, (size_t)bytes + width);
    lua_getiuservalue(L, index, 1);
    for (uint64_t i = 0; i < count; i++) {
        lua_pushvalue(L, -1);
        lua_pushinteger(L, (lua_Integer)i + 1);
        lua_call(L, 1, 1);
        store(L, element, what, i + 1, data + i * width);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return data;
}

static struct script_fill *fill_test(lua_State *L, int index, const char *what)
{
    struct script_fill *fill = luaL_testudata(L, index, FILL);
    if (!fill)
        script_fail(L, "%s: a number or a fill such as assay.uniform(0, 1) is wanted, not a %s",
                    what, luaL_typename(L, index));
    return fill;
}

struct assay_fill script_fill_of(lua_State *L, int index, const char *what, uint64_t bytes,
                                 uint64_t seed)
{
    index = lua_absindex(L, index);
    if (lua_type(L, index) == LUA_TNUMBER)
        return (struct assay_fill){.kind = ASSAY_FILL_VALUE,
                                   .element = ASSAY_ELEMENT_FLOAT,
                                   .from = lua_tonumber(L, index)};
    const struct script_fill *given = fill_test(L, index, what);
    struct assay_fill fill = given->fill;
    if (given->kind == FILL_PERMUTATION)
        fill.data = permutation(L, given, what, bytes, seed);
    else if (given->kind == FILL_COMPUTED)
        fill.data = computed(L, index, fill.element, what, bytes);
    return fill;
}

uint32_t script_fill_word(lua_State *L, int index, const char *what)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_VALUE};
    if (lua_type(L, index) == LUA_TNUMBER)
        fill.from = lua_tonumber(L, index); /* fp32 */
    else
        fill = fill_test(L, index, what)->fill;
    uint64_t pattern = fill.kind == ASSAY_FILL_VALUE ? fill_pattern(&fill) : 0;
    if (fill.kind != ASSAY_FILL_VALUE || (uint32_t)pattern != pattern >> 32)
        script_fail(L,
                    "%s: a device fill repeats 32 bits: a number, or assay.fill(value, type) "
                    "with a type of at most 4 bytes, is wanted",
                    what);
    return (uint32_t)pattern;
}

void script_fill_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{NULL, NULL}};
    script_class(L, FILL, functions);
}
