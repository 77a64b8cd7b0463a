/* SPDX-License-Identifier: MIT */
/* What is asked of the worker. */
#include "experiment/plan.h"

#include "base/json.h"

static json_t *settings_to_json(const struct plan_case *item)
{
    json_t *set = json_object();
    for (uint32_t i = 0; set && i < item->setting_count; i++) {
        const struct assay_option *option = item->workload->options[item->settings[i].option];
        json_t *value = option_value_to_json(option, &item->settings[i].value);
        if (json_object_set_new(set, option->name, value) != 0) {
            json_decref(set);
            return NULL;
        }
    }
    return set;
}

static json_t *measure_to_json(const struct plan_measure *measure, bool quick)
{
    int64_t budget = measure->budget_ns > 0 ? measure->budget_ns : INT64_C(1000000000);
    json_t *json = json_pack(
        "{s:f, s:I, s:I, s:I}", "target", measure->target > 0 ? measure->target : 0.02, "budget_ns",
        (json_int_t)(quick ? budget / 10 : budget), "min_samples",
        (json_int_t)(measure->min_samples ? measure->min_samples : 6), "max_samples",
        (json_int_t)(measure->max_samples ? measure->max_samples : 10000));
    if (json && measure->warmup_ns > 0 &&
        json_object_set_new(json, "warmup_ns", json_integer(measure->warmup_ns)) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* {"axis","group","cases"} or null. */
static json_t *pair_to_json(const struct plan *plan, uint32_t group)
{
    const struct plan_case *first = plan_group_first(plan, group);
    const char *axis = plan->experiments[first->experiment].pair;
    struct hash128 id;
    struct assay_error ignored = {0}; /* no memory, as NULL says */
    char hex[HASH_HEX_BYTES];
    if (!axis)
        return json_null();
    if (!plan_group_id(plan, group, &id, &ignored))
        return NULL;
    hash_hex(&id, hex);
    return json_pack("{s:s, s:s, s:I}", "axis", axis, "group", hex, "cases",
                     (json_int_t)plan->groups[group].count);
}

static json_t *search_of(const struct plan_experiment *experiment)
{
    return experiment->search ? search_to_json(experiment->search) : NULL;
}

json_t *plan_case_request(const struct plan *plan, const struct plan_case *item, bool quick)
{
    const struct plan_experiment *experiment = &plan->experiments[item->experiment];
    const char *device = item->device ? item->device : plan->device;
    char hex[HASH_HEX_BYTES], definition[HASH_HEX_BYTES];
    hash_hex(&item->id, hex);
    hash_hex(&item->workload->definition, definition);
    return json_pack(
        "{s:s, s:s, s:o, s:i, s:s, s:s, s:s, s:s, s:s*, s:o, s:o, s:o, s:I, s:I, s:I, s:o*, "
        "s:o, s:b, s:o}",
        "ask", "case", "experiment", experiment->name, "script",
        json_clean_string(experiment->script), "line", experiment->line, "id", hex, "workload",
        item->workload->name, "version", item->workload->version, "definition", definition,
        "plugin", item->workload->file, "set", settings_to_json(item), "device",
        device ? json_clean_string(device) : json_null(), "schedule",
        schedule_to_json(plan_case_schedule(item)), "replica", (json_int_t)item->replica, "seed",
        (json_int_t)plan->seed, "case_seed", (json_int_t)item->seed, "search",
        search_of(experiment), "pair", pair_to_json(plan, item->group), "quick", (int)quick,
        "measure", measure_to_json(&experiment->measure, quick));
}

static json_t *members_to_json(const struct plan *plan, uint32_t group, bool quick)
{
    json_t *members = json_array();
    const struct plan_case *item = plan_group_first(plan, group);
    for (; members && item; item = plan_group_next(plan, item)) {
        if (json_array_append_new(members, plan_case_request(plan, item, quick)) != 0) {
            json_decref(members);
            return NULL;
        }
    }
    return members;
}

/* Another stream than that of any case: ids differ. Byte order aside. */
static json_int_t order_seed(uint64_t seed, const struct hash128 *group)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 8 | group->bytes[i];
    return (json_int_t)random_child(seed, word);
}

json_t *plan_group_request(const struct plan *plan, uint32_t group, bool quick)
{
    const struct plan_case *first = plan_group_first(plan, group);
    const struct plan_experiment *experiment = &plan->experiments[first->experiment];
    if (plan->groups[group].count == 1) {
        json_t *request = plan_case_request(plan, first, quick);
        if (json_object_set_new(request, "looks", json_boolean(experiment->looks)) == 0 &&
            (!experiment->tune || json_object_set_new(request, "tune", json_true()) == 0))
            return request;
        json_decref(request);
        return NULL;
    }
    struct hash128 id;
    struct assay_error ignored = {0}; /* no memory, as NULL says */
    char hex[HASH_HEX_BYTES];
    if (!plan_group_id(plan, group, &id, &ignored))
        return NULL;
    hash_hex(&id, hex);
    return json_pack("{s:s, s:s, s:s, s:o, s:b, s:I}", "ask", "group", "axis", experiment->pair,
                     "group", hex, "cases", members_to_json(plan, group, quick), "looks",
                     (int)experiment->looks, "order_seed", order_seed(plan->seed, &id));
}
