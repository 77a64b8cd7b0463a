/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "result/record.h"
#include "run/job.h"
#include "run/session_search.h"

#include <stdio.h>
#include <string.h>

/* A check may compute for as long as --script-deadline says. */
#define ANSWER_LIMIT_NS INT64_C(3600000000000)

/* What is asked for at once: one case or a pair group. */
struct batch {
    struct session *session;
    const json_t *request;
    struct arena *arena; /* of params, their texts, and what follows */
    size_t count;
    struct job *jobs;
    struct assay_error *failures;     /* one a job */
    struct measure_request *measures; /* of the jobs that can be measured ... */
    struct measure_result *results;
    struct assay_error *measured;
    size_t *job_of; /* ... and which these are */
    size_t measure_count;
    bool tune_only; /* the choices that parameters leave open are made, and nothing is measured */
};

/* False: the validation layers said something; they do not say of which case. */
static bool session_check_messages(struct session *session, struct assay_error *error)
{
    if (!session->validate || !session->instance)
        return true;
    struct text messages = {0};
    size_t count = vulkan_instance_take_messages(session->instance, &messages);
    if (count == 0) {
        text_free(&messages);
        return true;
    }
    fprintf(stderr, "%s\n", text_string(&messages));
    int first = (int)strcspn(text_string(&messages), "\n");
    assay_fail(error, ASSAY_VALIDATION, "%zu message%s of the validation layers%s: %.*s", count,
               count == 1 ? "" : "s", count == 1 ? "" : ", the first", first,
               text_string(&messages));
    text_free(&messages);
    return false;
}

static bool send(struct session *session, struct assay_error *error)
{
    struct text *line = &session->line;
    if (line->failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    return channel_write(session->channel, line->data, line->length, error);
}

static const struct measure_result nothing;

/* The result of a job; one that was not measured has an empty one. */
static const struct measure_result *result_of(const struct batch *batch, size_t job)
{
    for (size_t i = 0; i < batch->measure_count; i++)
        if (batch->job_of[i] == job)
            return &batch->results[i];
    return &nothing;
}

static bool batch_tell(struct batch *batch, struct assay_error *error)
{
    struct session *session = batch->session;
    for (size_t i = 0; i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        const struct measure_result *result = result_of(batch, i);
        if (batch->failures[i].status == ASSAY_OK && !job->explored && !batch->tune_only) {
            text_clear(&session->line);
            record_add_samples(&session->line, json_text(job->request, "id", ""),
                               text_string(&result->samples), text_string(&result->trace));
            if (!send(session, error))
                return false;
        }
        text_clear(&session->line);
        if (!job_add_record(job, result, &batch->failures[i], &session->line, error) ||
            !send(session, error))
            return false;
    }
    return true;
}

/* {"tell":"look","look":k,"cases":[{"samples":record or null,"case":record},...]} */
static bool look_line(struct batch *batch, unsigned look, struct assay_error *error)
{
    struct text *line = &batch->session->line;
    text_clear(line);
    text_addf(line, "{\"tell\":\"look\",\"look\":%u,\"cases\":[", look);
    for (size_t i = 0; i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        const struct measure_result *result = result_of(batch, i);
        text_add(line, i ? ",{\"samples\":" : "{\"samples\":");
        if (batch->failures[i].status == ASSAY_OK)
            record_add_samples(line, json_text(job->request, "id", ""),
                               text_string(&result->samples), "");
        else
            text_add(line, "null");
        text_add(line, ",\"case\":");
        if (!job_add_record(job, result, &batch->failures[i], line, error))
            return false;
        text_add_char(line, '}');
    }
    text_add(line, "]}");
    return !line->failed || assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a look");
}

/* The answer to a look. */
static bool wait_answer(struct session *session, enum measure_answer *out,
                        struct assay_error *error)
{
    const char *line;
    size_t length;
    switch (channel_read(session->channel, ANSWER_LIMIT_NS, &line, &length, error)) {
    case CHANNEL_LINE:
        break;
    case CHANNEL_END:
        return assay_fail(error, ASSAY_SYSTEM, "the supervisor went away during a look");
    case CHANNEL_LIMIT:
        return assay_fail(error, ASSAY_TIMEOUT, "the supervisor did not answer a look");
    case CHANNEL_ERROR:
        return false;
    }
    json_t *answer = json_read(line, length, "the answer to a look", error);
    const char *ask = json_text(answer, "ask", "");
    bool more = strcmp(ask, "more") == 0;
    bool good = more || strcmp(ask, "done") == 0;
    *out = more ? MEASURE_UNDECIDED : MEASURE_DECIDED;
    if (answer && !good)
        assay_fail(error, ASSAY_SYSTEM, "the answer to a look is neither more nor done");
    json_decref(answer);
    return good;
}

static void take_failures(struct batch *batch, const struct assay_error *measured)
{
    for (size_t i = 0; i < batch->measure_count; i++)
        batch->failures[batch->job_of[i]] = measured[i];
}

static bool ask(void *user, unsigned look, const struct measure_result *results,
                const struct assay_error *failures, enum measure_answer *answer,
                struct assay_error *error)
{
    struct batch *batch = user;
    (void)results; /* batch->results */
    take_failures(batch, failures);
    if (!look_line(batch, look, error))
        return false;
    if (batch->session->line.length > CHANNEL_LINE_BYTES) {
        *answer = MEASURE_UNASKED;
        return true;
    }
    return send(batch->session, error) && wait_answer(batch->session, answer, error);
}

static bool batch_prepare(struct batch *batch, struct assay_error *error)
{
    const json_t *cases = json_object_get(batch->request, "cases");
    size_t count = cases ? json_array_size(cases) : 1;
    batch->arena = arena_create();
    if (count == 0 || count > SIZE_MAX / sizeof(struct measure_result))
        return assay_fail(error, ASSAY_INTERNAL, "a group without cases");
    if (batch->arena) {
        batch->jobs = arena_alloc(batch->arena, count * sizeof(*batch->jobs));
        batch->failures = arena_alloc(batch->arena, count * sizeof(*batch->failures));
        batch->measures = arena_alloc(batch->arena, count * sizeof(*batch->measures));
        batch->results = arena_alloc(batch->arena, count * sizeof(*batch->results));
        batch->measured = arena_alloc(batch->arena, count * sizeof(*batch->measured));
        batch->job_of = arena_alloc(batch->arena, count * sizeof(*batch->job_of));
    }
    if (!batch->arena || !batch->jobs || !batch->failures || !batch->measures || !batch->results ||
        !batch->measured || !batch->job_of)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu cases", count);
    batch->count = count;
    batch->tune_only = json_flag(batch->request, "tune", false);
    for (size_t i = 0; i < count; i++)
        batch->jobs[i].request = cases ? json_array_get(cases, i) : batch->request;
    return true;
}

/* A case of assay.search: at one value after the other. What failed is the case's. */
static void batch_search(struct batch *batch, const struct measure_group *group)
{
    struct job *job = &batch->jobs[0];
    struct assay_error *failure = &batch->measured[0];
    struct session_search search = {.request = &batch->measures[0],
                                    .params = job->params,
                                    .budget = job_budget(job, false),
                                    .watch = group->watch};
    *failure = (struct assay_error){0};
    if (search_from_json(json_object_get(job->request, "search"), &search.search, failure) &&
        session_search_run(&search, &batch->results[0], failure)) {
        text_clear(&job->params_json);
        job_add_params(job);
    }
    job->search_json = search.record;
}

static bool batch_measure(struct batch *batch, struct assay_error *error)
{
    struct session *session = batch->session;
    bool looks = json_flag(batch->request, "looks", false);
    struct measure_group group = {
        .members = batch->measures,
        .budget = job_budget(&batch->jobs[0], looks),
        .order_seed = (uint64_t)json_whole(batch->request, "order_seed", 0),
        .tune_only = batch->tune_only,
        .ask = ask,
        .user = batch};
    for (size_t i = 0; i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        struct assay_error *failure = &batch->failures[i];
        if (!job_prepare(job, session, batch->arena, failure)) {
            if (failure->status == ASSAY_OK)
                assay_fail(failure, ASSAY_INTERNAL, "the case failed without a reason");
            continue;
        }
        if (job->explored)
            continue;
        batch->job_of[group.count] = i;
        batch->measures[group.count++] = (struct measure_request){
            .workload = job->workload,
            .params = job->params,
            .device = job->device ? job->device->device : NULL,
            .search = &job->search,
            .seed = (uint64_t)json_whole(job->request, "case_seed", 0),
            .note = job->device ? vulkan_instance_unwatched(session->instance) : NULL,
            .budget = job_budget(job, false),
            .schedule = job->schedule,
            .perturb = json_object_get(job->request, "perturb") != NULL,
            .perturb_seed = (uint64_t)json_whole(job->request, "perturb", 0),
            .trace = session->trace,
            .validate = session->validate,
        };
    }
    batch->measure_count = group.count;
    for (size_t i = 0; i < group.count && !group.watch; i++)
        if (!workload_is_model(batch->measures[i].workload))
            group.watch = session_watch(session);
    bool searches = group.count == 1 && json_object_get(batch->jobs[0].request, "search");
    if (searches)
        batch_search(batch, &group);
    else if (group.count && !measure_group(&group, batch->results, batch->measured, error))
        return false;
    take_failures(batch, batch->measured);
    return true;
}

/* A device that was lost takes the whole worker with it. */
static bool batch_lost(const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct session_device *device = batch->jobs[i].device;
        if (batch->failures[i].status == ASSAY_TIMEOUT ||
            batch->failures[i].status == ASSAY_DEVICE_LOST || (device && device->device->lost))
            return true;
    }
    return false;
}

static void batch_free(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        job_free(&batch->jobs[i]);
    for (size_t i = 0; i < batch->measure_count; i++)
        measure_result_free(&batch->results[i]);
    arena_destroy(&batch->arena);
}

/* A message of the validation layers fails the case, whatever else it did. A device that is lost
 * comes before: the status tells the supervisor that this worker ends and takes no further case. */
static void settle(struct assay_error *failure, bool lost, const struct assay_error *messages)
{
    bool quiet = messages->status == ASSAY_OK;
    if (!lost) {
        if (!quiet)
            *failure = *messages;
        return;
    }
    if (failure->status == ASSAY_OK)
        assay_fail(failure, ASSAY_DEVICE_LOST, "the device is past use");
    if (failure->status != ASSAY_TIMEOUT)
        failure->status = ASSAY_DEVICE_LOST;
    if (!quiet)
        error_prefix(failure, "%s", messages->text);
}

bool session_group(struct session *session, const json_t *request, struct assay_error *error)
{
    struct batch batch = {.session = session, .request = request};
    struct assay_error messages = {0};
    bool told = batch_prepare(&batch, error) && batch_measure(&batch, error);
    if (told) {
        bool lost = batch_lost(&batch);
        session_check_messages(session, &messages);
        for (size_t i = 0; i < batch.count; i++)
            settle(&batch.failures[i], lost, &messages);
        told = batch_tell(&batch, error);
        session->lost = session->lost || lost;
        session->ended = session->ended || lost;
    }
    batch_free(&batch);
    return told;
}
