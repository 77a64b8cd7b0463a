/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "result/journal.h"
#include "result/journal_line.h"
#include "result/journal_part.h"
#include "result/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BUFFER_BYTES (256 * 1024)
#define LINE_LIMIT_BYTES (UINT32_C(64) << 20)

struct place {
    uint64_t offset;
    uint32_t length; /* 0: none */
};

/* Kept small, there may be a hundred thousand: 48 bytes, and 10 to 16 in the two tables. */
struct entry {
    struct hash128 id;
    uint64_t offset, samples_offset;
    uint32_t length, samples_length; /* 0: no such record */
    uint32_t position;               /* in the order of cases */
};

#define DAMAGE_LISTED 8

struct damage {
    size_t line;
    const char *why;
};

struct journal_reader {
    int fd;
    char *path;
    json_t *run, *end, *peaks;
    struct entry *entries; /* of every id seen, by first record */
    size_t entry_count, entry_capacity;
    uint32_t *order; /* entries that have a case record */
    size_t case_count, order_capacity;
    uint32_t *slots; /* open addressing by id: index of the entry + 1, 0 is free */
    size_t slot_count;
    struct place *verdicts;
    size_t verdict_count, verdict_capacity;
    int64_t judgement; /* of the verdicts */
    size_t damaged;
    struct damage damage[DAMAGE_LISTED]; /* the first of them */
    size_t line;                         /* that is being indexed, from 1 */
    size_t run_line, second_run_line;    /* 0: none */
    struct journal_seal run_seal;        /* of the run record */
    const char *run_wrong;               /* why the run record is worth nothing, or NULL */
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the index of a journal");
}

/* Room for one more element. */
static bool reserve(void **array, size_t count, size_t *capacity, size_t element)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? *capacity + *capacity / 2 : 64;
    if (wanted > SIZE_MAX / element || wanted > UINT32_MAX)
        return false;
    void *grown = realloc(*array, wanted * element);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* The slot of the id, or the free one where it belongs. slot_count is a power of two. */
static size_t find_slot(const struct journal_reader *reader, const struct hash128 *id)
{
    uint64_t key;
    memcpy(&key, id->bytes, sizeof key);
    size_t slot = (size_t)key & (reader->slot_count - 1);
    while (reader->slots[slot] &&
           memcmp(reader->entries[reader->slots[slot] - 1].id.bytes, id->bytes, 16) != 0)
        slot = (slot + 1) & (reader->slot_count - 1);
    return slot;
}

static bool grow_slots(struct journal_reader *reader)
{
    if (reader->entry_count + reader->entry_count / 2 < reader->slot_count)
        return true;
    size_t count = reader->slot_count ? 2 * reader->slot_count : 128;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(reader->slots);
    reader->slots = slots;
    reader->slot_count = count;
    for (size_t i = 0; i < reader->entry_count; i++)
        slots[find_slot(reader, &reader->entries[i].id)] = (uint32_t)(i + 1);
    return true;
}

/* The entry of the id, a new one when it is not known. NULL: no memory. */
static struct entry *entry_of(struct journal_reader *reader, const struct hash128 *id)
{
    if (!grow_slots(reader))
        return NULL;
    size_t slot = find_slot(reader, id);
    if (reader->slots[slot])
        return &reader->entries[reader->slots[slot] - 1];
    void *entries = reader->entries;
    if (!reserve(&entries, reader->entry_count, &reader->entry_capacity, sizeof(struct entry)))
        return NULL;
    reader->entries = entries;
    reader->entries[reader->entry_count] = (struct entry){.id = *id};
    reader->slots[slot] = (uint32_t)++reader->entry_count;
    return &reader->entries[reader->entry_count - 1];
}

static bool add_samples(struct journal_reader *reader, const struct hash128 *id, struct place place)
{
    struct entry *entry = entry_of(reader, id);
    if (!entry)
        return false;
    entry->samples_offset = place.offset;
    entry->samples_length = place.length;
    return true;
}

static bool add_case(struct journal_reader *reader, const struct hash128 *id, struct place place)
{
    struct entry *entry = entry_of(reader, id);
    if (!entry)
        return false;
    if (entry->length == 0) {
        void *order = reader->order;
        if (!reserve(&order, reader->case_count, &reader->order_capacity, sizeof(uint32_t)))
            return false;
        reader->order = order;
        entry->position = (uint32_t)reader->case_count++;
        reader->order[entry->position] = (uint32_t)(entry - reader->entries);
    } else if (entry->samples_offset < entry->offset) {
        entry->samples_length = 0; /* they belong to the record that is replaced */
    }
    entry->offset = place.offset;
    entry->length = place.length;
    return true;
}

/* Verdicts and ends: the first of a later judgement makes the earlier ones history. */
static bool is_current(struct journal_reader *reader, int64_t judgement)
{
    if (judgement > reader->judgement) {
        reader->judgement = judgement;
        reader->verdict_count = 0;
    }
    return judgement == reader->judgement;
}

static bool add_verdict(struct journal_reader *reader, int64_t judgement, struct place place)
{
    if (!is_current(reader, judgement))
        return true;
    void *verdicts = reader->verdicts;
    if (!reserve(&verdicts, reader->verdict_count, &reader->verdict_capacity, sizeof(struct place)))
        return false;
    reader->verdicts = verdicts;
    reader->verdicts[reader->verdict_count++] = place;
    return true;
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
        return scan_id(at, &id) ? taken(add_samples(reader, &id, place)) : DAMAGED;
    if (skip_prefix(&at, "{\"kind\":\"case\",\"id\":\""))
        return scan_id(at, &id) ? taken(add_case(reader, &id, place)) : DAMAGED;
    if (skip_prefix(&at, "{\"kind\":\"verdict\",\"judgement\":")) {
        char *end;
        errno = 0;
        long long judgement = strtoll(at, &end, 10);
        if (end > at && *end == ',' && errno == 0)
            return taken(add_verdict(reader, judgement, place));
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
        if (is_current(reader, json_whole(record, "judgement", 0))) {
            json_object_del(record, "seal");
            json_decref(reader->end);
            reader->end = json_incref(record);
        }
    } else if (strcmp(kind, "verdict") == 0) {
        outcome = taken(add_verdict(reader, json_whole(record, "judgement", 0), place));
    } else if (strcmp(kind, "case") == 0 || strcmp(kind, "samples") == 0) {
        if (!hash_from_hex(json_text(record, "id", ""), &id))
            outcome = DAMAGED;
        else
            outcome = taken(*kind == 'c' ? add_case(reader, &id, place)
                                         : add_samples(reader, &id, place));
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
    uint64_t offset; /* of bytes[0] in the file */
};

/* Hands out all whole lines of the window and moves the rest to its front. `searched`: no newline
 * before this. */
static bool index_window(struct journal_reader *reader, struct window *window, size_t searched,
                         struct assay_error *error)
{
    size_t start = 0;
    char *newline;
    while ((newline = memchr(window->bytes + searched, '\n', window->held - searched))) {
        *newline = '\0';
        size_t end = (size_t)(newline - window->bytes);
        reader->line++;
        if (!index_line(reader, window->bytes + start, end - start, window->offset + start, error))
            return false;
        start = searched = end + 1;
    }
    memmove(window->bytes, window->bytes + start, window->held - start);
    window->held -= start;
    window->offset += start;
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
        return index_line(reader, window->bytes, window->held, window->offset, error);
    }
    note_damage(reader, "it is not finished: the run ended while it was written");
    return true;
}

static bool index_file(struct journal_reader *reader, struct assay_error *error)
{
    struct window window = {.bytes = malloc(FIRST_BUFFER_BYTES), .capacity = FIRST_BUFFER_BYTES};
    bool good = window.bytes || no_memory(error);
    while (good) {
        ssize_t got = read(reader->fd, window.bytes + window.held, window.capacity - window.held);
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
    free(self->entries);
    free(self->order);
    free(self->slots);
    free(self->verdicts);
    free(self->path);
    free(self);
    *reader = NULL;
}

const json_t *journal_run(const struct journal_reader *reader)
{
    return reader->run;
}

const json_t *journal_peaks(const struct journal_reader *reader)
{
    return reader->peaks;
}

const json_t *journal_end(const struct journal_reader *reader)
{
    return reader->end;
}

size_t journal_case_count(const struct journal_reader *reader)
{
    return reader->case_count;
}

size_t journal_verdict_count(const struct journal_reader *reader)
{
    return reader->verdict_count;
}

size_t journal_damaged_count(const struct journal_reader *reader)
{
    return reader->damaged;
}

void journal_add_damage(const struct journal_reader *reader, const char *prefix, struct text *out)
{
    size_t listed = reader->damaged < DAMAGE_LISTED ? reader->damaged : DAMAGE_LISTED;
    for (size_t i = 0; i < listed; i++)
        text_addf(out, "%s%s:%zu: left out: %s\n", prefix, reader->path, reader->damage[i].line,
                  reader->damage[i].why);
    if (reader->damaged > listed)
        text_addf(out, "%s%s: %zu more lines are left out\n", prefix, reader->path,
                  reader->damaged - listed);
}

/* members NULL: the whole record. */
static json_t *read_record(struct journal_reader *reader, struct place place,
                           const char *const *members, struct assay_error *error)
{
    char *bytes = malloc(place.length);
    size_t held = 0;
    if (!bytes) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a record");
        return NULL;
    }
    while (held < place.length) {
        ssize_t got = pread(reader->fd, bytes + held, place.length - held,
                            (off_t)(place.offset + held));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? EIO : errno;
            error_fail_errno(error, "cannot read %s", reader->path);
            free(bytes);
            return NULL;
        }
        held += (size_t)got;
    }
    struct assay_error why = {0};
    json_t *record = members ? journal_part(bytes, place.length, members, reader->path, &why)
                             : json_read(bytes, place.length, reader->path, &why);
    free(bytes);
    if (!record && why.status == ASSAY_SYSTEM) /* JSON that is none; the file itself was readable */
        assay_fail(error, ASSAY_INVALID, "%s (the line begins at byte %llu of the file)", why.text,
                   (unsigned long long)place.offset + 1);
    else if (!record && error)
        *error = why;
    json_object_del(record, "seal"); /* no member of what the record says */
    return record;
}

static const struct entry *case_entry(const struct journal_reader *reader, size_t index)
{
    return &reader->entries[reader->order[index]];
}

static bool out_of_range(size_t index, size_t count, struct assay_error *error)
{
    if (index < count)
        return false;
    assay_fail(error, ASSAY_INTERNAL, "record %zu of %zu was asked for", index, count);
    return true;
}

json_t *journal_case(struct journal_reader *reader, size_t index, struct assay_error *error)
{
    if (out_of_range(index, reader->case_count, error))
        return NULL;
    const struct entry *entry = case_entry(reader, index);
    return read_record(reader, (struct place){entry->offset, entry->length}, NULL, error);
}

json_t *journal_case_part(struct journal_reader *reader, size_t index, const char *const *members,
                          struct assay_error *error)
{
    if (out_of_range(index, reader->case_count, error))
        return NULL;
    const struct entry *entry = case_entry(reader, index);
    return read_record(reader, (struct place){entry->offset, entry->length}, members, error);
}

json_t *journal_samples(struct journal_reader *reader, size_t index, struct assay_error *error)
{
    if (out_of_range(index, reader->case_count, error))
        return NULL;
    const struct entry *entry = case_entry(reader, index);
    /* Samples behind the case belong to a repetition that never ended. */
    if (entry->samples_length == 0 || entry->samples_offset > entry->offset)
        return NULL;
    return read_record(reader, (struct place){entry->samples_offset, entry->samples_length}, NULL,
                       error);
}

json_t *journal_verdict(struct journal_reader *reader, size_t index, struct assay_error *error)
{
    if (out_of_range(index, reader->verdict_count, error))
        return NULL;
    return read_record(reader, reader->verdicts[index], NULL, error);
}

json_t *journal_verdict_part(struct journal_reader *reader, size_t index,
                             const char *const *members, struct assay_error *error)
{
    if (out_of_range(index, reader->verdict_count, error))
        return NULL;
    return read_record(reader, reader->verdicts[index], members, error);
}

long journal_case_find(const struct journal_reader *reader, const struct hash128 *id)
{
    if (reader->slot_count == 0)
        return -1;
    uint32_t found = reader->slots[find_slot(reader, id)];
    if (!found || reader->entries[found - 1].length == 0)
        return -1;
    return (long)reader->entries[found - 1].position;
}
