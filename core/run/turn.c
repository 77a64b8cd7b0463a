/* SPDX-License-Identifier: MIT */
#include "run/turn.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/units.h"
#include "result/record.h"
#include "result/tuning_store.h"
#include "run/worker.h"
#include "stats/looks.h"
#include "vulkan/selector.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS INT64_C(1000000000)
#define INTERRUPTED_NS (2 * SECOND_NS) /* what a running group gets after a signal */
#define SLICE_NS (SECOND_NS / 5)       /* how often a wait looks for a signal */
#define ATTEMPTS_MOST 4               /* of a group, where candidates of the tuner end its worker */
#define LAST_WORDS_NS (5 * SECOND_NS) /* from a closed pipe, or a last record, to the end */

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a request");
}

static void records_drop(struct turn *turn)
{
    for (size_t i = 0; i < turn->told; i++)
        json_decref(turn->records[i]);
    turn->told = turn->line_count = 0;
    text_clear(&turn->lines);
}

void turn_free(struct turn *turn)
{
    records_drop(turn);
    json_decref(turn->request);
    free(turn->items);
    free(turn->requests);
    free(turn->records);
    free(turn->ends);
    text_free(&turn->line);
    text_free(&turn->lines);
    text_free(&turn->reason);
    text_free(&turn->tried);
    *turn = (struct turn){0};
}

static bool turn_room(struct turn *turn, size_t count)
{
    if (count <= turn->room)
        return true;
    const struct plan_case **items = realloc(turn->items, count * sizeof(*items));
    turn->items = items ? items : turn->items;
    const json_t **requests = realloc(turn->requests, count * sizeof(*requests));
    turn->requests = requests ? requests : turn->requests;
    json_t **records = realloc(turn->records, count * sizeof(*records));
    turn->records = records ? records : turn->records;
    size_t *ends = realloc(turn->ends, 2 * count * sizeof(*ends));
    turn->ends = ends ? ends : turn->ends;
    if (!items || !requests || !records || !ends)
        return false;
    turn->room = count;
    return true;
}

static void line_keep(struct turn *turn, const char *line, size_t length)
{
    text_add_bytes(&turn->lines, line, length);
    turn->ends[turn->line_count++] = turn->lines.length;
}

/* What is known of the device without opening it; nothing when it was never looked for. */
static bool add_device(const struct turn *turn, size_t index, struct text *out,
                       struct assay_error *error)
{
    static const char *const members[] = {"name", "label",  "class",      "uuid",
                                          "pci",  "driver", "api_version"};
    const char *selector = json_text(turn->requests[index], "device", NULL);
    struct assay_error none = {0}; /* the case has failed in another way than by its selector */
    size_t chosen;
    if (turn->items[index]->workload->model || !turn->devices ||
        !vulkan_select(turn->devices, selector, &chosen, &none))
        return true;
    const json_t *found = json_array_get(turn->devices, chosen);
    json_t *device = json_pack("{s:s?}", "selector", selector);
    for (size_t i = 0; device && i < sizeof(members) / sizeof(members[0]); i++)
        json_object_set(device, members[i], json_object_get(found, members[i]));
    bool good = device ? json_add_line(out, device, false, error)
                       : assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    json_decref(device);
    return good;
}

static bool member_fail(struct turn *turn, size_t index, enum assay_status status,
                        struct assay_error *error)
{
    struct text device = {0}, tuning = {0};
    text_clear(&turn->line);
    bool good = add_device(turn, index, &device, error);
    if (turn->tried.length) {
        text_add(&tuning, "{\"tried\":");
        record_add_string(&tuning, text_string(&turn->tried));
        text_add_char(&tuning, '}');
    }
    struct record_case record = {.request = turn->requests[index],
                                 .device = text_string(&device),
                                 .status = record_status(status),
                                 .reason = text_string(&turn->reason),
                                 .tuning = text_string(&tuning)};
    good = good && record_add_case(&turn->line, &record, error);
    text_free(&device);
    text_free(&tuning);
    json_t *tree = good ? json_read(turn->line.data, turn->line.length, "case record", error)
                        : NULL;
    if (!tree)
        return false;
    line_keep(turn, turn->line.data, turn->line.length);
    turn->records[turn->told++] = tree;
    return true;
}

/* Writes the records that the worker could not: `reason` says how it ended. */
static bool turn_fail(struct turn *turn, enum assay_status status, struct assay_error *error)
{
    records_drop(turn);
    for (size_t i = 0; i < turn->count; i++)
        if (!member_fail(turn, i, status, error))
            return false;
    return true;
}

/* The worker is gone: what the tuner was trying then is to blame, unless the user is. */
static void add_tried(struct turn *turn)
{
    if (tuning_tried(link_worker(turn->link), turn->stopped, &turn->tried) && !turn->stopped)
        text_addf(&turn->reason, "; the tuner was trying '%s', which is not tried again",
                  text_string(&turn->tried));
}

static bool turn_died(struct turn *turn, struct assay_error *error)
{
    struct text how = {0};
    bool overdue = link_end(turn->link, LAST_WORDS_NS, &how) == WORKER_OVERDUE;
    if (overdue)
        text_add(&turn->reason, "a function of the script went on behind its deadline, and its "
                                "worker was ended");
    else
        text_addf(&turn->reason, "the worker %s", text_string(&how));
    text_free(&how);
    add_tried(turn);
    link_add_log(turn->link, &turn->reason);
    return turn_fail(turn, overdue ? ASSAY_SCRIPT : ASSAY_CRASH, error);
}

static bool turn_garbage(struct turn *turn, const char *what, struct assay_error *error)
{
    text_addf(&turn->reason, "the worker sent something that is no record of this %s: %s",
              turn->count > 1 ? "pair group" : "case", what);
    link_end(turn->link, 0, NULL);
    link_add_log(turn->link, &turn->reason);
    return turn_fail(turn, ASSAY_CRASH, error);
}

static bool turn_expired(struct turn *turn, struct assay_error *error)
{
    link_end(turn->link, 0, NULL);
    records_drop(turn);
    if (turn->stopped) {
        add_tried(turn);
        return true;
    }
    text_add(&turn->reason, "no result within ");
    number_add(&turn->reason, (double)turn->deadline_ns / 1e9);
    text_addf(&turn->reason, " s (the %s deadline); its worker was killed",
              turn->count > 1 ? "pair group's" : "case's");
    add_tried(turn);
    link_add_log(turn->link, &turn->reason);
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
        enum channel_result result = link_receive(turn->link, left < SLICE_NS ? left : SLICE_NS,
                                                  line, length, error);
        if (result != CHANNEL_LIMIT)
            return result;
        if (turn->events && turn->events->waiting)
            turn->events->waiting(turn->events->user);
    }
}

static const char *member_id(const struct turn *turn, size_t index)
{
    return json_text(turn->requests[index], "id", "");
}

enum said { SAID_MORE, SAID_ALL, SAID_GARBAGE };

/* Samples and records come in the order of the members. */
static enum said take_record(struct turn *turn, json_t *record, const char *line, size_t length,
                             struct assay_error *what)
{
    const char *kind = json_text(record, "kind", "");
    bool ours = turn->told < turn->count &&
                strcmp(json_text(record, "id", ""), member_id(turn, turn->told)) == 0;
    bool has_samples = turn->line_count > 2 * turn->told;
    if (ours && strcmp(kind, "case") == 0) {
        /* A line of samples, or an empty one. */
        if (!has_samples)
            line_keep(turn, "", 0);
        line_keep(turn, line, length);
        turn->records[turn->told++] = json_incref(record);
        return turn->told == turn->count ? SAID_ALL : SAID_MORE;
    }
    if (ours && strcmp(kind, "samples") == 0 && !has_samples) {
        line_keep(turn, line, length);
        return SAID_MORE;
    }
    assay_fail(what, ASSAY_INTERNAL, "%s",
               json_text(record, "text", "neither samples nor case, or another id"));
    return SAID_GARBAGE;
}

/* The provisional records of a look: one a member, in order. */
static bool look_read(const struct turn *turn, const json_t *look, json_t **cases, json_t **samples)
{
    const json_t *list = json_object_get(look, "cases");
    if (!json_flag(turn->request, "looks", false) || turn->line_count > 0 ||
        turn->looks == LOOKS_MOST || json_whole(look, "look", 0) != (int64_t)turn->looks + 1 ||
        json_array_size(list) != turn->count)
        return false;
    for (size_t i = 0; i < turn->count; i++) {
        const json_t *entry = json_array_get(list, i);
        cases[i] = json_object_get(entry, "case");
        samples[i] = json_object_get(entry, "samples");
        if (strcmp(json_text(cases[i], "id", ""), member_id(turn, i)) != 0 || !samples[i])
            return false;
    }
    return true;
}

/* Answers a look: after a signal nothing more is worth waiting for. */
static enum said take_look(struct turn *turn, const json_t *look, struct assay_error *what)
{
    static const char more[] = "{\"ask\":\"more\"}", done[] = "{\"ask\":\"done\"}";
    json_t **cases = malloc(2 * turn->count * sizeof(*cases));
    enum said said = SAID_GARBAGE;
    struct assay_error gone = {0};
    if (!cases) {
        assay_fail(what, ASSAY_OUT_OF_MEMORY, "no memory to look at its figures");
    } else if (!look_read(turn, look, cases, cases + turn->count)) {
        assay_fail(what, ASSAY_INTERNAL, "a look at other cases, or at a wrong time");
    } else {
        const struct supervisor_events *events = turn->events;
        bool signalled = turn->interrupted && *turn->interrupted;
        bool undecided = !signalled && events && events->wants_more &&
                         events->wants_more(events->judge_user, turn->plan, turn->items,
                                            turn->count, cases, cases + turn->count);
        turn->looks++;
        /* A worker that is gone meanwhile shows at the next read. */
        if (undecided)
            link_answer(turn->link, more, sizeof(more) - 1, &gone);
        else
            link_answer(turn->link, done, sizeof(done) - 1, &gone);
        said = SAID_MORE;
    }
    free(cases);
    return said;
}

static enum said turn_take(struct turn *turn, const char *line, size_t length,
                           struct assay_error *what)
{
    json_t *record = json_read(line, length, "record", what);
    enum said said = SAID_GARBAGE;
    if (record && strcmp(json_text(record, "tell", ""), "look") == 0)
        said = take_look(turn, record, what);
    else if (record)
        said = take_record(turn, record, line, length, what);
    json_decref(record);
    return said;
}

static bool turn_wait(struct turn *turn, struct assay_error *error)
{
    struct assay_clock *clock = clock_monotonic();
    int64_t end_ns = clock_now(clock) + turn->deadline_ns;
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
        int64_t came_ns = clock_now(clock);
        switch (turn_take(turn, line, length, &what)) {
        case SAID_MORE:
            end_ns += clock_now(clock) - came_ns; /* the time of a check is not the worker's */
            break;
        case SAID_ALL:
            return true;
        case SAID_GARBAGE:
            return turn_garbage(turn, what.text, error);
        }
    }
}

/* Hands the group to a worker that takes it: one that died idle is replaced, once. */
static bool turn_send(struct turn *turn, struct assay_error *error)
{
    struct link *link = turn->link;
    for (int attempt = 0; attempt < 2; attempt++) {
        struct assay_error refused = {0};
        if (link_ready(link, &refused) &&
            link_send(link, turn->line.data, turn->line.length, &refused))
            return true;
        text_clear(&turn->reason);
        link_end(link, LAST_WORDS_NS, &turn->reason);
        if (attempt > 0)
            assay_fail(error, refused.status, "no worker takes a case: %s%s%s", refused.text,
                       turn->reason.length ? "; the last one " : "", text_string(&turn->reason));
    }
    return false;
}

/* After these the worker ends by itself, because its device is past use. */
static bool ends_worker(const struct turn *turn)
{
    for (size_t i = 0; i < turn->told; i++) {
        const char *status = json_text(turn->records[i], "status", "");
        if (strcmp(status, record_status(ASSAY_TIMEOUT)) == 0 ||
            strcmp(status, record_status(ASSAY_DEVICE_LOST)) == 0)
            return true;
    }
    return false;
}

static bool turn_begin(struct turn *turn, uint32_t group, struct assay_error *error)
{
    const struct plan *plan = turn->plan;
    records_drop(turn);
    json_decref(turn->request);
    turn->count = turn->looks = 0;
    turn->group = group;
    turn->request = plan_group_request(plan, group, turn->quick);
    if (!turn->request || !turn_room(turn, plan->groups[group].count))
        return no_memory(error);
    json_t *cases = json_object_get(turn->request, "cases");
    const struct plan_case *item = plan_group_first(plan, group);
    for (; item; item = plan_group_next(plan, item), turn->count++) {
        turn->items[turn->count] = item;
        json_t *request = cases ? json_array_get(cases, turn->count) : turn->request;
        turn->requests[turn->count] = request;
        if (turn->perturb &&
            json_object_set_new(request, "perturb", json_integer(turn->perturb_seed)) != 0)
            return no_memory(error);
    }
    text_clear(&turn->line);
    return json_add_line(&turn->line, turn->request, false, error);
}

/* Whether a candidate of the tuner ended the worker, or lost it the device. */
static bool tuner_failed(const struct turn *turn)
{
    for (size_t i = 0; i < turn->told; i++)
        if (json_text(json_object_get(turn->records[i], "tuning"), "tried", NULL))
            return true;
    return false;
}

static bool turn_try(struct turn *turn, uint32_t group, struct assay_error *error)
{
    if (!turn_begin(turn, group, error) || !turn_send(turn, error))
        return false;
    text_clear(&turn->reason);
    text_clear(&turn->tried);
    if (!turn_wait(turn, error))
        return false;
    if (ends_worker(turn))
        link_end(turn->link, LAST_WORDS_NS, NULL);
    return true;
}

/* What a candidate of the tuner did is no fault of the case: the candidate is left out, and the
 * group is run again. */
bool turn_run(struct turn *turn, uint32_t group, int64_t deadline_ns, struct assay_error *error)
{
    turn->deadline_ns = deadline_ns;
    for (int attempt = 0; attempt < ATTEMPTS_MOST; attempt++) {
        if (!turn_try(turn, group, error))
            return false;
        if (turn->stopped || !tuner_failed(turn))
            break;
    }
    return true;
}

bool turn_journal(const struct turn *turn, struct journal_writer *journal,
                  struct assay_error *error)
{
    if (turn->lines.failed)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a record");
    size_t begin = 0;
    for (size_t i = 0; i < turn->line_count; i++) {
        size_t length = turn->ends[i] - begin;
        if (length && !journal_append(journal, turn->lines.data + begin, length, error))
            return false;
        begin = turn->ends[i];
    }
    return true;
}
