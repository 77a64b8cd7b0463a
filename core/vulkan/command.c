/* SPDX-License-Identifier: MIT */
/* The program of a recording: segments, lanes, barriers, timestamps. */
#include "vulkan/queue.h"
#include "vulkan/recording.h"

#include "vulkan/slot.h"

#include <assay/vulkan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_QUERIES 256u /* a pool; a multiple of what a segment takes */

void *command_list_add(struct command_list *list, size_t size, struct assay_error *error)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 8;
        void *grown = capacity <= SIZE_MAX / size / 2 ? realloc(list->data, capacity * size) : NULL;
        if (grown == NULL) {
            assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a recording");
            return NULL;
        }
        list->data = grown;
        list->capacity = capacity;
    }
    void *added = (char *)list->data + list->count++ * size;
    memset(added, 0, size);
    return added;
}

static const VkQueueFamilyProperties *family_of(const struct assay_command *command,
                                                const struct vulkan_queue *queue)
{
    return &command->member->physical->queue_families[queue->family];
}

/* Lane 1 gets another queue that can do what the role needs, where there is one. */
static struct vulkan_queue *second_queue(const struct assay_command *command)
{
    struct vulkan_queue *first = command->queues[0];
    enum vulkan_role wanted = command->role == VULKAN_ROLE_TRANSFER_BACK
                                  ? VULKAN_ROLE_TRANSFER
                                  : VULKAN_ROLE_TRANSFER_BACK;
    struct vulkan_queue *second = device_queue(command->member, wanted);
    bool computes = (family_of(command, second)->queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
    return command->role == VULKAN_ROLE_COMPUTE && !computes ? first : second;
}

static bool create_fences(struct assay_command *command, struct assay_error *error)
{
    struct vulkan_device *member = command->member;
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    for (unsigned lane = 0; lane < COMMAND_LANES; lane++) {
        VkResult result = member->vk.vkCreateFence(member->handle, &info, NULL,
                                                   &command->fences[lane]);
        if (result != VK_SUCCESS) {
            command->fences[lane] = VK_NULL_HANDLE;
            return device_fail(command->device, result, "vkCreateFence", error);
        }
        device_name_object(member, VK_OBJECT_TYPE_FENCE, (uint64_t)command->fences[lane],
                           command->name);
    }
    return true;
}

struct assay_command *command_create(const struct command_params *params, struct assay_error *error)
{
    struct assay_device *device = params->slot->device;
    if (device == NULL || params->member >= device->member_count) {
        assay_fail(error, ASSAY_INTERNAL, "stage '%s' is recorded for a device that is not there",
                   params->name);
        return NULL;
    }
    struct assay_command *command = calloc(1, sizeof(*command));
    if (command == NULL) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a recording");
        return NULL;
    }
    command->slot = params->slot;
    command->device = device;
    command->member_index = params->member;
    command->member = device->members[params->member];
    command->role = params->role;
    snprintf(command->name, sizeof(command->name), "%s", params->name);
    snprintf(command->what, sizeof(command->what), "stage '%s'", command->name);
    command->queues[0] = device_queue(command->member, params->role);
    command->queues[1] = second_queue(command);
    command->timestamps = true;
    if (!create_fences(command, error))
        command_destroy(&command);
    return command;
}

static void destroy_handles(struct assay_command *command)
{
    struct vulkan_device *member = command->member;
    for (size_t i = 0; i < command->segments.count; i++) {
        struct command_segment *segment = command_segment_at(command, i);
        for (unsigned lane = 0; lane < COMMAND_LANES; lane++)
            if (segment->buffers[lane] != NULL)
                member->vk.vkFreeCommandBuffers(member->handle, command->queues[lane]->pool, 1,
                                                &segment->buffers[lane]);
    }
    for (size_t i = 0; i < command->queries.count; i++)
        member->vk.vkDestroyQueryPool(member->handle, ((VkQueryPool *)command->queries.data)[i],
                                      NULL);
    for (size_t i = 0; i < command->descriptors.count; i++)
        member->vk.vkDestroyDescriptorPool(
            member->handle, ((struct command_descriptors *)command->descriptors.data)[i].pool,
            NULL);
    for (size_t i = 0; i < command->views.count; i++)
        member->vk.vkDestroyBufferView(
            member->handle, ((struct command_view *)command->views.data)[i].handle, NULL);
    for (unsigned lane = 0; lane < COMMAND_LANES; lane++)
        member->vk.vkDestroyFence(member->handle, command->fences[lane], NULL);
}

void command_destroy(struct assay_command **command)
{
    if (command == NULL || *command == NULL)
        return;
    struct assay_command *gone = *command;
    if (!gone->device->lost)
        destroy_handles(gone);
    for (int download = 0; download < 2; download++)
        for (int i = 0; i < COMMAND_STAGING_MAX; i++)
            assay_buffer_destroy(&gone->staging[download][i]);
    free(gone->steps.data);
    free(gone->segments.data);
    free(gone->queries.data);
    free(gone->descriptors.data);
    free(gone->views.data);
    free(gone->incoherent.data);
    free(gone);
    *command = NULL;
}

bool command_recording(const struct assay_command *command, struct assay_error *error)
{
    if (command->finished)
        return assay_fail(error, ASSAY_INVALID,
                          "stage '%s' is recorded already; commands belong into its record hook",
                          command->name);
    return true;
}

static bool take_queries(struct assay_command *command, struct command_segment *segment,
                         struct assay_error *error)
{
    struct vulkan_device *member = command->member;
    if (command->queries_left == 0) {
        const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                            .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                            .queryCount = COMMAND_QUERIES};
        VkQueryPool *pool = command_list_add(&command->queries, sizeof(*pool), error);
        if (pool == NULL)
            return false;
        VkResult result = member->vk.vkCreateQueryPool(member->handle, &info, NULL, pool);
        if (result != VK_SUCCESS) {
            command->queries.count--;
            return device_fail(command->device, result, "vkCreateQueryPool", error);
        }
        device_name_object(member, VK_OBJECT_TYPE_QUERY_POOL, (uint64_t)*pool, command->name);
        command->queries_left = COMMAND_QUERIES;
    }
    segment->queries = ((VkQueryPool *)command->queries.data)[command->queries.count - 1];
    segment->first_query = COMMAND_QUERIES - command->queries_left;
    command->queries_left -= 2 * COMMAND_LANES;
    return true;
}

static bool open_segment(struct assay_command *command, struct assay_error *error)
{
    struct command_segment *segment = command_list_add(&command->segments, sizeof(*segment), error);
    struct command_step *step = segment != NULL
                                    ? command_list_add(&command->steps, sizeof(*step), error)
                                    : NULL;
    if (step == NULL)
        return false;
    step->segment = command->segments.count - 1;
    command->touches_host = command->touches_host || step->segment > 0; /* waits in between */
    segment->first_buffer = command->incoherent.count;
    bool any = command->queues[0]->timestamp_bits > 0 || command->queues[1]->timestamp_bits > 0;
    if (any && !take_queries(command, segment, error))
        return false;
    command->open = true;
    return true;
}

/* None where the lane's queue has no timestamps: no device time then. */
static VkQueryPool lane_queries(const struct assay_command *command,
                                const struct command_segment *segment, unsigned lane)
{
    return command->queues[lane]->timestamp_bits > 0 ? segment->queries : VK_NULL_HANDLE;
}

static bool open_lane(struct assay_command *command, struct command_segment *segment,
                      struct assay_error *error)
{
    struct vulkan_device *member = command->member;
    unsigned lane = command->lane;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = command->queues[lane]->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer buffer = NULL;
    VkResult result = member->vk.vkAllocateCommandBuffers(member->handle, &info, &buffer);
    if (result != VK_SUCCESS)
        return device_fail(command->device, result, "vkAllocateCommandBuffers", error);
    segment->buffers[lane] = buffer;
    device_name_object(member, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)buffer,
                       command->name);
    result = member->vk.vkBeginCommandBuffer(buffer, &begin);
    if (result != VK_SUCCESS)
        return device_fail(command->device, result, "vkBeginCommandBuffer", error);
    queue_begin_region(member, buffer, lane_queries(command, segment, lane),
                       segment->first_query + 2 * lane);
    command->timestamps = command->timestamps && command->queues[lane]->timestamp_bits > 0;
    command->lane_used[lane] = true;
    return true;
}

VkCommandBuffer command_open(struct assay_command *command, struct assay_error *error)
{
    if (!command_recording(command, error) || (!command->open && !open_segment(command, error)))
        return NULL;
    struct command_segment *segment = command_segment_at(command, command->segments.count - 1);
    if (segment->buffers[command->lane] == NULL && !open_lane(command, segment, error))
        return NULL;
    command->operations++;
    return segment->buffers[command->lane];
}

static bool end_lane(struct assay_command *command, struct command_segment *segment, unsigned lane,
                     struct assay_error *error)
{
    struct vulkan_device *member = command->member;
    VkCommandBuffer buffer = segment->buffers[lane];
    queue_end_region(member, command->queues[lane], buffer, lane_queries(command, segment, lane),
                     segment->first_query + 2 * lane + 1);
    VkResult result = member->vk.vkEndCommandBuffer(buffer);
    if (result != VK_SUCCESS)
        return device_fail(command->device, result, "vkEndCommandBuffer", error);
    return true;
}

bool command_close(struct assay_command *command, struct assay_error *error)
{
    if (!command->open)
        return true;
    command->open = false;
    struct command_segment *segment = command_segment_at(command, command->segments.count - 1);
    for (unsigned lane = 0; lane < COMMAND_LANES; lane++)
        if (segment->buffers[lane] != NULL && !end_lane(command, segment, lane, error))
            return false;
    segment->buffer_count = command->incoherent.count - segment->first_buffer;
    return true;
}

/* Submit infos point into the segments, so they are made when the array does not move any more. */
static void make_submits(struct assay_command *command, struct command_segment *segment)
{
    for (unsigned lane = 0; lane < COMMAND_LANES; lane++) {
        if (segment->buffers[lane] == NULL)
            continue;
        if (segment->submit_count == 1 &&
            command->queues[0]->handle == command->queues[1]->handle) {
            segment->submits[0].commandBufferCount = 2;
            continue;
        }
        segment->queues[segment->submit_count] = command->queues[lane];
        segment->submits[segment->submit_count++] = (VkSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
            .commandBufferCount = 1,
            .pCommandBuffers = &segment->buffers[lane]};
    }
}

bool command_finish(struct assay_command *command, struct assay_error *error)
{
    if (!command_recording(command, error) || !command_close(command, error))
        return false;
    if (command->steps.count == 0)
        return assay_fail(error, ASSAY_INVALID, "stage '%s' records no operation", command->name);
    for (size_t i = 0; i < command->segments.count; i++)
        make_submits(command, command_segment_at(command, i));
    command->finished = true;
    return true;
}

bool command_touches_host(const struct assay_command *command)
{
    return command->touches_host;
}

const struct assay_slot *command_slot(const struct assay_command *command)
{
    return command->slot;
}

bool command_is_one_submission(const struct assay_command *command)
{
    return command->member->timelines && command->steps.count == 1 &&
           command->segments.count == 1 && command_segment_at(command, 0)->submit_count == 1;
}

struct vulkan_queue *command_queue(const struct assay_command *command)
{
    return command->queues[0];
}

bool command_is_download(const struct assay_command *command)
{
    return command->downloads > 0 && command->downloads == command->operations;
}

bool command_has_timestamps(const struct assay_command *command)
{
    return command->timestamps && command->segments.count > 0;
}

size_t command_submission_count(const struct assay_command *command)
{
    return command->segments.count;
}

bool command_traffic(const struct assay_command *command, uint64_t *read_bytes,
                     uint64_t *written_bytes)
{
    *read_bytes = command->read_bytes;
    *written_bytes = command->written_bytes;
    return !command->dispatches && !command->raw;
}

size_t command_operation_count(const struct assay_command *command)
{
    return command->operations;
}

bool command_can_repeat(const struct assay_command *command, struct text *why_not)
{
    if (command->segments.count > 1)
        text_addf(why_not, "it submits and waits %zu times", command->segments.count);
    else if (command->steps.count > command->segments.count)
        text_add(why_not, "the host takes part in it");
    else if (command->raw)
        text_add(why_not, "it records Vulkan commands of its own");
    else if (command->overwritten != NULL)
        text_addf(why_not, "it works in place: it may write to its input '%s'",
                  command->overwritten->name);
    else
        return true;
    return false;
}

bool command_again(struct assay_command *command, struct assay_error *error)
{
    for (unsigned lane = COMMAND_LANES; lane-- > 0;) {
        command->lane = lane;
        if (!assay_command_barrier(command, error))
            return false;
    }
    return true;
}

unsigned command_queue_count(const struct assay_command *command)
{
    bool both = command->lane_used[0] && command->lane_used[1];
    if (command->segments.count == 0)
        return 0;
    return both && command->queues[0]->handle != command->queues[1]->handle ? 2 : 1;
}

bool assay_command_barrier(struct assay_command *command, struct assay_error *error)
{
    if (!command_recording(command, error))
        return false;
    struct command_segment *segment = command->open
                                          ? command_segment_at(command, command->segments.count - 1)
                                          : NULL;
    if (segment == NULL || segment->buffers[command->lane] == NULL)
        return true; /* what came before was waited for */
    const struct queue_scope scope = queue_scope(command->member, command->queues[command->lane]);
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = scope.writes,
                                     .dstAccessMask = scope.all};
    command->member->vk.vkCmdPipelineBarrier(segment->buffers[command->lane], scope.stages,
                                             scope.stages, 0, 1, &barrier, 0, NULL, 0, NULL);
    return true;
}

bool assay_command_wait(struct assay_command *command, struct assay_error *error)
{
    return command_recording(command, error) && command_close(command, error);
}

bool assay_command_lane(struct assay_command *command, unsigned lane, struct assay_error *error)
{
    if (!command_recording(command, error))
        return false;
    if (lane >= COMMAND_LANES)
        return assay_fail(error, ASSAY_INVALID,
                          "stage '%s': lane %u is not there, allowed are 0 and 1", command->name,
                          lane);
    command->lane = lane;
    return true;
}

VkCommandBuffer assay_command_handle(struct assay_command *command, unsigned *member,
                                     struct assay_error *error)
{
    VkCommandBuffer buffer = command_open(command, error);
    command->raw = true;
    if (buffer != NULL && member != NULL)
        *member = command->member_index;
    return buffer;
}
