/* SPDX-License-Identifier: MIT */
/* Which cases all:one{ bytes = "4 KiB" } and all:where{...} mean. */
#include "script/match.h"

#include <string.h>

const struct catalog_workload *match_workload_next(lua_State *L, size_t *at)
{
    const struct script *script = script_of(L);
    const struct plan_experiment *of = &script->plan->experiments[script->judging.experiment];
    const struct plan_case *cases = &script->plan->cases[of->first_case];
    for (; *at < of->case_count; ++*at)
        if (*at == 0 || cases[*at].workload != cases[*at - 1].workload)
            return cases[(*at)++].workload;
    return NULL;
}

/* The value of a parameter of a case, its default when it is not set. */
static struct option_value case_value(lua_State *L, const struct plan_case *item, int option)
{
    struct option_value value;
    struct assay_error error = {0};
    for (uint32_t i = 0; i < item->setting_count; i++)
        if (item->settings[i].option == (uint32_t)option)
            return item->settings[i].value;
    if (!option_default(item->workload->options[option], script_scratch(L), &value, &error))
        script_raise(L, &error);
    return value;
}

static enum match_kind match_kind_of(const char *name)
{
    static const struct {
        const char *name;
        enum match_kind kind;
    } kinds[] = {{"workload", MATCH_WORKLOAD},
                 {"device", MATCH_DEVICE},
                 {"replica", MATCH_REPLICA},
                 {"schedule", MATCH_SCHEDULE}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    return MATCH_OPTION;
}

/* Parses the wanted value for the workload of a case, once for each workload in a row. */
static void match_prepare(lua_State *L, struct match *match,
                          const struct catalog_workload *workload)
{
    struct assay_error error = {0};
    if (match->workload == workload)
        return;
    match->workload = workload;
    match->option = option_find(workload->options, match->name);
    if (match->option < 0)
        return;
    lua_getfield(L, 2, match->name);
    if (!value_for_option(L, lua_gettop(L), workload->options[match->option], script_scratch(L),
                          &match->value, &error))
        script_raise(L, &error);
    lua_pop(L, 1);
}

bool match_option(lua_State *L, struct match *match, const struct catalog_workload *workload)
{
    if (match->kind != MATCH_OPTION)
        return false;
    match_prepare(L, match, workload);
    return match->option >= 0;
}

/* The value on top: "pipelined" is any of that name; what assay.pipelined{...} gave is that one. */
static bool matches_schedule(lua_State *L, const struct plan_case *item)
{
    const struct schedule *own = plan_case_schedule(item);
    struct schedule wanted;
    struct assay_error error = {0};
    if (!schedule_read(L, lua_gettop(L), &wanted, &error))
        script_raise(L, &error);
    return lua_type(L, -1) == LUA_TSTRING ? wanted.kind == own->kind : schedule_equal(&wanted, own);
}

/* A name that is no parameter of the case's workload: a field of its schedule. Values that a field
 * of this name cannot have here belong to another schedule (field_check). */
static bool matches_field(lua_State *L, const struct match *match, const struct plan_case *item)
{
    const struct schedule *own = plan_case_schedule(item);
    const struct assay_option *const *options = schedule_options(own->kind);
    struct assay_error error = {0};
    struct option_value value, wanted;
    int index = option_find(options, match->name);
    if (index < 0)
        return false;
    lua_getfield(L, 2, match->name);
    bool good = value_for_option(L, lua_gettop(L), options[index], script_scratch(L), &wanted,
                                 &error);
    lua_pop(L, 1);
    if (!good)
        return false;
    option_load(options[index], own, &value);
    return option_value_equal(&value, &wanted);
}

static bool matches_special(lua_State *L, const struct match *match, const struct plan_case *item)
{
    bool good = false;
    int type = lua_getfield(L, 2, match->name);
    switch (match->kind) {
    case MATCH_REPLICA:
        good = lua_isinteger(L, -1) && lua_tointeger(L, -1) == (lua_Integer)item->replica;
        break;
    case MATCH_WORKLOAD:
        good = type == LUA_TSTRING && strcmp(lua_tostring(L, -1), item->workload->name) == 0;
        break;
    case MATCH_DEVICE:
        good = type == LUA_TSTRING && item->device &&
               strcmp(lua_tostring(L, -1), item->device) == 0;
        break;
    case MATCH_SCHEDULE:
        good = matches_schedule(L, item);
        break;
    case MATCH_OPTION:
        break;
    }
    lua_pop(L, 1);
    return good;
}

bool matches_case(lua_State *L, struct match *matches, size_t count, const struct plan_case *item)
{
    for (size_t i = 0; i < count; i++) {
        if (matches[i].kind != MATCH_OPTION) {
            if (!matches_special(L, &matches[i], item))
                return false;
            continue;
        }
        if (!match_option(L, &matches[i], item->workload)) {
            if (!matches_field(L, &matches[i], item))
                return false;
            continue;
        }
        struct option_value value = case_value(L, item, matches[i].option);
        if (!option_value_equal(&value, &matches[i].value))
            return false;
    }
    return true;
}

/* Whether a schedule of the experiment has such a field. A value that none of them takes is a
 * slip. */
static bool field_check(lua_State *L, const char *name)
{
    const struct script *script = script_of(L);
    const struct plan_experiment *of = &script->plan->experiments[script->judging.experiment];
    const struct schedule *last = NULL;
    struct assay_error error = {0};
    bool found = false;
    for (size_t i = 0; i < of->case_count; i++) {
        const struct schedule *schedule = script->plan->cases[of->first_case + i].schedule;
        const struct assay_option *const *options = schedule ? schedule_options(schedule->kind)
                                                             : NULL;
        int index = options && schedule != last ? option_find(options, name) : -1;
        last = schedule;
        if (index < 0)
            continue;
        struct option_value value;
        found = true;
        error = (struct assay_error){0};
        lua_getfield(L, 2, name);
        bool good = value_for_option(L, lua_gettop(L), options[index], script_scratch(L), &value,
                                     &error);
        lua_pop(L, 1);
        if (good)
            return true;
    }
    if (found)
        script_raise(L, &error);
    return false;
}

void match_check_name(lua_State *L, const char *name)
{
    const struct catalog_workload *workload, *first = NULL;
    struct assay_error error = {0};
    if (match_kind_of(name) != MATCH_OPTION || field_check(L, name))
        return;
    for (size_t at = 0; (workload = match_workload_next(L, &at));) {
        if (option_find(workload->options, name) >= 0)
            return;
        first = first ? first : workload;
    }
    if (!first)
        return;
    option_unknown(first->options, first->name, name, &error);
    script_raise(L, &error);
}

static void names_check(lua_State *L, struct match *matches, size_t count)
{
    const struct catalog_workload *workload;
    for (size_t i = 0; i < count; i++) {
        match_check_name(L, matches[i].name);
        for (size_t at = 0;
             matches[i].kind == MATCH_OPTION && (workload = match_workload_next(L, &at));)
            match_prepare(L, &matches[i], workload); /* a value that none takes is a slip too */
    }
}

size_t matches_read(lua_State *L, const char *method, struct match matches[MAX_MATCHES])
{
    size_t count = 0;
    if (lua_type(L, 2) != LUA_TTABLE)
        script_fail(L, "%s: a table of parameters is wanted: all:%s{ bytes = \"4 KiB\" }", method,
                    method);
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            script_fail(L, "%s: [%s] is no name of a parameter", method,
                        luaL_tolstring(L, -2, NULL));
        if (count == MAX_MATCHES)
            script_fail(L, "%s: more than %d names", method, MAX_MATCHES);
        const char *name = lua_tostring(L, -2);
        size_t at = count++;
        for (; at > 0 && strcmp(matches[at - 1].name, name) > 0; at--)
            matches[at] = matches[at - 1];
        matches[at] = (struct match){.name = name, .kind = match_kind_of(name)};
    }
    names_check(L, matches, count);
    return count;
}

void match_add_key(lua_State *L, struct text *key, const struct plan_case *item, const char *name)
{
    int option = option_find(item->workload->options, name);
    switch (match_kind_of(name)) {
    case MATCH_WORKLOAD:
        text_add(key, item->workload->name);
        break;
    case MATCH_DEVICE:
        text_add(key, item->device ? item->device : "");
        break;
    case MATCH_REPLICA:
        text_addf(key, "%u", (unsigned)item->replica);
        break;
    case MATCH_SCHEDULE:
        schedule_add_label(plan_case_schedule(item), key);
        break;
    case MATCH_OPTION:
        if (option >= 0) {
            struct option_value value = case_value(L, item, option);
            option_value_add(key, item->workload->options[option], &value);
        } else {
            schedule_add_field(plan_case_schedule(item), name, key);
        }
        break;
    }
    text_add_char(key, '\n');
}
