/* SPDX-License-Identifier: MIT */
/* The supervisor's view of the workloads: pure data from describe mode (or from a journal's run
 * record). */
#ifndef EXPERIMENT_CATALOG_H
#define EXPERIMENT_CATALOG_H

#include <assay/option.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/units.h"
#include "experiment/schedule.h"

#include <jansson.h>

struct catalog_stage {
    const char *name, *kind, *help; /* kind: "host", "transfer", "compute", "model" */
};

struct catalog_metric {
    const char *name, *unit, *help;
    struct dimension dimension;
};

struct catalog_workload {
    const char *name, *version, *summary, *plugin;
    const char *file; /* of the plugin; NULL: built in */
    bool model;
    const struct assay_option *const *options;
    const struct catalog_stage *stages;
    size_t stage_count;
    const struct catalog_metric *extras; /* the workload's own metrics */
    size_t extra_count;
    json_t *json;              /* as described; borrowed */
    struct hash128 definition; /* workload_definition */
};

struct catalog;
/* Keeps a reference to `description`. */
struct catalog *catalog_create(json_t *description, struct assay_error *error);
/* What r.sensors has: array of registry_sensors_describe, or NULL: none. Keeps a reference. */
bool catalog_set_sensors(struct catalog *catalog, json_t *sensors, struct assay_error *error);
/* Its readings, and those of its base. */
size_t catalog_reading_count(const struct catalog *catalog);
const struct catalog_metric *catalog_reading(const struct catalog *catalog, size_t index);
/* Goes into the message of catalog_find: what could not be loaded. Copied. */
bool catalog_set_missing(struct catalog *catalog, const char *text, struct assay_error *error);
/* A catalog of one's own: all of `base`, which must live as long, and what is added. */
struct catalog *catalog_extend(const struct catalog *base, struct assay_error *error);
/* Adds a workload, as describe mode tells it. Keeps a reference. */
bool catalog_add(struct catalog *catalog, json_t *workload, struct assay_error *error);
void catalog_destroy(struct catalog **catalog);
size_t catalog_count(const struct catalog *catalog);
const struct catalog_workload *catalog_at(const struct catalog *catalog, size_t index);
/* The workload of that name, or NULL. */
const struct catalog_workload *catalog_look(const struct catalog *catalog, const char *name);
/* Index, or -1 with ASSAY_INVALID that names what there is and the nearest name. */
long catalog_find(const struct catalog *catalog, const char *name, struct assay_error *error);

/* The metrics that every case of a workload can have: "time", "submit_time", "device_time",
 * "host_cpu_time", then for each stage
 * ".time", ".rate", ".flop_rate", ".item_rate", ".device_time", ".device_rate", then extras. Calls
 * `each` in that order. */
struct metric_description {
    const char *name; /* "copy.rate" */
    struct dimension dimension;
    const char *help;
    unsigned schedules; /* bit k: a schedule of kind k (experiment/schedule.h) gives it */
};
void catalog_each_metric(const struct catalog_workload *workload,
                         void (*each)(void *user, const struct metric_description *metric),
                         void *user);
/* Those that a case has by its schedule: "period", ..., "latency.p95", ... */
extern const struct metric_description catalog_schedule_metrics[];
extern const size_t catalog_schedule_metric_count;
/* The one of this name, or NULL. */
const struct metric_description *catalog_schedule_metric(const char *name);
/* False for a metric, by its full name, that no case under the schedule has. "value" is any's: that
 * of a search, whatever its schedule. */
bool catalog_schedule_gives(const struct schedule *schedule, const char *name);
/* The names of those that cases have: "time, ... and latency.p99; and of a stage (copy) time, ...".
 */
void catalog_add_given(const struct catalog_workload *workload, const struct schedule *schedule,
                       struct text *out);
/* "'null' under serial has no goodput: open_loop and closed_loop give it. It has time, ..." */
void catalog_add_not_given(const struct catalog_workload *workload, const struct schedule *schedule,
                           const char *name, struct text *out);
/* Names that a stage or extra metric may not take ("p", "status", "time", ...). NULL-terminated. */
extern const char *const catalog_reserved_names[];

#endif
