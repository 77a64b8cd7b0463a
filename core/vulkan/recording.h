/* SPDX-License-Identifier: MIT */
/* What a recording is made of; for command*.c, dispatch.c and descriptors.c. */
#ifndef VULKAN_RECORDING_H
#define VULKAN_RECORDING_H

#include "vulkan/buffer.h"
#include "vulkan/command.h"
#include "vulkan/reflect.h"

#define COMMAND_LANES 2
#define COMMAND_STAGING_MAX 16 /* powers of two from 64 KiB to ASSAY_STAGING_BYTES, two kinds */

/* Device commands that are submitted and waited for together. */
struct command_segment {
    VkCommandBuffer buffers[COMMAND_LANES]; /* NULL: the lane has nothing */
    VkSubmitInfo submits[COMMAND_LANES];    /* of the lanes with work; one for both on one queue */
    struct vulkan_queue *queues[COMMAND_LANES];
    unsigned submit_count;
    VkQueryPool queries; /* two a lane from first_query on; VK_NULL_HANDLE without timestamps */
    uint32_t first_query;
    size_t first_buffer, buffer_count; /* in `incoherent`: flushed before, invalidated after */
};

struct command_step {
    bool host; /* memcpy, else a segment */
    void *destination;
    const void *source;
    size_t bytes;
    struct assay_buffer *written; /* the destination's; flushed after where it is not coherent */
    size_t segment;
};

struct command_descriptors {
    VkDescriptorPool pool;
    uint32_t sets_left, left[REFLECT_UNSUPPORTED]; /* by enum reflect_kind */
};

/* A buffer as texels; dispatches with the same range share it. */
struct command_view {
    VkBufferView handle;
    VkBufferViewCreateInfo info;
};

/* A growing array of one kind of thing. */
struct command_list {
    void *data;
    size_t count, capacity;
};

struct assay_command {
    struct assay_slot *slot;
    struct assay_device *device;
    struct vulkan_device *member;
    unsigned member_index;
    enum vulkan_role role;
    char name[64], what[80]; /* of the stage; "stage 'NAME'" */
    unsigned lane;
    struct vulkan_queue *queues[COMMAND_LANES];
    VkFence fences[COMMAND_LANES];
    bool open;     /* the last segment takes commands */
    bool finished; /* nothing can be recorded any more */
    bool touches_host, timestamps;
    bool raw;          /* a handle was given out: what is recorded there is not known */
    size_t operations; /* recorded */
    size_t downloads;  /* of them, copies from device memory to the host's */
    bool dispatches;   /* what these read and write is not known */
    uint64_t read_bytes, written_bytes;     /* by copies and fills, staging aside */
    const struct assay_buffer *overwritten; /* an INPUT buffer that is written to; or NULL */
    bool lane_used[COMMAND_LANES];
    struct command_list steps;       /* struct command_step */
    struct command_list segments;    /* struct command_segment */
    struct command_list queries;     /* VkQueryPool */
    struct command_list descriptors; /* struct command_descriptors */
    struct command_list views;       /* struct command_view */
    struct command_list incoherent;  /* struct assay_buffer *, grouped by segment */
    uint32_t queries_left;           /* in the last pool */
    struct assay_buffer *staging[2][COMMAND_STAGING_MAX]; /* [download], [size class] */
};

/* Room for one more element of `size` bytes, zeroed; NULL with the error filled. */
void *command_list_add(struct command_list *list, size_t size, struct assay_error *error);
/* The command buffer of the current lane in the open segment; opens what is needed. */
VkCommandBuffer command_open(struct assay_command *command, struct assay_error *error);
/* Ends the open segment, if any: later commands are submitted after it was waited for. */
bool command_close(struct assay_command *command, struct assay_error *error);
bool command_recording(const struct assay_command *command, struct assay_error *error);
/* Notes that the open segment uses the buffer. */
bool command_use(struct assay_command *command, struct assay_buffer *buffer,
                 struct assay_error *error);
/* Notes that the recording writes to the buffer. */
void command_write(struct assay_command *command, const struct assay_buffer *buffer);
/* The buffer belongs to the command's device set, and [offset, offset + bytes) lies inside it. */
bool command_check_range(const struct assay_command *command, const struct assay_buffer *buffer,
                         uint64_t offset, uint64_t bytes, struct assay_error *error);

static inline struct command_segment *command_segment_at(const struct assay_command *command,
                                                         size_t index)
{
    return (struct command_segment *)command->segments.data + index;
}

#endif
