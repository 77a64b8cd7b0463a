/* SPDX-License-Identifier: MIT */
/* The engine on the simulated clock: what it does in which order, by its events. */
#include "../workload_fixture.h"
#include "measure/engine.h"
#include "vulkan/slot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DEPTH_MAX 8

struct fixture {
    struct workload_fixture null;
    struct clock_simulated clock;
    struct assay_slot *slots[DEPTH_MAX];
    void *selves[DEPTH_MAX];
    struct serial serials[DEPTH_MAX];
    struct serial *recordings[DEPTH_MAX];
    unsigned depth;
    struct engine_layout layout;
    struct engine *engine;
    struct events events;
    uint64_t batches;           /* to issue */
    int64_t every_ns, asked_ns; /* 0: as soon as there is a slot */
    uint64_t fails_at;          /* the batch at whose end the source fails, from 1 */
    struct assay_error error;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){0};
    assert_true(workload_open(&fixture.null, "null", &fixture.error));
    *state = &fixture;
    return 0;
}

static void close_engine(struct fixture *f)
{
    engine_destroy(&f->engine);
    for (unsigned i = 0; i < f->depth; i++) {
        serial_finish(&f->serials[i]);
        f->null.workload->destroy(&f->selves[i]);
        slot_destroy(&f->slots[i]);
    }
    f->depth = 0;
    events_clear(&f->events);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    close_engine(f);
    events_free(&f->events);
    workload_close(&f->null);
    return 0;
}

static void open_engine(struct fixture *f, unsigned depth, const char *const *settings)
{
    void *params = workload_params(&f->null, settings, &f->error);
    assert_non_null(params);
    clock_simulated_init(&f->clock);
    for (f->depth = 0; f->depth < depth; f->depth++) {
        unsigned i = f->depth;
        struct slot_params slot = {.case_seed = 1, .index = i};
        f->slots[i] = slot_create(&slot, &f->error);
        f->selves[i] = f->null.workload->create(f->slots[i], params, &f->error);
        struct serial_params serial = {.workload = f->null.workload,
                                       .params = params,
                                       .slot = f->slots[i],
                                       .self = f->selves[i],
                                       .clock = &f->clock.clock};
        f->recordings[i] = &f->serials[i];
        assert_true(serial_prepare(&f->serials[i], &serial, &f->error));
    }
    engine_layout_make(f->recordings, depth, params, &f->layout);
    struct engine_params engine = {.clock = &f->clock.clock,
                                   .layout = &f->layout,
                                   .slots = f->recordings,
                                   .depth = depth,
                                   .variants = 1};
    f->engine = engine_create(&engine, &f->error);
    assert_non_null(f->engine);
}

static enum engine_answer next(void *user, uint64_t batch, int64_t now_ns,
                               struct engine_issue *issue)
{
    struct fixture *f = user;
    if (batch == f->batches)
        return ENGINE_END;
    issue->when_ns = f->every_ns * (int64_t)batch;
    return now_ns >= issue->when_ns ? ENGINE_ISSUE : ENGINE_LATER;
}

static bool ended(void *user, const struct event *event, struct assay_error *error)
{
    struct fixture *f = user;
    if (f->fails_at == event->batch + 1)
        return assay_fail(error, ASSAY_INTERNAL, "batch %d", (int)event->batch);
    return events_add(&f->events, event, error);
}

static bool run(struct fixture *f, uint64_t batches, const struct engine_perturb *perturb)
{
    struct engine_source source = {.user = f, .next = next, .ended = ended};
    f->batches = batches;
    f->error = (struct assay_error){0};
    events_clear(&f->events);
    return engine_run(f->engine, &source, perturb, &f->error);
}

static void assert_event(const struct fixture *f, uint64_t batch, unsigned stage, int64_t begin_ns,
                         int64_t end_ns)
{
    for (size_t i = 0; i < f->events.count; i++) {
        const struct event *event = &f->events.list[i];
        if (event->batch != batch || event->stage != stage)
            continue;
        assert_int_equal(event->begin_ns, begin_ns);
        assert_int_equal(event->end_ns, end_ns);
        assert_int_equal(event->slot, batch % f->depth);
        assert_int_equal(event->group, f->layout.group_of[stage]);
        return;
    }
    fail_msg("no event of batch %d, stage %u", (int)batch, stage);
}

/* 100, 20 and 10 ms with two slots: the uploads follow each other without a gap. */
static void distinct_groups_overlap(void **state)
{
    struct fixture *f = *state;
    open_engine(
        f, 2,
        (const char *const[]){"upload", "100 ns", "compute", "20 ns", "download", "10 ns", NULL});
    assert_int_equal(f->layout.groups, 3);
    assert_true(run(f, 3, NULL));
    assert_int_equal(f->events.count, 9);
    assert_event(f, 0, 0, 0, 100);
    assert_event(f, 1, 0, 100, 200);
    assert_event(f, 2, 0, 200, 300);
    assert_event(f, 0, 1, 100, 120);
    assert_event(f, 0, 2, 120, 130);
    assert_event(f, 1, 2, 220, 230);
    assert_event(f, 2, 2, 320, 330);
}

/* The download of batch 0 is ready at 120, while batch 1 is uploaded on the same queue until 200;
 * then batch 0 is the oldest that is ready, and batch 2 has to wait for its slot as well. */
static void shared_group_serves_the_oldest(void **state)
{
    struct fixture *f = *state;
    open_engine(f, 2,
                (const char *const[]){"upload", "100 ns", "compute", "20 ns", "download", "10 ns",
                                      "groups", "aba", NULL});
    assert_int_equal(f->layout.groups, 2);
    assert_int_equal(f->layout.group_of[2], f->layout.group_of[0]);
    assert_false(f->layout.group[0].run);
    assert_true(f->layout.group[1].run);
    assert_true(run(f, 3, NULL));
    assert_event(f, 1, 0, 100, 200);
    assert_event(f, 0, 2, 200, 210);
    assert_event(f, 2, 0, 210, 310);
    assert_event(f, 1, 1, 200, 220);
    assert_event(f, 1, 2, 310, 320);
}

static void one_slot_is_serial(void **state)
{
    struct fixture *f = *state;
    open_engine(f, 1, (const char *const[]){"upload", "100 ns", "compute", "20 ns", NULL});
    assert_true(run(f, 2, NULL));
    assert_event(f, 0, 1, 100, 120);
    assert_event(f, 1, 0, 120, 220);
}

static void batches_begin_when_the_source_says(void **state)
{
    struct fixture *f = *state;
    open_engine(f, 2, (const char *const[]){"compute", "20 ns", NULL});
    f->every_ns = 50;
    assert_true(run(f, 3, NULL));
    assert_event(f, 0, 0, 0, 20);
    assert_event(f, 1, 0, 50, 70);
    assert_event(f, 2, 0, 100, 120);
}

static void failure_ends_the_run_and_the_next_begins_anew(void **state)
{
    struct fixture *f = *state;
    open_engine(f, 3, (const char *const[]){"upload", "100 ns", "compute", "20 ns", NULL});
    f->fails_at = 2;
    assert_false(run(f, 9, NULL));
    assert_string_equal(f->error.text, "batch 1");
    f->fails_at = 0;
    assert_true(run(f, 1, NULL));
    assert_int_equal(f->events.count, 2);
    assert_int_equal(f->events.list[0].batch, 0);
}

/* Delays come between stages, the same for a seed, and the late stage is the latest. */
static void perturbed_stages_begin_late(void **state)
{
    struct fixture *f = *state;
    struct engine_perturb perturb = {.seed = 7, .late_stage = 1, .late_ns = 8000};
    open_engine(f, 2, (const char *const[]){"upload", "100 ns", "compute", "20 ns", NULL});
    assert_true(run(f, 1, &perturb));
    const struct event *upload = &f->events.list[0], *compute = &f->events.list[1];
    int64_t late_ns = compute->begin_ns - upload->end_ns;
    assert_in_range(upload->begin_ns, 0, 1000);
    assert_in_range(late_ns, 4000, 8000);
    close_engine(f);
    open_engine(f, 2, (const char *const[]){"upload", "100 ns", "compute", "20 ns", NULL});
    assert_true(run(f, 1, &perturb));
    assert_int_equal(f->events.list[1].begin_ns - f->events.list[0].end_ns, late_ns);
    close_engine(f);
    open_engine(f, 2, (const char *const[]){"upload", "100 ns", "compute", "20 ns", NULL});
    perturb.seed = 8;
    assert_true(run(f, 1, &perturb));
    assert_int_not_equal(f->events.list[1].begin_ns - f->events.list[0].end_ns, late_ns);
}

/* The stage that is told not to wait begins with the one before it. */
static void defect_does_not_wait(void **state)
{
    struct fixture *f = *state;
    struct engine_perturb perturb = {.defect_stage = 2};
    open_engine(f, 1, (const char *const[]){"upload", "100 ns", "compute", "20 ns", NULL});
    assert_true(run(f, 1, &perturb));
    assert_event(f, 0, 1, 0, 20);
}

static void use_of_a_window(void **state)
{
    struct fixture *f = *state;
    int64_t stage_ns[3], group_ns[2], cpu_ns[3];
    struct event_use use = {.begin_ns = 100,
                            .end_ns = 300,
                            .stage_ns = stage_ns,
                            .group_ns = group_ns,
                            .stage_cpu_ns = cpu_ns};
    open_engine(f, 2,
                (const char *const[]){"upload", "100 ns", "compute", "20 ns", "download", "10 ns",
                                      "groups", "aba", NULL});
    assert_true(run(f, 3, NULL));
    events_use(&f->events, 3, 2, &use);
    assert_int_equal(stage_ns[0], 190);
    assert_int_equal(stage_ns[1], 40);
    assert_int_equal(stage_ns[2], 10);
    assert_int_equal(group_ns[0], 200);
    assert_int_equal(group_ns[1], 40);
    assert_int_equal(cpu_ns[0], -1);
    struct event_batch batches[2];
    events_batches(&f->events, 1, 2, batches);
    assert_int_equal(batches[0].begin_ns, 100);
    assert_int_equal(batches[0].end_ns, 320);
    assert_int_equal(batches[1].begin_ns, 210);
}

/* Two stages of a model whose names differ past what a group's name holds, and one named as a
 * thread of the host. */
static void groups_have_names_of_their_own(void **state)
{
    struct fixture *f = *state;
    static const struct assay_stage stages[] = {
        {.kind = ASSAY_STAGE_MODEL, .name = "a_stage_with_a_name_of_fifty_characters_in_all_one"},
        {.kind = ASSAY_STAGE_MODEL, .name = "a_stage_with_a_name_of_fifty_characters_in_all_two"},
        {.kind = ASSAY_STAGE_HOST, .name = "prepare"},
        {.kind = ASSAY_STAGE_MODEL, .name = "host"},
    };
    struct serial *serial = &f->serials[0];
    *serial = (struct serial){.count = 4};
    for (unsigned i = 0; i < 4; i++)
        serial->stages[i].stage = &stages[i];
    engine_layout_make(&serial, 1, NULL, &f->layout);
    assert_int_equal(f->layout.groups, 4);
    assert_string_equal(f->layout.group[0].name, "a_stage_with_a_name_of_fifty_characters_");
    assert_string_equal(f->layout.group[1].name, "a_stage_with_a_name_of_f (stage 2)");
    assert_string_equal(f->layout.group[2].name, "host");
    assert_string_equal(f->layout.group[3].name, "host (stage 4)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(distinct_groups_overlap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shared_group_serves_the_oldest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_slot_is_serial, set_up, tear_down),
        cmocka_unit_test_setup_teardown(batches_begin_when_the_source_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failure_ends_the_run_and_the_next_begins_anew, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(perturbed_stages_begin_late, set_up, tear_down),
        cmocka_unit_test_setup_teardown(defect_does_not_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(use_of_a_window, set_up, tear_down),
        cmocka_unit_test_setup_teardown(groups_have_names_of_their_own, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
