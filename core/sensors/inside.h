/* SPDX-License-Identifier: MIT */
/* What the main thread and the sensors' thread share. Inside core/sensors only. */
#ifndef SENSORS_INSIDE_H
#define SENSORS_INSIDE_H

#include "base/units.h"
#include "sensors/history.h"
#include "sensors/sensors.h"

#include <pthread.h>

#define SENSORS_REASON_BYTES 256

enum seat_state {
    SEAT_CLOSED,
    SEAT_OPEN,
    SEAT_FAILED, /* until the next case */
    SEAT_LEFT,   /* a hook of it did not come back: it is not called any more */
};

struct seat_reading {
    double scale;  /* of the declared unit */
    char unit[32]; /* of the record */
    struct dimension dimension;
    char absent[SENSORS_REASON_BYTES]; /* of the last value, or "" */
    struct history history;            /* base units */
};

/* A sensor. The thread alone calls its hooks, without the mutex. */
struct seat {
    const struct assay_sensor *sensor;
    size_t reading_count;
    void *self;     /* the thread's own */
    double *values; /* the same */
    struct seat_reading *readings;
    enum seat_state state;
    bool fresh; /* it failed, or was left, in this case and after it had been opened */
    char reason[SENSORS_REASON_BYTES];
};

struct sensors {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* on CLOCK_MONOTONIC */
    char *root;
    int64_t interval_ns, limit_ns;
    struct seat **seats;
    size_t seat_count;
    size_t owners;       /* the main thread, and threads that have not ended */
    uint64_t generation; /* of the thread that counts; one that was left behind has an older one */
    bool running;        /* there is such a thread */
    bool active, quit;
    uint64_t asked, done; /* rounds: the last that was asked for, and the last that is done */
    struct seat *busy;    /* whose hook runs */
    int64_t busy_since_ns;
};

/* Starts the thread unless it runs. The mutex is held. */
bool sensors_start(struct sensors *sensors);
/* Takes one round of values, or has the thread end: waits for it, and leaves behind a thread that
 * is in a hook for too long. The mutex is held. */
void sensors_round(struct sensors *sensors);
void sensors_quit(struct sensors *sensors);
/* One owner less; the last frees it. The mutex is held, and let go. */
void sensors_release(struct sensors *sensors);

#endif
