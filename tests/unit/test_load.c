/* SPDX-License-Identifier: MIT */
/* Requests that wait for a device with known service times, on the simulated clock: against theory
 * where arrivals are random, else against figures worked out by hand. */
#include "../workload_fixture.h"
#include "base/json.h"
#include "measure/load.h"
#include "vulkan/slot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIZES_MAX 4
#define MS INT64_C(1000000)
#define X95 2.05064
#define X99 3.33626

struct fixture {
    struct workload_fixture null;
    struct clock_simulated clock;
    struct assay_slot *slots[SIZES_MAX];
    void *selves[SIZES_MAX];
    struct serial serials[SIZES_MAX];
    struct serial *recordings[SIZES_MAX];
    unsigned sizes;
    void *params; /* of the largest */
    struct engine *engine;
    struct load *load;
    uint64_t seed; /* of arrivals */
    struct metric_set *set;
    json_t *metrics;
    struct assay_error error;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){0};
    assert_true(workload_open(&fixture.null, "null", &fixture.error));
    fixture.seed = 7;
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    engine_destroy(&f->engine);
    load_destroy(&f->load);
    for (unsigned i = 0; i < f->sizes; i++) {
        serial_finish(&f->serials[i]);
        f->null.workload->destroy(&f->selves[i]);
        slot_destroy(&f->slots[i]);
    }
    metric_set_destroy(&f->set);
    json_decref(f->metrics);
    workload_close(&f->null);
    return 0;
}

/* A recording for batches of this many requests; compute takes 1 ms, and `per_item` more for each.
 */
static void add_size(struct fixture *f, int64_t items, const char *per_item)
{
    char text[32];
    snprintf(text, sizeof(text), "%d", (int)items);
    const char *const settings[] = {"compute", "1 ms", "items", text, "per_item", per_item, NULL};
    void *params = workload_params(&f->null, settings, &f->error);
    struct slot_params slot = {.case_seed = 1, .index = f->sizes};
    f->params = params;
    unsigned i = f->sizes++;
    assert_non_null(params);
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

static void open_load(struct fixture *f, const struct schedule *schedule, const char *per_item)
{
    struct engine_layout layout;
    clock_simulated_init(&f->clock);
    for (unsigned i = 0; i < load_sizes(schedule->batch_max); i++)
        add_size(f, load_size(schedule->batch_max, i), per_item);
    engine_layout_make(f->recordings, f->sizes, f->params, &layout);
    struct engine_params params = {.clock = &f->clock.clock,
                                   .layout = &layout,
                                   .slots = f->recordings,
                                   .depth = 1,
                                   .variants = f->sizes};
    f->engine = engine_create(&params, &f->error);
    f->load = load_create(schedule, f->seed, layout.stages, &f->error);
    assert_non_null(f->engine);
    assert_non_null(f->load);
}

/* Between two windows the clock goes on, and nothing of it is seen. */
static void run_window(struct fixture *f, int64_t window_ns, bool counts)
{
    struct load_times times;
    struct engine_source source = load_begin(f->load, clock_now(&f->clock.clock), window_ns,
                                             counts ? 0 : 1000 * window_ns);
    if (!engine_run(f->engine, &source, NULL, &f->error))
        fail_msg("%s", f->error.text);
    assert_true(load_end(f->load, clock_now(&f->clock.clock), counts, &times, &f->error));
    f->clock.time_ns += 12345678901;
}

static void finish(struct fixture *f)
{
    struct text text = {0};
    f->set = metric_set_create();
    assert_true(load_metrics(f->load, 0.95, f->set, &f->error));
    metric_set_add_json(f->set, &text);
    f->metrics = json_read(text.data, text.length, "metrics", &f->error);
    assert_non_null(f->metrics);
    text_free(&text);
}

static void run(struct fixture *f, const struct schedule *schedule, const char *per_item,
                int64_t window_ns)
{
    open_load(f, schedule, per_item);
    run_window(f, window_ns, false);
    for (unsigned i = 0; i < 40; i++)
        run_window(f, window_ns, true);
    finish(f);
}

static struct metric metric_of(const struct fixture *f, const char *name)
{
    struct metric metric;
    metric_from_json(f->metrics, name, &metric);
    return metric;
}

/* Within the share of it. */
static void assert_near(const struct fixture *f, const char *name, double wanted, double share)
{
    struct metric metric = metric_of(f, name);
    if (metric.absent || !(fabs(metric.value - wanted) <= share * wanted + 1e-12))
        fail_msg("%s: %.9g (%s), wanted %.9g", name, metric.value,
                 metric.absent ? metric.absent : "", wanted);
    assert_true(metric.low <= metric.value && metric.value <= metric.high);
}

static struct schedule open_loop(double rate, enum schedule_arrivals arrivals)
{
    struct schedule schedule = schedule_default(SCHEDULE_OPEN_LOOP);
    schedule.rate = rate;
    schedule.arrivals = arrivals;
    return schedule;
}

static void sizes_are_powers_of_two_and_the_last(void **state)
{
    (void)state;
    assert_int_equal(load_sizes(1), 1);
    assert_int_equal(load_sizes(2), 2);
    assert_int_equal(load_sizes(6), 4);
    assert_int_equal(load_size(6, 2), 4);
    assert_int_equal(load_size(6, 3), 6);
    assert_int_equal(load_sizes(16), 5);
}

/* M/D/1: the mean wait is u S / (2 (1 - u)) at the utilisation u and the service time S (Pollaczek
 * and Khinchine). */
static void mean_waits_are_those_of_theory(void **state)
{
    struct fixture *f = *state;
    static const double utilisations[] = {0.5, 0.8};
    for (size_t i = 0; i < 2; i++) {
        double u = utilisations[i], wait = u * 1e-3 / (2 * (1 - u));
        struct schedule schedule = open_loop(1000 * u, SCHEDULE_ARRIVALS_POISSON);
        run(f, &schedule, "0", 25000 * MS);
        assert_null(load_overload(f->load));
        assert_near(f, "latency.waiting", wait, 0.05);
        assert_near(f, "latency.mean", wait + 1e-3, 0.05);
        assert_near(f, "latency.service", 1e-3, 0);
        assert_near(f, "utilisation", u, 0.02);
        assert_near(f, "throughput", 1000 * u, 0.02);
        assert_near(f, "goodput", 1000 * u, 0.02);
        /* The interval holds the truth, and says something. */
        struct metric metric = metric_of(f, "latency.waiting");
        assert_true(metric.low <= wait && wait <= metric.high);
        assert_true(metric.high - metric.low < 0.2 * wait);
        tear_down(state);
        set_up(state);
    }
}

/* P(wait <= x S) of M/D/1 is (1 - u) sum over k = 0 ... floor(x) of (u (k - x))^k / k! e^(u (x -
 * k)) (Erlang): at u = 0.5 half of all wait for nothing, and 0.95 is reached at x = X95, 0.99 at
 * X99. */
static void percentiles_are_those_of_theory(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = open_loop(500, SCHEDULE_ARRIVALS_POISSON);
    run(f, &schedule, "0", 25000 * MS);
    assert_near(f, "latency.p50", 1e-3, 0.01);
    assert_near(f, "latency.p95", 1e-3 * (1 + X95), 0.02);
    assert_near(f, "latency.p99", 1e-3 * (1 + X99), 0.03);
}

static void overload_has_no_finite_latency(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = open_loop(1200, SCHEDULE_ARRIVALS_POISSON);
    run(f, &schedule, "0", 100 * MS);
    struct metric p95 = metric_of(f, "latency.p95");
    assert_non_null(p95.absent);
    assert_memory_equal(p95.absent, "overload: ", 10);
    assert_non_null(strstr(p95.absent, " are served; "));
    assert_non_null(metric_of(f, "latency.mean").absent);
    assert_near(f, "throughput", 1000, 0.001);
    assert_near(f, "utilisation", 1, 0.001);
    assert_non_null(load_overload(f->load));
}

/* 4 % too much of a load that comes evenly: 40 of 1040 are left, and the queue is never empty. 2 %
 * less than what is served leaves none. */
static void a_little_too_much_is_overload(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = open_loop(1040, SCHEDULE_ARRIVALS_EVEN);
    run(f, &schedule, "0", 25 * MS);
    assert_non_null(load_overload(f->load));
    tear_down(state);
    set_up(state);
    schedule = open_loop(980, SCHEDULE_ARRIVALS_EVEN);
    run(f, &schedule, "0", 25 * MS);
    assert_null(load_overload(f->load));
    tear_down(state);
    set_up(state);
    /* at random over 400 s: 16,000 of 416,000 are left, 3 deviations are 1935 */
    schedule = open_loop(1040, SCHEDULE_ARRIVALS_POISSON);
    schedule.queue_max = 100000;
    run(f, &schedule, "0", 10000 * MS);
    assert_non_null(load_overload(f->load));
}

/* At random, 40 of 1040 are less than the queue swings in 1 s, but the device serves 1000 a second
 * whatever arrives: 4 % too much is told with every seed, and 5 % too little with none. */
static void what_can_be_served_tells_overload_early(void **state)
{
    struct fixture *f = *state;
    static const struct {
        double rate;
        bool overload;
    } rows[] = {{1040, true}, {950, false}};
    for (unsigned i = 0; i < 200; i++) {
        struct schedule schedule = open_loop(rows[i % 2].rate, SCHEDULE_ARRIVALS_POISSON);
        f->seed = i / 2 + 1;
        run(f, &schedule, "0", 25 * MS);
        const char *overload = load_overload(f->load);
        if (!overload == rows[i % 2].overload)
            fail_msg("%g, seed %u: %s", schedule.rate, i / 2 + 1, overload ? overload : "none");
        tear_down(state);
        set_up(state);
    }
}

/* Batches of 4 take 1 + 4 x 0.25 = 2 ms, so 2000 are served a second; half a per cent more comes
 * evenly, of which 10 are left after 1 s. Smaller batches, which serve fewer, say nothing. */
static void full_batches_tell_what_can_be_served(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = open_loop(2010, SCHEDULE_ARRIVALS_EVEN);
    schedule.batch_max = 4;
    run(f, &schedule, "250 us", 25 * MS);
    assert_memory_equal(load_overload(f->load),
                        "overload: 2010 requests arrive a second, 2000 can be served; ", 61);
    tear_down(state);
    set_up(state);
    schedule.rate = 1990;
    run(f, &schedule, "250 us", 25 * MS);
    assert_null(load_overload(f->load));
}

/* The queue of the begin is longer than a window; where it is in those that count, latencies have
 * no value, and what is good by them neither. */
static void first_results_say_nothing(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_CLOSED_LOOP);
    schedule.clients = 50;
    schedule.deadline_ns = 49 * MS;
    run(f, &schedule, "0", 10 * MS);
    assert_near(f, "latency.mean", 50e-3, 1e-9);
    assert_near(f, "goodput", 0, 0);
    tear_down(state);
    set_up(state);
    open_load(f, &schedule, "0");
    for (int i = 0; i < 10; i++)
        run_window(f, 10 * MS, true);
    finish(f);
    assert_near(f, "throughput", 1000, 1e-9);
    static const char *const none[] = {"latency.mean", "latency.p50", "latency.p95", "goodput"};
    for (int i = 0; i < 4; i++)
        assert_memory_equal(metric_of(f, none[i]).absent, "all 50 clients ask at once in the", 33);
    assert_false(load_is_overload(load_unsteady(f->load)));
    /* 50 at 1000 a second are 0.05 s, and a tenth more */
    assert_non_null(strstr(load_unsteady(f->load), "give a duration of 1 s at least, or fewer"));
}

static void a_full_queue_turns_away(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = open_loop(2000, SCHEDULE_ARRIVALS_EVEN);
    schedule.queue_max = 5;
    run(f, &schedule, "0", 100 * MS);
    const char *overload = load_overload(f->load);
    assert_non_null(overload);
    assert_non_null(strstr(overload, "were turned away"));
    const struct load_window *window = load_window_at(f->load, 10);
    assert_int_equal(window->arrived, 200);
    assert_int_equal(window->turned_away, 100);
    assert_int_equal(window->ended, 100);
}

/* Few enough that it is no overload: the slowest in a hundred may be among them all the same. */
static void those_turned_away_are_the_slowest(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = open_loop(600, SCHEDULE_ARRIVALS_POISSON);
    schedule.queue_max = 5;
    run(f, &schedule, "0", 100 * MS);
    uint64_t away = 0, arrived = 0;
    for (size_t i = 0; i < load_window_count(f->load); i++) {
        away += load_window_at(f->load, i)->turned_away;
        arrived += load_window_at(f->load, i)->arrived;
    }
    assert_null(load_overload(f->load));
    assert_true(away > 0 && away * 100 < arrived);
    assert_null(metric_of(f, "latency.p95").absent);
    struct metric p99 = metric_of(f, "latency.p99");
    assert_non_null(p99.absent);
    assert_string_equal(p99.absent,
                        "so many requests were turned away that it may be one of theirs");
}

/* One each 2 ms, each served in 1 ms. */
static void even_arrivals_do_not_wait(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = open_loop(500, SCHEDULE_ARRIVALS_EVEN);
    run(f, &schedule, "0", 100 * MS);
    assert_near(f, "latency.waiting", 0, 0);
    assert_near(f, "latency.mean", 1e-3, 0);
    assert_near(f, "latency.p99", 1e-3, 0.01);
    assert_near(f, "utilisation", 0.5, 0.01);
    assert_int_equal(load_window_count(f->load), 40);
}

/* One each ms, batches of four at 1.4 ms. A batch begins when its last one arrives. Of the next
 * four the first waits 0.4 ms until the device is free and 2.6 ms for the others, which wait 2, 1
 * and 0 ms. */
static void batches_wait_for_the_last_one(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = open_loop(1000, SCHEDULE_ARRIVALS_EVEN);
    schedule.batch_max = 4;
    schedule.wait_max_ns = 10 * MS;
    run(f, &schedule, "100 us", 100 * MS);
    assert_near(f, "latency.waiting", 0.1e-3, 1e-9);
    assert_near(f, "latency.batching", 1.4e-3, 1e-9);
    assert_near(f, "latency.service", 1.4e-3, 1e-9);
    assert_near(f, "latency.mean", 2.9e-3, 1e-9);
    assert_near(f, "throughput", 1000, 0.02);
    assert_near(f, "utilisation", 0.35, 0.02);
}

/* The same, but none waits for over 1 ms: batches of two, at 1.2 ms, the first after 1 ms. The
 * device is free when it arrives. */
static void none_waits_for_longer_than_it_may(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = open_loop(1000, SCHEDULE_ARRIVALS_EVEN);
    schedule.batch_max = 4;
    schedule.wait_max_ns = MS;
    run(f, &schedule, "100 us", 100 * MS);
    const struct load_window *window = load_window_at(f->load, 10);
    assert_true(window->ended == 2 * window->batches);
    /* The first of a batch arrives 0.2 ms before the one before it ends, and waits for it. */
    assert_near(f, "latency.waiting", 0.1e-3, 1e-9);
    assert_near(f, "latency.batching", 0.4e-3, 1e-9);
    assert_near(f, "latency.service", 1.2e-3, 1e-9);
}

/* Three clients, one batch of 1 ms at a time: each waits for the other two. */
static void clients_wait_for_each_other(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = schedule_default(SCHEDULE_CLOSED_LOOP);
    schedule.clients = 3;
    schedule.deadline_ns = 3 * MS;
    run(f, &schedule, "0", 100 * MS);
    assert_near(f, "latency.mean", 3e-3, 1e-9);
    assert_near(f, "latency.p95", 3e-3, 0); /* all are the same, however wide a bucket is */
    assert_true(metric_of(f, "latency.p95").high == 3e-3);
    assert_near(f, "latency.waiting", 2e-3, 1e-9);
    assert_near(f, "throughput", 1000, 1e-9);
    assert_near(f, "goodput", 1000, 1e-9);
    assert_near(f, "utilisation", 1, 1e-9);
    assert_null(load_overload(f->load));
    tear_down(state);
    set_up(state);
    schedule.deadline_ns = 3 * MS - 1;
    run(f, &schedule, "0", 100 * MS);
    assert_near(f, "goodput", 0, 0);
    assert_near(f, "throughput", 1000, 1e-9);
}

/* Batches at random: in each window the three parts are the whole, and none is under 0. */
static void the_parts_of_a_latency_are_the_whole(void **state)
{
    struct fixture *f = *state;
    struct schedule schedule = open_loop(1500, SCHEDULE_ARRIVALS_POISSON);
    schedule.batch_max = 8;
    schedule.wait_max_ns = 2 * MS;
    run(f, &schedule, "100 us", 200 * MS);
    assert_null(load_overload(f->load));
    double batching = 0;
    for (size_t i = 0; i < load_window_count(f->load); i++) {
        const struct load_window *window = load_window_at(f->load, i);
        double parts = window->waiting + window->batching + window->service;
        assert_true(window->waiting >= 0 && window->batching >= 0 && window->service > 0);
        assert_true(fabs(parts - window->latency) < 1e-9 * window->latency);
        batching += window->batching;
    }
    assert_true(batching > 0);
}

/* Little's law: as many are in the system as there are clients. */
static void clients_are_throughput_times_latency(void **state)
{
    struct fixture *f = *state;
    static const int64_t clients[] = {1, 2, 5, 16}, batches[] = {1, 4};
    for (size_t i = 0; i < 8; i++) {
        struct schedule schedule = schedule_default(SCHEDULE_CLOSED_LOOP);
        schedule.clients = clients[i / 2];
        schedule.batch_max = batches[i % 2];
        run(f, &schedule, "300 us", 200 * MS);
        double in_system = metric_of(f, "throughput").value * metric_of(f, "latency.mean").value;
        if (!(fabs(in_system / (double)schedule.clients - 1) < 0.01))
            fail_msg("%d clients: %g in the system", (int)schedule.clients, in_system);
        tear_down(state);
        set_up(state);
    }
}

/* What an engine does, by hand: one request at a time, 1 ms each, and number `slow` 51 ms. */
static void serve_by_hand(struct fixture *f, struct engine_source source, uint64_t slow)
{
    struct engine_issue issue = {0};
    int64_t now_ns = 0;
    for (uint64_t batch = 0;;) {
        enum engine_answer answer = source.next(source.user, batch, now_ns, &issue);
        if (answer == ENGINE_END)
            break;
        if (answer == ENGINE_LATER) {
            now_ns = issue.when_ns;
            continue;
        }
        struct event event = {.batch = batch, .begin_ns = now_ns};
        now_ns += batch++ == slow ? 51 * MS : MS;
        event.end_ns = now_ns;
        assert_true(source.ended(source.user, &event, &f->error));
    }
}

/* One each 2 ms for a second. The one that takes 51 ms delays those that were meant to arrive
 * meanwhile: the next has 50 ms, the one after it 49, ... One latency in ten is over 1 ms, the 99th
 * percentile is the fifth largest, the 95th the 25th. A client that waits for its result before it
 * asks again would see one slow request in 500, and both at 1 ms. */
static void a_pause_counts_for_all_that_were_meant_to_arrive(void **state)
{
    struct fixture *f = *state;
    struct load_times times;
    struct schedule schedule = open_loop(500, SCHEDULE_ARRIVALS_EVEN);
    f->load = load_create(&schedule, 7, 1, &f->error);
    assert_non_null(f->load);
    serve_by_hand(f, load_begin(f->load, 0, 1000 * MS, 0), 100);
    assert_true(load_end(f->load, 1000 * MS, true, &times, &f->error));
    assert_int_equal(load_window_at(f->load, 0)->ended, 499);
    finish(f);
    assert_near(f, "latency.p50", 1e-3, 0.005);
    assert_near(f, "latency.p95", 27e-3, 0.005);
    assert_near(f, "latency.p99", 47e-3, 0.005);
    /* 449 of 1 ms, and 51 + 50 + ... + 2 */
    assert_near(f, "latency.mean", (449 + 53 * 25) / 499.0 * 1e-3, 1e-9);
    assert_near(f, "latency.waiting", ((449 + 53 * 25) - (498 + 51)) / 499.0 * 1e-3, 1e-9);
}

#define LOAD_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_powers_of_two_and_the_last),
        LOAD_TEST(mean_waits_are_those_of_theory),
        LOAD_TEST(percentiles_are_those_of_theory),
        LOAD_TEST(overload_has_no_finite_latency),
        LOAD_TEST(a_little_too_much_is_overload),
        LOAD_TEST(what_can_be_served_tells_overload_early),
        LOAD_TEST(full_batches_tell_what_can_be_served),
        LOAD_TEST(first_results_say_nothing),
        LOAD_TEST(a_full_queue_turns_away),
        LOAD_TEST(those_turned_away_are_the_slowest),
        LOAD_TEST(even_arrivals_do_not_wait),
        LOAD_TEST(batches_wait_for_the_last_one),
        LOAD_TEST(none_waits_for_longer_than_it_may),
        LOAD_TEST(clients_wait_for_each_other),
        LOAD_TEST(the_parts_of_a_latency_are_the_whole),
        LOAD_TEST(clients_are_throughput_times_latency),
        LOAD_TEST(a_pause_counts_for_all_that_were_meant_to_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
