/* SPDX-License-Identifier: MIT */
#include "vulkan/partner.h"

#include "base/hash.h"
#include "vulkan/buffer.h"
#include "vulkan/recording.h"
#include "vulkan/slot.h"

#include <stdio.h>

static struct assay_buffer *create(struct assay_buffer *buffer, bool download,
                                   enum assay_memory memory, struct assay_error *error)
{
    char name[80];
    snprintf(name, sizeof(name), "%s (%s)", buffer->name, download ? "downloaded" : "to upload");
    const struct assay_buffer_params params = {
        .size = sizeof(params),
        .name = name,
        .bytes = buffer->params.bytes,
        .memory = memory,
        .role = download ? ASSAY_ROLE_OUTPUT : ASSAY_ROLE_INPUT,
        /* What has no fill is uploaded as random bits: all zero is that. */
        .fill = buffer->params.fill,
    };
    return buffer_create_internal(buffer->device, &params,
                                  download ? random_child(buffer->seed, 2) : buffer->seed, error);
}

static struct assay_buffer *partner(struct assay_command *command, struct assay_buffer *buffer,
                                    bool download, struct assay_error *error)
{
    struct assay_error cause = {0};
    enum assay_memory memory = download ? ASSAY_MEMORY_CACHED : ASSAY_MEMORY_PINNED;
    struct assay_buffer *made = create(buffer, download, memory, &cause);
    if (!made && download && cause.status == ASSAY_UNSUPPORTED) {
        cause = (struct assay_error){0};
        made = create(buffer, download, ASSAY_MEMORY_PINNED, &cause); /* every device has it */
    }
    if (!made) {
        assay_fail(error, cause.status, "stage '%s': %s", command->name, cause.text);
        return NULL;
    }
    buffer_adopt(command->slot, made);
    return made;
}

static bool check(const struct assay_command *command, const struct assay_buffer *buffer,
                  const char *verb, uint64_t offset, uint64_t *bytes, struct assay_error *error)
{
    if (buffer->params.memory == ASSAY_MEMORY_PAGEABLE)
        return assay_fail(
            error, ASSAY_INVALID,
            "stage '%s': buffer '%s' is pageable host memory; %ss are of buffers that "
            "the device sees, copies between two buffers of any",
            command->name, buffer->name, verb);
    if (*bytes == 0 && offset < buffer->params.bytes)
        *bytes = buffer->params.bytes - offset;
    return command_check_range(command, buffer, offset, *bytes, error);
}

bool partner_upload(struct assay_command *command, struct assay_buffer *buffer, uint64_t offset,
                    uint64_t bytes, struct assay_error *error)
{
    if (!command_recording(command, error) ||
        !check(command, buffer, "upload", offset, &bytes, error))
        return false;
    if (!buffer->source) {
        struct assay_buffer *made = partner(command, buffer, false, error);
        if (!made)
            return false;
        buffer->source = made;
    }
    const struct assay_buffer *before = command->overwritten;
    buffer->partly_uploaded = buffer->partly_uploaded || bytes < buffer->params.bytes;
    bool copied = assay_command_copy(command, buffer, offset, buffer->source, offset, bytes, error);
    command->overwritten = before; /* uploading again changes nothing */
    return copied;
}

bool partner_download(struct assay_command *command, struct assay_buffer *buffer, uint64_t offset,
                      uint64_t bytes, struct assay_error *error)
{
    if (!command_recording(command, error) ||
        !check(command, buffer, "download", offset, &bytes, error))
        return false;
    if (!buffer->sink)
        buffer->sink = partner(command, buffer, true, error);
    return buffer->sink &&
           assay_command_copy(command, buffer->sink, offset, buffer, offset, bytes, error);
}

bool partner_read(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes, void *host,
                  struct assay_error *error)
{
    return assay_buffer_read(buffer->sink ? buffer->sink : buffer, offset, bytes, host, error);
}
