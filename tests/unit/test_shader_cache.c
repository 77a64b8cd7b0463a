/* SPDX-License-Identifier: MIT */
/* SPIR-V on disk: hits, keys, damage. */
#include "vulkan/shader.h"

#include "base/os.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define TEXT "#version 450\nlayout(local_size_x = 1) in;\nvoid main() { int a = VALUE; }\n"

static char root[] = "/tmp/assay-cache-XXXXXX";

static void load_text(const char *text, const char *value, struct shader *shader)
{
    struct assay_error error = {0};
    const struct assay_define define = {"VALUE", value};
    const struct shader_params params = {
        .source = "cached.comp", .text = text, .defines = &define, .define_count = 1};
    if (!shader_load(&params, shader, &error))
        fail_msg("%s", error.text);
}

static void entry_path(const struct hash128 *key, char *path, size_t size)
{
    char hex[HASH_HEX_BYTES];
    hash_hex(key, hex);
    snprintf(path, size, "%s/assay/spirv/%s.spv", root, hex);
}

static size_t files_in_cache(void)
{
    char path[128];
    size_t count = 0;
    snprintf(path, sizeof(path), "%s/assay/spirv", root);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void second_load_compiles_nothing(void **state)
{
    (void)state;
    struct shader first, second, other;
    size_t before = shader_compile_count();
    load_text(TEXT, "1", &first);
    assert_false(first.from_cache);
    assert_int_equal(shader_compile_count(), before + 1);
    assert_string_equal(first.name, "cached.comp");
    load_text(TEXT, "1", &second);
    assert_true(second.from_cache);
    assert_int_equal(shader_compile_count(), before + 1);
    assert_int_equal(first.word_count, second.word_count);
    assert_memory_equal(first.words, second.words, first.word_count * sizeof(uint32_t));
    assert_memory_equal(&first.source_hash, &second.source_hash, sizeof(struct hash128));
    load_text(TEXT, "2", &other);
    assert_false(other.from_cache);
    assert_memory_not_equal(&first.source_hash, &other.source_hash, sizeof(struct hash128));
    assert_int_equal(files_in_cache(), 2); /* nothing half-written is left beside them */
    shader_free(&first);
    shader_free(&second);
    shader_free(&other);
}

static void write_entry(const char *path, const char *data, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    fclose(file);
}

/* Each way to damage an entry makes it compile once more and leaves a good entry. */
static void damaged_entries_are_rebuilt(void **state)
{
    (void)state;
    struct shader shader;
    struct text good = {0};
    char path[160];
    load_text(TEXT, "3", &shader);
    entry_path(&shader.source_hash, path, sizeof(path));
    assert_true(os_file_read(path, 1 << 20, &good, NULL));
    size_t length = good.length;
    assert_int_equal(length, 32 + shader.word_count * sizeof(uint32_t));
    struct hash128 key = shader.source_hash;
    shader_free(&shader);
    char *bad = malloc(length);
    assert_non_null(bad);
    for (int way = 0; way < 5; way++) {
        size_t left = way == 0 ? 0 : way == 1 ? length - 4 : way == 2 ? 31 : length;
        memcpy(bad, good.data, length);
        if (way == 3)
            bad[length - 1] ^= 1;
        if (way == 4)
            bad[0] ^= 1;
        write_entry(path, bad, left);
        uint32_t *words = NULL;
        size_t count = 0, before = shader_compile_count();
        assert_false(shader_cache_get(&key, &words, &count));
        assert_null(words);
        load_text(TEXT, "3", &shader);
        assert_false(shader.from_cache);
        assert_int_equal(shader_compile_count(), before + 1);
        shader_free(&shader);
        assert_true(shader_cache_get(&key, &words, &count));
        assert_int_equal(count, (length - 32) / sizeof(uint32_t));
        assert_memory_equal(words, good.data + 32, length - 32);
        free(words);
    }
    free(bad);
    text_free(&good);
}

/* A pipe in the place of an entry: neither reading nor writing waits for its other end. */
static void a_pipe_is_no_entry(void **state)
{
    (void)state;
    struct shader shader;
    char path[160];
    load_text(TEXT, "4", &shader);
    entry_path(&shader.source_hash, path, sizeof(path));
    shader_free(&shader);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    load_text(TEXT, "4", &shader);
    assert_false(shader.from_cache);
    shader_free(&shader);
    assert_int_equal(unlink(path), 0);
}

static void failed_compiles_are_not_kept(void **state)
{
    (void)state;
    size_t files = files_in_cache();
    struct shader shader;
    struct assay_error error = {0};
    const struct shader_params params = {.text = "#version 450\nvoid main() { x(); }\n"};
    assert_false(shader_load(&params, &shader, &error));
    assert_string_equal(error.text, "<text>:2: 'x' : no matching overloaded function found");
    assert_null(shader.words);
    assert_int_equal(files_in_cache(), files);
}

static void works_without_a_cache(void **state)
{
    (void)state;
    struct shader shader;
    setenv("XDG_CACHE_HOME", "/proc/no/such/place", 1);
    for (int i = 0; i < 2; i++) {
        load_text(TEXT, "1", &shader);
        assert_false(shader.from_cache);
        shader_free(&shader);
    }
    setenv("XDG_CACHE_HOME", root, 1);
}

static int enter(void **state)
{
    (void)state;
    return mkdtemp(root) != NULL && setenv("XDG_CACHE_HOME", root, 1) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_load_compiles_nothing),
        cmocka_unit_test(damaged_entries_are_rebuilt),
        cmocka_unit_test(a_pipe_is_no_entry),
        cmocka_unit_test(failed_compiles_are_not_kept),
        cmocka_unit_test(works_without_a_cache),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
