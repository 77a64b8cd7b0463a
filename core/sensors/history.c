/* SPDX-License-Identifier: MIT */
#include "sensors/history.h"

#include "stats/quantile.h"

#include <string.h>

void history_clear(struct history *history)
{
    history->kept_count = history->stride = history->count = 0;
    history->min = history->max = history->sum = 0;
}

static void thin(struct history *history)
{
    for (size_t i = 0; i < HISTORY_KEPT / 2; i++)
        history->kept[i] = history->kept[2 * i];
    history->kept_count = HISTORY_KEPT / 2;
    history->stride *= 2;
}

void history_add(struct history *history, double value)
{
    if (history->count == 0) {
        history->min = history->max = value;
        history->stride = 1;
    }
    if (value < history->min)
        history->min = value;
    if (value > history->max)
        history->max = value;
    history->sum += value;
    if (history->count % history->stride == 0) {
        if (history->kept_count == HISTORY_KEPT)
            thin(history);
        if (history->count % history->stride == 0)
            history->kept[history->kept_count++] = value;
    }
    history->count++;
}

static double median(const double *values, size_t count)
{
    double sorted[HISTORY_KEPT];
    memcpy(sorted, values, count * sizeof(*values));
    stats_sort(sorted, count);
    return stats_median(sorted, count);
}

static double within(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

bool history_summarise(const struct history *history, struct history_summary *summary)
{
    size_t n = history->kept_count, third = n < 3 ? 1 : n / 3;
    if (history->count == 0)
        return false;
    *summary = (struct history_summary){
        .min = history->min,
        .median = median(history->kept, n),
        /* A sum of equal values may round. */
        .mean = within(history->sum / (double)history->count, history->min, history->max),
        .max = history->max,
        .first = median(history->kept, third),
        .last = median(history->kept + n - third, third),
        .count = history->count,
    };
    return true;
}
