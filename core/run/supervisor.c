/* SPDX-License-Identifier: MIT */
#include "run/supervisor.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/units.h"
#include "result/record.h"
#include "run/link.h"
#include "vulkan/selector.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS INT64_C(1000000000)
#define DESCRIBE_LIMIT_NS (30 * SECOND_NS)
#define DEVICES_LIMIT_NS (60 * SECOND_NS)
#define DEADLINE_NS (60 * SECOND_NS)
#define INTERRUPTED_NS (2 * SECOND_NS) /* what a running case gets after a signal */
#define SLICE_NS (SECOND_NS / 5)       /* how often a wait looks for a signal */
#define LAST_WORDS_NS (5 * SECOND_NS)  /* from a closed pipe, or a last record, to the end */

struct supervisor {
    struct link *link;
    json_t *devices; /* as supervisor_devices found them, or NULL */
    bool quick;
    int64_t deadline_ns;
    struct text request, samples, record, reason; /* of the case that runs; reused */
};

/* A case in progress. */
struct turn {
    struct supervisor *supervisor;
    const char *id;
    json_t *request, *record;
    bool model; /* needs no device */
    int64_t deadline_ns;
    const volatile int *interrupted;
    const struct supervisor_events *events; /* may be NULL */
    bool stopped;                           /* by a signal: no record */
};

struct supervisor *supervisor_create(const struct supervisor_params *params,
                                     struct assay_error *error)
{
    struct supervisor *supervisor = calloc(1, sizeof(*supervisor));
    if (!supervisor) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    /* A dead worker shows as a failed write; it must not end this process. */
    struct sigaction pipe;
    if (sigaction(SIGPIPE, NULL, &pipe) == 0 && pipe.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
    supervisor->link = link_create(error);
    if (supervisor->link && supervisor_configure(supervisor, params, error))
        return supervisor;
    supervisor_destroy(&supervisor);
    return NULL;
}

void supervisor_destroy(struct supervisor **supervisor)
{
    struct supervisor *self = *supervisor;
    if (!self)
        return;
    link_destroy(&self->link);
    json_decref(self->devices);
    text_free(&self->request);
    text_free(&self->samples);
    text_free(&self->record);
    text_free(&self->reason);
    free(self);
    *supervisor = NULL;
}

bool supervisor_configure(struct supervisor *supervisor, const struct supervisor_params *params,
                          struct assay_error *error)
{
    supervisor->quick = params->quick;
    supervisor->deadline_ns = params->deadline_ns;
    struct link_params link = {.log_path = params->log_path,
                               .validate = params->validate,
                               .shader_directories = params->shader_directories};
    return link_configure(supervisor->link, &link, error);
}

static json_t *ask(struct supervisor *supervisor, const char *what, int64_t limit_ns,
                   const char *doing, struct assay_error *error)
{
    json_t *request = json_pack("{s:s}", "ask", what);
    if (!request) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    json_t *answer = link_ask(supervisor->link, request, limit_ns, doing, error);
    json_decref(request);
    return answer;
}

json_t *supervisor_describe(struct supervisor *supervisor, struct assay_error *error)
{
    json_t *answer = ask(supervisor, "describe", DESCRIBE_LIMIT_NS, "it described the workloads",
                         error);
    json_t *workloads = json_incref(json_object_get(answer, "workloads"));
    if (answer && !json_is_array(workloads)) {
        json_decref(workloads);
        workloads = NULL;
        assay_fail(error, ASSAY_INTERNAL, "the worker's answer holds no workloads");
    }
    json_decref(answer);
    return workloads;
}

json_t *supervisor_devices(struct supervisor *supervisor, struct assay_error *error)
{
    json_t *answer = ask(supervisor, "devices", DEVICES_LIMIT_NS, "it looked for devices", error);
    if (answer && !json_is_array(json_object_get(answer, "devices"))) {
        json_decref(answer);
        answer = NULL;
        assay_fail(error, ASSAY_INTERNAL, "the worker's answer holds no devices");
    }
    if (answer) {
        json_object_del(answer, "tell");
        json_decref(supervisor->devices);
        supervisor->devices = json_incref(json_object_get(answer, "devices"));
    }
    return answer;
}

/* What is known of the device without opening it; nothing when it was never looked for. */
static bool turn_add_device(const struct turn *turn, struct text *out, struct assay_error *error)
{
    static const char *const members[] = {"name", "label",  "class",      "uuid",
                                          "pci",  "driver", "api_version"};
    const char *selector = json_text(turn->request, "device", NULL);
    struct assay_error none = {0}; /* the case has failed in another way than by its selector */
    size_t index;
    if (turn->model || !turn->supervisor->devices ||
        !vulkan_select(turn->supervisor->devices, selector, &index, &none))
        return true;
    const json_t *found = json_array_get(turn->supervisor->devices, index);
    json_t *device = json_pack("{s:s?}", "selector", selector);
    for (size_t i = 0; device && i < sizeof(members) / sizeof(members[0]); i++)
        json_object_set(device, members[i], json_object_get(found, members[i]));
    bool good = device ? json_add_line(out, device, false, error)
                       : assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    json_decref(device);
    return good;
}

/* Writes the record that the worker could not: `reason` of the supervisor says how it ended. */
static bool turn_fail(struct turn *turn, enum assay_status status, struct assay_error *error)
{
    struct supervisor *supervisor = turn->supervisor;
    struct text device = {0};
    text_clear(&supervisor->samples);
    text_clear(&supervisor->record);
    bool good = turn_add_device(turn, &device, error);
    struct record_case record = {.request = turn->request,
                                 .device = text_string(&device),
                                 .status = record_status(status),
                                 .reason = text_string(&supervisor->reason)};
    good = good && record_add_case(&supervisor->record, &record, error);
    text_free(&device);
    if (!good)
        return false;
    turn->record = json_read(supervisor->record.data, supervisor->record.length, "case record",
                             error);
    return turn->record;
}

static bool turn_died(struct turn *turn, struct assay_error *error)
{
    struct supervisor *supervisor = turn->supervisor;
    text_add(&supervisor->reason, "the worker ");
    link_end(supervisor->link, LAST_WORDS_NS, &supervisor->reason);
    link_add_log(supervisor->link, &supervisor->reason);
    return turn_fail(turn, ASSAY_CRASH, error);
}

static bool turn_garbage(struct turn *turn, const char *what, struct assay_error *error)
{
    struct supervisor *supervisor = turn->supervisor;
    text_addf(&supervisor->reason, "the worker sent something that is no record of this case: %s",
              what);
    link_end(supervisor->link, 0, NULL);
    link_add_log(supervisor->link, &supervisor->reason);
    return turn_fail(turn, ASSAY_CRASH, error);
}

static bool turn_expired(struct turn *turn, struct assay_error *error)
{
    struct supervisor *supervisor = turn->supervisor;
    link_end(supervisor->link, 0, NULL);
    if (turn->stopped)
        return true;
    text_add(&supervisor->reason, "no result within ");
    number_add(&supervisor->reason, (double)turn->deadline_ns / 1e9);
    text_add(&supervisor->reason, " s (the case's deadline); its worker was killed");
    link_add_log(supervisor->link, &supervisor->reason);
    return turn_fail(turn, ASSAY_TIMEOUT, error);
}

/* The next line within the deadline; a signal shortens it. */
static enum channel_result turn_receive(struct turn *turn, int64_t *end_ns, const char **line,
                                        size_t *length, struct assay_error *error)
{
    struct assay_clock *clock = clock_monotonic();
    for (;;) {
        int64_t now = clock_now(clock);
        if (turn->interrupted && *turn->interrupted && !turn->stopped) {
            turn->stopped = true;
            if (*end_ns - now > INTERRUPTED_NS)
                *end_ns = now + INTERRUPTED_NS;
        }
        int64_t left = *end_ns - now;
        if (left <= 0)
            return CHANNEL_LIMIT;
        enum channel_result result = link_receive(
            turn->supervisor->link, left < SLICE_NS ? left : SLICE_NS, line, length, error);
        if (result != CHANNEL_LIMIT)
            return result;
        if (turn->events && turn->events->waiting)
            turn->events->waiting(turn->events->user);
    }
}

enum said { SAID_MORE, SAID_ALL, SAID_GARBAGE };

/* One line of the worker: samples are kept, the case's record ends the turn. */
static enum said turn_take(struct turn *turn, const char *line, size_t length,
                           struct assay_error *what)
{
    struct supervisor *supervisor = turn->supervisor;
    json_t *record = json_read(line, length, "record", what);
    const char *kind = json_text(record, "kind", "");
    bool ours = strcmp(json_text(record, "id", ""), turn->id) == 0;
    if (ours && strcmp(kind, "samples") == 0) {
        text_clear(&supervisor->samples);
        text_add_bytes(&supervisor->samples, line, length);
        json_decref(record);
        return SAID_MORE;
    }
    if (ours && strcmp(kind, "case") == 0) {
        text_clear(&supervisor->record);
        text_add_bytes(&supervisor->record, line, length);
        turn->record = record;
        return SAID_ALL;
    }
    if (record)
        assay_fail(what, ASSAY_INTERNAL, "%s",
                   json_text(record, "text", "neither samples nor case, or another id"));
    json_decref(record);
    return SAID_GARBAGE;
}

static bool turn_wait(struct turn *turn, struct assay_error *error)
{
    int64_t end_ns = clock_now(clock_monotonic()) + turn->deadline_ns;
    for (;;) {
        const char *line;
        size_t length;
        struct assay_error what = {0};
        switch (turn_receive(turn, &end_ns, &line, &length, &what)) {
        case CHANNEL_LIMIT:
            return turn_expired(turn, error);
        case CHANNEL_END:
            return turn_died(turn, error);
        case CHANNEL_ERROR:
            return turn_garbage(turn, what.text, error);
        case CHANNEL_LINE:
            break;
        }
        switch (turn_take(turn, line, length, &what)) {
        case SAID_MORE:
            break;
        case SAID_ALL:
            return true;
        case SAID_GARBAGE:
            return turn_garbage(turn, what.text, error);
        }
    }
}

/* Hands the case to a worker that takes it: one that died idle is replaced, once. */
static bool turn_send(struct turn *turn, struct assay_error *error)
{
    struct supervisor *supervisor = turn->supervisor;
    struct link *link = supervisor->link;
    for (int attempt = 0; attempt < 2; attempt++) {
        struct assay_error refused = {0};
        if (link_ready(link, &refused) &&
            link_send(link, supervisor->request.data, supervisor->request.length, &refused))
            return true;
        text_clear(&supervisor->reason);
        link_end(link, LAST_WORDS_NS, &supervisor->reason);
        if (attempt > 0)
            assay_fail(error, refused.status, "no worker takes a case: %s%s%s", refused.text,
                       supervisor->reason.length ? "; the last one " : "",
                       text_string(&supervisor->reason));
    }
    return false;
}

/* After these the worker ends by itself, because its device is past use. */
static bool record_ends_worker(const json_t *record)
{
    const char *status = json_text(record, "status", "");
    return strcmp(status, record_status(ASSAY_TIMEOUT)) == 0 ||
           strcmp(status, record_status(ASSAY_DEVICE_LOST)) == 0;
}

static bool turn_run(struct turn *turn, struct assay_error *error)
{
    struct supervisor *supervisor = turn->supervisor;
    text_clear(&supervisor->request);
    text_clear(&supervisor->samples);
    if (!json_add_line(&supervisor->request, turn->request, false, error) ||
        !turn_send(turn, error))
        return false;
    text_clear(&supervisor->reason);
    if (!turn_wait(turn, error))
        return false;
    if (turn->record && record_ends_worker(turn->record))
        link_end(supervisor->link, LAST_WORDS_NS, NULL);
    return true;
}

static bool turn_journal(struct turn *turn, struct journal_writer *journal,
                         struct assay_error *error)
{
    const struct text *samples = &turn->supervisor->samples, *record = &turn->supervisor->record;
    if (samples->failed || record->failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    if (samples->length && !journal_append(journal, samples->data, samples->length, error))
        return false;
    return journal_append(journal, record->data, record->length, error);
}

static int64_t case_deadline(const struct supervisor *supervisor, const struct plan *plan,
                             const struct plan_case *item)
{
    const struct plan_measure *measure = &plan->experiments[item->experiment].measure;
    if (supervisor->deadline_ns > 0)
        return supervisor->deadline_ns;
    return measure->deadline_ns > 0 ? measure->deadline_ns : DEADLINE_NS + measure->budget_ns;
}

static bool run_case(struct turn *turn, const struct plan *plan, const struct plan_case *item,
                     struct journal_writer *journal, struct assay_error *error)
{
    const struct supervisor_events *events = turn->events;
    bool ok = false;
    turn->record = NULL;
    turn->model = item->workload->model;
    turn->request = plan_case_request(plan, item, turn->supervisor->quick);
    if (!turn->request)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a request");
    turn->id = json_text(turn->request, "id", "");
    turn->deadline_ns = case_deadline(turn->supervisor, plan, item);
    if (turn_run(turn, error)) {
        ok = !turn->record || turn_journal(turn, journal, error);
        if (ok && turn->record && events && events->ended)
            events->ended(events->user, plan, item, turn->record);
    }
    json_decref(turn->record);
    json_decref(turn->request);
    return ok;
}

bool supervisor_run(struct supervisor *supervisor, const struct plan *plan,
                    struct journal_writer *journal, const struct supervisor_events *events,
                    const volatile int *interrupted, struct assay_error *error)
{
    struct turn turn = {.supervisor = supervisor, .interrupted = interrupted, .events = events};
    size_t total = plan_selected_count(plan), index = 0;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct plan_case *item = &plan->cases[i];
        if (!item->selected)
            continue;
        if (turn.stopped || (interrupted && *interrupted))
            return true;
        if (events && events->started)
            events->started(events->user, plan, item, index, total);
        index++;
        if (!run_case(&turn, plan, item, journal, error))
            return false;
    }
    return true;
}
