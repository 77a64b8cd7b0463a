/* SPDX-License-Identifier: MIT */
/* Latencies counted in buckets that grow with them. One object belongs to one thread at a time. */
#ifndef STATS_HISTOGRAM_H
#define STATS_HISTOGRAM_H

#include "base/error.h"
#include "base/text.h"
#include "stats/quantile.h"

/* Each octave is cut in 128 equal buckets and values under 128 have one each, so a bucket's bounds
 * differ by at most 1/128 of the lower one: no value is off by more than 0.79 % of itself. 7296
 * buckets cover all of int64_t in 57 KiB (the idea of a log-linear histogram is Tene's
 * HdrHistogram). */
#define HISTOGRAM_RELATIVE_ERROR (1.0 / 128)

struct histogram;
struct histogram *histogram_create(struct assay_error *error);
void histogram_destroy(struct histogram **histogram);
void histogram_clear(struct histogram *histogram);

/* Counts one value, in ns (or any other unit). False, and nothing counted, for a negative one. */
bool histogram_add(struct histogram *histogram, int64_t value);
uint64_t histogram_count(const struct histogram *histogram);
/* Adds the counts of `from`. False, and nothing changed, when the total is over UINT64_MAX. */
bool histogram_merge(struct histogram *into, const struct histogram *from);

/* The smallest and the largest value that share a bucket with `value` >= 0. */
void histogram_bucket(int64_t value, int64_t *lowest, int64_t *highest);
/* The q-quantile, 0 <= q <= 1, as the value of rank ceil(q n), at least 1 (Hyndman & Fan 1996,
 * definition 1): low and high are its bucket's lowest and highest values, so it is certainly
 * between them; the estimate is their middle. False when nothing was counted. */
bool histogram_quantile(const struct histogram *histogram, double q, struct interval *out);
/* The same with its order-statistic interval (stats_quantile_ranks), widened to the bounds of the
 * buckets in which its ends lie. False too when the count is too small for `confidence`; the
 * interval is then the extremes'. */
bool histogram_quantile_interval(const struct histogram *histogram, double q, double confidence,
                                 struct interval *out);

/* Goes over the buckets that are not empty, from *at = 0 on: false at the end. */
bool histogram_next(const struct histogram *histogram, size_t *at, int64_t *lowest,
                    int64_t *highest, uint64_t *count);

/* A compact text for records: "log7", then " STEP:COUNT" for each bucket that is not empty (its
 * distance from the one before, the first from -1), then " #" and 8 hexadecimal digits of a hash of
 * what is before it. Printable ASCII without quotes. */
void histogram_add_text(const struct histogram *histogram, struct text *text);
/* Reads such a text into `histogram`, replacing what it held. ASSAY_INVALID (and an empty
 * histogram) for a text that histogram_add_text cannot have made, with the place. */
bool histogram_read_text(struct histogram *histogram, const char *text, struct assay_error *error);

#endif
