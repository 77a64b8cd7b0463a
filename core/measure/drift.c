/* SPDX-License-Identifier: MIT */
#include "measure/drift.h"

#include "base/units.h"
#include "stats/effective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double median(const double *values, size_t count, double *scratch)
{
    memcpy(scratch, values, count * sizeof(*scratch));
    stats_sort(scratch, count);
    return stats_median(scratch, count);
}

bool drift_find(const double *values, size_t count, struct drift *drift, struct assay_error *error)
{
    *drift = (struct drift){0};
    if (count < DRIFT_LEAST)
        return true;
    if (!stats_trend_dependent(values, count, &drift->trend, error))
        return false;
    size_t third = count / 3;
    double *scratch = calloc(third, sizeof(*scratch));
    if (!scratch)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu samples", count);
    double first = median(values, third, scratch);
    double last = median(values + count - third, third, scratch);
    free(scratch);
    drift->known = true;
    drift->change = first > 0 ? last / first - 1 : 0;
    drift->drifting = drift->trend.p < DRIFT_P && fabs(drift->change) >= DRIFT_CHANGE;
    return true;
}

/* What each third's median leaves: how much of it is independent. */
static bool effective_share(const double *values, size_t count, double *scratch, double *share,
                            struct assay_error *error)
{
    size_t third = count / 3;
    double effective;
    double *rest = calloc(count, sizeof(*rest));
    if (!rest)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu samples", count);
    for (size_t part = 0; part < 3; part++) {
        size_t first = part * third, end = part == 2 ? count : first + third;
        double middle = median(values + first, end - first, scratch);
        for (size_t i = first; i < end; i++)
            rest[i] = values[i] - middle;
    }
    bool good = stats_effective_size(rest, count, &effective, error);
    free(rest);
    *share = good ? effective / (double)count : 0;
    return good;
}

static void third_interval(const double *values, size_t third, double share, double confidence,
                           double *scratch, struct interval *out)
{
    double effective = share * (double)third > 1 ? share * (double)third : 1;
    memcpy(scratch, values, third * sizeof(*scratch));
    stats_sort(scratch, third);
    /* Too few for the confidence: the extremes. */
    stats_quantile_interval_effective(scratch, third, effective, 0.5, confidence, out);
}

bool drift_of_rate(const double *periods, size_t count, double confidence, bool *known,
                   struct interval *out, struct assay_error *error)
{
    struct interval first, last;
    size_t third = count / 3;
    double share = 0;
    *out = (struct interval){0};
    *known = count >= DRIFT_LEAST;
    for (size_t i = 0; i < count; i++)
        *known = *known && periods[i] > 0;
    if (!*known)
        return true;
    double *scratch = calloc(count, sizeof(*scratch));
    if (!scratch)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu samples", count);
    bool good = effective_share(periods, count, scratch, &share, error);
    if (good) {
        third_interval(periods, third, share, confidence, scratch, &first);
        third_interval(periods + count - third, third, share, confidence, scratch, &last);
        double ratio = first.estimate / last.estimate;
        double down = hypot(log(first.estimate / first.low), log(last.high / last.estimate));
        double up = hypot(log(first.high / first.estimate), log(last.estimate / last.low));
        *out = (struct interval){ratio - 1, ratio * exp(-down) - 1, ratio * exp(up) - 1};
    }
    free(scratch);
    return good;
}

const char *drift_verdict(const struct interval *change)
{
    if (change->low >= -DRIFT_CHANGE && change->high <= DRIFT_CHANGE)
        return "steady";
    return change->high < -DRIFT_CHANGE ? "slower"
           : change->low > DRIFT_CHANGE ? "faster"
                                        : "undecided";
}

void drift_add(const struct drift *drift, struct text *out)
{
    if (!drift->known) {
        text_add(out, "null");
        return;
    }
    text_add(out, "{\"tau\":");
    number_add(out, drift->trend.tau);
    text_add(out, ",\"z\":");
    number_add(out, drift->trend.z);
    text_add(out, ",\"p\":");
    number_add(out, drift->trend.p);
    text_add(out, ",\"change\":");
    number_add(out, drift->change);
    text_addf(out, ",\"drifting\":%s}", drift->drifting ? "true" : "false");
}

void drift_add_note(const struct drift *drift, const char *figure, size_t count, struct text *out)
{
    long long tenths = llround(fabs(drift->change) * 1000);
    text_addf(out,
              "drift: %s %s by %lld.%lld %% from the first third of the %zu samples to the last",
              figure, drift->change > 0 ? "rose" : "fell", tenths / 10, tenths % 10, count);
}
