/* SPDX-License-Identifier: MIT */
#include "stats/noise.h"

#include "stats/effective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STUDENT_5 2.570581835636314 /* 97.5 % of Student's t with 5 degrees of freedom */

static double width_of(const struct interval *interval)
{
    return fmax(log(interval->high / interval->estimate), log(interval->estimate / interval->low));
}

static void conclude(double width, double distance, double margin, size_t count, struct noise *out)
{
    out->width = width;
    out->distance = distance;
    out->smallest = expm1(width + fmax(width, distance)) + margin;
    out->count = count;
}

bool noise_paired(const double *values, const double *reference, size_t count, double margin,
                  struct noise *out, struct stats_ratio *ratio, struct assay_error *error)
{
    *out = (struct noise){0};
    if (!stats_ratio_paired(values, reference, count, NOISE_CONFIDENCE, margin, ratio, error) ||
        ratio->doubt == STATS_FEW)
        return false;
    double dependence = sqrt(1 / fmin(ratio->effective_share, 1));
    conclude(width_of(&ratio->interval) * dependence, fabs(log(ratio->interval.estimate)), margin,
             count, out);
    return true;
}

void noise_pool(const struct noise *pairs, size_t count, double margin, struct noise *out)
{
    double squares = 0, distance = 0;
    size_t turns = 0;
    for (size_t i = 0; i < count; i++) {
        squares += pairs[i].width * pairs[i].width / (double)count;
        distance = fmax(distance, pairs[i].distance);
        turns += pairs[i].count;
    }
    conclude(sqrt(squares / (double)count), distance, margin, turns, out);
}

/* The median of a run and how far its interval reaches, both in the logarithm. */
static bool run_median(const struct noise_run *run, double *median, double *width,
                       struct assay_error *error)
{
    struct interval interval;
    double effective;
    *width = *median = 0;
    if (run->count == 0)
        return assay_fail(error, ASSAY_INVALID, "a run has no samples");
    if (!stats_effective_size(run->values, run->count, &effective, error))
        return false;
    double *sorted = malloc(run->count * sizeof(*sorted));
    if (!sorted)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %zu samples", run->count);
    memcpy(sorted, run->values, run->count * sizeof(*sorted));
    stats_sort(sorted, run->count);
    /* Too few for an interval: the extremes are what is known. */
    stats_quantile_interval_effective(sorted, run->count, effective, 0.5, NOISE_CONFIDENCE,
                                      &interval);
    bool positive = sorted[0] > 0;
    free(sorted);
    if (!positive)
        return assay_fail(error, ASSAY_INVALID, "a sample is not a time over 0");
    *median = log(interval.estimate);
    *width = width_of(&interval);
    return true;
}

bool noise_unpaired(const struct noise_run runs[NOISE_RUNS], double margin, struct noise *out,
                    double *between, double *within, struct assay_error *error)
{
    double medians[NOISE_RUNS], mean = 0, squares = 0, widths = 0;
    *out = (struct noise){0};
    for (size_t i = 0; i < NOISE_RUNS; i++) {
        double width = 0;
        if (!run_median(&runs[i], &medians[i], &width, error))
            return false;
        mean += medians[i] / NOISE_RUNS;
        widths += width * width / NOISE_RUNS;
    }
    for (size_t i = 0; i < NOISE_RUNS; i++)
        squares += (medians[i] - mean) * (medians[i] - mean) / (NOISE_RUNS - 1);
    *between = STUDENT_5 * sqrt(2 * squares);
    *within = sqrt(widths);
    conclude(hypot(*between, sqrt(2) * *within), 0, margin, NOISE_RUNS, out);
    return true;
}
