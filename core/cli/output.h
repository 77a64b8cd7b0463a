/* SPDX-License-Identifier: MIT */
/* Where a run's journal and log go. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/error.h"
#include "base/text.h"

struct output {
    struct text directory, parent, journal, log;
    bool made_directory, made_parent, made_log;
};

/* `given` NULL: assay-out/STEM-YYYYmmdd-HHMMSS, with -2, -3, ... when that is there. Makes the
 * directory; a journal that is there already is refused. All failures are ASSAY_INVALID: another
 * directory helps. */
bool output_prepare(struct output *output, const char *given, const char *script,
                    struct assay_error *error);
/* Removes what output_prepare made, after a failure before the journal was there. */
void output_discard(struct output *output);
void output_free(struct output *output);

#endif
