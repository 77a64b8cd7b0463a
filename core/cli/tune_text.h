/* SPDX-License-Identifier: MIT */
/* What the tuner found, for people. */
#ifndef CLI_TUNE_TEXT_H
#define CLI_TUNE_TEXT_H

#include "base/text.h"

#include <jansson.h>

/* `tuning` of a case record (docs/journal.md): each candidate, and what came of it. `head` is in
 * front of the first line: "gemm size=64 on lavapipe". */
void tune_add_candidates(const char *head, const json_t *tuning, struct text *out);
/* What is kept (tuning_list). */
void tune_add_list(const json_t *list, struct text *out);

#endif
