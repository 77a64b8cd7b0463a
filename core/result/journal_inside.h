/* SPDX-License-Identifier: MIT */
/* What the files of the journal's reader share. Inside core/result only. */
#ifndef RESULT_JOURNAL_INSIDE_H
#define RESULT_JOURNAL_INSIDE_H

#include "result/journal.h"
#include "result/journal_index.h"
#include "result/journal_line.h"

#define DAMAGE_LISTED 8

struct damage {
    size_t line;
    const char *why;
};

struct journal_reader {
    int fd;
    char *path;
    json_t *run, *end, *peaks;
    struct journal_index index;
    size_t damaged;
    struct damage damage[DAMAGE_LISTED]; /* the first of them */
    uint64_t next;                       /* offset behind the last line that was indexed */
    size_t line;                         /* number of that line */
    uint32_t tail_length;             /* of a whole record behind it that lacks its newline, or 0 */
    bool tail_damaged;                /* what is behind it is no record */
    size_t run_line, second_run_line; /* 0: none */
    struct journal_seal run_seal;     /* of the run record */
    const char *run_wrong;            /* why the run record is worth nothing, or NULL */
    char *window; /* a piece of the file: records are mostly asked for in their order */
    size_t window_length;
    uint64_t window_offset;
};

/* The bytes of a record, until the next call. NULL: it cannot be read. */
const char *reader_bytes(struct journal_reader *reader, struct place place,
                         struct assay_error *error);

#endif
