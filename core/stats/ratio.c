/* SPDX-License-Identifier: MIT */
#include "stats/ratio.h"

#include "stats/effective.h"
#include "stats/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SHARE 0.5
#define TREND_P 0.05

const char *stats_answer_name(enum stats_answer answer)
{
    switch (answer) {
    case STATS_UNDECIDED:
        break;
    case STATS_SAME:
        return "same";
    case STATS_FASTER:
        return "faster";
    case STATS_SLOWER:
        return "slower";
    }
    return "undecided";
}

const char *stats_doubt_text(enum stats_doubt doubt)
{
    switch (doubt) {
    case STATS_NO_DOUBT:
        break;
    case STATS_WIDE:
        return "the interval reaches over the margin";
    case STATS_FEW:
        return "too few samples";
    case STATS_CORRELATED:
        return "neighbouring samples are strongly correlated";
    case STATS_DRIFTING:
        return "the samples drift";
    case STATS_SHORT:
        return "runs of under 64 samples do not show how much runs differ: "
               "give a longer budget, or what 'assay noise' says as --noise";
    }
    return "";
}

enum stats_answer stats_ratio_answer(const struct interval *ratio, double margin)
{
    if (ratio->high < 1 - margin)
        return STATS_FASTER;
    if (ratio->low > 1 + margin)
        return STATS_SLOWER;
    return ratio->low >= 1 - margin && ratio->high <= 1 + margin ? STATS_SAME : STATS_UNDECIDED;
}

static bool check_times(const double *values, size_t count, const char *which,
                        struct assay_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] > 0 && isfinite(values[i])))
            return assay_fail(error, ASSAY_INVALID,
                              "sample %zu of the %s is not a positive finite number", i + 1, which);
    if (count == 0)
        return assay_fail(error, ASSAY_INVALID, "the %s has no samples", which);
    return true;
}

static void answer(struct stats_ratio *out, double margin, enum stats_doubt doubt)
{
    out->answer = doubt == STATS_NO_DOUBT ? stats_ratio_answer(&out->interval, margin)
                                          : STATS_UNDECIDED;
    out->doubt = doubt == STATS_NO_DOUBT && out->answer == STATS_UNDECIDED ? STATS_WIDE : doubt;
}

bool stats_ratio_paired(const double *values, const double *reference, size_t count,
                        double confidence, double margin, struct stats_ratio *out,
                        struct assay_error *error)
{
    *out = (struct stats_ratio){0};
    if (!check_times(values, count, "series", error) ||
        !check_times(reference, count, "reference", error))
        return false;
    double *ratios = calloc(count, sizeof *ratios);
    if (!ratios)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %zu ratios", count);
    for (size_t i = 0; i < count; i++)
        ratios[i] = values[i] / reference[i];
    double effective;
    bool good = stats_effective_size(ratios, count, &effective, error);
    if (good) {
        out->effective_share = effective / (double)count;
        stats_sort(ratios, count);
        bool covered = stats_median_interval(ratios, count, confidence, &out->interval);
        answer(out, margin, covered ? STATS_NO_DOUBT : STATS_FEW);
    }
    free(ratios);
    return good;
}

struct series {
    struct interval median;
    double share; /* effective size over count */
    enum stats_doubt doubt;
};

static bool summarize(const double *values, size_t count, double confidence, struct series *out,
                      struct assay_error *error)
{
    double effective;
    struct trend trend;
    if (!stats_effective_size(values, count, &effective, error) ||
        !stats_trend(values, count, &trend, error))
        return false;
    double *sorted = calloc(count, sizeof *sorted);
    if (!sorted)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %zu samples", count);
    memcpy(sorted, values, count * sizeof *sorted);
    stats_sort(sorted, count);
    bool covered = stats_quantile_interval_effective(sorted, count, effective, 0.5, confidence,
                                                     &out->median);
    free(sorted);
    out->share = effective / (double)count;
    out->doubt = trend.p < TREND_P          ? STATS_DRIFTING
                 : out->share < LEAST_SHARE ? STATS_CORRELATED
                 : !covered                 ? STATS_FEW
                                            : STATS_NO_DOUBT;
    return true;
}

static struct interval widened(double estimate, double down, double up, double spread)
{
    return (struct interval){
        .estimate = estimate,
        .low = estimate * exp(-hypot(down, spread)),
        .high = estimate * exp(hypot(up, spread)),
    };
}

bool stats_ratio_unpaired(const double *values, size_t count, const double *reference,
                          size_t reference_count, double confidence, double margin, double between,
                          struct stats_ratio *out, struct assay_error *error)
{
    struct series a, b;
    *out = (struct stats_ratio){0};
    if (!check_times(values, count, "series", error) ||
        !check_times(reference, reference_count, "reference", error) ||
        !summarize(values, count, confidence, &a, error) ||
        !summarize(reference, reference_count, confidence, &b, error))
        return false;
    double estimate = a.median.estimate / b.median.estimate;
    double down = hypot(log(a.median.estimate / a.median.low),
                        log(b.median.high / b.median.estimate));
    double up = hypot(log(a.median.high / a.median.estimate),
                      log(b.median.estimate / b.median.low));
    enum stats_doubt doubt = a.doubt != STATS_NO_DOUBT ? a.doubt : b.doubt;
    bool is_short = between <= 0 && (count < RATIO_SHORT || reference_count < RATIO_SHORT);
    out->effective_share = fmin(a.share, b.share);
    out->interval = widened(estimate, down, up, between > RATIO_NO_SPREAD ? between : 0);
    answer(out, margin, doubt);
    if (is_short) {
        double shorter = (double)(count < reference_count ? count : reference_count);
        double spread = fmin(RATIO_SHORT_SPREAD * RATIO_SHORT / shorter, RATIO_SHORT_MOST);
        bool was_decided = out->answer != STATS_UNDECIDED;
        out->interval = widened(estimate, down, up, spread);
        answer(out, margin, doubt);
        if (was_decided && out->answer == STATS_UNDECIDED)
            out->doubt = STATS_SHORT;
    }
    return true;
}
