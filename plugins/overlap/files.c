/* SPDX-License-Identifier: MIT */
/* Records in files of a directory of the slot's own. */
#include "overlap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

#define READERS_MAX 64
#define NAME_BYTES 32
enum { BLOCK_WORDS = 65536 };

struct files {
    struct files_params params;
    struct scratch scratch;
    uint64_t offset; /* of the next batch, in all files one after the other */
};

/* The first thing that went wrong with a file. Readers cannot share an error. */
struct failure {
    enum { NOTHING, OPEN, READ, SHORT, SHRANK } kind;
    int number; /* errno */
    uint64_t file, got_bytes, wanted_bytes;
};

/* What one reader reads. */
struct part {
    const struct files *files;
    unsigned char *to;
    uint64_t offset, bytes;
    struct failure failure;
    thrd_t thread;
};

static void file_name(uint64_t file, char name[static NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%06" PRIu64 ".records", file);
}

void files_destroy(struct files **files)
{
    if (!*files)
        return;
    scratch_destroy(&(*files)->scratch);
    free(*files);
    *files = NULL;
}

static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t n = write(fd, bytes, count);
        if (n < 0 && errno != EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        count -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool make_file(const struct files *files, uint64_t file, float *block,
                      struct assay_error *error)
{
    char name[NAME_BYTES];
    const struct files_params *p = &files->params;
    uint64_t words = p->bytes / WORD_BYTES, first = file * words;
    file_name(file, name);
    int fd = openat(files->scratch.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0;
    for (uint64_t done = 0; good && done < words; done += BLOCK_WORDS) {
        uint64_t count = words - done < BLOCK_WORDS ? words - done : BLOCK_WORDS;
        data_fill(p->seed, first + done, count, block);
        good = write_all(fd, (const char *)block, (size_t)(count * WORD_BYTES));
    }
    good = good && fsync(fd) == 0; /* writing back does not disturb the reading */
    int number = errno;
    if (fd >= 0)
        close(fd);
    return good || assay_fail(error, ASSAY_SYSTEM, "cannot write %s/%s: %s", files->scratch.path,
                              name, strerror(number));
}

/* Not every file system can do it. */
static bool try_direct(const struct files *files, struct assay_error *error)
{
    char name[NAME_BYTES];
    file_name(0, name);
    int fd = openat(files->scratch.fd, name, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0)
        return assay_fail(error, ASSAY_UNSUPPORTED,
                          "direct: the file system of %s reads through the page cache alone (%s); "
                          "give a directory on another one",
                          files->scratch.path, strerror(errno));
    close(fd);
    return true;
}

struct files *files_create(const struct files_params *params, struct assay_error *error)
{
    struct files *files = calloc(1, sizeof(*files));
    float *block = malloc(BLOCK_WORDS * sizeof(*block));
    bool good = files && block;
    if (!good)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
    if (files) {
        files->params = *params;
        good = scratch_create(params->directory, &files->scratch, error) && good &&
               scratch_holds(&files->scratch, params->count, params->bytes, error);
    }
    for (uint64_t file = 0; good && file < params->count; file++)
        good = make_file(files, file, block, error);
    good = good && (!params->direct || try_direct(files, error));
    free(block);
    if (!good)
        files_destroy(&files);
    return files;
}

/* `bytes` from `start` of a file on. */
static bool read_file(const struct files *files, uint64_t file, uint64_t start, uint64_t bytes,
                      unsigned char *to, struct failure *failure)
{
    char name[NAME_BYTES];
    struct stat status;
    *failure = (struct failure){.kind = OPEN, .file = file, .wanted_bytes = start + bytes};
    file_name(file, name);
    int fd = openat(files->scratch.fd, name,
                    O_RDONLY | O_CLOEXEC | (files->params.direct ? O_DIRECT : 0));
    if (fd < 0 || fstat(fd, &status) != 0)
        goto end;
    failure->kind = SHORT;
    failure->got_bytes = (uint64_t)status.st_size;
    if (failure->got_bytes < start + bytes)
        goto end;
    failure->kind = NOTHING;
    for (uint64_t done = 0; failure->kind == NOTHING && done < bytes;) {
        ssize_t n = pread(fd, to + done, (size_t)(bytes - done), (off_t)(start + done));
        if (n < 0 && errno != EINTR)
            failure->kind = READ;
        else if (n == 0)
            failure->kind = SHRANK;
        done += n > 0 ? (uint64_t)n : 0;
        failure->got_bytes = start + done;
    }
end:
    failure->number = errno;
    if (fd >= 0)
        close(fd);
    return failure->kind == NOTHING;
}

static int read_part(void *argument)
{
    struct part *part = argument;
    uint64_t file_bytes = part->files->params.bytes;
    for (uint64_t done = 0; done < part->bytes;) {
        uint64_t at = part->offset + done, start = at % file_bytes;
        uint64_t count = file_bytes - start < part->bytes - done ? file_bytes - start
                                                                 : part->bytes - done;
        if (!read_file(part->files, at / file_bytes, start, count, part->to + done, &part->failure))
            break;
        done += count;
    }
    return 0;
}

static bool tell(const struct files *files, const struct failure *failure,
                 struct assay_error *error)
{
    char name[NAME_BYTES];
    file_name(failure->file, name);
    switch (failure->kind) {
    case NOTHING:
        return true;
    case SHORT:
        return assay_fail(error, ASSAY_SYSTEM,
                          "%s/%s has %" PRIu64 " B: a batch reads %" PRIu64
                          " B of it, so it was cut since it was made",
                          files->scratch.path, name, failure->got_bytes, failure->wanted_bytes);
    case SHRANK:
        return assay_fail(error, ASSAY_SYSTEM,
                          "%s/%s shrank while it was read: it ended after %" PRIu64 " of %" PRIu64
                          " B",
                          files->scratch.path, name, failure->got_bytes, failure->wanted_bytes);
    default:
        return assay_fail(error, ASSAY_SYSTEM, "cannot %s %s/%s: %s",
                          failure->kind == OPEN ? "open" : "read", files->scratch.path, name,
                          strerror(failure->number));
    }
}

/* Parts are as long as each other, up to a page. The first one is the caller's. */
static unsigned split(const struct files *files, unsigned char *to, uint64_t bytes,
                      struct part *parts)
{
    uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES, begin = 0;
    unsigned count = 0, readers = (unsigned)files->params.readers;
    for (unsigned i = 1; i <= readers; i++) {
        uint64_t end = i == readers ? bytes : pages * i / readers * PAGE_BYTES;
        if (end == begin)
            continue;
        parts[count++] = (struct part){.files = files,
                                       .to = to + begin,
                                       .offset = files->offset + begin,
                                       .bytes = end - begin};
        begin = end;
    }
    return count;
}

bool files_read(struct files *files, void *to, uint64_t bytes, uint64_t *offset,
                struct assay_error *error)
{
    struct part parts[READERS_MAX];
    if (files->offset + bytes > files->params.count * files->params.bytes)
        files->offset = 0;
    *offset = files->offset;
    unsigned count = split(files, to, bytes, parts), started = 1;
    while (started < count &&
           thrd_create(&parts[started].thread, read_part, &parts[started]) == thrd_success)
        started++;
    if (started == count)
        read_part(&parts[0]);
    for (unsigned i = 1; i < started; i++)
        thrd_join(parts[i].thread, NULL);
    files->offset += bytes;
    if (started < count)
        return assay_fail(error, ASSAY_SYSTEM, "readers: cannot start thread %u of %u", started + 1,
                          count);
    for (unsigned i = 0; i < started; i++)
        if (!tell(files, &parts[i].failure, error))
            return false;
    return true;
}
