/* SPDX-License-Identifier: MIT */
#include "measure/samples.h"
#include "measure/trace.h"

#include "base/channel.h"
#include "base/units.h"
#include "stats/quantile.h"

#include <stdio.h>
#include <stdlib.h>

enum column { COLUMN_TIME, COLUMN_SUBMIT, COLUMN_DEVICE, COLUMN_CPU, COLUMN_STAGES };

#define NUMBER_BYTES 20                  /* of an int64_t with its comma, as text */
#define HEAD_BYTES (65536 + TRACE_BYTES) /* of a record beside its numbers, by far */

static const char too_short[] = "0 ns: too short for the clock";
static const char too_few[] = "read in too few batches for an interval";
#define VALUES_MIN 6

/* The first column of what the schedule adds. */
static size_t column_extras(const struct serial *serial)
{
    return COLUMN_STAGES + 2 * (size_t)serial->count;
}

static size_t row_width(const struct samples *samples, const struct serial *serial)
{
    return column_extras(serial) + samples->extra_count;
}

unsigned samples_room(const struct samples *samples, const struct serial *serial)
{
    size_t row_bytes = row_width(samples, serial) * NUMBER_BYTES;
    return (unsigned)((CHANNEL_LINE_BYTES - HEAD_BYTES) / row_bytes);
}

bool samples_add(struct samples *samples, const struct serial *serial,
                 const struct serial_times *times, struct assay_error *error)
{
    size_t width = row_width(samples, serial);
    if (samples->count == samples->capacity) {
        size_t capacity = samples->capacity ? 2 * samples->capacity : 32;
        int64_t *rows = realloc(samples->rows, capacity * width * sizeof(*rows));
        if (!rows)
            return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu samples",
                              capacity);
        samples->rows = rows;
        samples->capacity = capacity;
    }
    int64_t *row = samples->rows + width * samples->count++;
    row[COLUMN_TIME] = times->time_ns;
    row[COLUMN_SUBMIT] = times->submit_ns;
    row[COLUMN_DEVICE] = times->device_ns;
    row[COLUMN_CPU] = times->cpu_ns;
    for (unsigned i = 0; i < serial->count; i++) {
        row[COLUMN_STAGES + 2 * i] = times->stages[i].time_ns;
        row[COLUMN_STAGES + 2 * i + 1] = times->stages[i].device_ns;
    }
    for (unsigned i = 0; i < samples->extra_count; i++)
        row[column_extras(serial) + i] = times->extra_ns[i];
    return true;
}

void samples_free(struct samples *samples)
{
    free(samples->rows);
    *samples = (struct samples){0};
}

/* Of the device times of a repeated stage beside its host times only some are there. */
static bool is_sparse(const struct serial *serial, size_t column)
{
    if (column < COLUMN_STAGES || column >= column_extras(serial) ||
        (column - COLUMN_STAGES) % 2 == 0)
        return false;
    const struct serial_stage *stage = &serial->stages[(column - COLUMN_STAGES) / 2];
    return stage->repeat.command && stage->host_clock;
}

/* Whether the column holds measured values: in all rows, but for the processor's time and device
 * times of repeated stages, which are not read in all. */
static bool column_present(const struct samples *samples, const struct serial *serial,
                           size_t column)
{
    if (column == COLUMN_SUBMIT || column == COLUMN_DEVICE) {
        if (!serial->device)
            return false;
    } else if (column == COLUMN_CPU) {
        return !serial->clock->simulated;
    } else if (is_sparse(serial, column)) {
        return samples->count > 0;
    }
    size_t width = row_width(samples, serial);
    for (size_t i = 0; i < samples->count; i++)
        if (samples->rows[i * width + column] < 0)
            return false;
    return samples->count > 0;
}

static void add_series(const struct samples *samples, const struct serial *serial, size_t column,
                       const char *name, const char *suffix, struct text *out)
{
    if (!column_present(samples, serial, column))
        return;
    text_addf(out, "%s\"%s%s\":[", out->length ? "," : "{", name, suffix);
    size_t width = row_width(samples, serial);
    for (size_t i = 0; i < samples->count; i++) {
        long long value = samples->rows[i * width + column];
        text_add(out, i ? "," : "");
        if (value < 0)
            text_add(out, "null");
        else
            text_add_integer(out, value);
    }
    text_add_char(out, ']');
}

void samples_add_series(const struct samples *samples, const struct serial *serial,
                        struct text *out)
{
    add_series(samples, serial, COLUMN_TIME, "time", "", out);
    add_series(samples, serial, COLUMN_SUBMIT, "submit_time", "", out);
    add_series(samples, serial, COLUMN_DEVICE, "device_time", "", out);
    add_series(samples, serial, COLUMN_CPU, "host_cpu_time", "", out);
    for (unsigned i = 0; i < serial->count; i++) {
        const char *name = serial->stages[i].stage->name;
        add_series(samples, serial, COLUMN_STAGES + 2 * i, name, ".time", out);
        add_series(samples, serial, COLUMN_STAGES + 2 * i + 1, name, ".device_time", out);
    }
    for (unsigned i = 0; i < samples->extra_count; i++)
        add_series(samples, serial, column_extras(serial) + i, samples->extras[i], "", out);
    text_add(out, out->length ? "}" : "{}");
}

/* One column summed up, in ns. */
struct summary {
    struct interval interval;
    size_t n;
    const char *absent;
};

/* The step of a stage's device time; of a repeated one its part, but times are whole ns. */
static int64_t device_step(const struct serial_stage *stage)
{
    int64_t part = stage->repeat.count ? stage->step_ns / stage->repeat.count : stage->step_ns;
    return part > 1 ? part : stage->step_ns > 0;
}

/* The step of the clock that the column was read from. */
static int64_t column_step(const struct serial *serial, size_t column)
{
    int64_t sum = 0;
    if (column == COLUMN_TIME || column == COLUMN_SUBMIT || column >= column_extras(serial))
        return serial->step_ns;
    for (unsigned i = 0; column == COLUMN_DEVICE && i < serial->count; i++)
        sum += serial->stages[i].step_ns;
    if (column < COLUMN_STAGES)
        return sum;
    const struct serial_stage *stage = &serial->stages[(column - COLUMN_STAGES) / 2];
    bool device = (column - COLUMN_STAGES) % 2 != 0 || !stage->host_clock;
    return device ? device_step(stage) : serial->step_ns;
}

/* Values that are all the same step of the clock are not known to nothing. */
static void widen(struct interval *interval, int64_t step_ns)
{
    double half = (double)step_ns / 2;
    if (interval->high - interval->low >= (double)step_ns)
        return;
    if (interval->low > interval->estimate - half)
        interval->low = interval->estimate - half;
    if (interval->high < interval->estimate + half)
        interval->high = interval->estimate + half;
}

static struct summary summarise(const struct samples *samples, const struct serial *serial,
                                size_t column, double confidence, double *scratch)
{
    struct summary summary = {0};
    size_t width = row_width(samples, serial);
    for (size_t i = 0; i < samples->count; i++)
        if (samples->rows[i * width + column] >= 0)
            scratch[summary.n++] = (double)samples->rows[i * width + column];
    if (summary.n < VALUES_MIN) {
        summary.absent = too_few;
        return summary;
    }
    stats_sort(scratch, summary.n);
    stats_median_interval(scratch, summary.n, confidence, &summary.interval);
    widen(&summary.interval, column_step(serial, column));
    if (summary.interval.estimate <= 0)
        summary.absent = too_short;
    return summary;
}

struct writer {
    const struct samples *samples;
    const struct serial *serial;
    double confidence;
    double *scratch;
    struct metric_set *set;
    struct assay_error *error;
};

static bool write_time(const struct writer *w, const char *name, const struct summary *summary)
{
    struct metric metric = {.name = name,
                            .dimension = {.seconds = 1},
                            .value = summary->interval.estimate / 1e9,
                            .low = summary->interval.low / 1e9,
                            .high = summary->interval.high / 1e9,
                            .n = summary->n,
                            .absent = summary->absent};
    return metric_set_add(w->set, &metric, w->error);
}

/* amount / time: the slow end of the time's interval is the low end of the rate's. */
static bool write_rate(const struct writer *w, const char *name, uint64_t amount,
                       struct dimension dimension, const char *no_amount,
                       const struct summary *summary)
{
    struct metric metric = {.name = name, .dimension = dimension, .n = summary->n};
    metric.dimension.seconds = -1;
    double scaled = (double)amount * 1e9;
    if (amount == 0)
        metric.absent = no_amount;
    else if (summary->absent)
        metric.absent = summary->absent;
    else if (summary->interval.low <= 0)
        metric.absent = "the interval of its time reaches 0 ns: too short for the clock";
    if (!metric.absent) {
        metric.value = scaled / summary->interval.estimate;
        metric.low = scaled / summary->interval.high;
        metric.high = scaled / summary->interval.low;
    }
    return metric_set_add(w->set, &metric, w->error);
}

/* The host's end-to-end times, and what the schedule adds. */
static bool is_host_time(const struct writer *w, size_t column)
{
    return column == COLUMN_TIME || column >= column_extras(w->serial) ||
           (column >= COLUMN_STAGES && (column - COLUMN_STAGES) % 2 == 0);
}

static struct summary column_summary(const struct writer *w, size_t column, const char *why_absent)
{
    if (w->samples->windows && !is_host_time(w, column))
        return (struct summary){.absent = "the schedule of the case does not give it"};
    if (!column_present(w->samples, w->serial, column))
        return (struct summary){.absent = why_absent};
    return summarise(w->samples, w->serial, column, w->confidence, w->scratch);
}

static bool write_totals(const struct writer *w)
{
    static const char no_device[] = "no device stage";
    const char *no_timestamps = w->serial->device ? "a queue without timestamps takes part"
                                                  : no_device;
    struct summary time = column_summary(w, COLUMN_TIME, too_short);
    struct summary submit = column_summary(w, COLUMN_SUBMIT, no_device);
    struct summary device = column_summary(w, COLUMN_DEVICE, no_timestamps);
    struct summary cpu = column_summary(w, COLUMN_CPU, "simulated clock");
    return write_time(w, "time", &time) && write_time(w, "submit_time", &submit) &&
           write_time(w, "device_time", &device) && write_time(w, "host_cpu_time", &cpu);
}

static bool write_stage(const struct writer *w, unsigned index)
{
    static const char no_payload[] = "the stage has no payload";
    const struct serial_stage *entry = &w->serial->stages[index];
    const struct assay_cost *cost = &entry->cost;
    const char *no_device = entry->command ? "a queue without timestamps takes part"
                                           : "not a device stage";
    struct summary time = column_summary(w, COLUMN_STAGES + 2 * index, too_short);
    struct summary device = column_summary(w, COLUMN_STAGES + 2 * index + 1, no_device);
    char name[6][96];
    static const char *const suffixes[] = {"time",      "rate",        "flop_rate",
                                           "item_rate", "device_time", "device_rate"};
    for (int i = 0; i < 6; i++) {
        int length = snprintf(name[i], sizeof(name[i]), "%s.%s", entry->stage->name, suffixes[i]);
        if (length < 0 || (size_t)length >= sizeof(name[i]))
            return assay_fail(w->error, ASSAY_INTERNAL, "the name of stage '%s' is too long",
                              entry->stage->name);
    }
    struct dimension bytes = {.bytes = 1}, flops = {.flops = 1}, items = {.items = 1};
    return write_time(w, name[0], &time) &&
           write_rate(w, name[1], cost->payload_bytes, bytes, no_payload, &time) &&
           write_rate(w, name[2], cost->flops, flops, "the stage has no flops", &time) &&
           write_rate(w, name[3], cost->items, items, "the stage has no items", &time) &&
           write_time(w, name[4], &device) &&
           write_rate(w, name[5], cost->payload_bytes, bytes, no_payload, &device);
}

bool samples_metrics(const struct samples *samples, const struct serial *serial, double confidence,
                     struct metric_set *set, struct assay_error *error)
{
    double *scratch = malloc((samples->count ? samples->count : 1) * sizeof(*scratch));
    if (!scratch)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for statistics");
    struct writer w = {.samples = samples,
                       .serial = serial,
                       .confidence = confidence,
                       .scratch = scratch,
                       .set = set,
                       .error = error};
    bool ok = write_totals(&w);
    for (unsigned i = 0; ok && i < serial->count; i++)
        ok = write_stage(&w, i);
    for (unsigned i = 0; ok && i < samples->extra_count; i++) {
        struct summary extra = column_summary(&w, column_extras(serial) + i, too_short);
        ok = write_time(&w, samples->extras[i], &extra);
    }
    free(scratch);
    return ok;
}

bool samples_ratio(const struct samples *samples, const struct serial *serial, unsigned above,
                   unsigned below, double confidence, struct metric *out, struct assay_error *error)
{
    double *ratios = malloc((samples->count ? samples->count : 1) * sizeof(*ratios));
    if (!ratios)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for statistics");
    size_t width = row_width(samples, serial);
    out->n = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const int64_t *extras = samples->rows + i * width + column_extras(serial);
        if (extras[below] > 0)
            ratios[out->n++] = (double)extras[above] / (double)extras[below];
    }
    if (out->n < VALUES_MIN) {
        out->absent = too_few;
    } else {
        struct interval interval;
        stats_sort(ratios, out->n);
        stats_median_interval(ratios, out->n, confidence, &interval);
        out->value = interval.estimate;
        out->low = interval.low;
        out->high = interval.high;
    }
    free(ratios);
    return true;
}

int64_t samples_time_median(const struct samples *samples, const struct serial *serial,
                            struct assay_error *error)
{
    if (!column_present(samples, serial, COLUMN_TIME))
        return -1;
    double *scratch = malloc(samples->count * sizeof(*scratch));
    if (!scratch) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for statistics");
        return -1;
    }
    struct summary summary = summarise(samples, serial, COLUMN_TIME, 0.95, scratch);
    free(scratch);
    return (int64_t)summary.interval.estimate;
}
