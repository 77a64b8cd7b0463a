/* SPDX-License-Identifier: MIT */
#include "run/job.h"

#include "base/json.h"
#include "base/options.h"
#include "base/os.h"
#include "measure/load.h"
#include "result/record.h"
#include "vulkan/slot.h"

#include <inttypes.h>
#include <string.h>

#define QUICK_TARGET 0.05
#define QUICK_WARMUP_NS INT64_C(100000000)

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

void job_add_params(struct job *job)
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

struct measure_budget job_budget(const struct job *job, bool looks)
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

bool job_prepare(struct job *job, struct session *session, struct arena *arena,
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

/* A text that ran out of memory would leave a damaged record. */
static bool texts_whole(const struct job *job, const struct measure_result *result)
{
    return !job->params_json.failed && !job->metrics_json.failed && !job->device_json.failed &&
           !result->memory.failed && !result->shaders.failed && !result->sources.failed &&
           !result->sensors.failed && !result->tuning.failed && !result->notes.failed;
}

bool job_add_record(struct job *job, const struct measure_result *result,
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

void job_free(struct job *job)
{
    text_free(&job->output);
    text_free(&job->params_json);
    text_free(&job->search_json);
    text_free(&job->metrics_json);
    text_free(&job->device_json);
}
