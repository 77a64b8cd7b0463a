/* SPDX-License-Identifier: MIT */
#include "judge/turns.h"

#include "base/hash.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define NS 1e9

void turns_free(struct turns *turns)
{
    free(turns->values);
    *turns = (struct turns){0};
}

double turns_value(const struct turns *turns, double time)
{
    return turns->rate ? turns->scale / time : time / turns->scale;
}

/* What a rate divides by its time. 0: not known. */
static double stage_amount(const json_t *record, const char *stage, size_t length, const char *cost)
{
    const json_t *stages = json_object_get(record, "stages");
    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *entry = json_array_get(stages, i);
        const char *name = json_text(entry, "name", "");
        if (strlen(name) == length && memcmp(name, stage, length) == 0)
            return json_number(json_object_get(entry, "cost"), cost, 0);
    }
    return 0;
}

/* The name of the series of times behind the metric; sets what turns a time into its value. */
static bool series_name(const json_t *record, const char *metric, struct turns *turns,
                        char name[static 128])
{
    static const struct {
        const char *metric, *series, *cost;
    } rates[] = {{"rate", "time", "payload_bytes"},
                 {"flop_rate", "time", "flops"},
                 {"item_rate", "time", "items"},
                 {"device_rate", "device_time", "payload_bytes"}};
    const char *dot = strrchr(metric, '.');
    const char *series = dot ? dot + 1 : metric;
    size_t stage = (size_t)(series - metric);
    turns->scale = NS;
    for (size_t i = 0; dot && i < sizeof(rates) / sizeof(rates[0]); i++) {
        if (strcmp(series, rates[i].metric) != 0)
            continue;
        turns->rate = true;
        turns->scale = stage_amount(record, metric, stage - 1, rates[i].cost) * NS;
        series = rates[i].series;
        break;
    }
    size_t length = strlen(series) + 1;
    if (!(turns->scale > 0) || stage + length > 128)
        return false;
    memcpy(name, metric, stage);
    memcpy(name + stage, series, length);
    return true;
}

/* The processor's time is read in turns of each case's own, so it pairs with nothing; what else is
 * not there in each turn (device times of repeated stages) is there in the same ones of all the
 * cases that are taken in turn. */
static bool may_be_sparse(const char *series)
{
    return strcmp(series, "host_cpu_time") != 0;
}

bool turns_read(const json_t *samples, const json_t *record, const char *metric, struct turns *out,
                struct assay_error *error)
{
    char name[128];
    *out = (struct turns){0};
    struct turns turns = {0};
    turns.confidence = json_number(json_object_get(record, "sampling"), "confidence", 0);
    if (!(turns.confidence > 0 && turns.confidence < 1) ||
        strcmp(json_text(samples, "unit", ""), "ns") != 0 ||
        !series_name(record, metric, &turns, name))
        return true;
    const json_t *series = json_object_get(json_object_get(samples, "series"), name);
    size_t all = json_array_size(series);
    if (all == 0)
        return true;
    turns.values = malloc(all * sizeof(*turns.values));
    if (!turns.values)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for %zu samples", all);
    for (size_t i = 0; i < all; i++) {
        const json_t *value = json_array_get(series, i);
        if (json_is_number(value))
            turns.values[turns.count++] = json_number_value(value);
        else
            turns.which = random_child(turns.which, i);
    }
    if (turns.which != 0 && (turns.count == 0 || !may_be_sparse(name)))
        turns_free(&turns);
    *out = turns;
    return true;
}
