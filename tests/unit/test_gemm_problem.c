/* SPDX-License-Identifier: MIT */
/* How gemm's work is cut under limits: pieces cover all of C and all of k once, and stay inside. */
#include "../../plugins/gemm/packing.h"

#include "../workload_fixture.h"
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct workload_fixture gemm;

static void refused(const char *const *settings, const char *text)
{
    struct assay_error error = {0};
    assert_null(workload_params(&gemm, settings, &error));
    assert_string_equal(error.text, text);
    assert_int_equal(error.status, ASSAY_INVALID);
}
#define REFUSED(text, ...) refused((const char *const[]){__VA_ARGS__, NULL}, text)

static void parameters(void **state)
{
    (void)state;
    struct assay_error error = {0};
    REFUSED("tile: variant plain has no '7x7'; allowed: auto, 8x8, 1x64, 16x16", "variant", "plain",
            "tile", "7x7");
    REFUSED("tile: '8x8' belongs to a variant, and variant is auto; set both or none", "tile",
            "8x8");
    REFUSED("m, n, k, batch: 2147483647 x 2147483647 x 2147483647, 1 times, have more bytes or "
            "operations than 63 bits can count; give less",
            "size", "2147483647");
    REFUSED("m, n, k, batch: 1 x 1 x 1073741824, 2147483647 times, have more bytes or operations "
            "than 63 bits can count; give less",
            "size", "1", "k", "1073741824", "batch", "2147483647", "precision", "fp64");
    const char *const right[] = {"size", "65536", NULL};
    assert_non_null(workload_params(&gemm, right, &error));
}

static struct gemm_problem problem_of(struct gemm_params params)
{
    struct gemm_problem problem;
    struct assay_error error = {0};
    assert_true(gemm_problem_make(&params, &problem, &error));
    return problem;
}

static void sizes(void **state)
{
    (void)state;
    const struct gemm_problem p = problem_of((struct gemm_params){
        .size = 10, .n = 3, .batch = 4, .precision = GEMM_FP16, .transpose_a = true});
    assert_int_equal(p.m, 10);
    assert_int_equal(p.n, 3);
    assert_int_equal(p.k, 10);
    assert_int_equal(p.a.bytes, 10 * 10 * 2 * 4);
    assert_int_equal(p.b.bytes, 10 * 3 * 2 * 4);
    assert_int_equal(p.c.bytes, 10 * 3 * 4 * 4); /* sums in fp32 */
    assert_int_equal(p.flops, 2 * 10 * 3 * 10 * 4);
}

/* Counts how often each product a_il b_lj of a matrix is made, and that all spans are inside the
 * range and the buffers. */
static void assert_portions_cover(struct gemm_params params, struct gemm_grain grain,
                                  struct gemm_bounds bounds, uint64_t most, uint64_t wanted_count)
{
    const struct gemm_problem p = problem_of(params);
    struct gemm_plan plan;
    struct gemm_piece piece;
    struct assay_error error = {0};
    const uint64_t products = p.m * p.n * p.k;
    unsigned char *made = calloc(products * p.batch, 1);
    uint64_t last_k = 0;
    assert_true(gemm_plan_make(&p, &grain, &bounds, &plan, &error));
    if (most)
        assert_true(gemm_plan_divide(&p, &grain, most, &plan, &error));
    assert_int_equal(plan.count, wanted_count);
    for (uint64_t i = 0; i < plan.count; i++) {
        struct gemm_span spans[3];
        const struct gemm_matrix *matrices[] = {&p.a, &p.b, &p.c};
        gemm_plan_piece(&p, &plan, i, &piece);
        gemm_piece_spans(&p, &piece, bounds.alignment_bytes, &spans[0], &spans[1], &spans[2]);
        for (int s = 0; s < 3; s++) {
            assert_true(spans[s].bytes <= bounds.range_bytes);
            assert_int_equal(spans[s].offset_bytes % bounds.alignment_bytes, 0);
            assert_true(spans[s].offset_bytes + spans[s].bytes <=
                        (matrices[s]->bytes + 15) / 16 * 16);
        }
        assert_true(piece.k >= last_k);
        assert_int_equal(piece.accumulate, piece.k > 0);
        last_k = piece.k;
        for (uint64_t z = piece.batch; z < piece.batch + piece.batches; z++)
            for (uint64_t row = piece.row; row < piece.row + piece.rows; row++)
                for (uint64_t column = piece.column; column < piece.column + piece.columns;
                     column++)
                    for (uint64_t k = piece.k; k < piece.k + piece.depth; k++)
                        made[z * products + (row * p.n + column) * p.k + k]++;
    }
    for (uint64_t i = 0; i < products * p.batch; i++)
        assert_int_equal(made[i], 1);
    free(made);
}

static void assert_covers(struct gemm_params params, struct gemm_grain grain,
                          struct gemm_bounds bounds, uint64_t wanted_count)
{
    assert_portions_cover(params, grain, bounds, 0, wanted_count);
}

/* Pieces of 30 x 20 x 10, three times, in grains of 4 x 8. */
static void portions(void **state)
{
    (void)state;
    const struct gemm_grain grain = {4, 8, 1, 0};
    struct gemm_bounds bounds = {.range_bytes = 1 << 27, .alignment_bytes = 16};
    const struct gemm_params params = {
        .m = 30, .n = 20, .k = 10, .batch = 3, .precision = GEMM_FP32};
    assert_portions_cover(params, grain, bounds, 18000, 1);
    /* two matrices, then one */
    assert_portions_cover(params, grain, bounds, 17999, 2);
    assert_portions_cover(params, grain, bounds, 11999, 3);
    /* 5999 / 300 is 19 columns: 16 */
    assert_portions_cover(params, grain, bounds, 5999, 3 * 2);
    /* 8 columns, of which each row takes 80: 12 rows */
    assert_portions_cover(params, grain, bounds, 1000, 3 * 3 * 3);
    /* never less than a grain, nor less of the sum than before */
    assert_portions_cover(params, grain, bounds, 1, 3 * 3 * 8);
    bounds.k_most = 7;
    assert_portions_cover(params, grain, bounds, 1, 3 * 3 * 8 * 2);
}

static void too_many_portions(void **state)
{
    (void)state;
    const struct gemm_problem p = problem_of((struct gemm_params){.size = 1000, .batch = 1});
    const struct gemm_bounds bounds = {.range_bytes = 1 << 27, .alignment_bytes = 16};
    const struct gemm_grain grain = {4, 4, 1, 0};
    struct gemm_plan plan;
    struct assay_error error = {0};
    assert_true(gemm_plan_make(&p, &grain, &bounds, &plan, &error));
    assert_false(gemm_plan_divide(&p, &grain, 20000, &plan, &error));
    assert_int_equal(error.status, ASSAY_UNSUPPORTED);
    assert_string_equal(error.text, "m, n, k, batch: in submissions that end within the limit of a "
                                    "wait the work is cut into more than 16384 dispatches");
}

static void pieces(void **state)
{
    (void)state;
    const struct gemm_grain grain = {4, 8, 1, 0};
    const struct gemm_bounds wide = {.range_bytes = 1 << 27, .alignment_bytes = 16};
    struct gemm_bounds bounds = wide;
    assert_covers(
        (struct gemm_params){.m = 30, .n = 20, .k = 10, .batch = 3, .precision = GEMM_FP32}, grain,
        wide, 1);
    /* 7 of k at most: 2 pieces */
    bounds.k_most = 7;
    assert_covers(
        (struct gemm_params){.m = 30, .n = 20, .k = 10, .batch = 3, .precision = GEMM_FP32}, grain,
        bounds, 2);
    /* 2 groups of 8 columns: 2 pieces; 3 of 4 rows: 3; 2 of a batch of 3: 2 */
    bounds = wide;
    bounds.groups[0] = 2;
    bounds.groups[1] = 3;
    bounds.groups[2] = 2;
    assert_covers(
        (struct gemm_params){.m = 30, .n = 20, .k = 10, .batch = 3, .precision = GEMM_FP32}, grain,
        bounds, 12);
    /* A range of 1000 B holds 245 floats beside what alignment takes: 24 rows of A of 10, 12 of C
     * of 20; 12 is whole groups of 4; all of B; one matrix of the batch. */
    bounds = wide;
    bounds.range_bytes = 1000;
    assert_covers(
        (struct gemm_params){.m = 30, .n = 20, .k = 10, .batch = 3, .precision = GEMM_FP32}, grain,
        bounds, 9);
}

/* Ranges in which not one row fits, in every layout and with elements that share words. */
static void small_ranges(void **state)
{
    (void)state;
    const struct gemm_grain grain = {4, 8, 4, 0};
    static const uint64_t ranges[] = {100, 256, 1000, 4096};
    static const enum gemm_precision precisions[] = {GEMM_FP64, GEMM_FP32, GEMM_FP16_ACC16,
                                                     GEMM_INT8};
    for (size_t r = 0; r < 4; r++)
        for (size_t p = 0; p < 4; p++)
            for (int layout = 0; layout < 4; layout++) {
                const struct gemm_params params = {.m = 13,
                                                   .n = 37,
                                                   .k = 29,
                                                   .batch = 1,
                                                   .precision = (int)precisions[p],
                                                   .transpose_a = layout & 1,
                                                   .transpose_b = layout & 2};
                const struct gemm_bounds bounds = {.range_bytes = ranges[r], .alignment_bytes = 16};
                const struct gemm_problem problem = problem_of(params);
                struct gemm_plan plan;
                struct assay_error error = {0};
                assert_true(gemm_plan_make(&problem, &grain, &bounds, &plan, &error));
                assert_covers(params, grain, bounds, plan.count);
            }
}

static void too_many_pieces(void **state)
{
    (void)state;
    const struct gemm_problem p = problem_of((struct gemm_params){.size = 1000, .batch = 1});
    const struct gemm_bounds bounds = {
        .range_bytes = 256, .alignment_bytes = 4, .groups = {65535, 65535, 65535}};
    const struct gemm_grain grain = {1, 1, 1, 0};
    struct gemm_plan plan;
    struct assay_error error = {0};
    assert_false(gemm_plan_make(&p, &grain, &bounds, &plan, &error));
    assert_int_equal(error.status, ASSAY_UNSUPPORTED);
    assert_string_equal(error.text,
                        "m, n, k, batch: within a storage range of 256 B and 65535 x 65535 x 65535 "
                        "groups of this device the work is cut into more than 16384 dispatches");
}

/* int8 of 32x32 on 8 lanes: 16 numbers stand in 16 bytes and a lane has 4, so that 4 panels share
 * rows; a grain of B is 128 columns and 4 groups. */
static void panels_within_groups(void **state)
{
    (void)state;
    const struct gemm_problem p = problem_of((struct gemm_params){
        .size = 1024, .batch = 1, .precision = GEMM_INT8, .transpose_a = true});
    struct gemm_packing_limits limits = {.bounds = {.range_bytes = 1 << 27,
                                                    .alignment_bytes = 16,
                                                    .groups = {16, 8, 8},
                                                    .k_most = GEMM_K_MOST},
                                         .texels = 1 << 23,
                                         .lanes = 8};
    struct gemm_packings packings;
    struct assay_error error = {0};
    assert_true(gemm_packings_make(&p, "32x32", &limits, &packings, &error));
    assert_int_equal(packings.a.spread, 4);
    assert_int_equal(packings.b.spread, 4);
    assert_int_equal(packings.plan.columns, 4 * 128);
    assert_int_equal(packings.plan.rows, 2 * 128);
    assert_int_equal(gemm_packing_panels(&packings.b, 8, packings.plan.columns), 16);
    assert_int_equal(gemm_packing_panels(&packings.a, 8, packings.plan.rows), 8);
    limits.bounds.groups[0] = limits.bounds.groups[1] = 0; /* unlimited */
    assert_true(gemm_packings_make(&p, "32x32", &limits, &packings, &error));
    assert_int_equal(packings.plan.count, 1);
}

static int set_up(void **state)
{
    (void)state;
    struct assay_error error = {0};
    return workload_open(&gemm, "gemm", &error) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    workload_close(&gemm);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters),
        cmocka_unit_test(sizes),
        cmocka_unit_test(pieces),
        cmocka_unit_test(portions),
        cmocka_unit_test(too_many_portions),
        cmocka_unit_test(small_ranges),
        cmocka_unit_test(too_many_pieces),
        cmocka_unit_test(panels_within_groups),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
