/* SPDX-License-Identifier: MIT */
#include "judge/bound.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct dimension rate = {.bytes = 1, .seconds = -1};

static struct metric interval(double low, double value, double high)
{
    return (struct metric){
        .name = "copy.rate", .dimension = rate, .low = low, .value = value, .high = high, .n = 40};
}

static void judge_case(enum bound_kind kind, double bound_low, double bound_high, double low,
                       double high, enum verdict wanted)
{
    struct bound bound = {.kind = kind, .low = bound_low, .high = bound_high, .dimension = rate};
    struct metric metric = interval(low, (low + high) / 2, high);
    assert_string_equal(verdict_name(bound_judge(&bound, &metric)), verdict_name(wanted));
}

static void whole_intervals_decide(void **state)
{
    (void)state;
    judge_case(BOUND_AT_LEAST, 10, 0, 10, 12, VERDICT_PASS);
    judge_case(BOUND_AT_LEAST, 10, 0, 9, 12, VERDICT_INCONCLUSIVE);
    judge_case(BOUND_AT_LEAST, 10, 0, 9, 10, VERDICT_INCONCLUSIVE);
    judge_case(BOUND_AT_LEAST, 10, 0, 8, 9.9, VERDICT_FAIL);
    judge_case(BOUND_AT_MOST, 0, 10, 8, 10, VERDICT_PASS);
    judge_case(BOUND_AT_MOST, 0, 10, 9, 11, VERDICT_INCONCLUSIVE);
    judge_case(BOUND_AT_MOST, 0, 10, 10, 11, VERDICT_INCONCLUSIVE);
    judge_case(BOUND_AT_MOST, 0, 10, 10.1, 11, VERDICT_FAIL);
    judge_case(BOUND_BETWEEN, 5, 10, 5, 10, VERDICT_PASS);
    judge_case(BOUND_BETWEEN, 5, 10, 4, 6, VERDICT_INCONCLUSIVE);
    judge_case(BOUND_BETWEEN, 5, 10, 1, 20, VERDICT_INCONCLUSIVE);
    judge_case(BOUND_BETWEEN, 5, 10, 1, 4.9, VERDICT_FAIL);
    judge_case(BOUND_NEAR, 5, 10, 11, 12, VERDICT_FAIL);
    judge_case(BOUND_EQUALS, 5, 5, 5, 5, VERDICT_PASS);
    judge_case(BOUND_EQUALS, 5, 5, 4, 6, VERDICT_INCONCLUSIVE);
    judge_case(BOUND_EQUALS, 5, 5, 6, 7, VERDICT_FAIL);
}

static void absent_is_not_judged(void **state)
{
    (void)state;
    struct bound bound = {.kind = BOUND_AT_LEAST, .low = 1, .dimension = rate};
    struct metric metric = {.name = "copy.rate", .dimension = rate, .absent = "skipped: no room"};
    struct text text = {0};
    assert_int_equal(bound_judge(&bound, &metric), VERDICT_NOT_JUDGED);
    bound_add_message(&text, &bound, &metric, VERDICT_NOT_JUDGED);
    assert_string_equal(text_string(&text), "copy.rate not judged: skipped: no room");
    text_free(&text);
}

static void message_case(enum bound_kind kind, const char *limit, enum verdict verdict,
                         const char *wanted)
{
    struct bound bound = {
        .kind = kind, .low = 1.5e9, .high = 1.5e9, .dimension = rate, .text = limit};
    struct metric metric = interval(1.18e9, 1.21e9, 1.23e9);
    struct text text = {0};
    bound_add_message(&text, &bound, &metric, verdict);
    assert_string_equal(text_string(&text), wanted);
    text_free(&text);
}

static void messages_say_what_was_compared(void **state)
{
    (void)state;
#define FIGURE "copy.rate 1.21 GB/s [1.18, 1.23] n=40 "
    message_case(BOUND_AT_LEAST, NULL, VERDICT_FAIL, FIGURE "< 1.5 GB/s");
    message_case(BOUND_AT_LEAST, "1500 MB/s", VERDICT_PASS, FIGURE ">= 1500 MB/s");
    message_case(BOUND_AT_LEAST, NULL, VERDICT_INCONCLUSIVE, FIGURE "overlaps 1.5 GB/s");
    message_case(BOUND_AT_MOST, NULL, VERDICT_FAIL, FIGURE "> 1.5 GB/s");
    message_case(BOUND_AT_MOST, NULL, VERDICT_PASS, FIGURE "<= 1.5 GB/s");
    message_case(BOUND_BETWEEN, NULL, VERDICT_FAIL, FIGURE "outside 1.5 GB/s to 1.5 GB/s");
    message_case(BOUND_NEAR, NULL, VERDICT_PASS, FIGURE "within 1.5 GB/s to 1.5 GB/s");
    message_case(BOUND_EQUALS, NULL, VERDICT_FAIL, FIGURE "differs from 1.5 GB/s");
}

static void series_case(enum bound_kind kind, double tolerance, const struct metric *metrics,
                        size_t count, enum verdict wanted, size_t wanted_step)
{
    size_t step = 99;
    enum verdict verdict = bound_judge_series(kind, metrics, count, tolerance, &step);
    assert_string_equal(verdict_name(verdict), verdict_name(wanted));
    assert_int_equal(step, wanted_step);
}

static void series_are_judged_step_by_step(void **state)
{
    (void)state;
    const struct metric absent = {.name = "copy.rate", .absent = "skipped"};
    const struct metric rising[] = {interval(1, 1, 1), interval(2, 2.5, 3), interval(4, 5, 6)};
    series_case(BOUND_INCREASING, 0, rising, 3, VERDICT_PASS, 2);
    series_case(BOUND_DECREASING, 0, rising, 3, VERDICT_FAIL, 1);
    const struct metric dip[] = {interval(10, 10, 10), interval(9.5, 9.5, 9.5),
                                 interval(20, 20, 20)};
    series_case(BOUND_INCREASING, 0, dip, 3, VERDICT_FAIL, 1);
    series_case(BOUND_INCREASING, 0.1, dip, 3, VERDICT_PASS, 2);
    const struct metric unsure[] = {interval(9, 10, 11), interval(9, 10, 11), interval(20, 20, 20)};
    series_case(BOUND_INCREASING, 0, unsure, 3, VERDICT_INCONCLUSIVE, 1);
    series_case(BOUND_DECREASING, 0, unsure, 2, VERDICT_INCONCLUSIVE, 1);
    const struct metric late[] = {interval(9, 10, 11), interval(9, 10, 11), interval(1, 1, 1)};
    series_case(BOUND_INCREASING, 0, late, 3, VERDICT_FAIL, 2);
    const struct metric holes[] = {interval(1, 1, 1), absent, interval(2, 2, 2)};
    series_case(BOUND_INCREASING, 0, holes, 3, VERDICT_PASS, 2);
    const struct metric negative[] = {interval(-10, -10, -10), interval(-10.5, -10.5, -10.5)};
    series_case(BOUND_INCREASING, 0, negative, 2, VERDICT_FAIL, 1);
    series_case(BOUND_INCREASING, 0.1, negative, 2, VERDICT_PASS, 1);
    series_case(BOUND_DECREASING, 0.1, negative, 2, VERDICT_PASS, 1);
    const struct metric climbing[] = {interval(-10, -10, -10), interval(-9.5, -9.5, -9.5)};
    series_case(BOUND_DECREASING, 0.1, climbing, 2, VERDICT_PASS, 1);
    series_case(BOUND_DECREASING, 0.01, climbing, 2, VERDICT_FAIL, 1);
    const struct metric one[] = {absent, interval(1, 1, 1)};
    series_case(BOUND_INCREASING, 0, one, 2, VERDICT_NOT_JUDGED, 0);
}

static void names_are_those_of_the_record(void **state)
{
    (void)state;
    assert_string_equal(verdict_name(VERDICT_NOT_JUDGED), "not judged");
    assert_string_equal(bound_name(BOUND_AT_LEAST), "at_least");
    assert_string_equal(bound_name(BOUND_DECREASING), "decreasing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_intervals_decide),
        cmocka_unit_test(absent_is_not_judged),
        cmocka_unit_test(messages_say_what_was_compared),
        cmocka_unit_test(series_are_judged_step_by_step),
        cmocka_unit_test(names_are_those_of_the_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
