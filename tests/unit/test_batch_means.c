/* SPDX-License-Identifier: MIT */
#include "stats/batch_means.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Tables of Student's t, two-sided: 95 % and 99 %. */
static void student_is_as_in_tables(void **state)
{
    static const struct {
        double confidence, freedom, t;
    } rows[] = {{0.95, 1, 12.706}, {0.95, 2, 4.303}, {0.95, 3, 3.182},  {0.95, 10, 2.228},
                {0.95, 39, 2.023}, {0.99, 5, 4.032}, {0.99, 30, 2.750}, {0.95, 1e9, 1.960}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_true(fabs(stats_student(rows[i].confidence, rows[i].freedom) - rows[i].t) <
                    0.01 * rows[i].t);
}

/* 1, 3, 2, 2 over one each: mean 2, deviations -1, 1, 0, 0, whose squares are 2; of the mean that
 * is 2 / (4 * 3), and t of 3 degrees is 3.182. A series that alternates is worth its count. */
static void the_interval_is_that_of_the_mean(void **state)
{
    static const double x[] = {1, 3, 2, 2}, y[] = {1, 1, 1, 1};
    struct interval interval;
    struct assay_error error = {0};
    double variance;
    bool known;
    (void)state;
    assert_true(stats_batch_ratio(x, y, 4, 0.95, &interval, &variance, &known, &error));
    assert_true(known);
    assert_true(interval.estimate == 2);
    assert_true(fabs(variance - 2.0 / 12) < 1e-12);
    assert_true(fabs(interval.high - (2 + 3.182 * sqrt(2.0 / 12))) < 0.01);
    assert_true(fabs(interval.high + interval.low - 4) < 1e-12);
}

/* Windows weigh as much as is in them. */
static void a_ratio_is_of_the_sums(void **state)
{
    static const double x[] = {10, 0, 20}, y[] = {1, 0, 2};
    struct interval interval;
    struct assay_error error = {0};
    bool known;
    (void)state;
    assert_true(stats_batch_ratio(x, y, 3, 0.95, &interval, NULL, &known, &error));
    assert_true(interval.estimate == 10 && interval.low == 10 && interval.high == 10);
    assert_true(stats_batch_ratio(x, y, 1, 0.95, &interval, NULL, &known, &error));
    assert_false(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_is_as_in_tables),
        cmocka_unit_test(the_interval_is_that_of_the_mean),
        cmocka_unit_test(a_ratio_is_of_the_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
