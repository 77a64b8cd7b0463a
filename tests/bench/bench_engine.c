/* SPDX-License-Identifier: MIT */
/* bench_engine [TURNS]: what the engine of the schedules adds to a batch. Batches of three small
 * copies, in turn with the same copies by the driver alone, each with its own submit and wait: one
 * batch in flight and two, on one queue; then two on two logical devices, where the host passes
 * each stage on. Prints three times "ENGINE_NS RAW_NS DIFFERENCE_NS": medians over the turns of the
 * time of a batch; the difference turn by turn. */
#include "bench.h"
#include "raw.h"

#include "measure/engine.h"

#include <stdio.h>
#include <stdlib.h>

#define STAGES 3
#define DEPTH_MOST 2
#define COPY_BYTES 4096
#define BATCHES_A_TURN 100
#define TURNS_MAX 2000

struct copies {
    struct assay_buffer *from, *to;
};

static bool copy_record(const struct assay_stage *stage, void *self, struct assay_command *command,
                        struct assay_error *error)
{
    struct copies *copies = self;
    (void)stage;
    return assay_command_copy(command, copies->to, 0, copies->from, 0, COPY_BYTES, error);
}

#define STAGE(stage_name, stage_kind)                                                              \
    &(const struct assay_stage)                                                                    \
    {                                                                                              \
        .size = sizeof(struct assay_stage), .name = stage_name, .kind = stage_kind,                \
        .record = copy_record                                                                      \
    }
static const struct assay_stage *const stages[] = {STAGE("upload", ASSAY_STAGE_TRANSFER),
                                                   STAGE("compute", ASSAY_STAGE_COMPUTE),
                                                   STAGE("download", ASSAY_STAGE_TRANSFER), NULL};
static const struct assay_workload workload = {
    .size = sizeof(struct assay_workload), .name = "bench", .version = "1", .stages = stages};

static enum engine_answer next(void *user, uint64_t batch, int64_t now_ns,
                               struct engine_issue *issue)
{
    (void)user;
    (void)now_ns;
    (void)issue;
    return batch < BATCHES_A_TURN ? ENGINE_ISSUE : ENGINE_END;
}

static bool ended(void *user, const struct event *event, struct assay_error *error)
{
    (void)error;
    *(uint64_t *)user += event->stage == STAGES - 1;
    return true;
}

static bool engine_turn(struct engine *engine, double *ns)
{
    struct assay_error error = {0};
    uint64_t count = 0;
    const struct engine_source source = {.user = &count, .next = next, .ended = ended};
    int64_t begin = clock_now(clock_monotonic());
    if (!engine_run(engine, &source, NULL, &error))
        return bench_failed("engine", &error);
    *ns = (double)(clock_now(clock_monotonic()) - begin) / BATCHES_A_TURN;
    return count == BATCHES_A_TURN;
}

static bool raw_turn(struct raw *raw, double *ns)
{
    int64_t begin = clock_now(clock_monotonic());
    for (unsigned i = 0; i < BATCHES_A_TURN * STAGES; i++)
        if (!raw_run(raw))
            return false;
    *ns = (double)(clock_now(clock_monotonic()) - begin) / BATCHES_A_TURN;
    return true;
}

static bool turns_run(struct engine *engine, struct raw *raw, size_t turns)
{
    static double mine[TURNS_MAX], other[TURNS_MAX], difference[TURNS_MAX];
    for (size_t i = 0; i < turns + 2; i++) { /* two turns are a warm-up */
        size_t at = i < 2 ? 0 : i - 2;
        bool fine = i % 2 ? engine_turn(engine, &mine[at]) && raw_turn(raw, &other[at])
                          : raw_turn(raw, &other[at]) && engine_turn(engine, &mine[at]);
        if (!fine)
            return false;
        difference[at] = mine[at] - other[at];
    }
    printf("%.0f %.0f %.0f\n", bench_median(mine, turns), bench_median(other, turns),
           bench_median(difference, turns));
    return true;
}

/* Slots that share buffers: the copies write the same bytes. */
static bool run(unsigned members, unsigned depth, size_t turns)
{
    struct assay_error error = {0};
    struct bench bench;
    struct serial serial[DEPTH_MOST] = {0}, *slots[DEPTH_MOST];
    struct raw raw = {0};
    struct engine *engine = NULL;
    struct copies copies = {0};
    bool fine = bench_open(&bench, members);
    if (fine) {
        copies.from = bench_buffer(&bench, "source", COPY_BYTES, ASSAY_MEMORY_CACHED);
        copies.to = bench_buffer(&bench, "destination", COPY_BYTES, ASSAY_MEMORY_CACHED);
        fine = copies.from && copies.to;
    }
    for (unsigned i = 0; fine && i < depth; i++) {
        struct serial_params params = {
            .workload = &workload, .slot = bench.slot, .self = &copies, .clock = clock_monotonic()};
        slots[i] = &serial[i];
        fine = serial_prepare(&serial[i], &params, &error) || bench_failed("recording", &error);
    }
    if (fine) {
        struct engine_layout layout;
        engine_layout_make(slots, depth, NULL, &layout);
        struct engine_params params = {.device = bench.device,
                                       .clock = clock_monotonic(),
                                       .layout = &layout,
                                       .slots = slots,
                                       .depth = depth,
                                       .variants = 1};
        engine = engine_create(&params, &error);
        fine = engine || bench_failed("engine", &error);
    }
    fine = fine && raw_create(&raw, bench.device->members[0], copies.from, copies.to) &&
           turns_run(engine, &raw, turns);
    engine_destroy(&engine);
    raw_destroy(&raw);
    for (unsigned i = 0; i < DEPTH_MOST; i++)
        serial_finish(&serial[i]);
    bench_close(&bench);
    return fine;
}

int main(int argc, char **argv)
{
    size_t turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 50;
    if (turns == 0 || turns > TURNS_MAX) {
        fprintf(stderr, "usage: bench_engine [TURNS, at most %d]\n", TURNS_MAX);
        return 2;
    }
    return run(1, 1, turns) && run(1, 2, turns) && run(2, 2, turns) ? 0 : 1;
}
