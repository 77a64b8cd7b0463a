/* SPDX-License-Identifier: MIT */
/* The interval of what the sampler stops with against the true median: looking at the interval and
 * stopping when it is narrow must not cost much of its confidence. The rates are printed. */
#include "measure/sampler.h"
#include "noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define TRIALS 2000
#define SCALE 1e6 /* ns */

static double draw_normal(struct noise *noise)
{
    return 1 + 0.1 * noise_normal(noise);
}

static double draw_exponential(struct noise *noise)
{
    return -log(noise_uniform(noise));
}

static double draw_log_normal(struct noise *noise)
{
    return exp(noise_normal(noise));
}

/* Twice as long in three of ten: the shorter is the median, and an interval that holds it covers.
 */
static double draw_two_point(struct noise *noise)
{
    return noise_uniform(noise) < 0.3 ? 2 : 1;
}

static const struct distribution {
    const char *name;
    double (*draw)(struct noise *noise);
    double median;
} distributions[] = {
    {"normal", draw_normal, 1},
    {"exponential", draw_exponential, 0.69314718055994531},
    {"log-normal", draw_log_normal, 1},
    {"two-point", draw_two_point, 1},
};

static int64_t next_time(const struct distribution *from, struct noise *noise)
{
    return (int64_t)(from->draw(noise) * SCALE + 0.5);
}

/* Warms up and samples as measure_case does; whether the interval covers. *count: the samples. */
static bool trial(const struct distribution *from, const struct measure_budget *budget,
                  struct noise *noise, size_t *count)
{
    static double values[10000];
    struct assay_error error = {0};
    struct sampler *sampler = sampler_create(budget, 1, &error);
    int64_t now = 0;
    assert_non_null(sampler);
    while (sampler_wants_warmup(sampler)) {
        int64_t time = next_time(from, noise);
        now += time;
        sampler_warmup(sampler, &time, now);
    }
    *count = 0;
    while (sampler_wants_more(sampler)) {
        int64_t time = next_time(from, noise);
        now += time;
        values[(*count)++] = (double)time;
        assert_true(sampler_add(sampler, &time, now, &error));
    }
    struct interval interval;
    stats_sort(values, *count);
    assert_true(stats_median_interval(values, *count, sampler_confidence(sampler), &interval));
    sampler_destroy(&sampler);
    /* Times are whole nanoseconds. */
    return interval.low - 0.5 <= from->median * SCALE &&
           from->median * SCALE <= interval.high + 0.5;
}

static void stopping_keeps_the_coverage(void **state)
{
    (void)state;
    /* As wanted by default: about 1,000 samples where the target is not reached; and a target that
     * is reached by chance after any number of samples, where stopping could pick lucky ones. */
    static const struct measure_budget budgets[] = {
        {0}, {.target = 0.05}, {.target = 0.1}, {.target = 0.3}, {.budget_ns = 20000000}};
    struct noise noise;
    noise_start(&noise, NOISE_QUIET, 3);
    for (size_t d = 0; d < sizeof(distributions) / sizeof(distributions[0]); d++)
        for (size_t b = 0; b < sizeof(budgets) / sizeof(budgets[0]); b++) {
            unsigned covered = 0;
            size_t count, all = 0;
            for (int i = 0; i < TRIALS; i++, all += count)
                covered += trial(&distributions[d], &budgets[b], &noise, &count);
            printf("%-11s target %4.2f, budget %4.0f ms: %5.1f samples, %.1f %% covered\n",
                   distributions[d].name, budgets[b].target > 0 ? budgets[b].target : 0.02,
                   budgets[b].budget_ns > 0 ? (double)budgets[b].budget_ns / 1e6 : 1000.0,
                   (double)all / TRIALS, covered * 100.0 / TRIALS);
            assert_true(covered >= 0.92 * TRIALS);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stopping_keeps_the_coverage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
