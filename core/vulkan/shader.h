/* SPDX-License-Identifier: MIT */
/* GLSL to SPIR-V in process, with #include, a cache on disk, and errors at file:line. No Vulkan
 * device needed. */
#ifndef VULKAN_SHADER_H
#define VULKAN_SHADER_H

#include <assay/kernel.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

/* What kernels were made of: the files that were read, and those that were looked for before them
 * and are not there, each once. All zero is empty. */
struct shader_trace {
    struct text read, absent; /* paths, each with its NUL */
};
/* `trace` may be NULL. */
void shader_trace_add(struct shader_trace *trace, const char *path, bool there);
void shader_trace_free(struct shader_trace *trace);

/* Where sources and includes are searched, in order: the including file's directory (includes
 * only), then these. */
struct shader_search {
    const char *const *directories; /* NULL-terminated: the script's, then shaders/ */
    struct shader_trace *trace;     /* added to, or NULL */
};

struct shader_params {
    const char *source, *text; /* as in assay_kernel_params */
    const struct assay_define *defines;
    size_t define_count;
    const struct shader_search *search;
};

struct shader {
    uint32_t *words;
    size_t word_count;
    struct hash128
        source_hash; /* of the expanded source with defines and compile options: the cache key */
    bool from_cache;
    char name[256]; /* for messages and debug names */
};

/* Expands includes itself with #line (works on every glslang), compiles for Vulkan 1.2 /
 * SPIR-V 1.5. Errors are ASSAY_SCRIPT, "FILE:LINE: message" for the first, further ones on lines of
 * their own, also inside includes. An absent include lists where it was looked for; a recursive one
 * shows the chain. .spv files are loaded and checked for the magic number. */
bool shader_load(const struct shader_params *params, struct shader *shader,
                 struct assay_error *error);
void shader_free(struct shader *shader);
/* Shaders compiled (not taken from the cache) since the process started. */
size_t shader_compile_count(void);

/* A relative name without "..": a script may not read files outside its folder and shaders/. */
bool shader_name_is_inside(const char *name);
/* The file that `name` means, in the search path; `what` it is, for messages ("kernel file").
 * ASSAY_SCRIPT lists where it was looked for. */
bool shader_find(const struct shader_search *search, const char *what, const char *name,
                 struct text *path, struct assay_error *error);
/* Step 1: source with includes expanded. `path` is used in #line and for relative includes. */
bool glsl_expand(const struct shader_search *search, const char *path, const char *source,
                 struct text *out, struct assay_error *error);
/* Step 2: SPIR-V words (malloc'ed). */
bool glsl_compile(const char *name, const char *expanded, const struct assay_define *defines,
                  size_t define_count, uint32_t **words, size_t *word_count,
                  struct assay_error *error);
/* Whether this glslang has the GLSL extension: compiles a line to see. */
bool glsl_knows(const char *extension);
/* The cache: key -> words. A miss or a damaged entry (length, hash, magic) is false without an
 * error. */
bool shader_cache_get(const struct hash128 *key, uint32_t **words, size_t *word_count);
void shader_cache_put(const struct hash128 *key, const uint32_t *words,
                      size_t word_count); /* best effort */

#endif
