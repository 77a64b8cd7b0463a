/* SPDX-License-Identifier: MIT */
/* Length-limited lines over a descriptor, with a limit on every wait. One thread. */
#ifndef BASE_CHANNEL_H
#define BASE_CHANNEL_H

#include "base/error.h"

#define CHANNEL_LINE_BYTES (UINT32_C(16) << 20)

struct channel;
/* Does not own the descriptors. read_fd or write_fd may be -1; write_fd becomes non-blocking. The
 * process ignores SIGPIPE. */
struct channel *channel_create(int read_fd, int write_fd, struct assay_error *error);
void channel_destroy(struct channel **channel);

enum channel_result {
    CHANNEL_LINE,  /* a line is there */
    CHANNEL_END,   /* the other side closed; a last line without newline is dropped */
    CHANNEL_LIMIT, /* nothing within limit_ns; what came of a line is kept */
    CHANNEL_ERROR, /* a line over the length limit or a failed read; error is filled */
};
/* The next line without its newline, valid until the next read. limit_ns < 0: no limit (the worker
 * waiting for its supervisor, which ends with the pipe). */
enum channel_result channel_read(struct channel *channel, int64_t limit_ns, const char **line,
                                 size_t *length, struct assay_error *error);
/* Adds the newline; one write where the pipe takes it. `line` must not hold a newline. A pipe that
 * takes nothing for 60 s is ASSAY_TIMEOUT. */
bool channel_write(struct channel *channel, const char *line, size_t length,
                   struct assay_error *error);

#endif
