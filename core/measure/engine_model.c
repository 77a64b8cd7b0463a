/* SPDX-License-Identifier: MIT */
/* The exact simulation: time jumps from event to event. */
#include "measure/engine_inside.h"

#include "experiment/registry.h"

/* A stage that runs. */
struct running {
    bool busy;
    struct event event;
};

static bool begin(struct engine *engine, unsigned group, unsigned slot, struct running *running)
{
    unsigned index = engine_take(engine, slot);
    const struct engine_batch *batch = &engine->ring[slot];
    const struct assay_stage *stage = batch->serial->stages[index].stage;
    int64_t now_ns = clock_now(engine->clock);
    int64_t delay_ns = engine_delay_ns(engine, batch->number, index);
    int64_t held_ns = engine_hold_ns(engine, index);
    int64_t duration_ns;
    struct assay_error error = {0};
    if (!serial_model_duration(stage, batch->serial->self, now_ns + delay_ns, &duration_ns,
                               &error)) {
        engine_fail(engine, &error);
        return false;
    }
    *running = (struct running){.busy = true,
                                .event = {.batch = batch->number,
                                          .slot = slot,
                                          .stage = index,
                                          .group = group,
                                          .begin_ns = now_ns + delay_ns,
                                          .end_ns = now_ns + delay_ns + duration_ns + held_ns,
                                          .held_ns = held_ns,
                                          .cpu_ns = -1}};
    return true;
}

static void begin_all(struct engine *engine, struct running *running)
{
    unsigned slot;
    for (unsigned group = 0; group < engine->layout.groups; group++)
        if (!running[group].busy && engine_pick(engine, group, &slot) &&
            !begin(engine, group, slot, &running[group]))
            return;
}

/* The one that ends first, of several the one of the oldest batch; NULL: none runs. */
static struct running *first_end(const struct engine *engine, struct running *running)
{
    struct running *first = NULL;
    for (unsigned group = 0; group < engine->layout.groups; group++) {
        struct running *one = &running[group];
        if (!one->busy)
            continue;
        if (!first || one->event.end_ns < first->event.end_ns ||
            (one->event.end_ns == first->event.end_ns && one->event.batch < first->event.batch))
            first = one;
    }
    return first;
}

void engine_simulate(struct engine *engine)
{
    struct running running[MEASURE_STAGES_MAX] = {0};
    engine_ask(engine, clock_now(engine->clock));
    while (!engine->failed) {
        begin_all(engine, running);
        struct running *first = first_end(engine, running);
        bool waits = !engine->over && engine->later_ns != INT64_MAX;
        if (engine->failed || (!first && !waits))
            break;
        if (!first || (waits && engine->later_ns < first->event.end_ns)) {
            engine->clock->sleep_until_ns(engine->clock, engine->later_ns);
            engine_ask(engine, clock_now(engine->clock));
            continue;
        }
        /* All that ends now ends before anything begins. */
        int64_t now_ns = first->event.end_ns;
        engine->clock->sleep_until_ns(engine->clock, now_ns);
        while (first && first->event.end_ns == now_ns) {
            first->busy = false;
            engine_ended(engine, &first->event);
            first = first_end(engine, running);
        }
    }
    if (!engine->failed && (engine->live > 0 || !engine->over)) {
        struct assay_error error = {0};
        assay_fail(&error, ASSAY_INTERNAL, "a schedule waits for what never comes");
        engine_fail(engine, &error);
    }
}
