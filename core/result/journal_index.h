/* SPDX-License-Identifier: MIT */
/* Where the records of a journal stand. Inside core/result only. */
#ifndef RESULT_JOURNAL_INDEX_H
#define RESULT_JOURNAL_INDEX_H

#include "base/hash.h"

struct place {
    uint64_t offset;
    uint32_t length; /* 0: none */
};

/* Kept small, there may be a hundred thousand: 48 bytes, and 10 to 16 in the two tables. */
struct entry {
    struct hash128 id;
    uint64_t offset, samples_offset;
    uint32_t length, samples_length; /* 0: no such record */
    uint32_t position;               /* in the order of cases */
};

/* All zero is an empty one. The functions that add return false when there is no memory. */
struct journal_index {
    struct entry *entries; /* of every id seen, by first record */
    size_t entry_count, entry_capacity;
    uint32_t *order; /* entries that have a case record */
    size_t case_count, order_capacity;
    uint32_t *slots; /* open addressing by id: index of the entry + 1, 0 is free */
    size_t slot_count;
    struct place *verdicts;
    size_t verdict_count, verdict_capacity;
    int64_t judgement; /* of the verdicts */
    uint32_t expected; /* entry that is looked for next when it goes in order */
};

void index_free(struct journal_index *index);
bool index_add_samples(struct journal_index *index, const struct hash128 *id, struct place place);
/* The last record of an id counts. */
bool index_add_case(struct journal_index *index, const struct hash128 *id, struct place place);
bool index_add_verdict(struct journal_index *index, int64_t judgement, struct place place);
/* Whether a verdict or an end is of the last judgement; the first of a later one makes the earlier
 * ones history. */
bool index_is_current(struct journal_index *index, int64_t judgement);
/* The entry of the id, if it has a case record; else NULL. */
const struct entry *index_find(struct journal_index *index, const struct hash128 *id);

#endif
