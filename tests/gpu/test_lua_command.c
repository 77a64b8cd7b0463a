/* SPDX-License-Identifier: MIT */
/* What scripts record: saxpy by names, uploads and downloads with host sides, and what is refused.
 */
#include "lua_fixture.h"

#include "vulkan/buffer.h"

static struct fixture fixture;

static int set_up(void **state)
{
    static struct lua_fixture lua;
    lua_fixture_open(&lua, &fixture, 7);
    *state = &lua;
    return 0;
}

static int tear_down(void **state)
{
    lua_fixture_close(*state, &fixture);
    return 0;
}

#define SAXPY                                                                                      \
    "s.kernel = device:kernel{ name = 'saxpy', constants = { WORKGROUP = 32 }, text = [[\n"        \
    "#version 450\n"                                                                               \
    "layout(local_size_x_id = 0) in;\n"                                                            \
    "layout(constant_id = 0) const uint WORKGROUP = 16;\n"                                         \
    "layout(binding = 0) readonly buffer x_block { float x[]; };\n"                                \
    "layout(binding = 1) buffer y_block { float y[]; };\n"                                         \
    "layout(push_constant) uniform push { uint n; float a; };\n"                                   \
    "void main() {\n"                                                                              \
    "  uint i = gl_GlobalInvocationID.x;\n"                                                        \
    "  if (i < n) y[i] = a * x[i] + y[i];\n"                                                       \
    "}\n"                                                                                          \
    "]] }\n"

static const char slot_source[] =
    "s.x = device:buffer{ bytes = 4 * 1000, fill = assay.uniform(-1, 1), name = 'x' }\n"
    "s.y = device:buffer{ bytes = '4000 B', fill = 1.0, name = 'y' }\n" SAXPY;

/* One batch of upload, compute and download, verified in Lua; twice, with fills restored between.
 */
static void saxpy(void **state)
{
    struct lua_fixture *lua = *state;
    struct assay_error error = {0};
    lua_run_well(lua, slot_source);
    struct assay_command *stages[] = {
        lua_record(lua, VULKAN_ROLE_TRANSFER, "cmd:upload(s.x)"),
        lua_record(lua, VULKAN_ROLE_COMPUTE,
                   "cmd:dispatch(s.kernel, { x = s.x, y = s.y }, { n = 1000, a = 2.5 },"
                   "             { invocations = 1000 })"),
        lua_record(lua, VULKAN_ROLE_TRANSFER, "cmd:download(s.y)")};
    for (int batch = 0; batch < 2; batch++) {
        fixture_assert_ok(slot_restore(lua->slot, &error), &error);
        for (size_t i = 0; i < 3; i++)
            lua_execute(stages[i]);
        lua_run_well(lua, "local x, y = s.x:read 'float', s.y:read 'float'\n"
                          "assert(#x == 1000 and #y == 1000)\n"
                          "local distinct = 0\n"
                          "for i = 1, #x do\n"
                          "  assert(x[i] >= -1 and x[i] < 1)\n"
                          "  if i > 1 and x[i] ~= x[i - 1] then distinct = distinct + 1 end\n"
                          "end\n"
                          "assert(distinct > 990)\n"
                          "local r = assay.compare(y, function(i) return 2.5 * x[i] + 1.0 end,\n"
                          "                        { absolute = 1e-6, relative = 1e-6 })\n"
                          "assert(r.right and r.error < 1 and r.count == 1000, tostring(r))\n"
                          "r = assay.compare(y, 1.0)\n"
                          "assert(not r.right and r.wrong > 900 and r.index == 1)\n"
                          "assert(r.got == y[1] and r.wanted == 1.0)");
    }
    for (size_t i = 0; i < 3; i++)
        command_destroy(&stages[i]);
}

/* An imageBuffer is bound by its name, in part, too. */
static void texels(void **state)
{
    struct lua_fixture *lua = *state;
    lua_run_well(lua, "s.x = device:buffer{ bytes = 4096, fill = assay.sequence(0, 1) }\n"
                      "s.y = device:buffer{ bytes = 4096, role = 'output' }\n"
                      "s.kernel = device:kernel{ name = 'texels', text = [[\n"
                      "#version 450\n"
                      "layout(local_size_x = 8) in;\n"
                      "layout(binding = 0, rgba32f) uniform readonly imageBuffer x;\n"
                      "layout(binding = 1, r32i) uniform writeonly iimageBuffer y;\n"
                      "void main() {\n"
                      "  int i = int(gl_GlobalInvocationID.x);\n"
                      "  imageStore(y, i, ivec4(imageLoad(x, i).z));\n"
                      "}\n"
                      "]] }\n");
    struct assay_command *command = lua_record(
        lua, VULKAN_ROLE_COMPUTE,
        "cmd:dispatch(s.kernel, { x = { s.x, offset = 2048, bytes = 2048 }, y = s.y }, {},"
        "             { invocations = 128 })");
    lua_execute(command);
    command_destroy(&command);
    /* texel i - 1 of the second half: elements 512 + 4 (i - 1) and on */
    lua_run_well(lua, "local y = s.y:read('int', { count = 128 })\n"
                      "for i = 1, 128 do assert(y[i] == 510 + 4 * i) end\n");
}

/* Which stages may be repeated to measure them: not those that work on what they read. */
static void repeats(void **state)
{
    struct lua_fixture *lua = *state;
    struct text why = {0};
    lua_run_well(lua, slot_source);
    struct assay_command *upload = lua_record(lua, VULKAN_ROLE_TRANSFER, "cmd:upload(s.x)");
    assert_true(command_can_repeat(upload, &why));
    struct assay_command *download = lua_record(lua, VULKAN_ROLE_TRANSFER, "cmd:download(s.y)");
    assert_true(command_can_repeat(download, &why));
    struct assay_command *compute = lua_record(
        lua, VULKAN_ROLE_COMPUTE,
        "cmd:dispatch(s.kernel, { x = s.y, y = s.x }, { n = 1000, a = 1 }, { groups = 32 })");
    assert_false(command_can_repeat(compute, &why)); /* x comes by the upload */
    assert_string_equal(text_string(&why), "it works in place: it may write to its input 'x'");
    text_free(&why);
    command_destroy(&upload);
    command_destroy(&download);
    command_destroy(&compute);
}

/* Only the upload can bring the fill, only the download what is read. */
static void partners(void **state)
{
    struct lua_fixture *lua = *state;
    struct assay_error error = {0};
    lua_run_well(lua, "s.a = device:buffer{ bytes = 64, fill = assay.fill(7, 'uint') }\n"
                      "s.b = device:buffer{ bytes = 64, fill = assay.fill(9, 'uint') }");
    struct assay_command *upload = lua_record(lua, VULKAN_ROLE_TRANSFER, "cmd:upload(s.a)");
    struct assay_command *download = lua_record(lua, VULKAN_ROLE_TRANSFER, "cmd:download(s.b)");
    fixture_assert_ok(slot_restore(lua->slot, &error), &error);
    lua_run_well(lua, "assert(assay.compare(s.a:read 'uint', 7).wrong == 16)\n"
                      "assert(assay.compare(s.b:read 'uint', 9).wrong == 16)\n");
    lua_execute(upload);
    lua_execute(download);
    lua_run_well(lua, "assert(assay.compare(s.a:read 'uint', 7).right)\n"
                      "assert(assay.compare(s.b:read 'uint', 9).right)\n");
    command_destroy(&upload);
    command_destroy(&download);
}

static void copies_fills_and_barriers(void **state)
{
    struct lua_fixture *lua = *state;
    lua_run_well(lua, "s.a = device:buffer{ bytes = 64, role = 'scratch' }\n"
                      "s.b = device:buffer{ bytes = 64, memory = 'pinned', role = 'scratch' }");
    struct assay_command *command = lua_record(
        lua, VULKAN_ROLE_COMPUTE,
        "cmd:fill(s.a, 1.5) cmd:barrier()\n"
        "cmd:fill(s.a, assay.fill(3, 'half'), { offset = 8, bytes = 8 }) cmd:barrier()\n"
        "cmd:copy(s.b, s.a) cmd:wait()\n"
        "cmd:lane(1) cmd:lane(0)\n"
        "cmd:copy(s.b, s.a, { bytes = 4, source_offset = 8, destination_offset = 60 })");
    lua_execute(command);
    lua_run_well(lua, "local b, h = s.b:read 'float', s.b:read('half', { offset = 8, count = 4 })\n"
                      "assert(b[1] == 1.5 and b[2] == 1.5 and b[15] == 1.5)\n"
                      "assert(#h == 4 and h[1] == 3 and h[4] == 3)\n"
                      "h = s.b:read('half', { offset = 60 })\n"
                      "assert(#h == 2 and h[1] == 3 and h[2] == 3)");
    command_destroy(&command);
}

/* `cmd` and the objects of a slot are good where they were made. */
static void lives(void **state)
{
    struct lua_fixture *lua = *state;
    struct assay_error error;
    lua_run_well(lua, slot_source);
    struct assay_command *command = lua_record(lua, VULKAN_ROLE_TRANSFER,
                                               "cmd:upload(s.x) s.cmd = cmd");
    assert_string_equal(
        lua_run(lua, "\ns.cmd:upload(s.x)", &error),
        "t.lua:2: cmd:upload: this cmd is of a recording that has ended: a stage is "
        "recorded once, in its `record`, and replayed without Lua");
    assert_int_equal(error.status, ASSAY_SCRIPT);
    assert_string_equal(
        lua_record_fails(lua, "\ns.cmd:barrier()", &error),
        "t.lua:2: cmd:barrier: this cmd is of a recording that has ended: a stage is "
        "recorded once, in its `record`, and replayed without Lua");
    command_destroy(&command);
    script_device_close(&lua->handle);
    assert_string_equal(
        lua_run(lua, "\ns.x:read 'float'", &error),
        "t.lua:2: buffer: this buffer is of a slot that is gone: what a slot made is "
        "good in that slot alone");
    assert_string_equal(lua_run(lua, "\ndevice:buffer{ bytes = 4 }", &error),
                        "t.lua:2: device: this device is of a slot that is gone: what a "
                        "slot made is good in that slot alone");
}

/* Finalizers run when all is closed, the youngest first. */
static void finalizers(void **state)
{
    struct lua_fixture *lua = *state;
    lua_run_well(lua, "older = setmetatable({}, { __gc = function(t)\n"
                      "  local good, why = pcall(function() return t.x.bytes end)\n"
                      "  seen = why kept = t.x\n"
                      "end })");
    lua_run_well(lua, "older.x = device:buffer{ bytes = 8 } older = nil collectgarbage()\n"
                      "assert(seen:find('is of a slot that is gone', 1, true), seen)\n"
                      "s.x = kept");
    script_device_name_members(lua->script.L, (lua_getglobal(lua->script.L, "s"), -1));
    lua_pop(lua->script.L, 1);
}

/* What another slot made is not recorded, whether that slot is there or gone. */
static void slots(void **state)
{
    struct lua_fixture *lua = *state;
    struct assay_error error = {0};
    static const char *directories[] = {NULL, NULL};
    static const struct shader_search search = {.directories = directories};
    directories[0] = getenv("ASSAY_SHADER_DIR");
    const struct slot_params params = {.device = lua->device, .index = 1, .search = &search};
    struct assay_slot *slot = slot_create(&params, &error);
    fixture_assert_ok(slot != NULL, &error);
    struct script_device *handle = script_device_open(lua->device, slot, &error);
    fixture_assert_ok(handle != NULL, &error);
    lua_run_well(lua, slot_source);
    lua_run_well(lua, "mine, s = s, {} first = device");
    script_device_push(lua->script.L, handle);
    lua_setglobal(lua->script.L, "device");
    lua_run_well(lua, slot_source);
    static const char *const texts[] = {
        "\ncmd:upload(s.x)", "\ncmd:fill(s.x, 0)", "\ncmd:copy(s.x, mine.x)",
        "\ncmd:dispatch(mine.kernel, { x = mine.x, y = s.x }, { n = 1, a = 1 }, { groups = 1 })",
        "\ncmd:dispatch(s.kernel, { x = mine.x, y = mine.x }, { n = 1, a = 1 }, { groups = 1 })"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_non_null(strstr(lua_record_fails(lua, texts[i], &error),
                               " was made in another slot; each slot makes its own, in `slot`, and "
                               "keeps it in `s`"));
    script_device_close(&handle);
    assert_non_null(strstr(lua_record_fails(lua, texts[0], &error), "is of a slot that is gone"));
    /* A gone one among the members is left alone. */
    script_device_name_members(lua->script.L, (lua_getglobal(lua->script.L, "s"), -1));
    lua_pop(lua->script.L, 1);
    assert_int_equal(slot_destroy(&slot), 0);
}

static void refused(struct lua_fixture *lua, const char *source, const char *expected)
{
    struct assay_error error;
    assert_string_equal(lua_record_fails(lua, source, &error), expected);
    assert_int_equal(error.status, ASSAY_SCRIPT);
    fixture_assert_quiet(&fixture);
}

static void refusals(void **state)
{
    struct lua_fixture *lua = *state;
    lua_run_well(lua, slot_source);
    refused(lua, "\ncmd:dispatch(s.kernel, { x = s.x }, { n = 1, a = 1 }, { groups = 1 })",
            "t.lua:2: kernel 'saxpy' binds x_block and y_block; given: x");
    refused(lua, "\ncmd:dispatch(s.kernel, { x = s.x, y = s.y }, { n = 1 }, { groups = 1 })",
            "t.lua:2: kernel 'saxpy' has the push constants n and a; given: n");
    refused(lua,
            "\ncmd:dispatch(s.kernel, { x = s.x, y = s.y }, { n = 1.5, a = 1 }, { groups = 1 })",
            "t.lua:2: kernel 'saxpy': push constant 'n' is uint32: 1.5 does not fit, allowed is a "
            "whole number from 0 to 4294967295");
    refused(lua,
            "\ncmd:dispatch(s.kernel, { x = s.x, y = { s.y, offset = 4000 } }, { n = 1, a = 1 }, "
            "{ groups = 1 })",
            "t.lua:2: kernel 'saxpy': binding 'y': stage 'stage': 1 bytes from offset 4000 lie "
            "outside buffer 'y' of 4000 bytes");
    refused(lua, "\ncmd:dispatch(s.kernel, { x = s.x, y = 3 }, { n = 1, a = 1 }, { groups = 1 })",
            "t.lua:2: cmd:dispatch binding 'y': a buffer is wanted, not 3");
    refused(
        lua, "\ncmd:dispatch(s.kernel, { x = s.x, y = s.y }, { n = 'x', a = 1 }, { groups = 1 })",
        "t.lua:2: cmd:dispatch push constant: 'n' is a string; a number, true or false is wanted");
    refused(lua, "\ncmd:dispatch(s.kernel, { x = s.x, y = s.y }, { n = 1, a = 1 })",
            "t.lua:2: cmd:dispatch: its size is missing: { invocations = n } or { groups = n } as "
            "the fourth value");
    refused(lua, "\ncmd:dispatch(s.kernel, {}, {}, { group = 1 })",
            "t.lua:2: cmd:dispatch has no field 'group'; did you mean 'groups'? It has invocations "
            "and groups");
    refused(lua, "\ncmd:dispatch(s.kernel, {}, {}, { groups = { 1, 0 } })",
            "t.lua:2: cmd:dispatch groups: a whole number from 1 to 4294967295, or a list of at "
            "most three of them, is wanted, not 0");
    refused(lua, "\ncmd:dispatch(s.kernel, {}, {}, { groups = 1, invocations = 1 })",
            "t.lua:2: cmd:dispatch: give invocations or groups, not both");
    refused(lua, "\ncmd:upload(s.z)", "t.lua:2: cmd:upload: a buffer is wanted, not nil");
    refused(lua, "\ncmd.upload(s.x)",
            "t.lua:2: cmd:upload: a cmd is wanted, not a userdata; write cmd:upload(...), with a "
            "colon");
    refused(lua, "\ncmd:uplod(s.x)",
            "t.lua:2: cmd has no method 'uplod'; did you mean 'upload'? It has upload, download, "
            "copy, fill, dispatch, barrier, wait and lane");
    refused(
        lua, "\ncmd:download(s.y, { offset = 3999, bytes = 2 })",
        "t.lua:2: stage 'stage': 2 bytes from offset 3999 lie outside buffer 'y' of 4000 bytes");
    refused(lua, "\ncmd:fill(s.y, assay.fill(1, 'double'))",
            "t.lua:2: cmd:fill value: a device fill repeats 32 bits: a number, or "
            "assay.fill(value, type) with a type of at most 4 bytes, is wanted");
    refused(lua, "\ncmd:download(s.y, { bytes = 0 })",
            "t.lua:2: cmd:download bytes is 0; it must be at least 1");
    refused(lua, "\ncmd:upload(s.y, { offset = math.maxinteger, bytes = math.maxinteger })",
            "t.lua:2: stage 'stage': 9223372036854775807 bytes from offset 9223372036854775807 lie "
            "outside buffer 'y' of 4000 bytes");
    refused(lua, "\ncmd:lane(2)", "t.lua:2: cmd:lane: 0 or 1 is wanted, not 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(saxpy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(repeats, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partners, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copies_fills_and_barriers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finalizers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
    };
    return fixture_run(&fixture, tests, NULL, NULL);
}
