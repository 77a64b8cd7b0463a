/* SPDX-License-Identifier: MIT */
/* Recorded times, as a function of the time since the recording began. */
#ifndef NULL_RECORDING_H
#define NULL_RECORDING_H

#include <assay/assay.h>

#define RECORDING_COLUMNS_MAX 16
#define RECORDING_MOST_NS INT64_C(3600000000000) /* of one duration: an hour */

struct recording {
    unsigned columns;
    size_t rows;
    int64_t *times; /* ns, row by row */
    int64_t *ends;  /* ns, of each row since the beginning */
};

/* `text` has a row a line: a duration for each column, whole ns with blanks or a comma between.
 * Empty lines and what follows a # are passed over. ASSAY_SCRIPT with FILE:LINE: what is allowed.
 */
bool recording_parse(struct recording *recording, const char *path, const char *text, size_t bytes,
                     const char *const *columns, unsigned count, struct assay_error *error);
/* The duration in `column` of the row that is being played at `now_ns`; from the last row's end on
 * it is played anew, and again. */
int64_t recording_at(const struct recording *recording, unsigned column, int64_t now_ns);
int64_t recording_length_ns(const struct recording *recording);
void recording_free(struct recording *recording);

#endif
