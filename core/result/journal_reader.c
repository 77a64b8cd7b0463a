/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "result/journal_inside.h"
#include "result/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BUFFER_BYTES (256 * 1024)
#define LINE_LIMIT_BYTES (UINT32_C(64) << 20)

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the index of a journal");
}

static bool skip_prefix(const char **line, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(*line, prefix, length) != 0)
        return false;
    *line += length;
    return true;
}

static bool scan_id(const char *text, struct hash128 *id)
{
    char hex[HASH_HEX_BYTES];
    size_t length = strcspn(text, "\"");
    if (length != HASH_HEX_BYTES - 1)
        return false;
    memcpy(hex, text, length);
    hex[length] = '\0';
    return hash_from_hex(hex, id);
}

enum outcome { TAKEN, NOT_MINE, DAMAGED, NO_MEMORY };

static void note_damage(struct journal_reader *reader, const char *why)
{
    if (reader->damaged < DAMAGE_LISTED)
        reader->damage[reader->damaged] = (struct damage){reader->line, why};
    reader->damaged++;
}

static enum outcome taken(bool good)
{
    return good ? TAKEN : NO_MEMORY;
}

/* The records there are many of, in the form in which assay writes them. */
static enum outcome scan_line(struct journal_reader *reader, const char *line, struct place place)
{
    struct hash128 id;
    const char *at = line;
    if (skip_prefix(&at, "{\"kind\":\"samples\",\"id\":\""))
        return scan_id(at, &id) ? taken(index_add_samples(&reader->index, &id, place)) : DAMAGED;
    if (skip_prefix(&at, "{\"kind\":\"case\",\"id\":\""))
        return scan_id(at, &id) ? taken(index_add_case(&reader->index, &id, place)) : DAMAGED;
    if (skip_prefix(&at, "{\"kind\":\"verdict\",\"judgement\":")) {
        char *end;
        errno = 0;
        long long judgement = strtoll(at, &end, 10);
        if (end > at && *end == ',' && errno == 0)
            return taken(index_add_verdict(&reader->index, judgement, place));
    }
    return NOT_MINE;
}

/* The first run record seals the rest. A second one is noted: the file is of two runs. */
static void take_run(struct journal_reader *reader, json_t *record, const char *line, size_t length)
{
    bool fits;
    if (reader->run) {
        if (!reader->second_run_line)
            reader->second_run_line = reader->line;
        return;
    }
    reader->run = json_incref(record);
    reader->run_line = reader->line;
    reader->run_seal.sealed = seal_check(line, length, 0, &reader->run_seal.seal, &fits);
    if (reader->run_seal.sealed && !fits)
        reader->run_wrong = "was changed after it was written";
    json_object_del(record, "seal");
}

static enum outcome parse_line(struct journal_reader *reader, const char *line, struct place place)
{
    json_t *record = json_read(line, place.length, "record", NULL);
    const char *kind = json_text(record, "kind", NULL);
    enum outcome outcome = TAKEN; /* kinds that are not known are none of our business */
    struct hash128 id;
    if (!kind) {
        outcome = DAMAGED;
    } else if (strcmp(kind, "run") == 0) {
        take_run(reader, record, line, place.length);
    } else if (strcmp(kind, "peaks") == 0) {
        json_object_del(record, "seal");
        outcome = taken(json_array_append(reader->peaks, record) == 0);
    } else if (strcmp(kind, "end") == 0) {
        if (index_is_current(&reader->index, json_whole(record, "judgement", 0))) {
            json_object_del(record, "seal");
            json_decref(reader->end);
            reader->end = json_incref(record);
        }
    } else if (strcmp(kind, "verdict") == 0) {
        outcome = taken(
            index_add_verdict(&reader->index, json_whole(record, "judgement", 0), place));
    } else if (strcmp(kind, "case") == 0 || strcmp(kind, "samples") == 0) {
        if (!hash_from_hex(json_text(record, "id", ""), &id))
            outcome = DAMAGED;
        else
            outcome = taken(*kind == 'c' ? index_add_case(&reader->index, &id, place)
                                         : index_add_samples(&reader->index, &id, place));
    }
    json_decref(record);
    return outcome;
}

/* `line` ends with a NUL in place of its newline. */
static bool index_line(struct journal_reader *reader, const char *line, size_t length,
                       uint64_t offset, struct assay_error *error)
{
    struct place place = {.offset = offset, .length = (uint32_t)length};
    enum outcome outcome = DAMAGED;
    const char *wrong = journal_line_fault(line, length, reader->run ? &reader->run_seal : NULL);
    if (!wrong) {
        wrong = "it is no record of a journal";
        outcome = scan_line(reader, line, place);
        if (outcome == NOT_MINE)
            outcome = parse_line(reader, line, place);
    }
    if (outcome == DAMAGED)
        note_damage(reader, wrong);
    return outcome != NO_MEMORY || no_memory(error);
}

struct window {
    char *bytes;
    size_t capacity, held;
};

/* Hands out all whole lines of the window, which begins at reader->next, and moves the rest to its
 * front. `searched`: no newline before this. */
static bool index_window(struct journal_reader *reader, struct window *window, size_t searched,
                         struct assay_error *error)
{
    size_t start = 0;
    char *newline;
    while ((newline = memchr(window->bytes + searched, '\n', window->held - searched))) {
        *newline = '\0';
        size_t length = (size_t)(newline - window->bytes) - start;
        reader->line++;
        if (!index_line(reader, window->bytes + start, length, reader->next, error))
            return false;
        reader->next += length + 1;
        start = searched = start + length + 1;
    }
    memmove(window->bytes, window->bytes + start, window->held - start);
    window->held -= start;
    return true;
}

static bool grow_window(struct journal_reader *reader, struct window *window,
                        struct assay_error *error)
{
    if (window->held < window->capacity)
        return true;
    if (window->capacity >= LINE_LIMIT_BYTES)
        return assay_fail(error, ASSAY_INVALID, "%s is no journal: a line is longer than %u MiB",
                          reader->path, (unsigned)(LINE_LIMIT_BYTES >> 20));
    char *bytes = realloc(window->bytes, window->capacity * 2);
    if (!bytes)
        return no_memory(error);
    window->bytes = bytes;
    window->capacity *= 2;
    return true;
}

/* What is behind the last newline: a record that lacks nothing but the newline, as its seal shows,
 * counts; journal_open will end its line. */
static bool index_tail(struct journal_reader *reader, struct window *window,
                       struct assay_error *error)
{
    uint64_t seal;
    bool fits = false;
    if (window->held == 0)
        return true;
    reader->line++;
    if (reader->run_seal.sealed &&
        seal_check(window->bytes, window->held, reader->run_seal.seal, &seal, &fits) && fits) {
        window->bytes[window->held] = '\0'; /* grow_window left room */
        reader->tail_length = (uint32_t)window->held;
        return index_line(reader, window->bytes, window->held, reader->next, error);
    }
    reader->tail_damaged = true;
    note_damage(reader, "it is not finished: the run ended while it was written");
    return true;
}

/* From reader->next to the end of the file. */
static bool index_file(struct journal_reader *reader, struct assay_error *error)
{
    struct window window = {.bytes = malloc(FIRST_BUFFER_BYTES), .capacity = FIRST_BUFFER_BYTES};
    bool good = window.bytes || no_memory(error);
    while (good) {
        ssize_t got = pread(reader->fd, window.bytes + window.held, window.capacity - window.held,
                            (off_t)(reader->next + window.held));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            good = error_fail_errno(error, "cannot read %s", reader->path);
        if (got <= 0)
            break;
        size_t searched = window.held;
        window.held += (size_t)got;
        good = index_window(reader, &window, searched, error) &&
               grow_window(reader, &window, error);
    }
    good = good && index_tail(reader, &window, error);
    free(window.bytes);
    return good;
}

/* Records are read where they stand, so it must be a file. */
static bool check_kind(const struct journal_reader *reader, struct assay_error *error)
{
    struct stat status;
    if (fstat(reader->fd, &status) != 0)
        return error_fail_errno(error, "cannot read %s", reader->path);
    if (!S_ISREG(status.st_mode))
        return assay_fail(error, ASSAY_INVALID, "%s is no journal: it is %s, not a file",
                          reader->path,
                          S_ISDIR(status.st_mode) ? "a directory" : "a device or a pipe");
    return true;
}

static bool check_format(const struct journal_reader *reader, struct assay_error *error)
{
    int64_t format = json_whole(reader->run, "format", 0);
    if (format > JOURNAL_FORMAT)
        return assay_fail(error, ASSAY_INVALID,
                          "%s has journal format %lld, but this program reads format %d; use assay "
                          "%s, which wrote it, or a newer one",
                          reader->path, (long long)format, JOURNAL_FORMAT,
                          json_text(reader->run, "assay", "of another version"));
    if (format < JOURNAL_FORMAT)
        return assay_fail(error, ASSAY_INVALID,
                          "%s has journal format %lld, but this program reads format %d",
                          reader->path, (long long)format, JOURNAL_FORMAT);
    return true;
}

static bool check_run(const struct journal_reader *reader, struct assay_error *error)
{
    size_t second = reader->second_run_line;
    if (!reader->run)
        return assay_fail(error, ASSAY_INVALID, "%s is no journal: it holds no run record",
                          reader->path);
    if (!check_format(reader, error))
        return false;
    if (reader->run_wrong)
        return assay_fail(error, ASSAY_INVALID,
                          "%s:%zu: the run record %s; without it, nothing in "
                          "the file can be relied on",
                          reader->path, reader->run_line, reader->run_wrong);
    if (second)
        return assay_fail(error, ASSAY_INVALID,
                          "%s:%zu: a second run begins here, but a journal is of one run; 'head "
                          "-n %zu' and 'tail -n +%zu' give the two",
                          reader->path, second, second - 1, second);
    return true;
}

struct journal_reader *journal_read(const char *path, struct assay_error *error)
{
    struct journal_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        no_memory(error);
        return NULL;
    }
    reader->fd = -1;
    reader->path = strdup(path);
    reader->peaks = json_array();
    if (!reader->path || !reader->peaks) {
        no_memory(error);
        goto fail;
    }
    reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a FIFO would block */
    if (reader->fd < 0) {
        assay_fail(error, errno == EIO ? ASSAY_SYSTEM : ASSAY_INVALID, "cannot read %s: %s", path,
                   strerror(errno));
        goto fail;
    }
    if (!check_kind(reader, error) || !index_file(reader, error) || !check_run(reader, error))
        goto fail;
    return reader;
fail:
    journal_reader_destroy(&reader);
    return NULL;
}

bool journal_read_on(struct journal_reader *reader, struct assay_error *error)
{
    if (reader->tail_length) { /* it has its newline now */
        reader->next += reader->tail_length + 1;
        reader->tail_length = 0;
    }
    if (reader->tail_damaged) { /* it was cut off, or is whole by now */
        reader->tail_damaged = false;
        reader->line--;
        reader->damaged--;
    }
    return index_file(reader, error) && check_run(reader, error);
}

void journal_reader_destroy(struct journal_reader **reader)
{
    if (!reader || !*reader)
        return;
    struct journal_reader *self = *reader;
    if (self->fd >= 0)
        close(self->fd);
    json_decref(self->run);
    json_decref(self->end);
    json_decref(self->peaks);
    index_free(&self->index);
    free(self->window);
    free(self->path);
    free(self);
    *reader = NULL;
}
