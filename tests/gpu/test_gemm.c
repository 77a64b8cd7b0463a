/* SPDX-License-Identifier: MIT */
/* `gemm` on a device: every variant in every precision and layout, in sizes that no tile divides;
 * a kernel with one wrong element is found. */
#include "builtin_fixture.h"

#include "base/json.h"
#include "base/os.h"

#include <unistd.h>

static const char *const precisions[] = {"fp64", "fp32", "fp16", "fp16_acc16",
                                         "bf16", "int8", "fp8"};
enum { PRECISIONS = sizeof(precisions) / sizeof(precisions[0]) };
static const char *const variants[] = {"plain", "tile", "subgroup"};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

/* What the variant can do where the device has what the precision needs. */
static bool expected(const char *variant, const char *precision)
{
    const char *why_not;
    if (strcmp(variant, "subgroup") == 0 && strcmp(precision, "fp16_acc16") == 0)
        return false;
    if (strcmp(precision, "fp64") == 0)
        return assay_device_has(builtin.device, ASSAY_FEATURE_FP64, &why_not);
    if (strcmp(precision, "fp16_acc16") == 0)
        return assay_device_has(builtin.device, ASSAY_FEATURE_FP16, &why_not);
    return true;
}

static void assert_right(const char *const *settings, bool runs)
{
    struct measure_result result;
    struct assay_error error = {0};
    const bool ok = builtin_measure(settings, NULL, &result, &error);
    if (ok != runs)
        for (size_t i = 0; settings[i]; i += 2)
            print_error("%s=%s%s", settings[i], settings[i + 1], settings[i + 2] ? " " : ": ");
    if (ok != runs)
        print_error("%s\n", error.text);
    assert_true(ok == runs);
    if (ok) {
        json_t *verification = json_read(result.verification.data, result.verification.length,
                                         "verification", &error);
        assert_string_equal(json_text(verification, "verdict", ""), "right");
        assert_true(json_number(verification, "error", 2) <= 1);
        json_decref(verification);
    } else {
        assert_int_equal(error.status, ASSAY_UNSUPPORTED);
    }
    measure_result_free(&result);
    fixture_assert_quiet(&builtin.vulkan);
}
#define RIGHT(runs, ...) assert_right((const char *const[]){__VA_ARGS__, NULL}, runs)

static const struct {
    const char *m, *n, *k, *batch;
} sizes[] = {{"1", "1", "1", "3"},    {"1", "67", "5", "1"},   {"67", "1", "3", "3"},
             {"17", "13", "19", "3"}, {"64", "64", "64", "1"}, {"31", "97", "33", "1"}};

/* Each size with one of the four layouts, all of them with one size. */
static void every_variant(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++)
        for (size_t p = 0; p < PRECISIONS; p++)
            for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) + 3; i++) {
                const size_t size = i < 6 ? i : 3, layout = (i + 3) % 4;
                RIGHT(expected(variants[v], precisions[p]), "variant", variants[v], "precision",
                      precisions[p], "m", sizes[size].m, "n", sizes[size].n, "k", sizes[size].k,
                      "batch", sizes[size].batch, "transpose_a", layout & 1 ? "true" : "false",
                      "transpose_b", layout & 2 ? "true" : "false", "resident",
                      i % 2 ? "true" : "false");
            }
}

/* What packing distinguishes: operands that can be read by 16 bytes and whose rows are shared by
 * panels, in each layout; tiles of other shapes; a sum over k in several pieces. */
static void packs_every_way(void **state)
{
    (void)state;
    for (size_t p = 0; p < PRECISIONS; p++)
        for (size_t layout = 0; layout < 4 && expected("subgroup", precisions[p]); layout++)
            RIGHT(true, "variant", "subgroup", "precision", precisions[p], "m", "80", "n", "112",
                  "k", "48", "batch", "2", "tile", layout % 2 ? "32x32" : "16x32", "transpose_a",
                  layout & 1 ? "true" : "false", "transpose_b", layout & 2 ? "true" : "false");
    RIGHT(true, "variant", "subgroup", "precision", "int8", "m", "33", "n", "40", "k", "2080");
    RIGHT(true, "variant", "subgroup", "precision", "int8", "m", "33", "n", "7", "k", "1025",
          "transpose_b", "true");
}

/* One kernel with its last statement changed, put in the way of the real one. */
static void plant(const char *precision, const char *size)
{
    char directory[] = "/tmp/assay-gemm-XXXXXX";
    static const char store[] = "store_c(matrix, row, column, sum);";
    struct text path = {0}, source = {0}, changed = {0};
    struct assay_error error = {0};
    struct measure_result result;
    const char *const settings[] = {"variant", "plain",    "precision", precision, "size",
                                    size,      "resident", "true",      NULL};
    assert_non_null(mkdtemp(directory));
    os_path_join(&path, getenv("ASSAY_SHADER_DIR"), "gemm_plain.comp");
    fixture_assert_ok(os_file_read(text_string(&path), 1 << 20, &source, &error), &error);
    const char *at = strstr(text_string(&source), store);
    assert_non_null(at);
    text_add_bytes(&changed, source.data, (size_t)(at - source.data));
    text_addf(&changed, "store_c(matrix, row, column, row == 5 && column == 7 ? SUM(77) : sum);%s",
              at + strlen(store));
    text_clear(&path);
    os_path_join(&path, directory, "gemm_plain.comp");
    fixture_assert_ok(
        os_file_write_atomic(text_string(&path), changed.data, changed.length, &error), &error);
    assert_false(builtin_measure(settings, directory, &result, &error));
    assert_int_equal(error.status, ASSAY_WRONG_RESULT);
    assert_non_null(strstr(error.text, "C[5][7] of matrix 0 is 77, wanted "));
    measure_result_free(&result);
    unlink(text_string(&path));
    rmdir(directory);
    text_free(&path);
    text_free(&source);
    text_free(&changed);
    fixture_assert_quiet(&builtin.vulkan);
}

static void finds_a_wrong_element(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRECISIONS; i++)
        if (expected("plain", precisions[i]))
            plant(precisions[i], "16");
    plant("fp32", "260"); /* too large to be checked whole */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant),
        cmocka_unit_test(packs_every_way),
        cmocka_unit_test(finds_a_wrong_element),
    };
    return builtin_run("gemm", tests, builtin_set_up);
}
