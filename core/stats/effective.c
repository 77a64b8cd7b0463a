/* SPDX-License-Identifier: MIT */
#include "stats/effective.h"

#include <math.h>
#include <stdlib.h>

#define MOST_VALUES 16384 /* the autocorrelations may cost the square of it */

struct place {
    double value;
    size_t index;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

bool stats_ranks(const double *values, size_t count, double *ranks, struct assay_error *error)
{
    struct place *places = calloc(count > 0 ? count : 1, sizeof *places);
    if (!places)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %zu ranks", count);
    for (size_t i = 0; i < count; i++)
        places[i] = (struct place){.value = values[i], .index = i};
    qsort(places, count, sizeof *places, compare);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && places[end].value == places[first].value;)
            end++;
        double rank = ((double)first + 1 + (double)end) / 2;
        for (size_t i = first; i < end; i++)
            ranks[places[i].index] = rank;
    }
    free(places);
    return true;
}

/* Makes the values deviations from their mean; returns their variance. */
static double centre(double *values, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        values[i] -= mean;
        squares += values[i] * values[i];
    }
    return squares / (double)count;
}

static double autocovariance(const double *centred, size_t count, size_t lag)
{
    double sum = 0;
    for (size_t i = lag; i < count; i++)
        sum += centred[i] * centred[i - lag];
    return sum / (double)count;
}

/* c(0) + 2 sum of c(k): the sums of neighbouring pairs are positive and fall in theory, so the
 * first that is not positive is noise, and one that rises is cut to its predecessor. */
static double long_run_variance(const double *centred, size_t count, double variance)
{
    double total = -variance, last = INFINITY;
    for (size_t lag = 0; lag + 1 < count; lag += 2) {
        double pair = autocovariance(centred, count, lag) + autocovariance(centred, count, lag + 1);
        if (pair <= 0)
            break;
        last = fmin(last, pair);
        total += 2 * last;
    }
    return total;
}

static size_t halve(double *values, size_t count)
{
    for (size_t i = 0; i < count / 2; i++)
        values[i] = (values[2 * i] + values[2 * i + 1]) / 2;
    return count / 2;
}

bool stats_effective_size(const double *values, size_t count, double *effective,
                          struct assay_error *error)
{
    *effective = (double)count;
    if (count < 4)
        return true;
    double *ranks = calloc(count, sizeof *ranks);
    if (!ranks)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %zu ranks", count);
    bool good = stats_ranks(values, count, ranks, error);
    double variance = good ? centre(ranks, count) : 0;
    if (variance > 0) {
        size_t blocks = count;
        while (blocks > MOST_VALUES)
            blocks = halve(ranks, blocks);
        double inner = blocks < count ? centre(ranks, blocks) : variance;
        double of_mean = long_run_variance(ranks, blocks, inner) / (double)blocks;
        /* Not positive: the series alternates more than any length can tell. */
        double size = of_mean > 0 ? variance / of_mean : (double)count;
        *effective = fmax(1, fmin(size, (double)count));
    }
    free(ranks);
    return good;
}
