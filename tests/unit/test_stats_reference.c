/* SPDX-License-Identifier: MIT */
/* Results against a second implementation, stats_reference.py, to 1e-12. */
#include "stats/effective.h"
#include "stats/quantile.h"
#include "stats/ratio.h"
#include "stats/resample.h"
#include "stats/trend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct reference_series {
    const char *name;
    const double *values;
    size_t count;
    double effective;
    struct trend trend;
};

struct reference_quantile {
    const double *values;
    size_t count;
    double q, confidence;
    struct interval interval;
    bool covered;
};

struct reference_ranks {
    size_t count;
    double q, confidence;
    size_t low, high; /* from 1; 0: too few samples */
};

struct reference_ratio {
    enum { PAIRED, UNPAIRED, RESAMPLED } kind;
    const double *a;
    size_t a_count;
    const double *b;
    size_t b_count;
    double between;
    struct interval interval;
};

#include "stats_reference.inc"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", found, wanted);
}

static void assert_interval(const struct interval *found, const struct interval *wanted)
{
    assert_near(found->estimate, wanted->estimate);
    assert_near(found->low, wanted->low);
    assert_near(found->high, wanted->high);
}

static void quantile_intervals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(quantiles); i++) {
        const struct reference_quantile *r = &quantiles[i];
        double sorted[200];
        memcpy(sorted, r->values, r->count * sizeof *sorted);
        stats_sort(sorted, r->count);
        struct interval out;
        assert_int_equal(stats_quantile_interval(sorted, r->count, r->q, r->confidence, &out),
                         r->covered);
        assert_interval(&out, &r->interval);
    }
}

static void quantile_ranks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ranks); i++) {
        const struct reference_ranks *r = &ranks[i];
        size_t low, high;
        bool covered = stats_quantile_ranks(r->count, r->q, r->confidence, &low, &high);
        assert_int_equal(covered, r->low > 0);
        assert_int_equal(low + 1, covered ? r->low : 1);
        assert_int_equal(high + 1, covered ? r->high : r->count);
    }
}

static void sizes_and_trends(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(series); i++) {
        const struct reference_series *r = &series[i];
        double effective;
        struct trend trend;
        assert_true(stats_effective_size(r->values, r->count, &effective, NULL));
        assert_near(effective, r->effective);
        assert_true(stats_trend(r->values, r->count, &trend, NULL));
        assert_near(trend.s, r->trend.s);
        assert_near(trend.tau, r->trend.tau);
        assert_near(trend.z, r->trend.z);
        assert_near(trend.p, r->trend.p);
    }
}

static double mean(const double *values, const struct picks *picks)
{
    double sum = 0;
    for (size_t i = 0; i < picks->count; i++)
        sum += values[picks->turns[i]];
    return sum / (double)picks->count;
}

static bool derive_ratio(void *context, const struct picks *groups, size_t group_count,
                         double *value, struct assay_error *error)
{
    (void)group_count, (void)error;
    const struct reference_ratio *r = context;
    *value = mean(r->a, &groups[0]) / mean(r->b, &groups[1]);
    return true;
}

static void ratios_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ratios); i++) {
        struct reference_ratio r = ratios[i];
        struct stats_ratio out = {0};
        size_t turns[] = {r.a_count, r.b_count};
        switch (r.kind) {
        case PAIRED:
            assert_true(stats_ratio_paired(r.a, r.b, r.a_count, 0.95, 0.01, &out, NULL));
            break;
        case UNPAIRED:
            assert_true(stats_ratio_unpaired(r.a, r.a_count, r.b, r.b_count, 0.95, 0.01, r.between,
                                             &out, NULL));
            break;
        case RESAMPLED:
            assert_true(stats_resample(turns, 2, 0.95, 7, derive_ratio, &r, &out.interval, NULL));
            break;
        }
        assert_interval(&out.interval, &r.interval);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantile_intervals),
        cmocka_unit_test(quantile_ranks),
        cmocka_unit_test(sizes_and_trends),
        cmocka_unit_test(ratios_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
