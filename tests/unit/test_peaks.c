/* SPDX-License-Identifier: MIT */
/* Peaks from the plan to the verdict: cases put first, the record, what scripts see of it. */
#include "base/json.h"
#include "experiment/peaks.h"
#include "experiment/registry.h"
#include "judge/judge.h"
#include "judge/peaks.h"

#include "script_fixture.h"

#include <math.h>

/* The catalog of the real workloads in place of the fake one. */
static void use_builtin(struct fixture *fixture)
{
    struct registry *registry = registry_create(registry_builtin, &fixture->error);
    assert_non_null(registry);
    json_t *description = registry_describe(registry, NULL);
    catalog_destroy(&fixture->catalog);
    fixture->catalog = catalog_create(description, &fixture->error);
    assert_non_null(fixture->catalog);
    fixture->params.catalog = fixture->catalog;
    json_decref(description);
    registry_destroy(&registry);
}

static const char one[] = "workload = 'copy', fixed = { bytes = '1 MiB' }, peaks = true";

static void cases_are_put_first(void **state)
{
    struct fixture *fixture = *state;
    use_builtin(fixture);
    assert_string_equal(load_experiment(fixture, one), "");
    struct plan *plan = script_plan(fixture->script);
    assert_int_equal(plan->experiment_count, 2);
    assert_string_equal(plan->experiments[0].name, "peaks");
    assert_true(plan->experiments[0].is_peaks);
    assert_string_equal(plan->experiments[1].name, "e");
    assert_int_equal(plan->experiments[1].first_case, plan->experiments[0].case_count);
    size_t all = plan_selected_count(plan);
    peaks_fit(plan, 0, true);
    size_t cpu = plan_selected_count(plan);
    for (size_t i = 0; i < plan->case_count; i++)
        plan->cases[i].selected = true;
    peaks_fit(plan, 0, false);
    size_t gpu = plan_selected_count(plan);
    assert_true(cpu < all && gpu < all && cpu > 20 && gpu > 20);
    /* Every row is for some device: those of both kinds are counted twice. */
    assert_true(cpu + gpu > all);
}

static void every_device_has_its_own(void **state)
{
    struct fixture *fixture = *state;
    use_builtin(fixture);
    assert_string_equal(load(fixture,
                             "local assay = require 'assay'\n"
                             "assay.peaks() assay.peaks('x') assay.peaks()\n"
                             "assay.experiment { name = 'e', workload = 'copy', device = { "
                             "'x', 'y' }, peaks = true }\n"),
                        "");
    struct plan *plan = script_plan(fixture->script);
    assert_int_equal(plan->experiment_count, 4);
    assert_string_equal(plan->experiments[0].name, "peaks");
    assert_string_equal(plan->experiments[1].name, "peaks on x");
    assert_string_equal(plan->experiments[2].name, "peaks on y");
    assert_null(plan->cases[0].device);
    assert_string_equal(plan->cases[plan->experiments[2].first_case].device, "y");
    /* --device is the one there is. */
    fixture->params.device = "z";
    assert_string_equal(load(fixture,
                             "local assay = require 'assay'\nassay.peaks('x')\n"
                             "assay.experiment { name = 'e', workload = 'copy', device = { "
                             "'x', 'y' }, peaks = true }\n"),
                        "");
    assert_int_equal(script_plan(fixture->script)->experiment_count, 2);
}

static void selected_when_needed(void **state)
{
    struct fixture *fixture = *state;
    use_builtin(fixture);
    assert_string_equal(load(fixture,
                             "local assay = require 'assay'\n"
                             "assay.experiment { name = 'a', workload = 'copy', peaks = true }\n"
                             "assay.experiment { name = 'b', workload = 'copy' }\n"),
                        "");
    struct plan *plan = script_plan(fixture->script);
    size_t peaks = plan->experiments[0].case_count;
    plan_select_glob(plan, "a/*");
    peaks_select(plan);
    assert_int_equal(plan_selected_count(plan), peaks + 1);
    plan_select_glob(plan, "b/*"); /* keeps of what is selected: nothing */
    peaks_select(plan);
    assert_int_equal(plan_selected_count(plan), 0);
    for (size_t i = 0; i < plan->case_count; i++)
        plan->cases[i].selected = true;
    plan_select_glob(plan, "b/*");
    peaks_select(plan);
    assert_int_equal(plan_selected_count(plan), 1);
}

static void mistakes(void **state)
{
    struct fixture *fixture = *state;
    use_builtin(fixture);
    assert_string_equal(load(fixture, "local assay = require 'assay'\n"
                                      "assay.experiment { name = 'peaks', workload = 'copy' }\n"),
                        "t.lua:2: name: 'peaks' is the name of the cases that measure peaks; take "
                        "another");
    assert_string_equal(load_experiment(fixture, "workload = 'copy', peaks = 1"),
                        "t.lua:2: peaks: true or false is wanted, not a number");
    assert_string_equal(load(fixture, "local assay = require 'assay'\nassay.peaks(3)\n"),
                        "t.lua:2: assay.peaks: a device is wanted, or nothing, not a number");
    assert_string_equal(load(fixture, "local assay = require 'assay'\nlocal p = assay.peaks()\n"
                                      "print(p.copy.device)\n"),
                        "t.lua:3: peaks have values in check and summary, when they are measured");
    assert_string_equal(load(fixture, "local assay = require 'assay'\nlocal p = assay.peaks()\n"
                                      "print(p.fp23)\n"),
                        "t.lua:3: assay.peaks() has no member 'fp23'; did you mean 'fp32'? It has "
                        "copy, fp32, fp64, fp16, int32, int8 and balance");
    assert_string_equal(load(fixture, "local assay = require 'assay'\nlocal p = assay.peaks()\n"
                                      "print(p.fp32.x3)\n"),
                        "t.lua:3: peaks.fp32 has no peak 'x3'; did you mean 'x1'? It has best, x1, "
                        "x2 and x4");
}

#define DEVICE "{\"name\":\"gpu\",\"label\":\"gpu\",\"uuid\":\"u\",\"driver\":{\"info\":\"1\"}}"

static json_t *case_of(const char *set, const char *metric, double rate)
{
    char text[512];
    if (rate > 0)
        snprintf(
            text, sizeof(text),
            "{\"id\":\"x\",\"status\":\"done\",\"set\":%s,\"device\":" DEVICE
            ",\"metrics\":{\"%s\":{\"unit\":\"B/s\",\"value\":%g,\"low\":%g,\"high\":%g,\"n\":7}}}",
            set, metric, rate, rate * 0.5, rate * 2);
    else
        snprintf(text, sizeof(text),
                 "{\"id\":\"x\",\"status\":\"skipped\",\"reason\":\"why not\",\"set\":%s,"
                 "\"device\":" DEVICE "}",
                 set);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    return json;
}

static json_t *make_record(void)
{
    static const struct {
        const char *set, *metric;
        double rate;
    } cases[] = {
        {"{\"direction\":\"device\",\"bytes\":1000000}", "copy.rate", 1e12},
        {"{\"direction\":\"device\",\"bytes\":4000000000}", "copy.rate", 2e11},
        {"{\"direction\":\"device\",\"bytes\":4000000000,\"method\":\"shader\"}", "copy.rate",
         1e11},
        {"{\"direction\":\"upload\",\"host_memory\":\"imported\",\"bytes\":64}", "copy.rate", 0},
        {"{\"direction\":\"upload\",\"host_memory\":\"pinned\",\"bytes\":64}", "copy.rate", 1e10},
        {"{\"direction\":\"upload\",\"host_memory\":\"cached\",\"bytes\":64}", "copy.rate", 2e10},
        {"{\"number\":\"fp32\",\"width\":4,\"flops\":1000}", "compute.flop_rate", 2e12},
        {"{\"number\":\"fp16\",\"width\":1,\"flops\":1000}", "compute.flop_rate", 0},
    };
    struct assay_error error = {0};
    json_t *record = peaks_record(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *item = case_of(cases[i].set, cases[i].metric, cases[i].rate);
        assert_true(peaks_add(record, item, &error));
        json_decref(item);
    }
    assert_true(peaks_finish(record, &error));
    return record;
}

static void the_best_of_each_stays(void **state)
{
    (void)state;
    json_t *record = make_record();
    json_t *peaks = json_object_get(record, "peaks"), *entry;
    static const char *const names[] = {"copy.device", "copy.device", "copy.upload",
                                        "fp32.x4",     "fp16.x1",     "balance.fp32"};
    assert_int_equal(json_array_size(peaks), 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(json_text(json_array_get(peaks, i), "name", ""), names[i]);
    entry = json_array_get(peaks, 1);
    assert_true(json_number(entry, "value", 0) == 2e11);
    assert_true(json_number(entry, "bytes", 0) == 8e9);
    assert_null(json_object_get(json_object_get(entry, "conditions"), "method"));
    entry = json_array_get(peaks, 2);
    assert_true(json_number(entry, "value", 0) == 2e10);
    assert_string_equal(json_text(json_object_get(entry, "conditions"), "host_memory", ""),
                        "cached");
    assert_null(json_object_get(json_object_get(entry, "conditions"), "direction"));
    assert_string_equal(json_text(json_array_get(peaks, 4), "absent", ""), "why not");
    assert_true(fabs(json_number(json_array_get(peaks, 5), "value", 0) - 5) < 1e-12);
    assert_string_equal(json_text(json_object_get(record, "device"), "uuid", ""), "u");
    json_decref(record);
}

/* A journal with the peaks and one case "e" that copied 2 GB up in `time` s, of a device `uuid`. */
static struct journal_reader *journal_with(struct fixture *fixture, double time, const char *uuid)
{
    struct assay_error *error = &fixture->error;
    const struct plan *plan = script_plan(fixture->script);
    const struct plan_case *item = &plan->cases[plan->case_count - 1];
    char hex[HASH_HEX_BYTES], text[1024];
    unlink("journal.jsonl");
    struct journal_writer *writer = journal_create("journal.jsonl", error);
    json_t *run = json_pack("{s:s, s:i}", "kind", "run", "format", JOURNAL_FORMAT);
    json_t *peaks = make_record();
    hash_hex(&item->id, hex);
    snprintf(text, sizeof(text),
             "{\"kind\":\"case\",\"id\":\"%s\",\"status\":\"done\",\"device\":{\"name\":\"gpu\","
             "\"label\":\"gpu\",\"uuid\":\"%s\",\"driver\":{\"info\":\"1\"}},\"metrics\":{\"time\":"
             "{\"unit\":\"s\",\"value\":%g,\"low\":%g,\"high\":%g,\"n\":9},\"copy.time\":{\"unit\":"
             "\"s\",\"value\":%g,\"low\":%g,\"high\":%g,\"n\":9}},\"stages\":[{\"name\":\"copy\","
             "\"cost\":{\"read_bytes\":2000000000,\"written_bytes\":2000000000,\"flops\":0,"
             "\"upload_bytes\":2000000000}}]}",
             hex, uuid, time, time, time, time, time, time);
    assert_true(journal_append_json(writer, run, error));
    assert_true(journal_append_json(writer, peaks, error));
    assert_true(journal_append(writer, text, strlen(text), error));
    journal_writer_destroy(&writer);
    json_decref(run);
    json_decref(peaks);
    struct journal_reader *reader = journal_read("journal.jsonl", error);
    assert_non_null(reader);
    assert_int_equal(json_array_size(journal_peaks(reader)), 1);
    assert_int_equal(journal_damaged_count(reader), 0);
    script_set_peaks(fixture->script, journal_peaks(reader));
    return reader;
}

static struct judge_counts judged(struct fixture *fixture, double time, const char *uuid)
{
    struct judge_script closures;
    struct judge_counts counts;
    struct journal_reader *reader = journal_with(fixture, time, uuid);
    struct journal_writer *writer = journal_open("journal.jsonl", &fixture->error);
    script_judge(fixture->script, &closures);
    bool good = judge_run(script_plan(fixture->script), reader, &closures, writer, &counts,
                          &fixture->error);
    if (!good)
        print_error("%s\n", fixture->error.text);
    assert_true(good);
    journal_writer_destroy(&writer);
    journal_reader_destroy(&reader);
    return counts;
}

static void scripts_see_them(void **state)
{
    struct fixture *fixture = *state;
    use_builtin(fixture);
    assert_string_equal(
        load(fixture,
             "local assay = require 'assay'\nlocal peaks = assay.peaks()\n"
             "assay.experiment { name = 'e', workload = 'copy', check = function(r, expect)\n"
             "  expect(peaks.copy.upload.value):equals(2e10):or_stop()\n"
             "  expect(peaks.fp32.best / peaks.fp32.x4):between(0.2, 5):or_stop()\n"
             "  expect(peaks.fp32.x1.absent):equals('this peak was not measured')\n"
             "  expect(peaks.fp16.best.absent):equals('why not')\n"
             "  expect(peaks.balance.fp32.value):near(5, 1e-9)\n"
             "  local names = {}\n"
             "  for name, metric in peaks:each() do names[#names + 1] = name .. (metric.absent and "
             "'' or '!') end\n"
             "  expect(#names):equals(23)\n"
             "  expect(names[1] .. ' ' .. names[7] .. ' ' .. names[19]):equals('copy.device! "
             "fp64.x1 balance.fp32!')\n"
             "  expect(r.floor.value):near(0.1, 1e-9)\n"
             "  expect(r.copy.floor.value):near(0.1, 1e-9)\n"
             "  expect(r.time / r.floor):at_least(1)\n"
             "end }\n"),
        "");
    struct judge_counts counts = judged(fixture, 1, "u");
    assert_int_equal(counts.passed, 10);
    assert_int_equal(counts.missing + counts.skipped, 0); /* of the cases of peaks */
    assert_int_equal(counts.failed + counts.not_judged + counts.inconclusive, 0);
}

/* 2 GB in 10 ms, where 20 GB/s were the best: the case and its stage fail, whatever the script
 * says. */
static void too_fast_is_broken(void **state)
{
    struct fixture *fixture = *state;
    use_builtin(fixture);
    assert_string_equal(load_experiment(fixture, one), "");
    struct judge_counts counts = judged(fixture, 0.01, "u");
    assert_int_equal(counts.failed, 1);
    struct journal_reader *reader = journal_read("journal.jsonl", &fixture->error);
    json_t *verdict = journal_verdict(reader, 0, &fixture->error);
    assert_string_equal(json_text(verdict, "bound", ""), "floor");
    assert_string_equal(json_text(verdict, "message", ""),
                        "t.lua:2: copy.time 10.00 ms [10.00, 10.00] n=9 is under its floor, 100 ms "
                        "by the peaks of the device: a broken measurement (bytes=1MiB, gpu)");
    json_decref(verdict);
    journal_reader_destroy(&reader);
    counts = judged(fixture, 0.01, "another device");
    assert_int_equal(counts.failed, 0);
    counts = judged(fixture, 0.2, "u");
    assert_int_equal(counts.failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(cases_are_put_first),    SCRIPT_TEST(every_device_has_its_own),
        SCRIPT_TEST(selected_when_needed),   SCRIPT_TEST(mistakes),
        SCRIPT_TEST(the_best_of_each_stays), SCRIPT_TEST(scripts_see_them),
        SCRIPT_TEST(too_fast_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
