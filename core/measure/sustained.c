/* SPDX-License-Identifier: MIT */
/* The sustained schedule: batches without a pause for as long as is said, `depth` in flight. A
 * sample is a window, and the time a batch took in it. */
#include "measure/method.h"

#include "measure/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WINDOWS 40
#define LONGER 1.5                   /* than the duration: is told */
#define WARMUP_NS INT64_C(250000000) /* the longest window of the warm-up */

static const char *const extras[] = {"period"};

struct sustained {
    struct engine *engine;
    struct serial **recordings;
    unsigned depth, stages;
    int64_t window_ns, until_ns; /* of the window that runs */
    uint64_t wanted;             /* batches of run_all; 0: until then */
    int64_t begin_ns, spent_ns;  /* of the case so far */
    uint64_t all;                /* batches of the case */
    /* Of the window: the batches that fill the pipeline are not in it. */
    uint64_t ended;
    int64_t first_ns, last_ns;
    double stage_ns[MEASURE_STAGES_MAX], batch_ns;
    int64_t *begun_ns; /* of the batch in each slot */
    double *periods;   /* of the windows that count */
    size_t count;
    double batches; /* in them */
    double time_ns; /* that they took */
    struct engine_layout layout;
    struct trace trace; /* of the last window that counts, where one was asked for */
};

static unsigned depth_of(const struct member *member)
{
    return (unsigned)member->request->schedule.depth;
}

static int64_t window_of(const struct schedule *schedule)
{
    int64_t window_ns = schedule->window_ns > 0 ? schedule->window_ns
                                                : schedule->duration_ns / WINDOWS;
    return window_ns > 0 ? window_ns : 1;
}

static unsigned sustained_turns(const struct member *member)
{
    const struct schedule *schedule = &member->request->schedule;
    return (unsigned)(schedule->duration_ns / window_of(schedule));
}

static bool make_engine(struct member *member, struct sustained *self, struct assay_error *error)
{
    struct engine_layout *layout = &self->layout;
    for (unsigned i = 0; i < self->depth; i++)
        self->recordings[i] = &member->slots[i].serial;
    engine_layout_make(self->recordings, self->depth, member->request->params, layout);
    self->stages = layout->stages;
    struct engine_params params = {.device = member->request->device,
                                   .clock = member->clock,
                                   .layout = layout,
                                   .slots = self->recordings,
                                   .depth = self->depth,
                                   .variants = 1,
                                   .stamps = member->request->trace};
    self->engine = engine_create(&params, error);
    return self->engine && (!member->request->trace || trace_open(&self->trace, layout, error));
}

static bool sustained_open(struct member *member, struct assay_error *error)
{
    if (member->request->workload->reset)
        return method_refuse_reset(member, error);
    struct sustained *self = member->state = calloc(1, sizeof(*self));
    if (!self)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a long run");
    self->depth = depth_of(member);
    self->window_ns = window_of(&member->request->schedule);
    self->recordings = calloc(self->depth, sizeof(struct serial *));
    self->begun_ns = calloc(self->depth, sizeof(*self->begun_ns));
    self->periods = calloc(sustained_turns(member) + 1, sizeof(*self->periods));
    if (!self->recordings || !self->begun_ns || !self->periods)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a long run");
    return make_engine(member, self, error);
}

static void sustained_close(struct member *member)
{
    struct sustained *self = member->state;
    if (!self)
        return;
    engine_destroy(&self->engine);
    free(self->recordings);
    free(self->begun_ns);
    free(self->periods);
    trace_free(&self->trace);
    free(self);
    member->state = NULL;
}

static enum engine_answer next(void *user, uint64_t batch, int64_t now_ns,
                               struct engine_issue *issue)
{
    struct sustained *self = user;
    (void)issue;
    /* A window has two batches at least, beside those that fill the pipeline. */
    bool more = self->wanted ? batch < self->wanted
                             : now_ns < self->until_ns || batch < self->depth + 2;
    self->begun_ns[batch % self->depth] = now_ns;
    return more ? ENGINE_ISSUE : ENGINE_END;
}

static bool ended(void *user, const struct event *event, struct assay_error *error)
{
    struct sustained *self = user;
    (void)error;
    bool steady = event->batch >= self->depth; /* not of those that fill the pipeline */
    if (steady)
        self->stage_ns[event->stage] += (double)(event->end_ns - event->begin_ns);
    if (event->stage + 1 < self->stages)
        return true;
    self->ended++;
    self->all++;
    if (steady)
        self->batch_ns += (double)(event->end_ns - self->begun_ns[event->slot]);
    if (self->ended == self->depth)
        self->first_ns = event->end_ns;
    self->last_ns = event->end_ns;
    return true;
}

/* `traced`: in the trace, in place of what it held. */
static bool run(struct member *member, struct sustained *self, int64_t window_ns, bool traced,
                const struct engine_perturb *perturb, struct assay_error *error)
{
    struct engine_source source = {.user = self, .next = next, .ended = ended};
    if (traced)
        source = trace_listen(&self->trace, &source);
    self->wanted = window_ns > 0 ? 0 : self->depth;
    self->until_ns = clock_now(member->clock) + window_ns;
    self->ended = 0;
    self->batch_ns = 0;
    for (unsigned i = 0; i < self->stages; i++)
        self->stage_ns[i] = 0;
    if (traced)
        trace_look(&self->trace, member->request->device, false);
    bool good = engine_run(self->engine, &source, perturb, error);
    if (traced && good)
        trace_look(&self->trace, member->request->device, true);
    return good;
}

/* How far it came is worth knowing of one that fails late. */
static bool failed_late(struct member *member, const struct sustained *self,
                        struct assay_error *error)
{
    struct text after = {0};
    quantity_add(&after, (double)(clock_now(member->clock) - self->begin_ns) / 1e9,
                 (struct dimension){.seconds = 1});
    error_prefix(error, "after %s and %" PRIu64 " batches", text_string(&after), self->all);
    text_free(&after);
    return false;
}

static bool sustained_sample(struct member *member, bool warmup, struct serial_times *times,
                             int64_t *time_ns, struct assay_error *error)
{
    struct sustained *self = member->state;
    if (!method_touch(member, error))
        return false;
    if (self->all == 0)
        self->begin_ns = clock_now(member->clock);
    int64_t window_ns = self->window_ns;
    if (warmup && window_ns > WARMUP_NS)
        window_ns = WARMUP_NS;
    if (!run(member, self, window_ns, !warmup && member->request->trace, NULL, error))
        return failed_late(member, self, error);
    double steady = (double)self->ended - self->depth;
    double period_ns = (double)(self->last_ns - self->first_ns) / steady;
    *times = (struct serial_times){.time_ns = (int64_t)(self->batch_ns / steady + 0.5),
                                   .submit_ns = -1,
                                   .device_ns = -1,
                                   .cpu_ns = -1,
                                   .extra_ns = {(int64_t)(period_ns + 0.5)}};
    for (unsigned i = 0; i < self->stages; i++) {
        times->stages[i].time_ns = (int64_t)(self->stage_ns[i] / steady + 0.5);
        times->stages[i].device_ns = -1;
    }
    *time_ns = times->extra_ns[0];
    if (warmup || self->count >= sustained_turns(member))
        return true;
    self->periods[self->count++] = period_ns;
    self->batches += steady;
    self->time_ns += (double)(self->last_ns - self->first_ns);
    return true;
}

static bool sustained_run_all(struct member *member, const struct engine_perturb *perturb,
                              struct assay_error *error)
{
    struct sustained *self = member->state;
    return run(member, self, 0, false, perturb, error);
}

static bool add_throughput(struct member *member, double confidence, struct assay_error *error)
{
    const struct sustained *self = member->state;
    struct metric throughput = {
        .name = "throughput", .dimension = {.items = 1, .seconds = -1}, .n = self->count};
    struct interval interval;
    double *sorted = malloc((self->count + 1) * sizeof(*sorted));
    if (!sorted)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu windows",
                          self->count);
    for (size_t i = 0; i < self->count; i++)
        sorted[i] = self->periods[i];
    stats_sort(sorted, self->count);
    if (self->count == 0) {
        throughput.absent = "no window was measured";
    } else {
        stats_median_interval(sorted, self->count, confidence, &interval);
        throughput.value = 1e9 / interval.estimate;
        throughput.low = 1e9 / interval.high;
        throughput.high = 1e9 / interval.low;
    }
    free(sorted);
    return metric_set_add(member->result->metrics, &throughput, error);
}

static void note_drift(struct member *member, const struct interval *change)
{
    const char *verdict = drift_verdict(change);
    struct text note = {0};
    text_addf(&note, "throughput is %s, from the first third of the windows to the last: ",
              strcmp(verdict, "undecided") == 0 ? "not known to be steady" : verdict);
    quantity_add_interval(&note, 100 * change->estimate, 100 * change->low, 100 * change->high,
                          (struct dimension){0});
    text_add(&note, " %");
    member_note(member, text_string(&note));
    text_free(&note);
}

static bool add_drift(struct member *member, double confidence, struct assay_error *error)
{
    const struct sustained *self = member->state;
    struct metric moved = {.name = "drift", .n = self->count};
    struct interval change;
    bool known;
    if (!drift_of_rate(self->periods, self->count, confidence, &known, &change, error))
        return false;
    text_clear(&member->result->load);
    if (known) {
        moved.value = change.estimate;
        moved.low = change.low;
        moved.high = change.high;
        text_addf(&member->result->load,
                  "{\"drift\":{\"verdict\":\"%s\",\"margin\":", drift_verdict(&change));
        number_add(&member->result->load, DRIFT_CHANGE);
        text_add(&member->result->load, "}}");
        note_drift(member, &change);
    } else {
        moved.absent = "there are too few windows to tell";
    }
    return metric_set_add(member->result->metrics, &moved, error);
}

/* A window has its batches, however short it was asked to be. */
static void note_longer(struct member *member)
{
    const struct sustained *self = member->state;
    struct text note = {0};
    if (self->time_ns < LONGER * (double)member->request->schedule.duration_ns)
        return;
    text_add(&note, "the run took ");
    quantity_add(&note, self->time_ns / 1e9, (struct dimension){.seconds = 1});
    text_addf(&note, ", longer than its duration: each of its %zu windows has two batches at least",
              self->count);
    member_note(member, text_string(&note));
    text_free(&note);
}

static bool sustained_report(struct member *member, double confidence, struct assay_error *error)
{
    const struct sustained *self = member->state;
    note_longer(member);
    text_clear(&member->result->trace);
    trace_add(&self->trace, &self->layout, &member->slots[0].serial, self->depth,
              &member->result->trace);
    return add_throughput(member, confidence, error) && add_drift(member, confidence, error);
}

const struct measure_method method_sustained = {
    .slots = depth_of,
    .open = sustained_open,
    .turns = sustained_turns,
    .sample = sustained_sample,
    .run_all = sustained_run_all,
    .report = sustained_report,
    .close = sustained_close,
    .extras = extras,
    .extra_count = 1,
    .windows = true,
    .downloads_apart = true,
};
