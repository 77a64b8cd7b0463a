/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/options.h"
#include "base/os.h"
#include "measure/load.h"
#include "measure/measure.h"
#include "result/record.h"
#include "run/session.h"
#include "run/session_search.h"
#include "vulkan/slot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A check may compute for as long as --script-deadline says. */
#define ANSWER_LIMIT_NS INT64_C(3600000000000)
#define QUICK_TARGET 0.05
#define QUICK_WARMUP_NS INT64_C(100000000)

/* A case in the worker. */
struct job {
    const json_t *request;
    const struct assay_workload *workload;
    void *params;
    struct shader_search search;
    struct schedule schedule;
    struct session_device *device;
    bool explored; /* nothing to measure */
    struct text output;
    struct text params_json, metrics_json, device_json, search_json;
};

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

static bool job_set_params(struct job *job, const struct session *session, struct arena *arena,
                           struct assay_error *error)
{
    const struct assay_workload *workload = job->workload;
    job->params = arena_alloc(arena, workload->params_size);
    if (!job->params)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for parameters");
    const void *defaults = registry_defaults(session->registry, workload);
    if (!defaults)
        defaults = registry_defaults(session->script_registry, workload);
    memcpy(job->params, defaults, workload->params_size);
    const char *name;
    json_t *given;
    json_object_foreach(json_object_get(job->request, "set"), name, given)
    {
        int index = option_find(workload->options, name);
        if (index < 0)
            return option_unknown(workload->options, workload->name, name, error);
        struct option_value value;
        if (!option_value_from_json(workload->options[index], given, arena, &value, error))
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

static struct measure_budget job_budget(const struct job *job, bool looks)
{
    const json_t *measure = json_object_get(job->request, "measure");
    struct measure_budget budget = {
        .target = json_number(measure, "target", 0),
        .budget_ns = json_whole(measure, "budget_ns", 0),
        .warmup_ns = json_whole(measure, "warmup_ns", 0),
        .min_samples = (unsigned)json_whole(measure, "min_samples", 0),
        .max_samples = (unsigned)json_whole(measure, "max_samples", 0),
        .looks = looks,
    };
    if (json_flag(job->request, "quick", false)) {
        budget.warmup_ns = QUICK_WARMUP_NS;
        if (budget.target < QUICK_TARGET)
            budget.target = QUICK_TARGET;
    }
    return budget;
}

/* --quick measures for a tenth as long, but an open loop not for shorter than says anything. */
static void job_shorten(struct job *job)
{
    struct schedule *schedule = &job->schedule;
    int64_t least_ns = load_least_ns(schedule);
    if (!json_flag(job->request, "quick", false))
        return;
    int64_t quick_ns = schedule->duration_ns > 0 ? schedule->duration_ns / 10
                                                 : job_budget(job, false).budget_ns;
    int64_t all_ns = schedule->duration_ns > 0 ? schedule->duration_ns : 10 * quick_ns;
    if (schedule->duration_ns > 0)
        schedule->duration_ns = quick_ns > 0 ? quick_ns : 1;
    if (quick_ns < least_ns)
        schedule->duration_ns = least_ns < all_ns ? least_ns : all_ns;
}

static struct session_device_choice job_queues(const struct job *job)
{
    switch ((enum schedule_queues)job->schedule.queues) {
    case SCHEDULE_QUEUES_ONE:
        return (struct session_device_choice){VULKAN_QUEUES_ONE, 1};
    case SCHEDULE_QUEUES_DEDICATED:
        return (struct session_device_choice){VULKAN_QUEUES_DEDICATED, 1};
    case SCHEDULE_QUEUES_DEVICES:
        return (struct session_device_choice){VULKAN_QUEUES_AUTO, 2};
    case SCHEDULE_QUEUES_AUTO:
        break;
    }
    return (struct session_device_choice){VULKAN_QUEUES_AUTO, 1};
}

/* A plugin's kernels lie beside it: they are found behind those beside the script. */
static bool job_search(struct job *job, const struct session *session, struct arena *arena,
                       struct assay_error *error)
{
    const char *file = registry_file(session->registry, job->workload);
    const char *const *from = session->search.directories;
    size_t count = 0;
    job->search = session->search;
    if (!file)
        return true;
    while (from[count])
        count++;
    const char **directories = arena_alloc(arena, (count + 2) * sizeof(*directories));
    struct text beside = {0};
    os_path_directory(&beside, file);
    const char *kept = directories ? arena_copy(arena, text_string(&beside)) : NULL;
    text_free(&beside);
    if (!kept)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a search path");
    size_t first = count > 0 ? count - 1 : 0; /* in front of those that come with assay */
    for (size_t i = 0; i < count; i++)
        directories[i < first ? i : i + 1] = from[i];
    directories[first] = kept;
    job->search.directories = directories;
    return true;
}

/* A worker reads plugin and script once more, and later than the one that the plan was made by. */
static bool job_check_definition(const struct job *job, const char *plugin,
                                 struct assay_error *error)
{
    struct hash128 planned, here;
    const char *hex = json_text(job->request, "definition", NULL);
    if (!hex)
        return true;
    if (!registry_definition(job->workload, &here))
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a workload's description");
    if (hash_from_hex(hex, &planned) && memcmp(&planned, &here, sizeof(here)) == 0)
        return true;
    return assay_fail(
        error, ASSAY_SCRIPT,
        "workload '%s' has other parameters, stages or metrics here in the worker than "
        "when the run was planned; %s",
        job->workload->name,
        plugin ? "did its plugin change meanwhile?"
               : "a script has to define the same each time it is executed");
}

static bool job_find(struct job *job, struct session *session, struct assay_error *error)
{
    const char *name = json_text(job->request, "workload", "");
    const char *version = json_text(job->request, "version", "");
    const char *plugin = json_text(job->request, "plugin", NULL);
    if (plugin && !session_load_plugin(session, plugin, error))
        return false;
    job->workload = registry_find(session->registry, name);
    if (!job->workload && session->script_registry)
        job->workload = registry_find(session->script_registry, name);
    if (!job->workload && session->script_error.status != ASSAY_OK) {
        *error = session->script_error;
        return false;
    }
    if (!job->workload && session->script_registry)
        return assay_fail(error, ASSAY_SCRIPT,
                          "the script defined no workload '%s' when the worker executed it; it has "
                          "to define the same each time",
                          name);
    if (!job->workload)
        return assay_fail(error, ASSAY_INVALID, "the worker has no workload '%s'", name);
    if (*version && strcmp(version, job->workload->version) != 0)
        return assay_fail(error, ASSAY_INVALID,
                          "version %s of workload '%s' is wanted, the worker has version %s",
                          version, name, job->workload->version);
    return job_check_definition(job, plugin, error);
}

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

static bool job_open_device(struct job *job, struct session *session, struct assay_error *error)
{
    const char *selector = json_text(job->request, "device", NULL);
    job->device = session_open_device(session, selector, job_queues(job), error);
    if (!job->device)
        return false;
    job_add_device(job);
    return true;
}

/* assay.explore: runs once, here. */
static bool job_explore(struct job *job, struct session *session, struct assay_error *error)
{
    job->explored = true;
    if (!job_open_device(job, session, error))
        return false;
    struct slot_params params = {.device = job->device->device,
                                 .case_seed = (uint64_t)json_whole(job->request, "case_seed", 0),
                                 .search = &session->search};
    struct assay_slot *slot = slot_create(&params, error);
    bool good = slot &&
                session->scripts->explore(session->script, json_text(job->request, "workload", ""),
                                          slot, &job->output, error);
    if (slot)
        slot_destroy(&slot);
    return good;
}

static bool is_exploration(const struct session *session, const json_t *request)
{
    return session->script &&
           session->scripts->explores(session->script, json_text(request, "workload", ""));
}

/* Everything up to measuring. */
static bool job_prepare(struct job *job, struct session *session, struct arena *arena,
                        struct assay_error *error)
{
    if (!schedule_from_json(json_object_get(job->request, "schedule"), &job->schedule, error))
        return false;
    job_shorten(job);
    if (is_exploration(session, job->request))
        return job_explore(job, session, error);
    if (!job_find(job, session, error) || !job_search(job, session, arena, error) ||
        !job_set_params(job, session, arena, error))
        return false;
    job_add_params(job);
    const struct assay_workload *workload = job->workload;
    if (workload->check && !workload->check(job->params, error))
        return false;
    if (workload_is_model(workload))
        return true;
    return job_open_device(job, session, error);
}

static bool send(struct session *session, struct assay_error *error)
{
    struct text *line = &session->line;
    if (line->failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    return channel_write(session->channel, line->data, line->length, error);
}

/* A text that ran out of memory would leave a damaged record. */
static bool texts_whole(const struct job *job, const struct measure_result *result)
{
    return !job->params_json.failed && !job->metrics_json.failed && !job->device_json.failed &&
           !result->memory.failed && !result->shaders.failed && !result->sources.failed &&
           !result->sensors.failed && !result->tuning.failed && !result->notes.failed;
}

/* The case's record as things stand. */
static bool add_case(struct job *job, const struct measure_result *result,
                     const struct assay_error *failure, struct text *out, struct assay_error *error)
{
    bool done = failure->status == ASSAY_OK;
    text_clear(&job->metrics_json);
    if (done && result->metrics)
        metric_set_add_json(result->metrics, &job->metrics_json);
    if (!texts_whole(job, result))
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    struct record_case record = {
        .request = job->request,
        .params = text_string(&job->params_json),
        .device = text_string(&job->device_json),
        .status = record_status(failure->status),
        .reason = done ? NULL : failure->text,
        .memory = text_string(&result->memory),
        .pipeline = done ? text_string(&result->pipeline) : "",
        .load = done ? text_string(&result->load) : "",
        .search = text_string(&job->search_json),
        .shaders = text_string(&result->shaders),
        .sources = text_string(&result->sources),
        .notes = text_string(&result->notes),
        .tuning = text_string(&result->tuning),
        .output = job->output.length ? text_string(&job->output) : NULL,
    };
    if (done) {
        record.metrics = text_string(&job->metrics_json);
        record.sampling = text_string(&result->sampling);
        record.stages = text_string(&result->stages);
        record.verification = text_string(&result->verification);
        record.sensors = text_string(&result->sensors);
    }
    return record_add_case(out, &record, error);
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
        if (!add_case(job, result, &batch->failures[i], &session->line, error) ||
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
        if (!add_case(job, result, &batch->failures[i], line, error))
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
    for (size_t i = 0; i < batch->count; i++) {
        text_free(&batch->jobs[i].output);
        text_free(&batch->jobs[i].params_json);
        text_free(&batch->jobs[i].search_json);
        text_free(&batch->jobs[i].metrics_json);
        text_free(&batch->jobs[i].device_json);
    }
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
