/* SPDX-License-Identifier: MIT */
/* scripts/meta/assay.lua names exactly what devices, buffers, kernels, commands, views and
 * comparisons have. */
#include "stub_fields.h"

#include "script/device.h"
#include "vulkan/device.h"
#include "vulkan/recording.h"
#include "vulkan/slot.h"

static struct script script;
static struct script_device *handle;
static struct text stub;

static int set_up(void **state)
{
    static struct assay_device device; /* limits, all 0 */
    static struct assay_slot slot;
    static struct assay_command command = {.slot = &slot};
    struct assay_error error = {0};
    (void)state;
    script = (struct script){.params = {.path = "t.lua"}, .arena = arena_create()};
    handle = script_device_open(&device, &slot, &error);
    if (!script.arena || !handle || !state_create(&script, &error))
        return -1;
    lua_State *L = script.L;
    script_device_push(L, handle);
    lua_setglobal(L, "device");
    script_object_push(L, SCRIPT_BUFFER, handle, NULL);
    lua_setglobal(L, "buffer");
    script_object_push(L, SCRIPT_KERNEL, handle, NULL);
    lua_setglobal(L, "kernel");
    script_command_push(L, &command);
    lua_setglobal(L, "cmd");
    script_view_allocate(L, script_view_new(L, "v", ASSAY_ELEMENT_FLOAT), 0);
    lua_setglobal(L, "view");
    read_stub(&stub);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    script_device_close(&handle);
    state_destroy(&script);
    arena_destroy(&script.arena);
    text_free(&stub);
    return 0;
}

static const char *error_of(const char *source, struct assay_error *error)
{
    struct text text = {0};
    *error = (struct assay_error){0};
    text_addf(&text, "local assay = require 'assay'\n%s", source);
    assert_true(state_load(script.L, "t.lua", &text, error));
    state_call(&script, 0, NULL, error);
    text_free(&text);
    return error->text;
}

static void same(const char *source, const char *what, const char *class)
{
    struct assay_error error;
    struct text wanted = {0};
    text_addf(&wanted, "t.lua:2: %s 'zzz'; it has ", what);
    fields_of(text_string(&stub), class, &wanted);
    assert_string_equal(error_of(source, &error), text_string(&wanted));
    text_free(&wanted);
}

static void members(void **state)
{
    (void)state;
    same("return device.zzz", "a device has no member", "assay.SlotDevice");
    same("return buffer.zzz", "a buffer has no member", "assay.Buffer");
    same("return kernel.zzz", "a kernel has no member", "assay.Kernel");
    same("return cmd.zzz", "cmd has no method", "assay.Command");
    same("return view.zzz", "a view has no member", "assay.View");
    same("return assay.compare(view, 1).zzz", "a comparison has no member", "assay.Comparison");
}

static void definitions(void **state)
{
    (void)state;
    same("device:buffer{ zzz = 1 }", "device:buffer has no field", "assay.BufferDefinition");
    same("device:kernel{ zzz = 1 }", "device:kernel has no field", "assay.KernelDefinition");
    same("cmd:upload(buffer, { zzz = 1 })", "cmd:upload has no field", "assay.Range");
    same("cmd:dispatch(kernel, { x = { zzz = 1 } })", "cmd:dispatch binding 'x' has no field",
         "assay.Binding");
    same("assay.compare(view, 1, { zzz = 1 })", "assay.compare has no field", "assay.Closeness");
}

/* "a, b and c" of the texts of an alias. */
static void alias_of(const char *name, struct text *list)
{
    static char words[32][24];
    const char *names[32];
    size_t count = 0;
    char start[64];
    snprintf(start, sizeof(start), "---@alias %s \"", name);
    const char *at = strstr(text_string(&stub), start);
    assert_non_null(at);
    for (const char *end = strchr(at, '\n'); (at = strchr(at, '"')) && at < end; count++) {
        const char *close = strchr(++at, '"');
        assert_true(count < 32 && (size_t)(close - at) < sizeof(words[0]));
        snprintf(words[count], sizeof(words[0]), "%.*s", (int)(close - at), at);
        names[count] = words[count];
        at = close + 1;
    }
    text_add_list(list, names, count);
}

static void same_alias(const char *source, const char *what, const char *name)
{
    struct assay_error error;
    struct text wanted = {0};
    text_addf(&wanted, "t.lua:2: %s 'zzz'; it has ", what);
    alias_of(name, &wanted);
    assert_string_equal(error_of(source, &error), text_string(&wanted));
    text_free(&wanted);
}

static void aliases(void **state)
{
    (void)state;
    same_alias("return device:has 'zzz'", "device:has has no feature", "assay.Feature");
    same_alias("assay.fill(1, 'zzz')", "assay.fill has no type", "assay.Type");
}

static void limits(void **state)
{
    struct assay_error error;
    struct text given = {0}, source = {0};
    (void)state;
    fields_of(text_string(&stub), "assay.Limits", &given);
    text_addf(&source,
              "local names, stub = {}, ('%s'):gsub(' and ', ', ') .. ', '\n"
              "local count = 0\n"
              "for name in stub:gmatch '([%%w_]+), ' do\n"
              "  assert(device.limits[name], name)\n"
              "  count = count + 1\n"
              "end\n"
              "for _ in pairs(device.limits) do count = count - 1 end\n"
              "assert(count == 0)\n",
              text_string(&given));
    assert_string_equal(error_of(text_string(&source), &error), "");
    text_free(&given);
    text_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(definitions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(aliases, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
