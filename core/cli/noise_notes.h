/* SPDX-License-Identifier: MIT */
/* What 'assay noise' found out, said to a run that is about to begin. */
#ifndef CLI_NOISE_NOTES_H
#define CLI_NOISE_NOTES_H

#include "cli/outside.h"

/* Notes on stderr for what is asked for more closely than the devices of the plan are known to
 * allow: an experiment's target, the bounds of its check (`script`), --margin of a baseline, the
 * tolerance of a threshold. */
void noise_point_out(const struct plan *plan, const json_t *found, const struct outside *outside,
                     const struct choices_output *choices, const struct judge_script *script);

#endif
