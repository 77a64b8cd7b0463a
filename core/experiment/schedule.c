/* SPDX-License-Identifier: MIT */
#include "experiment/schedule.h"

#include "base/json.h"

#include <string.h>

#define DEPTH_MAX 1024
#define WINDOWS_LEAST 10 /* of which a drift can be told */
#define COUNT_MAX 1000000
#define UNASKED_S 30 /* longer than that an open loop runs only where it was asked to */
#define DAY_NS INT64_C(86400000000000)

static const char *const queue_names[] = {"auto", "one", "dedicated", "devices", NULL};
static const char *const serial_queue_names[] = {"auto", "one", "dedicated", NULL};
static const char *const arrival_names[] = {"poisson", "even", NULL};

#define ROW(text, member, what, ...)                                                               \
    {                                                                                              \
        .size = sizeof(struct assay_option), .name = text, .kind = what,                           \
        .offset = offsetof(struct schedule, member), __VA_ARGS__                                   \
    }
#define COUNT(text, member, least, most, value, words)                                             \
    ROW(text, member, ASSAY_OPTION_INTEGER, .unit = text, .min = least, .max = most,               \
        .fallback = value, .help = words)
#define TIME(text, member, least, words)                                                           \
    ROW(text, member, ASSAY_OPTION_INTEGER, .unit = "ns", .min = least, .max = DAY_NS,             \
        .fallback = "0", .help = words)

static const struct assay_option
    depth_row = COUNT("depth", depth, 1, DEPTH_MAX, "2", "batches in flight, each in its own slot"),
    sustained_depth_row = COUNT("depth", depth, 1, DEPTH_MAX, "1",
                                "batches in flight, each in its own slot"),
    queues_row = ROW("queues", queues, ASSAY_OPTION_CHOICE, .choices = queue_names,
                     .fallback = "auto", .help = "which queues the stages of a device run on"),
    serial_queues_row = ROW("queues", queues, ASSAY_OPTION_CHOICE, .choices = serial_queue_names,
                            .fallback = "auto",
                            .help = "which queues the stages of a device run on"),
    sensitivity_row = ROW("sensitivity", sensitivity, ASSAY_OPTION_BOOLEAN, .fallback = "false",
                          .help = "delays each stage in turn: what that does to the period"),
    rate_row = ROW("rate", rate, ASSAY_OPTION_REAL, .unit = "req/s", .real_min = 0.001,
                   .real_max = 1e7, .fallback = "1", .help = "requests that arrive a second"),
    arrivals_row = ROW("arrivals", arrivals, ASSAY_OPTION_CHOICE, .choices = arrival_names,
                       .fallback = "poisson", .help = "at random, or one after the same time"),
    batch_max_row = COUNT("batch_max", batch_max, 1, 65536, "1",
                          "requests that are put into one batch, at most"),
    wait_max_row = TIME("wait_max", wait_max_ns, 0,
                        "that a request waits for others of its batch, at most"),
    queue_max_row = COUNT("queue_max", queue_max, 1, COUNT_MAX, "10000",
                          "requests that wait at once, at most; more are turned away"),
    deadline_row = TIME("deadline", deadline_ns, 1, "a result that takes longer is no goodput"),
    clients_row = COUNT("clients", clients, 1, COUNT_MAX, "1",
                        "each asks again when it has its result"),
    duration_row = TIME("duration", duration_ns, 1, "how long it is measured"),
    window_row = TIME("window", window_ns, 1, "over which throughput is looked at");

/* Rows whose default is "0" have none: 0 stands for something else. */
static const struct schedule_info {
    const char *name;
    bool offered;
    const struct assay_option *const *options;
    const char *required; /* has to be given; NULL: nothing */
} kinds[SCHEDULE_KINDS] = {
    [SCHEDULE_SERIAL] = {"serial", true,
                         (const struct assay_option *const[]){&serial_queues_row, NULL}, NULL},
    [SCHEDULE_PIPELINED] = {"pipelined", true,
                            (const struct assay_option *const[]){&depth_row, &queues_row,
                                                                 &sensitivity_row, NULL},
                            NULL},
    [SCHEDULE_OPEN_LOOP] = {"open_loop", true,
                            (const struct assay_option *const[]){
                                &rate_row, &arrivals_row, &batch_max_row, &wait_max_row,
                                &queue_max_row, &deadline_row, &duration_row, &queues_row, NULL},
                            "rate"},
    [SCHEDULE_CLOSED_LOOP] = {"closed_loop", true,
                              (const struct assay_option *const[]){
                                  &clients_row, &batch_max_row, &wait_max_row, &deadline_row,
                                  &duration_row, &queues_row, NULL},
                              "clients"},
    [SCHEDULE_SUSTAINED] = {"sustained", true,
                            (const struct assay_option *const[]){&duration_row, &window_row,
                                                                 &sustained_depth_row, &queues_row,
                                                                 NULL},
                            "duration"},
};

struct schedule schedule_default(enum schedule_kind kind)
{
    struct schedule schedule = SCHEDULE_DEFAULT_SERIAL;
    schedule.kind = kind;
    if (kind == SCHEDULE_PIPELINED)
        schedule.depth = 2;
    return schedule;
}

const char *schedule_name(enum schedule_kind kind)
{
    return kinds[kind].name;
}

bool schedule_offered(enum schedule_kind kind)
{
    return kinds[kind].offered;
}

const struct assay_option *const *schedule_options(enum schedule_kind kind)
{
    return kinds[kind].options;
}

bool schedule_find(const char *name, enum schedule_kind *kind, struct assay_error *error)
{
    const char *names[SCHEDULE_KINDS];
    size_t count = 0;
    for (size_t i = 0; i < SCHEDULE_KINDS; i++) {
        if (!kinds[i].offered)
            continue;
        names[count++] = kinds[i].name;
        *kind = (enum schedule_kind)i;
        if (strcmp(name, kinds[i].name) == 0)
            return true;
    }
    struct text list = {0};
    text_add_list(&list, names, count);
    const char *nearest = text_nearest(name, names, count);
    assay_fail(error, ASSAY_INVALID, "there is no schedule '%s'%s%s%s %s %s", name,
               nearest ? "; did you mean '" : "", nearest ? nearest : "",
               nearest ? "'? There" : "; there", count == 1 ? "is" : "are", text_string(&list));
    text_free(&list);
    return false;
}

void schedule_set(struct schedule *schedule, size_t option, const struct option_value *value)
{
    option_store(kinds[schedule->kind].options[option], value, schedule);
    schedule->given |= UINT32_C(1) << option;
}

bool schedule_is_given(const struct schedule *schedule, size_t option)
{
    return (schedule->given >> option & 1) != 0;
}

bool schedule_check_given(const struct schedule *schedule, struct assay_error *error)
{
    if (schedule->rate > 0 && schedule->duration_ns > 0 &&
        schedule->rate * (double)schedule->duration_ns < SCHEDULE_REQUESTS_LEAST * 1e9)
        return assay_fail(error, ASSAY_INVALID,
                          "duration: fewer than %d requests arrive in it at this rate, which says "
                          "nothing of their latency; give a longer one",
                          SCHEDULE_REQUESTS_LEAST);
    if (schedule->wait_max_ns > 0 && schedule->batch_max == 1)
        return assay_fail(error, ASSAY_INVALID,
                          "wait_max is the time that a request waits for others of its batch, and "
                          "batches hold one request; give batch_max too");
    if (schedule->kind == SCHEDULE_OPEN_LOOP && schedule->queue_max < schedule->batch_max)
        return assay_fail(error, ASSAY_INVALID,
                          "queue_max: so few requests wait that no batch is ever full; give at "
                          "least batch_max, %lld",
                          (long long)schedule->batch_max);
    if (schedule->rate > 0 && schedule->duration_ns == 0 &&
        schedule->rate * UNASKED_S < SCHEDULE_REQUESTS_LEAST)
        return assay_fail(
            error, ASSAY_INVALID,
            "duration has to be given at this rate: until %d requests arrive it takes "
            "over %d s",
            SCHEDULE_REQUESTS_LEAST, UNASKED_S);
    if (schedule->window_ns > schedule->duration_ns / WINDOWS_LEAST && schedule->window_ns > 0)
        return assay_fail(error, ASSAY_INVALID,
                          "window: at least %d windows are wanted in the duration", WINDOWS_LEAST);
    if (schedule->window_ns > 0 &&
        schedule->duration_ns / schedule->window_ns > SCHEDULE_WINDOWS_MOST)
        return assay_fail(error, ASSAY_INVALID,
                          "window: at most %d windows are kept in the duration; give a longer one",
                          SCHEDULE_WINDOWS_MOST);
    return true;
}

bool schedule_check(const struct schedule *schedule, struct assay_error *error)
{
    const struct schedule_info *info = &kinds[schedule->kind];
    int required = info->required ? option_find(info->options, info->required) : -1;
    if (required >= 0 && !schedule_is_given(schedule, (size_t)required)) {
        const struct assay_option *option = info->options[required];
        return assay_fail(error, ASSAY_INVALID, "%s has to be given: %s", option->name,
                          option->help);
    }
    return schedule_check_given(schedule, error);
}

json_t *schedule_to_json(const struct schedule *schedule)
{
    const struct assay_option *const *options = kinds[schedule->kind].options;
    json_t *json = json_pack("{s:s}", "name", schedule_name(schedule->kind));
    for (size_t i = 0; json && options[i]; i++) {
        struct option_value value;
        if (!schedule_is_given(schedule, i))
            continue;
        option_load(options[i], schedule, &value);
        if (json_object_set_new(json, options[i]->name, option_value_to_json(options[i], &value))) {
            json_decref(json);
            return NULL;
        }
    }
    return json;
}

bool schedule_from_json(const json_t *json, struct schedule *schedule, struct assay_error *error)
{
    const char *name = json_text(json, "name", "serial"), *key;
    json_t *given;
    size_t kind = 0;
    while (kind < SCHEDULE_KINDS && strcmp(kinds[kind].name, name) != 0)
        kind++;
    if (kind == SCHEDULE_KINDS)
        return assay_fail(error, ASSAY_INVALID, "there is no schedule '%s'", name);
    *schedule = schedule_default((enum schedule_kind)kind);
    const struct assay_option *const *options = kinds[kind].options;
    json_object_foreach((json_t *)(uintptr_t)json, key, given)
    {
        struct option_value value;
        int index = option_find(options, key);
        if (strcmp(key, "name") == 0)
            continue;
        if (index < 0)
            return option_unknown(options, name, key, error);
        /* no row is a text, which would need an arena */
        if (!option_value_from_json(options[index], given, NULL, &value, error))
            return false;
        schedule_set(schedule, (size_t)index, &value);
    }
    return schedule_check(schedule, error);
}

void schedule_add_label(const struct schedule *schedule, struct text *out)
{
    const struct assay_option *const *options = kinds[schedule->kind].options;
    text_add(out, schedule_name(schedule->kind));
    for (size_t i = 0; options[i]; i++) {
        struct option_value value;
        if (!schedule_is_given(schedule, i))
            continue;
        option_load(options[i], schedule, &value);
        text_addf(out, " %s=", options[i]->name);
        option_value_add(out, options[i], &value);
    }
}

void schedule_add_field(const struct schedule *schedule, const char *name, struct text *out)
{
    const struct assay_option *const *options = kinds[schedule->kind].options;
    struct option_value value;
    int index = option_find(options, name);
    if (index < 0)
        return;
    option_load(options[index], schedule, &value);
    option_value_add(out, options[index], &value);
}

bool schedule_equal(const struct schedule *a, const struct schedule *b)
{
    const struct assay_option *const *options = kinds[a->kind].options;
    if (a->kind != b->kind || a->given != b->given)
        return false;
    for (size_t i = 0; options[i]; i++) {
        struct option_value x, y;
        option_load(options[i], a, &x);
        option_load(options[i], b, &y);
        if (!option_value_equal(&x, &y))
            return false;
    }
    return true;
}
