/* SPDX-License-Identifier: MIT */
/* One case's result: r.p, r.status, r.time, r.copy.rate, ... Records are read from the journal when
 * something looks, and few are kept. */
#include "script/inside.h"

#include "base/json.h"

#include <string.h>

#define RESULT "assay.result"
#define VIEW "assay.result.part"

struct result {
    const struct plan_case *item;
    unsigned generation;
};

enum view_kind {
    VIEW_PARAMETERS,
    VIEW_DEVICE,
    VIEW_VERIFICATION,
    VIEW_BOTTLENECK,
    VIEW_STAGE, /* or the latency */
    VIEW_SENSORS,
    VIEW_READING
};
struct view {
    struct result result;
    enum view_kind kind;
    const char *stage; /* name, or that of the reading; the catalog's */
};

static const char *const whole_members[] = {
    "p",       "status",   "reason",        "device",     "workload",
    "replica", "schedule", "verification",  "bottleneck", "sensors",
    "what_if", "choice",   "drift_verdict",
};
#define WHOLE_MEMBERS (sizeof(whole_members) / sizeof(whole_members[0]))

/* Whether the plan holds it: all:one{...} makes up a case where --set took the real one away. */
static bool is_planned(const struct plan *plan, const struct plan_case *item)
{
    uintptr_t first = (uintptr_t)plan->cases, place = (uintptr_t)item;
    return place >= first && place < first + plan->case_count * sizeof(*item);
}

static struct lazy *record_fetch(lua_State *L, const struct plan_case *item)
{
    struct script *script = script_of(L);
    struct judging *judging = &script->judging;
    const struct judge_group *group = judging->group;
    for (size_t i = 0; group && i < group->count; i++)
        if (group->items[i] == item)
            return group->records[i];
    size_t index = (size_t)(item - script->plan->cases);
    struct record_slot *slot = &judging->cache[index % RECORD_CACHE];
    if (slot->item == item)
        return slot->record;
    lazy_destroy(&slot->record);
    *slot = (struct record_slot){.item = item};
    long at = judging->reader ? journal_case_find(judging->reader, &item->id) : -1;
    if (at >= 0) {
        struct assay_error error = {0};
        slot->record = journal_case_lazy(judging->reader, (size_t)at, &error);
        if (!slot->record) {
            slot->item = NULL;
            script_abort(L, &error);
        }
    }
    return slot->record;
}

struct lazy *result_record(lua_State *L, const struct plan_case *item, const char **reason)
{
    *reason = NULL;
    if (!is_planned(script_of(L)->plan, item)) {
        *reason = "the case is not in the plan of this command line";
        return NULL;
    }
    struct lazy *record = record_fetch(L, item);
    if (!record) {
        *reason = item->selected ? "the case has not run" : "the case is filtered away";
        return NULL;
    }
    const char *status = lazy_text(record, "status", "error");
    if (strcmp(status, "done") != 0) {
        const char *why = lazy_text(record, "reason", NULL);
        char *text = arena_printf(script_scratch(L), "%s%s%s", status, why ? ": " : "",
                                  why ? why : "");
        *reason = text ? text : "the case is not done";
    }
    return record;
}

/* Of a case that is done and has no such metric. */
static const char *why_absent(const char *name)
{
    if (catalog_schedule_metric(name))
        return "the record of the case does not have it";
    return "the case does not have it with these parameters";
}

void result_metric(lua_State *L, const struct plan_case *item, const char *name,
                   struct dimension dimension, struct metric *metric)
{
    const char *reason;
    struct lazy *record = result_record(L, item, &reason);
    *metric = (struct metric){0};
    if (!reason && lazy_has_metric(record, name)) {
        lazy_metric(record, name, metric);
        metric->name = name;
        return;
    }
    if (!reason && strncmp(name, SENSORS_PREFIX, strlen(SENSORS_PREFIX)) == 0) {
        reading_metric(lazy_member(record, "sensors"), name, dimension, metric);
        return;
    }
    const char *dot = strrchr(name, '.');
    if (!reason && strcmp(dot ? dot + 1 : name, "floor") == 0) {
        peaks_floor(L, record, name, metric);
        metric->name = name;
        return;
    }
    metric->name = name;
    metric->dimension = dimension;
    metric->absent = reason ? reason : why_absent(name);
}

/* Reads the samples of a case and what turns_read needs of its record into the slot. */
static bool samples_fill(struct script *script, const struct plan_case *item,
                         struct samples_slot *slot, struct assay_error *error)
{
    static const char *const members[] = {"sampling", "stages", NULL};
    const struct judging *judging = &script->judging;
    const struct judge_group *group = judging->group;
    struct journal_reader *reader = group ? group->reader : judging->reader;
    for (size_t i = 0; group && group->samples && i < group->count; i++) {
        if (group->items[i] == item) { /* a look */
            slot->samples = json_incref(group->samples[i]);
            slot->record = json_incref(lazy_tree(group->records[i]));
            return true;
        }
    }
    long at = reader ? journal_case_find(reader, &item->id) : -1;
    if (at < 0)
        return true;
    struct assay_error why = {0};
    slot->samples = journal_samples(reader, (size_t)at, &why);
    if (slot->samples)
        slot->record = journal_case_part(reader, (size_t)at, members, &why);
    if (!why.status)
        return true;
    *error = why;
    return false;
}

bool result_turns(struct script *script, const struct plan_case *item, const char *name,
                  struct turns *turns, struct assay_error *error)
{
    struct judging *judging = &script->judging;
    struct samples_slot *slot = NULL;
    *turns = (struct turns){0};
    if (!is_planned(script->plan, item))
        return true;
    for (size_t i = 0; i < SAMPLES_CACHE && !slot; i++)
        if (judging->samples[i].item == item)
            slot = &judging->samples[i];
    if (!slot) {
        slot = &judging->samples[judging->samples_next++ % SAMPLES_CACHE];
        json_decref(slot->samples);
        json_decref(slot->record);
        *slot = (struct samples_slot){0};
        if (!samples_fill(script, item, slot, error))
            return false;
        slot->item = item;
    }
    return turns_read(slot->samples, slot->record, name, turns, error);
}

/* Few devices in a run: each label is kept once for the script's life. */
const char *result_device_label(lua_State *L, const struct plan_case *item)
{
    struct script *script = script_of(L);
    const char *reason;
    struct lazy *record = result_record(L, item, &reason);
    const json_t *device = record ? lazy_member(record, "device") : NULL;
    const char *label = json_text(device, "label", NULL);
    if (!label)
        return NULL;
    for (size_t i = 0; i < script->label_count; i++)
        if (strcmp(script->labels[i], label) == 0)
            return script->labels[i];
    if (script->label_count == MAX_LABELS)
        return NULL;
    const char *copy = arena_copy(script->arena, label);
    if (copy)
        script->labels[script->label_count++] = copy;
    return copy;
}

const char *result_group_label(lua_State *L, const struct plan_case *first)
{
    const char *pair = script_of(L)->plan->experiments[first->experiment].pair;
    if (pair && strcmp(pair, "device") == 0)
        return NULL;
    return result_device_label(L, first);
}

void result_push(lua_State *L, const struct plan_case *item)
{
    struct result *result = lua_newuserdatauv(L, sizeof(*result), 0);
    result->item = item;
    result->generation = script_of(L)->judging.generation;
    luaL_setmetatable(L, RESULT);
}

static void check_fresh(lua_State *L, const struct result *result)
{
    const struct judging *judging = &script_of(L)->judging;
    if (!judging->judge || result->generation != judging->generation)
        script_fail(L, "this result is gone: it can be looked at only in the check or summary that "
                       "got it");
}

/* What a search found is of the kind of what it varies. */
static struct dimension value_dimension(lua_State *L, const struct plan_case *item)
{
    const struct search *search = script_of(L)->plan->experiments[item->experiment].search;
    const struct assay_option *const *tables[] = {item->workload->options,
                                                  schedule_options(plan_case_schedule(item)->kind)};
    for (size_t i = 0; search && i < 2; i++) {
        int row = option_find(tables[i], search->vary);
        if (row >= 0)
            return unit_of_label(tables[i][row]->unit).dimension;
    }
    return (struct dimension){0};
}

void result_check_given(lua_State *L, const struct plan_case *item, const char *name,
                        const char *what_to_do)
{
    const struct plan *plan = script_of(L)->plan;
    if (!is_planned(plan, item))
        return;
    if (strcmp(name, "value") == 0 && !plan->experiments[item->experiment].search &&
        catalog_schedule_metric(name))
        script_fail(L, "only a case of assay.search has a value");
    if (catalog_schedule_gives(plan_case_schedule(item), name))
        return;
    struct text text = {0};
    catalog_add_not_given(item->workload, plan_case_schedule(item), name, &text);
    text_add(&text, what_to_do);
    script_push_text(L, &text);
    script_fail(L, "%s", lua_tostring(L, -1));
}

static void push_metric(lua_State *L, const struct plan_case *item, const char *name,
                        struct dimension dimension)
{
    struct metric metric;
    result_check_given(L, item, name, "; ask r.schedule.name before");
    if (strcmp(name, "value") == 0 && dimension_is_number(dimension))
        dimension = value_dimension(L, item);
    result_metric(L, item, name, dimension, &metric);
    metric_push(L, &metric, item, result_device_label(L, item));
}

static void push_view(lua_State *L, const struct result *result, enum view_kind kind,
                      const char *stage)
{
    struct view *view = lua_newuserdatauv(L, sizeof(*view), 0);
    *view = (struct view){.result = *result, .kind = kind, .stage = stage};
    luaL_setmetatable(L, VIEW);
}

static void unknown_member(lua_State *L, const struct catalog_workload *workload, const char *name)
{
    size_t count;
    const char **names = member_names(L, workload, WHOLE_MEMBERS, &count);
    for (size_t i = 0; i < WHOLE_MEMBERS; i++)
        names[count++] = whole_members[i];
    lua_pushfstring(L, "a result of '%s'", workload->name);
    script_unknown(L, lua_tostring(L, -1), "member", name, names, count);
}

/* A text of the record, or nil. */
static void push_text(lua_State *L, const json_t *object, const char *key)
{
    lua_pushstring(L, json_text(object, key, NULL));
}

/* What the tuner chose, or nil. */
static void push_choice(lua_State *L, const struct plan_case *item)
{
    const char *reason;
    struct lazy *record = result_record(L, item, &reason);
    push_text(L, record ? lazy_member(record, "tuning") : NULL, "choice");
}

/* Of a sustained case; nil where there is none. */
static void push_drift_verdict(lua_State *L, const struct plan_case *item)
{
    const char *reason;
    result_check_given(L, item, "drift", "; ask r.schedule.name before");
    struct lazy *record = result_record(L, item, &reason);
    const json_t *load = record ? lazy_member(record, "load") : NULL;
    push_text(L, json_object_get(load, "drift"), "verdict");
}

static const char *record_text(struct lazy *record, const char *name, const char *fallback)
{
    return record ? lazy_text(record, name, fallback) : fallback;
}

/* r:what_if({ STAGE = FACTOR, ... }, { depth =, groups = }) */
static int result_what_if(lua_State *L)
{
    const struct result *result = luaL_checkudata(L, 1, RESULT);
    check_fresh(L, result);
    lua_settop(L, 3);
    model_what_if(L, result->item, 2, 3);
    return 1;
}

static bool whole_member(lua_State *L, const struct result *result, const char *name)
{
    const struct plan_case *item = result->item;
    const char *reason;
    if (strcmp(name, "p") == 0)
        push_view(L, result, VIEW_PARAMETERS, NULL);
    else if (strcmp(name, "device") == 0)
        push_view(L, result, VIEW_DEVICE, NULL);
    else if (strcmp(name, "verification") == 0)
        push_view(L, result, VIEW_VERIFICATION, NULL);
    else if (strcmp(name, "bottleneck") == 0)
        push_view(L, result, VIEW_BOTTLENECK, NULL);
    else if (strcmp(name, "sensors") == 0)
        push_view(L, result, VIEW_SENSORS, NULL);
    else if (strcmp(name, "what_if") == 0)
        lua_pushcfunction(L, result_what_if);
    else if (strcmp(name, "choice") == 0)
        push_choice(L, item);
    else if (strcmp(name, "drift_verdict") == 0)
        push_drift_verdict(L, item);
    else if (strcmp(name, "workload") == 0)
        lua_pushstring(L, item->workload->name);
    else if (strcmp(name, "replica") == 0)
        lua_pushinteger(L, item->replica);
    else if (strcmp(name, "schedule") == 0)
        schedule_push(L, plan_case_schedule(item));
    else if (strcmp(name, "status") == 0)
        lua_pushstring(L, record_text(result_record(L, item, &reason), "status",
                                      item->selected                         ? "not run"
                                      : is_planned(script_of(L)->plan, item) ? "filtered"
                                                                             : "not planned"));
    else if (strcmp(name, "reason") == 0)
        lua_pushstring(L, record_text(result_record(L, item, &reason), "reason", NULL));
    else
        return false;
    return true;
}

static int result_index(lua_State *L)
{
    const struct result *result = luaL_checkudata(L, 1, RESULT);
    const char *name = luaL_tolstring(L, 2, NULL);
    const struct catalog_workload *workload = result->item->workload;
    struct dimension dimension;
    check_fresh(L, result);
    switch (member_find(workload, name, &dimension)) {
    case MEMBER_METRIC:
        push_metric(L, result->item, name, dimension);
        return 1;
    case MEMBER_PART:
        push_view(L, result, VIEW_STAGE, part_find(workload, name));
        return 1;
    case MEMBER_NONE:
        break;
    }
    if (!whole_member(L, result, name))
        unknown_member(L, workload, name);
    return 1;
}

static int result_text(lua_State *L)
{
    const struct result *result = luaL_checkudata(L, 1, RESULT);
    struct text text = {0};
    plan_case_label(script_of(L)->plan, result->item, false, &text);
    script_push_text(L, &text);
    return 1;
}

/* r.p: what ran, defaults included; without a record what the plan knows. */
static void parameter_index(lua_State *L, const struct plan_case *item, const char *name)
{
    struct assay_error error = {0};
    struct option_value value;
    const char *reason;
    int index = option_find(item->workload->options, name);
    if (index < 0) {
        option_unknown(item->workload->options, item->workload->name, name, &error);
        script_raise(L, &error);
    }
    const struct assay_option *option = item->workload->options[index];
    struct lazy *record = result_record(L, item, &reason);
    const json_t *json = record ? json_object_get(lazy_member(record, "params"), name) : NULL;
    if (json) {
        if (!option_value_from_json(option, json, script_scratch(L), &value, &error))
            script_abort(L, &error);
        option_value_push(L, option, &value);
        return;
    }
    for (uint32_t i = 0; i < item->setting_count; i++) {
        if (item->settings[i].option == (uint32_t)index) {
            option_value_push(L, option, &item->settings[i].value);
            return;
        }
    }
    if (!option_default(option, script_scratch(L), &value, &error))
        script_abort(L, &error);
    option_value_push(L, option, &value);
}

static void device_index(lua_State *L, const struct plan_case *item, const char *name)
{
    static const char *const names[] = {"name", "label", "uuid", "class", "selector"};
    const char *reason;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            struct lazy *record = result_record(L, item, &reason);
            push_text(L, record ? lazy_member(record, "device") : NULL, name);
            return;
        }
    }
    script_unknown(L, "r.device", "member", name, names, sizeof(names) / sizeof(names[0]));
}

static void verification_index(lua_State *L, const struct plan_case *item, const char *name)
{
    static const char *const names[] = {"error", "verdict"};
    const char *reason;
    struct lazy *record = result_record(L, item, &reason);
    const json_t *verification = record ? lazy_member(record, "verification") : NULL;
    if (strcmp(name, "verdict") == 0) {
        push_text(L, verification, "verdict");
        return;
    }
    if (strcmp(name, "error") != 0)
        script_unknown(L, "r.verification", "member", name, names, 2);
    struct metric metric = {.name = "verification.error", .absent = reason};
    const json_t *error = json_object_get(verification, "error");
    if (json_is_number(error))
        metric.value = metric.low = metric.high = json_number_value(error);
    else if (!metric.absent)
        metric.absent = "the workload compares exactly and has no error figure";
    metric_push(L, &metric, item, result_device_label(L, item));
}

static void stage_index(lua_State *L, const struct view *view, const char *name)
{
    struct dimension dimension;
    if (strcmp(view->stage, "latency") == 0 && strcmp(name, "histogram") == 0) {
        result_check_given(L, view->result.item, "latency.p50", "; ask r.schedule.name before");
        histogram_push(L, view->result.item);
        return;
    }
    if (!part_member(view->stage, name, &dimension))
        part_unknown(L, view->stage, name);
    lua_pushfstring(L, "%s.%s", view->stage, name);
    push_metric(L, view->result.item, lua_tostring(L, -1), dimension);
}

static int view_index(lua_State *L)
{
    const struct view *view = luaL_checkudata(L, 1, VIEW);
    const char *name = luaL_tolstring(L, 2, NULL);
    check_fresh(L, &view->result);
    switch (view->kind) {
    case VIEW_PARAMETERS:
        parameter_index(L, view->result.item, name);
        break;
    case VIEW_DEVICE:
        device_index(L, view->result.item, name);
        break;
    case VIEW_VERIFICATION:
        verification_index(L, view->result.item, name);
        break;
    case VIEW_BOTTLENECK:
        bottleneck_push(L, view->result.item, name);
        break;
    case VIEW_STAGE:
        stage_index(L, view, name);
        break;
    case VIEW_SENSORS:
        push_view(L, &view->result, VIEW_READING, reading_find(L, "r.sensors", name)->name);
        break;
    case VIEW_READING:
        push_metric(L, view->result.item, reading_full_name(L, view->stage, name),
                    reading_find(L, "r.sensors", view->stage)->dimension);
        break;
    }
    return 1;
}

static int result_set(lua_State *L)
{
    script_fail(L, "a result cannot be changed");
}

void result_open(lua_State *L)
{
    static const luaL_Reg result_meta[] = {{"__index", result_index},
                                           {"__newindex", result_set},
                                           {"__tostring", result_text},
                                           {NULL, NULL}};
    static const luaL_Reg view_meta[] = {
        {"__index", view_index}, {"__newindex", result_set}, {NULL, NULL}};
    script_class(L, RESULT, result_meta);
    script_class(L, VIEW, view_meta);
}
