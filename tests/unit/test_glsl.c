/* SPDX-License-Identifier: MIT */
/* GLSL errors: their exact text, at the user's file and line, through includes. */
#include "vulkan/shader.h"

#include "base/os.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const directories[] = {".", "lib", NULL};
static const struct shader_search search = {.directories = directories};

static void write_file(const char *path, const char *text)
{
    struct assay_error error = {0};
    if (!os_file_write_atomic(path, text, strlen(text), &error))
        fail_msg("%s", error.text);
}

static bool load(const char *source, const struct assay_define *defines, size_t count,
                 struct assay_error *error)
{
    struct shader shader;
    const struct shader_params params = {
        .source = source, .search = &search, .defines = defines, .define_count = count};
    if (!shader_load(&params, &shader, error))
        return false;
    assert_true(shader.word_count > 5);
    assert_int_equal(shader.words[0], 0x07230203);
    assert_int_equal(shader.words[1], 0x00010500);
    shader_free(&shader);
    return true;
}

static void expect_error(const char *source, enum assay_status status, const char *text)
{
    struct assay_error error = {0};
    assert_false(load(source, NULL, 0, &error));
    assert_string_equal(error.text, text);
    assert_int_equal(error.status, status);
}

static void expect_success(const char *source)
{
    struct assay_error error = {0};
    if (!load(source, NULL, 0, &error))
        fail_msg("%s: %s", source, error.text);
}

#define HEAD "#version 450\nlayout(local_size_x = 1) in;\n"

static void errors_have_file_and_line(void **state)
{
    (void)state;
    write_file("bad.comp", HEAD "void main()\n{\n    b;\n}\n");
    expect_error("bad.comp", ASSAY_SCRIPT, "bad.comp:5: 'b' : undeclared identifier");
    write_file("version.comp", "// first\n#version 450 cor\nvoid main() {}\n");
    expect_error("version.comp", ASSAY_SCRIPT,
                 "version.comp:2: '#version' : bad profile name; use es, core, or compatibility\n"
                 "version.comp:2: '#version' : bad tokens following profile -- expected newline");
    write_file("two.comp", HEAD "void main() { f(); }\nvoid g() { h(); }\n");
    expect_error("two.comp", ASSAY_SCRIPT,
                 "two.comp:3: 'f' : no matching overloaded function found");
    write_file("list.comp", "#version 450\n#extension GL_EXT_shader_8bit_storage : enable\n"
                            "layout(local_size_x = 1) in;\n"
                            "layout(binding = 0) buffer B { int8_t a; } b;\n"
                            "void main() { int8_t x = b.a; }\n");
    expect_error("list.comp", ASSAY_SCRIPT,
                 "list.comp:5: 'qualifier: (u)int8 types can only be in uniform block or buffer "
                 "storage' : required extension not requested: Possible extensions include: "
                 "GL_EXT_shader_explicit_arithmetic_types "
                 "GL_EXT_shader_explicit_arithmetic_types_int8");
    write_file("noversion.comp", "layout(local_size_x = 1) in;\nvoid main() { b; }\n");
    expect_error("noversion.comp", ASSAY_SCRIPT, "noversion.comp:2: 'b' : undeclared identifier");
    write_file("linked.comp", HEAD "void f();\nvoid main() { f(); }\n");
    expect_error("linked.comp", ASSAY_SCRIPT,
                 "linked.comp: Linking compute stage: No function definition (body) found: f(");
    write_file("empty.comp", "");
    struct assay_error error = {0};
    assert_false(load("empty.comp", NULL, 0, &error));
    assert_int_equal(error.status, ASSAY_SCRIPT);
}

static void further_errors_have_their_lines(void **state)
{
    (void)state;
    struct assay_error error = {0};
    write_file("two.comp", HEAD "void main()\n{\n    int a = b;\n}\n");
    assert_false(load("two.comp", NULL, 0, &error));
    static const char first[] = "two.comp:5: 'b' : undeclared identifier\ntwo.comp:5: '=' : ";
    assert_memory_equal(error.text, first, sizeof(first) - 1);
}

static void errors_inside_includes(void **state)
{
    (void)state;
    write_file("lib/deep.glsl", "int deep()\n{\n    x;\n    return 1;\n}\n");
    write_file("lib/outer.glsl",
               "// a comment\n#include \"deep.glsl\"\nint outer() { return 1; }\n");
    write_file("inner.comp", HEAD "#include <outer.glsl>\nvoid main() { outer(); }\n");
    expect_error("inner.comp", ASSAY_SCRIPT, "lib/deep.glsl:3: 'x' : undeclared identifier");
    write_file("lib/good.glsl", "int good() { return 1; }"); /* no newline at its end */
    write_file("after.comp", HEAD "#include \"good.glsl\"\n\nvoid main() { good(); y = 1; }\n");
    expect_error("after.comp", ASSAY_SCRIPT, "after.comp:5: 'y' : undeclared identifier");
}

static void includes_that_fail(void **state)
{
    (void)state;
    write_file("absent.comp", HEAD "\n#include \"no.glsl\"\nvoid main() {}\n");
    expect_error("absent.comp", ASSAY_SCRIPT,
                 "absent.comp:4: #include \"no.glsl\" was not found in ., lib");
    write_file("lib/absent.glsl", "#include \"no.glsl\"\n");
    write_file("absent2.comp", HEAD "#include \"absent.glsl\"\nvoid main() {}\n");
    expect_error("absent2.comp", ASSAY_SCRIPT,
                 "lib/absent.glsl:1: #include \"no.glsl\" was not found in lib, .");
    write_file("outside.comp", HEAD "#include \"/etc/passwd\"\nvoid main() {}\n");
    expect_error("outside.comp", ASSAY_SCRIPT,
                 "outside.comp:3: #include \"/etc/passwd\" leads out of the search path; name a "
                 "file beside this one, beside the script or in shaders/");
    expect_error("lib/../outside.comp", ASSAY_SCRIPT,
                 "kernel file 'lib/../outside.comp' leads out of the search path; name a file "
                 "beside the script, below it or in shaders/");
    assert_true(shader_name_is_inside("a..b/..c/d..") && shader_name_is_inside("./a/b.comp"));
    assert_false(shader_name_is_inside("..") || shader_name_is_inside("a/..") ||
                 shader_name_is_inside("../a"));
    write_file("a.glsl", "\n#include \"b.glsl\"\n");
    write_file("b.glsl", "\n\n#include \"a.glsl\"\n");
    write_file("recursive.comp", HEAD "#include \"a.glsl\"\nvoid main() {}\n");
    expect_error("recursive.comp", ASSAY_SCRIPT,
                 "b.glsl:3: #include \"a.glsl\" is recursive: recursive.comp -> a.glsl -> b.glsl "
                 "-> a.glsl");
    write_file("self.comp", HEAD "#include \"./self.comp\"\nvoid main() {}\n");
    expect_error("self.comp", ASSAY_SCRIPT,
                 "self.comp:3: #include \"./self.comp\" is recursive: self.comp -> "
                 "./self.comp");
    write_file("bare.comp", HEAD "#include good.glsl\nvoid main() {}\n");
    expect_error("bare.comp", ASSAY_SCRIPT,
                 "bare.comp:3: #include wants \"FILE\" or <FILE> after it");
    write_file("extra.comp", HEAD "#include \"lib/good.glsl\" x\nvoid main() {}\n");
    expect_error("extra.comp", ASSAY_SCRIPT,
                 "extra.comp:3: #include takes one file, but 'x' follows");
    expect_error("none.comp", ASSAY_SCRIPT, "kernel file 'none.comp' was not found in ., lib");
}

static void comments_are_respected(void **state)
{
    (void)state;
    write_file("lib/good.glsl", "int good() { return 1; }\n");
    write_file("comments.comp",
               "/* head\n#include \"no1.glsl\" */\n" HEAD "// #include \"no2.glsl\"\n"
               "// goes on \\\n#include \"no3.glsl\"\n"
               "/* a */ # /* b */ include /* c */ \"lib/good.glsl\" /* open\n"
               "#include \"no4.glsl\"\n"
               "*/ // \"/*\"\n"
               "void main() { good(); }\n");
    expect_success("comments.comp");
    write_file("comments2.comp", HEAD "#include \"lib/good.glsl\" // tail\nvoid main() { z(); }\n");
    expect_error("comments2.comp", ASSAY_SCRIPT,
                 "comments2.comp:4: 'z' : no matching overloaded function found");
    write_file("lib/open.glsl", "int a;\n/* not closed\n");
    write_file("open.comp", HEAD "#include \"lib/open.glsl\"\nvoid main() {}\n");
    expect_error("open.comp", ASSAY_SCRIPT,
                 "lib/open.glsl:2: the comment that starts here is not closed");
}

static void line_ends_and_versions(void **state)
{
    (void)state;
    write_file("crlf.comp", "#version 450\r\n#include \"lib/good.glsl\"\r\n"
                            "layout(local_size_x = 1) in;\r\nvoid main() { good(); }\r\n");
    expect_success("crlf.comp");
    write_file("extension.comp", "// x\n/* y\n*/ #version 460 // z\n"
                                 "#extension GL_GOOGLE_include_directive : require\n"
                                 "#include \"lib/good.glsl\"\n"
                                 "layout(local_size_x = 1) in;\nvoid main() { good(); }\n");
    expect_success("extension.comp");
}

static void defines(void **state)
{
    (void)state;
    write_file("define.comp", HEAD "void main() { int a = VALUE; }\n");
    struct assay_error error = {0};
    const struct assay_define good = {"VALUE", "3 + 4"};
    assert_true(load("define.comp", &good, 1, &error));
    const struct assay_define bad = {"VA LUE", "3"};
    assert_false(load("define.comp", &bad, 1, &error));
    assert_string_equal(error.text, "define 'VA LUE' is no name of a macro: letters, digits and _ "
                                    "are allowed");
    assert_int_equal(error.status, ASSAY_INVALID);
}

static void spirv_files(void **state)
{
    (void)state;
    write_file("text.spv", "this is no SPIR-V at all");
    expect_error("text.spv", ASSAY_INVALID,
                 "text.spv is no SPIR-V: its 24 bytes start with 0x73696874, SPIR-V starts with "
                 "0x07230203");
    write_file("cut.spv", "\x03\x02\x23\x07 the rest was here");
    expect_error("cut.spv", ASSAY_INVALID,
                 "cut.spv is cut: SPIR-V is whole words of 4 bytes, 5 at least, but it has 22 "
                 "bytes");
}

/* Builds the locale beside the test's files, so that none needs to be installed. */
static bool set_decimal_comma(void)
{
    char here[128];
    if (getcwd(here, sizeof(here)) == NULL || setenv("LOCPATH", here, 1) != 0 ||
        system("localedef -i de_DE -f ISO-8859-1 ./de_DE >localedef.log 2>&1") != 0)
        return false;
    return setlocale(LC_ALL, "de_DE") != NULL && strcmp(localeconv()->decimal_point, ",") == 0;
}

/* A float literal under a locale with decimal commas keeps its value. */
/* Paths of a trace, a blank after each. */
static const char *paths(const struct text *list)
{
    static char out[256];
    size_t used = 0;
    for (; used < list->length && used < sizeof(out) - 1; used++)
        out[used] = list->data[used] ? list->data[used] : ' ';
    out[used] = '\0';
    return out;
}

static void traces(void **state)
{
    (void)state;
    struct shader_trace trace = {0};
    const struct shader_search traced = {.directories = directories, .trace = &trace};
    const struct shader_params params = {.source = "traced.comp", .search = &traced};
    struct assay_error error = {0};
    struct shader shader;
    write_file("lib/traced.comp",
               HEAD "#include \"one.glsl\"\n#include \"one.glsl\"\n#include \"two.glsl\"\nbad;\n");
    write_file("lib/one.glsl", "\n");
    write_file("two.glsl", "\n");
    assert_false(shader_load(&params, &shader, &error)); /* what was read counts all the same */
    assert_string_equal(paths(&trace.read), "lib/traced.comp lib/one.glsl two.glsl ");
    assert_string_equal(paths(&trace.absent), "traced.comp lib/two.glsl ");
    shader_trace_free(&trace);
}

static void decimal_commas(void **state)
{
    (void)state;
    static const char text[] = HEAD "layout(set = 0, binding = 0) buffer B { float x; };\n"
                                    "void main() { x = 1.5; }\n";
    struct text expanded = {0};
    struct assay_error error = {0};
    uint32_t *words[2] = {NULL, NULL};
    size_t counts[2];
    assert_true(glsl_expand(NULL, "<text>", text, &expanded, &error));
    assert_true(
        glsl_compile("<text>", text_string(&expanded), NULL, 0, &words[0], &counts[0], &error));
    bool found = set_decimal_comma();
    assert_true(
        glsl_compile("<text>", text_string(&expanded), NULL, 0, &words[1], &counts[1], &error));
    bool kept = !found || strcmp(localeconv()->decimal_point, ",") == 0;
    setlocale(LC_ALL, "C");
    assert_true(kept);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(words[0], words[1], counts[0] * sizeof(uint32_t));
    size_t seen = 0;
    for (size_t i = 0; i < counts[1]; i++)
        seen += words[1][i] == 0x3fc00000; /* 1.5f */
    assert_int_equal(seen, 1);
    free(words[0]);
    free(words[1]);
    text_free(&expanded);
    if (!found)
        printf("no locale with a decimal comma could be built; compared in \"C\" alone\n");
}

static int enter(void **state)
{
    static char directory[] = "/tmp/assay-glsl-XXXXXX";
    *state = directory;
    if (mkdtemp(directory) == NULL || chdir(directory) != 0)
        return -1;
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME"); /* no cache */
    return os_make_directories("lib", NULL) ? 0 : -1;
}

static int leave(void **state)
{
    char command[64];
    if (chdir("/") != 0)
        return -1;
    snprintf(command, sizeof(command), "rm -rf '%s'", (const char *)*state);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_file_and_line),
        cmocka_unit_test(further_errors_have_their_lines),
        cmocka_unit_test(errors_inside_includes),
        cmocka_unit_test(includes_that_fail),
        cmocka_unit_test(comments_are_respected),
        cmocka_unit_test(line_ends_and_versions),
        cmocka_unit_test(defines),
        cmocka_unit_test(spirv_files),
        cmocka_unit_test(traces),
        cmocka_unit_test(decimal_commas),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
