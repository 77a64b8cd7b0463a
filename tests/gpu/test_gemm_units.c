/* SPDX-License-Identifier: MIT */
/* `gemm` on units for more than one multiply-add at a time: cooperative matrices and integer dot
 * products, in every tile, layout and way to read operands; cases are skips with the reason where
 * the device has none. */
#include "builtin_fixture.h"

#include "base/json.h"

static void run(const char *const *settings, const char *reason)
{
    struct measure_result result;
    struct assay_error error = {0};
    const bool done = builtin_measure(settings, NULL, &result, &error);
    if (done != !reason || (reason && !strstr(error.text, reason))) {
        for (size_t i = 0; settings[i]; i += 2)
            print_error("%s=%s ", settings[i], settings[i + 1]);
        print_error("%s; expected: %s\n", done ? "done" : error.text, reason ? reason : "done");
        fail();
    }
    if (done) {
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
#define RUN(reason, ...) run((const char *const[]){__VA_ARGS__, NULL}, reason)

static const struct {
    const char *precision;
    enum assay_element operand, sum; /* of matrices */
} precisions[] = {
    {"fp64", ASSAY_ELEMENT_DOUBLE, ASSAY_ELEMENT_DOUBLE},
    {"fp32", ASSAY_ELEMENT_FLOAT, ASSAY_ELEMENT_FLOAT},
    {"fp16", ASSAY_ELEMENT_HALF, ASSAY_ELEMENT_FLOAT},
    {"fp16_acc16", ASSAY_ELEMENT_HALF, ASSAY_ELEMENT_HALF},
    {"int8", ASSAY_ELEMENT_INT8, ASSAY_ELEMENT_INT32},
    {"fp8", ASSAY_ELEMENT_HALF, ASSAY_ELEMENT_FLOAT},
};
enum { PRECISIONS = sizeof(precisions) / sizeof(precisions[0]) };
static const char *const tiles[] = {"16x16", "32x32", "64x64", "128x64", "128x128"};
enum { TILES = sizeof(tiles) / sizeof(tiles[0]) };

/* Why a tile of 16 x 16 or more cannot be made of matrices; NULL: it can. */
static const char *why_no_matrices(size_t precision)
{
    const struct assay_matrix_shape *shape;
    const char *why = NULL;
    if (precisions[precision].sum == ASSAY_ELEMENT_DOUBLE &&
        !assay_device_has(builtin.device, ASSAY_FEATURE_FP64, &why))
        return why;
    if (precisions[precision].sum == ASSAY_ELEMENT_HALF &&
        !assay_device_has(builtin.device, ASSAY_FEATURE_FP16, &why))
        return why;
    if (!assay_device_has(builtin.device, ASSAY_FEATURE_COOPERATIVE_MATRIX, &why))
        return why;
    for (size_t i = 0; (shape = assay_device_matrix_shape(builtin.device, i)) != NULL; i++)
        if (!shape->saturating && shape->a == precisions[precision].operand &&
            shape->b == shape->a && shape->c == precisions[precision].sum && shape->r == shape->c &&
            16 % shape->m == 0 && 16 % shape->n == 0)
            return NULL;
    return "this device has no cooperative matrices of it whose shape divides a tile";
}

/* A driver that claims matrices has some that serve, so that no test passes by skips alone. */
static void matrices_are_there(void **state)
{
    (void)state;
    const char *why = NULL;
    if (!assay_device_has(builtin.device, ASSAY_FEATURE_COOPERATIVE_MATRIX, &why))
        fixture_skip("cooperative_matrix", why);
    size_t kinds = 0;
    for (size_t p = 0; p < PRECISIONS; p++)
        kinds += why_no_matrices(p) == NULL;
    assert_true(kinds > 0);
}

static void dot_products_are_there(void **state)
{
    (void)state;
    const char *why = NULL;
    if (!assay_device_has(builtin.device, ASSAY_FEATURE_INTEGER_DOT, &why))
        fixture_skip("integer_dot", why);
}

/* Sizes that nothing divides are read element by element, the others in whole vectors. */
static void layouts(const char *variant, const char *precision, const char *tile,
                    const char *reason)
{
    static const char *const flags[] = {"false", "true"};
    for (size_t i = 0; i < 4; i++) {
        RUN(reason, "variant", variant, "precision", precision, "tile", tile, "m", "67", "n", "45",
            "k", "33", "batch", "2", "transpose_a", flags[i & 1], "transpose_b", flags[i >> 1]);
        RUN(reason, "variant", variant, "precision", precision, "tile", tile, "m", "80", "n", "48",
            "k", "96", "batch", "2", "transpose_a", flags[i & 1], "transpose_b", flags[i >> 1]);
    }
}

static void matrices(void **state)
{
    (void)state;
    for (size_t p = 0; p < PRECISIONS; p++) {
        const char *why = why_no_matrices(p), *precision = precisions[p].precision;
        layouts("coopmat", precision, "16x16", why);
        for (size_t i = 1; !why && i < TILES; i++)
            RUN(NULL, "variant", "coopmat", "precision", precision, "tile", tiles[i], "m", "67",
                "n", "131", "k", "33", "transpose_a", i & 1 ? "true" : "false", "transpose_b",
                i & 2 ? "true" : "false");
        RUN(why, "variant", "coopmat", "precision", precision, "size", "1");
        RUN(why, "variant", "coopmat", "precision", precision, "m", "1", "n", "67", "k", "5");
    }
    const char *why = NULL;
    if (assay_device_has(builtin.device, ASSAY_FEATURE_COOPERATIVE_MATRIX, &why))
        why = "precision bf16: this build knows no cooperative matrices of it";
    RUN(why, "variant", "coopmat", "precision", "bf16", "size", "16");
}

static void dot_products(void **state)
{
    (void)state;
    const char *why = NULL;
    assay_device_has(builtin.device, ASSAY_FEATURE_INTEGER_DOT, &why);
    layouts("dot", "int8", "16x16", why);
    layouts("dot", "int8", "128x128", why);
    RUN(why, "variant", "dot", "precision", "int8", "size", "1");
    RUN(why, "variant", "dot", "precision", "int8", "m", "1", "n", "67", "k", "5");
    RUN("variant dot: dot products are of int8, not of fp16", "variant", "dot", "precision", "fp16",
        "size", "16");
}

/* More along k than one dispatch adds up: the second adds to what the first made. */
static void sums_go_on(void **state)
{
    (void)state;
    const char *why = NULL, *no_matrices = why_no_matrices(4);
    assay_device_has(builtin.device, ASSAY_FEATURE_INTEGER_DOT, &why);
    RUN(why, "variant", "dot", "precision", "int8", "tile", "16x16", "m", "3", "n", "5", "k",
        "65601");
    RUN(no_matrices, "variant", "coopmat", "precision", "int8", "tile", "16x16", "m", "3", "n", "5",
        "k", "65601");
}

/* NaN and infinities are where they belong, and none comes from outside of the operands. */
static void special_values(void **state)
{
    (void)state;
    static const char *const values[] = {"special", "denormal"};
    for (size_t i = 0; i < 4; i++) {
        const size_t p = i < 2 ? 2 : 5;
        RUN(why_no_matrices(p), "variant", "coopmat", "precision", precisions[p].precision,
            "values", values[i % 2], "m", "19", "n", "35", "k", "21");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_there), cmocka_unit_test(dot_products_are_there),
        cmocka_unit_test(matrices),           cmocka_unit_test(dot_products),
        cmocka_unit_test(sums_go_on),         cmocka_unit_test(special_values),
    };
    return builtin_run("gemm", tests, builtin_set_up);
}
