/* SPDX-License-Identifier: MIT */
#include "experiment/plugin_search.h"

#include "base/os.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)1 << 30)
#define SUFFIX ".so"
#define LUA_FILE "init.lua"

struct plugin_search {
    struct arena *arena;
    struct plugin_file *files;
    size_t count, room;
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the list of plugins");
}

static bool hash_file(struct plugin_search *search, struct plugin_file *file,
                      struct assay_error *error)
{
    struct text bytes = {0};
    struct assay_error why = {0};
    if (os_file_read(file->path, FILE_BYTES_MAX, &bytes, &why)) {
        struct hash128 hash = hash_bytes(bytes.data, bytes.length);
        hash_hex(&hash, file->hash);
    } else {
        file->unreadable = arena_copy(search->arena, why.text);
    }
    text_free(&bytes);
    return *file->hash || file->unreadable || no_memory(error);
}

static bool file_add(struct plugin_search *search, const char *path, struct assay_error *error)
{
    char *real = realpath(path, NULL);
    const char *kept = arena_copy(search->arena, real ? real : path);
    free(real);
    if (!kept)
        return no_memory(error);
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->files[i].path, kept) == 0)
            return true;
    if (search->count == search->room) {
        size_t room = search->room ? 2 * search->room : 8;
        struct plugin_file *files = realloc(search->files, room * sizeof(*files));
        if (!files)
            return no_memory(error);
        search->files = files;
        search->room = room;
    }
    struct plugin_file *file = &search->files[search->count++];
    *file = (struct plugin_file){.path = kept};
    return hash_file(search, file, error);
}

bool plugin_folder_name(const char *path, struct text *name)
{
    const char *file = strrchr(path, '/');
    if (!file || strcmp(file + 1, LUA_FILE) != 0)
        return false;
    const char *start = file;
    while (start > path && start[-1] != '/')
        start--;
    text_add_bytes(name, start, (size_t)(file - start));
    return true;
}

/* NAME.so, NAME/NAME.so or NAME/init.lua where `path` is a directory. False when it is neither. */
static bool plugin_path(const char *path, struct text *file)
{
    size_t length = strlen(path);
    text_clear(file);
    text_add(file, path);
    if (os_is_directory(path)) {
        char *real = realpath(path, NULL); /* the name of "." is known only so */
        const char *name = real ? strrchr(real, '/') : NULL;
        text_addf(file, "/%s" SUFFIX, name ? name + 1 : "");
        free(real);
        if (!os_is_file(text_string(file))) {
            text_clear(file);
            text_addf(file, "%s/" LUA_FILE, path);
        }
    } else if (length < sizeof(SUFFIX) ||
               strcmp(path + length - (sizeof(SUFFIX) - 1), SUFFIX) != 0) {
        return false;
    }
    return os_is_file(text_string(file));
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* A directory that is not there, or cannot be read, has no plugins. */
static bool directory_add(struct plugin_search *search, const char *directory,
                          struct assay_error *error)
{
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, visible, by_name);
    bool good = true;
    struct text path = {0}, file = {0};
    for (int i = 0; i < count; i++) {
        text_clear(&path);
        os_path_join(&path, directory, entries[i]->d_name);
        if (good && plugin_path(text_string(&path), &file))
            good = file_add(search, text_string(&file), error);
        free(entries[i]);
    }
    free(entries);
    text_free(&path);
    text_free(&file);
    return good;
}

static bool named_add(struct plugin_search *search, const char *option, const char *path,
                      struct assay_error *error)
{
    struct text file = {0};
    bool good;
    if (os_is_directory(path)) {
        good = plugin_path(path, &file)
                   ? file_add(search, text_string(&file), error)
                   : assay_fail(error, ASSAY_INVALID, "%s %s: there is no plugin in it (%s)",
                                option, path, text_string(&file));
    } else if (os_is_file(path)) {
        good = file_add(search, path, error);
    } else {
        good = assay_fail(error, ASSAY_INVALID, "%s %s: there is no such file", option, path);
    }
    text_free(&file);
    return good;
}

static bool variable_add(struct plugin_search *search, struct assay_error *error)
{
    static const char variable[] = "ASSAY_PLUGIN_PATH";
    const char *at = getenv(variable);
    bool good = true;
    struct text entry = {0};
    while (good && at && *at) {
        size_t length = strcspn(at, ":");
        text_clear(&entry);
        text_add_bytes(&entry, at, length);
        if (length && os_is_directory(text_string(&entry)))
            good = directory_add(search, text_string(&entry), error);
        else if (length)
            good = named_add(search, variable, text_string(&entry), error);
        at += length + (at[length] == ':');
    }
    text_free(&entry);
    return good;
}

struct plugin_search *plugin_search_create(const char *const *given, struct assay_error *error)
{
    struct text directory = {0};
    struct plugin_search *search = calloc(1, sizeof(*search));
    if (search)
        search->arena = arena_create();
    if (!search || !search->arena) {
        no_memory(error);
        goto fail;
    }
    if (!variable_add(search, error))
        goto fail;
    for (size_t i = 0; given && given[i]; i++)
        if (!named_add(search, "--plugin", given[i], error))
            goto fail;
    if (os_data_directory(&directory)) {
        text_add(&directory, "/plugins");
        if (!directory_add(search, text_string(&directory), error))
            goto fail;
    }
    text_clear(&directory);
    if (!os_plugin_directory(&directory, error) ||
        !directory_add(search, text_string(&directory), error))
        goto fail;
    text_free(&directory);
    return search;
fail:
    text_free(&directory);
    plugin_search_destroy(&search);
    return NULL;
}

void plugin_search_destroy(struct plugin_search **search)
{
    if (!*search)
        return;
    arena_destroy(&(*search)->arena);
    free((*search)->files);
    free(*search);
    *search = NULL;
}

size_t plugin_search_count(const struct plugin_search *search)
{
    return search->count;
}

const struct plugin_file *plugin_search_at(const struct plugin_search *search, size_t index)
{
    return &search->files[index];
}
