/* SPDX-License-Identifier: MIT */
/* Pair groups on the simulated clock: the order of turns, the number of looks, and what a member
 * that fails costs the others. */
#include "base/hash.h"
#include "base/json.h"
#include "measure/measure.h"

#include <assay/assay.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 4
#define LOG 4096

struct params {
    int number;     /* of the member */
    int64_t low_ns; /* its batches take low, high, low, high, ... */
    int64_t high_ns;
    enum assay_status create, verify; /* how they fail; 0: not */
    bool foreseen;                    /* what create fails with */
    uint64_t fail_at;                 /* batch that fails; 0: none */
};

struct scripted {
    const struct params *params;
    uint64_t batches;
};

static int ran[LOG]; /* members in the order of their batches */
static size_t ran_count;

static void *scripted_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    (void)slot;
    const struct params *p = params;
    if (p->create) {
        assay_fail(error, p->create, "create failed");
        error->foreseen = p->foreseen;
        return NULL;
    }
    struct scripted *self = calloc(1, sizeof(*self));
    self->params = params;
    return self;
}

static int64_t scripted_duration(const struct assay_stage *stage, void *object, int64_t now_ns)
{
    (void)stage;
    (void)now_ns;
    struct scripted *self = object;
    if (ran_count < LOG)
        ran[ran_count++] = self->params->number;
    if (++self->batches == self->params->fail_at)
        return -1; /* an error of the workload */
    return self->batches % 2 ? self->params->low_ns : self->params->high_ns;
}

static bool scripted_verify(void *object, struct assay_verification *verification,
                            struct assay_error *error)
{
    (void)verification;
    struct scripted *self = object;
    return !self->params->verify || assay_fail(error, self->params->verify, "verify failed");
}

static void scripted_destroy(void **object)
{
    free(*object);
    *object = NULL;
}

static const struct assay_stage stage = {.size = sizeof(stage),
                                         .name = "work",
                                         .kind = ASSAY_STAGE_MODEL,
                                         .duration_ns = scripted_duration};
static const struct assay_stage *const stages[] = {&stage, NULL};
static const struct assay_option *const options[] = {NULL};
static const struct assay_workload workload = {.size = sizeof(workload),
                                               .name = "scripted",
                                               .version = "1",
                                               .summary = "times as the test says",
                                               .options = options,
                                               .params_size = sizeof(struct params),
                                               .stages = stages,
                                               .create = scripted_create,
                                               .verify = scripted_verify,
                                               .destroy = scripted_destroy};

struct fixture {
    struct params params[MOST];
    struct measure_request members[MOST];
    struct measure_group group;
    struct measure_result results[MOST];
    struct assay_error failures[MOST], error;
    unsigned enough;   /* the look from which on the bounds are decided */
    unsigned asked;    /* looks so far */
    size_t seen[8];    /* samples at each */
    size_t batches[8]; /* batches so far at each */
    bool ask_fails, too_long;
};

static size_t sample_count(const struct measure_result *result)
{
    struct assay_error error = {0};
    json_t *series = json_read(result->samples.data, result->samples.length, "samples", &error);
    assert_non_null(series);
    size_t count = json_array_size(json_object_get(series, "time"));
    json_decref(series);
    return count;
}

static json_t *sampling(const struct measure_result *result)
{
    struct assay_error error = {0};
    json_t *json = json_read(result->sampling.data, result->sampling.length, "sampling", &error);
    assert_non_null(json);
    return json;
}

static bool ask(void *user, unsigned look, const struct measure_result *results,
                const struct assay_error *failures, enum measure_answer *answer,
                struct assay_error *error)
{
    struct fixture *f = user;
    assert_int_equal(look, f->asked + 1);
    for (size_t i = 0; i < f->group.count; i++) {
        if (failures[i].status)
            continue;
        assert_int_equal(sample_count(&results[i]), sample_count(&results[0]));
        json_t *json = sampling(&results[i]);
        assert_int_equal(json_whole(json, "looks", -1), look);
        assert_string_equal(json_text(json, "stop", ""), "look");
        json_decref(json);
    }
    f->batches[f->asked] = ran_count;
    f->seen[f->asked++] = sample_count(&results[0]);
    *answer = f->too_long            ? MEASURE_UNASKED
              : f->asked < f->enough ? MEASURE_UNDECIDED
                                     : MEASURE_DECIDED;
    return !f->ask_fails || assay_fail(error, ASSAY_SYSTEM, "nobody answers");
}

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.enough = 1};
    ran_count = 0;
    for (int i = 0; i < MOST; i++) {
        fixture.params[i] = (struct params){.number = i, .low_ns = 1000, .high_ns = 1010};
        fixture.members[i] = (struct measure_request){
            .workload = &workload, .params = &fixture.params[i], .seed = (uint64_t)i};
    }
    fixture.group = (struct measure_group){
        .members = fixture.members, .count = 3, .order_seed = 5, .user = &fixture, .ask = ask};
    fixture.group.budget.looks = true;
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < MOST; i++)
        measure_result_free(&f->results[i]);
    return 0;
}

static bool measure(struct fixture *f)
{
    return measure_group(&f->group, f->results, f->failures, &f->error);
}

static void assert_stop(struct fixture *f, const char *stop, size_t n, int looks)
{
    for (size_t i = 0; i < f->group.count; i++) {
        assert_int_equal(f->failures[i].status, ASSAY_OK);
        assert_int_equal(sample_count(&f->results[i]), n);
        json_t *json = sampling(&f->results[i]);
        assert_string_equal(json_text(json, "stop", ""), stop);
        assert_int_equal(json_whole(json, "n", -1), n);
        assert_int_equal(json_whole(json, "looks", -1), looks);
        json_decref(json);
    }
}

/* With a budget that a 16th of is used up by the first samples: 3 members, 1 us a batch, 8 turns
 * are 24 us. */
#define SMALL_BUDGET_NS 100000

static void order_is_a_permutation_of_the_seed(void **state)
{
    (void)state;
    size_t order[5], again[5];
    int first[5] = {0};
    bool differs = false;
    for (uint64_t turn = 0; turn < 1000; turn++) {
        int seen[5] = {0};
        turn_order(9, turn, order, 5);
        turn_order(9, turn, again, 5);
        assert_memory_equal(order, again, sizeof(order));
        for (int i = 0; i < 5; i++)
            seen[order[i]]++;
        for (int i = 0; i < 5; i++)
            assert_int_equal(seen[i], 1);
        first[order[0]]++;
        turn_order(10, turn, again, 5);
        differs = differs || memcmp(order, again, sizeof(order)) != 0;
    }
    assert_true(differs);
    for (int i = 0; i < 5; i++) /* 200 on average, a standard deviation of 12.6 */
        assert_in_range(first[i], 140, 260);
}

/* Constant times: 2 turns of warm-up, 8 that count, 1 to verify. Within each, every member once, in
 * the order of the seed. */
static void turns_are_shuffled_as_the_seed_says(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < MOST; i++)
        f->params[i].high_ns = f->params[i].low_ns;
    assert_true(measure(f));
    assert_int_equal(ran_count, (2 + 8 + 1) * 3);
    size_t order[3];
    for (size_t turn = 0; turn < 2 + 8; turn++) {
        turn_order(5, turn < 2 ? turn : turn - 2, order, 3);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(ran[3 * turn + i], order[i]);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(ran[30 + i], i);
    /* More samples could not change anything: nobody is asked. */
    assert_int_equal(f->asked, 0);
    assert_stop(f, "target", 8, 1);
}

static void decided_at_the_first_look(void **state)
{
    struct fixture *f = *state;
    f->group.budget.budget_ns = SMALL_BUDGET_NS;
    assert_true(measure(f));
    assert_int_equal(f->asked, 1);
    assert_int_equal(f->seen[0], 8);
    assert_stop(f, "target", 8, 1);
}

static void samples_double_while_undecided(void **state)
{
    struct fixture *f = *state;
    f->enough = 3;
    f->group.budget.budget_ns = SMALL_BUDGET_NS;
    assert_true(measure(f));
    assert_int_equal(f->asked, 3);
    assert_int_equal(f->seen[0], 8);
    assert_int_equal(f->seen[1], 16);
    assert_int_equal(f->seen[2], 32);
    assert_int_equal(f->batches[1] - f->batches[0], 8 * 3);
    assert_stop(f, "decided", 32, 3);
}

/* A bound exactly at the truth: four questions, and the judgement of the journal is the fifth. */
static void five_looks_at_most(void **state)
{
    struct fixture *f = *state;
    f->enough = 100;
    f->group.budget.budget_ns = 6 * SMALL_BUDGET_NS / 5; /* 120 us a case: 8 turns are a 15th */
    f->group.budget.max_samples = 1000;
    assert_true(measure(f));
    /* 3 x 120 us hold 119.4 turns of 3.015 us: 120. */
    assert_int_equal(f->asked, 4);
    assert_int_equal(f->seen[3], 64);
    assert_stop(f, "budget", 120, 5);

    tear_down(state);
    f->asked = 0;
    f->group.budget.budget_ns = 128 * 1005 + 1000; /* a 16th of thrice that is just over 8 turns */
    assert_true(measure(f));
    /* So the first look waits for 16 turns, and the budget ends before 256. */
    assert_int_equal(f->seen[0], 16);
    assert_int_equal(f->asked, 4);
    assert_int_equal(f->seen[3], 128);
    assert_stop(f, "budget", 129, 5);
}

/* What cannot be asked is not called decided: the budget is used up, and the judgement of the
 * journal is the one look. */
static void an_unasked_look_uses_the_budget_up(void **state)
{
    struct fixture *f = *state;
    f->too_long = true;
    f->group.budget.budget_ns = 6 * SMALL_BUDGET_NS / 5; /* 120 turns, as above */
    f->group.budget.max_samples = 1000;
    assert_true(measure(f));
    assert_int_equal(f->asked, 1);
    assert_stop(f, "budget", 120, 1);
    for (size_t i = 0; i < 3; i++)
        assert_non_null(strstr(text_string(&f->results[i].notes), "too long to ask"));
}

static void the_budget_ends_the_questions(void **state)
{
    struct fixture *f = *state;
    f->enough = 100;
    f->group.budget.budget_ns = 20 * 1005; /* 20 turns */
    assert_true(measure(f));
    assert_int_equal(f->asked, 2);
    assert_int_equal(f->seen[1], 16);
    assert_stop(f, "budget", 20, 3);

    tear_down(state);
    f->asked = 0;
    f->group.budget.budget_ns = SMALL_BUDGET_NS;
    f->group.budget.max_samples = 16;
    assert_true(measure(f));
    assert_int_equal(f->asked, 1);
    assert_stop(f, "max_samples", 16, 2);
}

/* Wide intervals: 1000 and 2000 in turn. The bounds wait for the target, then for the budget. */
static void no_question_before_the_target(void **state)
{
    struct fixture *f = *state;
    f->params[1].high_ns = 2000;
    f->group.budget.budget_ns = 10000 * 1000;
    f->group.budget.max_samples = 100;
    assert_true(measure(f));
    assert_int_equal(f->asked, 0);
    assert_stop(f, "max_samples", 100, 1);
    json_t *json = sampling(&f->results[1]);
    assert_true(json_number(json, "half_width", -1) > 0.3);
    assert_true(json_number(json, "confidence", -1) == 0.99);
    json_decref(json);
}

static void without_looks_nobody_asks(void **state)
{
    struct fixture *f = *state;
    f->group.budget.looks = false;
    assert_true(measure(f));
    assert_int_equal(f->asked, 0);
    assert_stop(f, "target", 6, 0);
    json_t *json = sampling(&f->results[0]);
    assert_true(json_number(json, "confidence", -1) == 0.95);
    json_decref(json);
}

/* Extremes of 6 cover 1 - 2 / 2^6. */
static void few_samples_state_their_coverage(void **state)
{
    struct fixture *f = *state;
    f->group.budget.max_samples = 6;
    assert_true(measure(f));
    assert_stop(f, "max_samples", 6, 1);
    json_t *json = sampling(&f->results[0]);
    assert_true(json_number(json, "confidence", -1) == 0.96875);
    json_decref(json);
}

static void an_answer_that_fails_ends_it(void **state)
{
    struct fixture *f = *state;
    f->ask_fails = true;
    f->group.budget.budget_ns = SMALL_BUDGET_NS;
    assert_false(measure(f));
    assert_string_equal(f->error.text, "nobody answers");
    assert_int_equal(f->asked, 1);
}

static void one_unsupported_leaves_the_others(void **state)
{
    struct fixture *f = *state;
    f->params[1].create = ASSAY_UNSUPPORTED;
    f->group.budget.budget_ns = SMALL_BUDGET_NS;
    assert_true(measure(f));
    assert_int_equal(f->failures[1].status, ASSAY_UNSUPPORTED);
    assert_string_equal(f->failures[1].text, "create failed");
    assert_int_equal(f->failures[0].status, ASSAY_OK);
    assert_int_equal(f->failures[2].status, ASSAY_OK);
    assert_int_equal(sample_count(&f->results[2]), 8);
    for (size_t i = 0; i < ran_count; i++)
        assert_int_not_equal(ran[i], 1);
}

static void memory_for_all_or_none(void **state)
{
    struct fixture *f = *state;
    f->params[2].create = ASSAY_OUT_OF_MEMORY;
    assert_true(measure(f));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(f->failures[i].status, ASSAY_UNSUPPORTED);
        assert_string_equal(
            f->failures[i].text,
            "memory does not hold the 3 cases of the pair group at once: create failed");
    }
    assert_int_equal(ran_count, 0);

    tear_down(state);
    f->group.count = 1;
    f->params[0].create = ASSAY_OUT_OF_MEMORY;
    assert_true(measure(f));
    assert_int_equal(f->failures[0].status, ASSAY_OUT_OF_MEMORY);

    tear_down(state);
    f->group.count = 1;
    f->params[0].create = ASSAY_OUT_OF_MEMORY;
    f->params[0].foreseen = true;
    assert_true(measure(f));
    assert_int_equal(f->failures[0].status, ASSAY_UNSUPPORTED);
    assert_string_equal(f->failures[0].text, "memory does not hold the case: create failed");
}

static void a_failure_while_sampling_fails_all(void **state)
{
    struct fixture *f = *state;
    f->params[1].fail_at = 5;
    assert_true(measure(f));
    assert_string_equal(f->failures[1].text, "stage 'work' has a duration of -1 ns");
    assert_string_equal(
        f->failures[0].text,
        "a case of the same pair group failed: stage 'work' has a duration of -1 ns");
    assert_int_equal(f->failures[0].status, f->failures[1].status);
    assert_int_equal(f->failures[2].status, f->failures[1].status);
}

static void a_wrong_result_is_its_own(void **state)
{
    struct fixture *f = *state;
    f->params[0].verify = ASSAY_WRONG_RESULT;
    assert_true(measure(f));
    assert_int_equal(f->failures[0].status, ASSAY_WRONG_RESULT);
    assert_int_equal(f->failures[1].status, ASSAY_OK);
    assert_int_equal(f->results[0].samples.length, 0);
    assert_true(sample_count(&f->results[1]) >= 8);
}

#define GROUP_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_a_permutation_of_the_seed),
        GROUP_TEST(turns_are_shuffled_as_the_seed_says),
        GROUP_TEST(decided_at_the_first_look),
        GROUP_TEST(samples_double_while_undecided),
        GROUP_TEST(an_unasked_look_uses_the_budget_up),
        GROUP_TEST(five_looks_at_most),
        GROUP_TEST(the_budget_ends_the_questions),
        GROUP_TEST(no_question_before_the_target),
        GROUP_TEST(without_looks_nobody_asks),
        GROUP_TEST(few_samples_state_their_coverage),
        GROUP_TEST(an_answer_that_fails_ends_it),
        GROUP_TEST(one_unsupported_leaves_the_others),
        GROUP_TEST(memory_for_all_or_none),
        GROUP_TEST(a_failure_while_sampling_fails_all),
        GROUP_TEST(a_wrong_result_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
