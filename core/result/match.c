/* SPDX-License-Identifier: MIT */
#include "result/match.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

struct key { /* of a case: all of its id but seed and version */
    struct hash128 hash;
    size_t index;
};

struct match {
    struct journal_reader *reader;
    struct key *keys; /* sorted; made when an id is not found */
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory to match the cases of two journals");
}

static bool key_of(const json_t *record, struct hash128 *key, struct assay_error *error)
{
    static const char *const members[] = {"experiment", "workload", "set", "schedule", "replica"};
    struct text line = {0};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        json_object_set(object, members[i], json_object_get(record, members[i]));
    json_object_set(object, "device",
                    json_object_get(json_object_get(record, "device"), "selector"));
    bool good = object && json_add_line(&line, object, true, error) && !line.failed;
    if (good)
        *key = hash_bytes(line.data, line.length);
    json_decref(object);
    text_free(&line);
    return good || no_memory(error);
}

static int key_compare(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = memcmp(x->hash.bytes, y->hash.bytes, sizeof(x->hash.bytes));
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static bool make_keys(struct match *match, struct assay_error *error)
{
    static const char *const members[] = {"experiment", "workload", "set", "schedule",
                                          "replica",    "device",   NULL};
    struct journal_reader *b = match->reader;
    size_t count = journal_case_count(b);
    match->keys = calloc(count + 1, sizeof(*match->keys));
    if (!match->keys)
        return no_memory(error);
    for (size_t i = 0; i < count; i++) {
        json_t *record = journal_case_part(b, i, members, error);
        bool good = record && key_of(record, &match->keys[i].hash, error);
        match->keys[i].index = i;
        json_decref(record);
        if (!good)
            return false;
    }
    qsort(match->keys, count, sizeof(*match->keys), key_compare);
    return true;
}

static bool find_by_key(struct match *match, const json_t *record, long *found,
                        struct assay_error *error)
{
    struct key key = {.index = 0};
    size_t count = journal_case_count(match->reader), low = 0, high = count;
    if ((!match->keys && !make_keys(match, error)) || !key_of(record, &key.hash, error))
        return false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (key_compare(&match->keys[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < count && memcmp(match->keys[low].hash.bytes, key.hash.bytes, 16) == 0)
        *found = (long)match->keys[low].index;
    return true;
}

bool match_find(struct match *match, const json_t *record, long *found, struct assay_error *error)
{
    struct hash128 id;
    *found = hash_from_hex(json_text(record, "id", ""), &id) ? journal_case_find(match->reader, &id)
                                                             : -1;
    return *found >= 0 || find_by_key(match, record, found, error);
}

struct match *match_create(struct journal_reader *reader, struct assay_error *error)
{
    struct match *match = calloc(1, sizeof(*match));
    if (match)
        match->reader = reader;
    else
        no_memory(error);
    return match;
}

void match_destroy(struct match **match)
{
    if (!*match)
        return;
    free((*match)->keys);
    free(*match);
    *match = NULL;
}
