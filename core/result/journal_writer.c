/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/json.h"
#include "base/os.h"
#include "result/journal.h"
#include "result/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYNC_EVERY_NS INT64_C(1000000000)
#define BLOCK_BYTES 4096
#define GATHER_BYTES ((size_t)64 * 1024)

struct journal_writer {
    int fd;
    char *path;
    off_t end; /* of the last whole record */
    int64_t synced_ns;
    bool unsynced;
    bool sealing;  /* records get a seal: always, but in a journal whose run record has none */
    uint64_t seal; /* of the run record; 0 before there is one */
    bool gathering;
    struct text held; /* whole records behind `end` that are not in the file yet */
    struct text line; /* reused */
};

static struct journal_writer *writer_create(const char *path, int flags, struct assay_error *error)
{
    struct journal_writer *journal = calloc(1, sizeof *journal);
    char *copy = strdup(path);
    if (!journal || !copy) {
        free(journal);
        free(copy);
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a journal");
        return NULL;
    }
    *journal = (struct journal_writer){.path = copy, .synced_ns = clock_now(clock_monotonic())};
    journal->fd = open(path, flags | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0) {
        int reason = errno;
        if (reason == EEXIST)
            assay_fail(error, ASSAY_INVALID, "%s exists already; choose another directory with -o",
                       path);
        else if (reason == EIO || reason == ENOSPC || reason == ENFILE || reason == EMFILE)
            error_system(error, reason, __FILE__, __LINE__, "cannot write %s", path);
        else
            assay_fail(error, ASSAY_INVALID, "cannot write %s: %s", path, strerror(reason));
        goto fail;
    }
    if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        assay_fail(error, ASSAY_INVALID, "%s is being written by another run", path);
        goto fail;
    }
    return journal;
fail:
    journal_writer_destroy(&journal);
    return NULL;
}

struct journal_writer *journal_create(const char *path, struct assay_error *error)
{
    struct text directory = {0};
    os_path_directory(&directory, path);
    bool made = os_make_directories(text_string(&directory), error);
    text_free(&directory);
    struct journal_writer *journal = made ? writer_create(path, O_WRONLY | O_CREAT | O_EXCL, error)
                                          : NULL;
    if (journal)
        journal->sealing = true;
    return journal;
}

/* Offset behind the last newline; 0 when there is none, -1 with errno. */
static off_t end_of_records(int fd, off_t size)
{
    char block[BLOCK_BYTES];
    for (off_t end = size; end > 0;) {
        off_t start = (end - 1) / BLOCK_BYTES * BLOCK_BYTES;
        ssize_t got = pread(fd, block, (size_t)(end - start), start);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got != end - start) {
            errno = EIO;
            return -1;
        }
        const char *newline = memrchr(block, '\n', (size_t)got);
        if (newline)
            return start + (newline - block) + 1;
        end = start;
    }
    return 0;
}

/* The bytes [start, end) of the file, or up to a newline when `line`. */
static bool read_range(int fd, off_t start, off_t end, bool line, struct text *out)
{
    char block[BLOCK_BYTES];
    while (start < end) {
        size_t want = end - start < BLOCK_BYTES ? (size_t)(end - start) : BLOCK_BYTES;
        ssize_t got = pread(fd, block, want, start);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        const char *newline = line ? memchr(block, '\n', (size_t)got) : NULL;
        text_add_bytes(out, block, newline ? (size_t)(newline - block) : (size_t)got);
        if (newline)
            break;
        start += got;
    }
    return !out->failed;
}

/* Takes up the seal of the run record; *whole: the tail is a record that lacks only its newline. */
static bool take_up_seal(struct journal_writer *journal, off_t end, off_t size, bool *whole)
{
    struct text first = {0}, tail = {0};
    uint64_t seal;
    bool fits;
    bool good = read_range(journal->fd, 0, end, true, &first) &&
                read_range(journal->fd, end, size, false, &tail);
    journal->sealing = good &&
                       seal_check(text_string(&first), first.length, 0, &journal->seal, &fits);
    *whole = journal->sealing &&
             seal_check(text_string(&tail), tail.length, journal->seal, &seal, &fits) && fits;
    text_free(&first);
    text_free(&tail);
    return good;
}

/* Makes the file end with a whole record. */
static bool mend_tail(struct journal_writer *journal, off_t end, off_t size,
                      struct assay_error *error)
{
    bool whole;
    if (!take_up_seal(journal, end, size, &whole))
        return error_fail_errno(error, "cannot read %s", journal->path);
    if (whole && !os_write_all(journal->fd, "\n", 1))
        return error_fail_errno(error, "cannot write %s", journal->path);
    if (!whole && end < size && ftruncate(journal->fd, end) != 0)
        return error_fail_errno(error, "cannot cut the unfinished end of %s", journal->path);
    journal->end = whole ? size + 1 : end;
    return true;
}

struct journal_writer *journal_open(const char *path, struct assay_error *error)
{
    struct journal_writer *journal = writer_create(path, O_RDWR, error);
    if (!journal)
        return NULL;
    struct stat status;
    if (fstat(journal->fd, &status) != 0) {
        error_fail_errno(error, "cannot read %s", path);
        goto fail;
    }
    off_t end = S_ISREG(status.st_mode) ? end_of_records(journal->fd, status.st_size) : 0;
    if (end < 0) {
        error_fail_errno(error, "cannot read %s", path);
        goto fail;
    }
    if (end == 0) { /* never cut a file that is not ours */
        assay_fail(error, ASSAY_INVALID, "%s is no journal: it holds no whole record", path);
        goto fail;
    }
    if (!mend_tail(journal, end, status.st_size, error))
        goto fail;
    return journal;
fail:
    journal_writer_destroy(&journal);
    return NULL;
}

/* Writes what is held: one call in the usual case. What a full disk leaves of it is cut off. */
static bool flush(struct journal_writer *journal, struct assay_error *error)
{
    size_t length = journal->held.length;
    if (length == 0)
        return true;
    bool good = os_write_all(journal->fd, journal->held.data, length);
    int reason = errno;
    text_clear(&journal->held);
    if (good) {
        journal->end += (off_t)length;
        journal->unsynced = journal->unsynced || !journal->gathering;
        return true;
    }
    if (ftruncate(journal->fd, journal->end) != 0)
        return error_system(error, reason, __FILE__, __LINE__,
                            "cannot write %s (and its end is not a whole record)", journal->path);
    return error_system(error, reason, __FILE__, __LINE__, "cannot write %s", journal->path);
}

/* The record with its seal and newline. */
static bool hold(struct journal_writer *journal, const char *line, size_t length,
                 struct assay_error *error)
{
    struct text *held = &journal->held;
    char tail[SEAL_BYTES];
    bool first = journal->end == 0 && held->length == 0, sealed;
    uint64_t seal = 0;
    size_t before = held->length;
    sealed = journal->sealing && seal_wanted(line, length);
    if (sealed)
        seal_make(line, length, first ? 0 : journal->seal, tail, &seal);
    text_add_bytes(held, line, sealed ? length - 1 : length);
    text_add_bytes(held, tail, sealed ? SEAL_BYTES : 0);
    text_add_char(held, '\n');
    if (held->failed) {
        held->length = before;
        held->failed = false;
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a record");
    }
    if (first)
        journal->seal = seal; /* the run record seals the rest */
    return true;
}

bool journal_append(struct journal_writer *journal, const char *line, size_t length,
                    struct assay_error *error)
{
    if (length == 0 || memchr(line, '\n', length))
        return assay_fail(error, ASSAY_INTERNAL, "a record is empty or holds a newline");
    if (!hold(journal, line, length, error))
        return false;
    if (journal->gathering && journal->held.length < GATHER_BYTES)
        return true;
    if (!flush(journal, error))
        return false;
    if (journal->gathering || clock_now(clock_monotonic()) - journal->synced_ns < SYNC_EVERY_NS)
        return true;
    return journal_sync(journal, error);
}

bool journal_gather(struct journal_writer *journal, bool gathering, struct assay_error *error)
{
    bool good = flush(journal, error);
    journal->gathering = gathering;
    return good;
}

bool journal_append_json(struct journal_writer *journal, const json_t *record,
                         struct assay_error *error)
{
    text_clear(&journal->line);
    return json_add_line(&journal->line, record, false, error) &&
           journal_append(journal, journal->line.data, journal->line.length, error);
}

bool journal_sync(struct journal_writer *journal, struct assay_error *error)
{
    if (!flush(journal, error))
        return false;
    journal->synced_ns = clock_now(clock_monotonic());
    if (!journal->unsynced)
        return true;
    /* EINVAL, EROFS: a file system that cannot; there is nothing to lose then. */
    if (fdatasync(journal->fd) != 0 && errno != EINVAL && errno != EROFS)
        return error_fail_errno(error, "cannot write %s to the disk", journal->path);
    journal->unsynced = false;
    return true;
}

void journal_writer_destroy(struct journal_writer **journal)
{
    if (!journal || !*journal)
        return;
    if ((*journal)->fd >= 0) {
        journal_sync(*journal, NULL);
        close((*journal)->fd);
    }
    text_free(&(*journal)->held);
    text_free(&(*journal)->line);
    free((*journal)->path);
    free(*journal);
    *journal = NULL;
}
