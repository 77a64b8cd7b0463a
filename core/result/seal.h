/* SPDX-License-Identifier: MIT */
/* The seal of a record: its last member, a hash of all that stands before it, seeded by the seal of
 * the journal's run record (whose own seed is 0). It shows that a record was changed, or came from
 * another run; it does not keep anybody from making a new one. Inside core/result only. */
#ifndef RESULT_SEAL_H
#define RESULT_SEAL_H

#include <assay/api.h>

/* Whether records of this kind carry one: what was measured does, but not verdicts and ends, which
 * follow from it. */
bool seal_wanted(const char *line, size_t length);

#define SEAL_BYTES 27 /* ,"seal":"0123456789abcdef"} */

/* The seal of a record that ends with '}' and has a member; `tail` gets what takes the place of
 * that '}', without a NUL. Returns SEAL_BYTES. */
size_t seal_make(const char *line, size_t length, uint64_t seed, char tail[SEAL_BYTES],
                 uint64_t *seal);
/* Whether the line ends with a seal; *fits: it is that of what stands before it. */
bool seal_check(const char *line, size_t length, uint64_t seed, uint64_t *seal, bool *fits);

#endif
