/* SPDX-License-Identifier: MIT */
/* r.bottleneck: the stage with the largest time, and its part of the sum of all stages' times. */
#include "script/inside.h"

#include <string.h>

static const struct dimension time_dimension = {.seconds = 1};

/* The part of stage `largest` in the sum of all stages' times. */
static void push_share(lua_State *L, const struct plan_case *item, const char *largest)
{
    const struct catalog_workload *workload = item->workload;
    int top = lua_gettop(L), first = 0, sum = 0;
    for (size_t i = 0; i < workload->stage_count; i++) {
        struct metric time;
        const char *full = lua_pushfstring(L, "%s.time", workload->stages[i].name);
        result_metric(L, item, full, time_dimension, &time);
        if (time.absent)
            continue;
        luaL_checkstack(L, 8, "too many stages");
        metric_push(L, &time, item, result_device_label(L, item));
        if (workload->stages[i].name == largest)
            first = lua_gettop(L);
        if (sum) {
            metric_push_combined(L, METRIC_ADD, sum, lua_gettop(L));
            sum = lua_gettop(L);
        } else {
            sum = lua_gettop(L);
        }
    }
    metric_push_combined(L, METRIC_DIVIDE, first, sum);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    metric_rename(L, "bottleneck.share");
}

void bottleneck_push(lua_State *L, const struct plan_case *item, const char *name)
{
    static const char *const names[] = {"stage", "share"};
    const struct catalog_workload *workload = item->workload;
    const char *largest = NULL, *reason;
    double most = 0;
    for (size_t i = 0; i < workload->stage_count; i++) {
        struct metric time;
        const char *full = lua_pushfstring(L, "%s.time", workload->stages[i].name);
        result_metric(L, item, full, time_dimension, &time);
        lua_pop(L, 1);
        if (!time.absent && (!largest || time.value > most)) {
            most = time.value;
            largest = workload->stages[i].name;
        }
    }
    if (strcmp(name, "stage") == 0) {
        lua_pushstring(L, largest);
        return;
    }
    if (strcmp(name, "share") != 0)
        script_unknown(L, "r.bottleneck", "member", name, names, 2);
    if (largest) {
        push_share(L, item, largest);
        return;
    }
    result_record(L, item, &reason);
    struct metric share = {.name = "bottleneck.share",
                           .absent = reason ? reason : "no stage has a time"};
    metric_push(L, &share, item, result_device_label(L, item));
}
