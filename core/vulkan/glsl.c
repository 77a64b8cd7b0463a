/* SPDX-License-Identifier: MIT */
/* glslang's C interface. */
#include "vulkan/shader.h"

#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>

#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define GLSL_ERROR_LINES 6

static pthread_once_t glsl_once = PTHREAD_ONCE_INIT;
static bool glsl_ready;
static atomic_size_t glsl_compiled;

static void glsl_start(void)
{
    glsl_ready = glslang_initialize_process() != 0;
}

size_t shader_compile_count(void)
{
    return atomic_load(&glsl_compiled);
}

/* What a message that ends in a colon lists, a line each ("Possible extensions include:"). Returns
 * the rest of the log. */
static const char *add_list_lines(struct text *out, const char *line)
{
    while (*line != '\0' && *line != '\n' && strncmp(line, "ERROR: ", 7) != 0) {
        size_t length = strcspn(line, "\n");
        text_add_char(out, ' ');
        text_add_bytes(out, line, length);
        line += length + (line[length] == '\n');
    }
    return line;
}

/* glslang's log as "FILE:LINE: message" lines. Places before the first #line have the string's
 * number instead of a name. */
static void add_log(struct text *out, const char *name, const char *log)
{
    size_t lines = 0, left_out = 0;
    for (const char *line = log; line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n"), full = length;
        const char *at = line;
        line += full + (line[full] == '\n');
        if (length > 7 && strncmp(at, "ERROR: ", 7) == 0) {
            at += 7;
            length -= 7;
        } else {
            continue;
        }
        bool summary = isdigit((unsigned char)at[0]) &&
                       memmem(at, length, "compilation errors", 18);
        if (summary || memmem(at, length, "compilation terminated", 22) != NULL)
            continue;
        if (lines >= GLSL_ERROR_LINES) {
            left_out++;
            continue;
        }
        while (length > 0 && isspace((unsigned char)at[length - 1]))
            length--;
        text_add(out, lines++ > 0 ? "\n" : "");
        if (length > 2 && strncmp(at, "0:", 2) == 0) {
            text_add(out, name);
            at++;
            length--;
        }
        for (size_t i = 0; i < length; i++)
            if (at[i] != ' ' || i + 1 == length || at[i + 1] != ' ')
                text_add_char(out, at[i]);
        if (length > 0 && at[length - 1] == ':')
            line = add_list_lines(out, line);
    }
    if (left_out > 0)
        text_addf(out, "\n(%zu more)", left_out);
}

/* A log without places: one line, words apart by one space. */
static void add_words(struct text *out, const char *log)
{
    bool space = false;
    for (const char *c = strncmp(log, "ERROR: ", 7) == 0 ? log + 7 : log; *c != '\0'; c++) {
        if (isspace((unsigned char)*c)) {
            space = true;
            continue;
        }
        text_add(out, space ? " " : "");
        text_add_char(out, *c);
        space = false;
    }
}

static bool fail_log(struct assay_error *error, const char *name, bool placed, const char *log)
{
    struct text text = {0};
    if (placed)
        add_log(&text, name, log);
    if (text.length == 0) {
        text_addf(&text, "%s: ", name);
        add_words(&text, log != NULL && *log != '\0' ? log : "glslang gives no reason");
    }
    assay_fail(error, ASSAY_SCRIPT, "%s", text_string(&text));
    text_free(&text);
    return false;
}

static bool is_macro_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (const char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return true;
}

static bool add_defines(struct text *preamble, const struct assay_define *defines, size_t count,
                        struct assay_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = defines[i].name, *value = defines[i].value;
        if (name == NULL || !is_macro_name(name))
            return assay_fail(
                error, ASSAY_INVALID,
                "define '%s' is no name of a macro: letters, digits and _ are allowed",
                name != NULL ? name : "");
        if (value != NULL && strpbrk(value, "\r\n") != NULL)
            return assay_fail(error, ASSAY_INVALID, "define %s: the value has more than one line",
                              name);
        text_addf(preamble, "#define %s %s\n", name, value != NULL ? value : "");
    }
    if (preamble->failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a shader's defines");
    return true;
}

static bool take_words(glslang_program_t *program, const char *name, uint32_t **words,
                       size_t *word_count, struct assay_error *error)
{
    glslang_spv_options_t options = {.disable_optimizer = true};
    glslang_program_SPIRV_generate_with_options(program, GLSLANG_STAGE_COMPUTE, &options);
    size_t count = glslang_program_SPIRV_get_size(program);
    if (count == 0)
        return fail_log(error, name, false, glslang_program_SPIRV_get_messages(program));
    uint32_t *copy = malloc(count * sizeof(*copy));
    if (copy == NULL)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the shader %s", name);
    glslang_program_SPIRV_get(program, copy);
    *words = copy;
    *word_count = count;
    return true;
}

static bool compile(const char *name, const char *expanded, const char *preamble, uint32_t **words,
                    size_t *word_count, struct assay_error *error)
{
    const glslang_messages_t messages = GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT;
    const glslang_input_t input = {
        .language = GLSLANG_SOURCE_GLSL,
        .stage = GLSLANG_STAGE_COMPUTE,
        .client = GLSLANG_CLIENT_VULKAN,
        .client_version = GLSLANG_TARGET_VULKAN_1_2,
        .target_language = GLSLANG_TARGET_SPV,
        .target_language_version = GLSLANG_TARGET_SPV_1_5,
        .code = expanded,
        .default_version = 450,
        .default_profile = GLSLANG_NO_PROFILE,
        .messages = messages,
        .resource = glslang_default_resource(),
    };
    bool done = false;
    glslang_program_t *program = NULL;
    glslang_shader_t *shader = glslang_shader_create(&input);
    if (shader == NULL) {
        assay_fail(error, ASSAY_INTERNAL, "%s: glslang made no shader object", name);
        goto end;
    }
    glslang_shader_set_preamble(shader, preamble);
    if (!glslang_shader_preprocess(shader, &input)) {
        fail_log(error, name, true, glslang_shader_get_info_log(shader));
        goto end;
    }
    if (!glslang_shader_parse(shader, &input)) {
        fail_log(error, name, true, glslang_shader_get_info_log(shader));
        goto end;
    }
    program = glslang_program_create();
    if (program == NULL) {
        assay_fail(error, ASSAY_INTERNAL, "%s: glslang made no program object", name);
        goto end;
    }
    glslang_program_add_shader(program, shader);
    if (!glslang_program_link(program, messages)) {
        fail_log(error, name, false, glslang_program_get_info_log(program));
        goto end;
    }
    done = take_words(program, name, words, word_count, error);
end:
    if (program != NULL)
        glslang_program_delete(program);
    if (shader != NULL)
        glslang_shader_delete(shader);
    return done;
}

bool glsl_compile(const char *name, const char *expanded, const struct assay_define *defines,
                  size_t define_count, uint32_t **words, size_t *word_count,
                  struct assay_error *error)
{
    pthread_once(&glsl_once, glsl_start);
    if (!glsl_ready)
        return assay_fail(error, ASSAY_INTERNAL, "glslang did not start");
    struct text preamble = {0};
    bool done = false;
    /* glslang reads float literals with the locale's decimal point. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (plain == (locale_t)0) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no \"C\" locale to compile %s in", name);
        goto end;
    }
    if (!add_defines(&preamble, defines, define_count, error))
        goto end;
    before = uselocale(plain);
    atomic_fetch_add(&glsl_compiled, 1);
    done = compile(name, expanded, text_string(&preamble), words, word_count, error);
    uselocale(before);
end:
    if (plain != (locale_t)0)
        freelocale(plain);
    text_free(&preamble);
    return done;
}

bool glsl_knows(const char *extension)
{
    struct text source = {0};
    struct assay_error error = {0};
    uint32_t *words = NULL;
    size_t count;
    text_addf(&source, "#version 450\n#extension %s : require\nvoid main() {}\n", extension);
    const bool known = !source.failed && glsl_compile("extension", text_string(&source), NULL, 0,
                                                      &words, &count, &error);
    text_free(&source);
    free(words);
    return known;
}
