/* SPDX-License-Identifier: MIT */
#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof *values, compare);
}

double stats_median(const double *sorted, size_t count)
{
    double upper = sorted[count / 2];
    if (count % 2 == 1)
        return upper;
    double lower = sorted[count / 2 - 1];
    return lower + (upper - lower) / 2;
}

/* The interval [x(rank), x(n + 1 - rank)] misses the median when fewer than `rank` samples lie on
 * one side of it: 2 P(Binomial(n, 1/2) <= rank - 1). Finds the largest rank whose coverage still
 * reaches `confidence`; 0 when none does. Terms are taken as logarithms: 2^-n underflows. */
static size_t largest_rank(size_t count, double confidence)
{
    double n = (double)count;
    double log_term = -n * log(2); /* of P(X = k), k = 0 first */
    double below = 0;
    size_t rank = 0;
    for (size_t k = 0; k < (count + 1) / 2; k++) {
        below += exp(log_term);
        if (1 - 2 * below < confidence - 1e-12) /* the sum is rounded */
            break;
        rank = k + 1;
        log_term += log((n - (double)k) / ((double)k + 1));
    }
    return rank;
}

bool stats_median_interval(const double *sorted, size_t count, double confidence,
                           struct interval *out)
{
    size_t rank = largest_rank(count, confidence);
    size_t first = rank > 0 ? rank - 1 : 0;
    *out = (struct interval){
        .estimate = stats_median(sorted, count),
        .low = sorted[first],
        .high = sorted[count - 1 - first],
    };
    return rank > 0;
}
