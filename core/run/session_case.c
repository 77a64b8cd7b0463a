/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/options.h"
#include "measure/measure.h"
#include "result/record.h"
#include "run/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define QUICK_TARGET 0.05
#define QUICK_WARMUP_NS INT64_C(100000000)

/* A case in the worker. */
struct job {
    const json_t *request;
    const struct assay_workload *workload;
    struct arena *arena; /* params and their texts */
    void *params;
    struct session_device *device;
    struct measure_result result;
    struct text params_json, metrics_json, device_json;
};

static bool job_set_params(struct job *job, const struct session *session,
                           struct assay_error *error)
{
    const struct assay_workload *workload = job->workload;
    job->params = arena_alloc(job->arena, workload->params_size);
    if (!job->params)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for parameters");
    memcpy(job->params, registry_defaults(session->registry, workload), workload->params_size);
    const char *name;
    json_t *given;
    json_object_foreach(json_object_get(job->request, "set"), name, given)
    {
        int index = option_find(workload->options, name);
        if (index < 0)
            return option_unknown(workload->options, workload->name, name, error);
        struct option_value value;
        if (!option_value_from_json(workload->options[index], given, job->arena, &value, error))
            return false;
        option_store(workload->options[index], &value, job->params);
    }
    return true;
}

static void add_value(struct text *out, const struct assay_option *option,
                      const struct option_value *value)
{
    switch (value->kind) {
    case ASSAY_OPTION_INTEGER:
        text_addf(out, "%" PRId64, value->as.integer);
        break;
    case ASSAY_OPTION_REAL:
        number_add(out, value->as.real);
        break;
    case ASSAY_OPTION_BOOLEAN:
        text_add(out, value->as.boolean ? "true" : "false");
        break;
    case ASSAY_OPTION_CHOICE:
        record_add_string(out, option->choices[value->as.choice]);
        break;
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        record_add_string(out, value->as.text);
        break;
    }
}

static void job_add_params(struct job *job)
{
    struct text *out = &job->params_json;
    const struct assay_option *const *options = job->workload->options;
    text_add_char(out, '{');
    for (size_t i = 0; options[i]; i++) {
        struct option_value value;
        option_load(options[i], job->params, &value);
        text_add(out, i ? ",\"" : "\"");
        text_add(out, options[i]->name);
        text_add(out, "\":");
        add_value(out, options[i], &value);
    }
    text_add_char(out, '}');
}

static void job_add_device(struct job *job)
{
    if (!job->device)
        return;
    text_add(&job->device_json, "{\"selector\":");
    record_add_string(&job->device_json, json_text(job->request, "device", NULL));
    text_add_char(&job->device_json, ',');
    text_add(&job->device_json, text_string(&job->device->record) + 1);
}

static struct measure_budget job_budget(const struct job *job)
{
    const json_t *measure = json_object_get(job->request, "measure");
    struct measure_budget budget = {
        .target = json_number(measure, "target", 0),
        .budget_ns = json_whole(measure, "budget_ns", 0),
        .min_samples = (unsigned)json_whole(measure, "min_samples", 0),
        .max_samples = (unsigned)json_whole(measure, "max_samples", 0),
    };
    if (json_flag(job->request, "quick", false)) {
        budget.warmup_ns = QUICK_WARMUP_NS;
        if (budget.target < QUICK_TARGET)
            budget.target = QUICK_TARGET;
    }
    return budget;
}

static enum vulkan_queue_choice job_queues(const struct job *job)
{
    const json_t *schedule = json_object_get(job->request, "schedule");
    const char *name = json_text(schedule, "queues", "auto");
    if (strcmp(name, "one") == 0)
        return VULKAN_QUEUES_ONE;
    return strcmp(name, "dedicated") == 0 ? VULKAN_QUEUES_DEDICATED : VULKAN_QUEUES_AUTO;
}

static bool job_find(struct job *job, const struct session *session, struct assay_error *error)
{
    const char *name = json_text(job->request, "workload", "");
    const char *version = json_text(job->request, "version", "");
    job->workload = registry_find(session->registry, name);
    if (!job->workload)
        return assay_fail(error, ASSAY_INVALID, "the worker has no workload '%s'", name);
    if (*version && strcmp(version, job->workload->version) != 0)
        return assay_fail(error, ASSAY_INVALID,
                          "version %s of workload '%s' is wanted, the worker has version %s",
                          version, name, job->workload->version);
    return true;
}

/* A message of the validation layers fails the case, whatever else it did. */
static bool job_check_messages(struct session *session, struct assay_error *error)
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

static bool job_run(struct job *job, struct session *session, struct assay_error *error)
{
    if (!job_find(job, session, error) || !job_set_params(job, session, error))
        return false;
    job_add_params(job);
    const struct assay_workload *workload = job->workload;
    if (workload->check && !workload->check(job->params, error))
        return false;
    if (!workload_is_model(workload)) {
        const char *selector = json_text(job->request, "device", NULL);
        job->device = session_open_device(session, selector, job_queues(job), error);
        if (!job->device)
            return false;
        job_add_device(job);
    }
    struct measure_request measure = {
        .workload = workload,
        .params = job->params,
        .device = job->device ? job->device->device : NULL,
        .search = &session->search,
        .seed = (uint64_t)json_whole(job->request, "case_seed", 0),
        .budget = job_budget(job),
    };
    if (!measure_case(&measure, &job->result, error))
        return false;
    metric_set_add_json(job->result.metrics, &job->metrics_json);
    return true;
}

static bool send(struct session *session, struct assay_error *error)
{
    struct text *line = &session->line;
    if (line->failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    return channel_write(session->channel, line->data, line->length, error);
}

/* A text that ran out of memory would leave a damaged record. */
static bool job_texts_whole(const struct job *job)
{
    return !job->params_json.failed && !job->metrics_json.failed && !job->device_json.failed &&
           !job->result.memory.failed && !job->result.shaders.failed && !job->result.notes.failed;
}

static bool job_tell(struct job *job, struct session *session, const struct assay_error *failure,
                     struct assay_error *error)
{
    const struct measure_result *result = &job->result;
    bool done = failure->status == ASSAY_OK;
    if (!job_texts_whole(job))
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    if (done) {
        text_clear(&session->line);
        record_add_samples(&session->line, json_text(job->request, "id", ""),
                           text_string(&result->samples));
        if (!send(session, error))
            return false;
    }
    struct record_case record = {
        .request = job->request,
        .params = text_string(&job->params_json),
        .device = text_string(&job->device_json),
        .status = record_status(failure->status),
        .reason = done ? NULL : failure->text,
        .memory = text_string(&result->memory),
        .shaders = text_string(&result->shaders),
        .notes = text_string(&result->notes),
    };
    if (done) {
        record.metrics = text_string(&job->metrics_json);
        record.sampling = text_string(&result->sampling);
        record.stages = text_string(&result->stages);
        record.verification = text_string(&result->verification);
    }
    text_clear(&session->line);
    return record_add_case(&session->line, &record, error) && send(session, error);
}

bool session_case(struct session *session, const json_t *request, struct assay_error *error)
{
    struct job job = {.request = request, .arena = arena_create()};
    struct assay_error failure = {0};
    bool ok = job.arena ? job_run(&job, session, &failure)
                        : assay_fail(&failure, ASSAY_OUT_OF_MEMORY, "out of host memory");
    if (!ok && failure.status == ASSAY_OK)
        assay_fail(&failure, ASSAY_INTERNAL, "the case failed without a reason");
    bool lost = failure.status == ASSAY_TIMEOUT || failure.status == ASSAY_DEVICE_LOST ||
                (job.device && job.device->device->lost);
    struct assay_error said = {0};
    bool quiet = job_check_messages(session, &said);
    if (lost) {
        /* The status tells the supervisor that this worker ends and takes no further case. */
        if (failure.status != ASSAY_TIMEOUT)
            failure.status = ASSAY_DEVICE_LOST;
        if (!quiet)
            error_prefix(&failure, "%s", said.text);
    } else if (!quiet) {
        failure = said;
    }
    bool told = job_tell(&job, session, &failure, error);
    session->lost = session->lost || lost;
    session->ended = session->ended || lost;
    measure_result_free(&job.result);
    text_free(&job.params_json);
    text_free(&job.metrics_json);
    text_free(&job.device_json);
    arena_destroy(&job.arena);
    return told;
}
