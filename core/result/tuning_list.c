/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/os.h"
#include "result/tuning_store.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static int is_kept(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".json");
}

static int is_mark(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".trying");
}

/* Calls `take` with the path of each entry, in the order of their names, until it returns false. */
static void each_file(int (*wanted)(const struct dirent *), bool (*take)(void *, const char *),
                      void *user)
{
    struct text directory = {0}, path = {0};
    struct dirent **entries = NULL;
    int count = -1;
    if (tuning_directory(&directory))
        count = scandir(text_string(&directory), &entries, wanted, alphasort);
    bool more = true;
    for (int i = 0; i < count; i++) {
        text_clear(&path);
        os_path_join(&path, text_string(&directory), entries[i]->d_name);
        more = more && !path.failed && take(user, text_string(&path));
        free(entries[i]);
    }
    free(entries);
    text_free(&directory);
    text_free(&path);
}

struct listing {
    json_t *list;
    struct text *damage;
};

static bool list_take(void *user, const char *path)
{
    struct listing *listing = user;
    struct text stem = {0}, damage = {0};
    json_t *file = tuning_file_read(path, &damage);
    if (damage.length)
        text_addf(listing->damage, "%s\n", text_string(&damage));
    os_path_stem(&stem, path);
    json_t *item = file ? json_pack("{s:s, s:O, s:O}", "key", text_string(&stem), "identity",
                                    json_object_get(file, "identity"), "found",
                                    json_object_get(file, "found"))
                        : NULL;
    bool good = !file || json_array_append_new(listing->list, item) == 0;
    json_decref(file);
    text_free(&stem);
    text_free(&damage);
    return good;
}

struct row {
    json_t *item;
    struct text order;
};

static int by_order(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    return strcmp(text_string(&left->order), text_string(&right->order));
}

/* By device, workload and what it serves. */
static json_t *sorted(json_t *list)
{
    size_t count = json_array_size(list), i;
    struct row *rows = calloc(count + 1, sizeof(*rows));
    json_t *result = rows ? json_array() : NULL;
    for (i = 0; result && i < count; i++) {
        rows[i].item = json_array_get(list, i);
        const json_t *identity = json_object_get(rows[i].item, "identity");
        text_addf(&rows[i].order, "%s\n%s\n%s\n%s",
                  json_text(json_object_get(identity, "device"), "label", ""),
                  json_text(identity, "workload", ""), json_text(identity, "what", ""),
                  json_text(rows[i].item, "key", ""));
    }
    if (result)
        qsort(rows, count, sizeof(*rows), by_order);
    for (i = 0; result && i < count; i++) {
        json_array_append(result, rows[i].item);
        text_free(&rows[i].order);
    }
    free(rows);
    json_decref(list);
    return result;
}

json_t *tuning_list(struct text *damage)
{
    struct listing listing = {json_array(), damage};
    if (listing.list)
        each_file(is_kept, list_take, &listing);
    return listing.list ? sorted(listing.list) : NULL;
}

static bool remove_one(const char *directory, const char *key, const char *end,
                       struct assay_error *error)
{
    struct text path = {0};
    text_addf(&path, "%s/%s%s", directory, key, end);
    bool good = unlink(text_string(&path)) == 0 || errno == ENOENT;
    if (!good)
        error_fail_errno(error, "cannot remove %s", text_string(&path));
    text_free(&path);
    return good;
}

/* The mark of a worker that died before anything was kept. */
static bool orphan_take(void *user, const char *path)
{
    struct text kept = {0};
    (void)user;
    text_add_bytes(&kept, path, strlen(path) - strlen(".trying"));
    text_add(&kept, ".json");
    if (!kept.failed && access(text_string(&kept), F_OK) != 0)
        tuning_mark_drop(path);
    text_free(&kept);
    return true;
}

bool tuning_forget(const json_t *list, struct assay_error *error)
{
    struct text directory = {0};
    size_t i;
    json_t *item;
    bool good = tuning_directory(&directory);
    json_array_foreach((json_t *)(uintptr_t)list, i, item)
    {
        const char *key = json_text(item, "key", "");
        good = good && *key && remove_one(text_string(&directory), key, ".json", error) &&
               remove_one(text_string(&directory), key, ".trying", error);
    }
    each_file(is_mark, orphan_take, NULL);
    text_free(&directory);
    return good;
}

struct removal {
    size_t count;
    struct assay_error *error;
    bool failed;
};

static bool kept_drop(void *user, const char *path)
{
    struct removal *removal = user;
    removal->failed = unlink(path) != 0 && errno != ENOENT;
    if (removal->failed)
        error_fail_errno(removal->error, "cannot remove %s", path);
    else
        removal->count++;
    return !removal->failed;
}

bool tuning_forget_all(size_t *count, struct assay_error *error)
{
    struct removal removal = {.error = error};
    each_file(is_kept, kept_drop, &removal);
    each_file(is_mark, orphan_take, NULL);
    *count = removal.count;
    return !removal.failed;
}

struct search {
    pid_t worker;
    bool interrupted, found;
    struct text *candidate;
};

static bool tried_take(void *user, const char *path)
{
    struct search *search = user;
    search->found = tuning_mark_take(path, search->worker, search->interrupted, search->candidate);
    return !search->found;
}

bool tuning_tried(pid_t worker, bool interrupted, struct text *candidate)
{
    struct search search = {worker, interrupted, false, candidate};
    each_file(is_mark, tried_take, &search);
    return search.found;
}
