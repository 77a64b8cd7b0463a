/* SPDX-License-Identifier: MIT */
/* The plan: experiments and their cases in a fixed order, each with a stable id. Pure data, no
 * Vulkan, no Lua. */
#ifndef EXPERIMENT_PLAN_H
#define EXPERIMENT_PLAN_H

#include "base/hash.h"
#include "base/options.h"
#include "experiment/catalog.h"
#include "experiment/schedule.h"
#include "experiment/search.h"

struct plan_setting {
    uint32_t option; /* index in the workload's table */
    struct option_value value;
};

/* How to measure; zero means the default. */
struct plan_measure {
    double target;     /* wanted relative half-width of the median's interval (0.02) */
    int64_t budget_ns; /* sampling time a case (1 s; --quick 0.1 s) */
    int64_t warmup_ns; /* at most, a case (1 s; --quick 0.1 s) */
    uint32_t min_samples, max_samples; /* 6; 10,000 */
    int64_t deadline_ns; /* of the whole case, after which the supervisor kills its worker (60 s,
                            and the budget, where one is given) */
};

struct plan_case {
    struct hash128 id;
    uint32_t experiment; /* index */
    uint32_t replica;
    uint64_t seed;
    const struct catalog_workload *workload;
    const char *device;              /* as the script names it, or NULL */
    const struct schedule *schedule; /* NULL: serial */
    const struct plan_setting
        *settings; /* explicitly set, in the order of the workload's options */
    uint32_t setting_count;
    uint32_t group; /* index */
    uint32_t next;  /* index of the next case of its group; PLAN_NONE: the last */
    bool selected;  /* not filtered away; a group is selected whole */
};
#define PLAN_NONE UINT32_MAX

/* The cases of an experiment that differ only in its pair axis, in the order of the plan; without
 * one each case is a group of its own. Groups stand in the order of their first cases. */
struct plan_group {
    uint32_t first, last; /* indices of cases */
    uint32_t count;
};

struct plan_experiment {
    const char *name;
    const char *script; /* as given on the command line, for messages */
    int line;           /* of its assay.experiment call */
    struct plan_measure measure;
    const char *pair; /* name of the axis whose cases are sampled in turn, or NULL */
    bool tune;        /* the choices that its cases leave open are made anew, nothing is sampled */
    const struct search *search; /* each case looks for a value; NULL: it has one */
    bool looks;       /* it has a check: bounds are looked at while its cases are sampled */
    bool is_peaks;    /* the cases by which peaks are measured (experiment/peaks.h) */
    bool needs_peaks; /* of the devices of its cases; of an is_peaks one: the script asked for them
                       */
    size_t first_case, case_count;
    const char *const *varied; /* names of the axes, in axis order, NULL-terminated */
};

struct plan {
    struct arena *arena;
    const struct catalog *catalog;
    struct plan_experiment *experiments;
    size_t experiment_count;
    struct plan_case *cases;
    size_t case_count;
    struct plan_group *groups;
    size_t group_count;
    uint64_t seed;      /* of the run; at most 63 bits */
    const char *device; /* --device: goes to the worker for cases that name none, and is no part of
                           ids, so that runs on two devices compare; NULL */
};

struct plan *plan_create(const struct catalog *catalog, uint64_t seed, struct assay_error *error);
void plan_destroy(struct plan **plan);
/* Appends; strings and settings are copied into the plan's arena. A second experiment of the same
 * name is ASSAY_INVALID. */
bool plan_add_experiment(struct plan *plan, const struct plan_experiment *experiment,
                         struct assay_error *error);
/* How its batches are issued; never NULL. */
const struct schedule *plan_case_schedule(const struct plan_case *item);
/* Appends to the last experiment and computes the id; two cases with one id (a value twice on an
 * axis) is ASSAY_INVALID. Seed: derived from the run's seed and the id's content, so that it does
 * not depend on the order. The id does not hold the derived seed but the run's. */
bool plan_add_case(struct plan *plan, const struct plan_case *item, struct assay_error *error);
/* The case of this id or NULL. */
const struct plan_case *plan_find(const struct plan *plan, const struct hash128 *id);
/* Whether the last experiment has a case with these settings already. */
bool plan_has_case(struct plan *plan, const struct plan_case *item, bool *has,
                   struct assay_error *error);
/* Canonical JSON whose XXH3-128 is the id:
 * {"device","experiment","params","replica","schedule","seed","version","workload"}. */
bool plan_case_canonical(const struct plan *plan, const struct plan_case *item, struct text *out,
                         struct assay_error *error);
/* "copy bytes=64MiB host_memory=pageable": the settings as words, without the workload when
 * `settings_only`. "device=...",
 * "schedule=..." and "replica=..." stand first where the script names them. */
void plan_case_label(const struct plan *plan, const struct plan_case *item, bool settings_only,
                     struct text *out);
/* The members of a group in order: the first, and the one after `item` or NULL. */
const struct plan_case *plan_group_first(const struct plan *plan, uint32_t group);
const struct plan_case *plan_group_next(const struct plan *plan, const struct plan_case *item);
/* XXH3-128 of the ids of its members, in order. */
bool plan_group_id(const struct plan *plan, uint32_t group, struct hash128 *id,
                   struct assay_error *error);
/* What the settings of the members agree in, as words: without the pair axis. */
void plan_group_label(const struct plan *plan, uint32_t group, struct text *out);
/* Keeps only the case whose id starts with the hex prefix, and the others of its group
 * (ASSAY_INVALID when none or, for a prefix under 32 digits, several match). */
bool plan_select_id(struct plan *plan, const char *prefix, struct assay_error *error);
/* Keeps groups with a case that is selected and whose "experiment/label" matches the glob (a
 * pattern without * or ? matches anywhere). Returns how many cases are left. */
size_t plan_select_glob(struct plan *plan, const char *pattern);
size_t plan_selected_count(const struct plan *plan);
/* A case as the worker gets it: {"ask":"case", "experiment", "script", "line", "id", "workload",
 * "version", "definition", "set": {...}, "device", "schedule": {"name":...},
 * "replica", "seed", "case_seed", "search" (of a search), "pair": null or {"axis","group","cases"},
 * "quick", "measure":
 * {...}}, defaults filled in; --quick divides the budget by ten. NULL when out of memory. New
 * reference. */
json_t *plan_case_request(const struct plan *plan, const struct plan_case *item, bool quick);
/* What is asked of the worker for a group: the request of its only case with "looks", or
 * {"ask":"group","axis","group","cases":[...],"looks","order_seed"}. */
json_t *plan_group_request(const struct plan *plan, uint32_t group, bool quick);

#endif
