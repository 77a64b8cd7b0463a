/* SPDX-License-Identifier: MIT */
/* bench_copy BYTES [ROUNDS]: a device copy between two host-visible buffers, as assay records and
 * runs it, against one thread's memcpy between the same two buffers, in turn. Prints
 * "COMMAND_NS MEMCPY_NS RATIO": medians over the rounds, and the median of the ratios turn by turn.
 */
#include "bench.h"

#include "vulkan/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 1000

static bool host_copy(struct assay_buffer *to, struct assay_buffer *from, double *ns)
{
    int64_t begin = clock_now(clock_monotonic());
    memcpy(assay_buffer_address(to), assay_buffer_address(from), assay_buffer_bytes(from));
    *ns = (double)(clock_now(clock_monotonic()) - begin);
    return true;
}

static bool device_copy(struct assay_command *command, double *ns)
{
    struct assay_error error = {0};
    struct command_times times;
    if (!command_execute(command, clock_monotonic(), &times, &error))
        return bench_failed("copy", &error);
    *ns = (double)(times.end_ns - times.begin_ns);
    return true;
}

/* The order within a turn alternates: neither always finds the caches as the other left them. */
static bool rounds_run(struct assay_command *command, struct assay_buffer *to,
                       struct assay_buffer *from, size_t rounds)
{
    static double device[ROUNDS_MAX], host[ROUNDS_MAX], ratio[ROUNDS_MAX];
    for (size_t i = 0; i < rounds + 1; i++) { /* the first turn is a warm-up */
        size_t at = i ? i - 1 : 0;
        bool fine = i % 2 ? host_copy(to, from, &host[at]) && device_copy(command, &device[at])
                          : device_copy(command, &device[at]) && host_copy(to, from, &host[at]);
        if (!fine)
            return false;
        ratio[at] = host[at] / device[at];
    }
    printf("%.0f %.0f %.4f\n", bench_median(device, rounds), bench_median(host, rounds),
           bench_median(ratio, rounds));
    return true;
}

static bool run(struct bench *bench, uint64_t bytes, size_t rounds)
{
    struct assay_error error = {0};
    struct assay_buffer *from = bench_buffer(bench, "source", bytes, ASSAY_MEMORY_CACHED);
    struct assay_buffer *to = bench_buffer(bench, "destination", bytes, ASSAY_MEMORY_CACHED);
    if (!from || !to)
        return false;
    struct command_params params = {
        .slot = bench->slot, .name = "copy", .role = VULKAN_ROLE_TRANSFER};
    struct assay_command *command = command_create(&params, &error);
    bool fine = command && assay_command_copy(command, to, 0, from, 0, bytes, &error) &&
                command_finish(command, &error);
    fine = fine ? rounds_run(command, to, from, rounds) : bench_failed("recording", &error);
    command_destroy(&command);
    return fine;
}

int main(int argc, char **argv)
{
    uint64_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 9;
    if (bytes == 0 || rounds == 0 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_copy BYTES [ROUNDS, at most %d]\n", ROUNDS_MAX);
        return 2;
    }
    struct bench bench;
    bool fine = bench_open(&bench, 1) && run(&bench, bytes, rounds);
    bench_close(&bench);
    return fine ? 0 : 1;
}
