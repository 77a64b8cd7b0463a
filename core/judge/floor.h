/* SPDX-License-Identifier: MIT */
/* Lower bounds of times, from what a stage has to do and what the device can do at best: the larger
 * of flops / peak rate of their number kind and bytes / peak bandwidth, which holds when the two
 * overlap fully (the roofline model: Williams, Waterman, Patterson, CACM 52(4), 2009). Pure. */
#ifndef JUDGE_FLOOR_H
#define JUDGE_FLOOR_H

#include "result/metric.h"

#include <jansson.h>

#define FLOOR_SETS 32
#define FLOOR_BALANCE_UNIT "flop/B"

/* The peaks of one device. Rates are of all bytes touched: a copy reads and writes each once, so
 * its bandwidth is twice its rate. A metric that was not measured is absent. */
struct floor_peaks {
    struct {
        double set_bytes; /* working set: what is read and what is written */
        struct metric bandwidth;
    } sets[FLOOR_SETS];
    size_t set_count;
    struct metric upload, download;      /* bytes that cross over, a second */
    double upload_bytes, download_bytes; /* how many did when that was measured; 0: not known */
    const json_t *record;                /* borrowed: number kinds are looked up in it */
};
/* From a `peaks` record (docs/journal.md), which must outlive `peaks`. */
void floor_peaks_read(const json_t *record, struct floor_peaks *peaks);
/* The record of the case's device in an array of peaks records, or NULL. `device`: of a case
 * record. */
const json_t *floor_peaks_find(const json_t *records, const json_t *device);

/* Of all entries of the record with that name the one with the highest estimate; absent when there
 * is none, with the reason of an absent one if there is. "fp32" stands for the best of "fp32.x1",
 * "fp32.x2", ... */
void floor_peak(const json_t *record, const char *name, struct metric *out);

/* What fits in a cache is not compared to memory: the best bandwidth over working sets of this size
 * or smaller; absent when none so small was measured. */
void floor_bandwidth(const struct floor_peaks *peaks, double set_bytes, struct metric *out);

/* The floor of a stage of a case record (its `cost` and `queues`, docs/journal.md), in s; the low
 * end follows from the high end of the peak that decides. Copies to and from the host bound stages
 * that move at least as much, the bandwidth within the device those that a queue serves. Absent,
 * with the reason, when nothing of the cost has a peak. `out` gets no name. */
void floor_stage(const struct floor_peaks *peaks, const json_t *stage, struct metric *out);
/* The sum over an array of stages: they run one after the other. Stages without a floor add
 * nothing; absent when no stage has one. */
void floor_case(const struct floor_peaks *peaks, const json_t *stages, struct metric *out);

/* Operations that the device can do for each byte of memory that it touches: the peak rate of that
 * kind over the bandwidth of the largest working set. Work with fewer is bound by memory. */
void floor_balance(const struct floor_peaks *peaks, const char *kind, struct metric *out);

/* Whether a time lies so clearly under its floor that the measurement must be broken: its whole
 * interval, under half of the floor's low end. Nearer ones may come from peaks that were measured
 * while the machine was busy. */
bool floor_is_broken(const struct metric *time, const struct metric *floor);

#endif
