/* SPDX-License-Identifier: MIT */
/* The records of a journal, read when they are asked for. */
#include "base/json.h"
#include "result/journal_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define WINDOW_BYTES ((size_t)256 * 1024)

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
    return reader->index.case_count;
}

size_t journal_verdict_count(const struct journal_reader *reader)
{
    return reader->index.verdict_count;
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

/* Not in the window: it is read as a whole window from there on when the records are taken in their
 * order, alone when one is picked out. */
static bool fill_window(struct journal_reader *reader, struct place place,
                        struct assay_error *error)
{
    uint64_t behind = reader->window_offset + reader->window_length;
    bool onwards = reader->window_length == 0 ||
                   (place.offset + place.length > behind && place.offset <= behind + WINDOW_BYTES);
    size_t want = onwards && place.length < WINDOW_BYTES ? WINDOW_BYTES : place.length, held = 0;
    char *window = want > WINDOW_BYTES || !reader->window
                       ? realloc(reader->window, want > WINDOW_BYTES ? want : WINDOW_BYTES)
                       : reader->window;
    if (!window)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a record");
    reader->window = window;
    reader->window_offset = place.offset;
    reader->window_length = 0;
    while (held < want) {
        ssize_t got = pread(reader->fd, window + held, want - held, (off_t)(place.offset + held));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            if (held >= place.length)
                break;
            errno = got == 0 ? EIO : errno;
            return error_fail_errno(error, "cannot read %s", reader->path);
        }
        held += (size_t)got;
    }
    reader->window_length = held;
    return true;
}

const char *reader_bytes(struct journal_reader *reader, struct place place,
                         struct assay_error *error)
{
    uint64_t begin = reader->window_offset, end = begin + reader->window_length;
    if ((place.offset < begin || place.offset + place.length > end) &&
        !fill_window(reader, place, error))
        return NULL;
    return reader->window + (place.offset - reader->window_offset);
}

/* JSON that is none; the file itself was readable. */
static void tell_place(struct assay_error *why, struct place place, struct assay_error *error)
{
    if (why->status == ASSAY_SYSTEM)
        assay_fail(error, ASSAY_INVALID, "%s (the line begins at byte %llu of the file)", why->text,
                   (unsigned long long)place.offset + 1);
    else if (error)
        *error = *why;
}

static json_t *read_record(struct journal_reader *reader, struct place place,
                           struct assay_error *error)
{
    const char *bytes = reader_bytes(reader, place, error);
    if (!bytes)
        return NULL;
    struct assay_error why = {0};
    json_t *record = json_read(bytes, place.length, reader->path, &why);
    if (!record)
        tell_place(&why, place, error);
    json_object_del(record, "seal"); /* no member of what the record says */
    return record;
}

static struct lazy *read_lazy(struct journal_reader *reader, struct place place,
                              struct assay_error *error)
{
    const char *bytes = reader_bytes(reader, place, error);
    return bytes ? lazy_create(bytes, place.length, error) : NULL;
}

static json_t *read_part(struct journal_reader *reader, struct place place,
                         const char *const *members, struct assay_error *error)
{
    struct lazy *record = read_lazy(reader, place, error);
    json_t *part = record ? lazy_part(record, members, reader->path, error) : NULL;
    lazy_destroy(&record);
    return part;
}

static const struct entry *case_entry(const struct journal_reader *reader, size_t index)
{
    return &reader->index.entries[reader->index.order[index]];
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
    if (out_of_range(index, reader->index.case_count, error))
        return NULL;
    const struct entry *entry = case_entry(reader, index);
    return read_record(reader, (struct place){entry->offset, entry->length}, error);
}

struct lazy *journal_case_lazy(struct journal_reader *reader, size_t index,
                               struct assay_error *error)
{
    if (out_of_range(index, reader->index.case_count, error))
        return NULL;
    const struct entry *entry = case_entry(reader, index);
    return read_lazy(reader, (struct place){entry->offset, entry->length}, error);
}

json_t *journal_case_part(struct journal_reader *reader, size_t index, const char *const *members,
                          struct assay_error *error)
{
    if (out_of_range(index, reader->index.case_count, error))
        return NULL;
    const struct entry *entry = case_entry(reader, index);
    return read_part(reader, (struct place){entry->offset, entry->length}, members, error);
}

json_t *journal_samples(struct journal_reader *reader, size_t index, struct assay_error *error)
{
    if (out_of_range(index, reader->index.case_count, error))
        return NULL;
    const struct entry *entry = case_entry(reader, index);
    /* Samples behind the case belong to a repetition that never ended. */
    if (entry->samples_length == 0 || entry->samples_offset > entry->offset)
        return NULL;
    return read_record(reader, (struct place){entry->samples_offset, entry->samples_length}, error);
}

json_t *journal_verdict(struct journal_reader *reader, size_t index, struct assay_error *error)
{
    if (out_of_range(index, reader->index.verdict_count, error))
        return NULL;
    return read_record(reader, reader->index.verdicts[index], error);
}

struct lazy *journal_verdict_lazy(struct journal_reader *reader, size_t index,
                                  struct assay_error *error)
{
    if (out_of_range(index, reader->index.verdict_count, error))
        return NULL;
    return read_lazy(reader, reader->index.verdicts[index], error);
}

long journal_case_find(struct journal_reader *reader, const struct hash128 *id)
{
    const struct entry *entry = index_find(&reader->index, id);
    return entry ? (long)entry->position : -1;
}
