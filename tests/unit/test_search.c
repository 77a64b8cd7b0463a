/* SPDX-License-Identifier: MIT */
/* Which values a search tries, and what it says of them. */
#include "experiment/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* What a value shows: from `open` on it is open, from `misses` on missed; and in [again, again_end]
 * the bound is kept once more. */
struct axis {
    double open, misses, again, again_end;
};

static enum search_verdict verdict_at(const struct axis *axis, double value)
{
    if (value >= axis->again && value <= axis->again_end)
        return SEARCH_KEEPS;
    return value >= axis->misses ? SEARCH_MISSES : value >= axis->open ? SEARCH_OPEN : SEARCH_KEEPS;
}

/* Returns how many values were tried. */
static unsigned search_on(const struct search *search, const struct axis *axis,
                          struct search_answer *answer)
{
    struct search_state state = {0};
    unsigned tried = 0;
    double value;
    for (; search_next(search, &state, &value); tried++) {
        assert_true(value >= search->from && value <= search->to);
        assert_true(search->step == 0 || fmod(value, search->step) == 0);
        for (unsigned i = 0; i < state.count; i++)
            assert_true(state.probes[i].value != value);
        search_tell(&state, value, verdict_at(axis, value));
        assert_true(tried < search_most(search));
    }
    search_answer(&state, answer);
    return tried;
}

static struct axis up_to(double limit)
{
    double above = nextafter(limit, INFINITY);
    return (struct axis){above, above, INFINITY, INFINITY};
}

static void the_limit_is_found_to_its_precision(void **state)
{
    (void)state;
    struct search search = {.from = 10, .to = 1000, .precision = 0.05};
    struct search_answer answer;
    for (double limit = 10; limit < 1000; limit *= 1.37) {
        struct axis axis = up_to(limit);
        search_on(&search, &axis, &answer);
        assert_true(answer.found && !answer.kept_at_to && !answer.open && !answer.several);
        assert_true(answer.value <= limit && answer.beyond > limit);
        assert_true(answer.beyond <= 1.05 * answer.value);
    }
}

/* 1 and 16, then 4 (the root of 16), 8 (of 64), 11 (of 128), 9 (of 88), and 10; then 13 (of 11 x
 * 16 = 176) and 2 (of 1 x 4) to see whether there is another limit. */
static void whole_values_are_found_exactly(void **state)
{
    (void)state;
    struct search search = {.from = 1, .to = 16, .precision = 0.001, .step = 1};
    struct search_answer answer;
    for (int limit = 1; limit < 16; limit++) {
        struct axis axis = up_to(limit);
        search_on(&search, &axis, &answer);
        assert_true(answer.value == limit && answer.beyond == limit + 1);
    }
    struct axis axis = up_to(9);
    assert_int_equal(search_on(&search, &axis, &answer), 9);
}

/* Multiples of 64 only: the highest up to 1000 is 960. */
static void values_are_multiples_of_the_step(void **state)
{
    (void)state;
    struct search search = {.from = 64, .to = 65536, .precision = 0.001, .step = 64};
    struct search_answer answer;
    struct axis axis = up_to(1000);
    search_on(&search, &axis, &answer);
    assert_true(answer.value == 960 && answer.beyond == 1024);
}

static void ends_are_said(void **state)
{
    (void)state;
    struct search search = {.from = 10, .to = 1000, .precision = 0.05};
    struct search_answer answer;
    struct axis never = up_to(5), always = up_to(5000);
    assert_int_equal(search_on(&search, &never, &answer), 3); /* 10, 1000 and 100 */
    assert_false(answer.found);
    assert_int_equal(search_on(&search, &always, &answer), 2);
    assert_true(answer.found && answer.kept_at_to && answer.value == 1000);
    assert_true(answer.beyond == 1000);
}

/* Kept up to 50, open up to 80: the interval of the answer holds all that is open. */
static void what_is_open_widens_the_answer(void **state)
{
    (void)state;
    struct search search = {.from = 10, .to = 1000, .precision = 0.05};
    struct search_answer answer;
    struct axis axis = {50, 80, INFINITY, INFINITY};
    search_on(&search, &axis, &answer);
    assert_true(answer.found && answer.open && !answer.several);
    assert_true(answer.value < 50 && answer.value > 50 / 1.05);
    assert_true(answer.beyond >= 80 && answer.beyond < 80 * 1.05);
    struct axis to_the_end = {50, INFINITY, INFINITY, INFINITY};
    search_on(&search, &to_the_end, &answer);
    assert_true(answer.open && answer.beyond == 1000 && !answer.kept_at_to);
}

/* What falls and rises again: the highest value is that of the second limit, and it is said. */
static void a_second_limit_is_found(void **state)
{
    (void)state;
    struct search search = {.from = 10, .to = 1000, .precision = 0.05};
    struct search_answer answer;
    struct axis above = {20, 20, 200, 400};
    search_on(&search, &above, &answer);
    assert_true(answer.several && answer.value <= 400 && answer.beyond > 400);
    assert_true(answer.beyond <= 1.05 * answer.value);
    assert_true(answer.missing >= 20 && answer.missing < 200);
    struct axis from_50_on = {1, 1, 50, 1000}; /* the more, the better */
    search_on(&search, &from_50_on, &answer);
    assert_true(answer.several && answer.kept_at_to && answer.value == 1000);
    struct axis middle = {1, 1, 50, 200};
    search_on(&search, &middle, &answer);
    assert_true(answer.several && answer.value <= 200 && answer.beyond > 200);
}

static void a_wide_axis_is_within_the_most(void **state)
{
    (void)state;
    struct search search = {.from = 1e-300, .to = 1e300, .precision = 0.001};
    struct search_answer answer;
    struct axis axis = {1e-10, 1e10, 1e200, 1e201};
    search_on(&search, &axis, &answer);
    assert_true(answer.found);
    assert_true(search_most(&search) <= SEARCH_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_found_to_its_precision),
        cmocka_unit_test(whole_values_are_found_exactly),
        cmocka_unit_test(values_are_multiples_of_the_step),
        cmocka_unit_test(ends_are_said),
        cmocka_unit_test(what_is_open_widens_the_answer),
        cmocka_unit_test(a_second_limit_is_found),
        cmocka_unit_test(a_wide_axis_is_within_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
