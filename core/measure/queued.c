/* SPDX-License-Identifier: MIT */
/* Open and closed loop: one batch at a time, of as many requests as wait for it. A sample is a
 * window of the load; batches are recorded at each size, in a slot of its own. */
#include "measure/method.h"

#include "base/options.h"
#include "measure/load.h"
#include "measure/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define BUDGET_NS INT64_C(1000000000)
#define WINDOWS_MOST 40
#define WINDOW_REQUESTS 10           /* that arrive in a window, at least */
#define RAMP_NS INT64_C(10000000000) /* for first results of clients, at most, or the duration */
#define WARMUP_NS                                                                                  \
    INT64_C(250000000) /* a window of the warm-up, unless fewer would arrive in it                 \
                        */

struct queued {
    struct engine *engine;
    struct load *load;
    struct serial **recordings; /* by size */
    unsigned stages, sizes, windows;
    bool whole; /* all windows are wanted, whatever the sampler thinks of them */
    int64_t window_ns, warmup_ns, ramp_ns;
    uint64_t wanted; /* batches of run_all */
    struct engine_layout layout;
    struct trace trace; /* of the last window that counts, where one was asked for */
};

static unsigned size_count(const struct member *member)
{
    return load_sizes(member->request->schedule.batch_max);
}

/* The parameters of a slot: those of the case, but for the size of the batch. */
static bool size_params(const struct member *member, unsigned slot, void *params,
                        struct assay_error *error)
{
    const struct assay_workload *workload = member->request->workload;
    const struct schedule *schedule = &member->request->schedule;
    struct option_value value;
    if (schedule->batch_max == 1)
        return true;
    for (size_t i = 0; workload->options[i]; i++) {
        if (!(workload->options[i]->flags & ASSAY_OPTION_ITEMS))
            continue;
        if (!option_from_integer(workload->options[i], load_size(schedule->batch_max, slot), &value,
                                 error))
            return false;
        option_store(workload->options[i], &value, params);
        return !workload->check || workload->check(params, error);
    }
    return assay_fail(error, ASSAY_INVALID,
                      "batch_max: '%s' has no parameter that is the number of items in a batch; "
                      "leave batch_max out",
                      workload->name);
}

/* For how long a request waits at most for others, as far as can be told. */
static double wait_ns(const struct schedule *schedule)
{
    double full_ns = schedule->kind == SCHEDULE_OPEN_LOOP
                         ? (double)schedule->batch_max * 1e9 / schedule->rate
                     : schedule->clients < schedule->batch_max ? INFINITY
                                                               : 0;
    return fmin(full_ns, (double)schedule->wait_max_ns);
}

/* How long it is measured, in how many windows: in each of them requests are to end. */
static void choose_windows(const struct member *member, struct queued *self)
{
    const struct measure_request *request = member->request;
    const struct schedule *schedule = &request->schedule;
    int64_t length_ns = schedule->duration_ns;
    self->whole = length_ns > 0;
    if (length_ns == 0)
        length_ns = request->budget.budget_ns > 0 ? request->budget.budget_ns : BUDGET_NS;
    if (length_ns < load_least_ns(schedule)) {
        length_ns = load_least_ns(schedule);
        self->whole = true;
    }
    self->windows = WINDOWS_MOST;
    double least_ns = 2 * wait_ns(schedule);
    if (schedule->kind == SCHEDULE_OPEN_LOOP)
        least_ns = fmax(least_ns, WINDOW_REQUESTS * 1e9 / schedule->rate);
    if (least_ns * WINDOWS_MOST > (double)length_ns)
        self->windows = (unsigned)fmax(1, floor((double)length_ns / least_ns + 1e-9));
    self->window_ns = length_ns / self->windows > 0 ? length_ns / self->windows : 1;
    int64_t few_ns = load_least_ns(schedule) / (SCHEDULE_REQUESTS_LEAST / WINDOW_REQUESTS);
    self->warmup_ns = few_ns > WARMUP_NS ? few_ns : WARMUP_NS;
    if (self->warmup_ns > self->window_ns)
        self->warmup_ns = self->window_ns;
    self->ramp_ns = length_ns > RAMP_NS ? length_ns : RAMP_NS;
}

static bool make_engine(struct member *member, struct queued *self, struct assay_error *error)
{
    struct engine_layout *layout = &self->layout;
    self->sizes = member->slot_count;
    self->recordings = calloc(self->sizes, sizeof(struct serial *));
    if (!self->recordings)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %u slots",
                          self->sizes);
    for (unsigned i = 0; i < self->sizes; i++) {
        self->recordings[i] = &member->slots[i].serial;
        if (member->slots[i].serial.count != member->slots[0].serial.count)
            return assay_fail(error, ASSAY_UNSUPPORTED,
                              "'%s' has other stages in larger batches, which cannot be mixed",
                              member->request->workload->name);
    }
    engine_layout_make(self->recordings, self->sizes, member->request->params, layout);
    self->stages = layout->stages;
    struct engine_params params = {.device = member->request->device,
                                   .clock = member->clock,
                                   .layout = layout,
                                   .slots = self->recordings,
                                   .depth = 1,
                                   .variants = self->sizes,
                                   .stamps = member->request->trace};
    self->engine = engine_create(&params, error);
    self->load = self->engine ? load_create(&member->request->schedule, member->request->seed,
                                            layout->stages, error)
                              : NULL;
    return self->load && (!member->request->trace || trace_open(&self->trace, layout, error));
}

/* Times are means over batches of several sizes: what one of them moves says nothing of a rate. */
static void forget_costs(struct member *member)
{
    struct serial *serial = &member->slots[0].serial;
    for (unsigned i = 0; member->slot_count > 1 && i < serial->count; i++)
        serial->stages[i].cost = (struct assay_cost){0};
}

static bool queued_open(struct member *member, struct assay_error *error)
{
    if (member->request->workload->reset)
        return method_refuse_reset(member, error);
    struct queued *self = member->state = calloc(1, sizeof(*self));
    if (!self)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a queue");
    forget_costs(member);
    choose_windows(member, self);
    return make_engine(member, self, error);
}

static void queued_close(struct member *member)
{
    struct queued *self = member->state;
    if (!self)
        return;
    engine_destroy(&self->engine);
    load_destroy(&self->load);
    free(self->recordings);
    trace_free(&self->trace);
    free(self);
    member->state = NULL;
}

static unsigned queued_turns(const struct member *member)
{
    const struct queued *self = member->state;
    return self->whole ? self->windows : 0;
}

static bool queued_sample(struct member *member, bool warmup, struct serial_times *times,
                          int64_t *time_ns, struct assay_error *error)
{
    struct queued *self = member->state;
    struct load_times of_window;
    if (!method_touch(member, error))
        return false;
    struct engine_source source = load_begin(self->load, clock_now(member->clock),
                                             warmup ? self->warmup_ns : self->window_ns,
                                             warmup ? self->ramp_ns : 0);
    bool traced = !warmup && member->request->trace;
    if (traced)
        source = trace_listen(&self->trace, &source);
    if (traced)
        trace_look(&self->trace, member->request->device, false);
    if (!engine_run(self->engine, &source, NULL, error) ||
        !load_end(self->load, clock_now(member->clock), !warmup, &of_window, error))
        return false;
    if (traced)
        trace_look(&self->trace, member->request->device, true);
    *times = (struct serial_times){
        .time_ns = of_window.batch_ns, .submit_ns = -1, .device_ns = -1, .cpu_ns = -1};
    for (unsigned i = 0; i < self->stages; i++) {
        times->stages[i].time_ns = of_window.stage_ns[i];
        times->stages[i].device_ns = -1;
    }
    /* The device is to be warm; latencies wander with what arrives. */
    *time_ns = warmup ? of_window.batch_ns : of_window.latency_ns;
    return true;
}

/* Batch n is of the size n. */
static enum engine_answer each_size(void *user, uint64_t batch, int64_t now_ns,
                                    struct engine_issue *issue)
{
    const struct queued *self = user;
    (void)now_ns;
    issue->variant = (unsigned)batch;
    return batch < self->sizes ? ENGINE_ISSUE : ENGINE_END;
}

static bool no_matter(void *user, const struct event *event, struct assay_error *error)
{
    (void)user;
    (void)event;
    (void)error;
    return true;
}

static bool queued_run_all(struct member *member, const struct engine_perturb *perturb,
                           struct assay_error *error)
{
    struct queued *self = member->state;
    const struct engine_source source = {.user = self, .next = each_size, .ended = no_matter};
    return engine_run(self->engine, &source, perturb, error);
}

/* Fewer clients than a batch holds: none is ever full. */
static void note_waits(struct member *member)
{
    const struct schedule *schedule = &member->request->schedule;
    struct text note = {0};
    if (schedule->kind != SCHEDULE_CLOSED_LOOP || schedule->wait_max_ns == 0 ||
        schedule->clients >= schedule->batch_max)
        return;
    text_addf(&note,
              "%" PRId64 " clients never fill a batch of %" PRId64 ": each batch waits wait_max, ",
              schedule->clients, schedule->batch_max);
    quantity_add(&note, (double)schedule->wait_max_ns / 1e9, (struct dimension){.seconds = 1});
    member_note(member, text_string(&note));
    text_free(&note);
}

static void note_turned_away(struct member *member, const struct load *load)
{
    uint64_t arrived = 0, away = 0;
    for (size_t i = 0; i < load_window_count(load); i++) {
        arrived += load_window_at(load, i)->arrived;
        away += load_window_at(load, i)->turned_away;
    }
    if (away == 0)
        return;
    struct text note = {0};
    text_addf(&note,
              "%" PRIu64 " of %" PRIu64 " requests were turned away, as the queue was full: means "
              "of latencies are without them",
              away, arrived);
    member_note(member, text_string(&note));
    text_free(&note);
}

static bool queued_report(struct member *member, double confidence, struct assay_error *error)
{
    struct queued *self = member->state;
    const char *unsteady = load_unsteady(self->load);
    if (!load_check_ended(self->load, error))
        return false;
    if (unsteady)
        member_note(member, unsteady);
    else
        note_turned_away(member, self->load);
    note_waits(member);
    text_clear(&member->result->load);
    load_add_record(self->load, &member->result->load);
    text_clear(&member->result->trace);
    trace_add(&self->trace, &self->layout, &member->slots[0].serial, 1, &member->result->trace);
    return load_metrics(self->load, confidence, member->result->metrics, error);
}

/* That more and more wait is what the note of it says. */
static const char *queued_figure(const struct member *member)
{
    const struct queued *self = member->state;
    return load_unsteady(self->load) ? NULL : "latency";
}

const struct measure_method method_queued = {
    .slots = size_count,
    .params = size_params,
    .open = queued_open,
    .turns = queued_turns,
    .sample = queued_sample,
    .run_all = queued_run_all,
    .report = queued_report,
    .figure = queued_figure,
    .close = queued_close,
    .windows = true,
};
