/* SPDX-License-Identifier: MIT */
/* Who serves which stage when. */
#include "measure/engine_inside.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void engine_fail(struct engine *engine, const struct assay_error *cause)
{
    if (!engine->failed)
        engine->cause = *cause;
    engine->failed = true;
}

static void issue(struct engine *engine, unsigned slot, unsigned variant, int64_t now_ns)
{
    engine->ring[slot] = (struct engine_batch){
        .live = true,
        .number = engine->next++,
        .serial = engine->slots[variant * engine->depth + slot],
        .ended_ns = now_ns,
    };
    engine->live++;
}

void engine_ask(struct engine *engine, int64_t now_ns)
{
    engine->later_ns = INT64_MAX;
    while (!engine->failed && !engine->over) {
        unsigned slot = (unsigned)(engine->next % engine->depth);
        if (engine->ring[slot].live)
            return;
        struct engine_issue wanted = {.when_ns = INT64_MAX};
        switch (engine->source->next(engine->source->user, engine->next, now_ns, &wanted)) {
        case ENGINE_ISSUE:
            issue(engine, slot, wanted.variant, now_ns);
            break;
        case ENGINE_LATER:
            engine->later_ns = wanted.when_ns;
            return;
        case ENGINE_END:
            engine->over = true;
            break;
        }
    }
}

/* Whether the device itself can wait for the stage before this one. */
static bool can_wait_ahead(const struct engine *engine, const struct engine_batch *batch,
                           unsigned stage)
{
    const struct engine_group *group = &engine->layout.group[engine->layout.group_of[stage]];
    const struct engine_group *before = &engine->layout.group[engine->layout.group_of[stage - 1]];
    return batch->submitted >= stage && engine->perturb.held_stage != stage + 1 &&
           group->place == ENGINE_QUEUE && before->place == ENGINE_QUEUE &&
           group->member == before->member && group->run;
}

static bool is_ready(const struct engine *engine, const struct engine_batch *batch, unsigned stage)
{
    if (batch->ended == stage || can_wait_ahead(engine, batch, stage))
        return true;
    return engine->perturb.defect_stage == stage + 1;
}

bool engine_pick(const struct engine *engine, unsigned group, unsigned *slot)
{
    const struct engine_batch *oldest = NULL;
    for (unsigned i = 0; !engine->failed && i < engine->depth; i++) {
        const struct engine_batch *batch = &engine->ring[i];
        if (!batch->live || batch->taken == engine->layout.stages ||
            engine->layout.group_of[batch->taken] != group ||
            !is_ready(engine, batch, batch->taken))
            continue;
        if (!oldest || batch->number < oldest->number) {
            oldest = batch;
            *slot = i;
        }
    }
    return oldest;
}

unsigned engine_take(struct engine *engine, unsigned slot)
{
    return engine->ring[slot].taken++;
}

void engine_ended(struct engine *engine, const struct event *event)
{
    struct engine_batch *batch = &engine->ring[event->slot];
    struct assay_error error = {0};
    batch->ended++;
    batch->ended_ns = event->end_ns;
    if (!engine->failed && !engine->source->ended(engine->source->user, event, &error))
        engine_fail(engine, &error);
    if (batch->ended < engine->layout.stages)
        return;
    batch->live = false;
    engine->live--;
    engine_ask(engine, event->end_ns);
}

int64_t engine_delay_ns(const struct engine *engine, uint64_t batch, unsigned stage)
{
    const struct engine_perturb *perturb = &engine->perturb;
    if (perturb->late_ns <= 0)
        return 0;
    uint64_t stream = random_child(perturb->seed, batch);
    double share = (double)(random_at(stream, stage) >> 11) * 0x1p-53;
    double late = (double)perturb->late_ns;
    return (int64_t)(stage == perturb->late_stage ? late * (0.5 + share / 2) : late * share / 8);
}

int64_t engine_hold_ns(const struct engine *engine, unsigned stage)
{
    return engine->perturb.held_stage == stage + 1 ? engine->perturb.held_ns : 0;
}

struct engine *engine_create(const struct engine_params *params, struct assay_error *error)
{
    struct engine *engine = calloc(1, sizeof(*engine));
    size_t count = (size_t)params->depth * params->variants;
    if (!engine || count > SIZE_MAX / sizeof(*engine->ring))
        goto fail;
    engine->layout = *params->layout;
    engine->device = params->device;
    engine->clock = params->clock;
    engine->depth = params->depth;
    engine->variants = params->variants;
    engine->stamps = params->stamps;
    engine->slots = malloc(count * sizeof(*engine->slots));
    engine->ring = calloc(params->depth, sizeof(*engine->ring));
    if (!engine->slots || !engine->ring)
        goto fail;
    memcpy(engine->slots, params->slots, count * sizeof(*engine->slots));
    if (params->clock->simulated)
        return engine;
    if (engine_threads_create(engine, error))
        return engine;
    engine_destroy(&engine);
    return NULL;
fail:
    assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu slots", count);
    engine_destroy(&engine);
    return NULL;
}

void engine_destroy(struct engine **engine)
{
    if (!*engine)
        return;
    engine_threads_destroy(&(*engine)->threads);
    free((*engine)->slots);
    free((*engine)->ring);
    free(*engine);
    *engine = NULL;
}

void engine_begin(struct engine *engine, const struct engine_source *source,
                  const struct engine_perturb *perturb)
{
    engine->source = source;
    engine->perturb = perturb ? *perturb : (struct engine_perturb){0};
    memset(engine->ring, 0, engine->depth * sizeof(*engine->ring));
    engine->next = 0;
    engine->live = 0;
    engine->over = engine->failed = false;
    engine->cause = (struct assay_error){0};
}

bool engine_run(struct engine *engine, const struct engine_source *source,
                const struct engine_perturb *perturb, struct assay_error *error)
{
    if (engine->threads) {
        engine_threads_run(engine, source, perturb);
    } else {
        engine_begin(engine, source, perturb);
        engine_simulate(engine);
    }
    if (engine->failed && error)
        *error = engine->cause;
    return !engine->failed;
}
