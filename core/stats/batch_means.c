/* SPDX-License-Identifier: MIT */
#include "stats/batch_means.h"

#include "stats/effective.h"

#include <math.h>
#include <stdlib.h>

/* P(|N| <= z) = confidence, by halving: erfc falls all the way. */
static double normal_quantile(double confidence)
{
    double low = 0, high = 40;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) > 1 - confidence)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double stats_student(double confidence, double freedom)
{
    static const double pi = 3.14159265358979323846;
    double z = normal_quantile(confidence), z2 = z * z, n = freedom;
    if (n < 1.5)
        return tan(pi * confidence / 2);
    if (n < 2.5)
        return sqrt(2 * confidence * confidence / (1 - confidence * confidence));
    /* Fisher & Cornish, The percentile points of distributions having known cumulants,
     * Technometrics 2, 1960. */
    double g1 = (z2 + 1) * z / 4, g2 = ((5 * z2 + 16) * z2 + 3) * z / 96;
    double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384;
    double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160;
    return z + g1 / n + g2 / (n * n) + g3 / (n * n * n) + g4 / (n * n * n * n);
}

bool stats_batch_ratio(const double *x, const double *y, size_t count, double confidence,
                       struct interval *out, double *variance, bool *known,
                       struct assay_error *error)
{
    double sum_x = 0, sum_y = 0, squares = 0, effective = (double)count;
    for (size_t i = 0; i < count; i++) {
        sum_x += x[i];
        sum_y += y[i];
    }
    double ratio = sum_x / sum_y;
    *out = (struct interval){ratio, ratio, ratio};
    *known = count >= 2;
    if (variance)
        *variance = 0;
    if (!*known)
        return true;
    double *deviations = malloc(count * sizeof(*deviations));
    if (!deviations)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu windows", count);
    for (size_t i = 0; i < count; i++) {
        deviations[i] = x[i] - ratio * y[i];
        squares += deviations[i] * deviations[i];
    }
    bool good = stats_effective_size(deviations, count, &effective, error);
    free(deviations);
    if (!good)
        return false;
    double n = (double)count;
    double of_ratio = squares * n / (n - 1) * (n / effective) / (sum_y * sum_y);
    double freedom = effective > 2 ? effective - 1 : 1;
    double half = stats_student(confidence, freedom) * sqrt(of_ratio);
    out->low = ratio - half;
    out->high = ratio + half;
    if (variance)
        *variance = of_ratio;
    return true;
}
