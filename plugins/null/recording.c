/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct recording *recording;
    size_t room; /* rows */
    const char *path;
    size_t line;
    const char *const *columns;
    struct assay_error *error;
};

static bool row_wrong(const struct reader *reader, unsigned found)
{
    char names[160] = "";
    size_t used = 0;
    for (unsigned i = 0; i < reader->recording->columns && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 reader->columns[i]);
    unsigned wanted = reader->recording->columns;
    return assay_fail(reader->error, ASSAY_SCRIPT,
                      "%s:%zu: %s %u of the durations of a line, one for each stage: %s",
                      reader->path, reader->line, found > wanted ? "more than the" : "only",
                      found > wanted ? wanted : found, names);
}

/* The whole number that starts at `at`; NULL when there is none in range. */
static const char *read_number(const char *at, const char *end, int64_t *value)
{
    const char *begin = at;
    for (*value = 0; at < end && *at >= '0' && *at <= '9'; at++) {
        *value = *value * 10 + (*at - '0');
        if (*value > RECORDING_MOST_NS)
            return NULL;
    }
    bool ends = at == end || strchr(" \t\r,#", *at);
    return at > begin && ends && *value > 0 ? at : NULL;
}

static bool number_wrong(const struct reader *reader, const char *at, const char *end)
{
    int length = 0;
    while (length < 32 && at + length < end && at[length] > ' ' && at[length] < 127 &&
           at[length] != ',')
        length++;
    return assay_fail(reader->error, ASSAY_SCRIPT,
                      "%s:%zu: '%.*s' is no duration; allowed are whole ns from 1 to %" PRId64,
                      reader->path, reader->line, length, at, RECORDING_MOST_NS);
}

static bool row_add(struct reader *reader, const int64_t *times)
{
    struct recording *recording = reader->recording;
    if (recording->rows == reader->room) {
        size_t room = reader->room ? 2 * reader->room : 256;
        size_t width = recording->columns * sizeof(*times);
        int64_t *grown = realloc(recording->times, room * width);
        recording->times = grown ? grown : recording->times;
        int64_t *ends = grown ? realloc(recording->ends, room * sizeof(*ends)) : NULL;
        if (!ends)
            return assay_fail(reader->error, ASSAY_OUT_OF_MEMORY, "out of host memory for %s",
                              reader->path);
        recording->ends = ends;
        reader->room = room;
    }
    int64_t end = recording_length_ns(recording);
    for (unsigned i = 0; i < recording->columns; i++) {
        if (times[i] > INT64_MAX - end)
            return assay_fail(reader->error, ASSAY_SCRIPT,
                              "%s:%zu: all durations together are more than 2^63 ns", reader->path,
                              reader->line);
        recording->times[recording->rows * recording->columns + i] = times[i];
        end += times[i];
    }
    recording->ends[recording->rows++] = end;
    return true;
}

static bool read_line(struct reader *reader, const char *at, const char *end)
{
    int64_t times[RECORDING_COLUMNS_MAX];
    unsigned found = 0;
    for (bool comma = true; at < end && *at != '#';) {
        if (strchr(" \t\r", *at) && *at) {
            at++;
        } else if (*at == ',' && !comma) {
            comma = true;
            at++;
        } else if (found == reader->recording->columns) {
            return row_wrong(reader, found + 1);
        } else {
            const char *next = read_number(at, end, &times[found]);
            if (!next)
                return number_wrong(reader, at, end);
            at = next;
            comma = false;
            found++;
        }
    }
    return found == 0 ||
           (found < reader->recording->columns ? row_wrong(reader, found) : row_add(reader, times));
}

bool recording_parse(struct recording *recording, const char *path, const char *text, size_t bytes,
                     const char *const *columns, unsigned count, struct assay_error *error)
{
    *recording = (struct recording){.columns = count};
    struct reader reader = {
        .recording = recording, .path = path, .columns = columns, .error = error};
    const char *end = text + bytes;
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        reader.line++;
        if (!read_line(&reader, line, stop))
            return false;
        line = stop < end ? stop + 1 : end;
    }
    return recording->rows > 0 ||
           assay_fail(error, ASSAY_SCRIPT,
                      "%s:%zu: no times up to the end; wanted is a line a batch, with whole ns",
                      path, reader.line + !reader.line);
}

int64_t recording_length_ns(const struct recording *recording)
{
    return recording->rows ? recording->ends[recording->rows - 1] : 0;
}

int64_t recording_at(const struct recording *recording, unsigned column, int64_t now_ns)
{
    int64_t at = now_ns % recording_length_ns(recording);
    size_t low = 0, high = recording->rows - 1; /* the first row that ends after `at` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (recording->ends[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return recording->times[low * recording->columns + column];
}

void recording_free(struct recording *recording)
{
    free(recording->times);
    free(recording->ends);
    *recording = (struct recording){0};
}
