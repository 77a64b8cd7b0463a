/* SPDX-License-Identifier: MIT */
/* Planning: what scripts mean, what they may not do, and what is said about mistakes. */
#include "script_fixture.h"

#include <sys/wait.h>

static void expect_error(struct fixture *fixture, const char *fields, const char *wanted)
{
    assert_string_equal(load_experiment(fixture, fields), wanted);
    assert_int_equal(fixture->error.status, ASSAY_SCRIPT);
    assert_null(fixture->script);
}

static void expect_source_error(struct fixture *fixture, const char *source, const char *wanted)
{
    assert_string_equal(load(fixture, source), wanted);
    assert_int_equal(fixture->error.status, ASSAY_SCRIPT);
}

/* The labels of all cases, one a line. */
static void expect_cases(struct fixture *fixture, const char *fields, const char *wanted)
{
    struct text text = {0};
    assert_string_equal(load_experiment(fixture, fields), "");
    const struct plan *plan = script_plan(fixture->script);
    for (size_t i = 0; i < plan->case_count; i++) {
        plan_case_label(plan, &plan->cases[i], false, &text);
        text_add_char(&text, '\n');
    }
    assert_string_equal(text_string(&text), wanted);
    text_free(&text);
}

static void axes_multiply_in_declared_order(void **state)
{
    expect_cases(*state,
                 "workload = 'copy', fixed = { direction = 'upload' }, vary = { bytes = "
                 "assay.powers_of_two('4 KiB', '16 KiB'), host_memory = { 'pageable', 'pinned' } }",
                 "copy direction=upload host_memory=pageable bytes=4KiB\n"
                 "copy direction=upload host_memory=pageable bytes=8KiB\n"
                 "copy direction=upload host_memory=pageable bytes=16KiB\n"
                 "copy direction=upload host_memory=pinned bytes=4KiB\n"
                 "copy direction=upload host_memory=pinned bytes=8KiB\n"
                 "copy direction=upload host_memory=pinned bytes=16KiB\n");
    const struct plan *plan = script_plan(((struct fixture *)*state)->script);
    assert_string_equal(plan->experiments[0].varied[0], "host_memory");
    assert_string_equal(plan->experiments[0].varied[1], "bytes");
    assert_null(plan->experiments[0].varied[2]);
    assert_int_equal(plan->experiments[0].line, 2);
    assert_string_equal(plan->experiments[0].script, "t.lua");
}

static void other_axes_come_first(void **state)
{
    expect_cases(*state,
                 "workload = { 'copy', 'null' }, device = { 'cpu', 'gpu' }, replica = 2, where = "
                 "function(p) return p.device == 'cpu' or p.workload == 'null' end",
                 "copy device=cpu replica=0\ncopy device=cpu replica=1\n"
                 "null device=cpu replica=0\nnull device=cpu replica=1\n"
                 "null device=gpu replica=0\nnull device=gpu replica=1\n");
}

static void schedules_are_an_axis(void **state)
{
    expect_cases(*state,
                 "workload = 'copy', replica = 2, schedule = { 'serial', assay.serial{ queues = "
                 "'one' } }, where = function(p) return p.schedule.queues == 'one' or p.replica == "
                 "1 end",
                 "copy schedule=serial replica=1\n"
                 "copy schedule=serial queues=one replica=0\n"
                 "copy schedule=serial queues=one replica=1\n");
    const struct plan *plan = script_plan(((struct fixture *)*state)->script);
    assert_string_equal(plan->experiments[0].varied[0], "schedule");
    /* One that is said once is not in the way. */
    expect_cases(*state, "workload = 'copy', schedule = assay.serial{ queues = 'one' }", "copy\n");
    plan = script_plan(((struct fixture *)*state)->script);
    assert_int_equal(plan_case_schedule(&plan->cases[0])->queues, SCHEDULE_QUEUES_ONE);
    /* `queues` of the experiment is for those that do not say. */
    expect_cases(*state,
                 "workload = 'copy', queues = 'one', schedule = { assay.serial(), assay.serial{ "
                 "queues = 'auto' } }",
                 "copy schedule=serial queues=one\ncopy schedule=serial queues=auto\n");
}

static void wrong_schedules(void **state)
{
    struct fixture *fixture = *state;
    expect_error(fixture, "workload = 'copy', schedule = 7",
                 "t.lua:2: schedule: one such as assay.serial() is wanted, not a number");
    expect_error(fixture, "workload = 'copy', schedule = {}",
                 "t.lua:2: schedule: the axis has no values; give at least one");
    expect_error(fixture, "workload = 'copy', schedule = { 'serial', assay.serial() }",
                 "t.lua:2: the case 'copy schedule=serial' is there twice; remove the repeated "
                 "value, or vary 'replica' to repeat a case");
    expect_error(fixture, "workload = 'copy', schedule = assay.serial(2)",
                 "t.lua:2: assay.serial: a table of fields is wanted, not a number");
    expect_error(fixture, "workload = 'copy', schedule = assay.serial{ 2 }",
                 "t.lua:2: assay.serial: [1] is no name of a field");
    expect_error(
        fixture, "workload = 'copy', schedule = assay.serial{ queue = 'one' }",
        "t.lua:2: 'serial' has no parameter 'queue'; did you mean 'queues'? It has queues");
    expect_error(fixture, "workload = 'copy', schedule = assay.serial{ queues = 'devices' }",
                 "t.lua:2: assay.serial: queues: 'devices' is none of auto, one and dedicated");
    expect_error(fixture, "workload = 'copy', where = function(p) return p.schedule.depth end",
                 "t.lua:2: 'serial' has no parameter 'depth'; it has queues");
    expect_source_error(fixture,
                        "local assay = require 'assay'\nlocal s = assay.serial()\ns.queues = 'one'",
                        "t.lua:3: a schedule cannot be changed; make another one");
}

static void whole_assignments_do_not_multiply(void **state)
{
    expect_cases(
        *state,
        "workload = 'copy', fixed = { direction = 'device' }, vary = { { bytes = 1, "
        "host_memory = 'pinned' }, { bytes = 2 }, { bytes = function(p) return 3 * p.scale "
        "end, scale = 4 } }",
        "copy direction=device host_memory=pinned bytes=1B\n"
        "copy direction=device bytes=2B\n"
        "copy direction=device bytes=12B scale=4\n");
}

static void values_may_be_functions_of_the_point(void **state)
{
    expect_cases(
        *state,
        "workload = 'copy', fixed = { scale = function(p) return p.bytes / 2 end, label = "
        "function(p) return p.direction .. p.host_memory end }, vary = { bytes = { 1, 2, 3 "
        "} }, where = function(p) return p.scale ~= 1 end",
        "copy bytes=1B scale=0.5 label=uploadpinned\n"
        "copy bytes=3B scale=1.5 label=uploadpinned\n");
}

static void kinds_of_values(void **state)
{
    expect_cases(*state,
                 "workload = 'copy', vary = { bytes = { 64, '64 kB', assay.KiB(64), assay.MiB(1) / "
                 "2, assay.quantity('1 GB') + '1 B' }, checked = false }",
                 "copy bytes=64B checked=false\ncopy bytes=64kB checked=false\n"
                 "copy bytes=64KiB checked=false\ncopy bytes=512KiB checked=false\n"
                 "copy bytes=1000000001B checked=false\n");
}

static void sets_override(void **state)
{
    struct fixture *fixture = *state;
    fixture->params.sets = (const char *const[]){"bytes=1MiB", "label=a b", NULL};
    expect_cases(fixture,
                 "workload = 'copy', vary = { bytes = { 1, 2 }, checked = { true, false } }",
                 "copy bytes=1MiB checked=true label=a b\n"
                 "copy bytes=1MiB checked=false label=a b\n");
    assert_null(script_plan(fixture->script)->experiments[0].varied[1]);
    expect_cases(fixture, "workload = 'copy', vary = { { bytes = 1 }, { bytes = 2 } }",
                 "copy bytes=1MiB label=a b\n");
    fixture->params.sets = (const char *const[]){"bytes=2 GB/s", NULL};
    assert_string_equal(
        load_experiment(fixture, "workload = 'copy'"),
        "--set bytes=2 GB/s: bytes: 2 GB/s is a rate (bytes per second), but a size "
        "is wanted");
    assert_int_equal(fixture->error.status, ASSAY_INVALID);
    fixture->params.sets = (const char *const[]){"byts=1", NULL};
    assert_string_equal(load_experiment(fixture, "workload = 'null'"),
                        "--set byts=1: no experiment's workload has a parameter 'byts'; they have "
                        "count");
    fixture->params.sets = (const char *const[]){"cuont=1", NULL};
    assert_string_equal(load_experiment(fixture, "workload = 'null'"),
                        "--set cuont=1: no experiment's workload has a parameter 'cuont'; did you "
                        "mean 'count'? They have count");
    fixture->params.sets = (const char *const[]){"bytes", NULL};
    assert_string_equal(load_experiment(fixture, "workload = 'copy'"),
                        "--set bytes: NAME=VALUE is wanted");
}

static void device_of_the_command_line_wins(void **state)
{
    struct fixture *fixture = *state;
    fixture->params.device = "gpu";
    expect_cases(fixture, "workload = 'copy', device = { 'a', 'b' }, fixed = { bytes = 1 }",
                 "copy bytes=1B\n");
    assert_string_equal(script_plan(fixture->script)->device, "gpu");
}

static void options_of_the_script(void **state)
{
    struct fixture *fixture = *state;
    struct text text = {0};
    const char *fields = "workload = 'copy', fixed = { bytes = assay.option('size', '64 MiB', 'how "
                         "much'), checked = assay.option('checked', true), scale = "
                         "assay.option('scale', 2) }";
    expect_cases(fixture, fields, "copy bytes=64MiB scale=2 checked=true\n");
    fixture->params.options = (const char *const[]){"size=1MiB", "checked=false", "scale=3", NULL};
    expect_cases(fixture, fields, "copy bytes=1MiB scale=3 checked=false\n");
    json_t *record = script_record(fixture->script);
    assert_true(json_add_line(&text, json_object_get(record, "options"), true, &fixture->error));
    assert_string_equal(text_string(&text), "{\"checked\":false,\"scale\":3,\"size\":\"1MiB\"}");
    assert_string_equal(json_text(record, "path", ""), "t.lua");
    assert_int_equal(strlen(json_text(record, "hash", "")), 32);
    json_decref(record);
    text_free(&text);
    fixture->params.options = (const char *const[]){"siez=1MiB", NULL};
    assert_string_equal(load_experiment(fixture, fields),
                        "--option siez=1MiB: the script declares no option 'siez'; did you mean "
                        "'size'? It declares size, checked and scale");
    assert_int_equal(fixture->error.status, ASSAY_INVALID);
    fixture->params.options = (const char *const[]){"size=3s", NULL};
    expect_error(fixture, fields, "t.lua:2: --option size=3s is a time, but the default is a size");
}

static uint32_t groups_of(struct fixture *fixture, const char *fields)
{
    assert_string_equal(load_experiment(fixture, fields), "");
    return (uint32_t)script_plan(fixture->script)->group_count;
}

static void pairs_name_an_axis(void **state)
{
    struct fixture *fixture = *state;
    static const char *const sets[] = {"direction=upload", NULL};
    assert_int_equal(groups_of(fixture, "workload = 'copy', pair = 'direction', vary = { "
                                        "direction = {'upload', 'download'}, bytes = {1, 2} }"),
                     2);
    assert_int_equal(
        groups_of(fixture,
                  "workload = 'copy', pair = 'replica', replica = 3, vary = {bytes={1,2}}"),
        2);
    assert_int_equal(groups_of(fixture, "workload = {'copy', 'null'}, pair = 'workload'"), 1);
    assert_int_equal(
        groups_of(fixture, "workload = 'copy', pair = 'device', device = {'cpu', 'gpu'}"), 1);
    assert_int_equal(groups_of(fixture, "workload = 'copy', pair = 'bytes', vary = { "
                                        "{ bytes = 1, scale = 1 }, { bytes = 2, scale = 1 }, "
                                        "{ bytes = 3, scale = 2 } }"),
                     2);
    expect_error(fixture, "workload = 'copy', pair = 'byte', vary = { bytes = {1, 2} }",
                 "t.lua:2: pair: the experiment has no axis 'byte'; did you mean 'bytes'? It has "
                 "bytes");
    expect_error(fixture, "workload = 'copy', pair = 'bytes', fixed = { bytes = 1 }",
                 "t.lua:2: pair: the experiment varies nothing; 'bytes' has to be an axis");
    expect_error(fixture, "workload = 'copy', pair = { 'bytes' }",
                 "t.lua:2: pair: the name of an axis is wanted, not a table");
    /* --set leaves one value: no pair, but no mistake of the script's either. */
    fixture->params.sets = sets;
    assert_int_equal(groups_of(fixture, "workload = 'copy', pair = 'direction', vary = { "
                                        "direction = {'upload', 'download'}, bytes = {1, 2} }"),
                     2);
}

static void mistakes_in_experiments(void **state)
{
    struct fixture *fixture = *state;
    expect_error(fixture, "workload = 'cpoy'",
                 "t.lua:2: there is no workload 'cpoy'; did you mean 'copy'? There are copy and "
                 "null");
    expect_error(fixture, "workload = 'copy', fixed = { byts = 1 }",
                 "t.lua:2: 'copy' has no parameter 'byts'; did you mean 'bytes'? It has direction, "
                 "host_memory, bytes, scale, checked and label");
    expect_error(fixture, "workload = 'copy', fixed = { bytes = '1 MIB' }",
                 "t.lua:2: bytes: 'MIB' is no unit; did you mean 'MiB'?");
    expect_error(fixture, "workload = 'copy', vary = { bytes = { '2 GB/s' } }",
                 "t.lua:2: bytes: 2 GB/s is a rate (bytes per second), but a size is wanted");
    expect_error(fixture, "workload = 'copy', fixed = { bytes = 0 }",
                 "t.lua:2: bytes: 0 B is out of range, allowed are 1 B to 1 TiB");
    expect_error(fixture, "workload = 'copy', fixed = { direction = 'sideways' }",
                 "t.lua:2: direction: 'sideways' is none of upload, download, device and both");
    expect_error(fixture, "workload = 'copy', vary = { bytes = {} }",
                 "t.lua:2: bytes: the axis has no values; give at least one");
    expect_error(fixture, "workload = 'copy', vary = { bytes = { x = 1 } }",
                 "t.lua:2: bytes: a list of values is wanted, but it has the member [x]");
    expect_error(fixture, "workload = 'copy', fixed = { bytes = { 1 } }",
                 "t.lua:2: fixed.bytes is a list; several values belong into vary");
    expect_error(fixture, "workload = 'copy', fixed = { bytes = 1 }, vary = { bytes = { 2 } }",
                 "t.lua:2: bytes is in both fixed and vary; it can be in one of them");
    expect_error(fixture, "workload = 'copy', vary = { bytes = { 1, '1 B' } }",
                 "t.lua:2: the case 'copy bytes=1B' is there twice; remove the repeated value, or "
                 "vary 'replica' to repeat a case");
    expect_error(fixture, "workload = 'copy', where = function(p) return false end",
                 "t.lua:2: the experiment 'e' has no cases: 'where' drops all of them");
    expect_error(fixture, "workload = 'copy', where = function(p) return p.byts end",
                 "t.lua:2: 'copy' has no parameter 'byts'; did you mean 'bytes'? It has direction, "
                 "host_memory, bytes, scale, checked and label");
    expect_error(fixture, "workload = 'copy', chek = 1",
                 "t.lua:2: an experiment has no field 'chek'; did you mean 'check'? It has name, "
                 "workload, fixed, vary, where, check, summary, device, replica, schedule, target, "
                 "budget, min_samples, max_samples, deadline, queues, peaks and pair");
    expect_error(fixture, "workload = 'copy', queues = 'two'",
                 "t.lua:2: queues: 'two' is none of auto, one and dedicated");
    expect_error(fixture, "workload = 'copy', check = 1",
                 "t.lua:2: check: a function is wanted, not a number");
    expect_error(fixture, "workload = 'copy', schedule = 'open'",
                 "t.lua:2: schedule: there is no schedule 'open'; there are serial, pipelined, "
                 "open_loop, closed_loop and sustained");
    expect_error(fixture, "fixed = {}",
                 "t.lua:2: the experiment has no workload; add workload = \"...\"");
    expect_error(fixture, "workload = 'copy', budget = '5 MB'",
                 "t.lua:2: budget: a time such as \"500 ms\" is wanted, not a size");
    expect_error(fixture, "workload = 'copy', min_samples = 3",
                 "t.lua:2: min_samples: a whole number from 6 to 1000000 is wanted");
    expect_error(fixture, "workload = 'copy', fixed = { scale = assay.powers_of_two(8, 4) }",
                 "t.lua:2: assay.powers_of_two: no value lies between 8 and 4");
    expect_error(fixture, "workload = 'copy', fixed = { bytes = assay.MiB(1) + assay.s(1) }",
                 "t.lua:2: adding a size and a time is not possible");
    expect_error(
        fixture, "workload = 'copy', schedule = assay.pipelind{ depth = 2 }",
        "t.lua:2: assay has no member 'pipelind'; did you mean 'pipelined'? It has B, FLOP, GB, "
        "GFLOP, GHz, GiB, Hz, KiB, MB, MFLOP, MHz, MiB, TB, TFLOP, TiB, W, closed_loop, compare, "
        "computed, "
        "degC, "
        "experiment, explore, f16, f32, fill, kB, kHz, model, ms, ns, open_loop, option, peaks, "
        "permutation, "
        "pipelined, powers_of_two, quantity, random_bits, range, s, search, sequence, serial, "
        "sustained, uniform, us, "
        "version and workload");
    expect_error(fixture, "workload = 'copy', schedule = assay.pipelined{ depth = 0 }",
                 "t.lua:2: assay.pipelined: depth: 0 is out of range, allowed are 1 to 1024");
}

static void mistakes_in_scripts(void **state)
{
    struct fixture *fixture = *state;
    expect_source_error(fixture, "",
                        "t.lua:1: the script is empty; it has to call assay.experiment { ... }");
    expect_source_error(fixture, " \n\t\n",
                        "t.lua:1: the script is empty; it has to call assay.experiment { ... }");
    expect_source_error(
        fixture, "local x = 1\n",
        "t.lua: the script defines no experiment; it has to call assay.experiment { "
        "name = ..., workload = ... }");
    expect_source_error(fixture, "local x = {\n  1, 2\nlocal y\n",
                        "t.lua:3: '}' expected (to close '{' at line 1) near 'local'");
    expect_source_error(fixture, "\x1bLua",
                        "t.lua:1: attempt to load a binary chunk (mode is 't')");
    expect_source_error(fixture, "\nlocal t\nprint(t.x)\n",
                        "t.lua:3: attempt to index a nil value (local 't')");
    expect_source_error(fixture, "\nprin('x')\n",
                        "t.lua:2: there is no global 'prin'; did you mean 'print'?");
    expect_source_error(fixture, "\nassay.experiment {}\n",
                        "t.lua:2: there is no global 'assay'; start with: local assay = require "
                        "\"assay\"");
    expect_source_error(fixture, "error({})\n", "t.lua:1: the error value is a table, not a text");
    expect_source_error(fixture, "error('plain', 0)\n", "t.lua:1: plain");
    expect_source_error(fixture, "\nstring.rep()\n",
                        "t.lua:2: bad argument #1 to 'rep' (string expected, got no value)");
    expect_source_error(fixture,
                        "local assay = require 'assay'\npcall(assay.experiment, { name = 'e' })\n",
                        "t.lua: an assay.experiment failed, and the script hid the error by pcall");
    fixture->params.path = "absent.lua";
    assert_string_equal(load(fixture, ""), "cannot read absent.lua: No such file or directory");
    assert_int_equal(fixture->error.status, ASSAY_INVALID);
}

static void long_paths_are_whole(void **state)
{
    struct fixture *fixture = *state;
    const char *path =
        "a_directory_with_a_long_name/and_another_directory_below_it/a_long_name.lua";
    assert_true(os_make_directories("a_directory_with_a_long_name/and_another_directory_below_it",
                                    &fixture->error));
    write_file(path, "local t\nprint(t.x)\n");
    fixture->params.path = path;
    assert_null(script_load(&fixture->params, &fixture->error));
    assert_string_equal(
        fixture->error.text,
        "a_directory_with_a_long_name/and_another_directory_below_it/a_long_name.lua"
        ":2: attempt to index a nil value (local 't')");
    fixture->error = (struct assay_error){0};
    write_file(path, "local t =\n");
    assert_null(script_load(&fixture->params, &fixture->error));
    assert_string_equal(
        fixture->error.text,
        "a_directory_with_a_long_name/and_another_directory_below_it/a_long_name.lua"
        ":2: unexpected symbol near <eof>");
}

static void endless_scripts_end(void **state)
{
    struct fixture *fixture = *state;
    static const char *const sources[] = {
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local function f() pcall(f) end while true do pcall(f) end",
        "while true do local c = coroutine.wrap(function() while true do end end) pcall(c) end",
    };
    fixture->params.deadline_ns = 100000000;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        expect_source_error(fixture, sources[i],
                            "t.lua:1: the script did not end within 100 ms; is there an endless "
                            "loop?");
}

/* No hook runs there: the process ends with a message and status 2. */
static void ends_the_process(struct fixture *fixture, const char *source)
{
    struct text said = {0};
    struct assay_error error = {0};
    fixture->params.deadline_ns = 50000000;
    write_file("t.lua", source);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("said", "w", stderr))
            _exit(9);
        fixture->script = script_load(&fixture->params, &error);
        script_destroy(&fixture->script);
        _exit(8);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
    assert_true(os_file_read("said", 4096, &said, &error));
    assert_string_equal(text_string(&said),
                        "assay: t.lua: the script did not end within 50 ms and could not be "
                        "interrupted; is there a pattern or a size that never ends?\n");
    text_free(&said);
}

static void what_cannot_be_interrupted_ends_the_process(void **state)
{
    struct fixture *fixture = *state;
    ends_the_process(fixture, "string.find(string.rep('a', 1000), string.rep('a-', 40) .. 'b')");
    ends_the_process(fixture, "local function loop() while true do end end xpcall(loop, loop)");
    ends_the_process(fixture, "x = setmetatable({}, { __gc = function() while true do end end })");
}

static void memory_is_limited(void **state)
{
    struct fixture *fixture = *state;
    fixture->params.memory_bytes = (size_t)8 << 20;
    expect_source_error(fixture, "local t = {}\nwhile true do t[#t + 1] = {} end",
                        "t.lua:2: the script needs more memory than its limit of 8 MiB");
    expect_source_error(fixture, "local s = string.rep('x', 1 << 30)",
                        "t.lua: the script needs more memory than its limit of 8 MiB");
    assert_string_equal(load(fixture,
                             "local assay = require 'assay'\n"
                             "for i = 1, 10000 do local t = string.rep('x', 10000 + i) end\n"
                             "assay.experiment { name = 'e', workload = 'null' }\n"),
                        "");
}

static void sandbox_is_closed(void **state)
{
    struct fixture *fixture = *state;
    write_file("helper.lua", "return { name = ... , x = 7 }\n");
    write_file("loop.lua", "return require 'loop'\n");
    write_file("bad.lua", "\nreturn 1 +\n");
    write_file("late.lua", "return function(assay) assay.experiment { name = 'x', workload = 'y' } "
                           "end\n");
    assert_string_equal(
        load(fixture,
             "local assay = require 'assay'\n"
             "for _, name in ipairs { 'os', 'io', 'debug', 'package', 'dofile', 'loadfile' } do\n"
             "  assert(rawget(_G, name) == nil, name)\n"
             "end\n"
             "assert(string.dump == nil)\n"
             "assert(load('return 1 + 1')() == 2)\n"
             "local f, why = load('\\27Lua', 'x', 'b')\n"
             "assert(f == nil and why:find('binary'))\n"
             "local parts = { 'return ', '5' }\n"
             "assert(load(function() return table.remove(parts, 1) end)() == 5)\n"
             "assert(load('return y', 'c', 't', { y = 3 })() == 3)\n"
             "assert(require('helper').x == 7 and require('helper').name == 'helper')\n"
             "assert(require('helper') == require('helper'))\n"
             "for _, name in ipairs { '../helper', '/etc/passwd', '', '.', 'a..b', 'helper.lua/x', "
             "'a/b' } do\n"
             "  local good, why = pcall(require, name)\n"
             "  assert(not good and why:find('a module is named by words', 1, true), why)\n"
             "end\n"
             "x = 1\n"
             "assert(x == 1)\n"
             "assert(not pcall(function() assay.version = 'mine' end))\n"
             "assay.experiment { name = 'e', workload = 'null' }\n"),
        "");
    json_t *record = script_record(fixture->script);
    assert_int_equal(json_array_size(json_object_get(record, "modules")), 1);
    assert_string_equal(
        json_text(json_array_get(json_object_get(record, "modules"), 0), "path", ""), "helper.lua");
    json_decref(record);
    expect_source_error(fixture, "\nrequire 'nothing'\n",
                        "t.lua:2: require 'nothing': there is no file nothing.lua");
    expect_source_error(
        fixture, "require 'loop'\n",
        "loop.lua:1: require 'loop': the module requires itself, directly or through "
        "another, or it failed when it ran before");
    expect_source_error(fixture, "require 'bad'\n", "bad.lua:3: unexpected symbol near <eof>");
    expect_source_error(fixture, "require 'late' (require 'assay')\n",
                        "late.lua:1: there is no workload 'y'; there are copy and null");
    fixture->params.trust = true;
    assert_string_equal(load(fixture,
                             "local assay = require 'assay'\nassert(os.time() and io.write)\n"
                             "assay.experiment { name = 'e', workload = 'null' }\n"),
                        "");
}

/* Each of these once reached memory that was not the script's to reach. */
static void nothing_outlives_its_owner(void **state)
{
    struct fixture *fixture = *state;
    assert_string_equal(
        load(fixture, "local assay = require 'assay'\n"
                      "local good, why = pcall(pairs(assay), 5)\n"
                      "assert(not good and why:find('table expected', 1, true), why)\n"
                      "assert(getmetatable(_G) == 'globals' and not pcall(setmetatable, _G, nil))\n"
                      "assert(getmetatable(assay.MiB(1)) == 'assay.quantity')\n"
                      "local devices = { 'cpu' .. 1 }\n"
                      "assay.experiment { name = 'e', workload = 'copy', device = devices,\n"
                      "  where = function(p)\n"
                      "    devices[1] = nil\n"
                      "    collectgarbage()\n"
                      "    for i = 1, 500 do devices[3] = 'oth' .. i end\n"
                      "    return true\n"
                      "  end }\n"),
        "");
    assert_string_equal(script_plan(fixture->script)->cases[0].device, "cpu1");
    expect_source_error(fixture,
                        "local assay, point = require 'assay', nil\n"
                        "local late = setmetatable({}, { __gc = function()\n"
                        "  local good, why = pcall(function() return point.bytes end)\n"
                        "  assert(not good and why:find('this point is gone', 1, true))\n"
                        "end })\n"
                        "pcall(assay.experiment, { name = 'e', workload = 'copy', late = nil,\n"
                        "  where = function(p) point = p error('no') end })\n"
                        "local good, why = pcall(function() return point.bytes end)\n"
                        "error(good and 'still there' or 'gone', 0)\n",
                        "t.lua:9: still there");
}

static void trust_has_its_end(void **state)
{
    struct fixture *fixture = *state;
    fixture->params.trust = true;
    expect_source_error(fixture, "os.exit(0)\n",
                        "t.lua:1: attempt to call a nil value (field 'exit')");
    expect_source_error(fixture, "local l = os.setlocale\nl('')\n",
                        "t.lua:2: attempt to call a nil value (local 'l')");
}

/* An error's text that only looks like a place gets one. */
static void texts_get_a_place(void **state)
{
    expect_source_error(*state, "\nerror('t.lua: is wrong', 0)\n", "t.lua:2: t.lua: is wrong");
    expect_source_error(*state, "\nerror('t.lua:7: is wrong', 0)\n", "t.lua:7: is wrong");
}

static void quantities_compute(void **state)
{
    struct fixture *fixture = *state;
    assert_string_equal(
        load(fixture,
             "local assay = require 'assay'\n"
             "local MiB, ms = assay.MiB, assay.ms\n"
             "assert(MiB(256) == assay.quantity '256 MiB')\n"
             "assert(MiB(1) > assay.MB(1) and assay.B(1) <= '1 B')\n"
             "assert(MiB(2) / MiB(1) == 2)\n"
             "assert(tostring(MiB(256) / ms(100)):find 'GB/s')\n"
             "assert((MiB(1) + '1 KiB').value == 1049600)\n"
             "assert(assay.quantity('20 GB/s').unit == 'B/s')\n"
             "assert(MiB(3):to 'KiB' == 3072)\n"
             "assert((-ms(1)).value == -0.001 and (ms(4) * 2).value == 0.008)\n"
             "assert(#assay.powers_of_two('4 KiB', '256 MiB') == 17)\n"
             "assert(#assay.powers_of_two(1, 9) == 4 and assay.powers_of_two(1, 9)[4] == 8)\n"
             "assert(#assay.range(1, 10) == 10 and #assay.range('1 MB', '3 MB', '1 MB') == 3)\n"
             "assert(tostring(assay.KiB(64)) == '64 KiB' and 'x' .. assay.KiB(64) == 'x64 KiB')\n"
             "assay.experiment { name = 'e', workload = 'null' }\n"),
        "");
    expect_source_error(fixture,
                        "local assay = require 'assay'\nlocal x = assay.MiB(1) < assay.s(1)",
                        "t.lua:2: comparing a size and a time is not possible");
    expect_source_error(fixture, "local assay = require 'assay'\nlocal x = assay.quantity '1 Mib'",
                        "t.lua:2: assay.quantity: 'Mib' is no unit; did you mean 'MiB'?");
}

/* The first example of the documentation, as it stands there, and as a file to run. */
static void first_example_runs(void **state)
{
    struct fixture *fixture = *state;
    struct text page = {0}, file = {0};
    assert_true(os_file_read(SCRIPTS_DIR "/../docs/scripting.md", 65536, &page, &fixture->error));
    assert_true(os_file_read(SCRIPTS_DIR "/upload.lua", 65536, &file, &fixture->error));
    char *example = strstr(page.data, "```lua\n");
    assert_non_null(example);
    example += strlen("```lua\n");
    char *end = strstr(example, "```");
    assert_non_null(end);
    *end = '\0';
    assert_string_equal(strchr(file.data, '\n') + 1, example); /* behind the licence line */
    assert_string_equal(load(fixture, example), "");
    assert_int_equal(script_plan(fixture->script)->case_count, 34);
    text_free(&page);
    text_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(axes_multiply_in_declared_order),
        SCRIPT_TEST(other_axes_come_first),
        SCRIPT_TEST(schedules_are_an_axis),
        SCRIPT_TEST(wrong_schedules),
        SCRIPT_TEST(whole_assignments_do_not_multiply),
        SCRIPT_TEST(values_may_be_functions_of_the_point),
        SCRIPT_TEST(kinds_of_values),
        SCRIPT_TEST(sets_override),
        SCRIPT_TEST(device_of_the_command_line_wins),
        SCRIPT_TEST(options_of_the_script),
        SCRIPT_TEST(pairs_name_an_axis),
        SCRIPT_TEST(mistakes_in_experiments),
        SCRIPT_TEST(mistakes_in_scripts),
        SCRIPT_TEST(long_paths_are_whole),
        SCRIPT_TEST(endless_scripts_end),
        SCRIPT_TEST(what_cannot_be_interrupted_ends_the_process),
        SCRIPT_TEST(memory_is_limited),
        SCRIPT_TEST(sandbox_is_closed),
        SCRIPT_TEST(nothing_outlives_its_owner),
        SCRIPT_TEST(trust_has_its_end),
        SCRIPT_TEST(texts_get_a_place),
        SCRIPT_TEST(quantities_compute),
        SCRIPT_TEST(first_example_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
