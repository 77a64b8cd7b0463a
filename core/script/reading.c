/* SPDX-License-Identifier: MIT */
/* What sensors read while a case ran: r.sensors.cpu_clock.max. */
#include "script/inside.h"

#include "base/json.h"

#include <string.h>

static const char *const figures[] = {"min", "median", "mean", "max"};
#define FIGURES (sizeof(figures) / sizeof(figures[0]))

const struct catalog_metric *reading_find(lua_State *L, const char *where, const char *name)
{
    const struct catalog *catalog = script_of(L)->plan->catalog;
    size_t count = catalog_reading_count(catalog);
    const char **names = script_alloc(L, (count + 1) * sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        const struct catalog_metric *reading = catalog_reading(catalog, i);
        if (strcmp(reading->name, name) == 0)
            return reading;
        names[i] = reading->name;
    }
    script_unknown(L, where, "reading", name, names, count);
    return NULL;
}

const char *reading_full_name(lua_State *L, const char *reading, const char *member)
{
    for (size_t i = 0; i < FIGURES; i++)
        if (strcmp(figures[i], member) == 0)
            return lua_pushfstring(L, SENSORS_PREFIX "%s.%s", reading, member);
    lua_pushfstring(L, "reading '%s'", reading);
    script_unknown(L, lua_tostring(L, -1), "figure", member, figures, FIGURES);
    return NULL;
}

/* The readings' object, and the member that the full name means. */
static const json_t *reading_of(const json_t *sensors, const char *name, const char **figure)
{
    const char *reading = name + strlen(SENSORS_PREFIX), *dot = strrchr(name, '.');
    const char *key;
    json_t *value;
    *figure = dot + 1;
    json_object_foreach(json_object_get(sensors, "readings"), key, value)
    {
        if (strlen(key) == (size_t)(dot - reading) && strncmp(key, reading, strlen(key)) == 0)
            return value;
    }
    return NULL;
}

void reading_metric(const json_t *sensors, const char *name, struct dimension dimension,
                    struct metric *metric)
{
    const char *figure;
    const json_t *reading = reading_of(sensors, name, &figure);
    const json_t *value = json_object_get(reading, figure);
    *metric = (struct metric){.name = name, .dimension = dimension};
    if (json_is_number(value)) {
        metric->value = metric->low = metric->high = json_number_value(value);
        metric->n = (size_t)json_whole(reading, "n", 0);
    } else if (!json_is_object(sensors)) {
        metric->absent = "no sensor was read: the case is a model, or ran before there were any";
    } else {
        metric->absent = json_text(reading, "absent", "no such sensor was there when the case ran");
    }
}
