/* SPDX-License-Identifier: MIT */
/* What a device stage records. A recording is made once and replayed for each sample. It is a short
 * program: device commands, and host copies where memory that the device cannot see takes part
 * (pageable) or the host does the work itself (`assay_command_host_copy`). One thread, that of the
 * hook; what is recorded must live as long as the slot's recordings. All functions fail with
 * ASSAY_INVALID for arguments that are wrong in themselves and ASSAY_OUT_OF_MEMORY. */
#ifndef ASSAY_COMMAND_H
#define ASSAY_COMMAND_H

#include <assay/buffer.h>
#include <assay/kernel.h>

ASSAY_BEGIN_DECLARATIONS

struct assay_command;

/* The largest piece of a staged copy. */
#define ASSAY_STAGING_BYTES (UINT64_C(16) << 20)

/* Device copy of bytes > 0 between two buffers; offsets are in bytes (`destination_offset`,
 * `source_offset`); ranges must lie inside them and not overlap: ASSAY_INVALID. When one side is
 * pageable the piece is staged: memcpy to pinned staging, then the copy (upload), or the reverse
 * (download), in pieces of at most ASSAY_STAGING_BYTES, one after the other. */
ASSAY_API bool assay_command_copy(struct assay_command *command, struct assay_buffer *destination,
                                  uint64_t destination_offset, struct assay_buffer *source,
                                  uint64_t source_offset, uint64_t bytes,
                                  struct assay_error *error);
/* memcpy by the host, offsets in bytes (`destination_offset`, `source_offset`); both buffers need a
 * host address, else ASSAY_UNSUPPORTED. */
ASSAY_API bool assay_command_host_copy(struct assay_command *command,
                                       struct assay_buffer *destination,
                                       uint64_t destination_offset, struct assay_buffer *source,
                                       uint64_t source_offset, uint64_t bytes,
                                       struct assay_error *error);
/* Writes the 32-bit `word` over [offset, offset + bytes), in bytes, both multiples of 4:
 * ASSAY_INVALID. ASSAY_UNSUPPORTED for memory that the device cannot see. */
ASSAY_API bool assay_command_fill(struct assay_command *command, struct assay_buffer *buffer,
                                  uint64_t offset, uint64_t bytes, uint32_t word,
                                  struct assay_error *error);

/* A buffer for a block of the kernel, or for an imageBuffer that declares its format: then whole
 * texels, max_texel_elements at most. Strings are copied. */
struct assay_binding {
    const char *name; /* of the block instance, the block, or its single member; or the image */
    struct assay_buffer *buffer; /* of the same slot */
    uint64_t offset,
        bytes; /* in bytes; 0 bytes: to the end. Offset a multiple of storage_alignment_bytes, for
                  an imageBuffer of texel_alignment_bytes */
};

/* A push constant. Strings are copied. */
struct assay_push {
    const char *name; /* member of the push-constant block */
    double value;     /* converted to the member's type (scalars), refused when it does not fit */
};

/* One dispatch; arrays are copied. */
struct assay_dispatch {
    size_t size;                          /* sizeof(struct assay_dispatch) */
    struct assay_kernel *kernel;          /* of the same slot */
    const struct assay_binding *bindings; /* every one that the kernel has, in any order */
    size_t binding_count;                 /* of them */
    const struct assay_push *pushes;      /* every member of its push-constant block */
    size_t push_count;                    /* of them */
    uint64_t invocations[3]; /* total, rounded up to whole groups; 0 counts as 1. Or: */
    uint32_t groups[3];      /* group counts; used when groups[0] > 0 */
};
/* A missing, extra or wrongly sized binding or push constant is ASSAY_INVALID with both sides
 * shown; a group count over the device's limit is ASSAY_UNSUPPORTED with limit and value. */
ASSAY_API bool assay_command_dispatch(struct assay_command *command,
                                      const struct assay_dispatch *dispatch,
                                      struct assay_error *error);

/* All earlier commands of this lane complete and their writes are visible before any later one
 * starts. Fails with ASSAY_OUT_OF_MEMORY. */
ASSAY_API bool assay_command_barrier(struct assay_command *command, struct assay_error *error);

/* Ends a submission: what was recorded so far, on both lanes, is submitted and waited for by the
 * host before what follows is submitted. The stage's time is then host time, and its device time
 * the sum over its submissions. No effect where nothing was recorded since the last one. Fails with
 * ASSAY_OUT_OF_MEMORY. */
ASSAY_API bool assay_command_wait(struct assay_command *command, struct assay_error *error);

/* Later commands go to lane 0 (where a recording starts) or 1. Lanes of one stage run at once, on
 * two queues where the device has two that serve, else on one queue, and the record says which. No
 * host copies outside lane 0. ASSAY_INVALID for another number of `lane`. */
ASSAY_API bool assay_command_lane(struct assay_command *command, unsigned lane,
                                  struct assay_error *error);

ASSAY_END_DECLARATIONS

#endif
