/* SPDX-License-Identifier: MIT */
/* Pieces of Lua run with a device of their own, as a slot's hooks are. */
#ifndef TESTS_LUA_FIXTURE_H
#define TESTS_LUA_FIXTURE_H

#include "vulkan_fixture.h"

#include "script/device.h"
#include "vulkan/command.h"
#include "vulkan/slot.h"

#include <string.h>

struct lua_fixture {
    struct assay_device *device;
    struct assay_slot *slot;
    struct script_device *handle;
    struct script script;
};

static inline void lua_fixture_open(struct lua_fixture *lua, struct fixture *fixture,
                                    uint64_t case_seed)
{
    static const char *directories[] = {NULL, NULL};
    static const struct shader_search search = {.directories = directories};
    struct assay_error error = {0};
    directories[0] = getenv("ASSAY_SHADER_DIR");
    memset(lua, 0, sizeof(*lua));
    lua->device = fixture_device(fixture, 1);
    const struct slot_params slot = {
        .device = lua->device, .case_seed = case_seed, .search = &search};
    lua->slot = slot_create(&slot, &error);
    fixture_assert_ok(lua->slot != NULL, &error);
    lua->handle = script_device_open(lua->device, lua->slot, &error);
    fixture_assert_ok(lua->handle != NULL, &error);
    lua->script.params = (struct script_params){.path = "t.lua"};
    lua->script.arena = arena_create();
    assert_non_null(lua->script.arena);
    fixture_assert_ok(state_create(&lua->script, &error), &error);
    script_device_push(lua->script.L, lua->handle);
    lua_setglobal(lua->script.L, "device");
    lua_newtable(lua->script.L);
    lua_setglobal(lua->script.L, "s");
}

static inline void lua_fixture_close(struct lua_fixture *lua, struct fixture *fixture)
{
    script_device_close(&lua->handle);
    state_destroy(&lua->script);
    arena_destroy(&lua->script.arena);
    assert_int_equal(slot_destroy(&lua->slot), 0); /* closing left nothing */
    device_destroy(&lua->device);
    fixture_assert_quiet(fixture);
}

/* Runs a piece of Lua as t.lua: "" or the error's text. */
static inline const char *lua_run(struct lua_fixture *lua, const char *source,
                                  struct assay_error *error)
{
    struct text text = {0};
    *error = (struct assay_error){0};
    text_add(&text, "local assay = require 'assay' ");
    text_add(&text, source);
    bool good = state_load(lua->script.L, "t.lua", &text, error) &&
                state_call(&lua->script, 0, NULL, error);
    text_free(&text);
    assert_int_equal(good, error->status == ASSAY_OK);
    return error->text;
}

static inline void lua_run_well(struct lua_fixture *lua, const char *source)
{
    struct assay_error error;
    assert_string_equal(lua_run(lua, source, &error), "");
}

/* Records what the piece does with the global `cmd`. */
static inline struct assay_command *lua_record(struct lua_fixture *lua, enum vulkan_role role,
                                               const char *source)
{
    struct assay_error error = {0};
    const struct command_params params = {.slot = lua->slot, .name = "stage", .role = role};
    struct assay_command *command = command_create(&params, &error);
    fixture_assert_ok(command != NULL, &error);
    script_command_push(lua->script.L, command);
    lua_setglobal(lua->script.L, "cmd");
    lua_run_well(lua, source);
    script_command_expire(&lua->script);
    fixture_assert_ok(command_finish(command, &error), &error);
    return command;
}

static inline void lua_execute(struct assay_command *command)
{
    struct assay_error error = {0};
    struct command_times times;
    fixture_assert_ok(command_execute(command, clock_monotonic(), &times, &error), &error);
}

/* The error of recording the piece. */
static inline const char *lua_record_fails(struct lua_fixture *lua, const char *source,
                                           struct assay_error *error)
{
    const struct command_params params = {
        .slot = lua->slot, .name = "stage", .role = VULKAN_ROLE_COMPUTE};
    struct assay_error cause = {0};
    struct assay_command *command = command_create(&params, &cause);
    fixture_assert_ok(command != NULL, &cause);
    script_command_push(lua->script.L, command);
    lua_setglobal(lua->script.L, "cmd");
    lua_run(lua, source, error);
    script_command_expire(&lua->script);
    command_destroy(&command);
    return error->text;
}

#endif
