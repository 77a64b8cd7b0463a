/* SPDX-License-Identifier: MIT */
/* bench_overhead [TURNS]: what assay adds to one sample. A small device copy is sampled as a case
 * is (batch, sample kept, look whether more are wanted), in turn with a hand-written Vulkan loop:
 * same commands, timestamps included, same wait. Prints "ASSAY_NS RAW_NS DIFFERENCE_NS": medians
 * over the turns of the time of one sample; the difference turn by turn. */
#include "bench.h"

#include "measure/sampler.h"
#include "measure/samples.h"
#include "measure/serial.h"

#include <assay/vulkan.h>

#include <stdio.h>
#include <stdlib.h>

#define COPY_BYTES 4096
#define SAMPLES_A_TURN 100
#define TURNS_MAX 2000

struct pair {
    struct assay_buffer *from, *to;
};

static bool copy_record(const struct assay_stage *stage, void *self, struct assay_command *command,
                        struct assay_error *error)
{
    (void)stage;
    struct pair *pair = self;
    return assay_command_copy(command, pair->to, 0, pair->from, 0, COPY_BYTES, error);
}

static const struct assay_stage copy_stage = {.size = sizeof(struct assay_stage),
                                              .name = "copy",
                                              .kind = ASSAY_STAGE_TRANSFER,
                                              .record = copy_record};
static const struct assay_stage *const copy_stages[] = {&copy_stage, NULL};
static const struct assay_workload copy_workload = {
    .size = sizeof(struct assay_workload), .name = "bench", .version = "1", .stages = copy_stages};

/* The hand-written loop. */
struct raw {
    struct vulkan_device *member;
    struct vulkan_queue *queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkQueryPool queries;
    VkFence fence;
    int64_t last_ns; /* device time of the last sample */
};

static bool raw_fine(VkResult result, const char *call)
{
    if (result != VK_SUCCESS)
        fprintf(stderr, "bench_overhead: %s: VkResult %d\n", call, (int)result);
    return result == VK_SUCCESS;
}

static void raw_record(struct raw *raw, const struct pair *pair)
{
    const struct VolkDeviceTable *vk = &raw->member->vk;
    VkBufferCopy region = {.size = COPY_BYTES};
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vk->vkCmdWriteTimestamp(raw->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, raw->queries, 0);
    vk->vkCmdCopyBuffer(raw->commands, assay_buffer_handle(pair->from, 0),
                        assay_buffer_handle(pair->to, 0), 1, &region);
    vk->vkCmdPipelineBarrier(raw->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    /* As assay does: a CPU's driver makes the queue wait at the bottom of the pipe. */
    bool cpu = raw->member->physical->class == VULKAN_CLASS_CPU;
    vk->vkCmdWriteTimestamp(raw->commands,
                            cpu ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT
                                : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                            raw->queries, 1);
}

static bool raw_create(struct raw *raw, struct bench *bench, const struct pair *pair)
{
    raw->member = bench->device->members[0];
    raw->queue = device_queue(raw->member, VULKAN_ROLE_TRANSFER);
    const struct VolkDeviceTable *vk = &raw->member->vk;
    VkDevice device = raw->member->handle;
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = raw->queue->family};
    VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                     .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                     .queryCount = 2};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (!raw_fine(vk->vkCreateCommandPool(device, &pool, NULL, &raw->pool),
                  "vkCreateCommandPool") ||
        !raw_fine(vk->vkCreateQueryPool(device, &queries, NULL, &raw->queries),
                  "vkCreateQueryPool") ||
        !raw_fine(vk->vkCreateFence(device, &fence, NULL, &raw->fence), "vkCreateFence"))
        return false;
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = raw->pool,
                                            .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (!raw_fine(vk->vkAllocateCommandBuffers(device, &allocate, &raw->commands),
                  "vkAllocateCommandBuffers") ||
        !raw_fine(vk->vkBeginCommandBuffer(raw->commands, &begin), "vkBeginCommandBuffer"))
        return false;
    raw_record(raw, pair);
    return raw_fine(vk->vkEndCommandBuffer(raw->commands), "vkEndCommandBuffer");
}

static void raw_destroy(struct raw *raw)
{
    if (!raw->member)
        return;
    const struct VolkDeviceTable *vk = &raw->member->vk;
    vk->vkDestroyFence(raw->member->handle, raw->fence, NULL);
    vk->vkDestroyQueryPool(raw->member->handle, raw->queries, NULL);
    vk->vkDestroyCommandPool(raw->member->handle, raw->pool, NULL);
}

static bool raw_sample(struct raw *raw)
{
    const struct VolkDeviceTable *vk = &raw->member->vk;
    VkDevice device = raw->member->handle;
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &raw->commands};
    uint64_t ticks[2];
    vk->vkResetQueryPool(device, raw->queries, 0, 2);
    if (vk->vkQueueSubmit(raw->queue->handle, 1, &submit, raw->fence) != VK_SUCCESS ||
        vk->vkWaitForFences(device, 1, &raw->fence, VK_TRUE, BENCH_WAIT_NS) != VK_SUCCESS ||
        vk->vkResetFences(device, 1, &raw->fence) != VK_SUCCESS ||
        vk->vkGetQueryPoolResults(device, raw->queries, 0, 2, sizeof(ticks), ticks, sizeof(*ticks),
                                  VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return raw_fine(VK_ERROR_UNKNOWN, "the hand-written loop");
    raw->last_ns = (int64_t)((double)(ticks[1] - ticks[0]) * raw->queue->tick_ns);
    return true;
}

static bool raw_turn(struct raw *raw, double *ns)
{
    int64_t begin = clock_now(clock_monotonic());
    for (unsigned i = 0; i < SAMPLES_A_TURN; i++)
        if (!raw_sample(raw))
            return false;
    *ns = (double)(clock_now(clock_monotonic()) - begin) / SAMPLES_A_TURN;
    return true;
}

/* The inside of measure_case's sampling loop, bookkeeping included. */
static bool assay_turn(struct serial *serial, double *ns)
{
    struct assay_error error = {0};
    /* A target that is never reached, so that each look at the interval is taken. */
    struct measure_budget budget = {.target = 1e-12,
                                    .budget_ns = INT64_C(3600000000000),
                                    .min_samples = 6,
                                    .max_samples = SAMPLES_A_TURN};
    struct samples samples = {0};
    struct serial_times times;
    struct sampler *sampler = sampler_create(&budget, 1, &error);
    bool fine = sampler != NULL;
    int64_t begin = clock_now(clock_monotonic());
    while (fine && sampler_wants_more(sampler))
        fine = serial_batch(serial, &times, &error) &&
               samples_add(&samples, serial, &times, &error) &&
               sampler_add(sampler, &times.time_ns, clock_now(serial->clock), &error);
    *ns = (double)(clock_now(clock_monotonic()) - begin) / SAMPLES_A_TURN;
    fine = fine && (samples.count == SAMPLES_A_TURN ||
                    assay_fail(&error, ASSAY_INTERNAL, "%zu samples instead of %d", samples.count,
                               SAMPLES_A_TURN));
    samples_free(&samples);
    sampler_destroy(&sampler);
    return fine || bench_failed("sampling", &error);
}

static bool turns_run(struct serial *serial, struct raw *raw, size_t turns)
{
    static double mine[TURNS_MAX], other[TURNS_MAX], difference[TURNS_MAX];
    for (size_t i = 0; i < turns + 2; i++) { /* two turns are a warm-up */
        size_t at = i < 2 ? 0 : i - 2;
        bool fine = i % 2 ? assay_turn(serial, &mine[at]) && raw_turn(raw, &other[at])
                          : raw_turn(raw, &other[at]) && assay_turn(serial, &mine[at]);
        if (!fine)
            return false;
        difference[at] = mine[at] - other[at];
    }
    printf("%.0f %.0f %.0f\n", bench_median(mine, turns), bench_median(other, turns),
           bench_median(difference, turns));
    return true;
}

static bool run(struct bench *bench, size_t turns)
{
    struct assay_error error = {0};
    struct pair pair = {bench_buffer(bench, "source", COPY_BYTES, ASSAY_MEMORY_CACHED),
                        bench_buffer(bench, "destination", COPY_BYTES, ASSAY_MEMORY_CACHED)};
    if (!pair.from || !pair.to)
        return false;
    struct serial_params params = {
        .workload = &copy_workload, .slot = bench->slot, .self = &pair, .clock = clock_monotonic()};
    struct serial serial;
    struct raw raw = {0};
    bool fine = serial_prepare(&serial, &params, &error) || bench_failed("recording", &error);
    fine = fine && raw_create(&raw, bench, &pair) && turns_run(&serial, &raw, turns);
    raw_destroy(&raw);
    serial_finish(&serial);
    return fine;
}

int main(int argc, char **argv)
{
    size_t turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
    if (turns == 0 || turns > TURNS_MAX) {
        fprintf(stderr, "usage: bench_overhead [TURNS, at most %d]\n", TURNS_MAX);
        return 2;
    }
    struct bench bench;
    bool fine = bench_open(&bench) && run(&bench, turns);
    bench_close(&bench);
    return fine ? 0 : 1;
}
