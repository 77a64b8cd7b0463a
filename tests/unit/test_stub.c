/* SPDX-License-Identifier: MIT */
/* scripts/meta/assay.lua names exactly what there is. */
#include "script_fixture.h"
#include "stub_fields.h"

static void the_table_is_the_same(void **state)
{
    struct fixture *fixture = *state;
    struct text stub = {0};
    read_stub(&stub);
    write_file("stub.lua", text_string(&stub));
    text_free(&stub);
    assert_string_equal(load(fixture, "local assay, stub = require 'assay', require 'stub'\n"
                                      "local count = 0\n"
                                      "for name, member in pairs(assay) do\n"
                                      "  assert(type(stub[name]) == type(member), name)\n"
                                      "  count = count + 1\n"
                                      "end\n"
                                      "assert(count > 20)\n"
                                      "for name in pairs(stub) do local _ = assay[name] end\n"
                                      "assay.experiment { name = 'e', workload = 'null' }\n"),
                        "");
}

static void the_experiment_is_the_same(void **state)
{
    struct fixture *fixture = *state;
    struct text stub = {0}, wanted = {0};
    read_stub(&stub);
    text_add(&wanted, "t.lua:2: an experiment has no field 'zzz'; it has ");
    fields_of(text_string(&stub), "assay.Experiment", &wanted);
    assert_string_equal(load_experiment(fixture, "zzz = 1"), text_string(&wanted));
    text_free(&stub);
    text_free(&wanted);
}

/* Runs the check on one case of `null` and compares the error about the name zzz. */
static void compare(struct fixture *fixture, const char *hook, const char *body, const char *class,
                    const char *what, const char *before)
{
    struct assay_error *error = &fixture->error;
    struct text stub = {0}, wanted = {0};
    struct judge_counts counts;
    struct judge_script closures;
    char fields[256], hex[HASH_HEX_BYTES];
    snprintf(fields, sizeof(fields), "workload = 'null', %s = function(r, expect) %s end", hook,
             body);
    assert_string_equal(load_experiment(fixture, fields), "");
    unlink("journal.jsonl");
    struct journal_writer *writer = journal_create("journal.jsonl", error);
    hash_hex(&script_plan(fixture->script)->cases[0].id, hex);
    json_t *run = json_pack("{s:s, s:i}", "kind", "run", "format", JOURNAL_FORMAT);
    json_t *record = json_pack("{s:s, s:s, s:s, s:{}}", "kind", "case", "id", hex, "status", "done",
                               "metrics");
    assert_true(journal_append_json(writer, run, error));
    assert_true(journal_append_json(writer, record, error));
    json_decref(run);
    json_decref(record);
    journal_writer_destroy(&writer);
    struct journal_reader *reader = journal_read("journal.jsonl", error);
    script_judge(fixture->script, &closures);
    assert_false(judge_run(script_plan(fixture->script), reader, &closures, NULL, &counts, error));
    journal_reader_destroy(&reader);
    read_stub(&stub);
    text_addf(&wanted, "t.lua:2: %s 'zzz'; it has %s", what, before);
    fields_of(text_string(&stub), class, &wanted);
    assert_string_equal(error->text, text_string(&wanted));
    text_free(&stub);
    text_free(&wanted);
}

static void the_other_classes_are_the_same(void **state)
{
    struct fixture *fixture = *state;
    compare(fixture, "check", "return assay.MiB(1).zzz", "assay.Quantity",
            "a quantity has no field", "");
    compare(fixture, "check", "return r.time.zzz", "assay.Metric", "a metric has no field", "");
    compare(fixture, "check", "return r.first.zzz", "assay.Stage", "stage 'first' has no metric",
            "");
    compare(fixture, "check", "return r.device.zzz", "assay.Device", "r.device has no member", "");
    compare(fixture, "check", "return r.zzz", "assay.Result", "a result of 'null' has no member",
            "first, second, ");
    compare(fixture, "check", "return expect(1).zzz", "assay.Expectation",
            "expect(...) has no bound", "");
    compare(fixture, "summary", "return r.zzz", "assay.Cases",
            "a collection of cases has no member",
            "first, second, time, submit_time, device_time, host_cpu_time, floor, period, "
            "serial_time, ideal_period, efficiency, extra_memory, throughput, goodput, "
            "utilisation, drift, "
            "value, latency, ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(the_table_is_the_same),
        SCRIPT_TEST(the_experiment_is_the_same),
        SCRIPT_TEST(the_other_classes_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
