/* SPDX-License-Identifier: MIT */
/* bench_overhead [TURNS]: what assay adds to one sample. A small device copy is sampled as a case
 * is (batch, sample kept, look whether more are wanted), in turn with a hand-written Vulkan loop:
 * same commands, timestamps included, same wait. Prints "ASSAY_NS RAW_NS DIFFERENCE_NS": medians
 * over the turns of the time of one sample; the difference turn by turn. */
#include "bench.h"
#include "raw.h"

#include "measure/sampler.h"
#include "measure/samples.h"
#include "measure/serial.h"

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

static bool raw_turn(struct raw *raw, double *ns)
{
    int64_t begin = clock_now(clock_monotonic());
    for (unsigned i = 0; i < SAMPLES_A_TURN; i++)
        if (!raw_run(raw))
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
    fine = fine && raw_create(&raw, bench->device->members[0], pair.from, pair.to) &&
           turns_run(&serial, &raw, turns);
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
    bool fine = bench_open(&bench, 1) && run(&bench, turns);
    bench_close(&bench);
    return fine ? 0 : 1;
}
