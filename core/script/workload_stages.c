/* SPDX-License-Identifier: MIT */
/* stages = { { name, record = | run = | duration =, bytes =, read =, ... }, ... } */
#include "script/workload.h"

#include <math.h>
#include <string.h>

static const char *const stage_fields[] = {"record", "run",       "duration", "queue",    "present",
                                           "bytes",  "read",      "written",  "flops",    "items",
                                           "upload", "flop_kind", "download", "in_place", "help"};
#define STAGE_FIELDS (sizeof(stage_fields) / sizeof(stage_fields[0]))

const char *const workload_cost_names[COST_COUNT] = {
    [COST_BYTES] = "bytes",       [COST_READ] = "read",   [COST_WRITTEN] = "written",
    [COST_FLOPS] = "flops",       [COST_ITEMS] = "items", [COST_UPLOAD] = "upload",
    [COST_DOWNLOAD] = "download",
};

struct dimension workload_cost_dimension(enum script_cost cost)
{
    static const struct dimension size = {.bytes = 1}, work = {.flops = 1}, items = {.items = 1};
    return cost == COST_FLOPS ? work : cost == COST_ITEMS ? items : size;
}

double workload_number(lua_State *L, const char *what, struct dimension dimension)
{
    struct quantity quantity = quantity_of(L, lua_gettop(L), what);
    if (!dimension_is_number(quantity.dimension) &&
        !dimension_equal(quantity.dimension, dimension)) {
        lua_pushstring(L, dimension_words(dimension));
        script_fail(L, "%s: %s is wanted, not %s", what, lua_tostring(L, -1),
                    dimension_words(quantity.dimension));
    }
    lua_pop(L, 1);
    if (!(quantity.value >= 0) || quantity.value > 0x1p62)
        script_fail(L, "%s: it must be 0 or more, and not over 2^62", what);
    return quantity.value;
}

/* A function of the parameters, or a value. */
static struct script_number number_read(lua_State *L, int row, const char *what, const char *name,
                                        struct dimension dimension)
{
    struct script_number number = {.function = LUA_NOREF};
    int type = lua_getfield(L, row, name);
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        return number;
    }
    number.given = true;
    if (type == LUA_TFUNCTION) {
        number.function = luaL_ref(L, LUA_REGISTRYINDEX);
    } else {
        lua_pushfstring(L, "%s: %s", what, name);
        lua_insert(L, -2);
        number.value = workload_number(L, lua_tostring(L, -2), dimension);
        lua_pop(L, 1);
    }
    return number;
}

static const char *text_field(lua_State *L, int row, const char *what, const char *name)
{
    const char *text = NULL;
    int type = lua_getfield(L, row, name);
    if (type != LUA_TNIL && type != LUA_TSTRING)
        script_fail(L, "%s: %s is a text, not a %s", what, name, luaL_typename(L, -1));
    if (type == LUA_TSTRING)
        text = workload_keep(L, lua_tostring(L, -1));
    lua_pop(L, 1);
    return text;
}

static bool starts_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* Where it is not said: what is named after a transfer is one. */
static enum assay_stage_kind queue_read(lua_State *L, int row, const char *what, const char *name)
{
    const char *queue = text_field(L, row, what, "queue");
    if (!queue)
        return starts_with(name, "upload") || starts_with(name, "download") ? ASSAY_STAGE_TRANSFER
                                                                            : ASSAY_STAGE_COMPUTE;
    if (strcmp(queue, "transfer") == 0)
        return ASSAY_STAGE_TRANSFER;
    if (strcmp(queue, "compute") != 0)
        script_fail(L, "%s: queue '%s' is none of transfer and compute", what, queue);
    return ASSAY_STAGE_COMPUTE;
}

static void kind_read(lua_State *L, int row, const char *what, struct script_stage *stage)
{
    stage->record = workload_function(L, row, what, "record");
    stage->run = workload_function(L, row, what, "run");
    stage->duration = number_read(L, row, what, "duration", (struct dimension){.seconds = 1});
    int given = (stage->record != LUA_NOREF) + (stage->run != LUA_NOREF) + stage->duration.given;
    if (given != 1)
        script_fail(L,
                    "%s has %s; it needs one of record (device commands), run (a function on the "
                    "host) and duration (a model)",
                    what, given ? "more than one kind of work" : "no work");
    if (stage->record != LUA_NOREF)
        stage->stage.kind = queue_read(L, row, what, stage->stage.name);
    else
        stage->stage.kind = stage->run != LUA_NOREF ? ASSAY_STAGE_HOST : ASSAY_STAGE_MODEL;
    if (stage->run != LUA_NOREF)
        stage->stage.note = "Lua runs while it is measured, on the one thread of the script's host "
                            "stages, with a state of its own";
    if (stage->record == LUA_NOREF && text_field(L, row, what, "queue"))
        script_fail(L, "%s: only a stage with record has a queue", what);
}

static void flop_kind_read(lua_State *L, int row, const char *what, struct script_stage *stage)
{
    static const char *const names[] = {"fp32", "fp64", "fp16", "bf16", "int8", "int32"};
    static const enum assay_number numbers[] = {ASSAY_NUMBER_FP32, ASSAY_NUMBER_FP64,
                                                ASSAY_NUMBER_FP16, ASSAY_NUMBER_BF16,
                                                ASSAY_NUMBER_INT8, ASSAY_NUMBER_INT32};
    const char *name = text_field(L, row, what, "flop_kind");
    stage->flop_kind = stage->costs[COST_FLOPS].given ? ASSAY_NUMBER_FP32 : ASSAY_NUMBER_NONE;
    for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            stage->flop_kind = numbers[i];
            return;
        }
    }
    if (name)
        script_fail(L, "%s: flop_kind '%s' is none of fp32, fp64, fp16, bf16, int8 and int32", what,
                    name);
}

/* The row on top. */
static void row_read(lua_State *L, struct script_workload *workload, size_t index)
{
    struct script_stage *stage = &workload->stages[index];
    int row = lua_gettop(L);
    lua_pushfstring(L, "stages[%d]", (int)index + 1);
    const char *what = script_copy(L, lua_tostring(L, -1));
    if (!lua_istable(L, row))
        script_fail(L, "%s: a stage such as { \"compute\", record = ... } is wanted, not a %s",
                    what, luaL_typename(L, row));
    if (lua_geti(L, row, 1) != LUA_TSTRING)
        script_fail(L, "%s: its name, the first value, is a text", what);
    *stage = (struct script_stage){.index = index};
    stage->stage.size = sizeof(stage->stage);
    stage->stage.name = workload_keep(L, lua_tostring(L, -1));
    lua_pushfstring(L, "stage '%s'", stage->stage.name);
    what = script_copy(L, lua_tostring(L, -1));
    lua_settop(L, row);
    workload_fields_check(L, row, what, 1, stage_fields, STAGE_FIELDS);
    kind_read(L, row, what, stage);
    stage->present = workload_function(L, row, what, "present");
    for (size_t i = 0; i < COST_COUNT; i++)
        stage->costs[i] = number_read(L, row, what, workload_cost_names[i],
                                      workload_cost_dimension(i));
    flop_kind_read(L, row, what, stage);
    const char *help = text_field(L, row, what, "help");
    stage->stage.help = help ? help : "";
    lua_getfield(L, row, "in_place");
    stage->stage.in_place = lua_toboolean(L, -1);
    lua_settop(L, row);
    workload->host = workload->host || stage->stage.kind == ASSAY_STAGE_HOST;
    workload->stage_rows[index] = &stage->stage;
}

void workload_stages_read(lua_State *L, struct script_workload *workload)
{
    if (!workload_field(L, "assay.workload", "stages", LUA_TTABLE, "a list of stages"))
        script_fail(L,
                    "the workload '%s' has no stages; add stages = { { \"compute\", record = "
                    "function(s, p, cmd) ... end } }",
                    workload->workload.name);
    size_t count = lua_rawlen(L, -1);
    int list = lua_gettop(L);
    if (count < 1 || count > STAGES_MAX)
        script_fail(L, "stages: a list of 1 to %d stages is wanted, this one has %d", STAGES_MAX,
                    (int)count);
    workload_fields_check(L, list, "stages", (lua_Integer)count, NULL, 0);
    for (size_t i = 0; i < count; i++) {
        lua_geti(L, list, (lua_Integer)i + 1);
        row_read(L, workload, i);
        lua_settop(L, list);
    }
    lua_pop(L, 1);
    workload->stage_count = count;
    workload->workload.stages = workload->stage_rows;
}
