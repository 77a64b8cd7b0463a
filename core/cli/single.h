/* SPDX-License-Identifier: MIT */
/* One workload with parameters of the command line, run by itself: no script, and a journal that
 * does not stay. */
#ifndef CLI_SINGLE_H
#define CLI_SINGLE_H

#include "cli/arguments.h"
#include "cli/session.h"
#include "result/journal.h"

/* What the command line says of it. `forget` and `json` are flags of the subcommands. */
struct single_choices {
    const char *workload, *device; /* NULL: not given */
    struct arguments_list sets, plugins;
    int64_t seed;
    bool json, forget;
};

/* clang-format off */
#define SINGLE_DEVICE_ROW                                                                          \
    {"device", 0, "DEVICE", "an index, a UUID, a PCI address, a part of the name, 'cpu' or 'gpu'\n" \
                            "('assay devices' lists them)"}
/* clang-format on */

/* Takes workload, device, set, plugin, seed, json and forget; any other is a defect of the table.
 */
bool single_choices_take(struct single_choices *choices, const char *name, const char *value,
                         struct assay_error *error);
void single_choices_free(struct single_choices *choices);

/* All zero is a fresh one. */
struct single {
    struct session session;
    struct plan *plan;
    json_t *found;                 /* supervisor_devices; NULL where none is needed */
    struct text directory, path;   /* of the journal; empty: not made yet */
    struct journal_reader *reader; /* of it, once all has run */
};

/* A session and an empty plan, for which the choices must live as long. */
bool single_open(struct single *single, const struct single_choices *choices,
                 struct assay_error *error);
void single_close(struct single *single);
/* Sets workload and settings of `item`: first those of `usual` (NULL-terminated, or NULL), then of
 * `sets`, each NAME=VALUE; later ones replace earlier ones. */
bool single_item(struct single *single, const char *workload, const char *const *usual,
                 const struct arguments_list *sets, struct plan_case *item,
                 struct assay_error *error);
/* From now on SIGINT and SIGTERM end single_run in order; a second one ends the process. */
void single_catch_signals(void);
/* Finds the device and runs the plan. */
bool single_run(struct single *single, struct assay_error *error);
/* The record of the case at this place of the plan. NULL with error where it is not there. New
 * reference. */
json_t *single_record(struct single *single, size_t at, struct assay_error *error);
/* cli_answer; where a signal is why it failed, nothing is printed and the exit status tells it. */
int single_answer(bool good, struct text *out, const struct assay_error *error);

#endif
