/* SPDX-License-Identifier: MIT */
/* Which values a search tries. */
#include "experiment/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Everything up to `limit` keeps the bound. Returns how many values were tried. */
static unsigned search_for(const struct search *search, double limit, struct search_state *state)
{
    unsigned tried = 0;
    double value;
    *state = (struct search_state){0};
    for (; search_next(search, state, &value); tried++) {
        assert_true(value >= search->from && value <= search->to);
        assert_true(!search->whole || value == floor(value));
        assert_true(tried < search_most(search));
        search_tell(state, value, value <= limit);
    }
    return tried;
}

static void the_limit_is_found_to_its_precision(void **state)
{
    (void)state;
    struct search search = {.from = 10, .to = 1000, .precision = 0.05};
    struct search_state found;
    for (double limit = 10; limit < 1000; limit *= 1.37) {
        search_for(&search, limit, &found);
        assert_true(found.holds <= limit && found.fails > limit);
        assert_true(found.fails <= 1.05 * found.holds);
    }
}

/* 1 and 16, then 4 (the root of 16), 8 (of 64), 11 (of 128), 9 (of 88), and 10. */
static void whole_values_are_found_exactly(void **state)
{
    (void)state;
    struct search search = {.from = 1, .to = 16, .precision = 0.001, .whole = true};
    struct search_state found;
    for (int limit = 1; limit < 16; limit++) {
        search_for(&search, limit, &found);
        assert_true(found.holds == limit && found.fails == limit + 1);
    }
    assert_int_equal(search_for(&search, 9, &found), 7);
}

static void ends_decide_at_once(void **state)
{
    (void)state;
    struct search search = {.from = 10, .to = 1000, .precision = 0.05};
    struct search_state found;
    assert_int_equal(search_for(&search, 5, &found), 1);
    assert_false(found.any_holds);
    assert_int_equal(search_for(&search, 5000, &found), 2);
    assert_true(found.holds == 1000 && !found.any_fails);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_found_to_its_precision),
        cmocka_unit_test(whole_values_are_found_exactly),
        cmocka_unit_test(ends_decide_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
