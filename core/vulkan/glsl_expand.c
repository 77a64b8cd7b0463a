/* SPDX-License-Identifier: MIT */
/* Source with its includes in place and #line directives around them, so that any glslang reports
 * the user's own file and line. */
#include "vulkan/shader.h"

#include "base/os.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define EXPAND_BYTES_MAX (UINT32_C(8) << 20)
#define EXPAND_DEPTH_MAX 64
#define EXPAND_PREAMBLE "#extension GL_GOOGLE_cpp_style_line_directive : require\n"

enum scan_state { SCAN_CODE, SCAN_LINE_COMMENT, SCAN_BLOCK_COMMENT };

/* One file that is being expanded; the chain of them leads back to the shader. */
struct expand_file {
    const struct expand_file *parent;
    const char *path;
    char *identity; /* real path, to see a recursion through other spellings; may be NULL */
    unsigned depth;
    bool on_disk; /* its directory is searched for includes */
    enum scan_state state;
    bool continued; /* the last line ended in a backslash */
    unsigned line, comment_line;
    bool wants_preamble; /* after #version, in the shader itself */
};

struct expansion {
    const struct shader_search *search;
    struct text *out;
    struct assay_error *error;
};

static bool expand_source(struct expansion *expansion, struct expand_file *file,
                          const char *source);

/* A quote would end the name early, and glslang knows no escapes there. */
static void add_line_directive(struct text *out, unsigned line, const char *path)
{
    text_addf(out, "#line %u \"", line);
    for (const char *c = path; *c != '\0'; c++)
        text_add_char(out, *c == '"' || *c == '\n' || *c == '\r' ? '?' : *c);
    text_add(out, "\"\n");
}

/* Follows comments over the characters of one line, the newline excluded. */
static void scan_line(struct expand_file *file, const char *line, size_t length)
{
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        char next = i + 1 < length ? line[i + 1] : '\0';
        if (file->state == SCAN_BLOCK_COMMENT) {
            if (line[i] == '*' && next == '/') {
                file->state = SCAN_CODE;
                i++;
            }
        } else if (file->state == SCAN_CODE) {
            if (line[i] == '"')
                quoted = !quoted;
            if (quoted || line[i] != '/')
                continue;
            if (next == '/') {
                file->state = SCAN_LINE_COMMENT;
            } else if (next == '*') {
                file->state = SCAN_BLOCK_COMMENT;
                file->comment_line = file->line;
                i++;
            }
        }
    }
    if (length > 0 && line[length - 1] == '\r')
        length--;
    file->continued = length > 0 && line[length - 1] == '\\';
    if (file->state == SCAN_LINE_COMMENT && !file->continued)
        file->state = SCAN_CODE;
}

/* The first character from `at` that is neither space nor inside a block comment, or `end`. */
static const char *skip_blank(const char *at, const char *end)
{
    while (at < end) {
        if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\v' || *at == '\f') {
            at++;
        } else if (end - at >= 2 && at[0] == '/' && at[1] == '*') {
            const char *close = at + 2;
            while (end - close >= 2 && !(close[0] == '*' && close[1] == '/'))
                close++;
            if (end - close < 2)
                return end;
            at = close + 2;
        } else {
            break;
        }
    }
    return at;
}

/* Whether a line is the directive `word`; `*rest` is what follows the word. */
static bool is_directive(const char *line, const char *end, const char *word, const char **rest)
{
    const char *at = skip_blank(line, end);
    size_t length = strlen(word);
    if (at == end || *at != '#')
        return false;
    at = skip_blank(at + 1, end);
    if ((size_t)(end - at) < length || memcmp(at, word, length) != 0)
        return false;
    at += length;
    if (at < end && (isalnum((unsigned char)*at) || *at == '_'))
        return false;
    *rest = at;
    return true;
}

/* The directories an include of this file is looked for in, in order; true when all were given. */
static bool include_find(const struct expansion *expansion, const struct expand_file *file,
                         const char *name, struct text *path, struct text *looked)
{
    struct text own = {0};
    if (file->on_disk)
        os_path_directory(&own, file->path);
    const char *const *directory = expansion->search != NULL ? expansion->search->directories
                                                             : NULL;
    bool found = false, first = true;
    for (bool more = true; more && !found;) {
        const char *in = NULL;
        if (first && file->on_disk)
            in = text_string(&own);
        else if (directory != NULL && *directory != NULL)
            in = *directory++;
        more = in != NULL || first;
        first = false;
        if (in == NULL)
            continue;
        text_clear(path);
        os_path_join(path, strcmp(in, ".") == 0 ? "" : in, name);
        found = os_is_file(text_string(path));
        if (expansion->search != NULL)
            shader_trace_add(expansion->search->trace, text_string(path), found);
        if (looked->length == 0 || strcmp(in, text_string(&own)) != 0)
            text_addf(looked, "%s%s", looked->length > 0 ? ", " : "", in);
    }
    text_free(&own);
    return found;
}

static bool include_recursive(const struct expansion *expansion, const struct expand_file *file,
                              const char *name, const struct expand_file *child)
{
    const struct expand_file *same = file;
    while (same != NULL && strcmp(same->path, child->path) != 0 &&
           (same->identity == NULL || child->identity == NULL ||
            strcmp(same->identity, child->identity) != 0))
        same = same->parent;
    if (same == NULL && child->depth <= EXPAND_DEPTH_MAX)
        return false;
    if (same == NULL) {
        assay_fail(expansion->error, ASSAY_SCRIPT,
                   "%s:%u: #include \"%s\" is nested deeper than %d files", file->path, file->line,
                   name, EXPAND_DEPTH_MAX);
        return true;
    }
    const struct expand_file *chain[EXPAND_DEPTH_MAX + 1];
    size_t count = 0;
    for (const struct expand_file *at = file; at != NULL && count <= EXPAND_DEPTH_MAX;
         at = at->parent)
        chain[count++] = at;
    struct text text = {0};
    while (count > 0)
        text_addf(&text, "%s -> ", chain[--count]->path);
    text_add(&text, child->path);
    assay_fail(expansion->error, ASSAY_SCRIPT, "%s:%u: #include \"%s\" is recursive: %s",
               file->path, file->line, name, text_string(&text));
    text_free(&text);
    return true;
}

static bool include_file(struct expansion *expansion, const struct expand_file *file,
                         const char *name)
{
    struct text path = {0}, looked = {0}, source = {0};
    struct expand_file child = {.parent = file, .depth = file->depth + 1, .on_disk = true};
    bool done = false;
    if (!shader_name_is_inside(name)) {
        assay_fail(expansion->error, ASSAY_SCRIPT,
                   "%s:%u: #include \"%s\" leads out of the search path; name a file beside this "
                   "one, beside the script or in shaders/",
                   file->path, file->line, name);
        goto end;
    }
    if (!include_find(expansion, file, name, &path, &looked)) {
        assay_fail(expansion->error, ASSAY_SCRIPT, "%s:%u: #include \"%s\" was not found%s%s",
                   file->path, file->line, name, looked.length > 0 ? " in " : "",
                   text_string(&looked));
        goto end;
    }
    child.path = text_string(&path);
    child.identity = realpath(child.path, NULL);
    if (include_recursive(expansion, file, name, &child))
        goto end;
    struct assay_error cause = {0};
    if (!os_file_read(child.path, EXPAND_BYTES_MAX, &source, &cause)) {
        assay_fail(expansion->error, ASSAY_SCRIPT, "%s:%u: #include \"%s\": %s", file->path,
                   file->line, name, cause.text);
        goto end;
    }
    if (strlen(text_string(&source)) != source.length) {
        assay_fail(expansion->error, ASSAY_SCRIPT, "%s:%u: #include \"%s\": %s holds a NUL byte",
                   file->path, file->line, name, child.path);
        goto end;
    }
    add_line_directive(expansion->out, 1, child.path);
    done = expand_source(expansion, &child, text_string(&source));
end:
    free(child.identity);
    text_free(&path);
    text_free(&looked);
    text_free(&source);
    return done;
}

/* The line `#include NAME rest`; `at` is what follows the word. */
static bool expand_include(struct expansion *expansion, struct expand_file *file, const char *at,
                           const char *end)
{
    at = skip_blank(at, end);
    char close = '\0';
    if (at < end)
        close = *at == '"' ? '"' : *at == '<' ? '>' : '\0';
    const char *stop = close != '\0' ? memchr(at + 1, close, (size_t)(end - at - 1)) : NULL;
    if (stop == NULL || stop == at + 1)
        return assay_fail(expansion->error, ASSAY_SCRIPT,
                          "%s:%u: #include wants \"FILE\" or <FILE> after it", file->path,
                          file->line);
    const char *rest = skip_blank(stop + 1, end);
    if (rest < end && !(end - rest >= 2 && rest[0] == '/' && (rest[1] == '/' || rest[1] == '*')))
        return assay_fail(expansion->error, ASSAY_SCRIPT,
                          "%s:%u: #include takes one file, but '%.*s' follows", file->path,
                          file->line, (int)(end - rest), rest);
    struct text name = {0};
    text_add_bytes(&name, at + 1, (size_t)(stop - at - 1));
    bool done = include_file(expansion, file, text_string(&name));
    text_free(&name);
    if (!done)
        return false;
    /* What follows may open a comment that goes on in the next line. */
    add_line_directive(expansion->out, file->line, file->path);
    text_add_bytes(expansion->out, stop + 1, (size_t)(end - stop - 1));
    text_add_char(expansion->out, '\n');
    scan_line(file, stop + 1, (size_t)(end - stop - 1));
    return true;
}

static bool expand_line(struct expansion *expansion, struct expand_file *file, const char *line,
                        const char *end, bool *is_version)
{
    const char *rest = NULL;
    bool fresh = file->state == SCAN_CODE && !file->continued;
    *is_version = fresh && is_directive(line, end, "version", &rest);
    if (fresh && is_directive(line, end, "include", &rest))
        return expand_include(expansion, file, rest, end);
    text_add_bytes(expansion->out, line, (size_t)(end - line));
    text_add_char(expansion->out, '\n');
    scan_line(file, line, (size_t)(end - line));
    return true;
}

static bool expand_source(struct expansion *expansion, struct expand_file *file, const char *source)
{
    bool after_version = false;
    for (const char *line = source; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool is_version = false;
        file->line++;
        if (!expand_line(expansion, file, line, line + length, &is_version))
            return false;
        after_version = after_version || is_version;
        if (file->wants_preamble && after_version && file->state == SCAN_CODE && !file->continued) {
            text_add(expansion->out, EXPAND_PREAMBLE);
            add_line_directive(expansion->out, file->line + 1, file->path);
            file->wants_preamble = false;
        }
        if (expansion->out->length > EXPAND_BYTES_MAX)
            return assay_fail(expansion->error, ASSAY_SCRIPT,
                              "%s:%u: the shader with its includes is over %u MiB", file->path,
                              file->line, EXPAND_BYTES_MAX >> 20);
        line += length + (line[length] == '\n');
    }
    if (file->state == SCAN_BLOCK_COMMENT)
        return assay_fail(expansion->error, ASSAY_SCRIPT,
                          "%s:%u: the comment that starts here is not closed", file->path,
                          file->comment_line);
    return true;
}

/* Whether #version is the first thing in the source, comments aside. */
static bool starts_with_version(const char *source)
{
    const char *end = source + strlen(source), *at = source, *rest;
    for (;;) {
        at = skip_blank(at, end);
        if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
            struct expand_file comment = {0};
            do {
                size_t length = strcspn(at, "\n");
                scan_line(&comment, at, length);
                at += length + (at[length] == '\n');
            } while (comment.continued && at < end);
        } else if (at < end && *at == '\n') {
            at++;
        } else {
            return is_directive(at, end, "version", &rest);
        }
    }
}

bool glsl_expand(const struct shader_search *search, const char *path, const char *source,
                 struct text *out, struct assay_error *error)
{
    struct expansion expansion = {.search = search, .out = out, .error = error};
    struct expand_file file = {
        .path = path, .on_disk = os_is_file(path), .wants_preamble = starts_with_version(source)};
    if (!file.wants_preamble) {
        text_add(out, "#version 450\n" EXPAND_PREAMBLE);
        add_line_directive(out, 1, path);
    }
    if (file.on_disk)
        file.identity = realpath(path, NULL);
    bool done = expand_source(&expansion, &file, source);
    free(file.identity);
    if (done && out->failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the shader %s", path);
    return done;
}
