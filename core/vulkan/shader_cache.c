/* SPDX-License-Identifier: MIT */
/* SPIR-V on disk, one file a key: a header, then the words. */
#include "vulkan/shader.h"

#include "base/os.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_MAGIC UINT32_C(0x56505341) /* "ASPV"; another byte order reads as damage */
#define CACHE_FORMAT 1u
#define CACHE_BYTES_MAX (UINT32_C(64) << 20)

struct cache_header {
    uint32_t magic, format;
    uint64_t word_count;
    struct hash128 hash; /* of the words */
};

static bool cache_path(const struct hash128 *key, struct text *directory, struct text *path)
{
    char hex[HASH_HEX_BYTES];
    if (!os_cache_directory(directory))
        return false;
    text_add(directory, "/spirv");
    hash_hex(key, hex);
    text_addf(path, "%s/%s.spv", text_string(directory), hex);
    return !directory->failed && !path->failed;
}

static bool entry_words(const struct text *entry, uint32_t **words, size_t *word_count)
{
    struct cache_header header;
    if (entry->length < sizeof(header))
        return false;
    memcpy(&header, entry->data, sizeof(header));
    size_t bytes = entry->length - sizeof(header);
    if (header.magic != CACHE_MAGIC || header.format != CACHE_FORMAT || bytes == 0 ||
        bytes % sizeof(uint32_t) != 0 || header.word_count != bytes / sizeof(uint32_t))
        return false;
    struct hash128 hash = hash_bytes(entry->data + sizeof(header), bytes);
    if (memcmp(&hash, &header.hash, sizeof(hash)) != 0)
        return false;
    uint32_t *copy = malloc(bytes);
    if (copy == NULL)
        return false;
    memcpy(copy, entry->data + sizeof(header), bytes);
    *words = copy;
    *word_count = bytes / sizeof(uint32_t);
    return true;
}

bool shader_cache_get(const struct hash128 *key, uint32_t **words, size_t *word_count)
{
    struct text directory = {0}, path = {0}, entry = {0};
    bool found = cache_path(key, &directory, &path) &&
                 os_file_read(text_string(&path), CACHE_BYTES_MAX, &entry, NULL) &&
                 entry_words(&entry, words, word_count);
    text_free(&directory);
    text_free(&path);
    text_free(&entry);
    return found;
}

void shader_cache_put(const struct hash128 *key, const uint32_t *words, size_t word_count)
{
    struct text directory = {0}, path = {0}, entry = {0};
    size_t bytes = word_count * sizeof(*words);
    struct cache_header header = {
        .magic = CACHE_MAGIC, .format = CACHE_FORMAT, .word_count = word_count};
    if (word_count == 0 || bytes > CACHE_BYTES_MAX - sizeof(header) ||
        !cache_path(key, &directory, &path) || !os_make_directories(text_string(&directory), NULL))
        goto end;
    /* A pipe would be written to, and waited for; what is no file is not ours to replace. */
    if (access(text_string(&path), F_OK) == 0 && !os_is_file(text_string(&path)))
        goto end;
    header.hash = hash_bytes(words, bytes);
    text_add_bytes(&entry, (const char *)&header, sizeof(header));
    text_add_bytes(&entry, (const char *)words, bytes);
    if (!entry.failed)
        os_file_write_atomic(text_string(&path), entry.data, entry.length, NULL);
end:
    text_free(&directory);
    text_free(&path);
    text_free(&entry);
}
