/* SPDX-License-Identifier: MIT */
#include "measure/drift.h"

#include "base/units.h"
#include "stats/quantile.h"

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

void drift_add_note(const struct drift *drift, size_t count, struct text *out)
{
    long long tenths = llround(fabs(drift->change) * 1000);
    text_addf(out,
              "drift: time %s by %lld.%lld %% from the first third of the %zu samples to the last",
              drift->change > 0 ? "rose" : "fell", tenths / 10, tenths % 10, count);
}
