/* SPDX-License-Identifier: MIT */
/* Buffers by what people mean, with a fill that can be restored and an output that can be poisoned.
 * One thread at a time a slot; hooks are called from one anyway. Strings and data in parameters are
 * copied. */
#ifndef ASSAY_BUFFER_H
#define ASSAY_BUFFER_H

#include <assay/device.h>
#include <assay/element.h>
#include <assay/error.h>

ASSAY_BEGIN_DECLARATIONS

struct assay_buffer;

/* Where a buffer lives. */
enum assay_memory {
    ASSAY_MEMORY_DEVICE,   /* device-local; host-visible or not as the driver likes */
    ASSAY_MEMORY_PINNED,   /* host-visible and coherent, for writing (may be write-combined) */
    ASSAY_MEMORY_CACHED,   /* host-visible and cached, for reading back; invalidated where it is not
                              coherent */
    ASSAY_MEMORY_BAR,      /* device-local and host-visible */
    ASSAY_MEMORY_IMPORTED, /* host allocation imported with VK_EXT_external_memory_host */
    ASSAY_MEMORY_PAGEABLE, /* malloc; transfers go through an internal pinned staging buffer */
    ASSAY_MEMORY_COUNT
};

/* What becomes of a buffer's contents between measuring and verification. */
enum assay_role {
    ASSAY_ROLE_SCRATCH, /* neither filled nor poisoned */
    ASSAY_ROLE_INPUT,   /* filled at creation; the fill is restored before verification */
    ASSAY_ROLE_OUTPUT,  /* poisoned at creation and before verification */
};

/* What an INPUT buffer is filled with; host and device see little-endian elements. */
enum assay_fill_kind {
    ASSAY_FILL_RANDOM_BITS,  /* uniform 64-bit words from the slot's seed and the buffer's index */
    ASSAY_FILL_WORD,         /* one 32-bit word repeated */
    ASSAY_FILL_UNIFORM_FP32, /* floats in [low, high) */
    ASSAY_FILL_VALUE,        /* one `element` repeated: `from` */
    ASSAY_FILL_UNIFORM,      /* random `element`s: floating ones in [from, to), whole ones in
                                [from, to] */
    ASSAY_FILL_SEQUENCE,     /* element i, from 0, is from + i * to; whole ones wrap */
    ASSAY_FILL_DATA,         /* `data`, which must be as long as the buffer; copied at creation */
};

/* The contents of an INPUT buffer. All zero: random bits. */
struct assay_fill {
    enum assay_fill_kind kind; /* decides which of the others count */
    uint32_t word;             /* WORD: the bits, as the host has them */
    float low, high;           /* UNIFORM_FP32: low <= value < high, dimensionless */
    /* VALUE, UNIFORM, SEQUENCE: the type of an element, and its numbers, dimensionless; whole
     * elements take whole numbers of at most 2^53. */
    enum assay_element element;
    double from, to;  /* dimensionless numbers */
    const void *data; /* DATA: valid during assay_buffer_create */
};

/* What a buffer is. */
struct assay_buffer_params {
    size_t size;              /* sizeof(struct assay_buffer_params) */
    const char *name;         /* debug name and the name in messages */
    uint64_t bytes;           /* > 0 */
    enum assay_memory memory; /* where it lives */
    enum assay_role role;     /* what becomes of its contents */
    struct assay_fill fill;   /* INPUT only. Stays the last member: it may grow at its end */
};

/* Belongs to the slot; released with it at the latest. ASSAY_UNSUPPORTED when the device has no
 * such memory or the size is over a limit (the text names limit and value), ASSAY_OUT_OF_MEMORY
 * when the driver refuses. */
ASSAY_API struct assay_buffer *assay_buffer_create(struct assay_slot *slot,
                                                   const struct assay_buffer_params *params,
                                                   struct assay_error *error);
/* NULL is allowed. Waits for the last use. */
ASSAY_API void assay_buffer_destroy(struct assay_buffer **buffer);

/* Its size in bytes, as it was asked for. */
ASSAY_API uint64_t assay_buffer_bytes(const struct assay_buffer *buffer);
/* Host address of the whole buffer, valid as long as the buffer, or NULL when the host cannot see
 * its memory. Writes to it are seen by device work that is submitted later. */
ASSAY_API void *assay_buffer_address(struct assay_buffer *buffer);
/* Copies [offset, offset + bytes), in bytes, to or from `host`, through staging where needed; waits
 * for completion, bounded. ASSAY_INVALID for a range that is not inside the buffer; else what
 * became of the device: ASSAY_OUT_OF_MEMORY, ASSAY_TIMEOUT, ASSAY_DEVICE_LOST. */
ASSAY_API bool assay_buffer_read(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes,
                                 void *host, struct assay_error *error);
ASSAY_API bool assay_buffer_write(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes,
                                  const void *host, struct assay_error *error);
/* What the buffer's fill (INPUT) or poison (OUTPUT) puts at [offset, offset + bytes), in bytes,
 * into `host`; offset a multiple of 8. */
ASSAY_API void assay_buffer_fill_bytes(const struct assay_buffer *buffer, uint64_t offset,
                                       uint64_t bytes, void *host);

ASSAY_END_DECLARATIONS

#endif
