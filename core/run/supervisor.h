/* SPDX-License-Identifier: MIT */
/* The supervisor: never touches Vulkan, never loads a C plugin. Starts workers, hands them cases,
 * writes what comes back into the journal. One thread. */
#ifndef RUN_SUPERVISOR_H
#define RUN_SUPERVISOR_H

#include "base/error.h"
#include "experiment/plan.h"
#include "result/journal.h"

struct supervisor_params {
    const char
        *log_path; /* what workers (and drivers) print goes here, appended; NULL: /dev/null */
    bool validate;
    bool trace; /* samples records say what ran when */
    bool quick;
    bool perturb; /* cases with batches in flight are verified with delays, too */
    int64_t perturb_seed;
    int64_t deadline_ns; /* of a case; a pair group has so many times as much; 0: the plan's */
    const char *const *shader_directories; /* NULL-terminated; copied */
    const json_t *script; /* what defines workloads (script/serve.h); copied; NULL: none */
};

struct supervisor;
struct supervisor *supervisor_create(const struct supervisor_params *params,
                                     struct assay_error *error);
void supervisor_destroy(struct supervisor **supervisor);
/* Where workers log and search shaders from now on (known only after the script is read). */
bool supervisor_configure(struct supervisor *supervisor, const struct supervisor_params *params,
                          struct assay_error *error);

/* Workload descriptions (registry_describe). A worker that dies says so in the error. New
 * reference. */
json_t *supervisor_describe(struct supervisor *supervisor, struct assay_error *error);
/* The same for the sensors that are built in (registry_sensors_describe). */
json_t *supervisor_describe_sensors(struct supervisor *supervisor, struct assay_error *error);
/* Workers read the sensors of these plugins too, from now on: array of their files; kept. */
bool supervisor_set_sensors(struct supervisor *supervisor, json_t *files,
                            struct assay_error *error);
/* What is in a plugin: {"name","version","workloads","sensors"} (as the two above). It is loaded in
 * a worker that loads no other and ends then, so a failure is this plugin's: one that cannot be
 * used (the error says what is wrong with it), crashes, or does not come back within 10 s.
 * ASSAY_INVALID alone is no defect of the plugin: a workload of that name is built in. New
 * reference. */
json_t *supervisor_load_plugin(struct supervisor *supervisor, const char *file,
                               struct assay_error *error);
/* {"devices": vulkan_inventory or [], "error": why there is no Vulkan or null, "pci": [{address,
 * vendor, device, class, driver, served_by: index or null, missing: text or null}]}. New reference.
 */
json_t *supervisor_devices(struct supervisor *supervisor, struct assay_error *error);

/* What a kernel is: `request` is that of docs/protocol.md, less `ask`. The files it names in the
 * answer are in its directory. New reference. */
json_t *supervisor_dump(struct supervisor *supervisor, json_t *request, struct assay_error *error);

struct supervisor_events {
    void *user;
    /* Before a case starts; several times a second while it runs; after its record (borrowed) is in
     * the journal. Each may be NULL. */
    void (*started)(void *user, const struct plan *plan, const struct plan_case *item, size_t index,
                    size_t total);
    void (*waiting)(void *user);
    void (*ended)(void *user, const struct plan *plan, const struct plan_case *item,
                  const json_t *record);
    /* A look at the bounds of a group (or of a case) that is still alive: whether one of them is
     * undecided, so that more samples are worth their time. `cases` are provisional records (one
     * whose status is not `done` failed already), `samples` theirs or JSON null; borrowed. NULL:
     * no. */
    bool (*wants_more)(void *judge_user, const struct plan *plan,
                       const struct plan_case *const *items, size_t count, json_t *const *cases,
                       json_t *const *samples);
    void *judge_user;
};

/* Runs all selected groups in order, a case alone being one. A case that fails is a record, not a
 * failure of this function; it fails when the journal cannot be written or no worker can be started
 * (two in a row that die before they take a request). A worker that dies while a case runs gives
 * that case the status `crash`; one that is silent past the deadline is killed and gives it
 * `timeout`. A signal (SIGINT, SIGTERM) seen through *interrupted stops: the case that runs gets
 * two seconds to end, else its worker is killed and it has no record. */
bool supervisor_run(struct supervisor *supervisor, const struct plan *plan,
                    struct journal_writer *journal, const struct supervisor_events *events,
                    const volatile int *interrupted, struct assay_error *error);

#endif
