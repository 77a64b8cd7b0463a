/* SPDX-License-Identifier: MIT */
/* Sensors, read by a thread of their own while samples are taken. Worker process only. The
 * functions are for one thread, the main one, and never wait for a sensor longer than
 * SENSORS_LIMIT_NS. */
#ifndef SENSORS_SENSORS_H
#define SENSORS_SENSORS_H

#include <assay/sensor.h>

#include "base/error.h"
#include "base/text.h"

/* A reading costs some tens of microseconds (a file of sysfs each), so ten a second take under a
 * thousandth of one core. */
#define SENSORS_INTERVAL_NS INT64_C(100000000)
#define SENSORS_LIMIT_NS INT64_C(1000000000) /* for one hook */

struct sensors;
struct sensors_params {
    const char *root;    /* in front of the host's paths; copied. NULL: none */
    int64_t interval_ns; /* 0: SENSORS_INTERVAL_NS */
    int64_t limit_ns;    /* 0: SENSORS_LIMIT_NS */
};
/* No thread yet. */
struct sensors *sensors_create(const struct sensors_params *params, struct assay_error *error);
/* Closes the sensors. What hangs is left behind. */
void sensors_destroy(struct sensors **sensors);
/* Between cases; the sensor lives as long. */
bool sensors_add(struct sensors *sensors, const struct assay_sensor *sensor,
                 struct assay_error *error);
/* A case begins: what was read is forgotten, and what failed may be tried again. */
void sensors_reset(struct sensors *sensors);
/* From here on values are taken: the first now, then one an interval, the last in sensors_end,
 * which both wait for theirs. Any number of times a case. */
void sensors_begin(struct sensors *sensors);
void sensors_end(struct sensors *sensors);

/* After sensors_end: the record's `sensors` (docs/journal.md). False when out of memory. */
bool sensors_add_record(struct sensors *sensors, struct text *out);
/* "cpu_clock fell from 3.2 GHz to 2.6 GHz, cpu_temperature stayed at 61 degC": medians of the first
 * and the last third of the values; nothing where there are none. */
void sensors_add_change(struct sensors *sensors, struct text *out);
/* What went wrong with sensors that had been opened, each a text of its own. */
void sensors_notes(struct sensors *sensors, void (*add)(void *user, const char *note), void *user);

#endif
