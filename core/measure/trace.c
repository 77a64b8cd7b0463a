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

static void add_event(const struct event *event, int64_t from_ns, struct text *out)
{
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
    text_add_char(out, ']');
}

void trace_add(const struct trace *trace, const struct engine_layout *layout,
               const struct serial *serial, unsigned depth, struct text *out)
{
    const struct events *events = &trace->events;
    int64_t from_ns = INT64_MAX;
    if (events->count == 0)
        return;
    for (size_t i = 0; i < events->count; i++)
        from_ns = events->list[i].begin_ns < from_ns ? events->list[i].begin_ns : from_ns;
    text_addf(out, "{\"depth\":%u,\"batches\":", depth);
    text_add_integer(out, (int64_t)trace->batches);
    text_add(out, ",\"groups\":[");
    for (unsigned i = 0; i < layout->groups; i++) {
        text_add(out, i ? "," : "");
        record_add_string(out, layout->group[i].name);
    }
    text_add(out, "],\"stages\":[");
    for (unsigned i = 0; i < layout->stages; i++) {
        text_add(out, i ? ",{\"name\":" : "{\"name\":");
        record_add_string(out, serial->stages[i].stage->name);
        text_addf(out, ",\"group\":%u}", layout->group_of[i]);
    }
    text_add(out, "],\"events\":[");
    for (size_t i = 0; i < events->count; i++) {
        text_add(out, i ? "," : "");
        add_event(&events->list[i], from_ns, out);
    }
    text_add(out, "]}");
}

void trace_free(struct trace *trace)
{
    events_free(&trace->events);
    *trace = (struct trace){0};
}
