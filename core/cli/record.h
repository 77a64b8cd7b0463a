/* SPDX-License-Identifier: MIT */
/* The `run` record (docs/journal.md). */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "cli/choices.h"

struct record_params {
    int argc;
    char **argv; /* from the subcommand on */
    const struct choices_plan *choices;
    const char *deadline; /* as given, or NULL */
    bool quick, validate;
    struct script *script;
    const json_t *plugins, *sensors; /* of the session */
    const json_t *found;             /* supervisor_devices, or NULL when no case needs a device */
};
/* New reference. */
json_t *record_run(const struct record_params *params, struct assay_error *error);

#endif
