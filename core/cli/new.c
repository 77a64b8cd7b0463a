/* SPDX-License-Identifier: MIT */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "run/supervisor.h"

#include "base/json.h"
#include "base/os.h"
#include "template_c_meson_build.h"
#include "template_c_readme_md.h"
#include "template_c_skeleton_c.h"
#include "template_c_skeleton_comp.h"
#include "template_c_test_lua.h"
#include "template_lua_init_lua.h"
#include "template_lua_meson_build.h"
#include "template_lua_readme_md.h"
#include "template_lua_skeleton_comp.h"
#include "template_lua_test_lua.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#define NAME_LENGTH_MAX 48
#define PLACEHOLDER "skeleton" /* what the plugin's name stands for in templates */

struct template_file {
    const char *file;
    const unsigned char *bytes;
    size_t count;
};

#define TEMPLATE(file, array)                                                                      \
    {                                                                                              \
        file, array, sizeof(array)                                                                 \
    }

static const struct template_file c_templates[] = {
    TEMPLATE("README.md", template_c_readme_md),
    TEMPLATE("meson.build", template_c_meson_build),
    TEMPLATE(PLACEHOLDER ".c", template_c_skeleton_c),
    TEMPLATE(PLACEHOLDER ".comp", template_c_skeleton_comp),
    TEMPLATE("test.lua", template_c_test_lua),
    {0},
};

static const struct template_file lua_templates[] = {
    TEMPLATE("README.md", template_lua_readme_md),
    TEMPLATE("init.lua", template_lua_init_lua),
    TEMPLATE("meson.build", template_lua_meson_build),
    TEMPLATE(PLACEHOLDER ".comp", template_lua_skeleton_comp),
    TEMPLATE("test.lua", template_lua_test_lua),
    {0},
};

enum language { LANGUAGE_C, LANGUAGE_LUA };

static const struct {
    const char *title;
    const struct template_file *templates;
    const char *steps; /* from the plugin's directory */
} languages[] = {
    [LANGUAGE_C] = {"C", c_templates,
                    "meson setup build && meson compile -C build && meson test -C build"},
    [LANGUAGE_LUA] = {"Lua", lua_templates, "assay run test.lua --plugin ."},
};

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    static const char *const words[] = {"c", "lua", NULL};
    return arguments_choice(name, value, words, user, error);
}

static bool is_one_of(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(*words, name) == 0)
            return true;
    return false;
}

/* What a script, a file and a Meson target can all be called. */
static bool check_name(const char *name, struct assay_error *error)
{
    static const char *const taken[] = {
        /* of Lua */
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if",
        "in", "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
        /* of Meson */
        "all", "benchmark", "clean", "coverage", "dist", "install", "phony", "reinstall", "test",
        "uninstall", NULL};
    bool good = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *c = name; *c && good; c++)
        good = isalnum((unsigned char)*c) || *c == '_';
    struct text shown = {0};
    text_add_clean(&shown, name);
    if (!good || strlen(name) > NAME_LENGTH_MAX)
        assay_fail(error, ASSAY_INVALID,
                   "'%s' cannot name a plugin: allowed are at most %d letters, digits and "
                   "underscores, no digit in front",
                   text_string(&shown), NAME_LENGTH_MAX);
    else if (is_one_of(name, taken))
        assay_fail(error, ASSAY_INVALID, "'%s' cannot name a plugin: it is a word of Lua or Meson",
                   name);
    text_free(&shown);
    return error->status == ASSAY_OK;
}

/* A plugin with a workload that is built in would be refused. */
static bool check_free(const char *name, struct assay_error *error)
{
    struct supervisor *supervisor = supervisor_create(&(struct supervisor_params){0}, error);
    json_t *workloads = supervisor ? supervisor_describe(supervisor, error) : NULL, *workload;
    size_t i;
    json_array_foreach(workloads, i, workload)
    {
        if (strcmp(json_text(workload, "name", ""), name) == 0)
            assay_fail(error, ASSAY_INVALID,
                       "'%s' cannot name a plugin: there is a workload '%s' already", name, name);
    }
    json_decref(workloads);
    supervisor_destroy(&supervisor);
    return error->status == ASSAY_OK;
}

/* With the name in its places. The first line of a template is its own licence. */
static void fill(struct text *out, const char *bytes, size_t count, const char *name)
{
    const size_t length = sizeof(PLACEHOLDER) - 1;
    const char *end = bytes + count;
    while (bytes < end) {
        size_t left = (size_t)(end - bytes);
        if (left >= length && memcmp(bytes, PLACEHOLDER, length) == 0) {
            text_add(out, name);
            bytes += length;
        } else {
            text_add_char(out, *bytes++);
        }
    }
}

static bool write_template(const char *directory, const struct template_file *item,
                           const char *name, struct text *said, struct assay_error *error)
{
    struct text file = {0}, path = {0}, contents = {0};
    const char *bytes = (const char *)item->bytes;
    const char *first_end = memchr(bytes, '\n', item->count);
    size_t skip = first_end ? (size_t)(first_end - bytes) + 1 : 0;
    fill(&file, item->file, strlen(item->file), name);
    fill(&contents, bytes + skip, item->count - skip, name);
    os_path_join(&path, directory, text_string(&file));
    bool good = !contents.failed && !path.failed;
    if (!good)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a file");
    good = good && os_file_write_atomic(text_string(&path), contents.data, contents.length, error);
    text_addf(said, "  %s\n", text_string(&file));
    text_free(&file);
    text_free(&path);
    text_free(&contents);
    return good;
}

static bool make_plugin(const char *name, const char *directory, enum language language,
                        struct text *out, struct assay_error *error)
{
    const struct template_file *item = languages[language].templates;
    if (!check_name(name, error) || !check_free(name, error))
        return false;
    if (access(directory, F_OK) == 0)
        return assay_fail(error, ASSAY_INVALID, "'%s' is there already; name another directory",
                          directory);
    if (!os_make_directories(directory, error))
        return false;
    text_addf(out, "plugin '%s' in %s, written to %s:\n", name, languages[language].title,
              directory);
    for (; item->file; item++)
        if (!write_template(directory, item, name, out, error))
            return false;
    text_addf(out, "test it: cd %s && %s\n", directory, languages[language].steps);
    return true;
}

static const struct arguments_option options[] = {
    {"lang", 0, "LANGUAGE", "'c' or 'lua' (lua)"},
    {0},
};

static const struct arguments arguments = {
    .command = "new",
    .usage = "plugin NAME [DIR] [--lang LANGUAGE]",
    .about = "Writes a plugin that works: a workload NAME with its kernel, a test, a build file "
             "for Meson\nand a README, in a new directory DIR (NAME). docs/plugins.md goes on "
             "from there.\n",
    .options = options,
    .min_words = 2,
    .max_words = 3,
    .take = take,
};

static int run(int argc, char **argv)
{
    int language = LANGUAGE_LUA;
    char **words;
    int status = arguments_parse(&arguments, argc, argv, &language, &words);
    if (status != ARGUMENTS_GO)
        return status;
    struct assay_error error = {0};
    struct text out = {0};
    bool good = strcmp(words[0], "plugin") == 0
                    ? make_plugin(words[1], words[2] ? words[2] : words[1], (enum language)language,
                                  &out, &error)
                    : assay_fail(&error, ASSAY_INVALID,
                                 "new: '%s' cannot be made, a plugin can: assay new %s", words[0],
                                 arguments.usage);
    return cli_answer(good, &out, &error);
}

const struct cli_command cli_new = {"new", "write a plugin to begin with", run};
