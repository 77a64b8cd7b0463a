/* SPDX-License-Identifier: MIT */
/* The journal: JSON Lines, append-only. docs/journal.md has the schema of each record kind. */
#ifndef RESULT_JOURNAL_H
#define RESULT_JOURNAL_H

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "result/lazy.h"

#include <jansson.h>

#define JOURNAL_FORMAT 1

struct journal_writer;
/* New file (parents made); an existing one is refused (ASSAY_INVALID). */
struct journal_writer *journal_create(const char *path, struct assay_error *error);
/* Existing file, to append; cuts an unfinished tail. A tail that is a whole record, as its seal
 * shows, gets its newline instead. */
struct journal_writer *journal_open(const char *path, struct assay_error *error);
/* One write(2) a record (its seal and the newline are added); fsync at most once a second. `line`
 * holds no newline. A full disk is ASSAY_SYSTEM: a partly written record is cut off again. */
bool journal_append(struct journal_writer *journal, const char *line, size_t length,
                    struct assay_error *error);
bool journal_append_json(struct journal_writer *journal, const json_t *record,
                         struct assay_error *error);
/* While gathering, records that can be had again at once (verdicts, ends) are written several at a
 * time, still whole records by one write(2), and are no reason to sync. Ending it writes the rest.
 */
bool journal_gather(struct journal_writer *journal, bool gathering, struct assay_error *error);
bool journal_sync(struct journal_writer *journal, struct assay_error *error);
/* Syncs what is left, best effort. */
void journal_writer_destroy(struct journal_writer **journal);

/* Reads the index only: offsets of the records of each case. A line that is unknown is skipped; one
 * that is damaged, or not as assay wrote it, is counted as well. ASSAY_INVALID: no journal, a
 * format that is not ours, a run record that was changed, records of two runs. */
struct journal_reader;
struct journal_reader *journal_read(const char *path, struct assay_error *error);
/* Indexes what a writer has appended since, journal_open and what it did to an unfinished tail
 * included. */
bool journal_read_on(struct journal_reader *reader, struct assay_error *error);
void journal_reader_destroy(struct journal_reader **reader);
/* The `run` record; borrowed. */
const json_t *journal_run(const struct journal_reader *reader);
/* The last `end` record or NULL; borrowed. */
const json_t *journal_end(const struct journal_reader *reader);
/* Array of its `peaks` records, empty when it has none; borrowed. */
const json_t *journal_peaks(const struct journal_reader *reader);
/* Cases in the order of first appearance; the last record of an id counts. */
size_t journal_case_count(const struct journal_reader *reader);
/* The case record, parsed now. New reference. */
json_t *journal_case(struct journal_reader *reader, size_t index, struct assay_error *error);
/* The same, parsed as far as it is looked at. To be destroyed. */
struct lazy *journal_case_lazy(struct journal_reader *reader, size_t index,
                               struct assay_error *error);
/* Only the named top-level members of it (NULL-terminated), several times faster. New reference. */
json_t *journal_case_part(struct journal_reader *reader, size_t index, const char *const *members,
                          struct assay_error *error);
/* Index of the case with this id or -1. */
long journal_case_find(struct journal_reader *reader, const struct hash128 *id);
/* Its samples record or NULL without error when it has none. New reference. */
json_t *journal_samples(struct journal_reader *reader, size_t index, struct assay_error *error);
/* Verdict records of the last judgement, in order. */
size_t journal_verdict_count(const struct journal_reader *reader);
json_t *journal_verdict(struct journal_reader *reader, size_t index, struct assay_error *error);
struct lazy *journal_verdict_lazy(struct journal_reader *reader, size_t index,
                                  struct assay_error *error);
size_t journal_damaged_count(const struct journal_reader *reader);
/* A line of text for each of the first damaged lines, with its number and what is wrong with it,
 * each behind `prefix`. */
void journal_add_damage(const struct journal_reader *reader, const char *prefix, struct text *out);

#endif
