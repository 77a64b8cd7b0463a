/* SPDX-License-Identifier: MIT */
/* What is told of a load. */
#include "measure/load_inside.h"

#include "stats/batch_means.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Overload: of what arrived, more than this share was left behind, beside what a queue swings. */
#define GROWTH_SHARE 0.05
#define GROWTH_LEAST 10
/* A queue that was never empty in the second half is left longer by less: by so many standard
 * deviations of what arrives at random, or, where it arrives evenly, by no share at all. */
#define GROWTH_SIGMAS 3
/* Or more than this share was turned away. */
#define AWAY_SHARE 0.01
/* Or the device was busy for this share of the time, and full batches one after the other are fewer
 * requests than the rate: by so many standard errors of what their windows say. */
#define BUSY_SHARE 0.9
#define CAPACITY_SIGMAS 4

static void sum_up(const struct load *load, struct load_window *sum)
{
    *sum = (struct load_window){0};
    for (size_t i = 0; i < load->count; i++) {
        const struct load_window *window = &load->windows[i];
        sum->duration_ns += window->duration_ns;
        sum->busy_ns += window->busy_ns;
        sum->arrived += window->arrived;
        sum->turned_away += window->turned_away;
        sum->ended += window->ended;
        sum->in_time += window->in_time;
        sum->batches += window->batches;
        sum->full += window->full;
        sum->full_ns += window->full_ns;
        sum->latency += window->latency;
        sum->queued = window->queued;
    }
}

static double seconds_of(const struct load_window *window)
{
    return (double)window->duration_ns / 1e9;
}

static void add_rate(double rate, struct text *out)
{
    number_add_fixed(out, rate, rate < 100 ? 2 : 0);
}

static const char overloaded[] = "overload: ";

bool load_is_overload(const char *reason)
{
    return strncmp(reason, overloaded, sizeof(overloaded) - 1) == 0;
}

static bool never_empty(const struct load *load)
{
    for (size_t i = load->count / 2; i < load->count; i++)
        if (load->windows[i].emptied > 0 || load->windows[i].ended == 0)
            return false;
    return true;
}

/* More than so many requests left behind are overload. */
static double growth_least(const struct load *load, double arrived)
{
    double share = GROWTH_SHARE * arrived;
    double swing = load->schedule.arrivals == SCHEDULE_ARRIVALS_EVEN
                       ? 0
                       : GROWTH_SIGMAS * sqrt(arrived);
    return GROWTH_LEAST + (double)load->schedule.batch_max +
           (never_empty(load) && swing < share ? swing : share);
}

/* Requests a second that full batches one after the other are, and their standard error. False: too
 * few windows have any. */
static bool find_capacity(const struct load *load, const struct load_window *sum, double *capacity,
                          double *deviation)
{
    size_t count = 0;
    double squares = 0, seconds = (double)sum->full_ns / 1e9;
    if (sum->full_ns == 0)
        return false;
    *capacity = (double)sum->full / seconds;
    for (size_t i = 0; i < load->count; i++) {
        const struct load_window *window = &load->windows[i];
        double rest = (double)window->full - *capacity * (double)window->full_ns / 1e9;
        squares += rest * rest;
        count += window->full > 0;
    }
    if (count < 2)
        return false;
    *deviation = sqrt(squares * (double)count / (double)(count - 1)) / seconds;
    return true;
}

/* What no queue shows yet: it would grow without an end all the same. */
static bool beyond_capacity(const struct load *load, const struct load_window *sum,
                            double *capacity)
{
    double deviation, rate = load->schedule.rate * (1 - 1e-9);
    return (double)sum->busy_ns >= BUSY_SHARE * (double)sum->duration_ns &&
           find_capacity(load, sum, capacity, &deviation) &&
           rate > *capacity + CAPACITY_SIGMAS * deviation;
}

const char *load_overload(struct load *load)
{
    struct load_window sum;
    sum_up(load, &sum);
    text_clear(&load->overload);
    if (load->schedule.kind != SCHEDULE_OPEN_LOOP || sum.arrived == 0)
        return NULL;
    double arrived = (double)sum.arrived, left = arrived - (double)sum.ended;
    double least = growth_least(load, arrived);
    bool away = (double)sum.turned_away > AWAY_SHARE * arrived;
    bool grows = left > least || away;
    double rate = arrived / seconds_of(&sum), served = (double)sum.ended / seconds_of(&sum);
    if (!grows && !beyond_capacity(load, &sum, &served))
        return NULL;
    text_add(&load->overload, overloaded);
    add_rate(grows ? rate : load->schedule.rate, &load->overload);
    text_add(&load->overload, " requests arrive a second, ");
    add_rate(served, &load->overload);
    text_addf(&load->overload, " %s; %" PRIu64 " wait at the end",
              grows ? "are served" : "can be served", sum.queued);
    if (sum.turned_away)
        text_addf(&load->overload, ", %" PRIu64 " were turned away", sum.turned_away);
    return text_string(&load->overload);
}

/* So long that all clients have a first result, by what was served. */
static void add_ramp(const struct load *load, struct text *out)
{
    struct load_window sum;
    sum_up(load, &sum);
    if (sum.ended == 0) {
        text_add(out, "a longer duration");
        return;
    }
    double seconds = (double)load->schedule.clients * seconds_of(&sum) / (double)sum.ended;
    text_addf(out, "a duration of %.0f s at least", ceil(1.1 * seconds));
}

const char *load_unsteady(struct load *load)
{
    const char *overload = load_overload(load);
    if (overload || !load->ramp_counts)
        return overload;
    text_clear(&load->overload);
    text_addf(&load->overload,
              "all %" PRId64 " clients ask at once in the begin, and not all had a first "
              "result when measuring began: their latencies are of that ramp; give ",
              load->schedule.clients);
    add_ramp(load, &load->overload);
    text_add(&load->overload, ", or fewer clients");
    return text_string(&load->overload);
}

bool load_check_ended(const struct load *load, struct assay_error *error)
{
    struct load_window sum;
    sum_up(load, &sum);
    if (sum.ended > 0 || load->count == 0)
        return true;
    struct text span = {0};
    quantity_add(&span, seconds_of(&sum), (struct dimension){.seconds = 1});
    assay_fail(error, ASSAY_INVALID,
               "no request ended in %s: batches wait for up to wait_max to hold batch_max, %" PRId64
               " requests; lower one of them or give a longer duration",
               text_string(&span), load->schedule.batch_max);
    text_free(&span);
    return false;
}

enum figure { LATENCY, WAITING, BATCHING, SERVICE, THROUGHPUT, GOODPUT, UTILISATION, FIGURES };
static const struct figure_info {
    const char *name;
    struct dimension dimension;
    bool latency; /* over requests; has no value when overloaded or in a ramp */
} figures[FIGURES] = {
    [LATENCY] = {"latency.mean", {.seconds = 1}, true},
    [WAITING] = {"latency.waiting", {.seconds = 1}, true},
    [BATCHING] = {"latency.batching", {.seconds = 1}, true},
    [SERVICE] = {"latency.service", {.seconds = 1}, true},
    [THROUGHPUT] = {"throughput", {.items = 1, .seconds = -1}, false},
    [GOODPUT] = {"goodput", {.items = 1, .seconds = -1}, false},
    [UTILISATION] = {"utilisation", {0}, false},
};

static double figure_of(const struct load_window *window, enum figure figure)
{
    switch (figure) {
    case LATENCY:
        return window->latency / 1e9;
    case WAITING:
        return window->waiting / 1e9;
    case BATCHING:
        return window->batching / 1e9;
    case SERVICE:
        return window->service / 1e9;
    case THROUGHPUT:
        return (double)window->ended;
    case GOODPUT:
        return (double)window->in_time;
    case UTILISATION:
    case FIGURES:
        break;
    }
    return (double)window->busy_ns / 1e9;
}

/* The figures' windows: sums, and what they are sums over. */
static bool batch_figure(const struct load *load, enum figure figure, double confidence,
                         struct interval *out, double *variance, struct assay_error *error)
{
    double *x = malloc((2 * load->count + 1) * sizeof(*x));
    bool known;
    if (!x)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu windows",
                          load->count);
    double *y = x + load->count;
    for (size_t i = 0; i < load->count; i++) {
        x[i] = figure_of(&load->windows[i], figure);
        y[i] = figures[figure].latency ? (double)load->windows[i].ended
                                       : seconds_of(&load->windows[i]);
    }
    bool good = stats_batch_ratio(x, y, load->count, confidence, out, variance, &known, error);
    free(x);
    out->low = out->low > 0 ? out->low : 0;
    return good;
}

/* Whether results count as good by latencies of a ramp. */
static bool late(const struct load *load, enum figure figure)
{
    return figure == GOODPUT && load->ramp_counts && load->schedule.deadline_ns > 0;
}

static bool add_figure(const struct load *load, enum figure figure, double confidence,
                       const char *absent, struct metric_set *set, struct assay_error *error)
{
    struct metric metric = {.name = figures[figure].name,
                            .dimension = figures[figure].dimension,
                            .n = load->count,
                            .absent = figures[figure].latency || late(load, figure) ? absent
                                                                                    : NULL};
    struct interval interval;
    if (!metric.absent) {
        if (!batch_figure(load, figure, confidence, &interval, NULL, error))
            return false;
        metric.value = interval.estimate;
        metric.low = interval.low;
        metric.high = interval.high;
    }
    return metric_set_add(set, &metric, error);
}

/* How many independent latencies those that were seen are worth: what the variance of their mean
 * says against that of a single one. At least 1. */
static bool effective_count(const struct load *load, double *effective, struct assay_error *error)
{
    struct interval mean;
    double variance, count = (double)histogram_count(load->all);
    if (!batch_figure(load, LATENCY, 0.95, &mean, &variance, error))
        return false;
    double seconds = mean.estimate, single = load->all_squares / 1e18 / count - seconds * seconds;
    *effective = count;
    if (variance > 0 && single > 0 && single / variance < count)
        *effective = single / variance;
    *effective = *effective > 1 ? *effective : 1;
    return true;
}

/* A bucket is wider than what lies in it. */
static double clamped(const struct load *load, double ns)
{
    return fmax((double)load->all_shortest_ns, fmin(ns, (double)load->all_longest_ns));
}

/* Of the requests that ended or were turned away, those that ended. */
static double served_share(const struct load *load)
{
    struct load_window sum;
    sum_up(load, &sum);
    return (double)sum.ended / (double)(sum.ended + sum.turned_away);
}

/* Order statistics as of that many, at the same shares of those that there are. Requests that were
 * turned away count as ones without an end; false: the interval reaches them. */
static bool percentile(const struct load *load, double q, double effective, double confidence,
                       struct interval *out)
{
    size_t count = (size_t)effective, low, high;
    struct interval bound;
    const double share = served_share(load);
    stats_quantile_ranks(count, q, confidence, &low, &high); /* too few: the extremes */
    if (share < 1 && (double)(high + 1) / (double)count > share)
        return false;
    histogram_quantile(load->all, q / share, out);
    histogram_quantile(load->all, (double)low / (double)count / share, &bound);
    out->low = bound.low;
    histogram_quantile(load->all, (double)(high + 1) / (double)count / share, &bound);
    out->high = bound.high;
    out->low = out->low < out->estimate ? out->low : out->estimate;
    out->high = out->high > out->estimate ? out->high : out->estimate;
    return true;
}

static bool add_percentiles(const struct load *load, double confidence, const char *absent,
                            struct metric_set *set, struct assay_error *error)
{
    static const struct {
        const char *name;
        double q;
    } rows[] = {{"latency.p50", 0.5}, {"latency.p95", 0.95}, {"latency.p99", 0.99}};
    double effective = 0;
    if (!absent && !effective_count(load, &effective, error))
        return false;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct metric metric = {.name = rows[i].name,
                                .dimension = {.seconds = 1},
                                .n = (size_t)histogram_count(load->all),
                                .absent = absent};
        struct interval interval;
        if (!absent && !percentile(load, rows[i].q, effective, confidence, &interval))
            metric.absent = "so many requests were turned away that it may be one of theirs";
        if (!metric.absent) {
            metric.value = clamped(load, interval.estimate) / 1e9;
            metric.low = clamped(load, interval.low) / 1e9;
            metric.high = clamped(load, interval.high) / 1e9;
        }
        if (!metric_set_add(set, &metric, error))
            return false;
    }
    return true;
}

bool load_metrics(struct load *load, double confidence, struct metric_set *set,
                  struct assay_error *error)
{
    const char *absent = load_unsteady(load);
    if (!absent && histogram_count(load->all) == 0)
        absent = "no request ended";
    if (!add_percentiles(load, confidence, absent, set, error))
        return false;
    for (enum figure figure = 0; figure < FIGURES; figure++)
        if (!add_figure(load, figure, confidence, absent, set, error))
            return false;
    return true;
}

static void add_window(const struct load_window *window, const char *gap, struct text *out)
{
    text_addf(out,
              "%s{\"duration_ns\":%" PRId64 ",\"busy_ns\":%" PRId64 ",\"arrived\":%" PRIu64
              ",\"turned_away\":%" PRIu64 ",\"ended\":%" PRIu64 ",\"in_time\":%" PRIu64
              ",\"batches\":%" PRIu64 ",\"queued\":%" PRIu64,
              gap, window->duration_ns, window->busy_ns, window->arrived, window->turned_away,
              window->ended, window->in_time, window->batches, window->queued);
    text_addf(out,
              ",\"latency_ns\":%.0f,\"waiting_ns\":%.0f,\"batching_ns\":%.0f,\"service_ns\":%.0f}",
              window->latency, window->waiting, window->batching, window->service);
}

void load_add_record(struct load *load, struct text *out)
{
    const char *overload = load_overload(load);
    text_add(out, "{\"overload\":");
    text_add(out, overload ? "true" : "false");
    text_add(out, ",\"latencies\":\"");
    histogram_add_text(load->all, out);
    text_add(out, "\",\"windows\":[");
    for (size_t i = 0; i < load->count; i++)
        add_window(&load->windows[i], i ? "," : "", out);
    text_add(out, "]}");
}
