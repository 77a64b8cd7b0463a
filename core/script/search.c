/* SPDX-License-Identifier: MIT */
/* assay.search{...}: an experiment whose case looks for a value. */
#include "script/inside.h"

#include <math.h>
#include <string.h>

#define PRECISION 0.05

const char *const search_fields[] = {"from",    "to",       "step",     "metric",
                                     "at_most", "at_least", "precision"};
const size_t search_field_count = sizeof(search_fields) / sizeof(search_fields[0]);

static struct schedule schedule_of(lua_State *L, const struct definition *definition)
{
    struct schedule schedule = schedule_default(SCHEDULE_SERIAL);
    struct assay_error error = {0};
    if (definition->schedule.count) {
        lua_geti(L, definition->keep, definition->schedule.keep);
        lua_geti(L, -1, 1);
        if (!schedule_read(L, lua_gettop(L), &schedule, &error))
            script_raise(L, &error);
        lua_pop(L, 2);
    }
    return schedule;
}

static const struct assay_option *axis_find(lua_State *L, struct definition *definition,
                                            const struct catalog_workload *workload,
                                            const struct schedule *schedule)
{
    const char *name = definition->search_vary;
    struct assay_error error = {0};
    int index = option_find(workload->options, name);
    if (index >= 0)
        return workload->options[index];
    const struct assay_option *const *fields = schedule_options(schedule->kind);
    int field = option_find(fields, name);
    definition->search_schedule = field >= 0;
    if (field >= 0)
        return fields[field];
    option_unknown(workload->options, workload->name, name, &error);
    error_prefix(&error, "vary: the schedule '%s' has no field '%s'", schedule_name(schedule->kind),
                 name);
    script_raise(L, &error);
}

/* A value on the axis, in its unit; the fallback where it is not given. */
static double axis_read(lua_State *L, const struct assay_option *axis, const char *name,
                        double fallback)
{
    struct assay_error error = {0};
    struct option_value value;
    if (lua_getfield(L, 1, name) == LUA_TNIL) {
        lua_pop(L, 1);
        return fallback;
    }
    if (!value_for_option(L, lua_gettop(L), axis, script_scratch(L), &value, &error)) {
        error_prefix(&error, "%s", name);
        script_raise(L, &error);
    }
    lua_pop(L, 1);
    return value.kind == ASSAY_OPTION_INTEGER ? (double)value.as.integer : value.as.real;
}

#define NAMES_MAX 512

struct lookup {
    lua_State *L;
    const char *name;
    struct dimension *dimension;
    bool found;
    const char *names[NAMES_MAX];
    size_t count;
};

static void look(void *user, const struct metric_description *metric)
{
    struct lookup *lookup = user;
    if (lookup->count < NAMES_MAX)
        lookup->names[lookup->count++] = script_copy(lookup->L, metric->name);
    if (strcmp(metric->name, lookup->name) != 0)
        return;
    *lookup->dimension = metric->dimension;
    lookup->found = true;
}

static void metric_unknown(lua_State *L, const struct catalog_workload *workload,
                           const struct schedule *schedule, const struct lookup *lookup)
{
    struct text text = {0};
    const char *nearest = text_nearest(lookup->name, lookup->names, lookup->count);
    text_addf(&text, "'%s' has no metric '%s'", workload->name, lookup->name);
    if (nearest && strcmp(nearest, lookup->name) != 0)
        text_addf(&text, "; did you mean '%s'? Under", nearest);
    else
        text_add(&text, "; under");
    text_addf(&text, " %s it has ", schedule_name(schedule->kind));
    catalog_add_given(workload, schedule, &text);
    script_push_text(L, &text);
    script_fail(L, "metric: %s", lua_tostring(L, -1));
}

/* Of the workload, and given by the schedule. */
static const char *metric_read(lua_State *L, const struct catalog_workload *workload,
                               const struct schedule *schedule, struct dimension *dimension)
{
    if (lua_getfield(L, 1, "metric") != LUA_TSTRING)
        script_fail(L, "assay.search: metric is missing: what is bounded, such as metric = "
                       "\"latency.p95\"");
    const char *name = script_copy(L, lua_tostring(L, -1));
    struct lookup *lookup = script_alloc(L, sizeof(*lookup));
    *lookup = (struct lookup){.L = L, .name = name, .dimension = dimension};
    lua_pop(L, 1);
    catalog_each_metric(workload, look, lookup);
    for (size_t i = 0; i < catalog_schedule_metric_count; i++)
        look(lookup, &catalog_schedule_metrics[i]);
    if (!lookup->found || strcmp(name, "value") == 0)
        metric_unknown(L, workload, schedule, lookup);
    if (catalog_schedule_gives(schedule, name))
        return name;
    struct text text = {0};
    catalog_add_not_given(workload, schedule, name, &text);
    script_push_text(L, &text);
    script_fail(L, "metric: %s", lua_tostring(L, -1));
}

static void bound_read(lua_State *L, struct search *search, struct dimension dimension)
{
    bool most = lua_getfield(L, 1, "at_most") != LUA_TNIL;
    bool least = lua_getfield(L, 1, "at_least") != LUA_TNIL;
    if (most == least)
        script_fail(L, "assay.search: one of at_most and at_least is wanted");
    struct quantity bound = quantity_of(L, most ? -2 : -1, most ? "at_most" : "at_least");
    if (!dimension_equal(bound.dimension, dimension)) {
        lua_pushstring(L, dimension_words(dimension));
        script_fail(L, "%s: %s is %s, but the bound is %s", most ? "at_most" : "at_least",
                    search->metric, lua_tostring(L, -1), dimension_words(bound.dimension));
    }
    lua_pop(L, 2);
    search->bound = bound.value;
    search->at_most = most;
}

static double precision_read(lua_State *L)
{
    if (lua_getfield(L, 1, "precision") == LUA_TNIL) {
        lua_pop(L, 1);
        return PRECISION;
    }
    struct quantity precision = quantity_of(L, -1, "precision");
    if (!dimension_is_number(precision.dimension) || !(precision.value >= 0.001) ||
        precision.value > 1)
        script_fail(L, "precision: a share from \"0.1 %%\" to \"100 %%\" is wanted");
    lua_pop(L, 1);
    return precision.value;
}

static double end_read(lua_State *L, const struct assay_option *axis, const char *name,
                       const char *which)
{
    double value = axis_read(L, axis, name, -1);
    if (lua_getfield(L, 1, name) == LUA_TNIL)
        script_fail(L, "assay.search: %s is missing: the %s value of %s", name, which, axis->name);
    lua_pop(L, 1);
    if (!(value > 0))
        script_fail(L, "%s: %s has to be over 0, as the values between are geometric means", name,
                    axis->name);
    return value;
}

static bool is_multiple(double value, double step)
{
    double count = value / step;
    return fabs(count - round(count)) <= 1e-9 * count;
}

static void axis_ends_read(lua_State *L, const struct assay_option *axis, struct search *search)
{
    bool whole = axis->kind == ASSAY_OPTION_INTEGER;
    search->from = end_read(L, axis, "from", "lowest");
    search->to = end_read(L, axis, "to", "highest");
    if (!(search->to > search->from))
        script_fail(L,
                    "assay.search: to has to be over from: with one value of %s there is "
                    "nothing to look for",
                    axis->name);
    search->step = axis_read(L, axis, "step", whole ? 1 : 0);
    if (lua_getfield(L, 1, "step") != LUA_TNIL && !(search->step > 0))
        script_fail(L, "step: it has to be over 0");
    lua_pop(L, 1);
    if (search->step > 0 &&
        (!is_multiple(search->from, search->step) || !is_multiple(search->to, search->step)))
        script_fail(L, "step: from and to have to be multiples of it");
}

void search_resolve(lua_State *L, struct definition *definition,
                    const struct catalog_workload *workload)
{
    struct search *search = script_alloc(L, sizeof(*search));
    struct dimension dimension = {0};
    if (definition->workload.count > 1)
        script_fail(L, "assay.search: one workload is wanted, not a list");
    if (definition->experiment.pair)
        script_fail(L, "assay.search: its values are tried one after the other, so it has no pair");
    if (definition->schedule.count > 1)
        script_fail(L, "assay.search: one schedule is wanted, not a list");
    const struct schedule schedule = schedule_of(L, definition);
    const struct assay_option *axis = axis_find(L, definition, workload, &schedule);
    if (axis->kind != ASSAY_OPTION_INTEGER && axis->kind != ASSAY_OPTION_REAL)
        script_fail(L, "vary: '%s' is no number, so there is no highest one", axis->name);
    for (size_t i = 0; i < definition->source_count; i++)
        if (!definition->search_schedule && strcmp(definition->sources[i].name, axis->name) == 0)
            script_fail(L, "%s is in both fixed and vary; it can be in one of them", axis->name);
    if (definition->search_schedule &&
        schedule_is_given(&schedule,
                          (size_t)option_find(schedule_options(schedule.kind), axis->name)))
        script_fail(L, "%s is in both schedule and vary; it can be in one of them", axis->name);
    search->vary = axis->name;
    axis_ends_read(L, axis, search);
    search->metric = metric_read(L, workload, &schedule, &dimension);
    bound_read(L, search, dimension);
    search->precision = precision_read(L);
    definition->experiment.search = search;
}
