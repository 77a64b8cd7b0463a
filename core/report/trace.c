/* SPDX-License-Identifier: MIT */
/* What ran when, in the JSON that Chrome's tracing and Perfetto show: a process a case, a row a
 * queue or host thread, and one for whole batches. One event a line. */
#include "report/view.h"

#include "base/json.h"
#include "result/record.h"

#include <string.h>

/* Batch, slot, stage, begin, end, cpu; and begin and end by the device's clock, where it has one
 * that is comparable. */
#define EVENT_MEMBERS 8
#define EVENT_MEMBERS_LEAST 6

struct trace {
    const json_t *groups, *clocks, *stages, *events;
    size_t process;
    bool first; /* no event is there yet */
};

static void begin_line(struct trace *trace, struct text *out)
{
    text_add(out, trace->first ? "\n" : ",\n");
    trace->first = false;
}

/* The format counts in us. */
static void add_us(struct text *out, const char *member, int64_t ns)
{
    text_addf(out, ",\"%s\":", member);
    text_add_integer(out, ns / 1000);
    text_addf(out, ".%03u", (unsigned)(ns % 1000));
}

static void add_name(struct trace *trace, const char *what, size_t row, const char *name,
                     struct text *out)
{
    begin_line(trace, out);
    text_addf(out,
              "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%zu,\"tid\":%zu,\"args\":{\"name\":", what,
              trace->process, row);
    record_add_string(out, name);
    text_add(out, "}}");
}

/* "queue 0.1.0: upload, download" */
static void add_row(struct trace *trace, size_t group, struct text *out)
{
    struct text name = {0};
    const char *comma = ": ";
    size_t i;
    json_t *stage;
    const char *own = json_string_value(json_array_get(trace->groups, group));
    text_add(&name, own ? own : "");
    json_array_foreach((json_t *)(uintptr_t)trace->stages, i, stage)
    {
        const char *stage_name = json_text(stage, "name", "");
        if (json_whole(stage, "group", -1) != (int64_t)group || (own && !strcmp(own, stage_name)))
            continue;
        text_addf(&name, "%s%s", comma, stage_name);
        comma = ", ";
    }
    add_name(trace, "thread_name", group + 1, text_string(&name), out);
    text_free(&name);
}

/* A queue whose device's clock is known on the axis has a second row. */
static size_t clock_row(const struct trace *trace, size_t group)
{
    return json_array_size(trace->groups) + group + 1;
}

static void add_clock_row(struct trace *trace, size_t group, struct text *out)
{
    const json_t *clock = json_array_get(trace->clocks, group);
    const char *own = json_string_value(json_array_get(trace->groups, group));
    struct text name = {0};
    if (!json_is_object(clock))
        return;
    text_addf(&name, "%s by the device's clock, to %lld ns", own ? own : "",
              (long long)json_whole(clock, "uncertainty_ns", 0));
    add_name(trace, "thread_name", clock_row(trace, group), text_string(&name), out);
    text_free(&name);
}

/* Members that are not there are -1. */
static bool read_event(const json_t *event, int64_t values[static EVENT_MEMBERS])
{
    size_t count = json_array_size(event);
    if (count != EVENT_MEMBERS && count != EVENT_MEMBERS_LEAST)
        return false;
    for (size_t i = 0; i < EVENT_MEMBERS; i++) {
        const json_t *value = json_array_get(event, i);
        values[i] = json_is_integer(value) ? json_integer_value(value) : -1;
        if (i < count && values[i] < 0 && !(i == EVENT_MEMBERS_LEAST - 1 && json_is_null(value)))
            return false;
    }
    return values[4] >= values[3] && values[7] >= values[6];
}

/* A stage on a row, from span[0] to span[1], up to and with what its arguments begin with. */
static void begin_stage(struct trace *trace, const int64_t *event, const char *category, size_t row,
                        const int64_t *span, struct text *out)
{
    const json_t *stage = json_array_get(trace->stages, (size_t)event[2]);
    begin_line(trace, out);
    text_addf(out, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", category);
    record_add_string(out, json_text(stage, "name", ""));
    text_addf(out, ",\"pid\":%zu,\"tid\":%zu", trace->process, row);
    add_us(out, "ts", span[0]);
    add_us(out, "dur", span[1] - span[0]);
    text_add(out, ",\"args\":{\"batch\":");
    text_add_integer(out, event[0]);
    text_add(out, ",\"slot\":");
    text_add_integer(out, event[1]);
    text_add(out, ",\"stage\":");
    text_add_integer(out, event[2]);
}

static void add_device_stage(struct trace *trace, const int64_t *event, struct text *out)
{
    const json_t *stage = json_array_get(trace->stages, (size_t)event[2]);
    if (event[6] < 0)
        return;
    begin_stage(trace, event, "device", clock_row(trace, (size_t)json_whole(stage, "group", 0)),
                &event[6], out);
    text_add(out, "}}");
}

static void add_stage(struct trace *trace, const int64_t *event, struct text *out)
{
    const json_t *stage = json_array_get(trace->stages, (size_t)event[2]);
    begin_stage(trace, event, "stage", (size_t)json_whole(stage, "group", 0) + 1, &event[3], out);
    if (event[5] >= 0)
        add_us(out, "cpu_us", event[5]);
    text_add(out, "}}");
}

/* A batch begins with its first stage and ends with its last one. */
static void add_batch_end(struct trace *trace, const int64_t *event, struct text *out)
{
    size_t last = json_array_size(trace->stages) - 1;
    for (int end = 0; end < 2; end++) {
        if (event[2] != (end ? (int64_t)last : 0))
            continue;
        begin_line(trace, out);
        text_addf(out, "{\"ph\":\"%s\",\"cat\":\"batch\",\"name\":\"batch\",\"id\":\"%zu.",
                  end ? "e" : "b", trace->process);
        text_add_integer(out, event[0]);
        text_addf(out, "\",\"pid\":%zu,\"tid\":0", trace->process);
        add_us(out, "ts", event[end ? 4 : 3]);
        text_add(out, ",\"args\":{\"batch\":");
        text_add_integer(out, event[0]);
        text_add(out, "}}");
    }
}

static bool add_case(const struct view *view, size_t at, struct trace *trace, struct text *out,
                     struct assay_error *error)
{
    json_t *record = journal_case(view->results, at, error);
    json_t *samples = record ? journal_samples(view->results, at, error) : NULL;
    const json_t *given = json_object_get(samples, "trace");
    bool good = record && !error->status;
    trace->groups = json_object_get(given, "groups");
    trace->clocks = json_object_get(given, "clocks");
    trace->stages = json_object_get(given, "stages");
    trace->events = json_object_get(given, "events");
    trace->process = at + 1;
    if (good && given) {
        struct text label = {0};
        size_t i;
        json_t *event;
        text_addf(&label, "%s: ", json_text(record, "experiment", ""));
        view_add_label(view, record, &label);
        add_name(trace, "process_name", 0, text_string(&label), out);
        for (i = 0; i < json_array_size(trace->groups); i++)
            add_row(trace, i, out);
        for (i = 0; i < json_array_size(trace->clocks); i++)
            add_clock_row(trace, i, out);
        json_array_foreach((json_t *)(uintptr_t)trace->events, i, event)
        {
            int64_t values[EVENT_MEMBERS];
            if (!read_event(event, values) || values[2] >= (int64_t)json_array_size(trace->stages))
                good = assay_fail(error, ASSAY_INVALID, "the trace of case %zu is damaged", at + 1);
            if (!good)
                break;
            add_stage(trace, values, out);
            add_device_stage(trace, values, out);
            add_batch_end(trace, values, out);
        }
        text_free(&label);
    }
    json_decref(samples);
    json_decref(record);
    return good;
}

bool report_trace(const struct report_source *source, struct text *out, struct assay_error *error)
{
    struct view view;
    struct trace trace = {.first = true};
    if (!view_open(source, &view, error))
        return false;
    text_add(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    bool good = true;
    for (size_t i = 0; good && i < view.case_count; i++)
        good = add_case(&view, i, &trace, out, error);
    text_add(out, "\n]}\n");
    view_close(&view);
    if (good && out->failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the trace");
    return good;
}
