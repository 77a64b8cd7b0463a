/* SPDX-License-Identifier: MIT */
/* r.latency.histogram: all latencies of a case, as counts. */
#include "script/inside.h"

#include "base/json.h"
#include "stats/histogram.h"

static void push_buckets(lua_State *L, const struct histogram *histogram)
{
    size_t at = 0;
    int64_t low, high;
    uint64_t count;
    lua_newtable(L);
    for (lua_Integer i = 1; histogram_next(histogram, &at, &low, &high, &count); i++) {
        lua_createtable(L, 0, 3);
        lua_pushnumber(L, (lua_Number)low / 1e9);
        lua_setfield(L, -2, "low");
        lua_pushnumber(L, (lua_Number)high / 1e9);
        lua_setfield(L, -2, "high");
        lua_pushinteger(L, (lua_Integer)count);
        lua_setfield(L, -2, "count");
        lua_rawseti(L, -2, i);
    }
}

static int push_protected(lua_State *L)
{
    push_buckets(L, lua_touserdata(L, 1));
    return 1;
}

void histogram_push(lua_State *L, const struct plan_case *item)
{
    const char *reason;
    struct assay_error error = {0};
    struct lazy *record = result_record(L, item, &reason);
    const json_t *load = record ? lazy_member(record, "load") : NULL;
    const json_t *holder = load || !record ? load : lazy_member(record, "pipeline");
    const char *text = json_text(holder, "latencies", NULL);
    if (!text) {
        lua_pushnil(L);
        return;
    }
    lua_pushcfunction(L, push_protected); /* memory that runs out must not leak the histogram */
    struct histogram *histogram = histogram_create(&error);
    if (!histogram || !histogram_read_text(histogram, text, &error)) {
        histogram_destroy(&histogram);
        script_abort(L, &error);
    }
    lua_pushlightuserdata(L, histogram);
    int status = lua_pcall(L, 1, 1, 0);
    histogram_destroy(&histogram);
    if (status != LUA_OK)
        lua_error(L);
}
