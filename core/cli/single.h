/* SPDX-License-Identifier: MIT */
/* One workload with parameters of the command line, run by itself: no script, and a journal that
 * does not stay. */
#ifndef CLI_SINGLE_H
#define CLI_SINGLE_H

#include "cli/arguments.h"
#include "cli/session.h"
#include "result/journal.h"

/* All zero is a fresh one. */
struct single {
    struct session session;
    struct plan *plan;
    json_t *found;                 /* supervisor_devices; NULL where none is needed */
    struct text directory, path;   /* of the journal; empty: not made yet */
    struct journal_reader *reader; /* of it, once all has run */
};

/* A session and an empty plan. `device` (NULL: the default) is kept. */
bool single_open(struct single *single, const struct arguments_list *plugins, int64_t seed,
                 const char *device, struct assay_error *error);
void single_close(struct single *single);
/* Sets workload and settings of `item`: first those of `usual` (NULL-terminated, or NULL), then of
 * `sets`, each NAME=VALUE; later ones replace earlier ones. */
bool single_item(struct single *single, const char *workload, const char *const *usual,
                 const struct arguments_list *sets, struct plan_case *item,
                 struct assay_error *error);
/* Finds the device and runs the plan. */
bool single_run(struct single *single, const volatile int *interrupted, struct assay_error *error);
/* The record of the case at this place of the plan. NULL with error where it is not there. New
 * reference. */
json_t *single_record(struct single *single, size_t at, struct assay_error *error);

#endif
