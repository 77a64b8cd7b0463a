/* SPDX-License-Identifier: MIT */
#include "measure/trace.h"

#include "result/record.h"

static uint64_t batches_most(unsigned stages)
{
    return TRACE_EVENTS_MAX / (stages ? stages : 1);
}

bool trace_open(struct trace *trace, const struct engine_layout *layout, struct assay_error *error)
{
    trace->stages = layout->stages;
    events_clear(&trace->events);
    return events_reserve(&trace->events, TRACE_EVENTS_MAX, error);
}

void trace_look(struct trace *trace, struct assay_device *device, bool after)
{
    for (unsigned i = 0; device && i < device->member_count; i++) {
        struct assay_error no_matter = {0};
        struct timer_axis *axis = &trace->axes[i];
        bool looked = timer_calibrate(device->members[i], after ? &axis->last : &axis->first,
                                      &no_matter);
        trace->looked[i] = looked && (!after || trace->looked[i]);
    }
}

/* That of the queue of a group; false: its times are the host's alone. */
static bool axis_of(const struct trace *trace, const struct engine_group *group,
                    struct timer_axis *axis)
{
    if (group->place != ENGINE_QUEUE || !trace->looked[group->member] ||
        group->queue->timestamp_bits == 0)
        return false;
    *axis = trace->axes[group->member];
    axis->valid_bits = group->queue->timestamp_bits;
    axis->tick_ns = group->queue->tick_ns;
    return true;
}

static enum engine_answer next(void *user, uint64_t batch, int64_t now_ns,
                               struct engine_issue *issue)
{
    struct trace *trace = user;
    return trace->listened.next(trace->listened.user, batch, now_ns, issue);
}

bool trace_event(struct trace *trace, const struct event *event, struct assay_error *error)
{
    if (event->batch >= trace->batches)
        trace->batches = event->batch + 1;
    return event->batch >= batches_most(trace->stages) || events_add(&trace->events, event, error);
}

static bool ended(void *user, const struct event *event, struct assay_error *error)
{
    struct trace *trace = user;
    if (!trace_event(trace, event, error))
        return false;
    return trace->listened.ended(trace->listened.user, event, error);
}

struct engine_source trace_listen(struct trace *trace, const struct engine_source *source)
{
    events_clear(&trace->events);
    trace->batches = 0;
    trace->listened = *source;
    return (struct engine_source){.user = trace, .next = next, .ended = ended};
}

bool trace_keep(struct trace *trace, const struct engine_layout *layout,
                const struct events *events, uint64_t batches, struct assay_error *error)
{
    uint64_t most = batches_most(layout->stages);
    uint64_t kept = batches < most ? batches : most;
    events_clear(&trace->events);
    trace->batches = batches;
    if (!events_reserve(&trace->events, (size_t)(kept * layout->stages), error))
        return false;
    for (size_t i = 0; i < events->count; i++)
        if (events->list[i].batch < kept && !events_add(&trace->events, &events->list[i], error))
            return false;
    return true;
}

/* An event as it is written: in ns, on the host's axis. */
struct line {
    const struct event *event;
    bool device;
    int64_t begin_ns, end_ns; /* as the device said */
};

/* A begin is written when the queue takes the commands up, which may be while those in front of
 * them still run; they begin when these have ended. */
static struct line make_line(const struct trace *trace, const struct engine_layout *layout,
                             const struct event *event, int64_t *last_end_ns)
{
    struct line line = {.event = event};
    struct timer_axis axis;
    if (!event->stamps.there || !axis_of(trace, &layout->group[event->group], &axis))
        return line;
    int64_t *last = &last_end_ns[event->group];
    line.device = true;
    line.begin_ns = timer_host_ns(&axis, event->stamps.begin);
    line.end_ns = timer_host_ns(&axis, event->stamps.end);
    line.begin_ns = line.begin_ns > *last ? line.begin_ns : *last;
    line.end_ns = line.end_ns > line.begin_ns ? line.end_ns : line.begin_ns;
    *last = line.end_ns;
    return line;
}

static void add_line(const struct line *line, int64_t from_ns, struct text *out)
{
    const struct event *event = line->event;
    text_add_char(out, '[');
    text_add_integer(out, (int64_t)event->batch);
    text_addf(out, ",%u,%u,", event->slot, event->stage);
    text_add_integer(out, event->begin_ns - from_ns);
    text_add_char(out, ',');
    text_add_integer(out, event->end_ns - from_ns);
    text_add_char(out, ',');
    if (event->cpu_ns < 0)
        text_add(out, "null");
    else
        text_add_integer(out, event->cpu_ns);
    if (line->device) {
        text_add_char(out, ',');
        text_add_integer(out, line->begin_ns - from_ns);
        text_add_char(out, ',');
        text_add_integer(out, line->end_ns - from_ns);
    }
    text_add_char(out, ']');
}

static void begin_ends(int64_t *last_end_ns)
{
    for (unsigned i = 0; i < MEASURE_STAGES_MAX; i++)
        last_end_ns[i] = INT64_MIN;
}

static int64_t first_begin(const struct trace *trace, const struct engine_layout *layout)
{
    int64_t from_ns = INT64_MAX, last_end_ns[MEASURE_STAGES_MAX];
    begin_ends(last_end_ns);
    for (size_t i = 0; i < trace->events.count; i++) {
        struct line line = make_line(trace, layout, &trace->events.list[i], last_end_ns);
        from_ns = line.event->begin_ns < from_ns ? line.event->begin_ns : from_ns;
        from_ns = line.device && line.begin_ns < from_ns ? line.begin_ns : from_ns;
    }
    return from_ns;
}

static void add_groups(const struct trace *trace, const struct engine_layout *layout,
                       struct text *out)
{
    text_add(out, ",\"groups\":[");
    for (unsigned i = 0; i < layout->groups; i++) {
        text_add(out, i ? "," : "");
        record_add_string(out, layout->group[i].name);
    }
    text_add(out, "],\"clocks\":[");
    for (unsigned i = 0; i < layout->groups; i++) {
        struct timer_axis axis;
        text_add(out, i ? "," : "");
        if (!axis_of(trace, &layout->group[i], &axis)) {
            text_add(out, "null");
            continue;
        }
        text_add(out, "{\"uncertainty_ns\":");
        text_add_integer(out, timer_uncertainty_ns(&axis));
        text_add_char(out, '}');
    }
}

void trace_add(const struct trace *trace, const struct engine_layout *layout,
               const struct serial *serial, unsigned depth, struct text *out)
{
    int64_t last_end_ns[MEASURE_STAGES_MAX];
    if (trace->events.count == 0)
        return;
    int64_t from_ns = first_begin(trace, layout);
    text_addf(out, "{\"depth\":%u,\"batches\":", depth);
    text_add_integer(out, (int64_t)trace->batches);
    add_groups(trace, layout, out);
    text_add(out, "],\"stages\":[");
    for (unsigned i = 0; i < layout->stages; i++) {
        text_add(out, i ? ",{\"name\":" : "{\"name\":");
        record_add_string(out, serial->stages[i].stage->name);
        text_addf(out, ",\"group\":%u}", layout->group_of[i]);
    }
    text_add(out, "],\"events\":[");
    begin_ends(last_end_ns);
    for (size_t i = 0; i < trace->events.count; i++) {
        struct line line = make_line(trace, layout, &trace->events.list[i], last_end_ns);
        text_add(out, i ? "," : "");
        add_line(&line, from_ns, out);
    }
    text_add(out, "]}");
}

void trace_free(struct trace *trace)
{
    events_free(&trace->events);
    *trace = (struct trace){0};
}
