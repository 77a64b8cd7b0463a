/* SPDX-License-Identifier: MIT */
/* From a file name or a text to SPIR-V, through the cache. */
#include "vulkan/shader.h"

#include "base/os.h"

#include <glslang/build_info.h>

#include <stdlib.h>
#include <string.h>

#define SHADER_SOURCE_BYTES_MAX (UINT32_C(8) << 20)
#define SHADER_SPIRV_BYTES_MAX (UINT32_C(64) << 20)
#define SPIRV_MAGIC UINT32_C(0x07230203)
#define SPIRV_HEADER_WORDS 5

bool shader_name_is_inside(const char *name)
{
    if (name[0] == '/')
        return false;
    for (const char *part = name; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

bool shader_find(const struct shader_search *search, const char *what, const char *name,
                 struct text *path, struct assay_error *error)
{
    struct text looked = {0};
    const char *const *directory = search != NULL ? search->directories : NULL;
    if (name == NULL || name[0] == '\0')
        return assay_fail(error, ASSAY_INVALID, "a %s needs a name", what);
    if (!shader_name_is_inside(name))
        return assay_fail(error, ASSAY_SCRIPT,
                          "%s '%s' leads out of the search path; name a file beside the script, "
                          "below it or in shaders/",
                          what, name);
    for (; directory != NULL && *directory != NULL; directory++) {
        text_clear(path);
        os_path_join(path, strcmp(*directory, ".") == 0 ? "" : *directory, name);
        bool there = os_is_file(text_string(path));
        shader_trace_add(search->trace, text_string(path), there);
        if (there) {
            text_free(&looked);
            return true;
        }
        text_addf(&looked, "%s%s", looked.length > 0 ? ", " : "", *directory);
    }
    assay_fail(error, ASSAY_SCRIPT, "%s '%s' was not found%s%s", what, name,
               looked.length > 0 ? " in " : "", text_string(&looked));
    text_free(&looked);
    return false;
}

static bool load_spirv(const char *path, struct shader *shader, struct assay_error *error)
{
    struct text data = {0};
    bool done = false;
    uint32_t magic = 0;
    if (!os_file_read(path, SHADER_SPIRV_BYTES_MAX, &data, error))
        goto end;
    if (data.length >= sizeof(magic))
        memcpy(&magic, data.data, sizeof(magic));
    if (data.length < sizeof(magic) || magic != SPIRV_MAGIC) {
        assay_fail(error, ASSAY_INVALID,
                   "%s is no SPIR-V: its %zu bytes start with 0x%08x, SPIR-V starts with 0x%08x",
                   path, data.length, (unsigned)magic, (unsigned)SPIRV_MAGIC);
        goto end;
    }
    if (data.length < SPIRV_HEADER_WORDS * sizeof(uint32_t) ||
        data.length % sizeof(uint32_t) != 0) {
        assay_fail(error, ASSAY_INVALID,
                   "%s is cut: SPIR-V is whole words of 4 bytes, %d at least, but it has %zu bytes",
                   path, SPIRV_HEADER_WORDS, data.length);
        goto end;
    }
    shader->words = malloc(data.length);
    if (shader->words == NULL) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the shader %s", path);
        goto end;
    }
    memcpy(shader->words, data.data, data.length);
    shader->word_count = data.length / sizeof(uint32_t);
    shader->source_hash = hash_bytes(data.data, data.length);
    done = true;
end:
    text_free(&data);
    return done;
}

/* The name that messages show does not matter to the key, the paths in #line do no harm. */
static bool cache_key(const char *expanded, const struct shader_params *params, struct hash128 *key,
                      struct assay_error *error)
{
    struct text text = {0};
    text_addf(&text, "assay spirv 1; glslang %d.%d.%d%s; vulkan 1.2 spirv 1.5 unoptimised named\n",
              GLSLANG_VERSION_MAJOR, GLSLANG_VERSION_MINOR, GLSLANG_VERSION_PATCH,
              GLSLANG_VERSION_FLAVOR);
    for (size_t i = 0; i < params->define_count; i++) {
        const struct assay_define *define = &params->defines[i];
        text_addf(&text, "#define %s %s\n", define->name != NULL ? define->name : "",
                  define->value != NULL ? define->value : "");
    }
    text_add(&text, expanded);
    bool done = !text.failed;
    if (done)
        *key = hash_bytes(text.data, text.length);
    else
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a shader's source");
    text_free(&text);
    return done;
}

static bool load_glsl(const struct shader_params *params, const char *path, const char *source,
                      struct shader *shader, struct assay_error *error)
{
    struct text expanded = {0};
    bool done = false;
    if (!glsl_expand(params->search, path, source, &expanded, error) ||
        !cache_key(text_string(&expanded), params, &shader->source_hash, error))
        goto end;
    shader->from_cache = shader_cache_get(&shader->source_hash, &shader->words,
                                          &shader->word_count);
    if (!shader->from_cache) {
        if (!glsl_compile(path, text_string(&expanded), params->defines, params->define_count,
                          &shader->words, &shader->word_count, error))
            goto end;
        shader_cache_put(&shader->source_hash, shader->words, shader->word_count);
    }
    done = true;
end:
    text_free(&expanded);
    return done;
}

static bool load_file(const struct shader_params *params, struct shader *shader,
                      struct assay_error *error)
{
    struct text path = {0}, source = {0};
    bool done = false;
    if (!shader_find(params->search, "kernel file", params->source, &path, error))
        goto end;
    if (path.length > 4 && strcmp(path.data + path.length - 4, ".spv") == 0) {
        done = load_spirv(text_string(&path), shader, error);
        goto end;
    }
    if (!os_file_read(text_string(&path), SHADER_SOURCE_BYTES_MAX, &source, error))
        goto end;
    if (strlen(text_string(&source)) != source.length) {
        assay_fail(error, ASSAY_SCRIPT, "%s:1: the file holds a NUL byte, so it is no GLSL text",
                   text_string(&path));
        goto end;
    }
    done = load_glsl(params, text_string(&path), text_string(&source), shader, error);
end:
    text_free(&path);
    text_free(&source);
    return done;
}

bool shader_load(const struct shader_params *params, struct shader *shader,
                 struct assay_error *error)
{
    struct text name = {0};
    *shader = (struct shader){0};
    text_add_clean(&name, params->source != NULL ? params->source : "<text>");
    size_t length = name.length < sizeof(shader->name) ? name.length : sizeof(shader->name) - 1;
    memcpy(shader->name, text_string(&name), length);
    text_free(&name);
    bool done = params->text != NULL
                    ? load_glsl(params, params->source != NULL ? params->source : "<text>",
                                params->text, shader, error)
                    : load_file(params, shader, error);
    if (!done)
        shader_free(shader);
    return done;
}

void shader_free(struct shader *shader)
{
    free(shader->words);
    shader->words = NULL;
    shader->word_count = 0;
}
