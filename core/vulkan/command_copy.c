/* SPDX-License-Identifier: MIT */
/* Copies, fills and host copies, with staging for memory that the device cannot see. */
#include "vulkan/recording.h"

#include <string.h>

#define STAGING_BYTES_MIN (UINT64_C(64) << 10)

struct transfer {
    struct assay_buffer *destination, *source;
    uint64_t destination_offset, source_offset, bytes;
};

static bool is_pageable(const struct assay_buffer *buffer)
{
    return buffer->params.memory == ASSAY_MEMORY_PAGEABLE;
}

bool command_check_range(const struct assay_command *command, const struct assay_buffer *buffer,
                         uint64_t offset, uint64_t bytes, struct assay_error *error)
{
    if (buffer == NULL)
        return assay_fail(error, ASSAY_INVALID, "stage '%s': a buffer is missing", command->name);
    if (buffer->device != command->device)
        return assay_fail(error, ASSAY_INVALID, "stage '%s': buffer '%s' belongs to another device",
                          command->name, buffer->name);
    if (bytes == 0)
        return assay_fail(error, ASSAY_INVALID, "stage '%s': 0 bytes of buffer '%s' are given",
                          command->name, buffer->name);
    if (offset > buffer->params.bytes || bytes > buffer->params.bytes - offset)
        return assay_fail(error, ASSAY_INVALID,
                          "stage '%s': %llu bytes from offset %llu lie outside buffer '%s' of %llu "
                          "bytes",
                          command->name, (unsigned long long)bytes, (unsigned long long)offset,
                          buffer->name, (unsigned long long)buffer->params.bytes);
    return true;
}

bool command_use(struct assay_command *command, struct assay_buffer *buffer,
                 struct assay_error *error)
{
    if (buffer_is_host(buffer))
        command->touches_host = true;
    if (buffer->coherent || buffer->address == NULL)
        return true;
    struct command_segment *segment = command_segment_at(command, command->segments.count - 1);
    struct assay_buffer **used = command->incoherent.data;
    for (size_t i = segment->first_buffer; i < command->incoherent.count; i++)
        if (used[i] == buffer)
            return true;
    used = command_list_add(&command->incoherent, sizeof(*used), error);
    if (used == NULL)
        return false;
    *used = buffer;
    return true;
}

void command_write(struct assay_command *command, const struct assay_buffer *buffer)
{
    if (buffer->params.role == ASSAY_ROLE_INPUT || buffer->source)
        command->overwritten = buffer;
}

static bool check_transfer(const struct assay_command *command, const struct transfer *transfer,
                           struct assay_error *error)
{
    if (!command_recording(command, error) ||
        !command_check_range(command, transfer->source, transfer->source_offset, transfer->bytes,
                             error) ||
        !command_check_range(command, transfer->destination, transfer->destination_offset,
                             transfer->bytes, error))
        return false;
    uint64_t from = transfer->source_offset, to = transfer->destination_offset;
    uint64_t apart = from > to ? from - to : to - from;
    if (transfer->source == transfer->destination && apart < transfer->bytes)
        return assay_fail(error, ASSAY_INVALID,
                          "stage '%s': %llu bytes are copied from offset %llu to %llu of buffer "
                          "'%s', the ranges overlap",
                          command->name, (unsigned long long)transfer->bytes,
                          (unsigned long long)from, (unsigned long long)to, transfer->source->name);
    return true;
}

/* Only lane 0 has a place in the program for what the host does. */
static bool check_host_lane(const struct assay_command *command, struct assay_error *error)
{
    if (command->lane == 0)
        return true;
    return assay_fail(error, ASSAY_UNSUPPORTED,
                      "stage '%s': lane %u would copy on the host (pageable memory does), but "
                      "only lane 0 may",
                      command->name, command->lane);
}

static bool add_host_copy(struct assay_command *command, const struct transfer *transfer,
                          struct assay_error *error)
{
    if (!check_host_lane(command, error) || !command_close(command, error))
        return false;
    struct command_step *step = command_list_add(&command->steps, sizeof(*step), error);
    if (step == NULL)
        return false;
    *step = (struct command_step){
        .host = true,
        .destination = (char *)transfer->destination->address + transfer->destination_offset,
        .source = (const char *)transfer->source->address + transfer->source_offset,
        .bytes = (size_t)transfer->bytes,
        .written = transfer->destination,
    };
    command->touches_host = true;
    return true;
}

static bool device_copy(struct assay_command *command, const struct transfer *transfer,
                        struct assay_error *error)
{
    unsigned m = command->member_index;
    VkCommandBuffer buffer = command_open(command, error);
    if (buffer == NULL || !command_use(command, transfer->source, error) ||
        !command_use(command, transfer->destination, error))
        return false;
    command_write(command, transfer->destination);
    command->downloads += !buffer_is_host(transfer->source) &&
                          buffer_is_host(transfer->destination);
    const VkBufferCopy region = {.srcOffset = transfer->source_offset,
                                 .dstOffset = transfer->destination_offset,
                                 .size = transfer->bytes};
    command->member->vk.vkCmdCopyBuffer(buffer, transfer->source->handles[m],
                                        transfer->destination->handles[m], 1, &region);
    return true;
}

/* The smallest staging buffer that takes the bytes or, above ASSAY_STAGING_BYTES, a piece of them.
 * Made at its first use; a recording whose pieces are alike makes one. */
static struct assay_buffer *staging_for(struct assay_command *command, bool download,
                                        uint64_t bytes, struct assay_error *error)
{
    int step = 0;
    while (STAGING_BYTES_MIN << step < bytes && STAGING_BYTES_MIN << step < ASSAY_STAGING_BYTES)
        step++;
    for (int i = step; i < COMMAND_STAGING_MAX; i++)
        if (command->staging[download][i] != NULL)
            return command->staging[download][i];
    struct assay_buffer_params params = {
        .size = sizeof(params),
        .name = download ? "staging down" : "staging up",
        .bytes = STAGING_BYTES_MIN << step,
        .memory = download ? ASSAY_MEMORY_CACHED : ASSAY_MEMORY_PINNED,
        .role = ASSAY_ROLE_SCRATCH,
    };
    struct assay_error cause = {0};
    struct assay_buffer *made = buffer_create_internal(command->device, &params, 0, &cause);
    if (made == NULL && download && cause.status == ASSAY_UNSUPPORTED) {
        cause = (struct assay_error){0};
        params.memory = ASSAY_MEMORY_PINNED; /* every device has it */
        made = buffer_create_internal(command->device, &params, 0, &cause);
    }
    if (made == NULL)
        assay_fail(error, cause.status, "stage '%s': staging: %s", command->name, cause.text);
    command->staging[download][step] = made;
    return made;
}

static bool staged_piece(struct assay_command *command, const struct transfer *piece,
                         struct assay_buffer *staging, bool download, struct assay_error *error)
{
    struct transfer in = *piece, out = *piece; /* into the staging buffer and out of it */
    in.destination = out.source = staging;
    in.destination_offset = out.source_offset = 0;
    return download ? device_copy(command, &in, error) && add_host_copy(command, &out, error)
                    : add_host_copy(command, &in, error) && device_copy(command, &out, error);
}

static bool staged_copy(struct assay_command *command, const struct transfer *transfer,
                        struct assay_error *error)
{
    bool download = is_pageable(transfer->destination);
    if (download && is_pageable(transfer->source))
        return assay_fail(error, ASSAY_UNSUPPORTED,
                          "stage '%s': buffers '%s' and '%s' are both pageable, so the device can "
                          "take no part; use a host copy",
                          command->name, transfer->source->name, transfer->destination->name);
    if (!check_host_lane(command, error))
        return false;
    struct assay_buffer *staging = staging_for(command, download, transfer->bytes, error);
    if (staging == NULL)
        return false;
    struct transfer piece = *transfer;
    for (uint64_t left = transfer->bytes; left > 0; left -= piece.bytes) {
        piece.bytes = left < staging->params.bytes ? left : staging->params.bytes;
        if (!staged_piece(command, &piece, staging, download, error))
            return false;
        piece.source_offset += piece.bytes;
        piece.destination_offset += piece.bytes;
    }
    return true;
}

bool assay_command_copy(struct assay_command *command, struct assay_buffer *destination,
                        uint64_t destination_offset, struct assay_buffer *source,
                        uint64_t source_offset, uint64_t bytes, struct assay_error *error)
{
    const struct transfer transfer = {destination, source, destination_offset, source_offset,
                                      bytes};
    if (!check_transfer(command, &transfer, error))
        return false;
    command->read_bytes += bytes;
    command->written_bytes += bytes;
    if (is_pageable(source) || is_pageable(destination))
        return staged_copy(command, &transfer, error);
    return device_copy(command, &transfer, error);
}

bool assay_command_host_copy(struct assay_command *command, struct assay_buffer *destination,
                             uint64_t destination_offset, struct assay_buffer *source,
                             uint64_t source_offset, uint64_t bytes, struct assay_error *error)
{
    const struct transfer transfer = {destination, source, destination_offset, source_offset,
                                      bytes};
    if (!check_transfer(command, &transfer, error))
        return false;
    const struct assay_buffer *blind = source->address == NULL        ? source
                                       : destination->address == NULL ? destination
                                                                      : NULL;
    if (blind != NULL)
        return assay_fail(error, ASSAY_UNSUPPORTED,
                          "stage '%s': the host cannot see the memory of buffer '%s', so it cannot "
                          "copy it",
                          command->name, blind->name);
    command->read_bytes += bytes;
    command->written_bytes += bytes;
    return add_host_copy(command, &transfer, error);
}

bool assay_command_fill(struct assay_command *command, struct assay_buffer *buffer, uint64_t offset,
                        uint64_t bytes, uint32_t word, struct assay_error *error)
{
    if (!command_recording(command, error) ||
        !command_check_range(command, buffer, offset, bytes, error))
        return false;
    if (offset % 4 != 0 || bytes % 4 != 0)
        return assay_fail(error, ASSAY_INVALID,
                          "stage '%s': a fill of buffer '%s' has offset %llu and %llu bytes, both "
                          "must be multiples of 4",
                          command->name, buffer->name, (unsigned long long)offset,
                          (unsigned long long)bytes);
    if (is_pageable(buffer))
        return assay_fail(error, ASSAY_UNSUPPORTED,
                          "stage '%s': buffer '%s' is pageable, the device cannot fill it",
                          command->name, buffer->name);
    VkCommandBuffer commands = command_open(command, error);
    if (commands == NULL || !command_use(command, buffer, error))
        return false;
    command_write(command, buffer);
    command->written_bytes += bytes;
    command->member->vk.vkCmdFillBuffer(commands, buffer->handles[command->member_index], offset,
                                        bytes, word);
    return true;
}
