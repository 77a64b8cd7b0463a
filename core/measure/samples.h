/* SPDX-License-Identifier: MIT */
/* The samples of a case, the series and the metrics that come of them. */
#ifndef MEASURE_SAMPLES_H
#define MEASURE_SAMPLES_H

#include "measure/serial.h"
#include "result/metric.h"

/* All zero is empty. A row is one turn: end to end, submit, device, CPU, then time and device time
 * of each stage, then what the schedule adds (serial_times.extra); all in ns. */
struct samples {
    int64_t *rows;
    size_t count, capacity;
    const char *const *extras; /* names of what the schedule adds; at most SERIAL_EXTRAS */
    unsigned extra_count;
    bool windows; /* a row is a window: no times of submission, the device and the processor */
};
bool samples_add(struct samples *samples, const struct serial *serial,
                 const struct serial_times *times, struct assay_error *error);
void samples_free(struct samples *samples);

/* {"time":[...],"copy.time":[...],...}: what could be measured. */
void samples_add_series(const struct samples *samples, const struct serial *serial,
                        struct text *out);
/* How many samples a record can hold: its line has a limited length. */
unsigned samples_room(const struct samples *samples, const struct serial *serial);
/* The ratio of two extras, turn by turn: its median and interval. */
bool samples_ratio(const struct samples *samples, const struct serial *serial, unsigned above,
                   unsigned below, double confidence, struct metric *out,
                   struct assay_error *error);
/* All metrics but the workload's extras. The interval of a time is no narrower than a step of the
 * clock that gave it. */
bool samples_metrics(const struct samples *samples, const struct serial *serial, double confidence,
                     struct metric_set *set, struct assay_error *error);
/* Median end-to-end time in ns; -1 without. */
int64_t samples_time_median(const struct samples *samples, const struct serial *serial,
                            struct assay_error *error);

#endif
