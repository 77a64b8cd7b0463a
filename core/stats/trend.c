/* SPDX-License-Identifier: MIT */
#include "stats/trend.h"

#include "stats/effective.h"
#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Merges the sorted halves of values[0, count), cut at `middle`; returns how many pairs of one
 * from each fell. */
static double merge(double *values, size_t middle, size_t count, double *scratch)
{
    double fell = 0;
    size_t left = 0, right = middle;
    for (size_t i = 0; i < count; i++)
        if (right == count || (left < middle && values[left] <= values[right])) {
            scratch[i] = values[left++];
        } else {
            fell += (double)(middle - left);
            scratch[i] = values[right++];
        }
    memcpy(values, scratch, count * sizeof *values);
    return fell;
}

/* Sorts; returns the number of pairs that fell. */
static double count_falls(double *values, size_t count, double *scratch)
{
    double falls = 0;
    for (size_t width = 1; width < count; width *= 2)
        for (size_t first = 0; first + width < count; first += 2 * width) {
            size_t both = count - first < 2 * width ? count - first : 2 * width;
            falls += merge(values + first, width, both, scratch);
        }
    return falls;
}

struct ties {
    double pairs;    /* alike */
    double variance; /* sum of t (t - 1) (2 t + 5) */
};

static struct ties count_ties(const double *sorted, size_t count)
{
    struct ties ties = {0};
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && sorted[end] == sorted[first];)
            end++;
        double t = (double)(end - first);
        ties.pairs += t * (t - 1) / 2;
        ties.variance += t * (t - 1) * (2 * t + 5);
    }
    return ties;
}

bool stats_trend(const double *values, size_t count, struct trend *out, struct assay_error *error)
{
    *out = (struct trend){.p = 1};
    if (count < 3)
        return true;
    double *sorted = calloc(count, 2 * sizeof *sorted);
    if (!sorted)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %zu samples", count);
    memcpy(sorted, values, count * sizeof *sorted);
    double falls = count_falls(sorted, count, sorted + count);
    struct ties ties = count_ties(sorted, count);
    free(sorted);
    double n = (double)count, pairs = n * (n - 1) / 2;
    double variance = (n * (n - 1) * (2 * n + 5) - ties.variance) / 18;
    if (variance <= 0)
        return true;
    double s = pairs - ties.pairs - 2 * falls;
    double corrected = s > 0 ? s - 1 : s < 0 ? s + 1 : 0;
    out->s = s;
    out->tau = s / sqrt(pairs * (pairs - ties.pairs));
    out->z = corrected / sqrt(variance);
    out->p = erfc(fabs(out->z) / sqrt(2));
    return true;
}

/* Takes the median of its third off each value; `scratch` holds as many. */
static void level_thirds(double *values, size_t count, double *scratch)
{
    for (size_t third = 0; third < 3; third++) {
        size_t first = third * count / 3, end = (third + 1) * count / 3;
        memcpy(scratch, values + first, (end - first) * sizeof *scratch);
        stats_sort(scratch, end - first);
        double median = stats_median(scratch, end - first);
        for (size_t i = first; i < end; i++)
            values[i] -= median;
    }
}

bool stats_trend_dependent(const double *values, size_t count, struct trend *out,
                           struct assay_error *error)
{
    if (!stats_trend(values, count, out, error))
        return false;
    if (count < 3)
        return true;
    double effective, *left = calloc(count, 2 * sizeof *left);
    if (!left)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %zu samples", count);
    memcpy(left, values, count * sizeof *left);
    level_thirds(left, count, left + count);
    bool good = stats_effective_size(left, count, &effective, error);
    free(left);
    if (good) {
        out->z *= sqrt(effective / (double)count);
        out->p = erfc(fabs(out->z) / sqrt(2));
    }
    return good;
}
