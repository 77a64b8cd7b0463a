/* SPDX-License-Identifier: MIT */
#include "base/channel.h"
#include "base/os.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG_NS INT64_C(30000000000)

struct pair {
    int fds[2];
    struct channel *reader, *writer;
};

static int open_pair(void **state)
{
    struct pair *pair = calloc(1, sizeof *pair);
    if (!pair || pipe(pair->fds) != 0)
        return -1;
    pair->reader = channel_create(pair->fds[0], -1, NULL);
    pair->writer = channel_create(-1, pair->fds[1], NULL);
    *state = pair;
    return pair->reader && pair->writer ? 0 : -1;
}

static int close_pair(void **state)
{
    struct pair *pair = *state;
    channel_destroy(&pair->reader);
    channel_destroy(&pair->writer);
    channel_destroy(&pair->writer);
    close(pair->fds[0]);
    if (pair->fds[1] >= 0)
        close(pair->fds[1]);
    free(pair);
    return 0;
}

static void expect_line(struct pair *pair, const char *wanted)
{
    const char *line = NULL;
    size_t length = 0;
    struct assay_error error = {0};
    assert_int_equal(channel_read(pair->reader, LONG_NS, &line, &length, &error), CHANNEL_LINE);
    assert_int_equal(length, strlen(wanted));
    assert_string_equal(line, wanted);
}

static enum channel_result read_result(struct pair *pair, int64_t limit_ns,
                                       struct assay_error *error)
{
    const char *line;
    size_t length;
    return channel_read(pair->reader, limit_ns, &line, &length, error);
}

static void lines(void **state)
{
    struct pair *pair = *state;
    struct assay_error error = {0};
    assert_true(channel_write(pair->writer, "one", 3, &error));
    assert_true(channel_write(pair->writer, "", 0, &error));
    assert_true(os_write_all(pair->fds[1], "two\nthr", 7));
    expect_line(pair, "one");
    expect_line(pair, "");
    expect_line(pair, "two");
    assert_int_equal(read_result(pair, 1000, &error), CHANNEL_LIMIT);
    assert_true(os_write_all(pair->fds[1], "ee\nunfinished", 13));
    expect_line(pair, "three"); /* what came before the limit is kept */
    close(pair->fds[1]);
    pair->fds[1] = -1;
    assert_int_equal(read_result(pair, LONG_NS, &error), CHANNEL_END);
    assert_int_equal(read_result(pair, -1, &error), CHANNEL_END);
    assert_int_equal(error.status, ASSAY_OK);
}

static void refuses_newlines(void **state)
{
    struct pair *pair = *state;
    struct assay_error error = {0};
    assert_false(channel_write(pair->writer, "a\nb", 3, &error));
    assert_int_equal(error.status, ASSAY_INTERNAL);
}

static void other_side_gone(void **state)
{
    struct pair *pair = *state;
    struct assay_error error = {0};
    signal(SIGPIPE, SIG_IGN);
    int reading = dup(pair->fds[1]); /* any open descriptor in its place */
    dup2(reading, pair->fds[0]);
    close(reading);
    assert_false(channel_write(pair->writer, "x", 1, &error));
    assert_int_equal(error.status, ASSAY_SYSTEM);
    assert_string_equal(error.text, "cannot write to the other process: Broken pipe");
}

struct sender {
    struct pair *pair;
    size_t bytes;
    bool channel; /* through the channel, else raw bytes without newline */
    bool good;
};

static void *send_line(void *data)
{
    struct sender *sender = data;
    char *bytes = malloc(sender->bytes);
    if (!bytes)
        return NULL;
    for (size_t i = 0; i < sender->bytes; i++)
        bytes[i] = (char)('a' + i % 26);
    if (sender->channel)
        sender->good = channel_write(sender->pair->writer, bytes, sender->bytes, NULL);
    else
        for (size_t done = 0; done < sender->bytes;) {
            ssize_t put = write(sender->pair->fds[1], bytes + done, sender->bytes - done);
            if (put > 0)
                done += (size_t)put;
            else
                usleep(100); /* the pipe is full */
        }
    free(bytes);
    return NULL;
}

/* Much more than a pipe holds, up to the limit exactly. */
static void long_lines(void **state)
{
    struct pair *pair = *state;
    for (int i = 0; i < 2; i++) {
        struct sender sender = {pair, CHANNEL_LINE_BYTES, true, false};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, send_line, &sender), 0);
        const char *line = NULL;
        size_t length = 0;
        struct assay_error error = {0};
        enum channel_result result = channel_read(pair->reader, LONG_NS, &line, &length, &error);
        pthread_join(thread, NULL);
        assert_int_equal(result, CHANNEL_LINE);
        assert_true(sender.good);
        assert_int_equal(length, CHANNEL_LINE_BYTES);
        for (size_t k = 0; k < length; k += 997)
            assert_int_equal(line[k], 'a' + k % 26);
    }
    struct assay_error error = {0};
    char *more = calloc(1, CHANNEL_LINE_BYTES + 1);
    assert_false(channel_write(pair->writer, more, CHANNEL_LINE_BYTES + 1, &error));
    free(more);
}

static void too_long_lines(void **state)
{
    struct pair *pair = *state;
    struct sender sender = {pair, 2 * (size_t)CHANNEL_LINE_BYTES, false, false};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send_line, &sender), 0);
    struct assay_error error = {0};
    assert_int_equal(read_result(pair, LONG_NS, &error), CHANNEL_ERROR);
    assert_string_equal(error.text, "a line is longer than the 16 MiB allowed");
    error = (struct assay_error){0};
    assert_int_equal(read_result(pair, LONG_NS, &error), CHANNEL_ERROR);
    assert_string_equal(error.text, "the channel failed before");
    fcntl(pair->fds[0], F_SETFL, O_NONBLOCK);
    char rest[65536]; /* so that the sender ends */
    while (pthread_tryjoin_np(thread, NULL) != 0)
        if (read(pair->fds[0], rest, sizeof rest) <= 0)
            usleep(100);
}

#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)
int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PAIR(lines),      WITH_PAIR(refuses_newlines), WITH_PAIR(other_side_gone),
        WITH_PAIR(long_lines), WITH_PAIR(too_long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
