/* SPDX-License-Identifier: MIT */
/* A sensor: what is read of the machine while cases run on a device (clocks, temperatures, power).
 * All hooks are called from one thread of the worker process, that of the sensors, while cases run
 * on others. Tables and their strings are constant: valid and unchanged until the process ends. */
#ifndef ASSAY_SENSOR_H
#define ASSAY_SENSOR_H

#include <assay/error.h>

ASSAY_BEGIN_DECLARATIONS

/* A figure that a sensor reads: `r.sensors.NAME` of a script. Constant. */
struct assay_reading {
    size_t size; /* sizeof(struct assay_reading) */
    /* A Lua identifier, unique among the readings of all sensors; the unit of its values ("degC",
     * "Hz", "W", "B/s", "1"); one line. */
    const char *name, *unit, *help;
};

/* Readings of one sensor, at most. */
#define ASSAY_SENSOR_READINGS 16

/* What can be read with one another; constant. A hook that fails fills the error with any status;
 * it never fails the case: the readings have no more values in it, and the record says why. One
 * that does not come back within a second is left behind, and the sensor is not read any more in
 * this process. */
struct assay_sensor {
    size_t size; /* sizeof(struct assay_sensor) */
    /* A Lua identifier, unique among sensors; one line. */
    const char *name, *summary;
    const struct assay_reading *const *readings; /* NULL-terminated; 1 to ASSAY_SENSOR_READINGS */
    /* Required. Looks for what is to be read, before a case that runs on a device; kept open from
     * case to case. `root` is put in front of every path ("ROOT/sys/class/hwmon"): "" on the
     * machine itself, the directory of a made-up tree in a test; valid until close. What it returns
     * is the plugin's, until close. NULL with error on failure; ASSAY_UNSUPPORTED, with the reason,
     * where the machine has no such thing. */
    void *(*open)(const char *root, struct assay_error *error);
    /* Required. Puts what there is now into values[i], in the unit of readings[i]; NaN, which it is
     * before, means that there is none. Called some times a second: it should take well under a
     * millisecond. False with error (ASSAY_SYSTEM): it is closed, and opened again for the next
     * case. */
    bool (*read)(void *self, double *values, struct assay_error *error);
    /* Optional. Why readings[index] had no value just now; a text that is valid until the next
     * call. `index` counts from 0. */
    const char *(*absent)(void *self, size_t index);
    /* Required. Accepts NULL and half-built objects, and sets *self to NULL. */
    void (*close)(void **self);
};

ASSAY_END_DECLARATIONS

#endif
