/* SPDX-License-Identifier: MIT */
#include "sensors/sensors.h"

#include "base/json.h"
#include "sensors/inside.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool init_lock(struct sensors *sensors)
{
    pthread_condattr_t attributes;
    if (pthread_mutex_init(&sensors->mutex, NULL) != 0)
        return false;
    bool good = pthread_condattr_init(&attributes) == 0;
    if (good) {
        good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
               pthread_cond_init(&sensors->changed, &attributes) == 0;
        pthread_condattr_destroy(&attributes);
    }
    if (!good)
        pthread_mutex_destroy(&sensors->mutex);
    return good;
}

struct sensors *sensors_create(const struct sensors_params *params, struct assay_error *error)
{
    struct sensors *sensors = calloc(1, sizeof(*sensors));
    char *root = strdup(params->root ? params->root : "");
    if (!sensors || !root || !init_lock(sensors)) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the sensors");
        free(sensors);
        free(root);
        return NULL;
    }
    sensors->root = root;
    sensors->interval_ns = params->interval_ns ? params->interval_ns : SENSORS_INTERVAL_NS;
    sensors->limit_ns = params->limit_ns ? params->limit_ns : SENSORS_LIMIT_NS;
    sensors->owners = 1;
    return sensors;
}

static void seat_free(struct seat *seat)
{
    if (!seat)
        return;
    free(seat->values);
    free(seat->readings);
    free(seat);
}

void sensors_release(struct sensors *sensors)
{
    bool last = --sensors->owners == 0;
    pthread_mutex_unlock(&sensors->mutex);
    if (!last)
        return;
    for (size_t i = 0; i < sensors->seat_count; i++)
        seat_free(sensors->seats[i]);
    pthread_cond_destroy(&sensors->changed);
    pthread_mutex_destroy(&sensors->mutex);
    free(sensors->seats);
    free(sensors->root);
    free(sensors);
}

void sensors_destroy(struct sensors **sensors)
{
    if (!*sensors)
        return;
    pthread_mutex_lock(&(*sensors)->mutex);
    sensors_quit(*sensors);
    sensors_release(*sensors);
    *sensors = NULL;
}

static void reading_init(struct seat_reading *reading, const struct assay_reading *info)
{
    struct unit unit = unit_of_label(info->unit);
    const char *symbol = unit.scale == 1 ? info->unit : dimension_symbol(unit.dimension);
    size_t length = strnlen(symbol, sizeof(reading->unit) - 1);
    reading->scale = unit.scale;
    reading->dimension = unit.dimension;
    memcpy(reading->unit, symbol, length);
}

static struct seat *seat_create(const struct assay_sensor *sensor)
{
    size_t count = 0;
    while (sensor->readings[count])
        count++;
    struct seat *seat = calloc(1, sizeof(*seat));
    if (!seat)
        return NULL;
    seat->sensor = sensor;
    seat->reading_count = count;
    seat->values = calloc(count, sizeof(*seat->values));
    seat->readings = calloc(count, sizeof(*seat->readings));
    if (!seat->values || !seat->readings) {
        seat_free(seat);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        reading_init(&seat->readings[i], sensor->readings[i]);
    return seat;
}

bool sensors_add(struct sensors *sensors, const struct assay_sensor *sensor,
                 struct assay_error *error)
{
    struct seat *seat = seat_create(sensor);
    pthread_mutex_lock(&sensors->mutex);
    size_t count = sensors->seat_count + 1;
    struct seat **seats = seat ? realloc(sensors->seats, count * sizeof(*seats)) : NULL;
    if (seats) {
        sensors->seats = seats;
        seats[sensors->seat_count++] = seat;
    }
    pthread_mutex_unlock(&sensors->mutex);
    if (seats)
        return true;
    seat_free(seat);
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for sensor '%s'",
                      sensor->name);
}

void sensors_reset(struct sensors *sensors)
{
    pthread_mutex_lock(&sensors->mutex);
    for (size_t i = 0; i < sensors->seat_count; i++) {
        struct seat *seat = sensors->seats[i];
        seat->fresh = false;
        if (seat->state == SEAT_FAILED)
            seat->state = SEAT_CLOSED;
        for (size_t r = 0; r < seat->reading_count; r++) {
            history_clear(&seat->readings[r].history);
            seat->readings[r].absent[0] = '\0';
        }
    }
    pthread_mutex_unlock(&sensors->mutex);
}

void sensors_begin(struct sensors *sensors)
{
    pthread_mutex_lock(&sensors->mutex);
    sensors->active = sensors->seat_count > 0;
    if (sensors->active)
        sensors_round(sensors);
    pthread_mutex_unlock(&sensors->mutex);
}

void sensors_end(struct sensors *sensors)
{
    pthread_mutex_lock(&sensors->mutex);
    if (sensors->active)
        sensors_round(sensors);
    sensors->active = false;
    pthread_mutex_unlock(&sensors->mutex);
}

static const char *absent_reason(const struct seat *seat, const struct seat_reading *reading)
{
    if (seat->state == SEAT_FAILED || seat->state == SEAT_LEFT)
        return seat->reason;
    return reading->absent[0] ? reading->absent : "it was not read";
}

static void add_number(struct text *out, const char *name, double value)
{
    text_addf(out, ",\"%s\":", name);
    json_add_real(out, value);
}

static bool add_reading(const struct seat *seat, const struct seat_reading *reading,
                        struct text *out)
{
    struct history_summary summary;
    text_addf(out, "{\"unit\":\"%s\"", reading->unit);
    if (!history_summarise(&reading->history, &summary)) {
        json_t *absent = json_clean_string(absent_reason(seat, reading));
        text_add(out, ",\"absent\":");
        if (absent)
            json_add_string(out, json_string_value(absent), json_string_length(absent));
        text_add_char(out, '}');
        json_decref(absent);
        return absent;
    }
    add_number(out, "min", summary.min);
    add_number(out, "median", summary.median);
    add_number(out, "mean", summary.mean);
    add_number(out, "max", summary.max);
    add_number(out, "first", summary.first);
    add_number(out, "last", summary.last);
    text_addf(out, ",\"n\":%zu}", summary.count);
    return true;
}

bool sensors_add_record(struct sensors *sensors, struct text *out)
{
    bool good = true, first = true;
    pthread_mutex_lock(&sensors->mutex);
    text_addf(out, "{\"interval_ns\":%lld,\"readings\":{", (long long)sensors->interval_ns);
    for (size_t i = 0; i < sensors->seat_count; i++) {
        const struct seat *seat = sensors->seats[i];
        for (size_t r = 0; r < seat->reading_count; r++) {
            text_addf(out, "%s\"%s\":", first ? "" : ",", seat->sensor->readings[r]->name);
            first = false;
            good = add_reading(seat, &seat->readings[r], out) && good;
        }
    }
    pthread_mutex_unlock(&sensors->mutex);
    text_add(out, "}}");
    return good && !out->failed;
}

static void add_change(const char *name, const struct seat_reading *reading, struct text *out)
{
    struct history_summary summary;
    struct text first = {0}, last = {0};
    if (!history_summarise(&reading->history, &summary))
        return;
    quantity_add(&first, summary.first, reading->dimension);
    quantity_add(&last, summary.last, reading->dimension);
    text_addf(out, "%s%s ", out->length ? ", " : "", name);
    if (strcmp(text_string(&first), text_string(&last)) == 0)
        text_addf(out, "stayed at %s", text_string(&last));
    else
        text_addf(out, "%s from %s to %s", summary.last > summary.first ? "rose" : "fell",
                  text_string(&first), text_string(&last));
    text_free(&first);
    text_free(&last);
}

void sensors_add_change(struct sensors *sensors, struct text *out)
{
    struct text changes = {0};
    pthread_mutex_lock(&sensors->mutex);
    for (size_t i = 0; i < sensors->seat_count; i++)
        for (size_t r = 0; r < sensors->seats[i]->reading_count; r++)
            add_change(sensors->seats[i]->sensor->readings[r]->name,
                       &sensors->seats[i]->readings[r], &changes);
    pthread_mutex_unlock(&sensors->mutex);
    text_add(out, text_string(&changes));
    text_free(&changes);
}

void sensors_notes(struct sensors *sensors, void (*add)(void *user, const char *note), void *user)
{
    pthread_mutex_lock(&sensors->mutex);
    for (size_t i = 0; i < sensors->seat_count; i++) {
        const struct seat *seat = sensors->seats[i];
        if (!seat->fresh)
            continue;
        size_t count = 0;
        for (size_t r = 0; r < seat->reading_count; r++)
            if (seat->readings[r].history.count > count)
                count = seat->readings[r].history.count;
        struct text note = {0};
        text_addf(&note, "sensor '%s' failed after %zu values: %s", seat->sensor->name, count,
                  seat->reason);
        add(user, text_string(&note));
        text_free(&note);
    }
    pthread_mutex_unlock(&sensors->mutex);
}
