/* SPDX-License-Identifier: MIT */
/* Files that a workload reads, and its notes. */
#include "vulkan/slot.h"

#include "base/os.h"

#include <stdlib.h>

#define FILE_BYTES_MAX (UINT32_C(64) << 20)

struct slot_file {
    struct slot_file *next;
    struct text path, data;
};

void slot_files_free(struct assay_slot *slot)
{
    while (slot->files) {
        struct slot_file *file = slot->files;
        slot->files = file->next;
        text_free(&file->path);
        text_free(&file->data);
        free(file);
    }
}

const char *assay_slot_file(struct assay_slot *slot, const char *name, size_t *bytes,
                            const char **path, struct assay_error *error)
{
    struct slot_file *file = calloc(1, sizeof(*file));
    if (!file) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the file %s", name);
        return NULL;
    }
    if (!shader_find(slot->search, "file", name, &file->path, error) ||
        !os_file_read(text_string(&file->path), FILE_BYTES_MAX, &file->data, error)) {
        text_free(&file->path);
        text_free(&file->data);
        free(file);
        return NULL;
    }
    file->next = slot->files;
    slot->files = file;
    *bytes = file->data.length;
    if (path)
        *path = text_string(&file->path);
    return text_string(&file->data);
}

void assay_slot_note(struct assay_slot *slot, const char *text)
{
    struct text clean = {0}, *notes = &slot->notes;
    text_add_clean(&clean, text);
    const char *note = text_string(&clean);
    bool known = clean.failed;
    for (size_t at = 0; at < notes->length && !known; at += strlen(notes->data + at) + 1)
        known = strcmp(notes->data + at, note) == 0;
    if (!known)
        text_add_bytes(notes, note, strlen(note) + 1);
    text_free(&clean);
}
