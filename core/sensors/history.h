/* SPDX-License-Identifier: MIT */
/* The values of one reading over a case, in bounded memory. Pure. */
#ifndef SENSORS_HISTORY_H
#define SENSORS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#define HISTORY_KEPT                                                                               \
    1024 /* when so many are there every second goes, and only every second is kept */

struct history { /* all zero: empty */
    double kept[HISTORY_KEPT];
    size_t kept_count, stride; /* stride: one of so many values is kept; 0 before the first */
    size_t count;
    double min, max, sum;
};

/* Minimum, maximum, mean and count are of all values, the rest of the kept ones. */
struct history_summary {
    double min, median, mean, max;
    double first, last; /* medians of the first and the last third, in order of time */
    size_t count;
};

void history_clear(struct history *history);
void history_add(struct history *history, double value); /* finite */
/* False when there is no value. */
bool history_summarise(const struct history *history, struct history_summary *summary);

#endif
