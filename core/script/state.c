/* SPDX-License-Identifier: MIT */
#include "script/inside.h"

#include "base/clock.h"
#include "run/worker.h"
#include "script/device.h"

#include <lualib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define HOOK_INSTRUCTIONS 1000
#define LARGE_BYTES ((size_t)1 << 20) /* less is noticed by the hook in time */

static const char stop_key = 0;

struct script *script_of(lua_State *L)
{
    return *(struct script **)lua_getextraspace(L);
}

/* The hook notices a script over its limit and can say where; this is the wall behind it. */
static void *limited_alloc(void *user, void *block, size_t old_size, size_t new_size)
{
    struct script *script = user;
    size_t old = block ? old_size : 0;
    if (new_size == 0) {
        free(block);
        script->memory_used -= old;
        return NULL;
    }
    size_t wall = script->memory_limit + script->memory_limit / 8;
    if (new_size > old &&
        new_size - old > wall - (script->memory_used < wall ? script->memory_used : wall))
        return NULL;
    void *moved = realloc(block, new_size);
    if (moved)
        script->memory_used = script->memory_used - old + new_size;
    return moved;
}

struct chunk *state_place(lua_State *L, int *line)
{
    struct script *script = script_of(L);
    lua_Debug debug;
    for (int level = 0; lua_getstack(L, level, &debug); level++) {
        lua_getinfo(L, "Sl", &debug);
        if (debug.source[0] != '@' || debug.currentline <= 0)
            continue;
        for (size_t i = 0; i < script->chunk_count; i++) {
            if (strcmp(debug.source + 1, script->chunks[i].path) == 0) {
                *line = debug.currentline;
                return &script->chunks[i];
            }
        }
    }
    *line = 0;
    return NULL;
}

static void add_place(lua_State *L, struct text *text)
{
    int line;
    const struct chunk *chunk = state_place(L, &line);
    if (chunk)
        text_addf(text, "%s:%d: ", chunk->path, line);
    else if (script_of(L)->at)
        text_addf(text, "%s: ", script_of(L)->at);
    else
        text_addf(text, "%s: ", script_of(L)->params.path);
}

void script_push_text(lua_State *L, struct text *text)
{
    lua_pushlstring(L, text_string(text), text->length);
    text_free(text);
}

int script_fail(lua_State *L, const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    add_place(L, &text);
    va_start(arguments, format);
    text_addv(&text, format, arguments);
    va_end(arguments);
    script_push_text(L, &text);
    lua_error(L);
    abort(); /* lua_error does not return */
}

int script_raise(lua_State *L, const struct assay_error *error)
{
    script_fail(L, "%s", error->text);
}

int script_abort(lua_State *L, const struct assay_error *error)
{
    struct script *script = script_of(L);
    if (!script->pending.status)
        script->pending = *error;
    lua_pushstring(L, script->pending.text);
    lua_error(L);
    abort();
}

int script_unknown(lua_State *L, const char *what, const char *kind, const char *name,
                   const char *const *names, size_t count)
{
    struct text text = {0};
    text_addf(&text, "%s has no %s '", what, kind);
    text_add_clean(&text, name);
    text_add(&text, "'");
    const char *nearest = text_nearest(name, names, count);
    if (nearest)
        text_addf(&text, "; did you mean '%s'? It has ", nearest);
    else
        text_add(&text, count ? "; it has " : "; it has none");
    text_add_list(&text, names, count);
    script_push_text(L, &text);
    script_fail(L, "%s", lua_tostring(L, -1));
}

void script_class(lua_State *L, const char *name, const luaL_Reg *functions)
{
    luaL_newmetatable(L, name);
    luaL_setfuncs(L, functions, 0);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

struct arena *script_scratch(lua_State *L)
{
    struct script *script = script_of(L);
    if (!script->scratch)
        script->scratch = arena_create();
    if (!script->scratch)
        luaL_error(L, "not enough memory");
    return script->scratch;
}

static size_t memory_used(const struct script *script)
{
    return script->memory_used + (script->scratch ? arena_bytes(script->scratch) : 0);
}

static void raise_memory(lua_State *L)
{
    script_fail(L, "the script needs more memory than its limit of %zu MiB",
                script_of(L)->memory_limit >> 20);
}

void *script_alloc(lua_State *L, size_t bytes)
{
    const struct script *script = script_of(L);
    struct arena *scratch = script_scratch(L);
    size_t used = memory_used(script);
    if (bytes > LARGE_BYTES && (used > script->memory_limit || bytes > script->memory_limit - used))
        raise_memory(L);
    void *block = arena_alloc(scratch, bytes);
    if (!block)
        luaL_error(L, "not enough memory");
    return block;
}

const char *script_copy(lua_State *L, const char *string)
{
    size_t bytes = strlen(string) + 1;
    return memcpy(script_alloc(L, bytes), string, bytes);
}

static void raise_deadline(lua_State *L)
{
    struct script *script = script_of(L);
    struct text limit = {0};
    script->deadline_passed = true;
    quantity_add(&limit, (double)script->params.deadline_ns * 1e-9,
                 (struct dimension){.seconds = 1});
    script_push_text(L, &limit);
    script_fail(L, "the script did not end within %s; is there an endless loop?",
                lua_tostring(L, -1));
}

static void limit_hook(lua_State *L, lua_Debug *debug)
{
    struct script *script = script_of(L);
    (void)debug;
    if (script->deadline_passed || clock_now(clock_monotonic()) > script->deadline_at_ns) {
        /* From now on every instruction raises: a pcall cannot swallow it and go on. */
        lua_sethook(L, limit_hook, LUA_MASKCOUNT, 1);
        raise_deadline(L);
    }
    if (memory_used(script) > script->memory_limit) {
        lua_gc(L, LUA_GCCOLLECT);
        if (memory_used(script) > script->memory_limit)
            raise_memory(L);
    }
}

void state_check_deadline(lua_State *L)
{
    if (clock_now(clock_monotonic()) > script_of(L)->deadline_at_ns) {
        lua_sethook(L, limit_hook, LUA_MASKCOUNT, 1);
        raise_deadline(L);
    }
}

/* Loops inside C functions of Lua (a pattern that backtracks for ever), in finalizers and in the
 * handler of an xpcall run no hook: the process is ended a while after the deadline. A signal
 * handler has no other way to its text than a global. */
static char watchdog_text[4096];
static volatile size_t watchdog_length;

static int watchdog_status = 2;              /* of the process */
static const struct script *watchdog_script; /* whose text it is */
static volatile int64_t watchdog_until_ns;   /* end of the entry in progress; 0: none */
static volatile int64_t watchdog_limit_ns;
static bool watchdog_held;

static void watchdog_set(int64_t in_ns)
{
    int64_t us = in_ns / 1000 + (in_ns > 0);
    struct itimerval timer = {.it_value = {us / 1000000, us % 1000000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void state_overdue(void)
{
    ssize_t written = write(STDERR_FILENO, watchdog_text, watchdog_length);
    (void)written;
    _exit(watchdog_status);
}

static void watchdog_fired(int signal_number)
{
    (void)signal_number;
    int64_t until = watchdog_until_ns, left = until - clock_now(clock_monotonic());
    if (until == 0 || left > 0) { /* another entry than that for which it was set, or none */
        watchdog_set(until == 0 ? watchdog_limit_ns : left);
        return;
    }
    state_overdue();
}

static void watchdog_add(const struct text *text)
{
    size_t room = sizeof(watchdog_text) - watchdog_length;
    size_t length = text->length < room ? text->length : room;
    memcpy(watchdog_text + watchdog_length, text_string(text), length);
    watchdog_length += length;
}

static void watchdog_prepare(const struct script *script)
{
    struct text text = {0};
    text_addf(&text, "assay: %s: the script did not end within ", script->params.path);
    quantity_add(&text, (double)script->params.deadline_ns * 1e-9,
                 (struct dimension){.seconds = 1});
    text_add(&text,
             " and could not be interrupted; is there a pattern or a size that never ends?\n");
    watchdog_script = script;
    watchdog_status = script->serving ? WORKER_OVERDUE : 2;
    watchdog_length = 0;
    watchdog_add(&text);
    text_free(&text);
    struct sigaction action = {.sa_handler = watchdog_fired};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
}

static int64_t overdue_after_ns(const struct script *script)
{
    return script->params.deadline_ns + script->params.deadline_ns / 4 + INT64_C(500000000);
}

int64_t state_overdue_at_ns(const struct script *script)
{
    return clock_now(clock_monotonic()) + overdue_after_ns(script);
}

static void watchdog_arm(const struct script *script, int64_t now_ns)
{
    if (script->on_thread) /* who waits for it looks at the time */
        return;
    if (watchdog_script != script)
        watchdog_prepare(script);
    watchdog_limit_ns = overdue_after_ns(script);
    watchdog_until_ns = now_ns + watchdog_limit_ns;
    if (!watchdog_held)
        watchdog_set(watchdog_limit_ns);
}

static void watchdog_disarm(const struct script *script)
{
    if (script->on_thread)
        return;
    watchdog_until_ns = 0;
    if (!watchdog_held)
        watchdog_set(0);
}

void script_hold_watchdog(struct script *script, bool hold)
{
    if (hold)
        watchdog_arm(script, clock_now(clock_monotonic()));
    watchdog_held = hold;
    watchdog_disarm(script);
}

void script_add_last_words(struct script *script, const char *line)
{
    struct text text = {0};
    (void)script; /* one timer, one text for the process */
    text_addf(&text, "assay: %s\n", line);
    watchdog_add(&text);
    text_free(&text);
}

/* Whether the message goes on with ":LINE:" behind the path. */
static bool is_place(const char *behind)
{
    return behind[0] == ':' && behind[1] >= '0' && behind[1] <= '9' &&
           behind[1 + strspn(behind + 1, "0123456789")] == ':';
}

/* Where Lua itself wrote the place it may have cut a long path. */
static bool add_whole_place(const struct script *script, const char *message, struct text *text)
{
    for (size_t i = 0; i < script->chunk_count; i++) {
        const struct chunk *chunk = &script->chunks[i];
        size_t length = strlen(chunk->path);
        if (strncmp(message, chunk->path, length) == 0 && is_place(message + length)) {
            text_add(text, message);
            return true;
        }
        length = strlen(chunk->short_source);
        if (length && strncmp(message, chunk->short_source, length) == 0 &&
            is_place(message + length)) {
            text_add(text, chunk->path);
            text_add(text, message + length);
            return true;
        }
    }
    return false;
}

static int message_handler(lua_State *L)
{
    struct script *script = script_of(L);
    struct text text = {0};
    if (lua_touserdata(L, 1) == (const void *)&stop_key)
        return 1;
    const char *message = lua_tostring(L, 1);
    if (message && script->raised.status && strcmp(message, script->raised.text) == 0)
        return 1; /* has its place */
    if (!message && luaL_callmeta(L, 1, "__tostring"))
        message = lua_tostring(L, -1);
    if (!message)
        message = lua_pushfstring(L, "the error value is a %s, not a text", luaL_typename(L, 1));
    if (!add_whole_place(script, message, &text)) {
        add_place(L, &text);
        text_add(&text, message);
    }
    script_push_text(L, &text);
    return 1;
}

void state_push_stop(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)&stop_key);
}

static bool failed(struct script *script, int status, const char *message,
                   struct assay_error *error)
{
    if (script->pending.status) {
        if (error && !error->status)
            *error = script->pending;
        script->pending = (struct assay_error){0};
        return false;
    }
    if (script->raised.status && message && strcmp(message, script->raised.text) == 0) {
        if (error && !error->status)
            *error = script->raised;
        return false;
    }
    if (status == LUA_ERRMEM)
        return assay_fail(error, ASSAY_SCRIPT,
                          "%s: the script needs more memory than its limit of %zu MiB",
                          script->params.path, script->memory_limit >> 20);
    struct text clean = {0};
    text_add_clean(&clean, message ? message : "an error without a text");
    assay_fail(error, ASSAY_SCRIPT, "%s", text_string(&clean));
    text_free(&clean);
    return false;
}

bool state_call(struct script *script, int arguments, bool *stopped, struct assay_error *error)
{
    lua_State *L = script->L;
    int base = lua_gettop(L) - arguments;
    lua_pushcfunction(L, message_handler);
    lua_insert(L, base);
    script->deadline_passed = false;
    script->raised.status = ASSAY_OK;
    int64_t now_ns = clock_now(clock_monotonic());
    script->deadline_at_ns = now_ns + script->params.deadline_ns;
    lua_sethook(L, limit_hook, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
    watchdog_arm(script, now_ns);
    int status = lua_pcall(L, arguments, 0, base);
    watchdog_disarm(script);
    bool stop = status != LUA_OK && lua_touserdata(L, -1) == (const void *)&stop_key;
    if (stopped)
        *stopped = stop;
    bool good = status == LUA_OK || (stop && stopped);
    if (!good)
        failed(script, status, lua_tostring(L, -1), error);
    lua_settop(L, base - 1);
    script->expanding = NULL;
    script->at = NULL;
    arena_destroy(&script->scratch);
    return good;
}

static bool chunk_add(struct script *script, const char *path, const struct text *source,
                      struct assay_error *error)
{
    struct chunk *grown = realloc(script->chunks,
                                  (script->chunk_count + 1) * sizeof(*script->chunks));
    if (!grown)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a module's name");
    script->chunks = grown;
    struct chunk *chunk = &grown[script->chunk_count];
    memset(chunk, 0, sizeof(*chunk));
    chunk->path = arena_copy(script->arena, path);
    char *copy = arena_alloc(script->arena, source->length + 1);
    if (!chunk->path || !copy)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a module");
    memcpy(copy, text_string(source), source->length);
    chunk->source = copy;
    chunk->length = source->length;
    struct hash128 hash = hash_bytes(text_string(source), source->length);
    hash_hex(&hash, chunk->hash);
    script->chunk_count++;
    return true;
}

void state_note_function(lua_State *L)
{
    struct script *script = script_of(L);
    lua_Debug debug;
    lua_pushvalue(L, -1);
    if (!lua_getinfo(L, ">S", &debug) || debug.source[0] != '@')
        return;
    script->at = arena_printf(script_scratch(L), "%s:%d", debug.source + 1, debug.linedefined);
}

bool state_load(lua_State *L, const char *path, const struct text *source,
                struct assay_error *error)
{
    struct script *script = script_of(L);
    lua_Debug debug;
    if (!chunk_add(script, path, source, error))
        return false;
    const char *name = lua_pushfstring(L, "@%s", path);
    if (luaL_loadbufferx(L, "", 0, name, "t") == LUA_OK && lua_getinfo(L, ">S", &debug))
        memcpy(script->chunks[script->chunk_count - 1].short_source, debug.short_src,
               sizeof(debug.short_src));
    const char *start = text_string(source);
    const char *end = start + source->length;
    if (strncmp(start, "\xef\xbb\xbf", 3) == 0)
        start += 3;
    if (*start == '#') { /* "#!/usr/bin/env -S assay run" */
        const char *newline = memchr(start, '\n', (size_t)(end - start));
        start = newline ? newline : end; /* the newline stays: it counts */
    }
    int status = luaL_loadbufferx(L, start, (size_t)(end - start), name, "t");
    lua_remove(L, -2);
    if (status == LUA_OK)
        return true;
    struct text text = {0};
    const char *message = lua_tostring(L, -1);
    if (!message || !add_whole_place(script, message, &text)) {
        text_addf(&text, "%s:1: ", path);
        text_add(&text, message ? message : "the script cannot be read");
    }
    failed(script, status, text_string(&text), error);
    text_free(&text);
    lua_pop(L, 1);
    return false;
}

static int state_open(lua_State *L)
{
    struct script *script = script_of(L);
    values_open(L);
    device_classes_open(L);
    expand_open(L);
    result_open(L);
    schedule_open(L);
    cases_open(L);
    expect_open(L);
    peaks_open(L);
    sandbox_open(L, script->params.trust);
    return 0;
}

bool state_create(struct script *script, struct assay_error *error)
{
    script->memory_limit = script->params.memory_bytes ? script->params.memory_bytes
                                                       : (size_t)1 << 30;
    if (script->params.deadline_ns <= 0)
        script->params.deadline_ns = INT64_C(10000000000);
    script->L = lua_newstate(limited_alloc, script);
    if (!script->L)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a Lua state");
    *(struct script **)lua_getextraspace(script->L) = script;
    if (!script->on_thread)
        watchdog_prepare(script);
    lua_pushcfunction(script->L, state_open);
    return state_call(script, 0, NULL, error);
}

void state_destroy(struct script *script)
{
    if (script->L) {
        script->memory_limit = SIZE_MAX / 2;
        /* Finalizers of the script's run without hooks. */
        watchdog_arm(script, clock_now(clock_monotonic()));
        lua_close(script->L);
        watchdog_disarm(script);
    }
    script->L = NULL;
    free(script->chunks);
}
