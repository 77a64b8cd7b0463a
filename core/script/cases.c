/* SPDX-License-Identifier: MIT */
/* The cases of an experiment in a summary, or of a pair group in a check: all:one{...},
 * all:where{...}, all:each(), columns. */
#include "script/match.h"

#include <stdlib.h>
#include <string.h>

#define CASES "assay.cases"
#define COLUMN "assay.cases.stage"
#define SERIES "assay.series"
#define SHOWN_CASES 4

struct cases {
    unsigned generation;
    uint32_t count;
    const struct plan_case *items[];
};

struct column { /* all.copy, waiting for .rate; its cases stand in the user value */
    const char *stage;
};

#define METHODS 4
static const char *const methods[METHODS] = {"one", "where", "each", "groups"};

static struct cases *cases_check(lua_State *L, int index)
{
    struct cases *cases = luaL_testudata(L, index, CASES);
    const struct judging *judging = &script_of(L)->judging;
    if (!cases)
        script_fail(L, "methods of cases are called with a colon: all:one{...}, all:where{...}");
    if (!judging->judge || judging->generation != cases->generation)
        script_fail(L, "these cases are gone: they can be looked at only in the check or summary "
                       "that got them");
    return cases;
}

static struct cases *cases_new(lua_State *L, size_t room)
{
    struct cases *cases = lua_newuserdatauv(L, sizeof(*cases) + room * sizeof(cases->items[0]), 0);
    cases->generation = script_of(L)->judging.generation;
    cases->count = 0;
    luaL_setmetatable(L, CASES);
    return cases;
}

void cases_push_all(lua_State *L, uint32_t experiment)
{
    const struct plan *plan = script_of(L)->plan;
    const struct plan_experiment *of = &plan->experiments[experiment];
    struct cases *cases = cases_new(L, of->case_count);
    for (size_t i = 0; i < of->case_count; i++)
        cases->items[cases->count++] = &plan->cases[of->first_case + i];
}

void cases_push_group(lua_State *L, const struct judge_group *group)
{
    struct cases *cases = cases_new(L, group->count);
    for (size_t i = 0; i < group->count; i++)
        cases->items[cases->count++] = group->items[i];
}

static struct cases *select_cases(lua_State *L, const struct cases *cases, const char *method,
                                  struct match matches[MAX_MATCHES], size_t *match_count)
{
    size_t count = *match_count = matches_read(L, method, matches);
    struct cases *found = cases_new(L, cases->count);
    for (uint32_t i = 0; i < cases->count; i++)
        if (matches_case(L, matches, count, cases->items[i]))
            found->items[found->count++] = cases->items[i];
    return found;
}

static void add_labels(lua_State *L, const struct cases *cases, struct text *text)
{
    for (uint32_t i = 0; i < cases->count && i < SHOWN_CASES; i++) {
        text_add(text, i ? "; " : "");
        plan_case_label(script_of(L)->plan, cases->items[i], true, text);
    }
    if (cases->count > SHOWN_CASES)
        text_addf(text, "; and %u more", (unsigned)(cases->count - SHOWN_CASES));
}

/* With --set and --device the plan may lack a case that the script counts on: a result without
 * figures stands for it. */
static void push_unplanned(lua_State *L, struct match *matches, size_t count)
{
    struct script *script = script_of(L);
    size_t at = 0;
    const struct catalog_workload *workload = match_workload_next(L, &at);
    struct plan_case *item = arena_alloc(script->arena, sizeof(*item));
    struct plan_setting *settings = arena_alloc(script->arena, (count + 1) * sizeof(*settings));
    if (!item || !settings)
        luaL_error(L, "not enough memory");
    *item = (struct plan_case){
        .experiment = script->judging.experiment, .workload = workload, .settings = settings};
    for (size_t i = 0; i < count; i++) {
        if (!match_option(L, &matches[i], workload))
            continue;
        struct plan_setting setting = {(uint32_t)matches[i].option, matches[i].value};
        if (setting.value.kind == ASSAY_OPTION_TEXT || setting.value.kind == ASSAY_OPTION_SOURCE)
            setting.value.as.text = arena_copy(script->arena, setting.value.as.text);
        uint32_t place = item->setting_count++; /* in the order of the options */
        for (; place > 0 && settings[place - 1].option > setting.option; place--)
            settings[place] = settings[place - 1];
        settings[place] = setting;
    }
    result_push(L, item);
}

static int cases_one(lua_State *L)
{
    struct match matches[MAX_MATCHES];
    size_t count;
    const struct script *script = script_of(L);
    const struct cases *cases = cases_check(L, 1);
    const struct cases *found = select_cases(L, cases, "one", matches, &count);
    struct text text = {0};
    if (found->count == 1) {
        result_push(L, found->items[0]);
        return 1;
    }
    if (found->count == 0 && (script->params.sets[0] || script->params.device)) {
        push_unplanned(L, matches, count);
        return 1;
    }
    if (found->count) {
        text_addf(&text, "one: %u cases match, but one is wanted: ", (unsigned)found->count);
        add_labels(L, found, &text);
    } else {
        text_add(&text, "one: no case matches; there are: ");
        add_labels(L, cases, &text);
    }
    script_push_text(L, &text);
    script_fail(L, "%s", lua_tostring(L, -1));
}

static int cases_where(lua_State *L)
{
    struct match matches[MAX_MATCHES];
    size_t count;
    select_cases(L, cases_check(L, 1), "where", matches, &count);
    return 1;
}

static int each_next(lua_State *L)
{
    const struct cases *cases = cases_check(L, lua_upvalueindex(1));
    lua_Integer at = lua_tointeger(L, lua_upvalueindex(2));
    if (at >= (lua_Integer)cases->count)
        return 0;
    lua_pushinteger(L, at + 1);
    lua_replace(L, lua_upvalueindex(2));
    result_push(L, cases->items[at]);
    return 1;
}

static int cases_each(lua_State *L)
{
    cases_check(L, 1);
    lua_settop(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, each_next, 2);
    return 1;
}

static int list_next(lua_State *L)
{
    lua_Integer at = lua_tointeger(L, lua_upvalueindex(2)) + 1;
    lua_pushinteger(L, at);
    lua_replace(L, lua_upvalueindex(2));
    lua_geti(L, lua_upvalueindex(1), at);
    return 1;
}

/* all:groups("host_memory"): an iterator over collections that agree in the named axes, in order of
 * first appearance. */
static int cases_groups(lua_State *L)
{
    const struct cases *cases = cases_check(L, 1);
    int names = lua_gettop(L);
    if (names < 2)
        script_fail(L, "groups: name the parameters that the cases of a group share");
    for (int i = 2; i <= names; i++)
        match_check_name(L, luaL_checkstring(L, i));
    lua_newtable(L); /* key -> number of its group */
    uint32_t *group_of = script_alloc(L, (cases->count + 1) * sizeof(*group_of));
    uint32_t *sizes = script_alloc(L, (cases->count + 1) * sizeof(*sizes)), groups = 0;
    for (uint32_t i = 0; i < cases->count; i++) {
        struct text key = {0};
        for (int n = 2; n <= names; n++)
            match_add_key(L, &key, cases->items[i], lua_tostring(L, n));
        script_push_text(L, &key);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, names + 1) == LUA_TNIL) {
            lua_pushvalue(L, -2);
            lua_pushinteger(L, groups++);
            lua_rawset(L, names + 1);
            group_of[i] = groups - 1;
        } else {
            group_of[i] = (uint32_t)lua_tointeger(L, -1);
        }
        sizes[group_of[i]]++;
        lua_pop(L, 2);
    }
    lua_createtable(L, (int)groups, 0);
    int list = lua_gettop(L);
    struct cases **collections = script_alloc(L, (groups + 1) * sizeof(struct cases *));
    for (uint32_t i = 0; i < groups; i++) {
        collections[i] = cases_new(L, sizes[i]);
        lua_rawseti(L, list, (lua_Integer)i + 1);
    }
    for (uint32_t i = 0; i < cases->count; i++) {
        struct cases *group = collections[group_of[i]];
        group->items[group->count++] = cases->items[i];
    }
    lua_pushvalue(L, list);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, list_next, 2);
    return 1;
}

static void series_push(lua_State *L, const struct cases *cases, const char *name,
                        struct dimension dimension)
{
    for (uint32_t i = 0; i < cases->count; i++)
        result_check_given(L, cases->items[i], name,
                           "; take those that do, with where{ schedule = ... }");
    size_t bytes = sizeof(struct series) + cases->count * sizeof(cases->items[0]);
    struct series *series = lua_newuserdatauv(L, bytes + strlen(name) + 1, 0);
    series->count = cases->count;
    series->dimension = dimension;
    series->name = (char *)series + bytes;
    series->generation = cases->generation;
    memcpy((char *)series + bytes, name, strlen(name) + 1);
    for (uint32_t i = 0; i < cases->count; i++)
        series->cases[i] = cases->items[i];
    luaL_setmetatable(L, SERIES);
}

struct series *series_test(lua_State *L, int index)
{
    return luaL_testudata(L, index, SERIES);
}

static int method_push(lua_State *L, const char *name)
{
    static const lua_CFunction functions[] = {cases_one, cases_where, cases_each, cases_groups};
    for (size_t i = 0; i < METHODS; i++) {
        if (strcmp(name, methods[i]) == 0) {
            lua_pushcfunction(L, functions[i]);
            return 1;
        }
    }
    return 0;
}

static void unknown_column(lua_State *L, const char *name)
{
    size_t at = 0, count;
    const char **names = member_names(L, match_workload_next(L, &at), METHODS, &count);
    for (size_t i = 0; i < METHODS; i++)
        names[count++] = methods[i];
    script_unknown(L, "a collection of cases", "member", name, names, count);
}

/* all.copy, to be followed by .rate; the collection is at index 1 */
static void column_push(lua_State *L, const struct catalog_workload *workload, const char *name)
{
    struct column *column = lua_newuserdatauv(L, sizeof(*column), 1);
    column->stage = part_find(workload, name);
    luaL_setmetatable(L, COLUMN);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
}

static int cases_index(lua_State *L)
{
    const struct cases *cases = cases_check(L, 1);
    const struct catalog_workload *workload;
    struct dimension dimension = {0};
    if (lua_isinteger(L, 2)) {
        lua_Integer at = lua_tointeger(L, 2);
        if (at < 1 || at > (lua_Integer)cases->count)
            return 0;
        result_push(L, cases->items[at - 1]);
        return 1;
    }
    const char *name = luaL_tolstring(L, 2, NULL);
    if (method_push(L, name))
        return 1;
    for (size_t at = 0; (workload = match_workload_next(L, &at));) {
        switch (member_find(workload, name, &dimension)) {
        case MEMBER_METRIC:
            series_push(L, cases, name, dimension);
            return 1;
        case MEMBER_PART:
            column_push(L, workload, name);
            return 1;
        case MEMBER_NONE:
            break;
        }
    }
    unknown_column(L, name);
    return 0;
}

static int cases_length(lua_State *L)
{
    lua_pushinteger(L, cases_check(L, 1)->count);
    return 1;
}

static int column_index(lua_State *L)
{
    const struct column *column = luaL_checkudata(L, 1, COLUMN);
    const char *name = luaL_tolstring(L, 2, NULL);
    struct dimension dimension;
    if (!part_member(column->stage, name, &dimension))
        part_unknown(L, column->stage, name);
    lua_pushfstring(L, "%s.%s", column->stage, name);
    lua_getiuservalue(L, 1, 1);
    series_push(L, cases_check(L, -1), lua_tostring(L, -2), dimension);
    return 1;
}

static struct series *series_check(lua_State *L)
{
    struct series *series = luaL_checkudata(L, 1, SERIES);
    const struct judging *judging = &script_of(L)->judging;
    if (!judging->judge || judging->generation != series->generation)
        script_fail(L, "this series is gone: it can be looked at only in the check or summary that "
                       "got it");
    return series;
}

static int series_index(lua_State *L)
{
    const struct series *series = series_check(L);
    struct metric metric;
    if (!lua_isinteger(L, 2))
        script_fail(L, "a series is indexed by numbers from 1, or judged by "
                       "expect(series):increasing(\"bytes\")");
    lua_Integer at = lua_tointeger(L, 2);
    if (at < 1 || at > (lua_Integer)series->count)
        return 0;
    const struct plan_case *item = series->cases[at - 1];
    result_metric(L, item, series->name, series->dimension, &metric);
    metric_push(L, &metric, item, result_device_label(L, item));
    return 1;
}

static int series_length(lua_State *L)
{
    lua_pushinteger(L, series_check(L)->count);
    return 1;
}

void cases_open(lua_State *L)
{
    static const luaL_Reg cases_meta[] = {
        {"__index", cases_index}, {"__len", cases_length}, {NULL, NULL}};
    static const luaL_Reg column_meta[] = {{"__index", column_index}, {NULL, NULL}};
    static const luaL_Reg series_meta[] = {
        {"__index", series_index}, {"__len", series_length}, {NULL, NULL}};
    script_class(L, CASES, cases_meta);
    script_class(L, COLUMN, column_meta);
    script_class(L, SERIES, series_meta);
}
