/* SPDX-License-Identifier: MIT */
/* `arithmetic` in every number kind and width: the results are verified, the cost is right, and a
 * kernel that leaves out a step is found. */
#include "builtin_fixture.h"

#include "base/json.h"
#include "base/os.h"

#include <unistd.h>

static int64_t cost(const struct measure_result *result, const char *member)
{
    struct assay_error error = {0};
    json_t *stages = json_read(result->stages.data, result->stages.length, "stages", &error);
    int64_t value = json_whole(json_object_get(json_array_get(stages, 0), "cost"), member, -1);
    json_decref(stages);
    return value;
}

static void assert_right(const char *const *settings, int64_t flops, int64_t bytes)
{
    struct measure_result result;
    struct assay_error error = {0};
    bool ok = builtin_measure(settings, NULL, &result, &error);
    if (!ok && error.status != ASSAY_UNSUPPORTED)
        print_error("%s %s: %s\n", settings[1], settings[3], error.text);
    assert_true(ok || error.status == ASSAY_UNSUPPORTED);
    if (ok) {
        json_t *verification = json_read(result.verification.data, result.verification.length,
                                         "verification", &error);
        assert_string_equal(json_text(verification, "verdict", ""), "right");
        assert_int_equal(json_whole(verification, "checked_bytes", -1), bytes);
        json_decref(verification);
        assert_int_equal(cost(&result, "flops"), flops);
        assert_int_equal(cost(&result, "written_bytes"), bytes);
        assert_int_equal(cost(&result, "read_bytes"), 0);
        json_t *shaders = json_read(result.shaders.data, result.shaders.length, "shaders", &error);
        assert_int_equal(json_array_size(shaders), 1);
        assert_true(json_whole(json_array_get(shaders, 0), "build_ns", 0) > 0);
        json_decref(shaders);
    }
    measure_result_free(&result);
    fixture_assert_quiet(&builtin.vulkan);
}
#define RIGHT(flops, bytes, ...)                                                                   \
    assert_right((const char *const[]){__VA_ARGS__, NULL}, flops, bytes)

/* 64 invocations, 3 rounds of 128 steps of 2 operations on each value. */
static void every_kind(void **state)
{
    (void)state;
    static const char *const numbers[] = {"fp32", "fp64", "fp16", "int32", "int8"};
    static const char *const widths[] = {"1", "2", "4"};
    for (size_t n = 0; n < 5; n++) {
        for (int w = 0; w < 3; w++) {
            int64_t width = INT64_C(1) << w;
            int64_t chains = n != 1 ? 12 : w == 2 ? 4 : 6;
            RIGHT(64 * 3 * 128 * 2 * chains, 64 * width * 4, "number", numbers[n], "width",
                  widths[w], "rounds", "3", "flops", "1");
        }
    }
}

/* Odd numbers of vectors, one vector, whole workgroups, the default number of rounds. */
static void shapes(void **state)
{
    (void)state;
    RIGHT(64 * 3 * 128 * 2 * 1, 64 * 4, "number", "fp32", "width", "1", "rounds", "3", "flops", "1",
          "chains", "1");
    RIGHT(64 * 3 * 128 * 2 * 7, 64 * 4, "number", "int32", "width", "1", "rounds", "3", "flops",
          "1", "chains", "7");
    RIGHT(64 * 3 * 128 * 2 * 20, 64 * 4 * 4, "number", "fp32", "width", "4", "rounds", "3", "flops",
          "1", "chains", "20");
    RIGHT(64 * 64 * 128 * 2 * 12, 64 * 4, "number", "fp32", "width", "1", "workgroup", "32",
          "flops", "10000000");
    RIGHT(64 * 16 * 128 * 2 * 12, 64 * 4, "number", "fp16", "width", "1", "flops", "1");
    RIGHT(64 * 300 * 128 * 2 * 12, 64 * 4, "number", "fp32", "width", "1", "rounds", "300", "flops",
          "1");
}

static void refuses(void **state)
{
    (void)state;
    struct assay_error error = {0};
    const char *const width[] = {"width", "3", NULL};
    assert_null(workload_params(&builtin.workload, width, &error));
    assert_string_equal(error.text, "width: 3 is no width of a vector; 1, 2 and 4 are");
    error = (struct assay_error){0};
    const char *const chains[] = {"width", "4", "chains", "6", NULL};
    assert_null(workload_params(&builtin.workload, chains, &error));
    assert_string_equal(error.text, "chains: 6 values do not make whole vectors of width 4; give a "
                                    "multiple of it, or 0");
    error = (struct assay_error){0};
    const char *const rounds[] = {"number", "fp16", "rounds", "17", NULL};
    assert_null(workload_params(&builtin.workload, rounds, &error));
    assert_string_equal(error.text,
                        "rounds: fp16 takes at most 16, so that all its values are exact");
    error = (struct assay_error){0};
    const char *const turns[] = {"number", "int8", "rounds", "8192", NULL};
    assert_null(workload_params(&builtin.workload, turns, &error));
    assert_string_equal(
        error.text,
        "rounds: int8 takes at most 8191, so that its loops have at most 65535 turns in all");
}

/* The kernel with one step fewer, put in the way of the real one. */
static void finds_a_missing_step(void **state)
{
    (void)state;
    char directory[] = "/tmp/assay-arithmetic-XXXXXX";
    struct text path = {0}, source = {0}, changed = {0};
    struct assay_error error = {0};
    struct measure_result result;
    const char *const settings[] = {"rounds", "3", "flops", "1", NULL};
    assert_non_null(mkdtemp(directory));
    os_path_join(&path, getenv("ASSAY_SHADER_DIR"), "arithmetic_chains.comp");
    fixture_assert_ok(os_file_read(text_string(&path), 1 << 20, &source, &error), &error);
    const char *at = strstr(text_string(&source), "s < UNROLLED");
    assert_non_null(at);
    text_add_bytes(&changed, source.data, (size_t)(at - source.data));
    text_addf(&changed, "s < UNROLLED - 1%s", at + strlen("s < UNROLLED"));
    text_clear(&path);
    os_path_join(&path, directory, "arithmetic_chains.comp");
    fixture_assert_ok(
        os_file_write_atomic(text_string(&path), changed.data, changed.length, &error), &error);
    assert_false(builtin_measure(settings, directory, &result, &error));
    assert_int_equal(error.status, ASSAY_WRONG_RESULT);
    measure_result_free(&result);
    unlink(text_string(&path));
    rmdir(directory);
    text_free(&path);
    text_free(&source);
    text_free(&changed);
    fixture_assert_quiet(&builtin.vulkan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(shapes),
        cmocka_unit_test(refuses),
        cmocka_unit_test(finds_a_missing_step),
    };
    return builtin_run("arithmetic", tests, builtin_set_up);
}
