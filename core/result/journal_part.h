/* SPDX-License-Identifier: MIT */
/* A few members of a long record, without a tree of the rest. Inside core/result only. */
#ifndef RESULT_JOURNAL_PART_H
#define RESULT_JOURNAL_PART_H

#include "base/error.h"

#include <jansson.h>

/* The top-level members named in the NULL-terminated list, as far as they are there. `line` is an
 * object that was checked when it was indexed. New reference. */
json_t *journal_part(const char *line, size_t length, const char *const *members, const char *what,
                     struct assay_error *error);

#endif
