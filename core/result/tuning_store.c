/* SPDX-License-Identifier: MIT */
#include "result/tuning_store.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/os.h"
#include "result/seal.h"

#include <stdio.h>
#include <unistd.h>

#define FORMAT 1
#define FILE_BYTES_MAX ((size_t)1 << 20)
#define BLAMED 0 /* in a mark, in place of the worker's process id */

bool tuning_directory(struct text *out)
{
    if (!os_cache_directory(out))
        return false;
    text_add(out, "/tuning");
    return !out->failed;
}

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a choice of the tuner");
}

bool tuning_open(struct tuning_store *store, json_t *identity, struct assay_error *error)
{
    struct text directory = {0}, line = {0};
    char hex[HASH_HEX_BYTES];
    bool good = tuning_directory(&directory) ||
                assay_fail(error, ASSAY_INVALID,
                           "there is no cache directory: neither XDG_CACHE_HOME nor HOME is an "
                           "absolute path");
    good = good && json_add_line(&line, identity, true, error);
    if (good) {
        struct hash128 hash = hash_bytes(line.data, line.length);
        hash_hex(&hash, hex);
        text_addf(&store->path, "%s/%s.json", text_string(&directory), hex);
        text_addf(&store->mark_path, "%s/%s.trying", text_string(&directory), hex);
        good = (!store->path.failed && !store->mark_path.failed) || no_memory(error);
    }
    if (good)
        store->identity = json_incref(identity);
    else
        tuning_close(store);
    text_free(&directory);
    text_free(&line);
    return good;
}

void tuning_close(struct tuning_store *store)
{
    tuning_unlock(store);
    json_decref(store->identity);
    text_free(&store->path);
    text_free(&store->mark_path);
    *store = (struct tuning_store){0};
}

static const char *file_check(const struct text *line)
{
    uint64_t seal;
    bool fits;
    size_t length = line->length;
    if (length < 2 || line->data[length - 1] != '\n')
        return "it is cut off";
    if (!seal_check(line->data, length - 1, 0, &seal, &fits) || !fits)
        return "it was changed";
    return NULL;
}

json_t *tuning_file_read(const char *path, struct text *damage)
{
    struct text line = {0};
    struct assay_error error = {0};
    json_t *file = NULL;
    if (access(path, F_OK) != 0)
        return NULL;
    const char *wrong = os_file_read(path, FILE_BYTES_MAX, &line, &error) ? file_check(&line)
                                                                          : error.text;
    if (!wrong) {
        file = json_read(line.data, line.length - 1, path, &error);
        wrong = file ? NULL : error.text;
    }
    if (file && (json_whole(file, "format", 0) != FORMAT ||
                 !json_is_object(json_object_get(file, "identity")) ||
                 !json_is_array(json_object_get(json_object_get(file, "found"), "candidates"))))
        wrong = "it is of another version of assay";
    if (wrong) {
        text_addf(damage, "%s is ignored: %s", path, wrong);
        json_decref(file);
        file = NULL;
    }
    text_free(&line);
    return file;
}

json_t *tuning_read(const struct tuning_store *store, struct text *damage)
{
    if (!store->identity)
        return NULL;
    json_t *file = tuning_file_read(text_string(&store->path), damage);
    json_t *found = json_object_get(file, "found");
    if (file && !json_equal(json_object_get(file, "identity"), store->identity)) {
        text_addf(damage, "%s is ignored: it is of something else", text_string(&store->path));
        found = NULL;
    }
    json_incref(found);
    json_decref(file);
    return found;
}

bool tuning_write(const struct tuning_store *store, const json_t *found, struct assay_error *error)
{
    struct text directory = {0}, line = {0};
    char tail[SEAL_BYTES];
    uint64_t seal;
    if (!store->identity)
        return true;
    json_t *file = json_pack("{s:i, s:O, s:O}", "format", FORMAT, "identity", store->identity,
                             "found", found);
    os_path_directory(&directory, text_string(&store->path));
    bool good = (file && !directory.failed) || no_memory(error);
    good = good && json_add_line(&line, file, false, error) &&
           os_make_directories(text_string(&directory), error);
    if (good) {
        size_t more = seal_make(line.data, line.length, 0, tail, &seal);
        line.length--; /* the brace is in the tail */
        text_add_bytes(&line, tail, more);
        text_add_char(&line, '\n');
        good = (!line.failed || no_memory(error)) &&
               os_file_write_atomic(text_string(&store->path), line.data, line.length, error);
    }
    json_decref(file);
    text_free(&directory);
    text_free(&line);
    return good;
}

static bool mark_of(int fd, long worker)
{
    char bytes[32] = {0}, wanted[32];
    snprintf(wanted, sizeof(wanted), "%ld ", worker);
    ssize_t length = pread(fd, bytes, sizeof(bytes) - 1, 0);
    return length > 0 && strncmp(bytes, wanted, strlen(wanted)) == 0;
}

/* What stands in a mark behind the process id. */
static void mark_read(int fd, struct text *candidate)
{
    char bytes[256];
    ssize_t length = pread(fd, bytes, sizeof(bytes), 0);
    for (ssize_t i = 0; i < length; i++) {
        if (bytes[i] != ' ')
            continue;
        text_add_bytes(candidate, bytes + i + 1, (size_t)(length - i - 1));
        return;
    }
}

/* Best effort: without a mark the candidate will be tried again. */
static void mark_write(int fd, long worker, const char *candidate)
{
    struct text line = {0};
    text_addf(&line, "%ld %s", worker, candidate);
    if (ftruncate(fd, 0) == 0 && !line.failed && pwrite(fd, line.data, line.length, 0) < 0)
        line.failed = true;
    text_free(&line);
}

bool tuning_lock(struct tuning_store *store, int64_t limit_ns, struct text *left,
                 struct assay_error *error)
{
    struct text directory = {0};
    if (!store->identity || store->mark)
        return true;
    os_path_directory(&directory, text_string(&store->mark_path));
    bool good = os_make_directories(text_string(&directory), error);
    text_free(&directory);
    if (!good)
        return false;
    int fd = os_lock_take(text_string(&store->mark_path), limit_ns, error);
    if (fd < 0)
        return false;
    store->mark = fd;
    if (mark_of(fd, BLAMED)) /* of a worker that nobody has seen die, it says nothing */
        mark_read(fd, left);
    return true;
}

void tuning_mark(const struct tuning_store *store, const char *candidate)
{
    if (!store->mark || ftruncate(store->mark, 0) != 0 || !candidate)
        return;
    mark_write(store->mark, (long)getpid(), candidate);
}

void tuning_unlock(struct tuning_store *store)
{
    if (!store->mark)
        return;
    unlink(text_string(&store->mark_path));
    close(store->mark);
    store->mark = 0;
}

bool tuning_mark_take(const char *path, pid_t worker, bool interrupted, struct text *candidate)
{
    struct assay_error busy = {0}; /* another process tunes: the mark is its own by now */
    int fd = worker > 0 ? os_lock_take(path, 0, &busy) : -1;
    bool ours = fd >= 0 && mark_of(fd, (long)worker);
    struct text name = {0};
    if (ours)
        mark_read(fd, &name);
    if (ours && interrupted)
        unlink(path);
    else if (ours)
        mark_write(fd, BLAMED, text_string(&name));
    text_add(candidate, text_string(&name));
    text_free(&name);
    if (fd >= 0)
        close(fd);
    return ours;
}

void tuning_mark_drop(const char *path)
{
    struct assay_error busy = {0};
    int fd = os_lock_take(path, 0, &busy);
    if (fd < 0)
        return;
    unlink(path);
    close(fd);
}
