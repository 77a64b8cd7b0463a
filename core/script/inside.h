/* SPDX-License-Identifier: MIT */
/* What the files of this room share. Functions that take a lua_State may raise Lua errors: nothing
 * that needs freeing may be held across them. */
#ifndef SCRIPT_INSIDE_H
#define SCRIPT_INSIDE_H

#include "judge/expression.h"
#include "script/script.h"

#include <lauxlib.h>
#include <lua.h>

struct chunk { /* the script or a module */
    char *path;
    const char *name; /* of a module, as required */
    char hash[HASH_HEX_BYTES];
    const char *source; /* in the script's arena */
    size_t length;
    char short_source[LUA_IDSIZE]; /* what Lua calls it in messages: cut when long */
};

struct closures { /* of an experiment: references in the Lua registry, or LUA_NOREF */
    int check, summary;
};

struct script_option { /* assay.option */
    char *name;
    json_t *value;
};

#define RECORD_CACHE 32
#define SAMPLES_CACHE 8
#define MAX_LABELS 64

struct record_slot {
    const struct plan_case *item;
    struct lazy *record; /* NULL: looked for and not in the journal */
};

struct samples_slot { /* both NULL: not in the journal */
    const struct plan_case *item;
    json_t *samples;
    json_t *record; /* with what turns_read needs */
};

/* What the closures look at while they run; all NULL outside. */
struct judging {
    struct judge *judge;
    struct journal_reader *reader; /* NULL in a check */
    uint32_t experiment;
    const struct judge_group *group; /* of a check; NULL in a summary */
    const struct plan_case *item;    /* of a check without pair; else NULL */
    unsigned generation;             /* counts entries: a result kept from another one is stale */
    unsigned open_bounds;            /* expect() calls without a bound so far */
    const char *open_path;           /* place of the first of them; NULL: not known */
    int open_line;
    struct record_slot cache[RECORD_CACHE];
    struct samples_slot samples[SAMPLES_CACHE];
    unsigned samples_next; /* to be given up */
};

struct script {
    struct script_params params; /* path and lists are copies in `arena` */
    struct arena *arena;         /* lives as long as the script */
    struct arena *scratch;       /* of one entry into Lua */
    lua_State *L;
    struct plan *plan;
    struct chunk *chunks; /* the script first */
    size_t chunk_count;
    struct closures *closures; /* by experiment */
    size_t closures_count;
    struct script_option *options;
    size_t option_count;
    bool *set_used;                 /* by index of params.sets */
    const char *labels[MAX_LABELS]; /* of devices seen in records */
    size_t label_count;
    struct catalog *catalog; /* what the caller gave, and the workloads of this script; NULL in a
                                worker */
    struct script_workload **workloads; /* assay.workload, assay.explore */
    size_t workload_count;
    const char *at;          /* of a function that was called and returned; in the scratch arena */
    unsigned running;        /* hooks of workloads that are in Lua */
    bool serving, on_thread; /* in a worker; there on the thread of host stages */
    json_t *sent;            /* what the supervisor sent, in a worker */
    const char *plugin;      /* name of the plugin folder that the script is of; NULL: none */
    struct exploration *explorations; /* assay.explore */
    size_t exploration_count;
    struct script_device *exploring; /* of the exploration that runs, or NULL */
    struct text *output;             /* what it prints, or NULL */
    struct script_host *host;        /* of host stages; NULL: not started */
    bool defining; /* inside assay.experiment; still true at the end when it failed unseen */
    struct assay_error raised; /* the last failure with a status that was raised as a Lua error */
    size_t view_bytes;         /* that views hold, outside of Lua's memory */
    struct assay_command *recording; /* of the record hook that runs, or NULL */
    unsigned recordings;             /* so far: a cmd of an earlier one is told */
    struct assay_error pending; /* a failure that is not the script's; wins over the Lua error */
    size_t memory_used, memory_limit;  /* of Lua; the scratch arena counts too */
    const struct expansion *expanding; /* what a point may be looked at for; NULL: nothing */
    int64_t deadline_at_ns;            /* of the entry in progress */
    bool deadline_passed;
    json_t *peaks; /* array of the run's peaks records, or NULL */
    struct judging judging;
};

/* state.c: the Lua state, its limits, error places */
bool state_create(struct script *script, struct assay_error *error);
void state_destroy(struct script *script);
struct script *script_of(lua_State *L);
/* Calls the function below `arguments` values on the stack, under the limits; no results. False
 * with ASSAY_SCRIPT, or what `pending` holds. *stopped (may be NULL): ended by or_stop. */
bool state_call(struct script *script, int arguments, bool *stopped, struct assay_error *error);
/* For who waits for an entry on another thread: when that is over what a hook can interrupt, on the
 * monotonic clock, and then the end of the process, with its last words. */
int64_t state_overdue_at_ns(const struct script *script);
void state_overdue(void) __attribute__((noreturn));
void state_push_stop(lua_State *L); /* the value that or_stop raises */
/* Raises when the entry's time is over. For long loops in C. */
void state_check_deadline(lua_State *L);
/* The first level of the stack that is in a chunk of the user's; NULL when there is none. */
struct chunk *state_place(lua_State *L, int *line);
/* Notes where the function on top of the stack is defined: the place of complaints about what it
 * returned. */
void state_note_function(lua_State *L);
/* Loads a text chunk of the user's and pushes its function on L's stack, which may be that of a
 * coroutine. */
bool state_load(lua_State *L, const char *path, const struct text *source,
                struct assay_error *error);

/* Raises "FILE:LINE: message" with the user's place. */
int script_fail(lua_State *L, const char *format, ...) ASSAY_PRINTF(2, 3) __attribute__((noreturn));
int script_raise(lua_State *L, const struct assay_error *error) __attribute__((noreturn));
/* Makes the metatable of a kind of userdata, which scripts can neither see nor change. */
void script_class(lua_State *L, const char *name, const luaL_Reg *functions);
/* Raises a failure that is not the script's (command line, journal, memory). */
int script_abort(lua_State *L, const struct assay_error *error) __attribute__((noreturn));
/* Raises "WHAT has no field 'NAME'; did you mean 'x'? It has a, b and c". */
int script_unknown(lua_State *L, const char *what, const char *kind, const char *name,
                   const char *const *names, size_t count) __attribute__((noreturn));
/* The scratch arena; raises when there is no memory. */
struct arena *script_scratch(lua_State *L);
void *script_alloc(lua_State *L, size_t bytes);
/* A copy in the scratch arena: a script can change a table whose strings are still in use. */
const char *script_copy(lua_State *L, const char *string);
/* Pushes the text and frees it. */
void script_push_text(lua_State *L, struct text *text);

/* serve.c: the source of a module in a worker, and its path there (borrowed); NULL with error */
const char *serve_module(const struct script *script, const char *name, struct text *source,
                         struct assay_error *error);

/* sandbox.c: what a script may use */
void sandbox_open(lua_State *L, bool trust);
/* A __pairs for tables that scripts see only through metamethods: goes over a copy of upvalue 1,
 * so that the members themselves cannot be reached. */
int script_pairs_copy(lua_State *L);

/* values.c: quantities and metrics as Lua values */
struct value_metric {
    struct expression expression; /* its metric's strings stand behind this struct, its operands are
                                     in the user values */
    struct metric metric;         /* what it is worth; of an expression once it is resolved */
    const struct plan_case *item; /* the one case that it comes from, or NULL */
    const char *device;           /* label, or NULL */
    unsigned generation;          /* of a leaf: samples are to be had only in its own entry */
    bool resolved;
};
void values_open(lua_State *L);
void quantity_push(lua_State *L, struct quantity quantity);
struct quantity *quantity_test(lua_State *L, int index); /* NULL: something else */
void metric_push(lua_State *L, const struct metric *metric, const struct plan_case *item,
                 const char *device);
struct value_metric *metric_test(lua_State *L, int index);
/* Pushes the combination of two values (numbers, quantities, quantity strings, metrics) at
 * absolute indices; raises for anything else. */
void metric_push_combined(lua_State *L, enum metric_operator by, int a, int b);
/* Another name for the one on top of the stack: a literal. */
void metric_rename(lua_State *L, const char *name);
/* Brings `metric` of a derived one up to date, from the samples. */
void metric_resolve(lua_State *L, struct value_metric *value);
/* A number, quantity, quantity string or metric (resolved) as a metric; raises for anything else.
 * `what` is for the message. *as_written (may be NULL): how the user wrote it, or NULL. */
struct value_metric metric_of(lua_State *L, int index, const char *what, const char **as_written);
/* A number, quantity or quantity string. */
struct quantity quantity_of(lua_State *L, int index, const char *what);
/* assay.quantity and assay.unit_function(name), and what the prelude needs. */
int quantity_new(lua_State *L);
int quantity_unit_function(lua_State *L);

/* peaks.c: assay.peaks() and floors */
void peaks_open(lua_State *L);
int peaks_ask(lua_State *L);
/* The experiment that measures the peaks of a device, planned now if it is not yet. */
struct plan_experiment *peaks_define(lua_State *L, const char *device);
/* "floor" or "copy.floor" of a case record. */
void peaks_floor(lua_State *L, struct lazy *record, const char *name, struct metric *metric);

/* model.c: assay.model, a field of the table on top of the stack */
void model_open(lua_State *L);
/* Pushes the model of a case with the factors and options at these absolute indices. */
void model_what_if(lua_State *L, const struct plan_case *item, int factors, int how);

/* schedule.c: assay.serial(), ... */
void schedule_open(lua_State *L);
/* Adds the functions of the schedules that there are to the table on top. */
void schedule_functions_add(lua_State *L);
void schedule_push(lua_State *L, const struct schedule *schedule);
/* What such a function gave, or the name of a schedule; ASSAY_INVALID for anything else. */
bool schedule_read(lua_State *L, int index, struct schedule *schedule, struct assay_error *error);
/* Pushes its name or a field, given or not, and gives 1; 0 where it has no such field. */
int schedule_member_push(lua_State *L, const struct schedule *schedule, const char *name);

/* define.c: assay.experiment */
int define_experiment(lua_State *L);
/* Keeps a place for the closures of an experiment that has none. */
void closures_none(lua_State *L);
/* Converts a Lua value for a parameter. */
bool value_for_option(lua_State *L, int index, const struct assay_option *option,
                      struct arena *arena, struct option_value *value, struct assay_error *error);
void option_value_push(lua_State *L, const struct assay_option *option,
                       const struct option_value *value);
/* One parameter (or device, replica, workload) and its values: a list in the table `keep`. */
struct source {
    const char *name;
    bool varied;
    size_t count;
    lua_Integer keep; /* index of the list */
};

/* An experiment as written. Lives in the scratch arena. */
struct definition {
    struct plan_experiment experiment;
    int keep;               /* stack index of the table that holds the lists */
    struct source *sources; /* parameters of fixed and vary */
    size_t source_count;
    struct source workload, device, replica, schedule; /* count 0: not given */
    bool queues_given; /* of those schedules that do not say which queues they run on */
    struct option_value queues;
    lua_Integer rows; /* `vary` as a list of assignments, or 0 */
    size_t row_count;
    int where;               /* stack index or 0 */
    const char *search_vary; /* assay.search: what it varies; NULL: an experiment */
    bool search_schedule;    /* that is a field of the schedule */
};

/* search.c: assay.search */
extern const char *const search_fields[];
extern const size_t search_field_count;
/* Reads the fields of the table at index 1 that an experiment does not have, for the workload. */
void search_resolve(lua_State *L, struct definition *definition,
                    const struct catalog_workload *workload);
/* define.c: the same as assay.experiment, with those fields */
int define_search(lua_State *L);

/* expand.c: axes become cases */
void expand_open(lua_State *L);
/* Element `index` (from 0) of workload or device; in the scratch arena. */
const char *source_string(lua_State *L, const struct definition *definition,
                          const struct source *source, size_t index);
/* Adds the experiment and its cases to the plan. */
void expand(lua_State *L, struct definition *definition);

/* result.c: what check and summary look at */
void result_open(lua_State *L);
void result_push(lua_State *L, const struct plan_case *item);
/* The record of a case (borrowed) or NULL with the reason why there is none. */
struct lazy *result_record(lua_State *L, const struct plan_case *item, const char **reason);
/* The metric of a case by its full name; absent with the reason. Strings live in the scratch arena
 * or the cached record: use at once. */
void result_metric(lua_State *L, const struct plan_case *item, const char *name,
                   struct dimension dimension, struct metric *metric);
/* Raises for a metric that no case under the schedule of this one has; `what_to_do` ends the
 * message. */
void result_check_given(lua_State *L, const struct plan_case *item, const char *name,
                        const char *what_to_do);
/* The samples behind a metric of a case; does not raise. None: *turns is left empty. */
bool result_turns(struct script *script, const struct plan_case *item, const char *name,
                  struct turns *turns, struct assay_error *error);
const char *result_device_label(lua_State *L, const struct plan_case *item);
/* Of all cases of its pair group; NULL where the device is the pair axis. */
const char *result_group_label(lua_State *L, const struct plan_case *first);

/* bottleneck.c: pushes r.bottleneck.NAME */
void bottleneck_push(lua_State *L, const struct plan_case *item, const char *name);

/* member.c: the metrics of one case that a name without a dot can mean */
enum member_kind { MEMBER_NONE, MEMBER_METRIC, MEMBER_PART };
enum member_kind member_find(const struct catalog_workload *workload, const char *name,
                             struct dimension *dimension);
/* A stage or "latency", of which there are several metrics: the name, or NULL. */
const char *part_find(const struct catalog_workload *workload, const char *name);
bool part_member(const char *part, const char *name, struct dimension *dimension);
/* Raises: the part has no such metric. */
void part_unknown(lua_State *L, const char *part, const char *name) __attribute__((noreturn));
extern const char *const case_metrics[];
extern const size_t case_metric_count;
/* The names of those metrics and stages, with room for `more` behind; in the scratch arena. */
const char **member_names(lua_State *L, const struct catalog_workload *workload, size_t more,
                          size_t *count);

/* reading.c: r.sensors.NAME.max; full names are "sensors.NAME.max". */
#define SENSORS_PREFIX "sensors."
/* Unknown names raise. */
const struct catalog_metric *reading_find(lua_State *L, const char *where, const char *name);
/* Pushes and returns the full name of a member (min, median, mean, max) of a reading. */
const char *reading_full_name(lua_State *L, const char *reading, const char *member);
/* A figure of the record's `sensors`; absent with the reason. Strings are borrowed. */
void reading_metric(const json_t *sensors, const char *name, struct dimension dimension,
                    struct metric *metric);

/* cases.c: collections of results, and their columns */
void cases_open(lua_State *L);
void cases_push_all(lua_State *L, uint32_t experiment);
void cases_push_group(lua_State *L, const struct judge_group *group);
/* latencies.c: r.latency.histogram. Pushes a list of { low =, high =, count = }, ascending, in s,
 * or nil where the record holds none. */
void histogram_push(lua_State *L, const struct plan_case *item);

/* A column of metrics: one a case. */
struct series {
    unsigned generation;
    uint32_t count;
    struct dimension dimension;
    const char *name; /* "copy.rate"; in the userdata */
    const struct plan_case *cases[];
};
struct series *series_test(lua_State *L, int index);

/* expect.c: bounds */
void expect_open(lua_State *L);
int expect_new(lua_State *L);
/* Raises when an expect() of this entry got no bound. */
void expect_finish(lua_State *L);

#endif
