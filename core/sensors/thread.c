/* SPDX-License-Identifier: MIT */
/* The sensors' thread, and how others wait for it. */
#include "sensors/inside.h"

#include "base/clock.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REST 9 /* after a round, at least so many times as long as it took */

struct thread {
    struct sensors *sensors;
    uint64_t generation;
};

static int64_t now_ns(void)
{
    return clock_now(clock_monotonic());
}

static void wait_until(struct sensors *sensors, int64_t when_ns)
{
    struct timespec when = {.tv_sec = when_ns / 1000000000, .tv_nsec = when_ns % 1000000000};
    pthread_cond_timedwait(&sensors->changed, &sensors->mutex, &when);
}

/* Whether it was not left behind. */
static bool counts(const struct thread *thread)
{
    return thread->sensors->generation == thread->generation;
}

static void hook_begin(struct thread *thread, struct seat *seat)
{
    thread->sensors->busy = seat;
    thread->sensors->busy_since_ns = now_ns();
    pthread_mutex_unlock(&thread->sensors->mutex);
}

/* False: it came back too late. The seat is nobody else's then: what it holds is closed. */
static bool hook_end(struct thread *thread, struct seat *seat, void **self)
{
    pthread_mutex_lock(&thread->sensors->mutex);
    if (counts(thread)) {
        thread->sensors->busy = NULL;
        return true;
    }
    pthread_mutex_unlock(&thread->sensors->mutex);
    seat->sensor->close(self);
    pthread_mutex_lock(&thread->sensors->mutex);
    return false;
}

static void keep_reason(char *out, const char *reason)
{
    const char *text = reason && *reason ? reason : "it gave no reason";
    size_t length = strnlen(text, SENSORS_REASON_BYTES - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

static bool seat_open(struct thread *thread, struct seat *seat)
{
    struct assay_error error = {0};
    hook_begin(thread, seat);
    void *self = seat->sensor->open(thread->sensors->root, &error);
    if (!hook_end(thread, seat, &self))
        return false;
    seat->self = self;
    seat->state = self ? SEAT_OPEN : SEAT_FAILED;
    if (!self)
        keep_reason(seat->reason, error.text);
    return true;
}

static bool seat_close(struct thread *thread, struct seat *seat)
{
    hook_begin(thread, seat);
    seat->sensor->close(&seat->self);
    return hook_end(thread, seat, &seat->self);
}

static void take_values(struct seat *seat, char (*absent)[SENSORS_REASON_BYTES])
{
    for (size_t i = 0; i < seat->reading_count; i++) {
        struct seat_reading *reading = &seat->readings[i];
        double value = seat->values[i] * reading->scale;
        memcpy(reading->absent, absent[i], SENSORS_REASON_BYTES);
        if (isfinite(value))
            history_add(&reading->history, value);
        else if (!isnan(value))
            keep_reason(reading->absent, "its value was not finite");
    }
}

static bool seat_read(struct thread *thread, struct seat *seat)
{
    const struct assay_sensor *sensor = seat->sensor;
    struct assay_error error = {0};
    char absent[ASSAY_SENSOR_READINGS][SENSORS_REASON_BYTES] = {{0}};
    for (size_t i = 0; i < seat->reading_count; i++)
        seat->values[i] = NAN;
    hook_begin(thread, seat);
    bool good = sensor->read(seat->self, seat->values, &error);
    for (size_t i = 0; good && i < seat->reading_count; i++)
        if (isnan(seat->values[i]))
            keep_reason(absent[i], sensor->absent ? sensor->absent(seat->self, i) : NULL);
    if (!hook_end(thread, seat, &seat->self))
        return false;
    if (good) {
        take_values(seat, absent);
        return true;
    }
    seat->state = SEAT_FAILED;
    seat->fresh = true;
    keep_reason(seat->reason, error.text);
    return seat_close(thread, seat);
}

static bool take_round(struct thread *thread)
{
    struct sensors *sensors = thread->sensors;
    for (size_t i = 0; i < sensors->seat_count; i++) {
        struct seat *seat = sensors->seats[i];
        if (seat->state == SEAT_CLOSED && !seat_open(thread, seat))
            return false;
        if (seat->state == SEAT_OPEN && !seat_read(thread, seat))
            return false;
    }
    return true;
}

static bool close_all(struct thread *thread)
{
    struct sensors *sensors = thread->sensors;
    for (size_t i = 0; i < sensors->seat_count; i++) {
        struct seat *seat = sensors->seats[i];
        if (seat->state != SEAT_OPEN)
            continue;
        seat->state = SEAT_CLOSED;
        if (!seat_close(thread, seat))
            return false;
    }
    return true;
}

static void serve(struct thread *thread)
{
    struct sensors *sensors = thread->sensors;
    int64_t next_ns = 0;
    while (!sensors->quit) {
        int64_t begin_ns = now_ns();
        if (sensors->done < sensors->asked || (sensors->active && begin_ns >= next_ns)) {
            uint64_t round = sensors->asked;
            if (!take_round(thread))
                return;
            int64_t end_ns = now_ns(), rest_ns = REST * (end_ns - begin_ns);
            next_ns = end_ns + (rest_ns > sensors->interval_ns ? rest_ns : sensors->interval_ns);
            sensors->done = round;
            pthread_cond_broadcast(&sensors->changed);
        } else if (sensors->active) {
            wait_until(sensors, next_ns);
        } else {
            pthread_cond_wait(&sensors->changed, &sensors->mutex);
        }
    }
    if (close_all(thread))
        sensors->running = false;
    pthread_cond_broadcast(&sensors->changed);
}

static void *work(void *argument)
{
    struct thread thread = *(struct thread *)argument;
    free(argument);
    pthread_mutex_lock(&thread.sensors->mutex);
    if (counts(&thread))
        serve(&thread);
    sensors_release(thread.sensors);
    return NULL;
}

/* Signals are the main thread's business. */
static bool create_thread(struct thread *thread)
{
    pthread_t created;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&created, NULL, work, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (good)
        pthread_detach(created);
    return good;
}

bool sensors_start(struct sensors *sensors)
{
    if (sensors->running)
        return true;
    struct thread *thread = malloc(sizeof(*thread));
    if (thread) {
        *thread = (struct thread){sensors, ++sensors->generation};
        sensors->running = create_thread(thread);
        sensors->owners += sensors->running;
    }
    if (sensors->running)
        return true;
    free(thread);
    for (size_t i = 0; i < sensors->seat_count; i++) {
        struct seat *seat = sensors->seats[i];
        if (seat->state == SEAT_LEFT)
            continue;
        seat->state = SEAT_FAILED;
        keep_reason(seat->reason, "no thread could be started to read it");
    }
    return false;
}

/* The thread is in a hook that does not come back: another one goes on without that sensor. What
 * the others hold passes over. */
static void leave_behind(struct sensors *sensors)
{
    struct seat *seat = sensors->busy;
    seat->state = SEAT_LEFT;
    seat->fresh = true;
    snprintf(seat->reason, sizeof(seat->reason),
             "it did not come back within %.3g s, so it is not read any more",
             (double)sensors->limit_ns / 1e9);
    sensors->busy = NULL;
    sensors->generation++;
    sensors->running = false;
}

/* Waits for something new; true: look again. False: the thread does not get the processor, or none
 * can be had. */
static bool watch(struct sensors *sensors, int64_t *begin_ns)
{
    int64_t since_ns = sensors->busy ? sensors->busy_since_ns : *begin_ns;
    int64_t until_ns = since_ns + sensors->limit_ns;
    if (now_ns() < until_ns) {
        wait_until(sensors, until_ns);
        return true;
    }
    if (!sensors->busy)
        return false; /* it does not get the processor */
    leave_behind(sensors);
    *begin_ns = now_ns();
    return sensors_start(sensors);
}

void sensors_round(struct sensors *sensors)
{
    uint64_t round = ++sensors->asked;
    int64_t begin_ns = now_ns();
    if (!sensors_start(sensors))
        return;
    pthread_cond_broadcast(&sensors->changed);
    while (sensors->done < round && watch(sensors, &begin_ns)) {
    }
}

void sensors_quit(struct sensors *sensors)
{
    int64_t begin_ns = now_ns();
    sensors->quit = true;
    pthread_cond_broadcast(&sensors->changed);
    while (sensors->running && watch(sensors, &begin_ns)) {
    }
}
