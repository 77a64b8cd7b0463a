/* SPDX-License-Identifier: MIT */
/* assay.model and r:what_if. The figures are those of docs/method.md, "Reference arithmetic". */
#include "script_fixture.h"

#define JOURNAL "journal.jsonl"
#define EXPERIMENT "\nassay.experiment { name = 'e', workload = 'null' }\n"

/* Runs the lines at the top level of a script, from line 2 on. */
static const char *top(struct fixture *fixture, const char *lines)
{
    char source[4096];
    snprintf(source, sizeof(source), "local assay = require 'assay'\n%s" EXPERIMENT, lines);
    return load(fixture, source);
}

static json_t *time_figure(double value, double low, double high)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:i}", "unit", "s", "value", value, "low", low, "high",
                     high, "n", 40);
}

/* A check on a case of `null`: first 100 ms [98, 103], second 20 ms [20, 21]; or skipped. */
static const char *check(struct fixture *fixture, const char *body, bool done)
{
    struct assay_error *error = &fixture->error;
    struct judge_counts counts;
    struct judge_script closures;
    char fields[2048], hex[HASH_HEX_BYTES];
    snprintf(fields, sizeof(fields), "workload = 'null', check = function(r, expect)\n%s end",
             body);
    if (*load_experiment(fixture, fields))
        return error->text;
    hash_hex(&script_plan(fixture->script)->cases[0].id, hex);
    unlink(JOURNAL);
    struct journal_writer *writer = journal_create(JOURNAL, error);
    assert_non_null(writer);
    json_t *run = json_pack("{s:s, s:i}", "kind", "run", "format", JOURNAL_FORMAT);
    json_t *metrics = json_object();
    if (done) {
        json_object_set_new(metrics, "first.time", time_figure(0.1, 0.098, 0.103));
        json_object_set_new(metrics, "second.time", time_figure(0.02, 0.02, 0.021));
    }
    json_t *record = json_pack("{s:s, s:s, s:s, s:s?, s:o}", "kind", "case", "id", hex, "status",
                               done ? "done" : "skipped", "reason", done ? NULL : "too large",
                               "metrics", metrics);
    assert_true(journal_append_json(writer, run, error));
    assert_true(journal_append_json(writer, record, error));
    json_decref(run);
    json_decref(record);
    journal_writer_destroy(&writer);
    struct journal_reader *reader = journal_read(JOURNAL, error);
    script_judge(fixture->script, &closures);
    bool good = judge_run(script_plan(fixture->script), reader, &closures, NULL, &counts, error);
    journal_reader_destroy(&reader);
    return good ? "" : error->text;
}

static void amounts_and_links(void **state)
{
    assert_string_equal(
        top(*state,
            "local q, pcie = assay.quantity, assay.model.pcie\n"
            "local function figure(value, unit, digits)\n"
            "  return string.format('%.' .. digits .. 'f', value:to(unit))\n"
            "end\n"
            "local weights = 6e9 * q '2 B'\n"
            "assert(weights == q '12 GB' and figure(weights, 'GiB', 2) == '11.18')\n"
            "assert(weights + '6 GB' + '1 GB' == q '19 GB' and weights + '7 GB' < q '24 GB')\n"
            "assert(q '80 GB' / '400 GB/s' == q '0.2 s')\n"
            "assert(figure(pcie('4.0', 1), 'GB/s', 3) == '1.969')\n"
            "assert(figure(pcie('4.0', 16), 'GB/s', 1) == '31.5')\n"
            "assert(figure(pcie('3.0', 1), 'GB/s', 3) == '0.985')\n"
            "assert(figure(pcie(3, 16), 'GB/s', 2) == '15.75')\n"
            "assert(figure(pcie('5.0', 1), 'GB/s', 3) == '3.938')\n"
            "assert(figure(pcie(5.0), 'GB/s', 1) == '63.0')\n"
            "assert(pcie('1.0', 1) == q '0.25 GB/s' and pcie('1.1', 1) == q '0.25 GB/s')\n"
            "assert(pcie('2.0', 1) == q '0.5 GB/s')\n"
            "assert(q '25 Gbit/s' == q '3.125 GB/s')\n"
            "assert(q '2 GB' / '100 ms' == q '20 GB/s')\n"
            "assert(figure(1e4 * q '1 MB' / pcie('4.0'), 's', 2) == '0.32')\n"
            "assert(math.ceil(q '90 req/s' / '40 req/s') == 3)\n"
            "local served = 7e9 * q '2 B'\n"
            "assert(served == q '14 GB')\n"
            "assert(figure(served * 1.2, 'GB', 1) == '16.8')\n"
            "assert(figure(served * 1.3, 'GB', 1) == '18.2')\n"
            "assert(7e9 * (q '2 B' + '2 B' + '8 B') == q '84 GB')\n"
            "assert(7e9 * (q '2 B' + '2 B' + '12 B') == q '112 GB')"),
        "");
}

static void pipelines_of_given_times(void **state)
{
    assert_string_equal(
        top(*state,
            "local q, pipeline = assay.quantity, assay.model.pipeline\n"
            "local function near(a, b) return math.abs(a - b) < 1e-12 end\n"
            "local function stages(upload, compute, back, group)\n"
            "  return { { 'upload', upload }, { 'compute', compute },\n"
            "           { 'return', back, group = group } }\n"
            "end\n"
            "local m = pipeline { stages = stages('100 ms', '20 ms', '10 ms') }\n"
            "assert(near(m.serial_time.value, 0.13) and near(m.period.value, 0.13))\n"
            "assert(m.bottleneck.stage == 'upload' and m.limit == 'depth' and m.exact)\n"
            "assert(near(m.bottleneck.share, 100 / 130) and m.depth == 1)\n"
            "local half = m:what_if { compute = 0.5 }\n"
            "assert(near(half.serial_time:to 'ms', 120))\n"
            "assert(string.format('%.1f', (half.throughput / m.throughput - 1) * 100) == '8.3')\n"
            "local deep = m:what_if({}, { depth = 2 })\n"
            "assert(deep.period == q '100 ms' and deep.limit == 'upload' and deep.depth == 2)\n"
            "assert(near(q '0.8 GB' / (q '2 GB' / '100 ms') / '40 ms', 1))\n"
            "local less = pipeline { stages = stages('40 ms', '20 ms', '10 ms') }\n"
            "assert(near(less.serial_time:to 'ms', 70))\n"
            "assert(less:what_if({}, { depth = 2 }).period == q '40 ms')\n"
            "assert(less:what_if({}, { depth = 3 }).period == q '40 ms')\n"
            "local shared = pipeline { depth = 2, stages = stages('40 ms', '20 ms', '10 ms',\n"
            "                                                     'upload') }\n"
            "assert(near(shared.period:to 'ms', 50) and not shared.exact)\n"
            "local again = less:what_if({}, { depth = 2, groups = { ['return'] = 'upload' } })\n"
            "assert(again.period == shared.period and again.limit == 'upload')\n"
            "local even = pipeline { depth = 2, stages = stages('30 ms', '30 ms', '30 ms') }\n"
            "assert(near(even.period:to 'ms', 45) and even.limit == 'depth')\n"
            "assert(tostring(m) == 'serial 130 ms, period 130 ms at depth 1')"),
        "");
}

static void what_if_of_results(void **state)
{
    struct fixture *fixture = *state;
    assert_string_equal(
        check(fixture,
              "local function near(a, b) return math.abs(a - b) < 1e-12 end\n"
              "local function is(m, value, low, high)\n"
              "  return near(m.value, value) and near(m.low, low) and near(m.high, high) and\n"
              "    m.n == 40 and m.unit == 's'\n"
              "end\n"
              "assert(r.bottleneck.stage == 'first')\n"
              "local as_it_is, half = r:what_if {}, r:what_if { first = 0.5 }\n"
              "assert(is(as_it_is.serial_time, 0.12, 0.118, 0.124))\n"
              "assert(is(as_it_is.period, 0.12, 0.118, 0.124))\n"
              "assert(is(half.serial_time, 0.07, 0.069, 0.0725))\n"
              "assert(near(half.bottleneck.share.value, 5 / 7))\n"
              "local deep = r:what_if({ first = 0.1 }, { depth = 2 })\n"
              "assert(is(deep.period, 0.02, 0.02, 0.021) and deep.limit == 'second')\n"
              "assert(deep.period.name == 'max(max(first.time * 0.1, second.time), "
              "(first.time * 0.1 + second.time) / 2)')\n"
              "local one = r:what_if({}, { depth = 2, groups = { second = 'first' } })\n"
              "assert(is(one.period, 0.12, 0.118, 0.124) and one.limit == 'first')\n"
              "assert(r:what_if({ first = 0, second = 0 }).throughput.absent)\n"
              "local mixed = assay.model.pipeline { depth = 2, stages = {\n"
              "  { 'a', r.first.time }, { 'b', '30 ms' } } }\n"
              "assert(is(mixed.period, 0.1, 0.098, 0.103))",
              true),
        "");
    assert_string_equal(check(fixture,
                              "local m = r:what_if({ first = 2 }, { depth = 2 })\n"
                              "assert(m.period.absent == 'skipped: too large')\n"
                              "assert(m.serial_time.absent and m.throughput.absent)\n"
                              "assert(m.bottleneck.stage == nil and m.bottleneck.share.absent)",
                              false),
                        "");
}

static void mistakes(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *line, *wanted;
    } cases[] = {
        {"assay.model.pipeline()", "a table with stages is wanted, not a nil"},
        {"assay.model.pipeline { stages = {} }", "it has no stage"},
        {"assay.model.pipeline { stages = { { 'a', '1 s' } }, dept = 2 }",
         "assay.model.pipeline has no field 'dept'; did you mean 'depth'? It has stages and depth"},
        {"assay.model.pipeline { stages = { { 'a', '1 s' } }, depth = 0 }",
         "depth: a whole number from 1 to 4096 is wanted, not 0"},
        {"assay.model.pipeline { stages = { { 'a', '1 MB' } } }",
         "stage 'a': a time such as \"100 ms\" is wanted, not a size"},
        {"assay.model.pipeline { stages = { { 'a', '-1 s' } } }",
         "stage 'a': a time cannot be under 0"},
        {"assay.model.pipeline { stages = { { 'a', '0 s' } } }", "its stages take no time at all"},
        {"assay.model.pipeline { stages = { { 'a', '1 s' }, { 'a', '2 s' } } }",
         "stage 'a' is given twice"},
        {"assay.model.pipeline { stages = { { 'a', '1 s' } } }:what_if { aa = 1 }",
         "what_if has no stage 'aa'; did you mean 'a'? It has a"},
        {"assay.model.pipeline { stages = { { 'a', '1 s' } } }:what_if { a = -1 }",
         "a: a factor of 0 or more is wanted, not -1"},
        {"assay.model.pipeline { stages = { { 'a', '1 s' } } }:what_if { a = math.huge }",
         "a: a factor of 0 or more is wanted, not inf"},
        {"assay.model.pipeline { stages = { { 'a', '1 s' } } }:what_if { a = 0 / 0 }",
         "a: a factor of 0 or more is wanted, not "},
        {"assay.model.pipeline { stages = { { 'a', '1 s' } } }:what_if { a = '0.5' }",
         "a: a factor of 0 or more is wanted, not 0.5"},
        {"assay.model.pipeline { stages = { { 'a', '1 s' } } }:what_if()",
         "what_if: stages and factors such as { compute = 0.5 } is wanted, not a nil"},
        {"local _ = assay.model.pipeline { stages = { { 'a', '1 s' } } }.perod",
         "a model has no member 'perod'; did you mean 'period'?"},
        {"assay.model.pcie('7.0')", "'7.0' is not known; 1.0, 1.1, 2.0, 3.0, 4.0 and 5.0 are"},
        {"assay.model.pcie(4, 0)", "lanes: a whole number from 1 to 32 is wanted, not 0"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *got = top(fixture, cases[i].line);
        assert_memory_equal(got, "t.lua:2: ", 9);
        if (!strstr(got, cases[i].wanted))
            fail_msg("%s: %s", cases[i].line, got);
    }
    assert_string_equal(check(fixture, "r:what_if { frst = 2 }", true),
                        "t.lua:3: what_if has no stage 'frst'; did you mean 'first'? It has first "
                        "and second");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(amounts_and_links),
        SCRIPT_TEST(pipelines_of_given_times),
        SCRIPT_TEST(what_if_of_results),
        SCRIPT_TEST(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
