/* SPDX-License-Identifier: MIT */
#include "script/host.h"

#include "script/device.h"
#include "script/serve.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COPY_DEPTH 8

enum state { IDLE, ASKED, DONE, ENDED };

struct script_host {
    struct script *script; /* used by the thread while ASKED, else by the main thread */
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
    const struct script_slot *slot;
    size_t stage;
    bool good;
    struct assay_error error;
};

/* The workload of the same name in the host's own execution of the script. */
static const struct script_workload *workload_here(const struct script_host *host,
                                                   const struct script_workload *other)
{
    for (size_t i = 0; i < host->script->workload_count; i++)
        if (strcmp(host->script->workloads[i]->workload.name, other->workload.name) == 0)
            return host->script->workloads[i];
    return NULL;
}

/* Its `run` of the stage, by name too: what a script builds with `pairs` may stand in another
 * order there. LUA_NOREF: it has none. */
static int run_here(const struct script_host *host, const struct script_workload *other,
                    size_t stage)
{
    const struct script_workload *workload = workload_here(host, other);
    const char *name = other->stages[stage].stage.name;
    for (size_t i = 0; workload && i < workload->stage_count; i++)
        if (strcmp(workload->stages[i].stage.name, name) == 0)
            return workload->stages[i].run;
    return LUA_NOREF;
}

static int run_enter(lua_State *L)
{
    const struct script_host *host = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, run_here(host, host->slot->workload, host->stage));
    lua_rawgeti(L, LUA_REGISTRYINDEX, host->slot->host_s);
    lua_rawgeti(L, LUA_REGISTRYINDEX, host->slot->host_p);
    lua_call(L, 2, 0);
    return 0;
}

static void run(struct script_host *host)
{
    struct script *script = host->script;
    host->error = (struct assay_error){0};
    lua_pushcfunction(script->L, run_enter);
    lua_pushlightuserdata(script->L, host);
    host->good = state_call(script, 1, NULL, &host->error);
}

static void *thread_main(void *user)
{
    struct script_host *host = user;
    pthread_mutex_lock(&host->lock);
    while (host->state != ENDED) {
        if (host->state == ASKED) {
            pthread_mutex_unlock(&host->lock);
            run(host);
            pthread_mutex_lock(&host->lock);
            host->state = DONE;
            pthread_cond_broadcast(&host->changed);
        }
        while (host->state != ASKED && host->state != ENDED)
            pthread_cond_wait(&host->changed, &host->lock);
    }
    pthread_mutex_unlock(&host->lock);
    return NULL;
}

/* Its loops inside C functions of Lua cannot be interrupted. */
static void wait_done(struct script_host *host)
{
    int64_t until_ns = state_overdue_at_ns(host->script);
    struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                             .tv_nsec = (long)(until_ns % 1000000000)};
    while (host->state != DONE)
        if (pthread_cond_timedwait(&host->changed, &host->lock, &until) == ETIMEDOUT &&
            host->state != DONE)
            state_overdue();
}

bool script_host_run(struct script_slot *slot, size_t index, struct assay_error *error)
{
    struct script_host *host = slot->host;
    pthread_mutex_lock(&host->lock);
    host->slot = slot;
    host->stage = index;
    host->state = ASKED;
    pthread_cond_broadcast(&host->changed);
    wait_done(host);
    host->state = IDLE;
    pthread_mutex_unlock(&host->lock);
    if (!host->good && error && !error->status)
        *error = host->error;
    return host->good;
}

/* Pushes a copy of the value at `index` of the script's state; false: of a kind that is not
 * copied. */
static bool copy_value(lua_State *from, int index, lua_State *to, int depth);

static void copy_table(lua_State *from, int index, lua_State *to, int depth)
{
    luaL_checkstack(to, 8, "values of a slot");
    lua_newtable(to);
    if (!lua_checkstack(from, 8))
        luaL_error(to, "not enough memory");
    for (lua_pushnil(from); lua_next(from, index); lua_pop(from, 1)) {
        if (!copy_value(from, lua_gettop(from) - 1, to, depth))
            continue;
        if (copy_value(from, lua_gettop(from), to, depth))
            lua_rawset(to, -3);
        else
            lua_pop(to, 1);
    }
}

static bool copy_value(lua_State *from, int index, lua_State *to, int depth)
{
    size_t length;
    switch (lua_type(from, index)) {
    case LUA_TBOOLEAN:
        lua_pushboolean(to, lua_toboolean(from, index));
        return true;
    case LUA_TNUMBER:
        if (lua_isinteger(from, index))
            lua_pushinteger(to, lua_tointeger(from, index));
        else
            lua_pushnumber(to, lua_tonumber(from, index));
        return true;
    case LUA_TSTRING: {
        const char *bytes = lua_tolstring(from, index, &length);
        lua_pushlstring(to, bytes, length);
        return true;
    }
    case LUA_TTABLE:
        if (depth == 0)
            luaL_error(to,
                       "the tables of a slot with host stages nest too deep: at most %d levels "
                       "are copied to their state",
                       COPY_DEPTH);
        copy_table(from, index, to, depth - 1);
        return true;
    default:
        return script_object_copy(from, index, to);
    }
}

struct copying {
    struct script_slot *slot;
    lua_State *from;
};

static int copy_enter(lua_State *L)
{
    const struct copying *copying = lua_touserdata(L, 1);
    struct script_slot *slot = copying->slot;
    for (size_t i = 0; i < slot->workload->stage_count; i++)
        if (slot->workload->stages[i].run != LUA_NOREF &&
            run_here(slot->host, slot->workload, i) == LUA_NOREF)
            luaL_error(
                L,
                "%s: the script defines '%s' in another way when it is executed once more for "
                "its host stages: there is no stage '%s' with run; what a script defines "
                "must not change from one execution to the next",
                slot->workload->place, slot->workload->workload.name,
                slot->workload->stages[i].stage.name);
    copy_table(copying->from, lua_gettop(copying->from), L, COPY_DEPTH);
    slot->host_s = luaL_ref(L, LUA_REGISTRYINDEX);
    workload_params_push(L, slot->workload, slot->params); /* laid out by this definition */
    slot->host_p = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

/* The thread is idle: its state is ours for now. */
static bool copy_slot(struct script_slot *slot, struct assay_error *error)
{
    lua_State *from = slot->workload->script->L, *to = slot->host->script->L;
    struct copying copying = {slot, from};
    int top = lua_gettop(from);
    lua_rawgeti(from, LUA_REGISTRYINDEX, slot->s);
    lua_pushcfunction(to, copy_enter);
    lua_pushlightuserdata(to, &copying);
    bool good = state_call(slot->host->script, 1, NULL, error);
    lua_settop(from, top);
    return good;
}

static struct script_host *host_create(struct script *script, struct assay_error *error)
{
    struct script_host *host = calloc(1, sizeof(*host));
    if (!host) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for host stages");
        return NULL;
    }
    pthread_mutex_init(&host->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&host->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    host->script = script_serve_again(script, error);
    if (host->script && pthread_create(&host->thread, NULL, thread_main, host) == 0)
        host->started = true;
    else
        assay_fail(error, ASSAY_SYSTEM, "cannot start the thread of host stages");
    if (!host->started)
        script_host_destroy(&host);
    return host;
}

void script_host_destroy(struct script_host **host)
{
    struct script_host *self = *host;
    *host = NULL;
    if (!self)
        return;
    if (self->started) {
        pthread_mutex_lock(&self->lock);
        self->state = ENDED;
        pthread_cond_broadcast(&self->changed);
        pthread_mutex_unlock(&self->lock);
        pthread_join(self->thread, NULL);
    }
    script_destroy(&self->script);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

bool script_host_slot_open(struct script_slot *slot, struct assay_error *error)
{
    struct script *script = slot->workload->script;
    if (!script->host)
        script->host = host_create(script, error);
    slot->host = script->host;
    return slot->host && copy_slot(slot, error);
}

void script_host_slot_close(struct script_slot *slot)
{
    if (!slot->host)
        return;
    lua_State *L = slot->host->script->L;
    luaL_unref(L, LUA_REGISTRYINDEX, slot->host_s);
    luaL_unref(L, LUA_REGISTRYINDEX, slot->host_p);
    lua_gc(L, LUA_GCCOLLECT);
}
