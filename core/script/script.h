/* SPDX-License-Identifier: MIT */
/* A user's Lua script: planning and judging. Supervisor process only. The only room that includes
 * Lua headers. */
#ifndef SCRIPT_SCRIPT_H
#define SCRIPT_SCRIPT_H

#include "experiment/plan.h"
#include "judge/judge.h"

struct script_params {
    const char *path; /* as given */
    const struct catalog *catalog;
    uint64_t seed;
    const char *const
        *sets; /* "--set bytes=1MiB": NULL-terminated; parameter of every experiment that has it */
    const char *const *options; /* "--option size=1MiB": NULL-terminated */
    const char *device;         /* --device, for messages and r.device only; NULL */
    const char *const
        *plugins;        /* "--plugin FILE": NULL-terminated, or NULL: for modules in folders */
    bool trust;          /* --trust: os and io */
    int64_t deadline_ns; /* of each entry into Lua; 0: 10 s */
    size_t memory_bytes; /* 0: 1 GiB */
    /* Optional: called before the script or a module is read; what was read before an error counts
     * too. */
    void (*reads)(void *user, const char *path);
    void *reads_user;
};

struct script;
/* Runs the script and builds the plan. ASSAY_SCRIPT with "FILE:LINE: ..." for what is wrong in it;
 * ASSAY_INVALID for the command line (file missing, a --set or --option that nothing takes). A
 * script without any experiment is an error. */
struct script *script_load(const struct script_params *params, struct assay_error *error);
void script_destroy(struct script **script);
struct plan *script_plan(struct script *script); /* borrowed */
/* What the run record needs: {"path", "hash", "modules": [{"path","hash"}], "options": {...}}. New
 * reference. */
json_t *script_record(const struct script *script);
/* A line for stderr when the script can only be stopped by ending the process. */
void script_add_last_words(struct script *script, const char *line);
/* What assay.peaks() and floors look at: an array of the run's peaks records (kept). */
void script_set_peaks(struct script *script, const json_t *peaks);
/* The closures, for judge_run. */
void script_judge(struct script *script, struct judge_script *out);
/* While many closures are called in a row the timer that guards each runs through, instead of being
 * set and stopped for each: two system calls a case. */
void script_hold_watchdog(struct script *script, bool hold);

#endif
