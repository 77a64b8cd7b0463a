/* SPDX-License-Identifier: MIT */
#include "judge/floor.h"

#include "base/json.h"

#include <string.h>

#define BROKEN_SHARE 0.5 /* of the floor: peaks are measured too, on a machine that may be busy */

static const struct dimension bandwidth_dimension = {.bytes = 1, .seconds = -1};
static const struct dimension flop_rate_dimension = {.flops = 1, .seconds = -1};
static const struct dimension time_dimension = {.seconds = 1};

static void read_metric(const json_t *entry, struct metric *out)
{
    struct unit unit = {.scale = 1};
    const json_t *value = json_object_get(entry, "value");
    bool known = unit_parse(json_text(entry, "unit", ""), &unit, NULL);
    if (strcmp(json_text(entry, "unit", ""), FLOOR_BALANCE_UNIT) == 0) {
        unit.dimension = (struct dimension){.flops = 1, .bytes = -1};
        known = true;
    }
    *out = (struct metric){.name = json_text(entry, "name", NULL), .dimension = unit.dimension};
    out->absent = json_text(entry, "absent", NULL);
    if (out->absent)
        return;
    if (!known || !json_is_number(value) || !(json_number_value(value) > 0)) {
        out->absent = "its record is damaged";
        return;
    }
    out->value = json_number_value(value) * unit.scale;
    out->low = json_number(entry, "low", json_number_value(value)) * unit.scale;
    out->high = json_number(entry, "high", json_number_value(value)) * unit.scale;
    int64_t n = json_whole(entry, "n", 0);
    out->n = n > 0 ? (size_t)n : 0;
    if (!(out->low > 0 && out->low <= out->value && out->value <= out->high))
        out->absent = "its record is damaged";
}

static void scale(struct metric *metric, double by)
{
    metric->value *= by;
    metric->low *= by;
    metric->high *= by;
}

/* "fp32" matches "fp32.x4"; "copy.device" itself. */
static bool name_matches(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);
    return strncmp(name, wanted, length) == 0 &&
           (!name[length] || (name[length] == '.' && !strchr(wanted, '.')));
}

/* *entry_bytes: what the best one copied; 0: not known. */
static void find_peak(const json_t *record, const char *name, struct metric *out,
                      double *entry_bytes)
{
    size_t i;
    json_t *entry;
    *out = (struct metric){.absent = "this peak was not measured"};
    *entry_bytes = 0;
    json_array_foreach(json_object_get(record, "peaks"), i, entry)
    {
        struct metric metric;
        if (!name_matches(json_text(entry, "name", ""), name))
            continue;
        read_metric(entry, &metric);
        if (metric.absent ? out->absent && !out->name : out->absent || metric.value > out->value) {
            *out = metric;
            *entry_bytes = json_number(json_object_get(entry, "conditions"), "bytes", 0);
        }
    }
    out->name = NULL;
}

void floor_peak(const json_t *record, const char *name, struct metric *out)
{
    double ignored;
    find_peak(record, name, out, &ignored);
}

void floor_peaks_read(const json_t *record, struct floor_peaks *peaks)
{
    size_t i;
    json_t *entry;
    *peaks = (struct floor_peaks){.record = record};
    find_peak(record, "copy.upload", &peaks->upload, &peaks->upload_bytes);
    find_peak(record, "copy.download", &peaks->download, &peaks->download_bytes);
    json_array_foreach(json_object_get(record, "peaks"), i, entry)
    {
        struct metric metric;
        double bytes = json_number(entry, "bytes", 0);
        if (strcmp(json_text(entry, "name", ""), "copy.device") != 0 || !(bytes > 0) ||
            peaks->set_count == FLOOR_SETS)
            continue;
        read_metric(entry, &metric);
        if (metric.absent)
            continue;
        scale(&metric, 2);
        peaks->sets[peaks->set_count].set_bytes = bytes;
        peaks->sets[peaks->set_count++].bandwidth = metric;
    }
}

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    const char *x = json_text(a, key, NULL), *y = json_text(b, key, NULL);
    return x && y ? strcmp(x, y) == 0 : x == y;
}

const json_t *floor_peaks_find(const json_t *records, const json_t *device)
{
    size_t i;
    json_t *record;
    json_array_foreach((json_t *)(uintptr_t)records, i, record)
    {
        const json_t *other = json_object_get(record, "device");
        if (json_is_object(device) && same_text(device, other, "uuid") &&
            same_text(device, other, "name") &&
            same_text(json_object_get(device, "driver"), json_object_get(other, "driver"), "info"))
            return record;
    }
    return NULL;
}

void floor_bandwidth(const struct floor_peaks *peaks, double set_bytes, struct metric *out)
{
    *out = (struct metric){.dimension = bandwidth_dimension,
                           .absent = "no copy of a working set this small was measured"};
    for (size_t i = 0; i < peaks->set_count; i++) {
        const struct metric *bandwidth = &peaks->sets[i].bandwidth;
        if (peaks->sets[i].set_bytes <= set_bytes && (out->absent || bandwidth->value > out->value))
            *out = *bandwidth;
    }
    out->name = NULL;
}

/* amount / rate, when it is more than what `floor` has so far. */
static void raise(struct metric *floor, double amount, const struct metric *rate)
{
    if (!(amount > 0))
        return;
    if (rate->absent) {
        if (floor->absent)
            floor->absent = rate->absent;
        return;
    }
    double value = amount / rate->value;
    if (!floor->absent && floor->value >= value)
        return;
    *floor = (struct metric){.dimension = time_dimension,
                             .value = value,
                             .low = amount / rate->high,
                             .high = amount / rate->low,
                             .n = rate->n};
}

/* A peak of large copies does not bound small ones, which caches hold. */
static void raise_crossing(struct metric *floor, double amount, const struct metric *rate,
                           double measured_bytes)
{
    static const struct metric none = {.absent = "no copy to or from the host this small was "
                                                 "measured"};
    raise(floor, amount, rate->absent || amount >= measured_bytes ? rate : &none);
}

void floor_stage(const struct floor_peaks *peaks, const json_t *stage, struct metric *out)
{
    const json_t *cost = json_object_get(stage, "cost");
    double traffic = json_number(cost, "read_bytes", 0) + json_number(cost, "written_bytes", 0);
    const char *kind = json_text(cost, "flop_kind", NULL);
    struct metric rate;
    *out = (struct metric){.dimension = time_dimension,
                           .absent = "the stage states neither traffic nor operations"};
    if (json_whole(stage, "queues", 1) > 0) {
        floor_bandwidth(peaks, traffic, &rate);
        raise(out, traffic, &rate);
    }
    raise_crossing(out, json_number(cost, "upload_bytes", 0), &peaks->upload, peaks->upload_bytes);
    raise_crossing(out, json_number(cost, "download_bytes", 0), &peaks->download,
                   peaks->download_bytes);
    if (kind) {
        floor_peak(peaks->record, kind, &rate);
        raise(out, json_number(cost, "flops", 0), &rate);
    }
}

void floor_case(const struct floor_peaks *peaks, const json_t *stages, struct metric *out)
{
    size_t i;
    json_t *stage;
    *out = (struct metric){.dimension = time_dimension, .absent = "no stage has a floor"};
    json_array_foreach((json_t *)(uintptr_t)stages, i, stage)
    {
        struct metric floor;
        floor_stage(peaks, stage, &floor);
        if (floor.absent)
            continue;
        if (out->absent) {
            *out = floor;
            continue;
        }
        out->value += floor.value;
        out->low += floor.low;
        out->high += floor.high;
        out->n = out->n < floor.n ? out->n : floor.n;
    }
}

void floor_balance(const struct floor_peaks *peaks, const char *kind, struct metric *out)
{
    struct metric rate, bandwidth = {.absent = "no copy within the device was measured"};
    double largest = 0;
    floor_peak(peaks->record, kind, &rate);
    for (size_t i = 0; i < peaks->set_count; i++) {
        if (peaks->sets[i].set_bytes > largest) {
            largest = peaks->sets[i].set_bytes;
            bandwidth = peaks->sets[i].bandwidth;
        }
    }
    *out = (struct metric){
        .dimension = dimension_quotient(flop_rate_dimension, bandwidth_dimension),
        .absent = rate.absent ? rate.absent : bandwidth.absent};
    if (out->absent)
        return;
    out->value = rate.value / bandwidth.value;
    out->low = rate.low / bandwidth.high;
    out->high = rate.high / bandwidth.low;
    out->n = rate.n < bandwidth.n ? rate.n : bandwidth.n;
}

bool floor_is_broken(const struct metric *time, const struct metric *floor)
{
    return !time->absent && !floor->absent && time->high < BROKEN_SHARE * floor->low;
}
