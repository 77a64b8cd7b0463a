/* SPDX-License-Identifier: MIT */
/* The replay: what runs for each sample, so nothing here allocates or names. */
#include "vulkan/recording.h"

#include "vulkan/queue.h"
#include "vulkan/timeline.h"
#include "vulkan/timer.h"

#include <string.h>

static bool sync_memory(struct assay_command *command, const struct command_segment *segment,
                        bool (*sync)(struct assay_buffer *, struct assay_error *),
                        struct assay_error *error)
{
    struct assay_buffer **buffers = command->incoherent.data;
    for (size_t i = 0; i < segment->buffer_count; i++)
        if (!sync(buffers[segment->first_buffer + i], error))
            return false;
    return true;
}

/* Ticks from the first timestamp to the last; lanes on one queue share its clock. */
static int64_t segment_ns(const struct assay_command *command,
                          const struct command_segment *segment, const uint64_t *stamps)
{
    int64_t longest = 0;
    bool one_queue = command->queues[0]->handle == command->queues[1]->handle;
    unsigned first = segment->buffers[0] != NULL ? 0 : 1;
    for (unsigned lane = first; lane < COMMAND_LANES; lane++) {
        if (segment->buffers[lane] == NULL)
            continue;
        const struct vulkan_queue *queue = command->queues[lane];
        uint64_t begin = stamps[2 * (one_queue ? first : lane)];
        int64_t ns = timer_ns(timer_ticks(begin, stamps[2 * lane + 1], queue->timestamp_bits),
                              queue->tick_ns);
        longest = ns > longest ? ns : longest;
    }
    return longest;
}

/* Two a lane; 0 for lanes without work. */
static bool read_stamps(struct assay_command *command, const struct command_segment *segment,
                        uint64_t stamps[static 2 * COMMAND_LANES], struct assay_error *error)
{
    struct vulkan_device *member = command->member;
    memset(stamps, 0, 2 * COMMAND_LANES * sizeof(*stamps));
    unsigned first = segment->buffers[0] != NULL ? 0 : 1;
    unsigned last = segment->buffers[1] != NULL ? 1 : 0;
    uint32_t count = 2 * (last - first + 1);
    VkResult result = member->vk.vkGetQueryPoolResults(
        member->handle, segment->queries, segment->first_query + 2 * first, count,
        count * sizeof(uint64_t), stamps + 2 * first, sizeof(uint64_t), VK_QUERY_RESULT_64_BIT);
    if (result == VK_NOT_READY)
        return assay_fail(error, ASSAY_VULKAN,
                          "stage '%s': the timestamps are not there after the fence was signalled",
                          command->name);
    if (result != VK_SUCCESS)
        return device_fail(command->device, result, "vkGetQueryPoolResults", error);
    return true;
}

static bool submit(struct assay_command *command, const struct command_segment *segment,
                   struct assay_error *error)
{
    struct vulkan_device *member = command->member;
    for (unsigned i = 0; i < segment->submit_count; i++) {
        VkResult result = queue_submit(member, segment->queues[i], &segment->submits[i],
                                       command->fences[i]);
        if (result == VK_SUCCESS)
            continue;
        if (i > 0) /* the other lane runs on; its fence cannot be waited for in order any more */
            command->device->lost = true;
        return device_fail(command->device, result, "vkQueueSubmit", error);
    }
    return true;
}

static bool run_segment(struct assay_command *command, const struct command_segment *segment,
                        struct assay_clock *clock, struct command_times *times,
                        struct assay_error *error)
{
    struct vulkan_device *member = command->member;
    if (segment->buffer_count > 0 && !sync_memory(command, segment, buffer_flush, error))
        return false;
    if (segment->queries != VK_NULL_HANDLE)
        member->vk.vkResetQueryPool(member->handle, segment->queries, segment->first_query,
                                    2 * COMMAND_LANES);
    int64_t before = clock_now(clock);
    if (!submit(command, segment, error))
        return false;
    times->submit_ns += clock_now(clock) - before;
    if (!queue_wait(command->device, member, command->fences, segment->submit_count, command->what,
                    error))
        return false;
    return segment->buffer_count == 0 || sync_memory(command, segment, buffer_invalidate, error);
}

static bool run_step(struct assay_command *command, const struct command_step *step,
                     struct assay_clock *clock, struct command_times *times,
                     struct assay_error *error)
{
    if (!step->host)
        return run_segment(command, command_segment_at(command, step->segment), clock, times,
                           error);
    memcpy(step->destination, step->source, step->bytes);
    /* The device can read the destination then, so the flush belongs to the time. */
    return buffer_flush(step->written, error);
}

bool command_execute(struct assay_command *command, struct assay_clock *clock,
                     struct command_times *times, struct assay_error *error)
{
    const struct command_step *steps = command->steps.data;
    if (!command->finished)
        return assay_fail(error, ASSAY_INTERNAL, "stage '%s' runs before its recording is finished",
                          command->name);
    if (command->device->lost)
        return assay_fail(error, ASSAY_DEVICE_LOST,
                          "stage '%s' cannot run: the device was lost before", command->name);
    times->submit_ns = 0;
    times->begin_ns = clock_now(clock);
    for (size_t i = 0; i < command->steps.count; i++)
        if (!run_step(command, &steps[i], clock, times, error))
            return false;
    times->end_ns = clock_now(clock);
    return true;
}

bool command_submit(struct assay_command *command, const struct command_wait *wait,
                    const struct timeline *signal, uint64_t value, struct assay_error *error)
{
    struct vulkan_device *member = command->member;
    const struct command_segment *segment = command_segment_at(command, 0);
    if (!command->finished || !command_is_one_submission(command))
        return assay_fail(error, ASSAY_INTERNAL, "stage '%s' cannot be submitted alone",
                          command->name);
    if (command->device->lost)
        return assay_fail(error, ASSAY_DEVICE_LOST,
                          "stage '%s' cannot run: the device was lost before", command->name);
    if (segment->buffer_count > 0 && !sync_memory(command, segment, buffer_flush, error))
        return false;
    if (segment->queries != VK_NULL_HANDLE)
        member->vk.vkResetQueryPool(member->handle, segment->queries, segment->first_query,
                                    2 * COMMAND_LANES);
    const VkSemaphore waited = wait ? timeline_handle(wait->timeline) : VK_NULL_HANDLE;
    const VkSemaphore signalled = timeline_handle(signal);
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait ? 1 : 0,
        .pWaitSemaphoreValues = wait ? &wait->value : NULL,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value};
    VkSubmitInfo submit = segment->submits[0];
    submit.pNext = &values;
    submit.waitSemaphoreCount = wait ? 1 : 0;
    submit.pWaitSemaphores = &waited;
    submit.pWaitDstStageMask = &stages;
    submit.signalSemaphoreCount = 1;
    submit.pSignalSemaphores = &signalled;
    VkResult result = queue_submit(member, segment->queues[0], &submit, VK_NULL_HANDLE);
    return result == VK_SUCCESS || device_fail(command->device, result, "vkQueueSubmit", error);
}

bool command_settle(struct assay_command *command, struct assay_error *error)
{
    const struct command_segment *segment = command_segment_at(command, 0);
    return segment->buffer_count == 0 || sync_memory(command, segment, buffer_invalidate, error);
}

bool command_device_time(struct assay_command *command, int64_t *device_ns,
                         struct assay_error *error)
{
    *device_ns = -1;
    if (!command_has_timestamps(command))
        return true;
    int64_t sum = 0;
    for (size_t i = 0; i < command->segments.count; i++) {
        uint64_t stamps[2 * COMMAND_LANES];
        const struct command_segment *segment = command_segment_at(command, i);
        if (!read_stamps(command, segment, stamps, error))
            return false;
        sum += segment_ns(command, segment, stamps);
    }
    *device_ns = sum;
    return true;
}

bool command_has_stamps(const struct assay_command *command)
{
    return command_has_timestamps(command) && command_queue_count(command) == 1;
}

bool command_stamps(struct assay_command *command, uint64_t *begin, uint64_t *end,
                    struct assay_error *error)
{
    uint64_t stamps[2 * COMMAND_LANES];
    const struct command_segment *first = command_segment_at(command, 0);
    const struct command_segment *last = command_segment_at(command, command->segments.count - 1);
    if (!read_stamps(command, first, stamps, error))
        return false;
    *begin = stamps[first->buffers[0] ? 0 : 2];
    if (last != first && !read_stamps(command, last, stamps, error))
        return false;
    *end = stamps[last->buffers[1] ? 3 : 1];
    return true;
}
