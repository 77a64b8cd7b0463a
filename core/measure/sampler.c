/* SPDX-License-Identifier: MIT */
#include "measure/sampler.h"

#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 3 /* warm-up samples whose median is compared with that of the ones before */
#define SETTLED 0.05
#define SAMPLES_LEAST 6

struct sampler {
    struct measure_budget budget; /* defaults resolved */
    int64_t recent[2 * WINDOW];   /* the last warm-up samples, oldest first */
    unsigned warmup_count;
    bool constant, settled, warm;
    int64_t warmup_begin_ns;

    double *values, *sorted; /* end-to-end times in ns, in order of arrival; scratch */
    size_t count, capacity, next_look;
    int64_t begin_ns;
    const char *stop;  /* why it ended; NULL while more are wanted */
    double half_width; /* relative, at the last look; -1: not known */
};

static struct measure_budget budget_resolve(const struct measure_budget *given)
{
    struct measure_budget budget = *given;
    if (!(budget.target > 0))
        budget.target = 0.02;
    if (!(budget.confidence > 0))
        budget.confidence = 0.95;
    if (budget.budget_ns <= 0)
        budget.budget_ns = INT64_C(1000000000);
    if (budget.warmup_ns <= 0)
        budget.warmup_ns = INT64_C(1000000000);
    if (budget.min_samples < SAMPLES_LEAST)
        budget.min_samples = SAMPLES_LEAST;
    if (budget.max_samples == 0)
        budget.max_samples = 10000;
    if (budget.max_samples < budget.min_samples)
        budget.max_samples = budget.min_samples;
    return budget;
}

struct sampler *sampler_create(const struct measure_budget *budget, struct assay_error *error)
{
    struct sampler *sampler = calloc(1, sizeof(*sampler));
    if (!sampler) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a sampler");
        return NULL;
    }
    sampler->budget = budget_resolve(budget);
    sampler->constant = true;
    sampler->next_look = sampler->budget.min_samples;
    sampler->half_width = -1;
    return sampler;
}

void sampler_destroy(struct sampler **sampler)
{
    if (!*sampler)
        return;
    free((*sampler)->values);
    free((*sampler)->sorted);
    free(*sampler);
    *sampler = NULL;
}

static int64_t median_of_three(const int64_t *v)
{
    int64_t low = v[0] < v[1] ? v[0] : v[1];
    int64_t high = v[0] < v[1] ? v[1] : v[0];
    return v[2] < low ? low : v[2] > high ? high : v[2];
}

bool sampler_wants_warmup(const struct sampler *sampler)
{
    return !sampler->warm;
}

void sampler_warmup(struct sampler *sampler, int64_t end_to_end_ns, int64_t now_ns)
{
    unsigned n = sampler->warmup_count++;
    if (n == 0)
        sampler->warmup_begin_ns = now_ns - end_to_end_ns;
    else if (end_to_end_ns != sampler->recent[2 * WINDOW - 1])
        sampler->constant = false;
    memmove(sampler->recent, sampler->recent + 1, sizeof(sampler->recent[0]) * (2 * WINDOW - 1));
    sampler->recent[2 * WINDOW - 1] = end_to_end_ns;
    if (n + 1 < 2)
        return;
    if (sampler->constant) {
        sampler->settled = true;
    } else if (n + 1 >= 2 * WINDOW) {
        double before = (double)median_of_three(sampler->recent);
        double last = (double)median_of_three(sampler->recent + WINDOW);
        sampler->settled = fabs(last - before) < SETTLED * before;
    }
    sampler->warm = sampler->settled ||
                    now_ns - sampler->warmup_begin_ns >= sampler->budget.warmup_ns;
}

bool sampler_wants_more(const struct sampler *sampler)
{
    return !sampler->stop;
}

static bool sampler_grow(struct sampler *sampler, struct assay_error *error)
{
    size_t capacity = sampler->capacity ? 2 * sampler->capacity : 64;
    double *values = realloc(sampler->values, capacity * sizeof(double));
    if (values)
        sampler->values = values;
    double *sorted = realloc(sampler->sorted, capacity * sizeof(double));
    if (sorted)
        sampler->sorted = sorted;
    if (!values || !sorted)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu samples",
                          capacity);
    sampler->capacity = capacity;
    return true;
}

/* Whether the interval of the median is as narrow as wanted. */
static bool sampler_look(struct sampler *sampler)
{
    memcpy(sampler->sorted, sampler->values, sampler->count * sizeof(double));
    stats_sort(sampler->sorted, sampler->count);
    struct interval interval;
    bool covered = stats_median_interval(sampler->sorted, sampler->count,
                                         sampler->budget.confidence, &interval);
    double half = (interval.high - interval.low) / 2;
    if (half == 0)
        sampler->half_width = 0;
    else
        sampler->half_width = interval.estimate > 0 ? half / interval.estimate : -1;
    return covered && sampler->half_width >= 0 && sampler->half_width <= sampler->budget.target;
}

bool sampler_add(struct sampler *sampler, int64_t end_to_end_ns, int64_t now_ns,
                 struct assay_error *error)
{
    if (sampler->count == sampler->capacity && !sampler_grow(sampler, error))
        return false;
    if (sampler->count == 0)
        sampler->begin_ns = now_ns - end_to_end_ns;
    sampler->values[sampler->count++] = (double)end_to_end_ns;
    if (sampler->count < sampler->budget.min_samples)
        return true;
    if (sampler->count == sampler->next_look) {
        sampler->next_look *= 2;
        if (sampler_look(sampler)) {
            sampler->stop = "target";
            return true;
        }
    }
    if (sampler->count >= sampler->budget.max_samples)
        sampler->stop = "max_samples";
    else if (now_ns - sampler->begin_ns >= sampler->budget.budget_ns)
        sampler->stop = "budget";
    if (sampler->stop)
        sampler_look(sampler);
    return true;
}

void sampler_add_record(const struct sampler *sampler, const char *clock_name, struct text *out)
{
    text_addf(out, "{\"clock\":\"%s\",\"warmup\":%u,\"settled\":%s,\"n\":%zu,\"stop\":\"%s\"",
              clock_name, sampler->warmup_count, sampler->settled ? "true" : "false",
              sampler->count, sampler->stop ? sampler->stop : "error");
    text_add(out, ",\"target\":");
    number_add(out, sampler->budget.target);
    text_add(out, ",\"half_width\":");
    if (sampler->half_width < 0)
        text_add(out, "null");
    else
        number_add(out, sampler->half_width);
    text_addf(out, ",\"budget_ns\":%lld}", (long long)sampler->budget.budget_ns);
}
