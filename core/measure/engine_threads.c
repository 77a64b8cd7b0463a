/* SPDX-License-Identifier: MIT */
/* The real thing: each group has a thread that begins its stages. What can be submitted without the
 * host inside is submitted ahead of what it waits for, and a second thread of the group waits for
 * the ends. (Drivers that execute inside the submit call, as software ones do, overlap all the
 * same: each queue's submits come from a thread of its own.) One lock guards the engine; no thread
 * holds it while work runs. */
#include "measure/engine_inside.h"

#include "experiment/registry.h"
#include "vulkan/timeline.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* A stage that was submitted and whose end is waited for. */
struct flight {
    unsigned slot, stage;
    uint64_t batch, value;
    int64_t begin_ns, cpu_ns, held_ns;
    struct event_stamps stamps;
};

struct worker {
    struct engine *engine;
    unsigned group;
    pthread_t runner, waiter;
    bool has_runner, has_waiter, has_work, has_landed;
    pthread_cond_t work;       /* for the runner: a stage may be ready */
    pthread_cond_t landed;     /* for the waiter: something flies, or a stage before it has ended */
    struct timeline *timeline; /* of a queue whose group is not driven */
    uint64_t value;            /* the last one submitted */
    struct flight *flights;    /* a ring of depth x stages: what flies, in order */
    size_t first, count, room;
    int64_t last_end_ns;
};

struct engine_threads {
    pthread_mutex_t lock;
    pthread_cond_t idle; /* for engine_threads_run */
    bool has_lock, has_idle, stop;
    unsigned busy; /* stages that were taken and are not over */
    unsigned count;
    struct worker workers[MEASURE_STAGES_MAX];
};

static struct worker *worker_of(struct engine *engine, unsigned stage)
{
    return &engine->threads->workers[engine->layout.group_of[stage]];
}

/* Whoever may have something to do after stage `stage` was submitted or is over. */
static void wake_after(struct engine *engine, unsigned stage)
{
    if (stage + 1 < engine->layout.stages) {
        struct worker *next = worker_of(engine, stage + 1);
        pthread_cond_signal(&next->work);
        if (next->has_waiter)
            pthread_cond_signal(&next->landed);
    }
}

static void wake_all(struct engine *engine)
{
    struct engine_threads *threads = engine->threads;
    for (unsigned i = 0; i < threads->count; i++) {
        pthread_cond_broadcast(&threads->workers[i].work);
        if (threads->workers[i].has_waiter)
            pthread_cond_broadcast(&threads->workers[i].landed);
    }
    pthread_cond_broadcast(&threads->idle);
}

static void fail(struct engine *engine, const struct assay_error *cause)
{
    engine_fail(engine, cause);
    wake_all(engine);
}

/* A stage is over: for the batch, for its group and for who waits for either. */
static void over(struct worker *worker, const struct flight *flight, int64_t end_ns)
{
    struct engine *engine = worker->engine;
    const struct engine_batch *batch = &engine->ring[flight->slot];
    int64_t begin_ns = flight->begin_ns;
    begin_ns = worker->last_end_ns > begin_ns ? worker->last_end_ns : begin_ns;
    if (flight->stage > 0 && batch->ended_ns > begin_ns && engine->perturb.defect_stage == 0)
        begin_ns = batch->ended_ns;
    end_ns = end_ns > begin_ns ? end_ns : begin_ns;
    struct event event = {.batch = flight->batch,
                          .slot = flight->slot,
                          .stage = flight->stage,
                          .group = worker->group,
                          .begin_ns = begin_ns,
                          .end_ns = end_ns,
                          .cpu_ns = flight->cpu_ns,
                          .held_ns = flight->held_ns,
                          .stamps = flight->stamps};
    worker->last_end_ns = end_ns;
    engine->threads->busy--;
    uint64_t issued = engine->next;
    int64_t later_ns = engine->later_ns;
    engine_ended(engine, &event);
    wake_after(engine, flight->stage);
    pthread_cond_signal(&worker->work);
    if (engine->next != issued)
        pthread_cond_signal(&worker_of(engine, 0)->work);
    if (engine->failed)
        wake_all(engine);
    else if ((engine->over && engine->live == 0) || engine->later_ns != later_ns)
        pthread_cond_signal(&engine->threads->idle);
}

static void failed(struct worker *worker, const struct assay_error *cause)
{
    worker->engine->threads->busy--;
    fail(worker->engine, cause);
}

/* Without the lock. */
static void delay(struct engine *engine, const struct flight *flight)
{
    int64_t delay_ns = engine_delay_ns(engine, flight->batch, flight->stage);
    if (delay_ns > 0)
        engine->clock->sleep_until_ns(engine->clock, clock_now(engine->clock) + delay_ns);
}

/* Without the lock, when the stage's work is over. Returns the time then. */
static int64_t hold(struct engine *engine, struct flight *flight)
{
    int64_t begin_ns = clock_now(engine->clock);
    int64_t wanted_ns = engine_hold_ns(engine, flight->stage);
    if (wanted_ns <= 0)
        return begin_ns;
    engine->clock->sleep_until_ns(engine->clock, begin_ns + wanted_ns);
    int64_t end_ns = clock_now(engine->clock);
    flight->held_ns = end_ns - begin_ns;
    return end_ns;
}

/* Without the lock, and before the recording is submitted again. */
static bool take_stamps(const struct engine *engine, const struct serial *serial,
                        struct flight *flight, struct assay_error *error)
{
    return !engine->stamps || serial_stage_stamps(serial, flight->stage, &flight->stamps, error);
}

/* Runs the stage from its begin to its end on this thread. */
static void run_here(struct worker *worker, struct serial *serial, struct flight *flight)
{
    struct engine *engine = worker->engine;
    struct assay_error error = {0};
    pthread_mutex_unlock(&engine->threads->lock);
    delay(engine, flight);
    int64_t cpu_ns = clock_thread_cpu_ns();
    flight->begin_ns = clock_now(engine->clock);
    bool good = serial_stage_run_alone(serial, flight->stage, &error);
    flight->cpu_ns = clock_thread_cpu_ns() - cpu_ns;
    int64_t end_ns = hold(engine, flight);
    good = good && take_stamps(engine, serial, flight, &error);
    pthread_mutex_lock(&engine->threads->lock);
    if (good)
        over(worker, flight, end_ns);
    else
        failed(worker, &error);
}

/* What the queue has to wait for: the stage before, where that was submitted to another queue of
 * the same device. (Its own queue runs in order, and what the host saw end has ended; for what was
 * written to be visible across queues the semaphore is waited for in either case.) */
static bool find_wait(const struct worker *worker, unsigned slot, unsigned stage,
                      struct command_wait *wait)
{
    struct engine *engine = worker->engine;
    const struct engine_batch *batch = &engine->ring[slot];
    if (stage == 0 || engine->perturb.defect_stage == stage + 1)
        return false;
    const struct worker *before = worker_of(engine, stage - 1);
    const struct engine_layout *layout = &engine->layout;
    if (before == worker || !before->timeline ||
        layout->group[before->group].member != layout->group[worker->group].member)
        return false;
    *wait = (struct command_wait){before->timeline, batch->value[stage - 1]};
    return true;
}

/* With the lock, which it gives up while it submits. */
static void submit(struct worker *worker, struct serial *serial, struct flight *flight)
{
    struct engine *engine = worker->engine;
    struct engine_batch *batch = &engine->ring[flight->slot];
    struct assay_error error = {0};
    struct command_wait wait;
    bool waits = find_wait(worker, flight->slot, flight->stage, &wait);
    bool ended = false;
    flight->value = ++worker->value;
    pthread_mutex_unlock(&engine->threads->lock);
    delay(engine, flight);
    int64_t cpu_ns = clock_thread_cpu_ns();
    flight->begin_ns = clock_now(engine->clock);
    bool good = command_submit(serial->stages[flight->stage].command, waits ? &wait : NULL,
                               worker->timeline, flight->value, &error);
    bool submitted = good;
    good = good && timeline_reached(worker->timeline, flight->value, &ended, &error);
    flight->cpu_ns = clock_thread_cpu_ns() - cpu_ns;
    if (good && engine->perturb.held_stage == flight->stage + 1) {
        const char *what = serial->stages[flight->stage].stage->name;
        good = timeline_wait(worker->timeline, flight->value, what, &error);
        ended = good;
    }
    int64_t now_ns = hold(engine, flight);
    good = good && (!ended || (command_settle(serial->stages[flight->stage].command, &error) &&
                               take_stamps(engine, serial, flight, &error)));
    pthread_mutex_lock(&engine->threads->lock);
    if (!submitted) {
        worker->value--;
        failed(worker, &error);
        return;
    }
    if (!good)
        fail(engine, &error); /* and the waiter sees the end */
    batch->value[flight->stage] = flight->value;
    batch->submitted = flight->stage + 1;
    bool in_turn = worker->count == 0 && batch->ended == flight->stage;
    if (ended && good && in_turn) {
        over(worker, flight, now_ns);
        return;
    }
    worker->flights[(worker->first + worker->count++) % worker->room] = *flight;
    pthread_cond_signal(&worker->landed);
    wake_after(engine, flight->stage);
}

/* One that is handed to the queue before the one in front of it has ended could be in the way of
 * an older batch. */
static bool may_begin(const struct worker *worker)
{
    const struct engine *engine = worker->engine;
    unsigned held = engine->perturb.held_stage;
    bool holds = held > 0 && engine->layout.group_of[held - 1] == worker->group;
    return worker->count == 0 || (engine->layout.group[worker->group].run && !holds);
}

static void *run_worker(void *user)
{
    struct worker *worker = user;
    struct engine *engine = worker->engine;
    struct engine_threads *threads = engine->threads;
    pthread_mutex_lock(&threads->lock);
    while (!threads->stop) {
        unsigned slot;
        if (!may_begin(worker) || !engine_pick(engine, worker->group, &slot)) {
            pthread_cond_wait(&worker->work, &threads->lock);
            continue;
        }
        struct flight flight = {.slot = slot, .batch = engine->ring[slot].number};
        struct serial *serial = engine->ring[slot].serial;
        flight.stage = engine_take(engine, slot);
        threads->busy++;
        if (engine->perturb.defect_stage == flight.stage + 2)
            wake_after(engine, flight.stage);
        if (worker->timeline)
            submit(worker, serial, &flight);
        else
            run_here(worker, serial, &flight);
    }
    pthread_mutex_unlock(&threads->lock);
    return NULL;
}

/* Ends come in the order of the submissions, and within a batch in that of its stages. */
static void land(struct worker *worker)
{
    struct engine *engine = worker->engine;
    struct flight flight = worker->flights[worker->first];
    struct serial *serial = engine->ring[flight.slot].serial;
    struct assay_error error = {0};
    pthread_mutex_unlock(&engine->threads->lock);
    struct assay_command *command = serial->stages[flight.stage].command;
    bool good = timeline_wait(worker->timeline, flight.value,
                              serial->stages[flight.stage].stage->name, &error) &&
                command_settle(command, &error);
    int64_t now_ns = clock_now(engine->clock);
    good = good && take_stamps(engine, serial, &flight, &error);
    pthread_mutex_lock(&engine->threads->lock);
    while (good && !engine->failed && engine->perturb.defect_stage == 0 &&
           engine->ring[flight.slot].ended < flight.stage)
        pthread_cond_wait(&worker->landed, &engine->threads->lock);
    worker->first = (worker->first + 1) % worker->room;
    worker->count--;
    if (good)
        over(worker, &flight, now_ns);
    else
        failed(worker, &error);
}

static void *run_waiter(void *user)
{
    struct worker *worker = user;
    struct engine_threads *threads = worker->engine->threads;
    pthread_mutex_lock(&threads->lock);
    while (!threads->stop || worker->count > 0)
        if (worker->count > 0)
            land(worker);
        else
            pthread_cond_wait(&worker->landed, &threads->lock);
    pthread_mutex_unlock(&threads->lock);
    return NULL;
}

static bool worker_open(struct engine *engine, unsigned group, struct assay_error *error)
{
    const struct engine_group *info = &engine->layout.group[group];
    struct worker *worker = &engine->threads->workers[group];
    bool ahead = info->place == ENGINE_QUEUE && !info->driven;
    *worker = (struct worker){.engine = engine, .group = group};
    worker->has_work = pthread_cond_init(&worker->work, NULL) == 0;
    engine->threads->count++;
    if (ahead) {
        worker->room = (size_t)engine->depth * engine->layout.stages;
        worker->flights = calloc(worker->room, sizeof(*worker->flights));
        worker->has_landed = pthread_cond_init(&worker->landed, NULL) == 0;
        worker->timeline = timeline_create(engine->device, info->member, info->name, error);
        if (!worker->timeline)
            return false;
        worker->has_waiter = worker->flights && worker->has_landed && worker->has_work &&
                             pthread_create(&worker->waiter, NULL, run_waiter, worker) == 0;
    }
    worker->has_runner = worker->has_work && (!ahead || worker->has_waiter) &&
                         pthread_create(&worker->runner, NULL, run_worker, worker) == 0;
    return worker->has_runner ||
           assay_fail(error, ASSAY_OUT_OF_MEMORY, "no thread for group '%s'", info->name);
}

static void worker_close(struct worker *worker)
{
    if (worker->has_runner)
        pthread_join(worker->runner, NULL);
    if (worker->has_waiter)
        pthread_join(worker->waiter, NULL);
    timeline_destroy(&worker->timeline);
    if (worker->has_work)
        pthread_cond_destroy(&worker->work);
    if (worker->has_landed)
        pthread_cond_destroy(&worker->landed);
    free(worker->flights);
}

/* A condition whose waits can end at a time of the clock. */
static bool timed_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return good;
}

struct engine_threads *engine_threads_create(struct engine *engine, struct assay_error *error)
{
    struct engine_threads *threads = engine->threads = calloc(1, sizeof(*threads));
    if (threads) {
        threads->has_lock = pthread_mutex_init(&threads->lock, NULL) == 0;
        threads->has_idle = timed_condition(&threads->idle);
    }
    bool good = threads && threads->has_lock && threads->has_idle;
    if (!good)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for threads");
    for (unsigned group = 0; good && group < engine->layout.groups; group++)
        good = worker_open(engine, group, error);
    if (!good)
        engine_threads_destroy(&engine->threads);
    return engine->threads;
}

void engine_threads_destroy(struct engine_threads **threads)
{
    struct engine_threads *self = *threads;
    if (!self)
        return;
    if (self->count > 0) {
        pthread_mutex_lock(&self->lock);
        self->stop = true;
        wake_all(self->workers[0].engine);
        pthread_mutex_unlock(&self->lock);
    }
    for (unsigned i = 0; i < self->count; i++)
        worker_close(&self->workers[i]);
    if (self->has_lock)
        pthread_mutex_destroy(&self->lock);
    if (self->has_idle)
        pthread_cond_destroy(&self->idle);
    free(self);
    *threads = NULL;
}

static void ask(struct engine *engine)
{
    uint64_t issued = engine->next;
    engine_ask(engine, clock_now(engine->clock));
    if (engine->next != issued)
        pthread_cond_signal(&worker_of(engine, 0)->work);
}

/* Until something changed or the source is to be asked again. */
static void wait_idle(struct engine *engine)
{
    struct engine_threads *threads = engine->threads;
    int64_t when_ns = engine->later_ns;
    if (engine->over || engine->failed || when_ns == INT64_MAX) {
        pthread_cond_wait(&threads->idle, &threads->lock);
        return;
    }
    struct timespec when = {.tv_sec = (time_t)(when_ns / 1000000000),
                            .tv_nsec = (long)(when_ns % 1000000000)};
    if (when_ns > clock_now(engine->clock))
        pthread_cond_timedwait(&threads->idle, &threads->lock, &when);
    if (clock_now(engine->clock) >= when_ns && engine->later_ns == when_ns)
        ask(engine);
}

void engine_threads_run(struct engine *engine, const struct engine_source *source,
                        const struct engine_perturb *perturb)
{
    struct engine_threads *threads = engine->threads;
    pthread_mutex_lock(&threads->lock);
    engine_begin(engine, source, perturb);
    ask(engine);
    while (engine->failed ? threads->busy > 0 : !engine->over || engine->live > 0) {
        if (!engine->failed && engine->live == 0 && engine->later_ns == INT64_MAX) {
            struct assay_error error = {0};
            assay_fail(&error, ASSAY_INTERNAL, "a schedule waits for what never comes");
            fail(engine, &error);
            continue;
        }
        wait_idle(engine);
    }
    pthread_mutex_unlock(&threads->lock);
}
