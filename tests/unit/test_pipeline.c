/* SPDX-License-Identifier: MIT */
/* The pipeline model on the reference arithmetic of docs/method.md, "Pipelines", and beside a
 * simulation. */
#include "stats/pipeline.h"

#include "pipeline_reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define STAGES 3

/* Times in ms; the exact figures are small whole numbers, which doubles hold. */
static void expect_pipeline(const struct pipeline_stage *stages, unsigned depth,
                            const struct pipeline *wanted)
{
    struct pipeline got;
    pipeline_predict(stages, STAGES, depth, &got);
    assert_true(got.serial == wanted->serial);
    assert_true(got.busiest == wanted->busiest);
    assert_true(got.period == wanted->period);
    assert_int_equal(got.group, wanted->group);
    assert_int_equal(got.exact, wanted->exact);
}

static void queues_of_their_own(void **state)
{
    (void)state;
    static const struct pipeline_stage stages[] = {{100, 0}, {20, 1}, {10, 2}};
    expect_pipeline(stages, 1, &(struct pipeline){130, 100, 0, 130, true});
    expect_pipeline(stages, 2, &(struct pipeline){130, 100, 0, 100, true});
    expect_pipeline(stages, 8, &(struct pipeline){130, 100, 0, 100, true});
    static const struct pipeline_stage halved[] = {{100, 0}, {10, 1}, {10, 2}};
    expect_pipeline(halved, 1, &(struct pipeline){120, 100, 0, 120, true});
    static const struct pipeline_stage narrowed[] = {{40, 0}, {20, 1}, {10, 2}};
    expect_pipeline(narrowed, 1, &(struct pipeline){70, 40, 0, 70, true});
    expect_pipeline(narrowed, 2, &(struct pipeline){70, 40, 0, 40, true});
}

static void a_shared_queue_is_a_lower_bound(void **state)
{
    (void)state;
    static const struct pipeline_stage stages[] = {{40, 7}, {20, 1}, {10, 7}};
    expect_pipeline(stages, 1, &(struct pipeline){70, 50, 7, 70, false});
    expect_pipeline(stages, 2, &(struct pipeline){70, 50, 7, 50, false});
    static const struct pipeline_stage one[] = {{40, 3}, {20, 3}, {10, 3}};
    expect_pipeline(one, 4, &(struct pipeline){70, 70, 3, 70, false});
}

/* Balanced stages: with fewer slots than stages the depth is what limits. */
static void too_few_slots_limit(void **state)
{
    (void)state;
    static const struct pipeline_stage stages[] = {{30, 0}, {30, 1}, {30, 2}};
    expect_pipeline(stages, 2, &(struct pipeline){90, 30, 0, 45, true});
    expect_pipeline(stages, 3, &(struct pipeline){90, 30, 0, 30, true});
}

static void nothing_takes_no_time(void **state)
{
    (void)state;
    struct pipeline got;
    pipeline_predict(NULL, 0, 3, &got);
    assert_true(got.serial == 0 && got.period == 0 && got.busiest == 0 && got.exact);
}

/* Two slots, 3 + 2 + 2; the first and the last share group 0. Worked out by hand: at 5 the first
 * batch's last stage is ready, but group 0 has served the second batch since 3. */
static void the_simulation_by_hand(void **state)
{
    (void)state;
    static const struct reference_stage stages[] = {{3, 0}, {2, 1}, {2, 0}};
    static const int64_t wanted_begin[] = {0, 3, 6, 3, 6, 8, 10, 13, 15};
    static const int64_t wanted_end[] = {3, 5, 8, 6, 8, 10, 13, 15, 17};
    int64_t begin_ns[9], end_ns[9];
    assert_true(reference_simulate(stages, 3, 2, 3, begin_ns, end_ns));
    for (int i = 0; i < 9; i++) {
        assert_int_equal(begin_ns[i], wanted_begin[i]);
        assert_int_equal(end_ns[i], wanted_end[i]);
    }
    assert_false(reference_simulate(stages, 3, 0, 3, begin_ns, end_ns));
    static const struct reference_stage none[] = {{0, 0}};
    assert_false(reference_simulate(none, 1, 1, 1, begin_ns, end_ns));
    assert_true(reference_period_ns(none, 1, 1, 1) < 0);
    assert_true(reference_period_ns(stages, 3, 1, 10) == 7);
}

/* 200 random lists at depths 1 to 8: the closed form where groups are not shared, else a bound. */
static void the_model_beside_the_simulation(void **state)
{
    (void)state;
    unsigned above = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct reference_stage stages[REFERENCE_STAGES_MAX];
        struct pipeline_stage times[REFERENCE_STAGES_MAX];
        bool own = seed % 2 == 0;
        size_t count = reference_random(seed, own, stages);
        for (size_t i = 0; i < count; i++)
            times[i] = (struct pipeline_stage){(double)stages[i].duration_ns, stages[i].group};
        for (unsigned depth = 1; depth <= 8; depth++) {
            struct pipeline model;
            double period_ns = reference_period_ns(stages, count, depth, 400);
            pipeline_predict(times, count, depth, &model);
            assert_true(period_ns > model.period * 0.995); /* the window cuts a cycle */
            if (own || depth == 1)
                assert_true(fabs(period_ns / model.period - 1) < 0.03);
            above += period_ns > model.period * 1.01;
        }
    }
    assert_true(above > 50); /* a bound is not the truth: the check above means something */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_of_their_own),    cmocka_unit_test(a_shared_queue_is_a_lower_bound),
        cmocka_unit_test(too_few_slots_limit),    cmocka_unit_test(nothing_takes_no_time),
        cmocka_unit_test(the_simulation_by_hand), cmocka_unit_test(the_model_beside_the_simulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
