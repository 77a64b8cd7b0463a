/* SPDX-License-Identifier: MIT */
/* assay.workload{...}: a workload whose hooks are Lua functions. The supervisor reads only what it
 * needs to plan; in a worker the same definition becomes a struct assay_workload like that of a
 * plugin. */
#ifndef SCRIPT_WORKLOAD_H
#define SCRIPT_WORKLOAD_H

#include "script/inside.h"

#include <assay/plugin.h>

#define STAGES_MAX 16
#define METRICS_MAX 64
#define PARAMS_MAX 64

/* A number that a definition may give as a function of the parameters. */
struct script_number {
    int function; /* reference, or LUA_NOREF: `value` */
    bool given;
    double value; /* in base units */
};

enum script_cost {
    COST_BYTES,
    COST_READ,
    COST_WRITTEN,
    COST_FLOPS,
    COST_ITEMS,
    COST_UPLOAD,
    COST_DOWNLOAD,
    COST_COUNT
};

struct script_stage {
    struct assay_stage stage; /* first: hooks are told it */
    size_t index;
    int record, run, present; /* references, or LUA_NOREF */
    struct script_number duration, costs[COST_COUNT];
    enum assay_number flop_kind;
};

struct script_workload {
    struct assay_workload workload;
    struct assay_plugin plugin; /* which hands it over */
    const struct assay_workload *workloads[2];
    const struct assay_stage *stage_rows[STAGES_MAX + 1];
    const struct assay_option *option_rows[PARAMS_MAX + 1];
    const struct assay_metric_info *metric_rows[METRICS_MAX + 1];
    struct script *script;
    const char *place; /* "saxpy.lua:3" */
    struct script_stage stages[STAGES_MAX];
    size_t stage_count;
    int slot, verify, report, supported, check, reset; /* references, or LUA_NOREF */
    bool host;                                         /* some stage is a host stage */
};

/* Stands in front of the parameters in their block. What is a function of the parameters is worked
 * out once a case, by the check hook, and kept here: blocks are the worker's own memory. */
struct script_params_head {
    struct script_workload *owner;
    bool known;
    bool present[STAGES_MAX];
    int64_t duration_ns[STAGES_MAX];
    struct assay_cost costs[STAGES_MAX];
};

/* workload.c, workload_params.c, workload_stages.c: reading definitions */
int workload_define(lua_State *L);                                    /* assay.workload */
struct script_workload *workload_new(lua_State *L, const char *name); /* at the user's line */
/* Adds it to the script and, in the supervisor, its description to the catalog. */
void workload_add(lua_State *L, struct script_workload *workload);
/* Pushes the field of the table at index 1; false (nothing pushed) when it is not given. */
bool workload_field(lua_State *L, const char *what, const char *name, int type, const char *wanted);
/* A function kept in the registry, or LUA_NOREF. */
int workload_function(lua_State *L, int table, const char *what, const char *name);
/* Raises for a key that is none of the names; numbers are allowed up to `positions`. */
void workload_fields_check(lua_State *L, int table, const char *what, lua_Integer positions,
                           const char *const *names, size_t count);
const char *workload_keep(lua_State *L, const char *string); /* in the script's arena */
void workload_params_read(lua_State *L, struct script_workload *workload);
extern const char *const workload_cost_names[COST_COUNT];
struct dimension workload_cost_dimension(enum script_cost cost);
void workload_stages_read(lua_State *L, struct script_workload *workload);
/* The value on top (popped) as a number in base units; raises "WHAT: ..." */
double workload_number(lua_State *L, const char *what, struct dimension dimension);

/* workload_hooks.c: what the measuring side calls */
void workload_hooks_set(struct script_workload *workload);
/* Pushes the strict, read-only table of the parameters. */
void workload_params_push(lua_State *L, const struct script_workload *workload, const void *params);
#endif
