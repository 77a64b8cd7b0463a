/* SPDX-License-Identifier: MIT */
/* The pipeline model on the reference arithmetic of docs/method.md, "Pipelines". */
#include "stats/pipeline.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_of_their_own),
        cmocka_unit_test(a_shared_queue_is_a_lower_bound),
        cmocka_unit_test(too_few_slots_limit),
        cmocka_unit_test(nothing_takes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
