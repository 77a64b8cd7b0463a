/* SPDX-License-Identifier: MIT */
/* Which metrics a case can have: by its workload, and by its schedule. */
#include "experiment/catalog.h"

#include "base/text.h"

#include <string.h>

#define SERIAL (1u << SCHEDULE_SERIAL)
#define PIPELINED (1u << SCHEDULE_PIPELINED)
#define LOADS (1u << SCHEDULE_OPEN_LOOP | 1u << SCHEDULE_CLOSED_LOOP)
#define SUSTAINED (1u << SCHEDULE_SUSTAINED)
#define ALL (SERIAL | PIPELINED | LOADS | SUSTAINED)

/* In the order of scripts/meta/assay.lua: first those without a dot. */
const struct metric_description catalog_schedule_metrics[] = {
    {"period", {.seconds = 1}, "from one batch to the next", PIPELINED | SUSTAINED},
    {"serial_time", {.seconds = 1}, "sum of the stages' times, one batch alone", PIPELINED},
    {"ideal_period", {.seconds = 1}, "that the times of the stages allow", PIPELINED},
    {"efficiency", {0}, "ideal period over period", PIPELINED},
    {"extra_memory", {.bytes = 1}, "that all slots hold", PIPELINED},
    {"throughput",
     {.items = 1, .seconds = -1},
     "requests (sustained: batches) served a second",
     LOADS | SUSTAINED},
    {"goodput", {.items = 1, .seconds = -1}, "of them, those within their deadline", LOADS},
    {"utilisation", {0}, "share of the time that the device serves a batch", LOADS},
    {"drift", {0}, "by which throughput changed from the first third to the last", SUSTAINED},
    {"value", {0}, "that a search found; in the unit of what it varies", ALL},
    {"latency.p50",
     {.seconds = 1},
     "half of all batches or requests take no longer",
     PIPELINED | LOADS},
    {"latency.p95", {.seconds = 1}, "95 % take no longer", PIPELINED | LOADS},
    {"latency.p99", {.seconds = 1}, "99 % take no longer", PIPELINED | LOADS},
    {"latency.mean", {.seconds = 1}, "from the intended arrival to the result", LOADS},
    {"latency.waiting", {.seconds = 1}, "mean part of it: while the device is busy", LOADS},
    {"latency.batching", {.seconds = 1}, "mean part of it: for others of the batch", LOADS},
    {"latency.service", {.seconds = 1}, "mean part of it: the batch itself", LOADS},
};
const size_t catalog_schedule_metric_count = sizeof(catalog_schedule_metrics) /
                                             sizeof(catalog_schedule_metrics[0]);

static const struct metric_description whole[] = {
    {"time", {.seconds = 1}, "end to end: from the first host action to a readable result", ALL},
    {"submit_time", {.seconds = 1}, "until the submit call returned", SERIAL | PIPELINED},
    {"device_time",
     {.seconds = 1},
     "sum of the stages' time on the device's clock",
     SERIAL | PIPELINED},
    {"host_cpu_time",
     {.seconds = 1},
     "processor time of the worker for one batch",
     SERIAL | PIPELINED},
};
static const struct metric_description parts[] = {
    {"time", {.seconds = 1}, "from the source to a destination that can be read", ALL},
    {"rate", {.bytes = 1, .seconds = -1}, "payload over time", ALL},
    {"flop_rate", {.flops = 1, .seconds = -1}, "operations over time", ALL},
    {"item_rate", {.items = 1, .seconds = -1}, "items over time", ALL},
    {"device_time", {.seconds = 1}, "the device clock's share", SERIAL | PIPELINED},
    {"device_rate",
     {.bytes = 1, .seconds = -1},
     "payload over the device's time",
     SERIAL | PIPELINED},
};
#define WHOLE_COUNT (sizeof(whole) / sizeof(whole[0]))
#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))
#define GIVEN_MAX 256 /* names in a message */

static const struct metric_description *find(const struct metric_description *list, size_t count,
                                             const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

const struct metric_description *catalog_schedule_metric(const char *name)
{
    return find(catalog_schedule_metrics, catalog_schedule_metric_count, name);
}

void catalog_each_metric(const struct catalog_workload *workload,
                         void (*each)(void *user, const struct metric_description *metric),
                         void *user)
{
    for (size_t i = 0; i < WHOLE_COUNT; i++)
        each(user, &whole[i]);
    struct text name = {0};
    for (size_t s = 0; s < workload->stage_count; s++) {
        for (size_t i = 0; i < PART_COUNT; i++) {
            struct metric_description metric = parts[i];
            text_clear(&name);
            text_addf(&name, "%s.%s", workload->stages[s].name, parts[i].name);
            metric.name = text_string(&name);
            each(user, &metric);
        }
    }
    text_free(&name);
    for (size_t i = 0; i < workload->extra_count; i++) {
        const struct catalog_metric *extra = &workload->extras[i];
        struct metric_description metric = {extra->name, extra->dimension, extra->help, ALL};
        each(user, &metric);
    }
}

/* The kinds of schedule that give the metric; all for one that is not known here. */
static unsigned given_by(const char *name)
{
    const struct metric_description *metric = catalog_schedule_metric(name);
    const char *dot = strrchr(name, '.');
    if (!metric)
        metric = dot ? find(parts, PART_COUNT, dot + 1) : find(whole, WHOLE_COUNT, name);
    return metric ? metric->schedules : ALL;
}

bool catalog_schedule_gives(const struct schedule *schedule, const char *name)
{
    const char *dot = strrchr(name, '.');
    if (dot && strcmp(dot, ".sensitivity") == 0)
        return schedule->sensitivity;
    return (given_by(name) >> schedule->kind & 1) != 0;
}

static void add_kinds(unsigned kinds, struct text *out)
{
    const char *names[SCHEDULE_KINDS];
    size_t count = 0;
    for (unsigned kind = 0; kind < SCHEDULE_KINDS; kind++)
        if (kinds >> kind & 1)
            names[count++] = schedule_name((enum schedule_kind)kind);
    text_add_list(out, names, count);
    text_add(out, count == 1 ? " gives it" : " give it");
}

/* Of the rows: what the schedule gives, but for a search's value. */
static size_t given(const struct metric_description *rows, size_t count,
                    const struct schedule *schedule, const char **names)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if ((rows[i].schedules >> schedule->kind & 1) != 0 && strcmp(rows[i].name, "value") != 0)
            names[found++] = rows[i].name;
    return found;
}

void catalog_add_given(const struct catalog_workload *workload, const struct schedule *schedule,
                       struct text *out)
{
    const char *names[GIVEN_MAX];
    size_t count = given(whole, WHOLE_COUNT, schedule, names);
    count += given(catalog_schedule_metrics, catalog_schedule_metric_count, schedule,
                   names + count);
    for (size_t i = 0; i < workload->extra_count && count < GIVEN_MAX; i++)
        names[count++] = workload->extras[i].name;
    text_add_list(out, names, count);
    if (workload->stage_count == 0)
        return;
    text_add(out, "; and of a stage (");
    for (size_t i = 0; i < workload->stage_count; i++)
        text_addf(out, "%s%s", i ? ", " : "", workload->stages[i].name);
    text_add(out, ") ");
    text_add_list(out, names, given(parts, PART_COUNT, schedule, names));
}

void catalog_add_not_given(const struct catalog_workload *workload, const struct schedule *schedule,
                           const char *name, struct text *out)
{
    const char *dot = strrchr(name, '.');
    text_addf(out, "'%s' under %s has no %s: ", workload->name, schedule_name(schedule->kind),
              name);
    if (dot && strcmp(dot, ".sensitivity") == 0)
        text_add(out, "pipelined gives it, with sensitivity = true");
    else
        add_kinds(given_by(name), out);
    if (schedule->kind == SCHEDULE_SERIAL && strncmp(name, "latency.", 8) == 0)
        text_add(out, ", and a batch's latency is here its time");
    text_add(out, ". It has ");
    catalog_add_given(workload, schedule, out);
}
