/* SPDX-License-Identifier: MIT */
#include "result/compare.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is allowed for rounding between a figure and the samples it came from. */
#define FIGURE_TOLERANCE 1e-6

struct kind {
    const char *suffix; /* of the metric */
    const char *series; /* suffix of the series of times behind it */
    const char *amount; /* member of the stage's cost, or NULL: the metric is a time */
};

static const struct kind kinds[] = {
    {".rate", ".time", "payload_bytes"},
    {".flop_rate", ".time", "flops"},
    {".item_rate", ".time", "items"},
    {".device_rate", ".device_time", "payload_bytes"},
};

static bool is_there(const json_t *record, const char *name)
{
    struct metric metric;
    metric_from_json(json_object_get(record, "metrics"), name, &metric);
    return !metric.absent;
}

/* The name as it is stored in the record, or NULL. */
static const char *stored_name(const json_t *record, const char *name)
{
    const json_t *metrics = json_object_get(record, "metrics");
    void *member = json_object_iter_at((json_t *)(uintptr_t)metrics, name);
    return member ? json_object_iter_key(member) : NULL;
}

static const char *stage_metric(const json_t *a, const json_t *b, const char *stage, bool alone)
{
    static const char *const suffixes[] = {"rate", "flop_rate", "item_rate", "time"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char name[128];
        int length = snprintf(name, sizeof(name), "%s.%s", stage, suffixes[i]);
        if (length < 0 || (size_t)length >= sizeof(name) || (alone && i == 3))
            continue;
        if (is_there(a, name) && is_there(b, name))
            return stored_name(a, name);
    }
    return NULL;
}

size_t compare_metric_names(const json_t *a, const json_t *b, const char *names[COMPARE_METRICS])
{
    size_t count = 0, i;
    const json_t *stages = json_object_get(a, "stages");
    json_t *stage;
    if (is_there(a, "time") && is_there(b, "time"))
        names[count++] = stored_name(a, "time");
    json_array_foreach(stages, i, stage)
    {
        bool alone = count > 0 && json_array_size(stages) == 1;
        const char *name = stage_metric(a, b, json_text(stage, "name", ""), alone);
        if (name && count < COMPARE_METRICS)
            names[count++] = name;
    }
    return count;
}

static const struct kind *kind_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(dot, kinds[i].suffix) == 0)
            return &kinds[i];
    return NULL;
}

static bool is_time(struct dimension d)
{
    return dimension_equal(d, (struct dimension){.seconds = 1});
}

/* What one batch of the stage moves, computes or handles; 0: unknown. */
static double amount_of(const json_t *record, const char *metric, const struct kind *kind)
{
    size_t i, length = (size_t)(strrchr(metric, '.') - metric);
    json_t *stage;
    json_array_foreach(json_object_get(record, "stages"), i, stage)
    {
        const char *name = json_text(stage, "name", "");
        if (strlen(name) == length && strncmp(name, metric, length) == 0)
            return json_number(json_object_get(stage, "cost"), kind->amount, 0);
    }
    return 0;
}

static const json_t *series_of(const json_t *samples, const char *metric, const struct kind *kind)
{
    char name[160];
    const json_t *all = json_object_get(samples, "series");
    if (!kind)
        return json_object_get(all, metric);
    int stage = (int)(strrchr(metric, '.') - metric);
    int length = snprintf(name, sizeof(name), "%.*s%s", stage, metric, kind->series);
    return length < 0 || (size_t)length >= sizeof(name) ? NULL : json_object_get(all, name);
}

/* Times a batch in the order taken, for a rate those of one unit of its amount. */
struct times {
    double *values;
    size_t count;
    bool constant;
    const char *damage; /* why they are worth nothing, or NULL */
};

static void check_figure(struct times *times, const struct metric *metric, bool rate)
{
    double *sorted = malloc(times->count * sizeof(*sorted));
    if (!sorted)
        return; /* the comparison itself will say that memory is out */
    memcpy(sorted, times->values, times->count * sizeof(*sorted));
    stats_sort(sorted, times->count);
    double seconds = stats_median(sorted, times->count) / 1e9;
    double figure = rate ? 1 / seconds : seconds;
    free(sorted);
    if (!(fabs(figure - metric->value) <= FIGURE_TOLERANCE * fabs(metric->value)))
        times->damage = "a figure does not fit its samples: the record was changed";
}

static bool read_times(const struct compare_side *side, const struct metric *metric,
                       const struct kind *kind, struct times *out, struct assay_error *error)
{
    const json_t *series = series_of(side->samples, metric->name, kind);
    double amount = kind ? amount_of(side->record, metric->name, kind) : 1;
    size_t all = json_array_size(series);
    *out = (struct times){.constant = true};
    if (all == 0 || !(amount > 0)) {
        out->damage = all == 0 ? "there are no samples in the journal"
                               : "the stage's cost is not in the journal";
        return true;
    }
    out->values = malloc(all * sizeof(*out->values));
    if (!out->values)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for %zu samples", all);
    for (size_t i = 0; i < all; i++) {
        const json_t *value = json_array_get(series, i);
        if (json_is_null(value)) /* not read in this batch */
            continue;
        double time = json_is_number(value) ? json_number_value(value) / amount : 0;
        out->values[out->count++] = time;
        out->constant = out->constant && time == out->values[0];
        if (!(time > 0))
            out->damage = "a sample is not a time over 0";
    }
    if (out->count == 0)
        out->damage = "there are no samples in the journal";
    if (!out->damage)
        check_figure(out, metric, kind != NULL);
    return true;
}

static void decide(struct comparison *out, const struct interval *times, bool rate)
{
    out->compared = true;
    out->ratio = *times;
    if (rate)
        out->ratio = (struct interval){1 / times->estimate, 1 / times->high, 1 / times->low};
}

static double confidence_of(const struct compare_params *params, size_t count)
{
    double most = 1 - ldexp(1, 1 - (int)(count < 1000 ? count : 1000)); /* the extremes' */
    return fmax(fmin(params->confidence, most), COMPARE_CONFIDENCE);
}

static bool compare_samples(const struct compare_side *a, const struct compare_side *b,
                            const struct kind *kind, const struct compare_params *params,
                            struct comparison *out, struct assay_error *error)
{
    static const char *const path[] = {"sampling", "clock"};
    struct times was, is = {0};
    struct stats_ratio ratio;
    bool good = read_times(a, &out->a, kind, &was, error) &&
                read_times(b, &out->b, kind, &is, error);
    out->why = was.damage ? was.damage : is.damage;
    if (good && !out->why) {
        const char *clock_a = json_text(json_object_get(a->record, path[0]), path[1], "");
        const char *clock_b = json_text(json_object_get(b->record, path[0]), path[1], "");
        bool exact = strcmp(clock_a, "simulated") == 0 && strcmp(clock_b, "simulated") == 0 &&
                     was.constant && is.constant;
        double confidence = confidence_of(params, was.count < is.count ? was.count : is.count);
        good = stats_ratio_unpaired(is.values, is.count, was.values, was.count, confidence,
                                    params->margin, exact ? RATIO_NO_SPREAD : params->between,
                                    &ratio, error);
        if (good) {
            decide(out, &ratio.interval, kind != NULL);
            out->answer = ratio.answer;
            out->doubt = ratio.doubt;
            out->why = stats_doubt_text(ratio.doubt);
        }
    }
    free(was.values);
    free(is.values);
    return good;
}

static void compare_exact(const struct compare_params *params, bool rate, struct comparison *out)
{
    double ratio = rate ? out->a.value / out->b.value : out->b.value / out->a.value;
    if (!(ratio > 0) || !isfinite(ratio)) {
        out->why = "a figure is not over 0";
        return;
    }
    struct interval interval = {ratio, ratio, ratio};
    decide(out, &interval, rate);
    out->answer = stats_ratio_answer(&interval, params->margin);
    out->why = out->answer == STATS_UNDECIDED ? stats_doubt_text(STATS_WIDE) : "";
}

bool compare_metric(const char *name, const struct compare_side *a, const struct compare_side *b,
                    const struct compare_params *params, struct comparison *out,
                    struct assay_error *error)
{
    *out = (struct comparison){.answer = STATS_UNDECIDED, .why = ""};
    metric_from_json(json_object_get(a->record, "metrics"), name, &out->a);
    metric_from_json(json_object_get(b->record, "metrics"), name, &out->b);
    if (out->a.absent || out->b.absent) {
        out->why = out->a.absent ? out->a.absent : out->b.absent;
        return true;
    }
    bool rate = out->a.dimension.seconds == -1;
    if (!dimension_equal(out->a.dimension, out->b.dimension)) {
        out->why = "the two records have it in different units";
        return true;
    }
    if (!rate && !is_time(out->a.dimension))
        return assay_fail(error, ASSAY_INVALID,
                          "'%s' is %s, but only times and rates can be faster or slower", name,
                          dimension_words(out->a.dimension));
    if (out->a.n == 0 && out->b.n == 0) {
        compare_exact(params, rate, out);
        return true;
    }
    return compare_samples(a, b, kind_of(name), params, out, error);
}
