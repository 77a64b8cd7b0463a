/* SPDX-License-Identifier: MIT */
/* Axes become cases, in the order of the workload's parameters. */
#include "script/inside.h"

#include <string.h>

#define POINT "assay.point"
#define MAX_CASES 10000000

struct cell {                                  /* a value on an axis */
    bool set;                                  /* false: this row does not name the parameter */
    lua_Integer function_list, function_index; /* in keep; 0: not a function */
    struct option_value value;
};

struct axis {
    uint32_t option;
    size_t count;
    struct cell *cells;
};

enum slot_state { SLOT_DEFAULT, SLOT_SET, SLOT_PENDING };
struct slot { /* a parameter at the current point */
    enum slot_state state;
    const struct cell *cell;
    struct option_value value;
};

struct expansion {
    struct definition *definition;
    const struct catalog_workload *workload;
    size_t option_count;
    struct axis *axes; /* options that are set, in their order */
    size_t axis_count;
    struct cell *rows;      /* row_count x option_count, or NULL */
    struct slot *slots;     /* by option */
    struct cell *overrides; /* by option: --set */
    struct plan_setting *settings;
    const char *device;
    const struct schedule *schedule; /* NULL: not given */
    uint32_t replica;
    bool overridden; /* a row's parameter was: rows may fall together */
};

struct point { /* what `where` and functions of the point see */
    const struct expansion *expansion;
};

static const struct assay_option *option_at(const struct expansion *expansion, size_t index)
{
    return expansion->workload->options[index];
}

static uint32_t option_of(lua_State *L, const struct expansion *expansion, const char *name)
{
    struct assay_error error = {0};
    int index = option_find(expansion->workload->options, name);
    if (index < 0) {
        option_unknown(expansion->workload->options, expansion->workload->name, name, &error);
        script_raise(L, &error);
    }
    return (uint32_t)index;
}

/* The value on top (popped), which is element `index` of list `list` of keep. */
static void cell_read(lua_State *L, const struct assay_option *option, lua_Integer list,
                      lua_Integer index, struct cell *cell)
{
    struct assay_error error = {0};
    cell->set = true;
    if (lua_type(L, -1) == LUA_TFUNCTION) {
        cell->function_list = list;
        cell->function_index = index;
    } else if (!value_for_option(L, lua_gettop(L), option, script_scratch(L), &cell->value,
                                 &error)) {
        script_raise(L, &error);
    }
    lua_pop(L, 1);
}

/* --set NAME=VALUE for this workload. */
static void overrides_read(lua_State *L, struct expansion *expansion)
{
    struct script *script = script_of(L);
    for (size_t i = 0; script->params.sets && script->params.sets[i]; i++) {
        const char *set = script->params.sets[i];
        const char *equals = strchr(set, '=');
        for (size_t k = 0; equals && k < expansion->option_count; k++) {
            const struct assay_option *option = option_at(expansion, k);
            struct cell *cell = &expansion->overrides[k];
            struct assay_error error = {0};
            if (strlen(option->name) != (size_t)(equals - set) ||
                strncmp(option->name, set, strlen(option->name)) != 0)
                continue;
            if (!option_parse(option, equals + 1, script_scratch(L), &cell->value, &error)) {
                error_prefix(&error, "--set %s", set);
                script_abort(L, &error);
            }
            cell->set = true;
            script->set_used[i] = true;
        }
    }
}

static struct cell *source_cells(lua_State *L, const struct expansion *expansion,
                                 const struct source *source, uint32_t option)
{
    struct cell *cells = script_alloc(L, source->count * sizeof(*cells));
    lua_geti(L, expansion->definition->keep, source->keep);
    for (size_t i = 0; i < source->count; i++) {
        lua_geti(L, -1, (lua_Integer)i + 1);
        cell_read(L, option_at(expansion, option), source->keep, (lua_Integer)i + 1, &cells[i]);
    }
    lua_pop(L, 1);
    return cells;
}

static void axes_read(lua_State *L, struct expansion *expansion)
{
    const struct definition *definition = expansion->definition;
    struct axis *by_option = script_alloc(L, (expansion->option_count + 1) * sizeof(*by_option));
    for (size_t i = 0; i < definition->source_count; i++) {
        const struct source *source = &definition->sources[i];
        uint32_t option = option_of(L, expansion, source->name);
        by_option[option].count = source->count;
        by_option[option].cells = source_cells(L, expansion, source, option);
    }
    expansion->axes = by_option;
    for (uint32_t i = 0; i < expansion->option_count; i++) {
        struct axis axis = by_option[i];
        axis.option = i;
        if (expansion->overrides[i].set) {
            axis.count = 1;
            axis.cells = &expansion->overrides[i];
        }
        if (axis.count) /* never behind what is still to be read */
            expansion->axes[expansion->axis_count++] = axis;
    }
}

static void rows_read(lua_State *L, struct expansion *expansion)
{
    const struct definition *definition = expansion->definition;
    size_t width = expansion->option_count;
    if (!definition->rows)
        return;
    if (definition->row_count > SIZE_MAX / sizeof(struct cell) / (width + 1))
        script_fail(L, "vary: too many assignments");
    expansion->rows = script_alloc(L,
                                   (definition->row_count * width + 1) * sizeof(*expansion->rows));
    lua_geti(L, definition->keep, definition->rows);
    for (size_t row = 0; row < definition->row_count; row++) {
        lua_geti(L, -1, (lua_Integer)row + 1);
        lua_Integer kept = luaL_len(L, definition->keep) + 1;
        lua_pushvalue(L, -1);
        lua_seti(L, definition->keep, kept); /* its functions are found here by option */
        for (lua_pushnil(L); lua_next(L, -2);) {
            if (lua_type(L, -2) != LUA_TSTRING)
                script_fail(L, "vary[%zu]: [%s] is no name of a parameter", row + 1,
                            luaL_tolstring(L, -2, NULL));
            uint32_t option = option_of(L, expansion, lua_tostring(L, -2));
            for (size_t k = 0; k < definition->source_count; k++) {
                if (strcmp(definition->sources[k].name, lua_tostring(L, -2)) == 0)
                    script_fail(L, "%s is in both fixed and vary; it can be in one of them",
                                definition->sources[k].name);
            }
            cell_read(L, option_at(expansion, option), kept, (lua_Integer)option,
                      &expansion->rows[row * width + option]);
            expansion->overridden = expansion->overridden || expansion->overrides[option].set;
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static bool source_has_option(const struct expansion *expansion, uint32_t option)
{
    if (expansion->overrides[option].set)
        return false;
    const char *name = option_at(expansion, option)->name;
    const struct definition *definition = expansion->definition;
    for (size_t i = 0; i < definition->source_count; i++)
        if (definition->sources[i].varied && strcmp(definition->sources[i].name, name) == 0)
            return true;
    for (size_t row = 0; expansion->rows && row < definition->row_count; row++)
        if (expansion->rows[row * expansion->option_count + option].set)
            return true;
    return false;
}

static void set_slot(struct slot *slot, const struct cell *cell)
{
    slot->cell = cell;
    slot->state = cell->function_list ? SLOT_PENDING : SLOT_SET;
    slot->value = cell->value;
}

/* Calls the function of the point at slot `index`; the point is at stack index `point`. */
static void slot_evaluate(lua_State *L, struct expansion *expansion, size_t index, int point)
{
    struct slot *slot = &expansion->slots[index];
    const struct assay_option *option = option_at(expansion, index);
    struct assay_error error = {0};
    lua_geti(L, expansion->definition->keep, slot->cell->function_list);
    if (expansion->rows && slot->cell >= expansion->rows &&
        slot->cell < expansion->rows + expansion->definition->row_count * expansion->option_count)
        lua_getfield(L, -1, option->name);
    else
        lua_geti(L, -1, slot->cell->function_index);
    lua_pushvalue(L, point);
    lua_call(L, 1, 1);
    if (!value_for_option(L, lua_gettop(L), option, script_scratch(L), &slot->value, &error)) {
        error_prefix(&error, "the function for '%s' gave a wrong value", option->name);
        script_raise(L, &error);
    }
    slot->state = SLOT_SET;
    lua_pop(L, 2);
}

static bool point_is_wanted(lua_State *L, const struct expansion *expansion, int point)
{
    if (!expansion->definition->where)
        return true;
    lua_pushvalue(L, expansion->definition->where);
    lua_pushvalue(L, point);
    lua_call(L, 1, 1);
    bool wanted = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return wanted;
}

/* Batches of several requests need a workload whose batches have a size. */
static void schedule_check_items(lua_State *L, const struct expansion *expansion)
{
    const struct schedule *schedule = expansion->schedule;
    const struct assay_option *const *options = expansion->workload->options;
    struct assay_error error = {0};
    struct option_value value;
    if (!schedule || schedule->batch_max == 1)
        return;
    for (size_t i = 0; options[i]; i++) {
        if (!(options[i]->flags & ASSAY_OPTION_ITEMS))
            continue;
        if (option_from_integer(options[i], schedule->batch_max, &value, &error))
            return;
        error_prefix(&error, "assay.%s: batch_max", schedule_name(schedule->kind));
        script_raise(L, &error);
    }
    script_fail(L,
                "assay.%s: batch_max: '%s' has no parameter that is the number of items in a "
                "batch; leave batch_max out",
                schedule_name(schedule->kind), expansion->workload->name);
}

static void case_add(lua_State *L, struct expansion *expansion)
{
    struct script *script = script_of(L);
    struct assay_error error = {0};
    schedule_check_items(L, expansion);
    struct plan_case item = {.workload = expansion->workload,
                             .replica = expansion->replica,
                             .device = expansion->device,
                             .schedule = expansion->schedule,
                             .settings = expansion->settings};
    for (uint32_t i = 0; i < expansion->option_count; i++) {
        if (expansion->slots[i].state == SLOT_SET)
            expansion->settings[item.setting_count++] = (struct plan_setting){
                i, expansion->slots[i].value};
    }
    bool has = false;
    if (expansion->overridden && !plan_has_case(script->plan, &item, &has, &error))
        script_raise(L, &error);
    if (has)
        return;
    if (script->plan->case_count >= MAX_CASES)
        script_fail(L, "more than %d cases", MAX_CASES);
    if (!plan_add_case(script->plan, &item, &error))
        script_raise(L, &error);
}

/* One point: digits[i] is the place on axes[i]. */
static void point_add(lua_State *L, struct expansion *expansion, size_t row, const size_t *digits,
                      int point)
{
    size_t width = expansion->option_count;
    for (size_t i = 0; i < width; i++)
        expansion->slots[i].state = SLOT_DEFAULT;
    for (size_t i = 0; expansion->rows && i < width; i++) {
        const struct cell *cell = &expansion->rows[row * width + i];
        if (cell->set && !expansion->overrides[i].set)
            set_slot(&expansion->slots[i], cell);
    }
    for (size_t i = 0; i < expansion->axis_count; i++)
        set_slot(&expansion->slots[expansion->axes[i].option],
                 &expansion->axes[i].cells[digits[i]]);
    for (size_t i = 0; i < width; i++)
        if (expansion->slots[i].state == SLOT_PENDING)
            slot_evaluate(L, expansion, i, point);
    if (point_is_wanted(L, expansion, point))
        case_add(L, expansion);
}

static void product_add(lua_State *L, struct expansion *expansion, size_t row, size_t *digits,
                        int point)
{
    size_t done = 0;
    for (size_t i = 0; i < expansion->axis_count; i++)
        digits[i] = 0;
    for (;;) {
        point_add(L, expansion, row, digits, point);
        if (++done % 256 == 0)
            state_check_deadline(L);
        size_t axis = expansion->axis_count;
        while (axis > 0 && ++digits[axis - 1] == expansion->axes[axis - 1].count)
            digits[--axis] = 0;
        if (axis == 0)
            return;
    }
}

static int point_index(lua_State *L)
{
    const struct point *point = luaL_checkudata(L, 1, POINT);
    const struct expansion *expansion = point->expansion;
    const char *name = luaL_tolstring(L, 2, NULL);
    if (!expansion || expansion != script_of(L)->expanding)
        script_fail(L, "this point is gone: it can be looked at only in the function that gets it");
    if (strcmp(name, "workload") == 0) {
        lua_pushstring(L, expansion->workload->name);
        return 1;
    }
    if (strcmp(name, "device") == 0) {
        lua_pushstring(L, expansion->device);
        return 1;
    }
    if (strcmp(name, "schedule") == 0) {
        struct schedule serial = schedule_default(SCHEDULE_SERIAL);
        schedule_push(L, expansion->schedule ? expansion->schedule : &serial);
        return 1;
    }
    if (strcmp(name, "replica") == 0) {
        lua_pushinteger(L, expansion->replica);
        return 1;
    }
    const uint32_t index = option_of(L, expansion, name);
    const struct assay_option *option = option_at(expansion, index);
    const struct slot *slot = &expansion->slots[index];
    struct option_value value = slot->value;
    struct assay_error error = {0};
    if (slot->state == SLOT_PENDING)
        script_fail(L,
                    "%s is itself a function of the point and not known yet; functions run in "
                    "the order of the workload's parameters",
                    name);
    if (slot->state == SLOT_DEFAULT && !option_default(option, script_scratch(L), &value, &error))
        script_raise(L, &error);
    option_value_push(L, option, &value);
    return 1;
}

static int point_set(lua_State *L)
{
    script_fail(L, "a point cannot be changed; give the parameter a function of the point instead");
}

void expand_open(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__index", point_index}, {"__newindex", point_set}, {NULL, NULL}};
    script_class(L, POINT, meta);
}

const char *source_string(lua_State *L, const struct definition *definition,
                          const struct source *source, size_t index)
{
    lua_geti(L, definition->keep, source->keep);
    if (lua_geti(L, -1, (lua_Integer)index + 1) != LUA_TSTRING)
        script_fail(L, "%s: a name is wanted, not a %s", source->name, luaL_typename(L, -1));
    const char *name = script_copy(L, lua_tostring(L, -1));
    if (!*name)
        script_fail(L, "%s: the name is empty", source->name);
    lua_pop(L, 2);
    return name;
}

static uint32_t source_replica(lua_State *L, const struct definition *definition, size_t index)
{
    if (!definition->replica.count)
        return 0;
    lua_geti(L, definition->keep, definition->replica.keep);
    lua_geti(L, -1, (lua_Integer)index + 1);
    lua_Integer number = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : -1;
    if (number < 0 || number > INT32_MAX)
        script_fail(L, "replica: a whole number of 0 or more is wanted");
    lua_pop(L, 2);
    return (uint32_t)number;
}

/* `queues` of the experiment is for schedules that do not say. */
static void schedule_set_queues(const struct definition *definition, struct schedule *schedule)
{
    int row = option_find(schedule_options(schedule->kind), "queues");
    if (definition->queues_given && row >= 0 && !schedule_is_given(schedule, (size_t)row))
        schedule_set(schedule, (size_t)row, &definition->queues);
}

/* What a search varies begins at its first value: a schedule may need it. */
static void search_set(lua_State *L, const struct definition *definition, struct schedule *schedule)
{
    const struct search *search = definition->experiment.search;
    const struct assay_option *const *options = schedule_options(schedule->kind);
    struct assay_error error = {0};
    struct option_value value;
    int row = option_find(options, search->vary);
    if (!definition->search_schedule || row < 0)
        return;
    if (!option_from_number(options[row], search->from, &value, &error))
        script_raise(L, &error);
    schedule_set(schedule, (size_t)row, &value);
}

/* All of them; one NULL where none is given. */
static const struct schedule **source_schedules(lua_State *L, const struct definition *definition,
                                                size_t *count)
{
    const struct source *source = &definition->schedule;
    struct assay_error error = {0};
    *count = source->count ? source->count : 1;
    const struct schedule **schedules = script_alloc(L, *count * sizeof(*schedules));
    if (!source->count && !definition->queues_given)
        return schedules;
    for (size_t i = 0; i < *count; i++) {
        struct schedule *schedule = script_alloc(L, sizeof(*schedule));
        *schedule = schedule_default(SCHEDULE_SERIAL);
        if (source->count) {
            lua_geti(L, definition->keep, source->keep);
            lua_geti(L, -1, (lua_Integer)i + 1);
            if (!schedule_read(L, lua_gettop(L), schedule, &error))
                script_raise(L, &error);
            lua_pop(L, 2);
        }
        schedule_set_queues(definition, schedule);
        if (definition->experiment.search)
            search_set(L, definition, schedule);
        if (!schedule_check(schedule, &error)) {
            error_prefix(&error, "assay.%s", schedule_name(schedule->kind));
            script_raise(L, &error);
        }
        schedules[i] = schedule;
    }
    return schedules;
}

static void expansion_prepare(lua_State *L, struct expansion *expansion,
                              struct definition *definition, size_t index)
{
    struct script *script = script_of(L);
    struct assay_error error = {0};
    const char *name = source_string(L, definition, &definition->workload, index);
    long workload = catalog_find(script->catalog, name, &error);
    if (workload < 0)
        script_raise(L, &error);
    *expansion = (struct expansion){.definition = definition};
    expansion->workload = catalog_at(script->catalog, (size_t)workload);
    expansion->option_count = option_count(expansion->workload->options);
    size_t room = expansion->option_count + 1;
    expansion->slots = script_alloc(L, room * sizeof(*expansion->slots));
    expansion->overrides = script_alloc(L, room * sizeof(*expansion->overrides));
    expansion->settings = script_alloc(L, room * sizeof(*expansion->settings));
    overrides_read(L, expansion);
    axes_read(L, expansion);
    rows_read(L, expansion);
}

static void name_add(const char **names, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return;
    names[(*count)++] = name;
}

/* Names of the axes, in axis order. */
static void varied_read(lua_State *L, struct definition *definition,
                        const struct expansion *expansions, bool device_given)
{
    size_t room = 5, count = 0;
    for (size_t i = 0; i < definition->workload.count; i++)
        room += expansions[i].option_count;
    const char **names = script_alloc(L, room * sizeof(*names));
    if (definition->workload.count > 1)
        names[count++] = "workload";
    if (definition->device.count > 1 && !device_given)
        names[count++] = "device";
    if (definition->schedule.count > 1)
        names[count++] = "schedule";
    if (definition->replica.count > 1)
        names[count++] = "replica";
    for (size_t i = 0; i < definition->workload.count; i++) {
        for (uint32_t k = 0; k < expansions[i].option_count; k++)
            if (source_has_option(&expansions[i], k))
                name_add(names, &count, option_at(&expansions[i], k)->name);
    }
    definition->experiment.varied = names;
}

static void workload_add(lua_State *L, struct expansion *expansion, int point)
{
    struct definition *definition = expansion->definition;
    bool given = script_of(L)->params.device != NULL;
    size_t devices = given || !definition->device.count ? 1 : definition->device.count;
    size_t replicas = definition->replica.count ? definition->replica.count : 1;
    size_t rows = definition->rows ? definition->row_count : 1;
    size_t schedule_count;
    const struct schedule **schedules = source_schedules(L, definition, &schedule_count);
    size_t *digits = script_alloc(L, (expansion->axis_count + 1) * sizeof(*digits));
    for (size_t i = 0; i < devices * schedule_count * replicas; i++) {
        size_t device = i / replicas / schedule_count, replica = i % replicas;
        if (replica == 0)
            expansion->schedule = schedules[i / replicas % schedule_count];
        if (i % (schedule_count * replicas) == 0)
            expansion->device = given || !definition->device.count
                                    ? NULL
                                    : source_string(L, definition, &definition->device, device);
        expansion->replica = source_replica(L, definition, replica);
        for (size_t row = 0; row < rows; row++)
            product_add(L, expansion, row, digits, point);
    }
}

void expand(lua_State *L, struct definition *definition)
{
    struct script *script = script_of(L);
    struct assay_error error = {0};
    size_t count = definition->workload.count, before = script->plan->case_count;
    struct expansion *expansions = script_alloc(L, count * sizeof(*expansions));
    for (size_t i = 0; i < count; i++)
        expansion_prepare(L, &expansions[i], definition, i);
    if (definition->search_vary)
        search_resolve(L, definition, expansions[0].workload);
    varied_read(L, definition, expansions, script->params.device != NULL);
    if (!plan_add_experiment(script->plan, &definition->experiment, &error))
        script_raise(L, &error);
    struct point *point = lua_newuserdatauv(L, sizeof(*point), 0);
    point->expansion = NULL;
    luaL_setmetatable(L, POINT);
    int at = lua_gettop(L);
    for (size_t i = 0; i < count; i++) {
        script->expanding = point->expansion = &expansions[i];
        workload_add(L, &expansions[i], at);
    }
    script->expanding = point->expansion = NULL;
    if (script->plan->case_count == before)
        script_fail(L, "the experiment '%s' has no cases: 'where' drops all of them",
                    definition->experiment.name);
}
