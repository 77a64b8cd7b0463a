/* SPDX-License-Identifier: MIT */
/* The pipelined schedule: `depth` batches in flight. A sample is one batch alone, for the times of
 * its stages, and then one burst: batches that fill the pipeline, the steady ones, and those behind
 * which it empties. */
#include "measure/method.h"
#include "measure/trace.h"

#include "base/text.h"
#include "base/units.h"
#include "result/record.h"
#include "stats/histogram.h"
#include "stats/pipeline.h"

#include <stdlib.h>
#include <string.h>

#define BURSTS 50 /* that the budget is good for, where batches are short */
#define BUDGET_NS INT64_C(1000000000)
#define STEADY_LEAST 8
#define DELAY_PART 4 /* of the period: how much a stage is held for its sensitivity */
#define STEADY_MOST 1024
#define STEADY_MODEL 32 /* times the depth: simulated time costs little */

enum extra { EXTRA_PERIOD, EXTRA_SERIAL, EXTRA_IDEAL, EXTRA_COUNT };
static const char *const extras[EXTRA_COUNT] = {
    [EXTRA_PERIOD] = "period",
    [EXTRA_SERIAL] = "serial_time",
    [EXTRA_IDEAL] = "ideal_period",
};

struct pipelined {
    struct assay_clock *clock;
    struct engine *engine;
    struct engine_layout layout;
    struct serial **recordings; /* of each slot */
    unsigned depth, steady;
    int64_t burst_ns; /* of the steady batches, where they are short */
    uint64_t wanted;  /* batches of the burst in progress */
    struct events events;
    struct trace trace;          /* of the last burst, where it is asked for */
    struct event_batch *batches; /* of the steady ones */
    int64_t *latencies;          /* the same */
    struct histogram *histogram; /* of all latencies that count */
    int64_t window_ns, stage_ns[MEASURE_STAGES_MAX], group_ns[MEASURE_STAGES_MAX];
    int64_t stage_cpu_ns[MEASURE_STAGES_MAX]; /* -1: not read */
    uint64_t steady_batches;                  /* that these are of */
    double *sensitivities;                    /* [turn][stage] */
    size_t sensitivity_count;                 /* turns */
    int64_t sensitivity_ns;                   /* what they took */
};

/* Of a burst: from the end of one batch to that of another, `count` later. */
struct window {
    int64_t begin_ns, end_ns, period_ns;
    unsigned count;
    uint64_t batches; /* of the whole burst */
};

static unsigned depth_of(const struct member *member)
{
    return (unsigned)member->request->schedule.depth;
}

static bool make_engine(struct member *member, struct pipelined *self, struct assay_error *error)
{
    self->recordings = calloc(self->depth, sizeof(struct serial *));
    self->histogram = histogram_create(error);
    if (!self->histogram)
        return false;
    if (!self->recordings)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %u slots",
                          self->depth);
    for (unsigned i = 0; i < self->depth; i++)
        self->recordings[i] = &member->slots[i].serial;
    engine_layout_make(self->recordings, self->depth, member->request->params, &self->layout);
    struct engine_params params = {.device = member->request->device,
                                   .clock = member->clock,
                                   .layout = &self->layout,
                                   .slots = self->recordings,
                                   .depth = self->depth,
                                   .variants = 1,
                                   .stamps = member->request->trace};
    self->engine = engine_create(&params, error);
    return self->engine;
}

static bool pipelined_open(struct member *member, struct assay_error *error)
{
    if (member->request->workload->reset)
        return method_refuse_reset(member, error);
    struct pipelined *self = member->state = calloc(1, sizeof(*self));
    if (!self)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a pipeline");
    self->clock = member->clock;
    self->depth = depth_of(member);
    int64_t budget_ns = member->request->budget.budget_ns;
    self->burst_ns = (budget_ns > 0 ? budget_ns : BUDGET_NS) / BURSTS;
    self->steady = 2 * self->depth > STEADY_LEAST ? 2 * self->depth : STEADY_LEAST;
    unsigned most = STEADY_MOST;
    if (member->clock->simulated)
        most = self->steady = STEADY_MODEL * self->depth;
    most = most > self->steady ? most : self->steady;
    self->batches = calloc(most, sizeof(*self->batches));
    self->latencies = calloc(most, sizeof(*self->latencies));
    if (!self->batches || !self->latencies)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a pipeline");
    return make_engine(member, self, error);
}

static void pipelined_close(struct member *member)
{
    struct pipelined *self = member->state;
    if (!self)
        return;
    engine_destroy(&self->engine);
    histogram_destroy(&self->histogram);
    events_free(&self->events);
    trace_free(&self->trace);
    free(self->recordings);
    free(self->batches);
    free(self->latencies);
    free(self->sensitivities);
    free(self);
    member->state = NULL;
}

static enum engine_answer burst_next(void *user, uint64_t batch, int64_t now_ns,
                                     struct engine_issue *issue)
{
    const struct pipelined *self = user;
    (void)now_ns;
    (void)issue;
    return batch < self->wanted ? ENGINE_ISSUE : ENGINE_END;
}

static bool burst_ended(void *user, const struct event *event, struct assay_error *error)
{
    struct pipelined *self = user;
    return events_add(&self->events, event, error);
}

static bool run_burst(struct pipelined *self, uint64_t batches,
                      const struct engine_perturb *perturb, struct assay_error *error)
{
    const struct engine_source source = {.user = self, .next = burst_next, .ended = burst_ended};
    self->wanted = batches;
    events_clear(&self->events);
    return events_reserve(&self->events, (size_t)batches * self->layout.stages, error) &&
           engine_run(self->engine, &source, perturb, error);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of the steady batches; gives the median. */
static int64_t read_latencies(struct pipelined *self)
{
    for (unsigned i = 0; i < self->steady; i++)
        self->latencies[i] = self->batches[i].end_ns - self->batches[i].begin_ns;
    qsort(self->latencies, self->steady, sizeof(*self->latencies), compare);
    return self->latencies[self->steady / 2];
}

/* How the window was used goes to that of the windows before. */
static void add_use(struct pipelined *self, const struct window *window)
{
    int64_t stage_ns[MEASURE_STAGES_MAX], group_ns[MEASURE_STAGES_MAX],
        cpu_ns[MEASURE_STAGES_MAX] = {0};
    struct event_use use = {.begin_ns = window->begin_ns,
                            .end_ns = window->end_ns,
                            .stage_ns = stage_ns,
                            .group_ns = group_ns,
                            .stage_cpu_ns = cpu_ns};
    events_use(&self->events, self->layout.stages, self->layout.groups, &use);
    for (unsigned i = 0; i < self->layout.stages; i++) {
        self->stage_ns[i] += stage_ns[i];
        self->stage_cpu_ns[i] = cpu_ns[i] < 0 ? -1 : self->stage_cpu_ns[i] + cpu_ns[i];
    }
    for (unsigned i = 0; i < self->layout.groups; i++)
        self->group_ns[i] += group_ns[i];
    self->window_ns += window->end_ns - window->begin_ns;
    self->steady_batches += window->count;
}

/* Stages that share a group can make the ends come in a pattern of several batches, over and over.
 * Then the window is whole patterns, or it would hold more or less work than its batches have. What
 * is measured never repeats to the nanosecond; it is a matter of models. Returns the number of
 * batches at the end of the steady ones that the window has. */
static unsigned whole_patterns(const struct pipelined *self)
{
    const struct event_batch *batch = self->batches;
    unsigned last = self->steady - 1, half = self->steady / 2;
    for (unsigned length = 1; length <= half / 2; length++) {
        unsigned i = last;
        while (i > last - half + length &&
               batch[i].end_ns - batch[i - 1].end_ns ==
                   batch[i - length].end_ns - batch[i - length - 1].end_ns)
            i--;
        if (i == last - half + length)
            return half / length * length;
    }
    return self->steady;
}

static void set_extras(const struct pipelined *self, int64_t period_ns, struct serial_times *times)
{
    struct pipeline_stage stages[MEASURE_STAGES_MAX];
    struct pipeline predicted;
    int64_t serial_ns = 0;
    for (unsigned i = 0; i < self->layout.stages; i++) {
        int64_t time_ns = times->stages[i].time_ns;
        stages[i] = (struct pipeline_stage){.time = (double)time_ns,
                                            .group = self->layout.group_of[i]};
        serial_ns += time_ns;
    }
    pipeline_predict(stages, self->layout.stages, self->depth, &predicted);
    times->extra_ns[EXTRA_PERIOD] = period_ns;
    times->extra_ns[EXTRA_SERIAL] = serial_ns;
    times->extra_ns[EXTRA_IDEAL] = (int64_t)(predicted.period + 0.5);
}

/* Runs a burst and finds the window of its steady batches. Those in front use each slot twice. */
static bool burst(struct pipelined *self, const struct engine_perturb *perturb,
                  struct window *window, struct assay_error *error)
{
    uint64_t fill = 2 * (uint64_t)self->depth;
    window->batches = fill + self->steady + self->depth;
    if (!run_burst(self, window->batches, perturb, error))
        return false;
    struct event_batch filled;
    events_batches(&self->events, fill - 1, 1, &filled);
    events_batches(&self->events, fill, self->steady, self->batches);
    unsigned last = self->steady - 1;
    window->count = whole_patterns(self);
    window->end_ns = self->batches[last].end_ns;
    window->begin_ns = window->count <= last ? self->batches[last - window->count].end_ns
                                             : filled.end_ns;
    window->period_ns = (window->end_ns - window->begin_ns + window->count / 2) / window->count;
    return true;
}

/* The burst that counts. */
static bool sample_burst(struct member *member, bool warmup, struct serial_times *times,
                         struct assay_error *error)
{
    struct pipelined *self = member->state;
    struct window window;
    bool cpu = !member->clock->simulated;
    int64_t cpu_ns = cpu ? clock_process_cpu_ns() : 0;
    bool traced = !warmup && member->request->trace;
    if (traced)
        trace_look(&self->trace, member->request->device, false);
    if (!burst(self, NULL, &window, error))
        return false;
    if (traced)
        trace_look(&self->trace, member->request->device, true);
    times->cpu_ns = cpu ? (clock_process_cpu_ns() - cpu_ns) / (int64_t)window.batches : -1;
    times->time_ns = read_latencies(self);
    set_extras(self, window.period_ns, times);
    if (warmup)
        return true;
    for (unsigned i = 0; i < self->steady; i++)
        histogram_add(self->histogram, self->latencies[i]);
    add_use(self, &window);
    return !member->request->trace ||
           trace_keep(&self->trace, &self->layout, &self->events, window.batches, error);
}

/* Of stage `stage` in the last burst: by how much longer it really took, in the mean. */
static double mean_held_ns(const struct pipelined *self, unsigned stage)
{
    double sum_ns = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < self->events.count; i++) {
        if (self->events.list[i].stage != stage)
            continue;
        sum_ns += (double)self->events.list[i].held_ns;
        count++;
    }
    return count ? sum_ns / (double)count : 0;
}

/* Four bursts of one stage: as it is, held for longer twice, and as it is, so that a drift of the
 * machine is in both alike. */
static bool hold_stage(struct pipelined *self, unsigned stage, int64_t delay_ns, double *value,
                       struct assay_error *error)
{
    static const bool held[] = {false, true, true, false};
    double longer_ns = 0, delayed_ns = 0;
    for (unsigned i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
        struct engine_perturb perturb = {.held_stage = stage + 1,
                                         .held_ns = held[i] ? delay_ns : 0};
        struct window window;
        if (!burst(self, &perturb, &window, error))
            return false;
        longer_ns += held[i] ? (double)window.period_ns : -(double)window.period_ns;
        delayed_ns += mean_held_ns(self, stage);
    }
    *value = delayed_ns > 0 ? longer_ns / delayed_ns : 0;
    return true;
}

/* What each stage's time is to the period. The bursts are half as long as the one that counts. */
static bool sample_sensitivity(struct pipelined *self, int64_t period_ns, struct assay_error *error)
{
    const int64_t begin_ns = clock_now(self->clock);
    int64_t delay_ns = period_ns / DELAY_PART > 1 ? period_ns / DELAY_PART : 1;
    double *values = realloc(self->sensitivities,
                             (self->sensitivity_count + 1) * self->layout.stages * sizeof(*values));
    if (!values)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for samples");
    self->sensitivities = values;
    values += self->sensitivity_count * self->layout.stages;
    unsigned steady = self->steady;
    if (steady / 2 >= STEADY_LEAST && steady / 2 >= 2 * self->depth)
        self->steady = steady / 2;
    bool good = true;
    for (unsigned i = 0; good && i < self->layout.stages; i++)
        good = hold_stage(self, i, delay_ns, &values[i], error);
    self->steady = steady;
    self->sensitivity_count += good;
    self->sensitivity_ns += clock_now(self->clock) - begin_ns;
    return good;
}

/* So many that short batches make a burst of burst_ns. */
static void choose_steady(struct pipelined *self, int64_t period_ns)
{
    int64_t count = self->burst_ns / (period_ns > 0 ? period_ns : 1);
    count = count < STEADY_MOST ? count : STEADY_MOST;
    count -= count % self->depth;
    if (count > self->steady)
        self->steady = (unsigned)count;
}

static bool pipelined_sample(struct member *member, bool warmup, struct serial_times *times,
                             int64_t *time_ns, struct assay_error *error)
{
    struct pipelined *self = member->state;
    struct serial *serial = &member->slots[member->turns % self->depth].serial;
    if (!method_touch(member, error) || !serial_batch(serial, times, error))
        return false;
    if (!warmup && !repeat_sample(&member->slots[0].serial, member->repeats_due, times,
                                  &member->repeated_ns, error))
        return false;
    if (!sample_burst(member, warmup, times, error))
        return false;
    *time_ns = times->extra_ns[EXTRA_PERIOD];
    if (!warmup && member->request->schedule.sensitivity &&
        !sample_sensitivity(self, *time_ns, error))
        return false;
    if (warmup && !member->clock->simulated)
        choose_steady(self, *time_ns);
    return true;
}

static bool pipelined_run_all(struct member *member, const struct engine_perturb *perturb,
                              struct assay_error *error)
{
    struct pipelined *self = member->state;
    return run_burst(self, self->depth, perturb, error);
}

static bool add_latency(struct member *member, double confidence, struct assay_error *error)
{
    static const struct {
        const char *name;
        double q;
    } percentiles[] = {{"latency.p50", 0.5}, {"latency.p95", 0.95}, {"latency.p99", 0.99}};
    const struct pipelined *self = member->state;
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        struct metric metric = {.name = percentiles[i].name,
                                .dimension = {.seconds = 1},
                                .n = (size_t)histogram_count(self->histogram)};
        struct interval interval;
        /* With too few for the confidence the interval is that of the extremes. */
        histogram_quantile_interval(self->histogram, percentiles[i].q, confidence, &interval);
        if (metric.n == 0)
            metric.absent = "no batch was measured";
        metric.value = interval.estimate / 1e9;
        metric.low = interval.low / 1e9;
        metric.high = interval.high / 1e9;
        if (!metric_set_add(member->result->metrics, &metric, error))
            return false;
    }
    return true;
}

static bool add_memory(struct member *member, struct assay_error *error)
{
    struct metric metric = {.name = "extra_memory", .dimension = {.bytes = 1}};
    uint64_t device_bytes, host_bytes;
    member_memory(member, &device_bytes, &host_bytes);
    if (member->model)
        metric.absent = "a model holds no memory";
    metric.value = metric.low = metric.high = (double)(device_bytes + host_bytes);
    return metric_set_add(member->result->metrics, &metric, error);
}

static void add_shares(const struct member *member)
{
    const struct pipelined *self = member->state;
    const struct engine_layout *layout = &self->layout;
    const struct serial *serial = &member->slots[0].serial;
    struct text *out = &member->result->pipeline;
    text_clear(out);
    text_addf(out, "{\"depth\":%u,\"steady\":%u,\"latencies\":\"", self->depth, self->steady);
    histogram_add_text(self->histogram, out);
    text_add(out, "\",\"groups\":[");
    for (unsigned g = 0; g < layout->groups; g++) {
        text_addf(out, "%s{\"name\":\"%s\",\"busy\":", g ? "," : "", layout->group[g].name);
        number_add(out, self->window_ns ? (double)self->group_ns[g] / (double)self->window_ns : 0);
        text_add(out, ",\"stages\":[");
        const char *comma = "";
        for (unsigned i = 0; i < layout->stages; i++) {
            if (layout->group_of[i] != g)
                continue;
            text_addf(out, "%s{\"name\":\"%s\",\"busy\":", comma, serial->stages[i].stage->name);
            number_add(out,
                       self->window_ns ? (double)self->stage_ns[i] / (double)self->window_ns : 0);
            text_add(out, ",\"cpu_ns\":");
            if (self->stage_cpu_ns[i] < 0 || self->steady_batches == 0)
                text_add(out, "null");
            else
                text_add_integer(out, self->stage_cpu_ns[i] / (int64_t)self->steady_batches);
            text_add_char(out, '}');
            comma = ",";
        }
        text_add(out, "]}");
    }
    text_add(out, "]}");
}

static bool add_sensitivity(struct member *member, double confidence, struct assay_error *error)
{
    const struct pipelined *self = member->state;
    size_t count = self->sensitivity_count;
    double *sorted = malloc((count ? count : 1) * sizeof(*sorted));
    bool good = sorted ||
                assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for statistics");
    for (unsigned i = 0; good && count > 0 && i < self->layout.stages; i++) {
        struct metric metric = {.n = count};
        struct interval interval;
        struct text name = {0};
        for (size_t turn = 0; turn < count; turn++)
            sorted[turn] = self->sensitivities[turn * self->layout.stages + i];
        stats_sort(sorted, count);
        stats_median_interval(sorted, count, confidence, &interval);
        text_addf(&name, "%s.sensitivity", member->slots[0].serial.stages[i].stage->name);
        metric.name = text_string(&name);
        metric.value = interval.estimate;
        metric.low = interval.low;
        metric.high = interval.high;
        good = metric_set_add(member->result->metrics, &metric, error);
        text_free(&name);
    }
    free(sorted);
    return good;
}

/* Simulated time costs nobody anything. */
static void note_sensitivity(struct member *member)
{
    const struct pipelined *self = member->state;
    const int64_t given_ns = member->request->budget.budget_ns;
    const int64_t budget_ns = given_ns > 0 ? given_ns : BUDGET_NS;
    struct text note = {0};
    if (member->clock->simulated || self->sensitivity_ns <= budget_ns)
        return;
    text_add(&note, "sensitivity took ");
    quantity_add(&note, (double)self->sensitivity_ns / 1e9, (struct dimension){.seconds = 1});
    text_add(&note, " beside the budget of ");
    quantity_add(&note, (double)budget_ns / 1e9, (struct dimension){.seconds = 1});
    text_addf(&note, ": %zu turns, each with four bursts more for each of %u stages",
              self->sensitivity_count, self->layout.stages);
    member_note(member, text_string(&note));
    text_free(&note);
}

static bool pipelined_report(struct member *member, double confidence, struct assay_error *error)
{
    const struct pipelined *self = member->state;
    struct metric efficiency = {.name = "efficiency"};
    const struct serial *serial = &member->slots[0].serial;
    add_shares(member);
    note_sensitivity(member);
    trace_add(&self->trace, &self->layout, serial, self->depth, &member->result->trace);
    return samples_ratio(&member->samples, serial, EXTRA_IDEAL, EXTRA_PERIOD, confidence,
                         &efficiency, error) &&
           metric_set_add(member->result->metrics, &efficiency, error) &&
           add_latency(member, confidence, error) && add_memory(member, error) &&
           add_sensitivity(member, confidence, error);
}

const struct measure_method method_pipelined = {
    .slots = depth_of,
    .open = pipelined_open,
    .sample = pipelined_sample,
    .run_all = pipelined_run_all,
    .report = pipelined_report,
    .close = pipelined_close,
    .extras = extras,
    .extra_count = EXTRA_COUNT,
    .downloads_apart = true,
};
