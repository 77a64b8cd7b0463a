/* SPDX-License-Identifier: MIT */
/* What the tuner found, kept in the cache: $XDG_CACHE_HOME/assay/tuning, one file a key. The key is
 * the hash of an *identity*, a JSON object with all that the choice hangs on. Files are replaced as
 * a whole; a damaged one counts as absent. While a candidate is tried its name stands in a *mark*
 * beside the file, so that the supervisor whose worker ends can blame it (tuning_tried). A mark
 * that stays when the supervisor goes too, by a signal, blames nothing. */
#ifndef RESULT_TUNING_STORE_H
#define RESULT_TUNING_STORE_H

#include "base/error.h"
#include "base/text.h"

#include <jansson.h>
#include <sys/types.h>

/* All zero: not open; the functions below then keep nothing and know nothing. */
struct tuning_store {
    json_t *identity;
    struct text path, mark_path;
    int mark; /* descriptor of the locked mark; 0: not locked */
};

/* Keeps a reference. ASSAY_INVALID: there is no cache directory. */
bool tuning_open(struct tuning_store *store, json_t *identity, struct assay_error *error);
void tuning_close(struct tuning_store *store); /* gives the lock back, too */

/* What was found for the identity; NULL: nothing is kept. `damage` gets what is wrong with the file
 * where it is left out of account. New reference. */
json_t *tuning_read(const struct tuning_store *store, struct text *damage);
bool tuning_write(const struct tuning_store *store, const json_t *found, struct assay_error *error);

/* One process tunes a key at a time; the others wait, for limit_ns at most (ASSAY_TIMEOUT). `left`
 * gets the candidate that was blamed for the end of a worker meanwhile, or stays empty. */
bool tuning_lock(struct tuning_store *store, int64_t limit_ns, struct text *left,
                 struct assay_error *error);
/* The candidate that is tried from now on; NULL: none. Best effort. */
void tuning_mark(const struct tuning_store *store, const char *candidate);
void tuning_unlock(struct tuning_store *store);

/* All that is kept: array of {"key": 32 hex, "identity", "found"}, ordered by identity; `damage`
 * gets a line for each file that is left out of account. NULL: no memory. New reference. */
json_t *tuning_list(struct text *damage);
/* Removes what is kept under the keys of such a list, and marks that belong to nothing. False with
 * the first that stays. */
bool tuning_forget(const json_t *list, struct assay_error *error);
/* Removes everything, damaged files too; *count gets of how many keys. */
bool tuning_forget_all(size_t *count, struct assay_error *error);
/* The candidate that the worker with this process id, which has ended, was trying: it is blamed,
 * or, with `interrupted`, is to be tried again. To be called once. False: none. */
bool tuning_tried(pid_t worker, bool interrupted, struct text *candidate);

/* Inside core/result only. The directory; false: there is none. */
bool tuning_directory(struct text *out);
/* Reads a file of the store: the whole object, with its identity. NULL with `damage`, which stays
 * empty when there is no file. New reference. */
json_t *tuning_file_read(const char *path, struct text *damage);
/* Whether the mark is the worker's; its candidate is then added, and the mark blames it, or goes.
 */
bool tuning_mark_take(const char *path, pid_t worker, bool interrupted, struct text *candidate);
/* Removes a mark unless somebody is trying a candidate. */
void tuning_mark_drop(const char *path);

#endif
