/* SPDX-License-Identifier: MIT */
#include "measure/sampler.h"

#include "stats/looks.h"
#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 3 /* warm-up samples whose median is compared with that of the ones before */
#define SETTLED 0.05
#define SAMPLES_LEAST 6
#define CONFIDENCE 0.95
/* A share of the budget, so that the last look is at its end: 2 to the looks that follow. */
#define FIRST_LOOK (1 << (LOOKS_MOST - 1))

struct series {
    int64_t recent[2 * WINDOW]; /* the last warm-up samples, oldest first */
    bool constant, settled;
    int64_t first_ns;  /* the first warm-up sample */
    double *values;    /* end-to-end times in ns, in order of arrival */
    double half_width; /* relative, at the last look; -1: not known */
};

struct sampler {
    struct measure_budget budget; /* defaults resolved, for all series together */
    struct series *series;
    size_t series_count;
    unsigned warmup_count;
    bool settled, warm;
    int64_t warmup_begin_ns, warmup_end_ns;

    double *sorted; /* scratch */
    size_t count, capacity, next_look;
    int64_t begin_ns;
    unsigned looks; /* at the bounds, so far */
    bool look_due, unasked;
    const char *stop; /* why it ended; NULL while more are wanted */
};

static int64_t times(int64_t budget_ns, size_t count)
{
    return budget_ns > INT64_MAX / (int64_t)count ? INT64_MAX : budget_ns * (int64_t)count;
}

static struct measure_budget budget_resolve(const struct measure_budget *given, size_t series)
{
    struct measure_budget budget = *given;
    unsigned least = budget.looks ? LOOKS_FIRST : SAMPLES_LEAST;
    if (!(budget.target > 0))
        budget.target = 0.02;
    if (!(budget.confidence > 0))
        budget.confidence = budget.looks ? LOOKS_CONFIDENCE : CONFIDENCE;
    if (budget.budget_ns <= 0)
        budget.budget_ns = INT64_C(1000000000);
    if (budget.warmup_ns <= 0)
        budget.warmup_ns = INT64_C(1000000000);
    budget.budget_ns = times(budget.budget_ns, series);
    budget.warmup_ns = times(budget.warmup_ns, series);
    if (budget.max_samples == 0)
        budget.max_samples = 10000;
    if (budget.max_samples < SAMPLES_LEAST)
        budget.max_samples = SAMPLES_LEAST;
    if (budget.max_samples < budget.min_samples)
        budget.max_samples = budget.min_samples;
    if (budget.min_samples < least)
        budget.min_samples = least < budget.max_samples ? least : budget.max_samples;
    return budget;
}

struct sampler *sampler_create(const struct measure_budget *budget, size_t series,
                               struct assay_error *error)
{
    struct sampler *sampler = calloc(1, sizeof(*sampler));
    if (sampler)
        sampler->series = calloc(series, sizeof(*sampler->series));
    if (!sampler || !sampler->series) {
        free(sampler);
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a sampler");
        return NULL;
    }
    sampler->series_count = series;
    sampler->budget = budget_resolve(budget, series);
    sampler->next_look = sampler->budget.min_samples;
    for (size_t i = 0; i < series; i++) {
        sampler->series[i].constant = true;
        sampler->series[i].half_width = -1;
    }
    return sampler;
}

void sampler_destroy(struct sampler **sampler)
{
    if (!*sampler)
        return;
    for (size_t i = 0; i < (*sampler)->series_count; i++)
        free((*sampler)->series[i].values);
    free((*sampler)->series);
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

/* Whether the series has settled with its `count`th warm-up sample. */
static bool series_warmup(struct series *series, unsigned count, int64_t time_ns)
{
    if (count > 1 && time_ns != series->recent[2 * WINDOW - 1])
        series->constant = false;
    for (int i = 1; i < 2 * WINDOW; i++)
        series->recent[i - 1] = series->recent[i];
    series->recent[2 * WINDOW - 1] = time_ns;
    if (count < 2)
        return false;
    if (series->constant) {
        series->settled = true;
    } else if (count >= 2 * WINDOW && !series->settled) {
        double before = (double)median_of_three(series->recent);
        double last = (double)median_of_three(series->recent + WINDOW);
        series->settled = fabs(last - before) < SETTLED * before;
    }
    return series->settled;
}

void sampler_warmup(struct sampler *sampler, const int64_t *end_to_end_ns, int64_t now_ns)
{
    unsigned n = ++sampler->warmup_count;
    int64_t turn_ns = 0;
    sampler->settled = true;
    for (size_t i = 0; i < sampler->series_count; i++) {
        turn_ns += end_to_end_ns[i];
        if (n == 1)
            sampler->series[i].first_ns = end_to_end_ns[i];
        if (!series_warmup(&sampler->series[i], n, end_to_end_ns[i]))
            sampler->settled = false;
    }
    if (n == 1)
        sampler->warmup_begin_ns = now_ns - turn_ns;
    sampler->warmup_end_ns = now_ns;
    sampler->warm = sampler->settled ||
                    (n >= 2 && now_ns - sampler->warmup_begin_ns >= sampler->budget.warmup_ns);
}

bool sampler_wants_more(const struct sampler *sampler)
{
    return !sampler->stop && !sampler->look_due;
}

static bool sampler_grow(struct sampler *sampler, struct assay_error *error)
{
    size_t capacity = sampler->capacity ? 2 * sampler->capacity : 64;
    double *sorted = realloc(sampler->sorted, capacity * sizeof(double));
    bool good = sorted;
    if (sorted)
        sampler->sorted = sorted;
    for (size_t i = 0; good && i < sampler->series_count; i++) {
        double *values = realloc(sampler->series[i].values, capacity * sizeof(double));
        good = values;
        if (values)
            sampler->series[i].values = values;
    }
    if (!good)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu samples",
                          capacity);
    sampler->capacity = capacity;
    return true;
}

/* Whether the interval of the median is as narrow as wanted. */
static bool series_look(struct sampler *sampler, struct series *series)
{
    memcpy(sampler->sorted, series->values, sampler->count * sizeof(double));
    stats_sort(sampler->sorted, sampler->count);
    struct interval interval;
    bool covered = stats_median_interval(sampler->sorted, sampler->count,
                                         sampler->budget.confidence, &interval);
    double half = (interval.high - interval.low) / 2;
    series->constant = sampler->sorted[0] == sampler->sorted[sampler->count - 1];
    if (half == 0)
        series->half_width = 0;
    else
        series->half_width = interval.estimate > 0 ? half / interval.estimate : -1;
    return (covered || series->constant) && series->half_width >= 0 &&
           series->half_width <= sampler->budget.target;
}

/* *constant: no sample differs from the others of its series, so more would change nothing. */
static bool sampler_narrow(struct sampler *sampler, bool *constant)
{
    bool narrow = true;
    *constant = true;
    for (size_t i = 0; i < sampler->series_count; i++) {
        narrow = series_look(sampler, &sampler->series[i]) && narrow;
        *constant = *constant && sampler->series[i].constant;
    }
    return narrow;
}

/* A doubling is reached, and the intervals may be narrow enough. */
static void sampler_look(struct sampler *sampler, bool first_look_time)
{
    bool constant, narrow = sampler_narrow(sampler, &constant);
    sampler->next_look *= 2;
    if (constant || (narrow && !sampler->budget.looks))
        sampler->stop = "target";
    else if (sampler->budget.looks && sampler->looks + 1 == LOOKS_MOST)
        sampler->stop = "looks";
    else if (narrow && sampler->budget.looks && first_look_time && !sampler->unasked)
        sampler->look_due = true;
}

bool sampler_add(struct sampler *sampler, const int64_t *end_to_end_ns, int64_t now_ns,
                 struct assay_error *error)
{
    if (sampler->count == sampler->capacity && !sampler_grow(sampler, error))
        return false;
    int64_t turn_ns = 0;
    for (size_t i = 0; i < sampler->series_count; i++) {
        sampler->series[i].values[sampler->count] = (double)end_to_end_ns[i];
        turn_ns += end_to_end_ns[i];
    }
    if (sampler->count++ == 0)
        sampler->begin_ns = now_ns - turn_ns;
    if (sampler->count < sampler->budget.min_samples)
        return true;
    int64_t used_ns = now_ns - sampler->begin_ns;
    const char *full = NULL;
    if (sampler->count >= sampler->budget.max_samples)
        full = "max_samples";
    else if (used_ns >= sampler->budget.budget_ns)
        full = "budget";
    if (sampler->count == sampler->next_look)
        sampler_look(sampler, used_ns >= sampler->budget.budget_ns / FIRST_LOOK);
    if (full && !sampler->stop) {
        bool constant;
        sampler_narrow(sampler, &constant);
        sampler->look_due = false;
        sampler->stop = full;
    }
    return true;
}

unsigned sampler_look_due(const struct sampler *sampler)
{
    return sampler->look_due ? sampler->looks + 1 : 0;
}

void sampler_answer(struct sampler *sampler, enum measure_answer answer)
{
    sampler->look_due = false;
    sampler->unasked = answer == MEASURE_UNASKED;
    sampler->looks += answer != MEASURE_UNASKED;
    if (answer == MEASURE_DECIDED)
        sampler->stop = sampler->looks > 1 ? "decided" : "target";
}

double sampler_confidence(const struct sampler *sampler)
{
    double most = 1 - ldexp(1, 1 - (int)(sampler->count < 1000 ? sampler->count : 1000));
    return sampler->budget.confidence < most ? sampler->budget.confidence : most;
}

/* Looks at the bounds: those during sampling, and the judgement of what is in the journal, unless
 * the last of them saw the same samples. */
static unsigned looks_made(const struct sampler *sampler)
{
    if (!sampler->budget.looks)
        return 0;
    bool same = sampler->looks > 0 &&
                (strcmp(sampler->stop, "decided") == 0 || strcmp(sampler->stop, "target") == 0);
    return sampler->looks + !same;
}

bool sampler_drift(const struct sampler *sampler, size_t series, struct drift *drift,
                   struct assay_error *error)
{
    return drift_find(sampler->series[series].values, sampler->count, drift, error);
}

void sampler_add_record(const struct sampler *sampler, size_t series, const char *clock_name,
                        const struct drift *drift, struct text *out)
{
    const struct series *self = &sampler->series[series];
    const char *stop = sampler->stop ? sampler->stop : "look";
    text_addf(out,
              "{\"clock\":\"%s\",\"first_ns\":%lld,\"warmup\":%u,\"warmup_ns\":%lld,"
              "\"warmup_stop\":\"%s\"",
              clock_name, (long long)self->first_ns, sampler->warmup_count,
              (long long)(sampler->warmup_end_ns - sampler->warmup_begin_ns),
              sampler->settled ? "settled" : "budget");
    text_addf(out, ",\"settled\":%s,\"n\":%zu,\"stop\":\"%s\"", self->settled ? "true" : "false",
              sampler->count, stop);
    text_add(out, ",\"target\":");
    number_add(out, sampler->budget.target);
    text_add(out, ",\"half_width\":");
    if (self->half_width < 0)
        text_add(out, "null");
    else
        number_add(out, self->half_width);
    text_addf(out, ",\"budget_ns\":%lld,\"confidence\":", (long long)sampler->budget.budget_ns);
    number_add(out, sampler_confidence(sampler));
    text_addf(out,
              ",\"looks\":%u,\"drift\":", sampler->stop ? looks_made(sampler) : sampler->looks + 1);
    drift_add(drift, out);
    text_add_char(out, '}');
}

void sampler_notes(const struct sampler *sampler, size_t series, const struct drift *drift,
                   const char *figure, const char *beside,
                   void (*add)(void *user, const char *note), void *user)
{
    struct text note = {0};
    if (!sampler->series[series].settled) {
        text_addf(&note, "warm-up ended unsettled after %u batches: its time was over",
                  sampler->warmup_count);
        add(user, text_string(&note));
        text_clear(&note);
    }
    if (sampler->unasked) {
        add(user, "the bounds were not looked at while sampling: the records are too long to ask; "
                  "the budget was used up");
    }
    if (drift->drifting && figure) {
        drift_add_note(drift, figure, sampler->count, &note);
        text_addf(&note, "%s%s", *beside ? "; meanwhile " : "", beside);
        add(user, text_string(&note));
    }
    text_free(&note);
}
