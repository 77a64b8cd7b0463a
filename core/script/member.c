/* SPDX-License-Identifier: MIT */
/* The names of what can be looked at in a result or a collection of cases, and of which kind it is.
 */
#include "script/inside.h"

#include <string.h>

const char *const case_metrics[] = {
    "time",       "submit_time", "device_time",  "host_cpu_time", "floor",
    "period",     "serial_time", "ideal_period", "efficiency",    "extra_memory",
    "throughput", "goodput",     "utilisation",  "drift",         "value",
};
const size_t case_metric_count = sizeof(case_metrics) / sizeof(case_metrics[0]);
static const char latency_part[] = "latency";
static const char *const stage_members[] = {
    "time", "rate", "flop_rate", "item_rate", "device_time", "device_rate", "floor", "sensitivity"};
/* The last is no metric. */
static const char *const latency_members[] = {"p50",     "p95",      "p99",     "mean",
                                              "waiting", "batching", "service", "histogram"};

static const struct dimension time_dimension = {.seconds = 1};

static const char *const *part_members(const char *part, size_t *count)
{
    bool latency = strcmp(part, latency_part) == 0;
    *count = latency ? sizeof(latency_members) / sizeof(latency_members[0])
                     : sizeof(stage_members) / sizeof(stage_members[0]);
    return latency ? latency_members : stage_members;
}

bool part_member(const char *part, const char *name, struct dimension *dimension)
{
    static const struct dimension dimensions[] = {
        {.seconds = 1},
        {.bytes = 1, .seconds = -1},
        {.flops = 1, .seconds = -1},
        {.items = 1, .seconds = -1},
        {.seconds = 1},
        {.bytes = 1, .seconds = -1},
        {.seconds = 1},
        {0},
    };
    size_t count;
    const char *const *members = part_members(part, &count);
    if (members == latency_members)
        count--;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, members[i]) == 0) {
            *dimension = members == stage_members ? dimensions[i] : time_dimension;
            return true;
        }
    }
    return false;
}

const char *part_find(const struct catalog_workload *workload, const char *name)
{
    for (size_t i = 0; i < workload->stage_count; i++)
        if (strcmp(name, workload->stages[i].name) == 0)
            return workload->stages[i].name;
    return strcmp(name, latency_part) == 0 ? latency_part : NULL;
}

enum member_kind member_find(const struct catalog_workload *workload, const char *name,
                             struct dimension *dimension)
{
    if (part_find(workload, name))
        return MEMBER_PART;
    *dimension = time_dimension;
    const struct metric_description *scheduled = catalog_schedule_metric(name);
    if (scheduled)
        *dimension = scheduled->dimension;
    for (size_t i = 0; i < case_metric_count; i++)
        if (strcmp(name, case_metrics[i]) == 0)
            return MEMBER_METRIC;
    for (size_t i = 0; i < workload->extra_count; i++) {
        if (strcmp(name, workload->extras[i].name) == 0) {
            *dimension = workload->extras[i].dimension;
            return MEMBER_METRIC;
        }
    }
    return MEMBER_NONE;
}

const char **member_names(lua_State *L, const struct catalog_workload *workload, size_t more,
                          size_t *count)
{
    size_t room = workload->stage_count + 1 + case_metric_count + workload->extra_count + more;
    const char **names = script_alloc(L, room * sizeof(*names));
    *count = 0;
    for (size_t i = 0; i < workload->stage_count; i++)
        names[(*count)++] = workload->stages[i].name;
    for (size_t i = 0; i < case_metric_count; i++)
        names[(*count)++] = case_metrics[i];
    names[(*count)++] = latency_part;
    for (size_t i = 0; i < workload->extra_count; i++)
        names[(*count)++] = workload->extras[i].name;
    return names;
}

void part_unknown(lua_State *L, const char *part, const char *name)
{
    size_t count;
    const char *const *members = part_members(part, &count);
    lua_pushfstring(L, members == stage_members ? "stage '%s'" : "'%s'", part);
    script_unknown(L, lua_tostring(L, -1), "metric", name, members, count);
}
