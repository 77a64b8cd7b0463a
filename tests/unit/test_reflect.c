/* SPDX-License-Identifier: MIT */
/* Reflection on compiled shaders, and on damaged ones. */
#include "vulkan/reflect.h"
#include "vulkan/shader.h"
#include "vulkan/spirv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_SPIRV_TOOLS
#include <spirv-tools/libspirv.h>
#endif

struct module {
    uint32_t *words;
    size_t count;
    struct arena *arena;
    struct reflection reflection;
};

static void check_valid(const struct module *module)
{
#ifdef HAVE_SPIRV_TOOLS
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
    spv_const_binary_t binary = {module->words, module->count};
    spv_diagnostic diagnostic = NULL;
    if (spvValidate(context, &binary, &diagnostic) != SPV_SUCCESS)
        fail_msg("%s", diagnostic != NULL ? diagnostic->error : "invalid SPIR-V");
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
#else
    (void)module;
#endif
}

static void compile(const char *source, struct module *module)
{
    struct assay_error error = {0};
    struct text expanded = {0};
    memset(module, 0, sizeof(*module));
    if (!glsl_expand(NULL, "<text>", source, &expanded, &error) ||
        !glsl_compile("<text>", text_string(&expanded), NULL, 0, &module->words, &module->count,
                      &error))
        fail_msg("%s", error.text);
    text_free(&expanded);
    check_valid(module);
}

static void reflect(struct module *module)
{
    struct assay_error error = {0};
    module->arena = arena_create();
    if (!reflect_spirv(module->words, module->count, module->arena, &module->reflection, &error))
        fail_msg("%s", error.text);
}

static void release(struct module *module)
{
    free(module->words);
    arena_destroy(&module->arena);
}

#define HEAD "#version 450\nlayout(local_size_x = 8, local_size_y = 4) in;\n"

static const char blocks_source[] = HEAD
    "#extension GL_EXT_scalar_block_layout : require\n"
    "struct inner { vec3 a; float b; };\n"
    "layout(set = 0, binding = 0, std430) readonly buffer source_block { float x[]; } source;\n"
    "layout(set = 0, binding = 2, std430) writeonly buffer target_block { uint n; inner y[]; };\n"
    "layout(set = 0, binding = 1, std140) uniform settings_block { vec4 v; mat3 m; float f; } "
    "settings;\n"
    "layout(set = 1, binding = 0, std430) buffer fixed_block { vec3 p; layout(offset = 32) vec3 q; "
    "};\n"
    "void main() { y[0].b = source.x[0] + settings.f + settings.m[0][0]; n = 1; q = p; }\n";

static void blocks_names_and_sizes(void **state)
{
    (void)state;
    struct module module;
    compile(blocks_source, &module);
    reflect(&module);
    const struct reflection *r = &module.reflection;
    assert_string_equal(r->entry, "main");
    assert_int_equal(r->binding_count, 4);
    const struct reflect_binding *b = r->bindings;
    assert_int_equal(b[0].set, 0);
    assert_int_equal(b[0].binding, 0);
    assert_int_equal(b[0].kind, REFLECT_STORAGE_BUFFER);
    assert_string_equal(b[0].instance, "source");
    assert_string_equal(b[0].block, "source_block");
    assert_string_equal(b[0].member, "x");
    assert_true(b[0].readonly);
    assert_false(b[0].writeonly);
    assert_int_equal(b[0].fixed_bytes, 0);
    assert_int_equal(b[0].stride_bytes, 4);
    assert_int_equal(b[1].binding, 1);
    assert_int_equal(b[1].kind, REFLECT_UNIFORM_BUFFER);
    assert_string_equal(b[1].instance, "settings");
    assert_null(b[1].member);
    assert_int_equal(b[1].fixed_bytes, 16 + 3 * 16 + 4);
    assert_int_equal(b[1].stride_bytes, 0);
    assert_int_equal(b[2].binding, 2);
    assert_null(b[2].instance);
    assert_string_equal(b[2].block, "target_block");
    assert_true(b[2].writeonly);
    assert_false(b[2].readonly);
    assert_int_equal(b[2].fixed_bytes, 16);
    assert_int_equal(b[2].stride_bytes, 16);
    assert_int_equal(b[3].set, 1);
    assert_int_equal(b[3].fixed_bytes, 32 + 12);
    assert_false(b[3].readonly);
    assert_int_equal(r->local_size[0], 8);
    assert_int_equal(r->local_size[1], 4);
    assert_int_equal(r->local_size[2], 1);
    assert_int_equal(r->local_size_id[0], UINT32_MAX);
    assert_int_equal(r->push_bytes, 0);
    assert_int_equal(r->constant_count, 0);
    release(&module);
}

static void push_constants(void **state)
{
    (void)state;
    struct module module;
    compile(HEAD
            "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
            "struct part { int i; vec2 v; };\n"
            "layout(push_constant) uniform block { uint n; float a; part p; double d; uint w[3]; "
            "uint16_t s; } push;\n"
            "layout(set = 0, binding = 0) buffer out_block { float x[]; };\n"
            "void main() { x[push.n] = push.a + float(push.p.i) + push.p.v.y + float(push.d) + "
            "float(push.w[1]) + float(push.s); }\n",
            &module);
    reflect(&module);
    static const struct {
        const char *name;
        uint32_t offset, bytes;
        enum reflect_type type;
        unsigned bits;
    } rows[] = {
        {"n", 0, 4, REFLECT_UINT, 32},   {"a", 4, 4, REFLECT_FLOAT, 32},
        {"p.i", 8, 4, REFLECT_INT, 32},  {"p.v", 16, 8, REFLECT_OTHER, 0},
        {"d", 24, 8, REFLECT_FLOAT, 64}, {"w", 32, 12, REFLECT_OTHER, 0},
        {"s", 44, 2, REFLECT_UINT, 16},
    };
    const struct reflection *r = &module.reflection;
    assert_int_equal(r->push_count, sizeof(rows) / sizeof(rows[0]));
    assert_int_equal(r->push_bytes, 46);
    for (size_t i = 0; i < r->push_count; i++) {
        assert_string_equal(r->pushes[i].name, rows[i].name);
        assert_int_equal(r->pushes[i].offset, rows[i].offset);
        assert_int_equal(r->pushes[i].bytes, rows[i].bytes);
        assert_int_equal(r->pushes[i].scalar.type, rows[i].type);
        assert_int_equal(r->pushes[i].scalar.bits, rows[i].bits);
    }
    bool fp64 = false;
    for (size_t i = 0; i < r->capability_count; i++)
        fp64 = fp64 || r->capabilities[i] == 10;
    assert_true(fp64);
    release(&module);
}

static const char constants_source[] =
    "#version 450\n"
    "layout(local_size_x_id = 3, local_size_y = 2) in;\n"
    "layout(constant_id = 3) const uint WORKGROUP = 64;\n"
    "layout(constant_id = 7) const float SCALE = 1.5;\n"
    "layout(constant_id = 8) const bool FLAG = true;\n"
    "layout(constant_id = 9) const int SIGNED = -2;\n"
    "layout(constant_id = 10) const double WIDE = 0.5;\n"
    "layout(set = 0, binding = 0) buffer a { float x[]; } one;\n"
    "layout(set = 0, binding = 1) buffer b { float x[]; } two;\n"
    "void main() { one.x[0] = FLAG ? SCALE * float(WORKGROUP) : float(SIGNED) + float(WIDE); "
    "two.x[1] = 0; }\n";

static void constants(void **state)
{
    (void)state;
    struct module module;
    struct assay_error error = {0};
    compile(constants_source, &module);
    reflect(&module);
    const struct reflection *r = &module.reflection;
    static const struct {
        const char *name;
        uint32_t id;
        enum reflect_type type;
        unsigned bits;
        uint64_t value;
    } rows[] = {
        {"WORKGROUP", 3, REFLECT_UINT, 32, 64},
        {"SCALE", 7, REFLECT_FLOAT, 32, 0x3fc00000},
        {"FLAG", 8, REFLECT_BOOL, 32, 1},
        {"SIGNED", 9, REFLECT_INT, 32, 0xfffffffe},
        {"WIDE", 10, REFLECT_FLOAT, 64, UINT64_C(0x3fe0000000000000)},
    };
    assert_int_equal(r->constant_count, 5);
    for (size_t i = 0; i < 5; i++) {
        int index = reflect_find_constant(r, rows[i].name, &error);
        assert_true(index >= 0);
        assert_int_equal(r->constants[index].id, rows[i].id);
        assert_int_equal(r->constants[index].scalar.type, rows[i].type);
        assert_int_equal(r->constants[index].scalar.bits, rows[i].bits);
        assert_int_equal(r->constants[index].bits, rows[i].value);
    }
    assert_int_equal(r->local_size_id[0], 3);
    assert_int_equal(r->local_size_id[1], UINT32_MAX);
    assert_int_equal(r->local_size[0], 1); /* default of the nameless one beside WORKGROUP */
    assert_int_equal(r->local_size[1], 2);
    assert_int_equal(r->constants[reflect_find_constant(r, "[9]", &error)].id, 9);
    assert_int_equal(error.status, ASSAY_OK);
    assert_int_equal(reflect_find_constant(r, "SCALF", &error), -1);
    assert_string_equal(error.text, "there is no specialisation constant 'SCALF'; did you mean "
                                    "'SCALE'? There is WORKGROUP, SCALE, FLAG, SIGNED and WIDE");
    release(&module);
}

static void names_of_bindings(void **state)
{
    (void)state;
    struct module module;
    struct assay_error error = {0};
    compile(constants_source, &module);
    reflect(&module);
    const struct reflection *r = &module.reflection;
    assert_int_equal(reflect_find_binding(r, "one", &error), 0);
    assert_int_equal(reflect_find_binding(r, "b", &error), 1);
    assert_int_equal(reflect_find_binding(r, "[1]", &error), 1);
    assert_int_equal(reflect_find_binding(r, "0", &error), 0);
    assert_int_equal(error.status, ASSAY_OK);
    assert_int_equal(reflect_find_binding(r, "x", &error), -1);
    assert_string_equal(error.text,
                        "binding 'x' is ambiguous: block 'a' (set 0, binding 0) and block 'b' (set "
                        "0, binding 1) both match; give the instances different names");
    error = (struct assay_error){0};
    assert_int_equal(reflect_find_binding(r, "ome", &error), -1);
    assert_string_equal(error.text,
                        "there is no binding 'ome'; did you mean 'one'? There is one and "
                        "two");
    error = (struct assay_error){0};
    assert_int_equal(reflect_find_binding(r, "[2]", &error), -1);
    assert_string_equal(error.text, "there is no binding '[2]'; there is one and two");
    assert_int_equal(error.status, ASSAY_INVALID);
    release(&module);
}

static void texel_buffers_and_images(void **state)
{
    (void)state;
    struct module module;
    compile(HEAD "layout(set = 0, binding = 0, rgba32f) uniform readonly imageBuffer texels;\n"
                 "layout(set = 0, binding = 1) uniform samplerBuffer sampled;\n"
                 "layout(set = 0, binding = 2, rgba8) uniform image2D picture;\n"
                 "layout(set = 0, binding = 3) buffer list { uint x; } lists[2];\n"
                 "void main() { imageStore(picture, ivec2(0), imageLoad(texels, 0) + "
                 "texelFetch(sampled, 1)); lists[0].x = 1; }\n",
            &module);
    reflect(&module);
    const struct reflect_binding *b = module.reflection.bindings;
    assert_int_equal(module.reflection.binding_count, 4);
    assert_int_equal(b[0].kind, REFLECT_STORAGE_TEXEL_BUFFER);
    assert_string_equal(b[0].instance, "texels");
    assert_true(b[0].readonly);
    assert_int_equal(b[0].texel_format, 1); /* Rgba32f */
    assert_int_equal(b[1].kind, REFLECT_UNIFORM_TEXEL_BUFFER);
    assert_int_equal(b[1].texel_format, 0);
    assert_int_equal(b[2].kind, REFLECT_UNSUPPORTED);
    assert_int_equal(b[3].kind, REFLECT_UNSUPPORTED);
    release(&module);
}

/* Drops OpName and OpMemberName, as spirv-opt --strip-debug does. */
static void strip(struct module *module)
{
    size_t to = 5;
    for (size_t from = 5; from < module->count;) {
        size_t length = module->words[from] >> 16, opcode = module->words[from] & 0xffff;
        if (opcode != 5 && opcode != 6) {
            memmove(module->words + to, module->words + from, length * sizeof(uint32_t));
            to += length;
        }
        from += length;
    }
    module->count = to;
}

static void stripped(void **state)
{
    (void)state;
    struct module module;
    struct assay_error error = {0};
    compile(constants_source, &module);
    strip(&module);
    check_valid(&module);
    reflect(&module);
    const struct reflection *r = &module.reflection;
    assert_int_equal(r->binding_count, 2);
    assert_null(r->bindings[0].instance);
    assert_null(r->bindings[0].block);
    assert_null(r->bindings[0].member);
    assert_int_equal(r->constant_count, 5);
    assert_int_equal(reflect_find_binding(r, "[1]", &error), 1);
    assert_int_equal(reflect_find_binding(r, "one", &error), -1);
    assert_string_equal(error.text, "there is no binding 'one'; there is [0] and [1]");
    assert_int_equal(r->constants[reflect_find_constant(r, "7", &error)].id, 7);
    release(&module);
}

/* LocalSizeId (SPIR-V 1.6): built by hand, since glslang makes none at SPIR-V 1.5. */
static void local_size_id(void **state)
{
    (void)state;
    static const uint32_t words[] = {
        0x07230203, 0x00010600, 0,          20,         0,
        0x00020011, 1,                                     /* OpCapability Shader */
        0x0003000e, 0,          1,                         /* OpMemoryModel Logical GLSL450 */
        0x0005000f, 5,          1,          0x6e69616d, 0, /* OpEntryPoint GLCompute %1 "main" */
        0x0006014b, 1,          38,         5,          6,
        7,                                                 /* OpExecutionModeId %1 LocalSizeId */
        0x00040047, 6,          1,          4,             /* OpDecorate %6 SpecId 4 */
        0x00020013, 2,          0x00030021, 3,          2, /* void, void() */
        0x00040015, 4,          32,         0,             /* uint */
        0x0004002b, 4,          5,          16,         0x00040032,
        4,          6,          3,             /* 16; spec constant 3 */
        0x0004002b, 4,          7,          2, /* 2 */
        0x00050036, 2,          1,          0,          3,
        0x000200f8, 8,          0x000100fd, 0x00010038,
    };
    struct module module = {.count = sizeof(words) / sizeof(words[0])};
    module.words = malloc(sizeof(words));
    assert_non_null(module.words);
    memcpy(module.words, words, sizeof(words));
    reflect(&module);
    const struct reflection *r = &module.reflection;
    assert_int_equal(r->local_size[0], 16);
    assert_int_equal(r->local_size[1], 3);
    assert_int_equal(r->local_size[2], 2);
    assert_int_equal(r->local_size_id[0], UINT32_MAX);
    assert_int_equal(r->local_size_id[1], 4);
    assert_int_equal(r->constant_count, 1);
    release(&module);
}

static uint64_t shared(const char *declarations, const char *use, const struct spirv_value *values,
                       size_t count)
{
    struct module module;
    struct text source = {0};
    text_addf(&source,
              "#version 450\nlayout(local_size_x = 1) in;\n"
              "layout(constant_id = 4) const uint N = 10;\n"
              "layout(constant_id = 5) const uint M = 3;\n%s\n"
              "layout(binding = 0) buffer o { uint x; };\nvoid main() { x = uint(%s); }\n",
              declarations, use);
    compile(text_string(&source), &module);
    reflect(&module);
    const uint64_t bytes = spirv_shared_bytes(module.reflection.module, values, count);
    release(&module);
    text_free(&source);
    return bytes;
}

static void workgroup_memory(void **state)
{
    (void)state;
    const struct spirv_value values[] = {{5, 7}, {4, 100}};
    assert_int_equal(shared("", "0", NULL, 0), 0);
    assert_int_equal(shared("shared uint a[70];", "a[1]", NULL, 0), 280);
    /* two vec3 of 12, a struct of 4 + 8 + 4 * 4, packed */
    assert_int_equal(
        shared("struct s { float f; uvec2 u; float g[4]; }; shared s a; shared vec3 b[2];",
               "a.u.x + b[1].y", NULL, 0),
        52);
    assert_int_equal(shared("shared float a[N][M];", "a[1][2]", NULL, 0), 10 * 3 * 4);
    assert_int_equal(shared("shared float a[N][M];", "a[1][2]", values, 2), 100 * 7 * 4);
    assert_int_equal(shared("shared float a[N * M + 1];", "a[1]", NULL, 0), 31 * 4);
    assert_int_equal(shared("shared float a[N * M + 1];", "a[1]", values, 1), 71 * 4);
    assert_int_equal(shared("shared uvec4 a[(N << 2) / M - 1];", "a[1].x", NULL, 0), 12 * 16);
    /* what cannot be computed here counts as one element */
    assert_int_equal(shared("shared uint a[N % M];", "a[0]", NULL, 0), 4);
}

static void numbers_as_bits(void **state)
{
    (void)state;
    static const struct {
        struct reflect_scalar scalar;
        double value;
        bool fits;
        uint64_t bits;
    } rows[] = {
        {{REFLECT_BOOL, 32}, 1, true, 1},
        {{REFLECT_BOOL, 32}, 2, false, 0},
        {{REFLECT_UINT, 32}, 4294967295.0, true, 0xffffffff},
        {{REFLECT_UINT, 32}, 4294967296.0, false, 0},
        {{REFLECT_UINT, 32}, -1, false, 0},
        {{REFLECT_UINT, 32}, 0.5, false, 0},
        {{REFLECT_INT, 8}, -128, true, 0x80},
        {{REFLECT_INT, 8}, 128, false, 0},
        {{REFLECT_INT, 64}, -9223372036854775808.0, true, UINT64_C(1) << 63},
        {{REFLECT_INT, 64}, 9223372036854775808.0, false, 0},
        {{REFLECT_UINT, 64}, 9223372036854775808.0, true, UINT64_C(1) << 63},
        {{REFLECT_FLOAT, 32}, 0.1, true, 0x3dcccccd},
        {{REFLECT_FLOAT, 32}, 1e39, false, 0},
        {{REFLECT_FLOAT, 64}, 0.1, true, UINT64_C(0x3fb999999999999a)},
        {{REFLECT_FLOAT, 16}, 1.0, true, 0x3c00},
        {{REFLECT_FLOAT, 16}, -2.5, true, 0xc100},
        {{REFLECT_FLOAT, 16}, 65504, true, 0x7bff},
        {{REFLECT_FLOAT, 16}, 65520, false, 0},
        {{REFLECT_FLOAT, 16}, 0x1p-24, true, 0x0001},
        {{REFLECT_FLOAT, 16}, 0x1p-14, true, 0x0400},
        {{REFLECT_FLOAT, 16}, 0x1.ffcp-15, true, 0x0400}, /* rounds up out of the subnormals */
        {{REFLECT_FLOAT, 16}, 0.0, true, 0},
        {{REFLECT_FLOAT, 64}, (double)__builtin_nanf(""), false, 0},
        {{REFLECT_UINT, 32}, (double)__builtin_nanf(""), false, 0},
        {{REFLECT_OTHER, 0}, 1, false, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t bits = 1;
        const char *wanted = NULL;
        bool fits = reflect_encode(rows[i].scalar, rows[i].value, &bits, &wanted);
        if (fits != rows[i].fits || (fits && bits != rows[i].bits))
            fail_msg("row %zu: fits %d, bits 0x%llx", i, fits, (unsigned long long)bits);
        assert_non_null(wanted);
    }
}

static void bits_as_numbers(void **state)
{
    (void)state;
    static const struct {
        unsigned width;
        uint64_t bits;
        double value;
    } rows[] = {
        {16, 0x3c00, 1.0},
        {16, 0xc100, -2.5},
        {16, 0x7bff, 65504},
        {16, 0x0001, 0x1p-24},
        {16, 0x0400, 0x1p-14},
        {16, 0x0000, 0.0},
        {16, 0xfc00, (double)-__builtin_inff()},
        {32, 0x3e800000, 0.25},
        {64, UINT64_C(0xbff8000000000000), -1.5},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (reflect_decode_float(rows[i].width, rows[i].bits) != rows[i].value)
            fail_msg("row %zu", i);
    const double none = reflect_decode_float(16, 0x7e00);
    assert_true(none != none);
}

/* No crash, whatever the words; a success must give a reflection that can be read. */
static void try_damaged(const uint32_t *words, size_t count)
{
    struct assay_error error = {0};
    struct reflection r;
    struct arena *arena = arena_create();
    assert_non_null(arena);
    /* An own allocation of the exact size, so that ASan sees a read past the end. */
    uint32_t *copy = malloc(count * sizeof(*copy) + 1);
    assert_non_null(copy);
    memcpy(copy, words, count * sizeof(*copy));
    if (reflect_spirv(copy, count, arena, &r, &error)) {
        for (size_t i = 0; i < r.binding_count; i++)
            assert_true(r.bindings[i].kind <= REFLECT_UNSUPPORTED);
        assert_true(r.push_count == 0 || r.pushes != NULL);
        reflect_find_binding(&r, "nothing like it", &error);
    } else {
        assert_true(error.status == ASSAY_INVALID);
        assert_true(error.text[0] != '\0');
    }
    free(copy);
    arena_destroy(&arena);
}

static void damage(const char *source)
{
    struct module module;
    compile(source, &module);
    size_t first_function = 0;
    for (size_t at = 5; at < module.count; at += module.words[at] >> 16)
        if ((module.words[at] & 0xffff) == 54 && first_function == 0)
            first_function = at;
    for (size_t count = 0; count < module.count; count++)
        try_damaged(module.words, count);
    static const uint32_t values[] = {0, 1, 2, 0xffff, 0x10000, 0x7fffffff, 0xffffffff};
    uint32_t random = 1;
    for (size_t at = 0; at <= first_function; at++) {
        uint32_t kept = module.words[at];
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            module.words[at] = values[i];
            try_damaged(module.words, module.count);
        }
        for (int i = 0; i < 3; i++) {
            random = random * 1664525u + 1013904223u;
            module.words[at] = kept ^ (UINT32_C(1) << (random >> 27));
            try_damaged(module.words, module.count);
            module.words[at] = (kept & 0xffff0000u) | ((random >> 8) % 64);
            try_damaged(module.words, module.count);
        }
        module.words[at] = kept;
    }
    free(module.words);
}

static void damaged_words(void **state)
{
    (void)state;
    damage(blocks_source);
    damage(constants_source);
}

static void types_nested_in_themselves(void **state)
{
    (void)state;
    /* %3 = struct of 20 %3, as push constants: must end, and soon. */
    uint32_t words[64] = {0x07230203, 0x00010500, 0, 20, 0, 0x0005000f, 5, 1, 0x6e69616d, 0};
    size_t n = 10;
    words[n++] = (22u << 16) | 30;
    words[n++] = 3;
    for (int i = 0; i < 20; i++)
        words[n++] = 3;
    words[n++] = (4u << 16) | 32;
    words[n++] = 4;
    words[n++] = 9;
    words[n++] = 3;
    words[n++] = (4u << 16) | 59;
    words[n++] = 4;
    words[n++] = 5;
    words[n++] = 9;
    words[n++] = (5u << 16) | 54;
    n += 4;
    try_damaged(words, n);
}

static void refusals(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct reflection r;
    struct arena *arena = arena_create();
    static const uint32_t fragment[] = {0x07230203, 0x00010500, 0,          20, 0, 0x0005000f, 4, 1,
                                        0x6e69616d, 0,          0x00050036, 2,  1, 0,          3};
    assert_false(reflect_spirv(fragment, 15, arena, &r, &error));
    assert_string_equal(error.text, "the SPIR-V module has no compute entry point");
    error = (struct assay_error){0};
    assert_false(reflect_spirv(fragment, 8, arena, &r, &error));
    assert_string_equal(error.text, "the SPIR-V module is cut short or damaged at word 5 of 8");
    error = (struct assay_error){0};
    assert_false(reflect_spirv(fragment, 3, arena, &r, &error));
    assert_string_equal(error.text, "the shader is no SPIR-V module");
    arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_names_and_sizes),
        cmocka_unit_test(push_constants),
        cmocka_unit_test(constants),
        cmocka_unit_test(names_of_bindings),
        cmocka_unit_test(texel_buffers_and_images),
        cmocka_unit_test(stripped),
        cmocka_unit_test(local_size_id),
        cmocka_unit_test(workgroup_memory),
        cmocka_unit_test(numbers_as_bits),
        cmocka_unit_test(bits_as_numbers),
        cmocka_unit_test(damaged_words),
        cmocka_unit_test(types_nested_in_themselves),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
