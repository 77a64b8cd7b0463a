/* SPDX-License-Identifier: MIT */
/* expect(x):at_least(y) and its like: one verdict each, for the judge. */
#include "script/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPECTATION "assay.expectation"

enum subject { SUBJECT_METRIC, SUBJECT_BOOLEAN, SUBJECT_TEXT, SUBJECT_SERIES };
struct expectation { /* user value 1: what was given */
    enum subject subject;
    bool judged;
    enum verdict verdict; /* of the last bound */
};

static const char *const subject_words[] = {"a figure", "true or false", "a text", "a series"};

static struct expectation *expectation_check(lua_State *L)
{
    struct expectation *expectation = luaL_testudata(L, 1, EXPECTATION);
    if (!expectation)
        script_fail(L, "bounds are called with a colon: expect(x):at_least(y)");
    if (!script_of(L)->judging.judge)
        script_fail(L, "bounds belong into check and summary");
    return expectation;
}

/* A second limit, or a tolerance where the bound takes none, would be passed over in silence. */
static void most_arguments(lua_State *L, enum bound_kind kind, int most, const char *usage)
{
    if (lua_gettop(L) > most)
        script_fail(L, "%s: too many values; %s", bound_name(kind), usage);
}

int expect_new(lua_State *L)
{
    struct judging *judging = &script_of(L)->judging;
    enum subject subject = SUBJECT_METRIC;
    if (!judging->judge)
        script_fail(L, "expect belongs into check and summary");
    if (lua_type(L, 1) == LUA_TBOOLEAN)
        subject = SUBJECT_BOOLEAN;
    else if (lua_type(L, 1) == LUA_TSTRING)
        subject = SUBJECT_TEXT;
    else if (series_test(L, 1))
        subject = SUBJECT_SERIES;
    else if (!metric_test(L, 1) && !quantity_test(L, 1) && lua_type(L, 1) != LUA_TNUMBER)
        script_fail(L,
                    "expect: %s cannot be judged; give a metric, a number, a quantity, a text, "
                    "a series, true or false",
                    lua_isnoneornil(L, 1) ? "nothing"
                                          : lua_pushfstring(L, "a %s", luaL_typename(L, 1)));
    if (lua_gettop(L) > 1)
        script_fail(L, "expect takes one value; the bound follows: expect(x):at_least(y)");
    struct expectation *expectation = lua_newuserdatauv(L, sizeof(*expectation), 1);
    *expectation = (struct expectation){.subject = subject, .verdict = VERDICT_NOT_JUDGED};
    luaL_setmetatable(L, EXPECTATION);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    if (judging->open_bounds++ == 0) {
        const struct chunk *chunk = state_place(L, &judging->open_line);
        judging->open_path = chunk ? chunk->path : NULL;
    }
    return 1;
}

void expect_finish(lua_State *L)
{
    struct script *script = script_of(L);
    const struct judging *judging = &script->judging;
    if (judging->open_bounds == 0)
        return;
    lua_pushfstring(L,
                    "%s:%d: an expect() without a bound judges nothing; add one, such as "
                    ":at_least(...)",
                    judging->open_path ? judging->open_path : script->params.path,
                    judging->open_line);
    lua_error(L);
}

/* Hands over the verdict. `body` is freed. limits: NULL where no figure is judged. */
static int verdict_give(lua_State *L, struct expectation *expectation, enum bound_kind kind,
                        enum verdict verdict, struct text *body, const struct value_metric *about,
                        const struct bound *limits)
{
    struct script *script = script_of(L);
    struct judging *judging = &script->judging;
    struct assay_error error = {0};
    struct text message = {0}, settings = {0};
    const struct plan_case *first = judging->group ? judging->group->items[0] : NULL;
    const struct plan_case *item = judging->item ? judging->item : about ? about->item : NULL;
    const char *device = item    ? result_device_label(L, item)
                         : first ? result_group_label(L, first)
                                 : NULL;
    int line;
    const struct chunk *chunk = state_place(L, &line);
    const char *path = chunk ? chunk->path : script->params.path;
    char hex[HASH_HEX_BYTES];
    text_add(&message, path);
    text_add_char(&message, ':');
    text_add_integer(&message, line);
    text_add(&message, ": ");
    text_add(&message, text_string(body));
    text_free(body);
    if (item)
        plan_case_label(script->plan, item, true, &settings);
    else if (first)
        plan_group_label(script->plan, first->group, &settings);
    if (device) {
        text_add(&settings, settings.length ? ", " : "");
        text_add_clean(&settings, device);
    }
    if (settings.length) {
        text_add(&message, " (");
        text_add(&message, text_string(&settings));
        text_add_char(&message, ')');
    }
    text_free(&settings);
    if (first)
        hash_hex(&first->id, hex);
    struct judge_verdict out = {.experiment = script->plan->experiments[judging->experiment].name,
                                .case_id = first ? hex : NULL,
                                .verdict = verdict,
                                .script = path,
                                .line = line,
                                .bound = bound_name(kind),
                                .message = text_string(&message),
                                .metric = limits ? &about->metric : NULL,
                                .limits = limits};
    bool good = judge_add(judging->judge, &out, &error);
    text_free(&message);
    if (!good)
        script_abort(L, &error);
    if (!expectation->judged)
        judging->open_bounds--;
    expectation->judged = true;
    expectation->verdict = verdict;
    lua_settop(L, 1);
    return 1;
}

/* The figure under judgement; raises when expect() got something else. */
static struct value_metric figure(lua_State *L, enum bound_kind kind)
{
    const struct expectation *expectation = expectation_check(L);
    if (expectation->subject != SUBJECT_METRIC)
        script_fail(L, "%s judges a figure, but expect() got %s", bound_name(kind),
                    subject_words[expectation->subject]);
    lua_getiuservalue(L, 1, 1);
    struct value_metric value = metric_of(L, -1, "expect", NULL);
    if (!metric_test(L, -1))
        value.metric.name = "value"; /* or the figure would stand there twice */
    lua_pop(L, 1);
    return value;
}

/* The limit at `index` in base units; raises when its dimension is another than the figure's. */
static struct value_metric limit(lua_State *L, int index, const struct value_metric *of,
                                 enum bound_kind kind, const char **as_written)
{
    const char *what = bound_name(kind);
    if (lua_isnone(L, index))
        script_fail(L, "%s: the limit is missing", what);
    struct value_metric value = metric_of(L, index, what, as_written);
    if (dimension_equal(value.metric.dimension, of->metric.dimension))
        return value;
    struct text text = {0};
    text_addf(&text, "%s is %s, but ", of->metric.name, dimension_words(of->metric.dimension));
    text_addf(&text, "%s is %s", value.metric.name, dimension_words(value.metric.dimension));
    if (dimension_is_number(value.metric.dimension))
        text_addf(&text, "; give it a unit, such as \"%s %s\"", value.metric.name,
                  dimension_symbol(of->metric.dimension));
    script_push_text(L, &text);
    script_fail(L, "%s: %s", what, lua_tostring(L, -1));
}

static int judge_figure(lua_State *L, struct bound *bound, const struct value_metric *value)
{
    struct text body = {0};
    enum verdict verdict = bound_judge(bound, &value->metric);
    bound_add_message(&body, bound, &value->metric, verdict);
    return verdict_give(L, luaL_checkudata(L, 1, EXPECTATION), bound->kind, verdict, &body, value,
                        bound);
}

/* The ratio (or difference) of what expect() got and the metric at index 2, as one; it stays on the
 * stack. */
static struct value_metric combined(lua_State *L, enum metric_operator by)
{
    lua_getiuservalue(L, 1, 1);
    metric_push_combined(L, by, lua_gettop(L), 2);
    return metric_of(L, -1, "expect", NULL);
}

/* Where one may be negative (a difference of others) their ratio does not tell which is larger. */
static bool are_positive(const struct metric *a, const struct metric *b)
{
    return a->absent || b->absent || (a->low > 0 && b->low > 0);
}

/* at_least, at_most, equals: against a limit, or another metric, when the ratio is judged. */
static int one_limit(lua_State *L, enum bound_kind kind)
{
    const char *text;
    struct value_metric value = figure(L, kind);
    struct value_metric against = limit(L, 2, &value, kind, &text);
    struct bound bound = {.kind = kind,
                          .low = against.metric.value,
                          .high = against.metric.value,
                          .dimension = value.metric.dimension,
                          .text = text};
    if (metric_test(L, 2)) {
        bool ratio = are_positive(&value.metric, &against.metric);
        value = combined(L, ratio ? METRIC_DIVIDE : METRIC_SUBTRACT);
        bound.low = bound.high = ratio ? 1 : 0;
        bound.dimension = value.metric.dimension;
        bound.text = ratio ? "1" : "0";
    }
    return judge_figure(L, &bound, &value);
}

static int expect_at_least(lua_State *L)
{
    most_arguments(L, BOUND_AT_LEAST, 2, "it takes one limit: :at_least(y)");
    return one_limit(L, BOUND_AT_LEAST);
}

static int expect_at_most(lua_State *L)
{
    most_arguments(L, BOUND_AT_MOST, 2, "it takes one limit: :at_most(y)");
    return one_limit(L, BOUND_AT_MOST);
}

static int equals_word(lua_State *L, struct expectation *expectation, bool same)
{
    struct text body = {0};
    text_add(&body, "value '");
    text_add_clean(&body, luaL_tolstring(L, -1, NULL));
    text_addf(&body, "' %s '", same ? "equals" : "differs from");
    text_add_clean(&body, luaL_tolstring(L, 2, NULL));
    text_add(&body, "'");
    return verdict_give(L, expectation, BOUND_EQUALS, same ? VERDICT_PASS : VERDICT_FAIL, &body,
                        NULL, NULL);
}

static int expect_equals(lua_State *L)
{
    struct expectation *expectation = expectation_check(L);
    int type = expectation->subject == SUBJECT_TEXT ? LUA_TSTRING : LUA_TBOOLEAN;
    most_arguments(L, BOUND_EQUALS, 2, "it takes one; with a tolerance it is :near(y, tolerance)");
    if (expectation->subject == SUBJECT_METRIC || expectation->subject == SUBJECT_SERIES)
        return one_limit(L, BOUND_EQUALS);
    if (lua_type(L, 2) != type)
        script_fail(L, "equals: expect() got %s, but the limit is a %s",
                    subject_words[expectation->subject], luaL_typename(L, 2));
    lua_getiuservalue(L, 1, 1);
    return equals_word(L, expectation, lua_rawequal(L, -1, 2));
}

static int expect_between(lua_State *L)
{
    const char *low_text, *high_text;
    most_arguments(L, BOUND_BETWEEN, 3, "it takes two limits: :between(low, high)");
    struct value_metric value = figure(L, BOUND_BETWEEN);
    struct value_metric low = limit(L, 2, &value, BOUND_BETWEEN, &low_text);
    struct value_metric high = limit(L, 3, &value, BOUND_BETWEEN, &high_text);
    if (metric_test(L, 2) || metric_test(L, 3))
        script_fail(L,
                    "between takes numbers and quantities; use at_least and at_most for metrics");
    if (low.metric.value > high.metric.value)
        script_fail(L, "between: %s is over %s", low_text, high_text);
    char *text = arena_printf(script_scratch(L), "%s to %s", low_text, high_text);
    struct bound bound = {.kind = BOUND_BETWEEN,
                          .low = low.metric.value,
                          .high = high.metric.value,
                          .dimension = value.metric.dimension,
                          .text = text};
    return judge_figure(L, &bound, &value);
}

static double tolerance_number(lua_State *L, int index, const char *what)
{
    struct quantity quantity = quantity_of(L, index, what);
    if (!dimension_is_number(quantity.dimension))
        script_fail(L, "%s: a number or a percentage is wanted, not %s", what,
                    dimension_words(quantity.dimension));
    if (quantity.value < 0)
        script_fail(L, "%s: it must not be under 0", what);
    return quantity.value;
}

static void check_names(lua_State *L, int table, const char *what, const char *const *names,
                        size_t count)
{
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        const char *name = luaL_tolstring(L, -1, NULL);
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known = known || strcmp(names[i], name) == 0;
        if (!known)
            script_unknown(L, what, "member", name, names, count);
        lua_pop(L, 2);
    }
}

static bool table_is_empty(lua_State *L, int table)
{
    lua_pushnil(L);
    if (!lua_next(L, table))
        return true;
    lua_pop(L, 2);
    return false;
}

/* The allowed distance from `value`: absolute + relative * |value|, from a number (relative) or a
 * table at index 3. */
static double near_tolerance(lua_State *L, const struct value_metric *of, double value)
{
    static const char *const names[] = {"relative", "absolute"};
    double relative = 0, absolute = 0;
    bool is_table = lua_type(L, 3) == LUA_TTABLE;
    if (is_table ? table_is_empty(L, 3) : lua_isnoneornil(L, 3))
        script_fail(L, "near: the tolerance is missing; give 0.05 or { relative = 0.05, absolute = "
                       "... }");
    if (!is_table)
        return tolerance_number(L, 3, "near: the tolerance") * fabs(value);
    check_names(L, 3, "the tolerance", names, 2);
    if (lua_getfield(L, 3, "relative") != LUA_TNIL)
        relative = tolerance_number(L, -1, "near: relative");
    if (lua_getfield(L, 3, "absolute") != LUA_TNIL) {
        struct value_metric given = limit(L, lua_gettop(L), of, BOUND_NEAR, NULL);
        absolute = given.metric.value;
        if (given.metric.absent || absolute < 0)
            script_fail(L, "near: absolute must be a figure that is not under 0");
    }
    lua_pop(L, 2);
    return absolute + relative * fabs(value);
}

/* near(value, tolerance); against a metric the difference is judged, in parts of its estimate. */
static int expect_near(lua_State *L)
{
    most_arguments(L, BOUND_NEAR, 3, "it takes a value and a tolerance: :near(y, 0.05)");
    struct value_metric value = figure(L, BOUND_NEAR);
    struct value_metric against = limit(L, 2, &value, BOUND_NEAR, NULL);
    double centre = against.metric.absent ? 0 : against.metric.value;
    double tolerance = near_tolerance(L, &value, centre);
    if (metric_test(L, 2)) {
        value = combined(L, METRIC_SUBTRACT);
        centre = 0;
    }
    struct bound bound = {.kind = BOUND_NEAR,
                          .low = centre - tolerance,
                          .high = centre + tolerance,
                          .dimension = value.metric.dimension};
    return judge_figure(L, &bound, &value);
}

static int expect_is_true(lua_State *L)
{
    struct expectation *expectation = expectation_check(L);
    struct text body = {0};
    most_arguments(L, BOUND_IS_TRUE, 1, "it takes none");
    if (expectation->subject != SUBJECT_BOOLEAN)
        script_fail(L, "is_true judges true or false, but expect() got %s",
                    subject_words[expectation->subject]);
    lua_getiuservalue(L, 1, 1);
    bool good = lua_toboolean(L, -1);
    text_add(&body, good ? "value is true" : "value is false, but true is wanted");
    return verdict_give(L, expectation, BOUND_IS_TRUE, good ? VERDICT_PASS : VERDICT_FAIL, &body,
                        NULL, NULL);
}

struct member { /* of a series, in the order of a parameter */
    const struct plan_case *item;
    double place;
};

static int member_compare(const void *a, const void *b)
{
    double x = ((const struct member *)a)->place, y = ((const struct member *)b)->place;
    return (x > y) - (x < y);
}

static double value_place(lua_State *L, const struct option_value *value, const char *name)
{
    switch (value->kind) {
    case ASSAY_OPTION_INTEGER:
        return (double)value->as.integer;
    case ASSAY_OPTION_REAL:
        return value->as.real;
    case ASSAY_OPTION_BOOLEAN:
        return value->as.boolean;
    case ASSAY_OPTION_CHOICE:
        return value->as.choice;
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        break;
    }
    script_fail(L, "'%s' holds texts, which have no order", name);
}

static double case_place(lua_State *L, const struct plan_case *item, const char *name)
{
    const struct schedule *schedule = plan_case_schedule(item);
    const struct assay_option *const *fields = schedule_options(schedule->kind);
    struct assay_error error = {0};
    struct option_value value = {0};
    if (strcmp(name, "replica") == 0)
        return item->replica;
    int index = option_find(item->workload->options, name);
    int field = index < 0 ? option_find(fields, name) : -1;
    if (field >= 0) {
        option_load(fields[field], schedule, &value);
        return value_place(L, &value, name);
    }
    if (index < 0) {
        option_unknown(item->workload->options, item->workload->name, name, &error);
        script_raise(L, &error);
    }
    const struct assay_option *option = item->workload->options[index];
    if (!option_default(option, script_scratch(L), &value, &error))
        script_raise(L, &error);
    for (uint32_t i = 0; i < item->setting_count; i++)
        if (item->settings[i].option == (uint32_t)index)
            value = item->settings[i].value;
    return value_place(L, &value, name);
}

static struct member *members_sorted(lua_State *L, const struct series *series, const char *name)
{
    struct member *members = script_alloc(L, (series->count + 1) * sizeof(*members));
    for (uint32_t i = 0; i < series->count; i++)
        members[i] = (struct member){series->cases[i], case_place(L, series->cases[i], name)};
    qsort(members, series->count, sizeof(*members), member_compare);
    for (uint32_t i = 1; i < series->count; i++) {
        if (members[i].place > members[i - 1].place)
            continue;
        struct text a = {0};
        plan_case_label(script_of(L)->plan, members[i - 1].item, true, &a);
        text_add(&a, " and ");
        plan_case_label(script_of(L)->plan, members[i].item, true, &a);
        script_push_text(L, &a);
        script_fail(L,
                    "several cases of the series have the same %s: %s; narrow it by all:where{...} "
                    "or all:groups(...)",
                    name, lua_tostring(L, -1));
    }
    return members;
}

static const char too_few[] = "fewer than two of its cases have a figure";

static void series_message(lua_State *L, struct text *body, const struct series *series,
                           const struct member *members, const struct metric *metrics, size_t step,
                           enum bound_kind kind, enum verdict verdict, const char *name)
{
    static const char *const words[] = {"is", "is not", "is undecidedly", "not judged"};
    size_t before = step;
    text_add(body, series->name);
    if (verdict == VERDICT_NOT_JUDGED) {
        text_addf(body, " not judged: %s", too_few);
        for (uint32_t i = 0; i < series->count; i++) {
            if (metrics[i].absent) {
                text_add(body, "; ");
                text_add_clean(body, metrics[i].absent);
                return;
            }
        }
        return;
    }
    text_addf(body, " %s %s with %s", words[verdict], bound_name(kind), name);
    if (verdict == VERDICT_PASS)
        return;
    do
        before--;
    while (metrics[before].absent);
    text_add(body, ": ");
    metric_add(body, &metrics[before]);
    text_add(body, " at ");
    plan_case_label(script_of(L)->plan, members[before].item, true, body);
    text_add(body, ", then ");
    metric_add(body, &metrics[step]);
    text_add(body, " at ");
    plan_case_label(script_of(L)->plan, members[step].item, true, body);
}

static double series_tolerance(lua_State *L)
{
    static const char *const names[] = {"tolerance"};
    double tolerance = 0;
    if (lua_isnoneornil(L, 3))
        return 0;
    luaL_checktype(L, 3, LUA_TTABLE);
    check_names(L, 3, "the table behind the parameter", names, 1);
    if (lua_getfield(L, 3, "tolerance") != LUA_TNIL)
        tolerance = tolerance_number(L, -1, "tolerance");
    lua_pop(L, 1);
    return tolerance;
}

static int over_series(lua_State *L, enum bound_kind kind)
{
    struct expectation *expectation = expectation_check(L);
    if (expectation->subject != SUBJECT_SERIES)
        script_fail(L, "%s judges a series such as all.copy.rate, but expect() got %s",
                    bound_name(kind), subject_words[expectation->subject]);
    if (lua_type(L, 2) != LUA_TSTRING)
        script_fail(L, "%s: name the parameter: :%s(\"bytes\", { tolerance = 0.1 })",
                    bound_name(kind), bound_name(kind));
    most_arguments(L, kind, 3,
                   "it takes a parameter and a table: (\"bytes\", { tolerance = 0.1 })");
    const char *name = lua_tostring(L, 2);
    double tolerance = series_tolerance(L);
    lua_getiuservalue(L, 1, 1);
    const struct series *series = series_test(L, -1);
    struct member *members = members_sorted(L, series, name);
    struct metric *metrics = script_alloc(L, (series->count + 1) * sizeof(*metrics));
    for (uint32_t i = 0; i < series->count; i++) {
        result_metric(L, members[i].item, series->name, series->dimension, &metrics[i]);
        if (metrics[i].absent) /* the record that holds the text may leave the cache */
            metrics[i].absent = arena_copy(script_scratch(L), metrics[i].absent);
    }
    size_t step;
    struct text body = {0};
    enum verdict verdict = bound_judge_series(kind, metrics, series->count, tolerance, &step);
    series_message(L, &body, series, members, metrics, step, kind, verdict, name);
    struct value_metric reason = {
        .metric = {.name = series->name, .dimension = series->dimension, .absent = too_few}};
    struct bound steps = {.kind = kind};
    return verdict_give(L, expectation, kind, verdict, &body, &reason,
                        verdict == VERDICT_NOT_JUDGED ? &steps : NULL);
}

static int expect_increasing(lua_State *L)
{
    return over_series(L, BOUND_INCREASING);
}

static int expect_decreasing(lua_State *L)
{
    return over_series(L, BOUND_DECREASING);
}

static int expect_or_stop(lua_State *L)
{
    const struct expectation *expectation = expectation_check(L);
    if (!expectation->judged)
        script_fail(L, "or_stop comes behind a bound: expect(x):at_least(y):or_stop()");
    if (expectation->verdict != VERDICT_PASS) {
        state_push_stop(L);
        lua_error(L);
    }
    return 0;
}

static int expectation_missing(lua_State *L)
{
    static const char *const names[] = {"at_least", "at_most",    "between",    "near",   "equals",
                                        "is_true",  "increasing", "decreasing", "or_stop"};
    script_unknown(L, "expect(...)", "bound", luaL_tolstring(L, 2, NULL), names,
                   sizeof(names) / sizeof(names[0]));
}

void expect_open(lua_State *L)
{
    static const luaL_Reg bounds[] = {
        {"at_least", expect_at_least},     {"at_most", expect_at_most},
        {"between", expect_between},       {"near", expect_near},
        {"equals", expect_equals},         {"is_true", expect_is_true},
        {"increasing", expect_increasing}, {"decreasing", expect_decreasing},
        {"or_stop", expect_or_stop},       {NULL, NULL}};
    static const luaL_Reg none[] = {{NULL, NULL}};
    script_class(L, EXPECTATION, none);
    luaL_getmetatable(L, EXPECTATION);
    luaL_newlib(L, bounds);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, expectation_missing);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
