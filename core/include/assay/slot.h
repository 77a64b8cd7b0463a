/* SPDX-License-Identifier: MIT */
/* What a slot gives a workload beside device memory: files of the user's, notes for the record. One
 * thread at a time a slot. */
#ifndef ASSAY_SLOT_H
#define ASSAY_SLOT_H

#include <assay/device.h>
#include <assay/error.h>

ASSAY_BEGIN_DECLARATIONS

/* The bytes of a file that the script names in a parameter, with a NUL behind them that `*bytes`
 * does not count; the file is searched like a kernel's: beside the script, then beside the plugin's
 * file, then in shaders/, and nothing outside of these. At most 64 MiB. Valid and unchanged until
 * the slot is destroyed; so is `*path`, the file as messages call it. NULL with error:
 * ASSAY_SCRIPT lists where it was looked for; ASSAY_INVALID, ASSAY_SYSTEM: it cannot be read. */
ASSAY_API const char *assay_slot_file(struct assay_slot *slot, const char *name, size_t *bytes,
                                      const char **path, struct assay_error *error);
/* A note in the record of the case, copied: what bears on its figures, one line without a full
 * stop. The same text counts once. Those that come after the last report() are lost. */
ASSAY_API void assay_slot_note(struct assay_slot *slot, const char *text);

struct assay_command;

/* Records what is to be timed. Required; fails as a stage's record() does, with ASSAY_INVALID,
 * ASSAY_UNSUPPORTED or ASSAY_OUT_OF_MEMORY. One thread, that of create(). */
typedef bool assay_slot_record(void *self, struct assay_command *command,
                               struct assay_error *error);
/* For create(), to fit work to a time: records it for the compute queue, runs it a few times and
 * waits. Into `*time_ns` goes the shortest of them in ns, which a busy machine disturbs least, on
 * the device's clock where there is one. False with what `record` failed with, or what became of
 * the device: ASSAY_OUT_OF_MEMORY, ASSAY_TIMEOUT, ASSAY_DEVICE_LOST. */
ASSAY_API bool assay_slot_time(struct assay_slot *slot, assay_slot_record *record, void *self,
                               int64_t *time_ns, struct assay_error *error);

ASSAY_END_DECLARATIONS

#endif
