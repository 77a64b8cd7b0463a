/* SPDX-License-Identifier: MIT */
#include "stats/resample.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>

struct resampling {
    const size_t *turns;
    size_t group_count;
    stats_derive *derive;
    void *context;
    struct picks *groups;
    size_t **indices; /* owned; groups[g].turns */
    double *values;   /* of the replicates */
    double estimate;
};

static void resampling_free(struct resampling *r)
{
    for (size_t g = 0; r->indices && g < r->group_count; g++)
        free(r->indices[g]);
    free(r->indices);
    free(r->groups);
    free(r->values);
}

static bool resampling_allocate(struct resampling *r, struct assay_error *error)
{
    r->groups = calloc(r->group_count, sizeof *r->groups);
    r->indices = calloc(r->group_count, sizeof *r->indices);
    r->values = calloc(RESAMPLE_REPLICATES, sizeof *r->values);
    bool good = r->groups && r->indices && r->values;
    for (size_t g = 0; good && g < r->group_count; g++) {
        r->indices[g] = calloc(r->turns[g], sizeof **r->indices);
        r->groups[g] = (struct picks){.turns = r->indices[g], .count = r->turns[g]};
        good = r->indices[g];
    }
    return good || assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for resampling");
}

static bool check_turns(const size_t *turns, size_t group_count, double confidence,
                        struct assay_error *error)
{
    size_t low, high;
    if (group_count == 0)
        return assay_fail(error, ASSAY_INVALID, "nothing to resample");
    for (size_t g = 0; g < group_count; g++)
        if (!stats_quantile_ranks(turns[g], 0.5, confidence, &low, &high))
            return assay_fail(error, ASSAY_INVALID,
                              "%zu turns are too few for an interval of %g %%; take more samples",
                              turns[g], confidence * 100);
    return true;
}

static bool derive_value(struct resampling *r, double *value, struct assay_error *error)
{
    if (!r->derive(r->context, r->groups, r->group_count, value, error))
        return false;
    return isfinite(*value) ||
           assay_fail(error, ASSAY_INVALID, "the derived value is not a finite number");
}

static bool derive_estimate(struct resampling *r, struct assay_error *error)
{
    for (size_t g = 0; g < r->group_count; g++)
        for (size_t i = 0; i < r->turns[g]; i++)
            r->indices[g][i] = i;
    return derive_value(r, &r->estimate, error);
}

static void pick(struct resampling *r, uint64_t seed, size_t replicate)
{
    for (size_t g = 0; g < r->group_count; g++) {
        uint64_t stream = random_child(seed, g);
        size_t count = r->turns[g] < RESAMPLE_MOST_TURNS ? r->turns[g] : RESAMPLE_MOST_TURNS;
        r->groups[g].count = count;
        for (size_t i = 0; i < count; i++) {
            uint64_t bits = random_at(stream, (uint64_t)replicate * count + i);
            size_t turn = (size_t)((double)(bits >> 11) * 0x1p-53 * (double)r->turns[g]);
            r->indices[g][i] = turn < r->turns[g] ? turn : r->turns[g] - 1;
        }
    }
}

static double shrinkage(const struct resampling *r)
{
    size_t smallest = SIZE_MAX;
    for (size_t g = 0; g < r->group_count; g++)
        if (r->turns[g] < smallest)
            smallest = r->turns[g];
    return smallest > RESAMPLE_MOST_TURNS ? sqrt((double)RESAMPLE_MOST_TURNS / (double)smallest)
                                          : 1;
}

/* The ends of the percentile interval. */
static void find_ends(struct resampling *r, double confidence, struct interval *out)
{
    stats_sort(r->values, RESAMPLE_REPLICATES);
    double rank = floor((RESAMPLE_REPLICATES + 1) * (1 - confidence) / 2 + 1e-9);
    size_t low = rank >= 1 ? (size_t)rank - 1 : 0;
    if (low > RESAMPLE_REPLICATES / 2)
        low = RESAMPLE_REPLICATES / 2;
    double factor = shrinkage(r), estimate = r->estimate;
    double down = estimate - r->values[low];
    double up = r->values[RESAMPLE_REPLICATES - 1 - low] - estimate;
    *out = (struct interval){
        .estimate = estimate,
        .low = estimate - fmax(down, 0) * factor,
        .high = estimate + fmax(up, 0) * factor,
    };
}

bool stats_resample(const size_t *turns, size_t group_count, double confidence, uint64_t seed,
                    stats_derive *derive, void *context, struct interval *out,
                    struct assay_error *error)
{
    if (!check_turns(turns, group_count, confidence, error))
        return false;
    struct resampling r = {
        .turns = turns, .group_count = group_count, .derive = derive, .context = context};
    bool good = resampling_allocate(&r, error) && derive_estimate(&r, error);
    for (size_t i = 0; good && i < RESAMPLE_REPLICATES; i++) {
        pick(&r, seed, i);
        good = derive_value(&r, &r.values[i], error);
    }
    if (good)
        find_ends(&r, confidence, out);
    resampling_free(&r);
    return good;
}
