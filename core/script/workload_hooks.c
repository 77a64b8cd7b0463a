/* SPDX-License-Identifier: MIT */
/* The hooks of a workload in Lua, as the measuring side calls them. Each enters Lua once, under the
 * script's limits. */
#include "script/workload.h"

#include "base/options.h"
#include "measure/verification.h"
#include "script/device.h"
#include "script/host.h"

#include <stdlib.h>
#include <string.h>

/* What a hook works on while it is in Lua. */
struct entry {
    const struct script_workload *workload;
    const void *params;
    struct script_params_head *head;
    struct script_slot *slot;
    const struct script_stage *stage;
    struct assay_command *command;
    struct script_device *device;
    struct assay_verification *verification;
    struct assay_metrics *metrics;
    bool no;            /* the function said no, ... */
    struct text reason; /* ... because of this */
};

static const struct script_params_head *head_of(const void *params)
{
    return params;
}

static void option_push(lua_State *L, const struct assay_option *option, const void *params)
{
    struct option_value value;
    option_load(option, params, &value);
    option_value_push(L, option, &value);
}

/* p.NAME; upvalue 1 is the workload. */
static int params_missing(lua_State *L)
{
    const struct script_workload *workload = lua_touserdata(L, lua_upvalueindex(1));
    struct assay_error error = {0};
    option_unknown(workload->workload.options, workload->workload.name, luaL_tolstring(L, 2, NULL),
                   &error);
    script_raise(L, &error);
}

static int params_fixed(lua_State *L)
{
    script_fail(L, "p.%s cannot be set: parameters are the case's", luaL_tolstring(L, 2, NULL));
}

void workload_params_push(lua_State *L, const struct script_workload *workload, const void *params)
{
    const struct assay_option *const *options = workload->workload.options;
    lua_newtable(L); /* what scripts see: empty, so that every access is ours */
    lua_newtable(L);
    lua_newtable(L); /* values */
    for (size_t i = 0; options[i]; i++) {
        option_push(L, options[i], params);
        lua_setfield(L, -2, options[i]->name);
    }
    lua_newtable(L); /* of the values: what is not there */
    lua_pushlightuserdata(L, (void *)(uintptr_t)workload);
    lua_pushcclosure(L, params_missing, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_pushcclosure(L, script_pairs_copy, 1);
    lua_setfield(L, -3, "__pairs");
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, params_fixed);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, "parameters");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

static bool enter(struct entry *entry, lua_CFunction function, struct assay_error *error)
{
    struct script *script = entry->workload->script;
    script->running++;
    lua_pushcfunction(script->L, function);
    lua_pushlightuserdata(script->L, entry);
    bool good = state_call(script, 1, NULL, error);
    script->running--;
    return good;
}

static void push_function(lua_State *L, int reference)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, reference);
    state_note_function(L);
}

static void push_slot(lua_State *L, const struct script_slot *slot)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, slot->s);
    lua_rawgeti(L, LUA_REGISTRYINDEX, slot->p);
}

/* What a function that may say no returned: true or nothing, or false and a reason. */
static void take_answer(lua_State *L, struct entry *entry, const char *what, bool nothing_is_yes)
{
    int type = lua_type(L, -2);
    if (type == LUA_TBOOLEAN && lua_toboolean(L, -2))
        return;
    if (type == LUA_TNIL && lua_isnil(L, -1) && nothing_is_yes)
        return;
    if ((type != LUA_TBOOLEAN && type != LUA_TNIL) || lua_type(L, -1) != LUA_TSTRING)
        script_fail(L, "'%s': %s returned %s; true is wanted, or false and a reason",
                    entry->workload->workload.name, what,
                    type == LUA_TBOOLEAN ? "false without a reason" : luaL_typename(L, -2));
    entry->no = true;
    text_add_clean(&entry->reason, lua_tostring(L, -1));
}

/* Functions of the parameters: what the stages are and cost. */

static double number_of(lua_State *L, const struct script_stage *stage, const char *name,
                        const struct script_number *number, struct dimension dimension, int p)
{
    if (number->function == LUA_NOREF)
        return number->value;
    push_function(L, number->function);
    lua_pushvalue(L, p);
    lua_call(L, 1, 1);
    lua_pushfstring(L, "stage '%s': %s", stage->stage.name, name);
    lua_insert(L, -2);
    double value = workload_number(L, lua_tostring(L, -2), dimension);
    lua_pop(L, 1);
    return value;
}

static uint64_t cost_of(lua_State *L, const struct script_stage *stage, enum script_cost cost,
                        int p)
{
    return (uint64_t)(number_of(L, stage, workload_cost_names[cost], &stage->costs[cost],
                                workload_cost_dimension(cost), p) +
                      0.5);
}

static void stage_settle(lua_State *L, const struct script_stage *stage,
                         struct script_params_head *head, int p)
{
    bool *present = &head->present[stage->index];
    *present = true;
    if (stage->present != LUA_NOREF) {
        push_function(L, stage->present);
        lua_pushvalue(L, p);
        lua_call(L, 1, 1);
        if (lua_type(L, -1) != LUA_TBOOLEAN)
            script_fail(L, "stage '%s': present returned a %s; true or false is wanted",
                        stage->stage.name, luaL_typename(L, -1));
        *present = lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    if (!*present)
        return;
    struct assay_cost *cost = &head->costs[stage->index];
    cost->payload_bytes = cost_of(L, stage, COST_BYTES, p);
    cost->read_bytes = cost_of(L, stage, COST_READ, p);
    cost->written_bytes = cost_of(L, stage, COST_WRITTEN, p);
    cost->flops = cost_of(L, stage, COST_FLOPS, p);
    cost->items = cost_of(L, stage, COST_ITEMS, p);
    cost->upload_bytes = cost_of(L, stage, COST_UPLOAD, p);
    cost->download_bytes = cost_of(L, stage, COST_DOWNLOAD, p);
    cost->flop_kind = cost->flops ? stage->flop_kind : ASSAY_NUMBER_NONE;
    double seconds = number_of(L, stage, "duration", &stage->duration,
                               (struct dimension){.seconds = 1}, p);
    if (seconds > 1e9)
        script_fail(L, "stage '%s': duration: more than 10^9 s", stage->stage.name);
    head->duration_ns[stage->index] = (int64_t)(seconds * 1e9 + 0.5);
}

static int check_enter(lua_State *L)
{
    struct entry *entry = lua_touserdata(L, 1);
    const struct script_workload *workload = entry->workload;
    workload_params_push(L, workload, entry->params);
    int p = lua_gettop(L);
    if (workload->check != LUA_NOREF) {
        push_function(L, workload->check);
        lua_pushvalue(L, p);
        lua_call(L, 1, 2);
        take_answer(L, entry, "check", true);
        lua_pop(L, 2);
    }
    for (size_t i = 0; i < workload->stage_count && !entry->no; i++)
        stage_settle(L, &workload->stages[i], entry->head, p);
    return 0;
}

static bool hook_check(const void *params, struct assay_error *error)
{
    /* The block is the worker's own, and only the head is written. */
    struct script_params_head *head = (struct script_params_head *)(uintptr_t)params;
    struct entry entry = {.workload = head->owner, .params = params, .head = head};
    bool good = enter(&entry, check_enter, error);
    if (good && entry.no)
        good = assay_fail(error, ASSAY_SCRIPT, "%s: '%s' does not run with these parameters: %s",
                          entry.workload->place, entry.workload->workload.name,
                          text_string(&entry.reason));
    text_free(&entry.reason);
    head->known = good;
    return good;
}

static bool hook_present(const struct assay_stage *stage, const void *params)
{
    return head_of(params)->present[((const struct script_stage *)stage)->index];
}

static void hook_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    *out = head_of(params)->costs[((const struct script_stage *)stage)->index];
}

static int supported_enter(lua_State *L)
{
    struct entry *entry = lua_touserdata(L, 1);
    push_function(L, entry->workload->supported);
    if (entry->device)
        script_device_push(L, entry->device);
    else
        lua_pushnil(L);
    workload_params_push(L, entry->workload, entry->params);
    lua_call(L, 2, 2);
    take_answer(L, entry, "supported", false);
    return 0;
}

static bool hook_supported(const struct assay_device *device, const void *params,
                           struct assay_error *why_not)
{
    struct entry entry = {.workload = head_of(params)->owner, .params = params};
    if (device && !(entry.device = script_device_open(device, NULL, why_not)))
        return false;
    bool good = enter(&entry, supported_enter, why_not);
    script_device_close(&entry.device);
    if (good && entry.no)
        good = assay_fail(why_not, ASSAY_UNSUPPORTED, "%s", text_string(&entry.reason));
    text_free(&entry.reason);
    return good;
}

static int create_enter(lua_State *L)
{
    struct entry *entry = lua_touserdata(L, 1);
    struct script_slot *slot = entry->slot;
    lua_newtable(L);
    lua_pushvalue(L, -1);
    slot->s = luaL_ref(L, LUA_REGISTRYINDEX);
    workload_params_push(L, slot->workload, slot->params);
    lua_pushvalue(L, -1);
    slot->p = luaL_ref(L, LUA_REGISTRYINDEX);
    if (slot->device) {
        script_device_push(L, slot->device);
        lua_setfield(L, -3, "device");
    }
    if (slot->workload->slot != LUA_NOREF) {
        push_function(L, slot->workload->slot);
        push_slot(L, slot);
        lua_call(L, 2, 0);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, slot->s);
    script_device_name_members(L, lua_gettop(L));
    script_device_settle(slot->device);
    return 0;
}

static void hook_destroy(void **self)
{
    struct script_slot *slot = *self;
    *self = NULL;
    if (!slot)
        return;
    lua_State *L = slot->workload->script->L;
    script_host_slot_close(slot);
    luaL_unref(L, LUA_REGISTRYINDEX, slot->s);
    luaL_unref(L, LUA_REGISTRYINDEX, slot->p);
    script_device_close(&slot->device);
    lua_gc(L, LUA_GCCOLLECT); /* views are large */
    free(slot);
}

static void *hook_create(struct assay_slot *assay_slot, const void *params,
                         struct assay_error *error)
{
    struct script_slot *slot = calloc(1, sizeof(*slot));
    void *self = slot;
    if (!slot) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a slot");
        return NULL;
    }
    *slot = (struct script_slot){.workload = head_of(params)->owner,
                                 .params = params,
                                 .s = LUA_NOREF,
                                 .p = LUA_NOREF,
                                 .host_s = LUA_NOREF,
                                 .host_p = LUA_NOREF};
    const struct assay_device *device = assay_slot_device(assay_slot);
    struct entry entry = {.workload = slot->workload, .slot = slot};
    if ((!device || (slot->device = script_device_open(device, assay_slot, error))) &&
        enter(&entry, create_enter, error) &&
        (!slot->workload->host || script_host_slot_open(slot, error)))
        return slot;
    hook_destroy(&self);
    return NULL;
}

static int record_enter(lua_State *L)
{
    const struct entry *entry = lua_touserdata(L, 1);
    push_function(L, entry->stage ? entry->stage->record : entry->workload->reset);
    push_slot(L, entry->slot);
    script_command_push(L, entry->command);
    lua_call(L, 3, 0);
    return 0;
}

static bool record(const struct script_stage *stage, struct script_slot *slot,
                   struct assay_command *command, struct assay_error *error)
{
    struct entry entry = {
        .workload = slot->workload, .slot = slot, .stage = stage, .command = command};
    bool good = enter(&entry, record_enter, error);
    script_command_expire(slot->workload->script);
    return good;
}

static bool hook_record(const struct assay_stage *stage, void *self, struct assay_command *command,
                        struct assay_error *error)
{
    return record((const struct script_stage *)stage, self, command, error);
}

static bool hook_reset(void *self, struct assay_command *command, struct assay_error *error)
{
    return record(NULL, self, command, error);
}

static bool hook_run(const struct assay_stage *stage, void *self, struct assay_error *error)
{
    return script_host_run(self, ((const struct script_stage *)stage)->index, error);
}

static int64_t hook_duration(const struct assay_stage *stage, void *self, int64_t now_ns)
{
    const struct script_slot *slot = self;
    (void)now_ns;
    return head_of(slot->params)->duration_ns[((const struct script_stage *)stage)->index];
}

/* verify returns comparisons; or true; or false and a reason. */
static int verify_enter(lua_State *L)
{
    struct entry *entry = lua_touserdata(L, 1);
    push_function(L, entry->workload->verify);
    push_slot(L, entry->slot);
    lua_call(L, 2, LUA_MULTRET);
    int top = lua_gettop(L), index = 2;
    struct assay_error error = {0};
    for (; index <= top && script_comparison_test(L, index); index++)
        if (!comparison_apply(script_comparison_test(L, index), entry->verification, &error))
            script_raise_status(L, &error);
    if (index > 2 && index > top)
        return 0;
    lua_settop(L, index + 1);
    if (lua_isnil(L, index))
        script_fail(L,
                    "'%s': verify returned nothing; what assay.compare gives is wanted, or true, "
                    "or false and a reason",
                    entry->workload->workload.name);
    take_answer(L, entry, "verify", false);
    return 0;
}

static bool hook_verify(void *self, struct assay_verification *verification,
                        struct assay_error *error)
{
    struct script_slot *slot = self;
    struct entry entry = {.workload = slot->workload, .slot = slot, .verification = verification};
    if (slot->workload->verify == LUA_NOREF) {
        verification->nothing = true;
        return true;
    }
    bool good = enter(&entry, verify_enter, error);
    if (good && entry.no)
        good = assay_fail(error, ASSAY_WRONG_RESULT, "%s", text_string(&entry.reason));
    text_free(&entry.reason);
    return good;
}

/* report returns a table: NAME = a number in the metric's unit, or a quantity. */
static int report_enter(lua_State *L)
{
    const struct entry *entry = lua_touserdata(L, 1);
    const struct assay_metric_info *const *infos = entry->workload->metric_rows;
    struct assay_error error = {0};
    push_function(L, entry->workload->report);
    push_slot(L, entry->slot);
    lua_call(L, 2, 1);
    if (!lua_istable(L, -1))
        script_fail(L, "'%s': report returned a %s; a table of metrics is wanted",
                    entry->workload->workload.name, luaL_typename(L, -1));
    int table = lua_gettop(L);
    size_t taken = 0, there = 0;
    for (size_t i = 0; infos[i]; i++) {
        if (lua_getfield(L, table, infos[i]->name) == LUA_TNIL) {
            lua_pop(L, 1);
            continue;
        }
        struct unit unit = unit_of_label(infos[i]->unit);
        struct quantity quantity = quantity_of(L, lua_gettop(L), infos[i]->name);
        bool plain = dimension_is_number(quantity.dimension);
        if (!plain && !dimension_equal(quantity.dimension, unit.dimension))
            script_fail(L, "report: metric '%s' is in %s, not %s", infos[i]->name, infos[i]->unit,
                        dimension_words(quantity.dimension));
        double value = plain && lua_type(L, -1) == LUA_TNUMBER ? quantity.value
                                                               : quantity.value / unit.scale;
        if (!assay_metrics_add(entry->metrics, infos[i]->name, value, &error))
            script_raise(L, &error);
        taken++;
        lua_pop(L, 1);
    }
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        there++;
    if (there == taken)
        return 0;
    const char *names[METRICS_MAX];
    size_t count = 0;
    for (; infos[count]; count++)
        names[count] = infos[count]->name;
    workload_fields_check(L, table, "report: the workload", 0, names, count);
    return 0;
}

static bool hook_report(void *self, struct assay_metrics *metrics, struct assay_error *error)
{
    struct script_slot *slot = self;
    struct entry entry = {.workload = slot->workload, .slot = slot, .metrics = metrics};
    return enter(&entry, report_enter, error);
}

void workload_hooks_set(struct script_workload *workload)
{
    struct assay_workload *hooks = &workload->workload;
    bool model = true;
    for (size_t i = 0; i < workload->stage_count; i++) {
        struct assay_stage *stage = &workload->stages[i].stage;
        stage->present = workload->stages[i].present != LUA_NOREF ? hook_present : NULL;
        stage->cost = hook_cost;
        stage->record = workload->stages[i].record != LUA_NOREF ? hook_record : NULL;
        stage->run = workload->stages[i].run != LUA_NOREF ? hook_run : NULL;
        stage->duration_ns = workload->stages[i].duration.given ? hook_duration : NULL;
        stage->in_place = stage->in_place || workload->reset != LUA_NOREF;
        model = model && stage->kind == ASSAY_STAGE_MODEL;
    }
    hooks->check = hook_check;
    hooks->supported = workload->supported != LUA_NOREF ? hook_supported : NULL;
    hooks->create = hook_create;
    hooks->verify = model && workload->verify == LUA_NOREF ? NULL : hook_verify;
    hooks->report = workload->report != LUA_NOREF ? hook_report : NULL;
    hooks->reset = workload->reset != LUA_NOREF ? hook_reset : NULL;
    hooks->destroy = hook_destroy;
}
