/* SPDX-License-Identifier: MIT */
/* Buffers, fills, kernels and the device as scripts make and see them. */
#include "lua_fixture.h"

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

static void device_is_described(void **state)
{
    struct lua_fixture *lua = *state;
    const struct assay_limits *limits = assay_device_limits(lua->device);
    struct text source = {0};
    text_addf(
        &source,
        "local l = device.limits\n"
        "assert(l.max_groups[1] == %u and l.max_group_size[3] == %u and l.max_groups[4] == nil)\n"
        "assert(l.subgroup_size == %u and l.max_shared_bytes == %u)\n"
        "assert(l.max_storage_range_bytes == %llu)\n"
        "local count = 0\n"
        "for _ in pairs(l) do count = count + 1 end\n"
        "assert(count == 14, count)\n"
        "for _, name in ipairs { 'fp16', 'fp64', 'int8', 'int16', 'int64', 'host_import',\n"
        "                        'cooperative_matrix', 'integer_dot' } do\n"
        "  local has, why = device:has(name)\n"
        "  assert(has and why == nil or not has and #why > 0)\n"
        "end\n"
        "assert(l.texel_alignment_bytes == %llu)\n"
        "local shapes = device:matrix_shapes()\n"
        "assert((#shapes > 0) == device:has 'cooperative_matrix')\n"
        "for _, s in ipairs(shapes) do\n"
        "  assert(s.m > 0 and s.n > 0 and s.k > 0 and type(s.saturating) == 'boolean')\n"
        "  for _, t in ipairs { s.a, s.b, s.c, s.r } do assay.fill(1, t) end\n"
        "end\n"
        "assert(tostring(device) == \"device '\" .. device.name .. \"'\")\n",
        limits->max_groups[0], limits->max_group_size[2], limits->subgroup_size,
        limits->max_shared_bytes, (unsigned long long)limits->max_storage_range_bytes,
        (unsigned long long)limits->texel_alignment_bytes);
    lua_run_well(lua, text_string(&source));
    text_clear(&source);
    for (int i = 0; i < ASSAY_FEATURE_COUNT; i++) {
        static const char *const names[] = {
            "fp16",       "fp64", "int8", "int16", "int64", "host_import", "cooperative_matrix",
            "integer_dot"};
        text_addf(&source, "assert(device:has '%s' == %s)\n", names[i],
                  assay_device_has(lua->device, (enum assay_feature)i, NULL) ? "true" : "false");
    }
    lua_run_well(lua, text_string(&source));
    text_free(&source);
}

/* Fills by name and type, before and after other contents were there. */
static void fills(void **state)
{
    struct lua_fixture *lua = *state;
    struct assay_error error = {0};
    static const char checks[] =
        "local f = s.float:read 'float'\n"
        "for i = 1, #f do assert(f[i] >= -2 and f[i] < 5) end\n"
        "local n = s.int:read 'int'\n"
        "local seen = {}\n"
        "for i = 1, #n do assert(n[i] >= -3 and n[i] <= 3) seen[n[i]] = true end\n"
        "for i = -3, 3 do assert(seen[i], i) end\n"
        "assert(assay.compare(s.one:read 'float', 1).right)\n"
        "assert(assay.compare(s.half:read 'half', 1.5).right)\n"
        "assert(assay.compare(s.count:read 'uint16', function(i) return 2 * i + 1 end).right)\n"
        "assert(assay.compare(s.square:read 'double', function(i) return i * i end).right)\n"
        "local p = s.chase:read 'uint'\n"
        "local at, steps = 0, 0\n"
        "repeat\n"
        "  at, steps = p[at + 1], steps + 1\n"
        "  assert(at % 16 == 0)\n"
        "until at == 0 or steps > 1000\n"
        "assert(steps == 64, steps)\n"
        "local t, twos = s.tiny:read 'fp8_e4m3', 0\n"
        "for i = 1, #t do\n"
        "  assert(t[i] >= -2 and t[i] < 2 and t[i] * 512 % 1 == 0)\n"
        "  if t[i] == -2 then twos = twos + 1 end\n"
        "end\n"
        "assert(#t == 4096 and twos > 0)\n"
        "local last = s.last\n"
        "local words, same = s.bits:read 'uint64', 0\n"
        "for i = 2, #words do if words[i] == words[i - 1] then same = same + 1 end end\n"
        "assert(same == 0)\n";
    lua_run_well(lua,
                 "s.float = device:buffer{ bytes = 4096, fill = assay.uniform(-2, 5) }\n"
                 "s.int = device:buffer{ bytes = 4096, fill = assay.uniform(-3, 3, 'int') }\n"
                 "s.one = device:buffer{ bytes = '4 KiB', fill = 1 }\n"
                 "s.half = device:buffer{ bytes = assay.KiB(4), fill = assay.fill(1.5, 'half') }\n"
                 "s.count = device:buffer{ bytes = 64, fill = assay.sequence(3, 2, 'uint16') }\n"
                 "s.tiny = device:buffer{ bytes = 4096, fill = assay.uniform(-2, 2, 'fp8_e4m3') }\n"
                 "s.square = device:buffer{ bytes = 80, fill = assay.computed(function(i)\n"
                 "  return i * i end, 'double') }\n"
                 "s.chase = device:buffer{ bytes = 4096, fill = assay.permutation(64) }\n"
                 "s.bits = device:buffer{ bytes = 800, fill = assay.random_bits() }\n"
                 "s.out = device:buffer{ bytes = 800 }\n");
    lua_run_well(lua, checks);
    struct assay_command *command = lua_record(lua, VULKAN_ROLE_COMPUTE,
                                               "for _, name in ipairs { 'float', 'int', 'one', "
                                               "'half', 'count', 'square', 'chase', 'bits' } do\n"
                                               "  cmd:fill(s[name], 0)\n"
                                               "end\n");
    lua_execute(command);
    command_destroy(&command);
    lua_run_well(lua, "assert(assay.compare(s.chase:read 'uint', 0).right)");
    fixture_assert_ok(slot_restore(lua->slot, &error), &error);
    lua_run_well(lua, checks);
    lua_run_well(lua, "assert(s.float.role == 'input' and s.out.role == 'output')\n"
                      "assert(s.float.bytes == 4096 and s.float.memory == 'device')\n");
}

/* Slots of one case have distinct inputs; the same slot has the same. */
static void slots_differ(void **state)
{
    struct lua_fixture *lua = *state;
    struct assay_error error = {0};
    float values[3][64];
    lua_run_well(lua, "s.x = device:buffer{ bytes = 256, fill = assay.uniform(0, 1) }");
    fixture_assert_ok(assay_buffer_read(lua->slot->buffers, 0, 256, values[0], &error), &error);
    for (unsigned i = 1; i < 3; i++) {
        struct slot_params params = {.device = lua->device, .case_seed = 7, .index = i - 1};
        struct assay_slot *slot = slot_create(&params, &error);
        struct script_device *handle = script_device_open(lua->device, slot, &error);
        script_device_push(lua->script.L, handle);
        lua_setglobal(lua->script.L, "other");
        lua_run_well(lua, "other:buffer{ bytes = 256, fill = assay.uniform(0, 1) }");
        fixture_assert_ok(assay_buffer_read(slot->buffers, 0, 256, values[i], &error), &error);
        script_device_close(&handle);
        assert_int_equal(slot_destroy(&slot), 0);
    }
    assert_memory_equal(values[0], values[1], 256);
    assert_memory_not_equal(values[0], values[2], 256);
}

static void names_come_late(void **state)
{
    struct lua_fixture *lua = *state;
    struct assay_error error;
    lua_run_well(lua,
                 "s.x = device:buffer{ bytes = 6 } s.y = device:buffer{ bytes = 6, name = 'why' }\n"
                 "assert(s.x.name == 'buffer')");
    lua_getglobal(lua->script.L, "s");
    script_device_name_members(lua->script.L, -1);
    lua_pop(lua->script.L, 1);
    lua_run_well(lua, "assert(s.x.name == 'x' and s.y.name == 'why')\n"
                      "assert(tostring(s.x) == \"buffer 'x' of 6 B\", tostring(s.x))");
    assert_string_equal(lua_run(lua, "\ns.x:read 'float'", &error),
                        "t.lua:2: buffer 'x': its 6 B are no whole number of float, which has 4 B");
}

static void kernels(void **state)
{
    struct lua_fixture *lua = *state;
    lua_run_well(
        lua, "local text = [[\n#version 450\nlayout(local_size_x_id = 0) in;\n"
             "layout(constant_id = 0) const uint WG = 4;\n"
             "layout(constant_id = 1) const bool ON = false;\n"
             "layout(binding = 0) buffer target { uint x[]; };\n"
             "void main() { x[gl_GlobalInvocationID.x] = ON ? BASE + uint(HALF * 2) : 0; }\n]]\n"
             "s.k = device:kernel{ text = text, constants = { WG = 8, ON = true },\n"
             "                     defines = { BASE = 40, HALF = 1.0 } }\n"
             "assert(s.k.local_size[1] == 8 and s.k.local_size[2] == 1 and s.k.name == '<text>')\n"
             "assert(tostring(s.k) == \"kernel '<text>'\")\n"
             "s.file = device:kernel{ 'copy_words.comp' }\n"
             "assert(s.file.name == 'copy_words.comp')\n"
             "A = device.limits.storage_alignment_bytes\n"
             "s.x = device:buffer{ bytes = 2 * A + 64, fill = 0 }");
    struct assay_command *command = lua_record(
        lua, VULKAN_ROLE_COMPUTE,
        "cmd:dispatch(s.k, { [0] = s.x }, nil, { groups = { 1, 1 } })\n"
        "cmd:dispatch(s.k, { x = { s.x, offset = 2 * A } }, {}, { invocations = 8 })\n");
    lua_execute(command);
    lua_run_well(lua, "for _, at in ipairs{ 0, 2 * A } do\n"
                      "  local x = s.x:read('uint', { offset = at, count = 8 })\n"
                      "  assert(assay.compare(x, 42).right)\n"
                      "end");
    command_destroy(&command);
}

static void refused(struct lua_fixture *lua, const char *source, const char *expected)
{
    struct assay_error error;
    assert_string_equal(lua_run(lua, source, &error), expected);
    assert_int_equal(error.status, ASSAY_SCRIPT);
    fixture_assert_quiet(&fixture);
}

static void mistakes_in_buffers(void **state)
{
    struct lua_fixture *lua = *state;
    refused(lua, "\ndevice:buffer{ byte = 4 }",
            "t.lua:2: device:buffer has no field 'byte'; did you mean 'bytes'? It has bytes, fill, "
            "memory, name and role");
    refused(
        lua, "\ndevice:buffer{ fill = 1 }",
        "t.lua:2: device:buffer bytes: a number or a quantity such as \"256 MiB\" is wanted, not "
        "a nil");
    refused(lua, "\ndevice:buffer{ bytes = 0 }",
            "t.lua:2: device:buffer bytes is 0; it must be at least 1");
    refused(lua, "\ndevice:buffer{ bytes = 1.5 }",
            "t.lua:2: device:buffer bytes is 1.5; a whole number of at least 1 is wanted");
    refused(lua, "\ndevice:buffer{ bytes = '1 ms' }",
            "t.lua:2: device:buffer bytes is a time, but a size is wanted");
    refused(lua, "\ndevice:buffer{ bytes = 4, memory = 'pined' }",
            "t.lua:2: device:buffer memory has no value 'pined'; did you mean 'pinned'? It has "
            "device, pinned, cached, bar, imported and pageable");
    refused(
        lua, "\ndevice:buffer{ bytes = 4, fill = 1, role = 'output' }",
        "t.lua:2: device:buffer: a buffer with a fill has the role input, not output; leave out "
        "one of both");
    refused(
        lua, "\ndevice:buffer{ bytes = 4, fill = {} }",
        "t.lua:2: device:buffer fill: a number or a fill such as assay.uniform(0, 1) is wanted, "
        "not a table");
    refused(lua, "\ndevice.buffer{ bytes = 4 }",
            "t.lua:2: device:buffer: a device is wanted, not a table; write it with a colon");
    refused(
        lua,
        "\ndevice:buffer{ bytes = 16, fill = assay.computed(function(i) return i / 2 end, "
        "'int') }",
        "t.lua:2: device:buffer fill: the function gave 0.5 for element 1, which does not fit in "
        "int");
    refused(
        lua, "\ndevice:buffer{ bytes = 1 << 25, fill = assay.computed(function(i) return i end) }",
        "t.lua:2: device:buffer fill: a function fills at most 4194304 elements, this buffer has "
        "8388608; use assay.uniform or assay.sequence");
    refused(
        lua, "\ndevice:buffer{ bytes = 60, fill = assay.permutation(64) }",
        "t.lua:2: device:buffer fill: a permutation with a stride of 64 B needs a buffer of that "
        "size at least and of less than 16 GiB; this one has 60 B");
    refused(lua, "\nreturn device:has 'fp17'",
            "t.lua:2: device:has has no feature 'fp17'; did you mean 'fp16'? It has fp16, fp64, "
            "int8, int16, int64, host_import, cooperative_matrix and integer_dot");
    refused(lua, "s.b = device:buffer{ bytes = 8, name = 'b' }\ns.b:read()",
            "t.lua:2: buffer:read: the name of a type such as \"float\" is wanted, not nil");
    refused(lua, "\ns.b:read('float', { count = 3 })",
            "t.lua:2: buffer 'b' has 8 B; 3 elements of float from offset 0 on are not all inside");
    refused(
        lua, "\ns.b:read('float', { offset = 12 })",
        "t.lua:2: buffer 'b' has 8 B; 0 elements of float from offset 12 on are not all inside");
}

/* A size that no device has is a skip: its reason has no place in the script. */
static void too_large_is_a_skip(void **state)
{
    struct lua_fixture *lua = *state;
    struct assay_error error;
    lua_run(lua, "\ndevice:buffer{ bytes = 1 << 60, name = 'huge' }", &error);
    assert_int_equal(error.status, ASSAY_UNSUPPORTED);
    assert_memory_equal(error.text, "buffer 'huge': 1 EiB", strlen("buffer 'huge': 1"));
    lua_run_well(lua, "assert(not pcall(device.buffer, device, { bytes = 1 << 60 }))");
    lua_run(lua, "\npcall(device.buffer, device, { bytes = 1 << 60 })\nerror('other')", &error);
    assert_string_equal(error.text, "t.lua:3: other");
    assert_int_equal(error.status, ASSAY_SCRIPT);
}

static void mistakes_in_kernels(void **state)
{
    struct lua_fixture *lua = *state;
    refused(lua, "\ndevice:kernel{}",
            "t.lua:2: device:kernel: a file (device:kernel{ "
            "\"saxpy.comp\" }) or a `text` is wanted, and there is neither");
    refused(
        lua, "\ndevice:kernel{ 'a.comp', text = 'b' }",
        "t.lua:2: device:kernel: a file (device:kernel{ \"saxpy.comp\" }) or a `text` is wanted, "
        "not both");
    refused(lua, "\ndevice:kernel{ text = '#version 450\\nvoid main() { x(); }' }",
            "t.lua:2: <text>:2: 'x' : no matching overloaded function found");
    refused(
        lua, "\ndevice:kernel{ 'copy_words.comp', constants = { NOPE = 1 } }",
        "t.lua:2: kernel 'copy_words.comp': there is no specialisation constant 'NOPE'; there is "
        "WORKGROUP and WORDS_PER_INVOCATION");
    refused(lua, "\ndevice:kernel{ 'copy_words.comp', constants = 3 }",
            "t.lua:2: device:kernel constants: a table such as { WORKGROUP = 64 } is wanted, not a "
            "number");
    refused(lua, "\ndevice:kernel{ 'copy_words.comp', constant = {} }",
            "t.lua:2: device:kernel has no field 'constant'; did you mean 'constants'? It has [1], "
            "text, name, constants and defines");
    refused(
        lua, "\ndevice:kernel{ 'copy_words.comp', 3 }",
        "t.lua:2: device:kernel has no field '[2]'; did you mean '[1]'? It has [1], text, name, "
        "constants and defines");
    refused(lua, "\ndevice:kernel{ '../copy_words.comp' }",
            "t.lua:2: kernel file '../copy_words.comp' leads out of the search path; name a file "
            "beside the script, below it or in shaders/");
}

/* Of `supported`, where there is no slot. */
static void without_a_slot(void **state)
{
    struct lua_fixture *lua = *state;
    struct assay_error error = {0};
    struct script_device *handle = script_device_open(lua->device, NULL, &error);
    fixture_assert_ok(handle != NULL, &error);
    script_device_push(lua->script.L, handle);
    lua_setglobal(lua->script.L, "device");
    lua_run_well(lua, "assert(device.limits.subgroup_size >= 1 and #device.name > 0)");
    refused(lua, "\ndevice:buffer{ bytes = 4 }",
            "t.lua:2: device:buffer: there are no buffers and kernels here; make them in `slot`");
    script_device_close(&handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(device_is_described, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fills, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slots_differ, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_come_late, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_in_buffers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_large_is_a_skip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_in_kernels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_slot, set_up, tear_down),
    };
    return fixture_run(&fixture, tests, NULL, NULL);
}
