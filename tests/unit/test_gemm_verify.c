/* SPDX-License-Identifier: MIT */
/* What gemm's verification passes and what it finds: right products of every precision, layout and
 * size, and one wrong element among them. */
#include "../../plugins/gemm/verify.h"

#include "base/element.h"
#include "base/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const enum assay_element element_of[] = {
    [GEMM_NUMBER_FP64] = ASSAY_ELEMENT_DOUBLE, [GEMM_NUMBER_FP32] = ASSAY_ELEMENT_FLOAT,
    [GEMM_NUMBER_FP16] = ASSAY_ELEMENT_HALF,   [GEMM_NUMBER_BF16] = ASSAY_ELEMENT_BFLOAT16,
    [GEMM_NUMBER_INT8] = ASSAY_ELEMENT_INT8,   [GEMM_NUMBER_INT32] = ASSAY_ELEMENT_INT32,
};

struct product {
    struct gemm_problem problem;
    void *a, *b, *c;
    struct gemm_check check;
};

static void read_as(enum gemm_number number, const void *array, uint64_t index, double *value)
{
    gemm_numbers_read(number, array, index, 1, false, value);
}

static void fill(struct gemm_matrix *matrix, uint64_t batch, uint64_t seed, void *array)
{
    const uint64_t count = matrix->elements * batch;
    if (matrix->number != GEMM_NUMBER_INT8) {
        gemm_numbers_scatter(matrix->number, GEMM_SCATTER_FRACTION, seed, count, array);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        ((int8_t *)array)[i] = (int8_t)(uint8_t)((i * 2654435761u + seed * 97) >> 7);
}

static void store_c(struct product *product, uint64_t index, double value)
{
    const enum gemm_number number = product->problem.c.number;
    if (number == GEMM_NUMBER_INT32)
        value = (double)(int32_t)(uint32_t)(int64_t)value;
    assert_true(element_store(element_of[number], value,
                              (char *)product->c + index * gemm_number_bytes(number)));
}

/* C by the definition, in double precision. */
static void multiply(struct product *product)
{
    const struct gemm_problem *p = &product->problem;
    double *sums = calloc(p->n, sizeof(*sums)), *values = calloc(p->k * p->n, sizeof(*values));
    for (uint64_t z = 0; z < p->batch; z++) {
        for (uint64_t l = 0; l < p->k; l++)
            for (uint64_t j = 0; j < p->n; j++)
                read_as(p->b.number, product->b,
                        z * p->b.elements + (p->b.transposed ? j * p->k + l : l * p->n + j),
                        &values[l * p->n + j]);
        for (uint64_t i = 0; i < p->m; i++) {
            memset(sums, 0, p->n * sizeof(*sums));
            for (uint64_t l = 0; l < p->k; l++) {
                double a;
                read_as(p->a.number, product->a,
                        z * p->a.elements + (p->a.transposed ? l * p->m + i : i * p->k + l), &a);
                for (uint64_t j = 0; j < p->n; j++)
                    sums[j] += a * values[l * p->n + j];
            }
            for (uint64_t j = 0; j < p->n; j++)
                store_c(product, z * p->c.elements + i * p->n + j, sums[j]);
        }
    }
    free(sums);
    free(values);
}

static void make(struct product *product, struct gemm_params params)
{
    struct assay_error error = {0};
    assert_true(gemm_problem_make(&params, &product->problem, &error));
    struct gemm_problem *p = &product->problem;
    product->a = malloc(p->a.bytes);
    product->b = malloc(p->b.bytes);
    product->c = malloc(p->c.bytes);
    fill(&p->a, p->batch, 1, product->a);
    fill(&p->b, p->batch, 2, product->b);
    product->check = (struct gemm_check){
        .problem = p, .a = product->a, .b = product->b, .c = product->c, .seed = 7};
}

static void discard(struct product *product)
{
    free(product->a);
    free(product->b);
    free(product->c);
}

static struct gemm_finding verify(const struct product *product)
{
    struct gemm_finding finding;
    struct assay_error error = {0};
    assert_true(gemm_verify(&product->check, &finding, &error));
    return finding;
}

static void assert_right(const struct product *product)
{
    const struct gemm_finding finding = verify(product);
    if (finding.wrong)
        print_error("%s: %s\n", gemm_precision_names[product->problem.precision], finding.text);
    assert_false(finding.wrong);
    assert_true(finding.error_over_bound <= 1);
}

static double c_at(const struct product *product, uint64_t index)
{
    double value;
    read_as(product->problem.c.number, product->c, index, &value);
    return value;
}

/* The formats' definitions, by hand. */
static void numbers(void **state)
{
    (void)state;
    static const uint16_t half[] = {0x3c00, 0xc000, 0x0001, 0x0400, 0x7bff, 0x8000};
    static const double halves[] = {1, -2, 0x1p-24, 0x1p-14, 65504, -0.0};
    static const uint16_t bfloat[] = {0x3f80, 0xc000, 0x0001, 0x7f80};
    static const double bfloats[] = {1, -2, 0x1p-133, (double)INFINITY};
    static const uint8_t eighth[] = {0x38, 0xb8, 0x01, 0x08, 0x7e, 0x07};
    static const double eighths[] = {1, -1, 0x1p-9, 0x1p-6, 448, 0x7p-9};
    double out[8];
    gemm_numbers_read(GEMM_NUMBER_FP16, half, 0, 6, false, out);
    assert_memory_equal(out, halves, sizeof(halves));
    gemm_numbers_read(GEMM_NUMBER_BF16, bfloat, 0, 4, false, out);
    assert_memory_equal(out, bfloats, sizeof(bfloats));
    gemm_numbers_read(GEMM_NUMBER_FP8, eighth, 0, 6, false, out);
    assert_memory_equal(out, eighths, sizeof(eighths));
    gemm_numbers_read(GEMM_NUMBER_FP16, half, 2, 2, true, out);
    assert_true(out[0] == 0 && out[1] == 0x1p-14);
    static const uint16_t odd[] = {0x7e00, 0x7c00, 0xfc00};
    gemm_numbers_read(GEMM_NUMBER_FP16, odd, 0, 3, false, out);
    assert_true(isnan(out[0]) && out[1] == (double)INFINITY && out[2] == -(double)INFINITY);
    static const uint8_t none = 0xff;
    gemm_numbers_read(GEMM_NUMBER_FP8, &none, 0, 1, false, out);
    assert_true(isnan(out[0]));
}

/* k u / (1 - k u) of one product more, until that of independent errors is smaller. */
static void gammas(void **state)
{
    (void)state;
    const double u = 0x1p-24;
    assert_true(gemm_gamma(GEMM_NUMBER_FP32, 1) == 2 * u / (1 - 2 * u));
    assert_true(gemm_gamma(GEMM_NUMBER_FP32, 31) == 32 * u / (1 - 32 * u));
    assert_true(gemm_gamma(GEMM_NUMBER_FP64, 1) == 2 * (0x1p-52 / (1 - 0x1p-52)));
    assert_true(gemm_gamma(GEMM_NUMBER_INT32, 1000) == 0);
    /* 8 sqrt(1024) u = 256 u, far under 1024 u */
    assert_true(fabs(gemm_gamma(GEMM_NUMBER_FP32, 1023) / (256 * u) - 1) < 1e-4);
    /* k u is 1 at k = 2048; 8 sqrt(4096) u = 0.25 */
    assert_true(fabs(gemm_gamma(GEMM_NUMBER_FP16, 4095) - expm1(0.25 + 0x1p-10)) < 1e-9);
}

/* The smaller one of 8 sqrt(k) u and, of sums of at most sqrt(k) times the root of their squares,
 * the worst case. */
static void gammas_of_fp16(void **state)
{
    (void)state;
    const double u = 0x1p-11;
    assert_true(gemm_gamma_fp16(1) == 2 * u / (1 - 2 * u));
    assert_true(fabs(gemm_gamma_fp16(4) - 2 * 5 * u / (1 - 5 * u)) < 1e-12);
    assert_true(fabs(gemm_gamma_fp16(1023) - 256 * u) < 1e-12);
}

/* Sizes around the blocks' of the verification; the last two are beyond what is checked whole. */
static const struct gemm_params shapes[] = {
    {.m = 1, .n = 1, .k = 1, .batch = 1},       {.m = 1, .n = 17, .k = 5, .batch = 3},
    {.m = 17, .n = 1, .k = 5, .batch = 3},      {.m = 16, .n = 512, .k = 8, .batch = 1},
    {.m = 33, .n = 515, .k = 9, .batch = 2},    {.m = 3, .n = 5, .k = 1027, .batch = 1},
    {.m = 257, .n = 263, .k = 269, .batch = 1}, {.m = 62, .n = 133, .k = 1031, .batch = 2},
};

static void right_product(struct gemm_params params, int precision, int layout)
{
    struct product product;
    params.precision = precision;
    params.transpose_a = layout & 1;
    params.transpose_b = layout & 2;
    make(&product, params);
    multiply(&product);
    assert_right(&product);
    discard(&product);
}

/* Large ones in two of the four layouts each. */
static void right_products(void **state)
{
    (void)state;
    enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };
    for (int i = 0; i < SHAPES; i++)
        for (int precision = 0; precision < GEMM_PRECISION_COUNT; precision++)
            for (int layout = 0; layout < 4; layout++)
                if (i < SHAPES - 2 || (layout + precision + i) % 2 == 0)
                    right_product(shapes[i], precision, layout);
}

/* The smallest change of one element that must be seen: the size of an element of C, or of the
 * whole if that is what the precision can tell apart. */
static double planted(enum gemm_precision precision)
{
    return precision == GEMM_INT8 ? 1 : precision == GEMM_FP16_ACC16 ? 16 : 1;
}

static void find_one(struct product *product, uint64_t z, uint64_t i, uint64_t j, double change)
{
    const uint64_t at = z * product->problem.c.elements + i * product->problem.n + j;
    const double was = c_at(product, at);
    char place[60];
    store_c(product, at, was + change);
    struct gemm_finding finding = verify(product);
    if (!finding.wrong)
        print_error("%s: an error of %g in C[%u][%u] is not found\n",
                    gemm_precision_names[product->problem.precision], change, (unsigned)i,
                    (unsigned)j);
    assert_true(finding.wrong);
    snprintf(place, sizeof(place), "C[%u][%u] of matrix %u is ", (unsigned)i, (unsigned)j,
             (unsigned)z);
    if (product->problem.flops / 2 <= GEMM_WHOLE_MOST || product->problem.precision == GEMM_INT8)
        assert_memory_equal(finding.text, place, strlen(place));
    else
        assert_true(strncmp(finding.text, "row ", 4) == 0 ||
                    strncmp(finding.text, place, strlen(place)) == 0);
    store_c(product, at, was);
}

static void not_a_number(struct product *product, uint64_t index)
{
    if (product->problem.precision == GEMM_INT8)
        return;
    const double was = c_at(product, index);
    store_c(product, index, (double)NAN);
    assert_true(verify(product).wrong);
    store_c(product, index, (double)INFINITY);
    assert_true(verify(product).wrong);
    store_c(product, index, was);
}

static void plant(struct gemm_params params, int first, int last)
{
    for (int precision = first; precision <= last; precision++) {
        struct product product;
        params.precision = precision;
        make(&product, params);
        multiply(&product);
        assert_right(&product);
        const struct gemm_problem *p = &product.problem;
        const double change = planted((enum gemm_precision)precision);
        find_one(&product, 0, 0, 0, change);
        find_one(&product, p->batch - 1, p->m - 1, p->n - 1, -change);
        find_one(&product, 0, p->m / 2, p->n / 3, change);
        not_a_number(&product, p->n / 2);
        assert_right(&product);
        discard(&product);
    }
}

#define EVERY 0, GEMM_PRECISION_COUNT - 1

static void one_wrong_element(void **state)
{
    (void)state;
    plant((struct gemm_params){.m = 37, .n = 41, .k = 19, .batch = 3}, EVERY);
    plant((struct gemm_params){.m = 37, .n = 41, .k = 19, .batch = 1, .transpose_b = true}, EVERY);
    plant((struct gemm_params){.m = 1, .n = 700, .k = 1, .batch = 1}, EVERY);
}

/* More than is checked whole. */
static void one_wrong_element_of_many(void **state)
{
    (void)state;
    const struct gemm_params turned = {
        .m = 20, .n = 1024, .k = 1024, .batch = 1, .transpose_a = true, .transpose_b = true};
    plant((struct gemm_params){.m = 20, .n = 1024, .k = 1024, .batch = 1}, EVERY);
    plant(turned, GEMM_FP16, GEMM_FP16_ACC16);
    plant((struct gemm_params){.size = 1024, .batch = 1}, GEMM_FP32, GEMM_FP32);
}

/* To nearest, with 11 bits of fraction: by Veltkamp's splitting. Not of what is denormal. */
static float to_half(float value)
{
    const float scaled = value * 8193.0f, high = scaled - value;
    return scaled - high;
}

/* C as a device makes it, each partial sum rounded. */
static void multiply_rounded(struct product *product)
{
    const struct gemm_problem *p = &product->problem;
    const enum gemm_number number = p->c.number;
    double *a = malloc(p->m * p->k * sizeof(*a)), *b = malloc(p->k * p->n * sizeof(*b));
    double *sums = malloc(p->n * sizeof(*sums));
    gemm_numbers_read(p->a.number, product->a, 0, p->m * p->k, false, a);
    gemm_numbers_read(p->b.number, product->b, 0, p->k * p->n, false, b);
    for (uint64_t i = 0; i < p->m; i++) {
        memset(sums, 0, p->n * sizeof(*sums));
        for (uint64_t l = 0; l < p->k; l++)
            for (uint64_t j = 0; j < p->n; j++) {
                const double sum = sums[j] + a[i * p->k + l] * b[l * p->n + j];
                sums[j] = number == GEMM_NUMBER_FP16   ? (double)to_half((float)sum)
                          : number == GEMM_NUMBER_FP32 ? (double)(float)sum
                                                       : sum;
            }
        for (uint64_t j = 0; j < p->n; j++)
            store_c(product, i * p->n + j, sums[j]);
    }
    free(a);
    free(b);
    free(sums);
}

/* Three times what README.md says one element may be off by. */
static double thrice_bound(const struct product *product, uint64_t i, uint64_t j)
{
    const struct gemm_problem *p = &product->problem;
    const double k = (double)p->k;
    double sizes = 0, squares = 0;
    for (uint64_t l = 0; l < p->k; l++) {
        double a, b;
        read_as(p->a.number, product->a, i * p->k + l, &a);
        read_as(p->b.number, product->b, l * p->n + j, &b);
        sizes += fabs(a * b);
        squares += a * b * a * b;
    }
    switch (p->c.number) {
    case GEMM_NUMBER_FP64:
        return 3 * 2 * 8 * sqrt(k) * 0x1p-53 * sizes;
    case GEMM_NUMBER_FP32:
        return 3 * 8 * sqrt(k) * 0x1p-24 * sizes;
    case GEMM_NUMBER_FP16:
        return 3 * 8 * sqrt(k) * 0x1p-11 * sqrt(squares);
    default:
        return 1;
    }
}

/* Of products that are not checked whole: an error that is seen in no sum of many elements. */
static void smallest_error(void **state)
{
    (void)state;
    static const struct gemm_params sizes[] = {{.m = 96, .n = 700, .k = 260, .batch = 1},
                                               {.m = 24, .n = 512, .k = 1500, .batch = 1}};
    for (size_t size = 0; size < 2; size++)
        for (int precision = 0; precision < GEMM_PRECISION_COUNT; precision++) {
            struct product product;
            struct gemm_params params = sizes[size];
            params.precision = precision;
            make(&product, params);
            multiply_rounded(&product);
            assert_right(&product);
            const struct gemm_problem *p = &product.problem;
            assert_true(p->flops / 2 > GEMM_WHOLE_MOST);
            for (uint64_t at = 0; at < 12; at++) {
                const uint64_t i = gemm_random(5, at) % p->m, j = gemm_random(6, at) % p->n;
                find_one(&product, 0, i, j, thrice_bound(&product, i, j) * (at % 2 ? 1 : -1));
            }
            discard(&product);
        }
}

static void scale(enum gemm_number number, uint64_t count, int exponent, void *array)
{
    for (uint64_t i = 0; i < count; i++) {
        double value;
        read_as(number, array, i, &value);
        assert_true(element_store(element_of[number], ldexp(value, exponent),
                                  (char *)array + i * gemm_number_bytes(number)));
    }
}

/* A and B by powers of two: the squares of elements underflow and overflow, and so the bound of a
 * sum must not be made of them. An element that is 0, and one that is twice what it was, is seen.
 */
static void scaled_product(enum gemm_precision precision, int of_a, int of_b, int layout)
{
    struct product product;
    make(&product, (struct gemm_params){.m = 260,
                                        .n = 263,
                                        .k = 301,
                                        .batch = 1,
                                        .precision = precision,
                                        .transpose_a = layout & 1,
                                        .transpose_b = layout & 2});
    const struct gemm_problem *p = &product.problem;
    assert_true(p->flops / 2 > GEMM_WHOLE_MOST);
    scale(p->a.number, p->a.elements, of_a, product.a);
    scale(p->b.number, p->b.elements, of_b, product.b);
    multiply(&product);
    assert_right(&product);
    const double was = c_at(&product, 7 * p->n + 11);
    store_c(&product, 7 * p->n + 11, was + 4 * ldexp(1, of_a + of_b));
    assert_true(verify(&product).wrong);
    store_c(&product, 7 * p->n + 11, was);
    for (uint64_t i = 0; i < p->c.elements; i++)
        store_c(&product, i, 0);
    assert_true(verify(&product).wrong);
    discard(&product);
}

static void tiny_and_huge_elements(void **state)
{
    (void)state;
    for (int layout = 0; layout < 4; layout += 3) {
        scaled_product(GEMM_FP64, -1060, 60, layout);
        scaled_product(GEMM_FP64, 60, -1060, layout);
        scaled_product(GEMM_FP64, -600, -300, layout);
        scaled_product(GEMM_FP64, 600, 300, layout);
        scaled_product(GEMM_FP64, 1023, -600, layout);
        scaled_product(GEMM_FP64, -600, 1023, layout);
        scaled_product(GEMM_FP32, -135, 60, layout);
        scaled_product(GEMM_FP32, 110, -100, layout);
        scaled_product(GEMM_BF16, 110, -100, layout);
        scaled_product(GEMM_FP16, -18, 10, layout);
    }
}

/* Rows and columns that a NaN or an infinity spoils are compared as well. */
static void spoilt(struct gemm_params params)
{
    for (int precision = 0; precision < GEMM_PRECISION_COUNT; precision++) {
        struct product product;
        if (precision == GEMM_INT8)
            continue;
        params.precision = precision;
        make(&product, params);
        product.check.special = true;
        struct gemm_problem *p = &product.problem;
        gemm_number_plant(p->a.number, 0, product.a, 5 * p->k + 3);  /* row 5: NaN */
        gemm_number_plant(p->a.number, 1, product.a, 7 * p->k + 4);  /* row 7: infinite */
        gemm_number_plant(p->b.number, -1, product.b, 2 * p->n + 9); /* column 9 */
        multiply(&product);
        assert_right(&product);
        assert_true(isnan(c_at(&product, 5 * p->n)));
        assert_false(isfinite(c_at(&product, 7 * p->n + 1)));
        assert_false(isfinite(c_at(&product, 8 * p->n + 9)));
        static const uint64_t places[][2] = {{5, 11}, {7, 1}, {8, 9}, {11, 9}};
        for (size_t i = 0; i < 4; i++) {
            const uint64_t at = places[i][0] * p->n + places[i][1];
            const double was = c_at(&product, at);
            store_c(&product, at, 0.5);
            assert_true(verify(&product).wrong);
            store_c(&product, at, was);
        }
        find_one(&product, 0, 6, 8, planted((enum gemm_precision)precision));
        discard(&product);
    }
}

static void not_finite(void **state)
{
    (void)state;
    spoilt((struct gemm_params){.m = 20, .n = 30, .k = 10, .batch = 1});
    spoilt((struct gemm_params){.size = 260, .batch = 1});
}

/* Sums that wrap are right as they wrap. */
static void wraps(void **state)
{
    (void)state;
    struct product product;
    make(&product,
         (struct gemm_params){.m = 1, .n = 1, .k = 200000, .batch = 1, .precision = GEMM_INT8});
    memset(product.a, 0x80, product.problem.a.bytes);
    memset(product.b, 0x80, product.problem.b.bytes);
    multiply(&product);
    assert_true(c_at(&product, 0) == 200000.0 * 16384 - 0x1p32);
    assert_right(&product);
    discard(&product);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),           cmocka_unit_test(gammas),
        cmocka_unit_test(gammas_of_fp16),    cmocka_unit_test(right_products),
        cmocka_unit_test(one_wrong_element), cmocka_unit_test(one_wrong_element_of_many),
        cmocka_unit_test(smallest_error),    cmocka_unit_test(tiny_and_huge_elements),
        cmocka_unit_test(not_finite),        cmocka_unit_test(wraps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
