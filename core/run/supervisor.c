/* SPDX-License-Identifier: MIT */
#include "run/supervisor.h"

#include "run/turn.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS INT64_C(1000000000)
#define DESCRIBE_LIMIT_NS (30 * SECOND_NS)
#define PLUGIN_LIMIT_NS (10 * SECOND_NS)
#define DEVICES_LIMIT_NS (60 * SECOND_NS)
#define DUMP_LIMIT_NS (120 * SECOND_NS) /* large kernels take a driver long */
#define DEADLINE_NS (60 * SECOND_NS)

struct supervisor {
    struct link *link;
    json_t *devices; /* as supervisor_devices found them, or NULL */
    bool quick, perturb;
    int64_t perturb_seed;
    int64_t deadline_ns;
    struct turn turn; /* reused */
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
    turn_free(&self->turn);
    json_decref(self->devices);
    free(self);
    *supervisor = NULL;
}

bool supervisor_configure(struct supervisor *supervisor, const struct supervisor_params *params,
                          struct assay_error *error)
{
    supervisor->quick = params->quick;
    supervisor->perturb = params->perturb;
    supervisor->perturb_seed = params->perturb_seed;
    supervisor->deadline_ns = params->deadline_ns;
    struct link_params link = {.log_path = params->log_path,
                               .validate = params->validate,
                               .trace = params->trace,
                               .shader_directories = params->shader_directories,
                               .script = params->script};
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

static json_t *ask_list(struct supervisor *supervisor, const char *what, const char *member,
                        const char *doing, struct assay_error *error)
{
    json_t *answer = ask(supervisor, what, DESCRIBE_LIMIT_NS, doing, error);
    json_t *list = json_incref(json_object_get(answer, member));
    if (answer && !json_is_array(list)) {
        json_decref(list);
        list = NULL;
        assay_fail(error, ASSAY_INTERNAL, "the worker's answer holds no %s", member);
    }
    json_decref(answer);
    return list;
}

json_t *supervisor_describe(struct supervisor *supervisor, struct assay_error *error)
{
    return ask_list(supervisor, "describe", "workloads", "it described the workloads", error);
}

json_t *supervisor_describe_sensors(struct supervisor *supervisor, struct assay_error *error)
{
    return ask_list(supervisor, "sensors", "sensors", "it described the sensors", error);
}

bool supervisor_set_sensors(struct supervisor *supervisor, json_t *files, struct assay_error *error)
{
    return link_set_sensors(supervisor->link, files, error);
}

static json_t *load_step(struct supervisor *supervisor, const char *file, const char *step,
                         const char *doing, struct assay_error *error)
{
    json_t *request = json_pack("{s:s, s:s, s:s}", "ask", "plugin", "step", step, "file", file);
    if (!request) {
        assay_fail(error, ASSAY_INTERNAL, "its path is not UTF-8, as records must be");
        return NULL;
    }
    json_t *answer = link_ask(supervisor->link, request, PLUGIN_LIMIT_NS, doing, error);
    json_decref(request);
    return answer;
}

json_t *supervisor_load_plugin(struct supervisor *supervisor, const char *file,
                               struct assay_error *error)
{
    json_t *answer = load_step(supervisor, file, "open", "it ran the plugin's constructors", error);
    if (answer) {
        json_decref(answer);
        answer = load_step(supervisor, file, "enter", "it called the plugin's entry point", error);
    }
    link_end(supervisor->link, 0, NULL);
    json_object_del(answer, "tell");
    return answer;
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

json_t *supervisor_dump(struct supervisor *supervisor, json_t *request, struct assay_error *error)
{
    if (json_object_set_new(request, "ask", json_string("dump")) != 0) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    json_t *answer = link_ask(supervisor->link, request, DUMP_LIMIT_NS, "it compiled the kernel",
                              error);
    if (answer)
        json_object_del(answer, "tell");
    return answer;
}

/* That the schedule of a case of the group says, and a tenth of it. */
static int64_t longest_duration(const struct plan *plan, const struct plan_case *item)
{
    int64_t longest_ns = 0;
    for (; item; item = plan_group_next(plan, item)) {
        int64_t duration_ns = plan_case_schedule(item)->duration_ns;
        longest_ns = duration_ns > longest_ns ? duration_ns : longest_ns;
    }
    return longest_ns + longest_ns / 10;
}

/* How long the sampling of a case of the group takes, at most: a search has several values, each
 * with a budget that may be the default's second, and a warm-up. */
static int64_t sampling_ns(const struct plan *plan, const struct plan_case *item)
{
    const struct plan_experiment *experiment = &plan->experiments[item->experiment];
    int64_t one_ns = experiment->measure.budget_ns + longest_duration(plan, item);
    if (!experiment->search)
        return one_ns;
    return search_most(experiment->search) * (one_ns + 2 * SECOND_NS);
}

/* Of a group: so many times that of a case. */
static int64_t group_deadline(const struct supervisor *supervisor, const struct plan *plan,
                              uint32_t group)
{
    const struct plan_case *first = plan_group_first(plan, group);
    const struct plan_measure *measure = &plan->experiments[first->experiment].measure;
    int64_t count = plan->groups[group].count;
    int64_t one = supervisor->deadline_ns;
    if (one <= 0 && measure->deadline_ns > 0)
        one = measure->deadline_ns;
    else if (one <= 0)
        one = DEADLINE_NS + sampling_ns(plan, first);
    return one > INT64_MAX / 2 / count ? INT64_MAX / 2 : one * count;
}

static bool run_group(struct turn *turn, uint32_t group, int64_t deadline_ns,
                      struct journal_writer *journal, struct assay_error *error)
{
    if (!turn_run(turn, group, deadline_ns, error))
        return false;
    if (turn->told < turn->count)
        return true;
    if (!turn_journal(turn, journal, error))
        return false;
    for (size_t i = 0; turn->events && turn->events->ended && i < turn->count; i++)
        turn->events->ended(turn->events->user, turn->plan, turn->items[i], turn->records[i]);
    return true;
}

bool supervisor_run(struct supervisor *supervisor, const struct plan *plan,
                    struct journal_writer *journal, const struct supervisor_events *events,
                    const volatile int *interrupted, struct assay_error *error)
{
    struct turn *turn = &supervisor->turn;
    size_t total = plan_selected_count(plan), index = 0;
    turn->link = supervisor->link;
    turn->plan = plan;
    turn->events = events;
    turn->interrupted = interrupted;
    turn->devices = supervisor->devices;
    turn->quick = supervisor->quick;
    turn->perturb = supervisor->perturb;
    turn->perturb_seed = supervisor->perturb_seed;
    turn->stopped = false;
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct plan_case *item = plan_group_first(plan, i);
        if (!item->selected)
            continue;
        if (turn->stopped || (interrupted && *interrupted))
            return true;
        for (; item; item = plan_group_next(plan, item), index++)
            if (events && events->started)
                events->started(events->user, plan, item, index, total);
        if (!run_group(turn, i, group_deadline(supervisor, plan, i), journal, error))
            return false;
    }
    return true;
}
