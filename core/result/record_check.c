/* SPDX-License-Identifier: MIT */
#include "result/record_check.h"

#include "base/json.h"
#include "base/units.h"

#include <string.h>

struct member {
    const char *name;
    json_type type;
    const char *wrong;
};

static const struct member members[] = {
    {"experiment", JSON_STRING, "its experiment is not a text"},
    {"workload", JSON_STRING, "its workload is not a text"},
    {"status", JSON_STRING, "its status is not a text"},
    {"set", JSON_OBJECT, "its set is not an object"},
    {"params", JSON_OBJECT, "its params are not an object"},
    {"metrics", JSON_OBJECT, "its metrics are not an object"},
    {"series", JSON_OBJECT, "its series are not an object"},
};

static const char *check_metric(const json_t *metric)
{
    static const char *const ends[] = {"value", "low", "high"};
    struct unit unit;
    const char *symbol = json_text(metric, "unit", NULL);
    const json_t *n = json_object_get(metric, "n"), *absent = json_object_get(metric, "absent");
    if (!symbol || !unit_parse(symbol, &unit, NULL))
        return "a metric of it has no known unit";
    if (absent)
        return json_is_string(absent) ? NULL : "why a metric of it is absent is not a text";
    for (size_t i = 0; i < 3; i++)
        if (!json_is_number(json_object_get(metric, ends[i])))
            return "a metric of it has no number where value, low or high belongs";
    if (n && (!json_is_integer(n) || json_integer_value(n) < 0))
        return "a metric of it has no count where n belongs";
    double value = json_number(metric, "value", 0);
    if (json_number(metric, "low", value) <= value && value <= json_number(metric, "high", value))
        return NULL;
    return "a metric of it lies outside its interval";
}

static const char *check_series(const json_t *series)
{
    const char *name;
    json_t *values;
    size_t count = 0, i;
    bool first = true;
    json_object_foreach((json_t *)(uintptr_t)series, name, values)
    {
        json_t *value;
        if (!json_is_array(values) || (!first && json_array_size(values) != count))
            return "its series are not all lists of one length";
        count = json_array_size(values);
        first = false;
        json_array_foreach(values, i, value)
        {
            if (!json_is_null(value) && (!json_is_number(value) || json_number_value(value) < 0))
                return "a sample of it is not a number of at least 0";
        }
    }
    return NULL;
}

static const char *check_sensors(const json_t *sensors)
{
    static const char *const figures[] = {"min", "median", "mean", "max", "first", "last"};
    const char *name;
    json_t *reading;
    if (sensors && !json_is_object(sensors) && !json_is_null(sensors))
        return "its sensors are not an object";
    json_object_foreach(json_object_get(sensors, "readings"), name, reading)
    {
        struct unit unit;
        const json_t *absent = json_object_get(reading, "absent");
        if (!unit_parse(json_text(reading, "unit", ""), &unit, NULL))
            return "a reading of its sensors has no known unit";
        if (absent && !json_is_string(absent))
            return "why a reading of its sensors is absent is not a text";
        for (size_t i = 0; !absent && i < sizeof(figures) / sizeof(figures[0]); i++)
            if (!json_is_number(json_object_get(reading, figures[i])))
                return "a reading of its sensors is not numbers";
    }
    return NULL;
}

const char *record_check(const json_t *record)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *value = json_object_get(record, members[i].name);
        if (value && json_typeof(value) != members[i].type)
            return members[i].wrong;
    }
    const char *name, *wrong = NULL;
    json_t *metric;
    json_object_foreach(json_object_get(record, "metrics"), name, metric)
    {
        wrong = wrong ? wrong : check_metric(metric);
    }
    if (!wrong)
        wrong = check_sensors(json_object_get(record, "sensors"));
    return wrong ? wrong : check_series(json_object_get(record, "series"));
}
