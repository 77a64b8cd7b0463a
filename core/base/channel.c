/* SPDX-License-Identifier: MIT */
#include "base/channel.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define FIRST_BYTES 65536
#define WRITE_LIMIT_NS (60 * SECOND_NS) /* the other side reads at once or is stuck */

struct channel {
    int read_fd, write_fd;
    char *buffer;
    size_t capacity;
    size_t start, end; /* what is read and not yet handed out */
    size_t scanned;    /* no newline before this */
    bool broken;
};

struct channel *channel_create(int read_fd, int write_fd, struct assay_error *error)
{
    struct channel *channel = calloc(1, sizeof *channel);
    char *buffer = malloc(FIRST_BYTES);
    if (!channel || !buffer) {
        free(channel);
        free(buffer);
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a channel");
        return NULL;
    }
    *channel = (struct channel){
        .read_fd = read_fd, .write_fd = write_fd, .buffer = buffer, .capacity = FIRST_BYTES};
    if (write_fd >= 0) {
        /* So that a write into a full pipe can have a limit. */
        int flags = fcntl(write_fd, F_GETFL);
        if (flags < 0 || fcntl(write_fd, F_SETFL, flags | O_NONBLOCK) < 0) {
            error_fail_errno(error, "cannot prepare a pipe");
            channel_destroy(&channel);
        }
    }
    return channel;
}

void channel_destroy(struct channel **channel)
{
    if (!channel || !*channel)
        return;
    free((*channel)->buffer);
    free(*channel);
    *channel = NULL;
}

/* 1: ready, 0: the time is over, -1: errno. deadline_ns < 0: no limit. */
static int wait_ready(int fd, short events, int64_t deadline_ns)
{
    for (;;) {
        int64_t left = deadline_ns - clock_now(clock_monotonic());
        if (left < 0)
            left = 0;
        struct timespec limit = {.tv_sec = (time_t)(left / SECOND_NS),
                                 .tv_nsec = (long)(left % SECOND_NS)};
        struct pollfd wanted = {.fd = fd, .events = events};
        int ready = ppoll(&wanted, 1, deadline_ns < 0 ? NULL : &limit, NULL);
        if (ready >= 0)
            return ready;
        if (errno != EINTR)
            return -1;
    }
}

static bool find_line(struct channel *channel, const char **line, size_t *length)
{
    char *from = channel->buffer + channel->scanned;
    char *newline = memchr(from, '\n', channel->end - channel->scanned);
    channel->scanned = channel->end;
    if (!newline)
        return false;
    *newline = '\0';
    *line = channel->buffer + channel->start;
    *length = (size_t)(newline - *line);
    channel->start = channel->scanned = (size_t)(newline + 1 - channel->buffer);
    return true;
}

static bool make_room(struct channel *channel, struct assay_error *error)
{
    if (channel->end < channel->capacity)
        return true;
    size_t held = channel->end - channel->start;
    if (channel->start > 0) {
        memmove(channel->buffer, channel->buffer + channel->start, held);
        channel->scanned -= channel->start;
        channel->start = 0;
        channel->end = held;
        if (held <= channel->capacity / 2)
            return true;
    }
    if (held > CHANNEL_LINE_BYTES)
        return assay_fail(error, ASSAY_SYSTEM, "a line is longer than the %u MiB allowed",
                          (unsigned)(CHANNEL_LINE_BYTES >> 20));
    char *buffer = realloc(channel->buffer, channel->capacity * 2);
    if (!buffer)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a line of %zu bytes", held);
    channel->buffer = buffer;
    channel->capacity *= 2;
    return true;
}

static enum channel_result broken(struct channel *channel)
{
    channel->broken = true;
    return CHANNEL_ERROR;
}

enum channel_result channel_read(struct channel *channel, int64_t limit_ns, const char **line,
                                 size_t *length, struct assay_error *error)
{
    if (channel->broken) {
        assay_fail(error, ASSAY_SYSTEM, "the channel failed before");
        return CHANNEL_ERROR;
    }
    int64_t deadline = limit_ns < 0 ? -1 : clock_now(clock_monotonic()) + limit_ns;
    while (!find_line(channel, line, length)) {
        if (!make_room(channel, error))
            return broken(channel);
        int ready = wait_ready(channel->read_fd, POLLIN, deadline);
        if (ready == 0)
            return CHANNEL_LIMIT;
        ssize_t got = ready < 0 ? -1
                                : read(channel->read_fd, channel->buffer + channel->end,
                                       channel->capacity - channel->end);
        if (got == 0)
            return CHANNEL_END;
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0) {
            error_fail_errno(error, "cannot read from the other process");
            return broken(channel);
        }
        channel->end += (size_t)got;
    }
    if (*length > CHANNEL_LINE_BYTES) {
        assay_fail(error, ASSAY_SYSTEM, "a line is longer than the %u MiB allowed",
                   (unsigned)(CHANNEL_LINE_BYTES >> 20));
        return broken(channel);
    }
    return CHANNEL_LINE;
}

static void advance(struct iovec parts[2], size_t count)
{
    for (int i = 0; i < 2; i++) {
        size_t step = count < parts[i].iov_len ? count : parts[i].iov_len;
        parts[i].iov_base = (char *)parts[i].iov_base + step;
        parts[i].iov_len -= step;
        count -= step;
    }
}

bool channel_write(struct channel *channel, const char *line, size_t length,
                   struct assay_error *error)
{
    if (length > CHANNEL_LINE_BYTES)
        return assay_fail(error, ASSAY_SYSTEM,
                          "a line of %zu bytes is longer than the %u MiB "
                          "allowed",
                          length, (unsigned)(CHANNEL_LINE_BYTES >> 20));
    if (memchr(line, '\n', length))
        return assay_fail(error, ASSAY_INTERNAL, "a line holds a newline");
    char newline = '\n';
    struct iovec parts[2] = {{(char *)(uintptr_t)line, length}, {&newline, 1}};
    int64_t deadline = clock_now(clock_monotonic()) + WRITE_LIMIT_NS;
    while (parts[1].iov_len > 0) {
        ssize_t put = writev(channel->write_fd, parts, 2);
        if (put >= 0) {
            advance(parts, (size_t)put);
            deadline = clock_now(clock_monotonic()) + WRITE_LIMIT_NS;
            continue;
        }
        if (errno == EINTR)
            continue;
        int ready = errno == EAGAIN ? wait_ready(channel->write_fd, POLLOUT, deadline) : -1;
        if (ready == 0)
            return assay_fail(error, ASSAY_TIMEOUT, "the other process takes no data for %d s",
                              (int)(WRITE_LIMIT_NS / SECOND_NS));
        if (ready < 0)
            return error_fail_errno(error, "cannot write to the other process");
    }
    return true;
}
