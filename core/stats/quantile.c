/* SPDX-License-Identifier: MIT */
#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDING 1e-12 /* of a sum of probabilities that should reach a confidence exactly */

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
    return stats_quantile(sorted, count, 0.5);
}

/* Position of the quantile: `index` and the part of the way to the next one. */
static double position(size_t count, double q, size_t *index)
{
    double whole = q * (double)(count - 1);
    if (whole >= (double)(count - 1)) {
        *index = count - 1;
        return 0;
    }
    *index = (size_t)whole;
    return whole - (double)*index;
}

double stats_quantile(const double *sorted, size_t count, double q)
{
    size_t index;
    double part = position(count, q, &index);
    if (part == 0)
        return sorted[index];
    double lower = sorted[index], upper = sorted[index + 1];
    if (lower < 0 && upper > 0) /* the difference might overflow */
        return lower * (1 - part) + upper * part;
    return lower + (upper - lower) * part;
}

/* The logarithm of P(X = k): 2^-n and n! are no doubles for long. */
static double log_term(double n, double q, double k)
{
    int sign; /* lgamma writes a global one */
    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign) +
           k * log(q) + (n - k) * log1p(-q);
}

/* P(X <= k), k under the mode: terms fall to both ends, so the sum ends where they stop to matter.
 */
static double sum_down(double n, double q, double k)
{
    double odds = (1 - q) / q;
    double term = exp(log_term(n, q, k)), sum = 0;
    for (double i = k; i >= 0 && term > sum * 1e-18; i--) {
        sum += term;
        term *= i / (n - i + 1) * odds;
    }
    return sum;
}

double stats_binomial_at_most(size_t count, double q, size_t k)
{
    double n = (double)count;
    if (k >= count)
        return 1;
    if ((double)k < n * q)
        return fmin(sum_down(n, q, (double)k), 1);
    /* The other side, seen from its end: n - X is binomial (n, 1 - q). */
    return fmax(1 - sum_down(n, 1 - q, n - (double)k - 1), 0);
}

/* The largest number of order statistics that may be passed from the low end with an error of at
 * most `error`: the largest r with P(X <= r - 1) <= error. 0 when there is none. Binary search over
 * the side below the quantile. */
static size_t ranks_within(size_t count, double q, double error)
{
    size_t good = 0, bad = (size_t)ceil((double)count * q) + 1;
    if (bad > count + 1)
        bad = count + 1;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        if (stats_binomial_at_most(count, q, middle - 1) <= error + ROUNDING / 2)
            good = middle;
        else
            bad = middle;
    }
    return good;
}

bool stats_quantile_ranks(size_t count, double q, double confidence, size_t *low, size_t *high)
{
    *low = 0;
    *high = count > 0 ? count - 1 : 0;
    if (count == 0 || !(q > 0 && q < 1))
        return false;
    double error = 1 - confidence;
    size_t below = ranks_within(count, q, error / 2);
    size_t above = ranks_within(count, 1 - q, error / 2);
    /* An extreme misses only when all samples lie on one side of the quantile. */
    if (below == 0)
        above = ranks_within(count, 1 - q, error - exp((double)count * log1p(-q)));
    else if (above == 0)
        below = ranks_within(count, q, error - exp((double)count * log(q)));
    if (below == 0 && above == 0)
        return false;
    double missed = below > 0 ? stats_binomial_at_most(count, q, below - 1)
                              : stats_binomial_at_most(count, q, 0);
    missed += above > 0 ? stats_binomial_at_most(count, 1 - q, above - 1)
                        : stats_binomial_at_most(count, 1 - q, 0);
    if (missed > error + ROUNDING)
        return false;
    size_t index;
    double part = position(count, q, &index);
    *low = below > 1 ? below - 1 : 0;
    *high = above > 1 ? count - above : count - 1;
    if (*low > index)
        *low = index;
    if (*high < index + (part > 0))
        *high = index + (part > 0);
    return true;
}

static void fill(const double *sorted, size_t count, double q, size_t low, size_t high,
                 struct interval *out)
{
    *out = (struct interval){
        .estimate = stats_quantile(sorted, count, q),
        .low = sorted[low],
        .high = sorted[high],
    };
}

bool stats_quantile_interval(const double *sorted, size_t count, double q, double confidence,
                             struct interval *out)
{
    size_t low, high;
    bool covered = stats_quantile_ranks(count, q, confidence, &low, &high);
    fill(sorted, count, q, low, high, out);
    return covered;
}

/* Moves the ranks away from the quantile's position; false when one leaves the samples. */
static bool grow(size_t count, double q, double factor, size_t *low, size_t *high)
{
    double centre = q * (double)(count - 1);
    double down = floor(centre - (centre - (double)*low) * factor);
    double up = ceil(centre + ((double)*high - centre) * factor);
    bool inside = down >= 0 && up <= (double)(count - 1);
    *low = down >= 0 ? (size_t)down : 0;
    *high = up <= (double)(count - 1) ? (size_t)up : count - 1;
    return inside;
}

bool stats_quantile_interval_effective(const double *sorted, size_t count, double effective,
                                       double q, double confidence, struct interval *out)
{
    size_t low, high, unused_low, unused_high;
    bool covered = stats_quantile_ranks(count, q, confidence, &low, &high);
    if (effective < (double)count) {
        size_t whole = effective >= 1 ? (size_t)effective : 0;
        covered = grow(count, q, sqrt((double)count / fmax(effective, 1)), &low, &high) &&
                  stats_quantile_ranks(whole, q, confidence, &unused_low, &unused_high) && covered;
    }
    fill(sorted, count, q, low, high, out);
    return covered;
}

bool stats_median_interval(const double *sorted, size_t count, double confidence,
                           struct interval *out)
{
    return stats_quantile_interval(sorted, count, 0.5, confidence, out);
}
