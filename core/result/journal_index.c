/* SPDX-License-Identifier: MIT */
#include "result/journal_index.h"

#include <stdlib.h>
#include <string.h>

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
static size_t find_slot(const struct journal_index *index, const struct hash128 *id)
{
    uint64_t key;
    memcpy(&key, id->bytes, sizeof key);
    size_t slot = (size_t)key & (index->slot_count - 1);
    while (index->slots[slot] &&
           memcmp(index->entries[index->slots[slot] - 1].id.bytes, id->bytes, 16) != 0)
        slot = (slot + 1) & (index->slot_count - 1);
    return slot;
}

static bool grow_slots(struct journal_index *index)
{
    if (index->entry_count + index->entry_count / 2 < index->slot_count)
        return true;
    size_t count = index->slot_count ? 2 * index->slot_count : 128;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(index->slots);
    index->slots = slots;
    index->slot_count = count;
    for (size_t i = 0; i < index->entry_count; i++)
        slots[find_slot(index, &index->entries[i].id)] = (uint32_t)(i + 1);
    return true;
}

/* The entry of the id, a new one when it is not known. NULL: no memory. */
static struct entry *entry_of(struct journal_index *index, const struct hash128 *id)
{
    if (!grow_slots(index))
        return NULL;
    size_t slot = find_slot(index, id);
    if (index->slots[slot])
        return &index->entries[index->slots[slot] - 1];
    void *entries = index->entries;
    if (!reserve(&entries, index->entry_count, &index->entry_capacity, sizeof(struct entry)))
        return NULL;
    index->entries = entries;
    index->entries[index->entry_count] = (struct entry){.id = *id};
    index->slots[slot] = (uint32_t)++index->entry_count;
    return &index->entries[index->entry_count - 1];
}

bool index_add_samples(struct journal_index *index, const struct hash128 *id, struct place place)
{
    struct entry *entry = entry_of(index, id);
    if (!entry)
        return false;
    entry->samples_offset = place.offset;
    entry->samples_length = place.length;
    return true;
}

bool index_add_case(struct journal_index *index, const struct hash128 *id, struct place place)
{
    struct entry *entry = entry_of(index, id);
    if (!entry)
        return false;
    if (entry->length == 0) {
        void *order = index->order;
        if (!reserve(&order, index->case_count, &index->order_capacity, sizeof(uint32_t)))
            return false;
        index->order = order;
        entry->position = (uint32_t)index->case_count++;
        index->order[entry->position] = (uint32_t)(entry - index->entries);
    } else if (entry->samples_offset < entry->offset) {
        entry->samples_length = 0; /* they belong to the record that is replaced */
    }
    entry->offset = place.offset;
    entry->length = place.length;
    return true;
}

bool index_is_current(struct journal_index *index, int64_t judgement)
{
    if (judgement > index->judgement) {
        index->judgement = judgement;
        index->verdict_count = 0;
    }
    return judgement == index->judgement;
}

bool index_add_verdict(struct journal_index *index, int64_t judgement, struct place place)
{
    if (!index_is_current(index, judgement))
        return true;
    void *verdicts = index->verdicts;
    if (!reserve(&verdicts, index->verdict_count, &index->verdict_capacity, sizeof(struct place)))
        return false;
    index->verdicts = verdicts;
    index->verdicts[index->verdict_count++] = place;
    return true;
}

const struct entry *index_find(struct journal_index *index, const struct hash128 *id)
{
    uint32_t at = index->expected;
    if (index->slot_count == 0)
        return NULL;
    if (at >= index->entry_count || memcmp(index->entries[at].id.bytes, id->bytes, 16) != 0) {
        uint32_t found = index->slots[find_slot(index, id)];
        if (!found)
            return NULL;
        at = found - 1;
    }
    index->expected = at + 1;
    return index->entries[at].length ? &index->entries[at] : NULL;
}

void index_free(struct journal_index *index)
{
    free(index->entries);
    free(index->order);
    free(index->slots);
    free(index->verdicts);
    *index = (struct journal_index){0};
}
