/* SPDX-License-Identifier: MIT */
/* assay.experiment{...}: reads what the user wrote, with exact complaints. */
#include "script/inside.h"

#include "experiment/peaks.h"

#include <string.h>

#define MAX_NAMES 256

static const char *const field_names[] = {
    "name",        "workload",    "fixed",    "vary",     "where",  "check",
    "summary",     "device",      "replica",  "schedule", "target", "budget",
    "min_samples", "max_samples", "deadline", "queues",   "peaks",  "pair"};
#define FIELD_COUNT (sizeof(field_names) / sizeof(field_names[0]))

bool value_for_option(lua_State *L, int index, const struct assay_option *option,
                      struct arena *arena, struct option_value *value, struct assay_error *error)
{
    const struct quantity *quantity = quantity_test(L, index);
    if (quantity)
        return option_from_quantity(option, *quantity, value, error);
    switch (lua_type(L, index)) {
    case LUA_TSTRING:
        return option_parse(option, lua_tostring(L, index), arena, value, error);
    case LUA_TBOOLEAN:
        return option_from_boolean(option, lua_toboolean(L, index), value, error);
    case LUA_TNUMBER:
        if (lua_isinteger(L, index))
            return option_from_integer(option, lua_tointeger(L, index), value, error);
        return option_from_number(option, lua_tonumber(L, index), value, error);
    default:
        return assay_fail(error, ASSAY_INVALID, "%s: a %s is no value of a parameter", option->name,
                          metric_test(L, index) ? "metric" : luaL_typename(L, index));
    }
}

void option_value_push(lua_State *L, const struct assay_option *option,
                       const struct option_value *value)
{
    switch (value->kind) {
    case ASSAY_OPTION_INTEGER:
        lua_pushinteger(L, value->as.integer);
        break;
    case ASSAY_OPTION_REAL:
        lua_pushnumber(L, value->as.real);
        break;
    case ASSAY_OPTION_BOOLEAN:
        lua_pushboolean(L, value->as.boolean);
        break;
    case ASSAY_OPTION_CHOICE:
        lua_pushstring(L, option->choices[value->as.choice]);
        break;
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        lua_pushstring(L, value->as.text);
        break;
    }
}

/* The keys of a table whose keys must be names, sorted: the order of a Lua table is no order. */
static size_t sorted_keys(lua_State *L, int table, const char *what, const char **names)
{
    size_t count = 0;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            script_fail(L, "%s: [%s] is no name; write %s = { name = value, ... }", what,
                        luaL_tolstring(L, -2, NULL), what);
        if (count == MAX_NAMES)
            script_fail(L, "%s: more than %d names", what, MAX_NAMES);
        const char *name = script_copy(L, lua_tostring(L, -2));
        size_t at = count++;
        for (; at > 0 && strcmp(names[at - 1], name) > 0; at--)
            names[at] = names[at - 1];
        names[at] = name;
    }
    return count;
}

/* Moves the value on top into the keep table; gives its index there. */
static lua_Integer keep_value(lua_State *L, const struct definition *definition)
{
    lua_Integer index = luaL_len(L, definition->keep) + 1;
    lua_seti(L, definition->keep, index);
    return index;
}

/* Number of values of the list on top, which must have no holes and no named members. */
static size_t list_length(lua_State *L, const char *name)
{
    size_t count = lua_rawlen(L, -1), seen = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        lua_Integer index = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
        if (index < 1 || (size_t)index > count)
            script_fail(L, "%s: a list of values is wanted, but it has the member [%s]%s", name,
                        luaL_tolstring(L, -2, NULL),
                        strcmp(name, "schedule") == 0
                            ? "; one schedule is written as assay.pipelined{ depth = 2 }"
                            : "");
        seen++;
    }
    if (seen != count)
        script_fail(L, "%s: the list of values has holes (nil)", name);
    if (count == 0)
        script_fail(L, "%s: the axis has no values; give at least one", name);
    return count;
}

/* The value on top (popped) as a source: a list is its values, anything else one value. */
static struct source source_read(lua_State *L, const struct definition *definition,
                                 const char *name, bool varied)
{
    struct source source = {.name = name, .varied = varied, .count = 1};
    if (lua_type(L, -1) == LUA_TTABLE) {
        if (!varied)
            script_fail(L, "fixed.%s is a list; several values belong into vary", name);
        source.count = list_length(L, name);
    } else {
        lua_createtable(L, 1, 0);
        lua_insert(L, -2);
        lua_seti(L, -2, 1);
    }
    source.keep = keep_value(L, definition);
    return source;
}

/* replica = 3: the numbers 0, 1, 2 */
static void replica_read(lua_State *L, struct definition *definition)
{
    if (lua_type(L, -1) != LUA_TTABLE) {
        lua_Integer count = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
        if (count < 1 || count > 1000000)
            script_fail(L, "replica: a whole number of repeats, 1 to 1,000,000, or a list of their "
                           "numbers is wanted");
        lua_pop(L, 1);
        lua_createtable(L, (int)count, 0);
        for (lua_Integer i = 0; i < count; i++) {
            lua_pushinteger(L, i);
            lua_seti(L, -2, i + 1);
        }
    }
    definition->replica = source_read(L, definition, "replica", true);
}

static struct source *special(struct definition *definition, const char *name)
{
    if (strcmp(name, "workload") == 0)
        return &definition->workload;
    if (strcmp(name, "device") == 0)
        return &definition->device;
    if (strcmp(name, "schedule") == 0)
        return &definition->schedule;
    return strcmp(name, "replica") == 0 ? &definition->replica : NULL;
}

/* A member of fixed or vary, or one of the fields workload, device, replica, schedule; on top,
 * popped. */
static void source_add(lua_State *L, struct definition *definition, const char *name, bool varied)
{
    struct source *place = special(definition, name);
    if (place && place->count)
        script_fail(L, "%s is given twice; give it once", name);
    if (place == &definition->replica && varied) {
        replica_read(L, definition);
        return;
    }
    if (place) {
        *place = source_read(L, definition, name, varied);
        return;
    }
    for (size_t i = 0; i < definition->source_count; i++)
        if (strcmp(definition->sources[i].name, name) == 0)
            script_fail(L, "%s is in both fixed and vary; it can be in one of them", name);
    definition->sources[definition->source_count++] = source_read(L, definition, name, varied);
}

/* `fixed` or `vary` as a table of names; on top, popped. */
static void sources_read(lua_State *L, struct definition *definition, const char *what, bool varied)
{
    const char *names[MAX_NAMES];
    int table = lua_gettop(L);
    size_t count = sorted_keys(L, table, what, names);
    struct source *grown = script_alloc(L, (definition->source_count + count + 1) * sizeof(*grown));
    if (definition->source_count)
        memcpy(grown, definition->sources, definition->source_count * sizeof(*grown));
    definition->sources = grown;
    for (size_t i = 0; i < count; i++) {
        lua_getfield(L, table, names[i]);
        source_add(L, definition, names[i], varied);
    }
    lua_pop(L, 1);
}

static void vary_read(lua_State *L, struct definition *definition)
{
    if (lua_rawlen(L, -1) == 0) {
        sources_read(L, definition, "vary", true);
        return;
    }
    definition->row_count = list_length(L, "vary");
    for (size_t i = 1; i <= definition->row_count; i++) {
        if (lua_geti(L, -1, (lua_Integer)i) != LUA_TTABLE)
            script_fail(L, "vary[%zu]: an assignment such as { m = 1, n = 2 } is wanted, not a %s",
                        i, luaL_typename(L, -1));
        lua_pop(L, 1);
    }
    definition->rows = keep_value(L, definition);
}

/* Pushes the field; false (nothing pushed) when it is not given. */
static bool field(lua_State *L, const char *name, int type, const char *wanted)
{
    int got = lua_getfield(L, 1, name);
    if (got == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    if (type != LUA_TNONE && got != type)
        script_fail(L, "%s: %s is wanted, not a %s", name, wanted, luaL_typename(L, -1));
    return true;
}

static double number_field(lua_State *L, const char *name, struct dimension dimension,
                           const char *example)
{
    if (!field(L, name, LUA_TNONE, ""))
        return 0;
    struct quantity quantity = quantity_of(L, -1, name);
    if (!dimension_equal(quantity.dimension, dimension)) {
        lua_pushstring(L, dimension_words(dimension));
        script_fail(L, "%s: %s such as %s is wanted, not %s", name, lua_tostring(L, -1), example,
                    dimension_words(quantity.dimension));
    }
    lua_pop(L, 1);
    if (!(quantity.value > 0))
        script_fail(L, "%s: it must be over 0", name);
    return quantity.value;
}

static int64_t time_field(lua_State *L, const char *name, double most_s, const char *most)
{
    double value = number_field(L, name, (struct dimension){.seconds = 1}, "\"500 ms\"");
    if (value > most_s)
        script_fail(L, "%s: at most %s are allowed", name, most);
    return (int64_t)(value * 1e9 + 0.5);
}

static uint32_t count_field(lua_State *L, const char *name, lua_Integer low, lua_Integer high)
{
    if (!field(L, name, LUA_TNONE, ""))
        return 0;
    lua_Integer count = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
    if (count < low || count > high)
        script_fail(L, "%s: a whole number from %d to %d is wanted", name, (int)low, (int)high);
    lua_pop(L, 1);
    return (uint32_t)count;
}

static void measure_read(lua_State *L, struct plan_measure *measure)
{
    measure->target = number_field(L, "target", (struct dimension){0}, "\"2 %\"");
    if (measure->target >= 1)
        script_fail(L, "target: the relative half-width of the interval is under 1 (100 %%)");
    measure->budget_ns = time_field(L, "budget", 86400, "86400 s");
    measure->deadline_ns = time_field(L, "deadline", 604800, "604800 s");
    measure->min_samples = count_field(L, "min_samples", 6, 1000000);
    measure->max_samples = count_field(L, "max_samples", 6, 1000000);
    uint32_t most = measure->max_samples ? measure->max_samples : 10000;
    if (measure->min_samples > most)
        script_fail(L, "min_samples: %u is over max_samples, %u", (unsigned)measure->min_samples,
                    (unsigned)most);
}

static bool name_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* `what`: "assay.experiment" or "assay.search". */
static void check_fields(lua_State *L, const char *what, bool search)
{
    const char *names[MAX_NAMES];
    if (lua_type(L, 1) != LUA_TTABLE)
        script_fail(L, "%s: a table is wanted: %s { name = ..., workload = ... }", what, what);
    size_t known = FIELD_COUNT, count = sorted_keys(L, 1, what, names);
    const char **fields = script_alloc(L, (known + search_field_count) * sizeof(*fields));
    memcpy(fields, field_names, sizeof(field_names));
    for (size_t i = 0; search && i < search_field_count; i++)
        fields[known++] = search_fields[i];
    for (size_t i = 0; i < count; i++)
        if (!name_among(fields, known, names[i]))
            script_unknown(L, search ? "a search" : "an experiment", "field", names[i], fields,
                           known);
}

static void name_read(lua_State *L, struct definition *definition)
{
    if (!field(L, "name", LUA_TSTRING, "a text"))
        script_fail(L, "the experiment has no name; add name = \"...\"");
    const char *name = lua_tostring(L, -1);
    struct text clean = {0};
    text_add_clean(&clean, name);
    bool same = strcmp(text_string(&clean), name) == 0 && lua_rawlen(L, -1) == clean.length;
    text_free(&clean);
    if (!same)
        script_fail(L, "name: it holds control characters or is not UTF-8");
    if (!*name)
        script_fail(L, "name: it is empty");
    if (peaks_name_reserved(name))
        script_fail(L, "name: '%s' is the name of the cases that measure peaks; take another",
                    name);
    definition->experiment.name = name; /* stays on the stack */
}

static void special_fields_read(lua_State *L, struct definition *definition)
{
    static const char *const names[] = {"workload", "device", "replica", "schedule"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (field(L, names[i], LUA_TNONE, ""))
            source_add(L, definition, names[i], true);
}

static void queues_read(lua_State *L, struct definition *definition)
{
    const struct assay_option *const *options = schedule_options(SCHEDULE_SERIAL);
    const struct assay_option *option = options[option_find(options, "queues")];
    struct assay_error error = {0};
    if (!field(L, "queues", LUA_TSTRING, "a text"))
        return;
    if (!value_for_option(L, lua_gettop(L), option, script_scratch(L), &definition->queues, &error))
        script_raise(L, &error);
    definition->queues_given = true;
    lua_pop(L, 1);
}

/* The parameters that the assignments of `vary` name, added to the names of axes. */
static size_t row_names(lua_State *L, const struct definition *definition, const char **names,
                        size_t count)
{
    lua_geti(L, definition->keep, definition->rows);
    for (size_t row = 1; row <= definition->row_count; row++) {
        lua_geti(L, -1, (lua_Integer)row);
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
            if (count < MAX_NAMES && lua_type(L, -2) == LUA_TSTRING &&
                !name_among(names, count, lua_tostring(L, -2)))
                names[count++] = lua_tostring(L, -2);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return count;
}

/* Axes as the script has them: --set and --device may leave one value of each. */
static size_t axis_names(lua_State *L, const struct definition *definition, const char **names)
{
    size_t count = 0;
    if (definition->workload.count > 1)
        names[count++] = "workload";
    if (definition->device.count > 1)
        names[count++] = "device";
    if (definition->schedule.count > 1)
        names[count++] = "schedule";
    if (definition->replica.count)
        names[count++] = "replica";
    for (size_t i = 0; i < definition->source_count && count < MAX_NAMES; i++)
        if (definition->sources[i].varied)
            names[count++] = definition->sources[i].name;
    return definition->rows ? row_names(L, definition, names, count) : count;
}

static void pair_read(lua_State *L, struct definition *definition)
{
    const char *names[MAX_NAMES];
    if (!field(L, "pair", LUA_TSTRING, "the name of an axis"))
        return;
    const char *name = lua_tostring(L, -1);
    size_t count = axis_names(L, definition, names);
    if (count == 0)
        script_fail(L, "pair: the experiment varies nothing; '%s' has to be an axis", name);
    if (!name_among(names, count, name))
        script_unknown(L, "pair: the experiment", "axis", name, names, count);
    definition->experiment.pair = name; /* stays on the stack */
}

/* Keeps a function of the experiment for later. */
static int function_keep(lua_State *L, const char *name)
{
    return field(L, name, LUA_TFUNCTION, "a function") ? luaL_ref(L, LUA_REGISTRYINDEX) : LUA_NOREF;
}

static struct closures *closures_add(lua_State *L)
{
    struct script *script = script_of(L);
    size_t count = script->closures_count;
    if ((count & (count - 1)) == 0) {
        struct closures *grown = arena_alloc(script->arena,
                                             (count ? count * 2 : 1) * sizeof(*grown));
        if (!grown)
            luaL_error(L, "not enough memory");
        if (count)
            memcpy(grown, script->closures, count * sizeof(*grown));
        script->closures = grown;
    }
    return &script->closures[script->closures_count++];
}

void closures_none(lua_State *L)
{
    *closures_add(L) = (struct closures){LUA_NOREF, LUA_NOREF};
}

static void closures_keep(lua_State *L)
{
    struct closures *closures = closures_add(L);
    closures->check = function_keep(L, "check");
    closures->summary = function_keep(L, "summary");
}

/* Before the experiment itself: what it needs is measured first. */
static void peaks_read(lua_State *L, struct definition *definition)
{
    bool given = script_of(L)->params.device != NULL;
    if (!field(L, "peaks", LUA_TBOOLEAN, "true or false"))
        return;
    definition->experiment.needs_peaks = lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (!definition->experiment.needs_peaks)
        return;
    if (given || !definition->device.count)
        peaks_define(L, NULL);
    for (size_t i = 0; !given && i < definition->device.count; i++)
        peaks_define(L, source_string(L, definition, &definition->device, i));
}

/* `what`: "assay.experiment" or "assay.search". */
static int define(lua_State *L, const char *what, bool search)
{
    struct script *script = script_of(L);
    struct definition definition = {0};
    if (script->running)
        script_fail(L,
                    "%s belongs to the top level of the script, not into a function of a workload",
                    what);
    if (script->serving) /* a worker does not plan */
        return 0;
    if (script->judging.judge)
        script_fail(L, "%s belongs to the top level of the script, not into check or summary",
                    what);
    if (script->defining)
        script_fail(L, "%s cannot be called while an experiment is being defined", what);
    script->defining = true;
    lua_settop(L, 1);
    check_fields(L, what, search);
    lua_newtable(L);
    definition.keep = lua_gettop(L);
    name_read(L, &definition);
    struct chunk *chunk = state_place(L, &definition.experiment.line);
    definition.experiment.script = chunk ? chunk->path : script->params.path;
    special_fields_read(L, &definition);
    if (field(L, "fixed", LUA_TTABLE, "a table"))
        sources_read(L, &definition, "fixed", false);
    if (search && field(L, "vary", LUA_TSTRING, "the name of a parameter or of a schedule's field"))
        definition.search_vary = lua_tostring(L, -1); /* stays on the stack */
    else if (search)
        script_fail(L, "assay.search: vary is missing: what is varied, such as vary = \"rate\"");
    else if (field(L, "vary", LUA_TTABLE, "a table"))
        vary_read(L, &definition);
    if (!definition.workload.count)
        script_fail(L, "the experiment has no workload; add workload = \"...\"");
    measure_read(L, &definition.experiment.measure);
    queues_read(L, &definition);
    pair_read(L, &definition);
    if (field(L, "check", LUA_TFUNCTION, "a function")) {
        definition.experiment.looks = true;
        lua_pop(L, 1);
    }
    if (field(L, "where", LUA_TFUNCTION, "a function"))
        definition.where = lua_gettop(L);
    peaks_read(L, &definition);
    expand(L, &definition);
    closures_keep(L);
    script->defining = false;
    return 0;
}

int define_experiment(lua_State *L)
{
    return define(L, "assay.experiment", false);
}

int define_search(lua_State *L)
{
    return define(L, "assay.search", true);
}
