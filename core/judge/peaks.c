/* SPDX-License-Identifier: MIT */
#include "judge/peaks.h"

#include "base/json.h"
#include "base/text.h"
#include "judge/floor.h"

#include <inttypes.h>
#include <string.h>

json_t *peaks_record(const char *selector)
{
    return json_pack("{s:s, s:o, s:n, s:[]}", "kind", "peaks", "selector",
                     selector ? json_clean_string(selector) : json_null(), "device", "peaks");
}

/* "copy.upload", "fp32.x4"; false for a case of something else. */
static bool peak_name(const json_t *item, struct text *name)
{
    const json_t *set = json_object_get(item, "set");
    const char *direction = json_text(set, "direction", NULL);
    const char *number = json_text(set, "number", NULL);
    if (direction)
        text_addf(name, "copy.%s", direction);
    else if (number)
        text_addf(name, "%s.x%" PRId64, number, json_whole(set, "width", 0));
    return name->length > 0;
}

/* What was set, without what the name says. */
static json_t *conditions(const json_t *item)
{
    json_t *set = json_deep_copy(json_object_get(item, "set"));
    json_object_del(set, "direction");
    json_object_del(set, "number");
    json_object_del(set, "width");
    return set;
}

static json_t *entry_make(const json_t *item, const char *name, double set_bytes)
{
    const json_t *metrics = json_object_get(item, "metrics");
    const char *metric_name = strncmp(name, "copy.", 5) == 0 ? "copy.rate" : "compute.flop_rate";
    const json_t *metric = json_object_get(metrics, metric_name);
    const char *status = json_text(item, "status", "error");
    const char *absent = json_text(metric, "absent", NULL);
    json_t *entry = json_pack("{s:s, s:o}", "name", name, "case",
                              json_clean_string(json_text(item, "id", "")));
    if (set_bytes > 0)
        json_object_set_new(entry, "bytes", json_integer((json_int_t)set_bytes));
    json_object_set_new(entry, "unit", json_string(*name == 'c' ? "B/s" : "flop/s"));
    if (strcmp(status, "done") != 0)
        absent = json_text(item, "reason", status);
    if (absent || !json_is_object(metric)) {
        json_object_set_new(entry, "absent",
                            json_clean_string(absent ? absent : "the case has no such figure"));
    } else {
        static const char *const members[] = {"value", "low", "high", "n"};
        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
            json_object_set(entry, members[i], json_object_get(metric, members[i]));
    }
    json_object_set_new(entry, "conditions", conditions(item));
    return entry;
}

static bool is_better(const json_t *entry, const json_t *than)
{
    return json_number(entry, "value", 0) > json_number(than, "value", 0);
}

bool peaks_add(json_t *record, const json_t *item, struct assay_error *error)
{
    struct text name = {0};
    size_t i;
    json_t *other, *peaks = json_object_get(record, "peaks");
    if (!peak_name(item, &name) || name.failed) {
        text_free(&name);
        return assay_fail(error, ASSAY_INTERNAL, "a case of no peak");
    }
    if (!json_is_object(json_object_get(record, "device")) &&
        json_text(json_object_get(item, "device"), "name", NULL)) {
        json_t *device = json_deep_copy(json_object_get(item, "device"));
        json_object_del(device, "queues");
        json_object_set_new(record, "device", device);
    }
    bool device_copy = strcmp(text_string(&name), "copy.device") == 0;
    double set_bytes = 2 * json_number(json_object_get(item, "set"), "bytes", 0);
    json_t *entry = entry_make(item, text_string(&name), device_copy ? set_bytes : 0);
    text_free(&name);
    bool good = entry != NULL, placed = false;
    json_array_foreach(peaks, i, other)
    {
        if (!good || strcmp(json_text(other, "name", ""), json_text(entry, "name", "")) != 0 ||
            json_number(other, "bytes", 0) != json_number(entry, "bytes", 0))
            continue;
        placed = true;
        if (is_better(entry, other))
            good = json_array_set(peaks, i, entry) == 0;
        break;
    }
    if (good && !placed)
        good = json_array_append(peaks, entry) == 0;
    json_decref(entry);
    return good || assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the record of peaks");
}

bool peaks_finish(json_t *record, struct assay_error *error)
{
    static const char *const kinds[] = {"fp32", "fp64", "fp16", "int32", "int8"};
    struct floor_peaks peaks;
    bool good = true;
    floor_peaks_read(record, &peaks);
    for (size_t i = 0; good && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct metric balance;
        floor_balance(&peaks, kinds[i], &balance);
        if (balance.absent)
            continue;
        json_t *entry = json_pack("{s:s+, s:s, s:f, s:f, s:f, s:I}", "name", "balance.", kinds[i],
                                  "unit", FLOOR_BALANCE_UNIT, "value", balance.value, "low",
                                  balance.low, "high", balance.high, "n", (json_int_t)balance.n);
        good = json_array_append_new(json_object_get(record, "peaks"), entry) == 0;
    }
    return good || assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the record of peaks");
}
