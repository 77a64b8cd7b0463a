/* SPDX-License-Identifier: MIT */
/* What `assay dump` found, for people. */
#ifndef CLI_DUMP_TEXT_H
#define CLI_DUMP_TEXT_H

#include "base/text.h"

#include <jansson.h>

/* The worker's answer (docs/protocol.md), and "disassembly": a file, or null with
 * "disassembly_missing". */
void dump_add_text(struct text *out, const json_t *dump);

#endif
