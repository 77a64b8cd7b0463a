/* SPDX-License-Identifier: MIT */
/* Checks and summaries over a journal that was written by hand. */
#include "script_fixture.h"

#define JOURNAL "journal.jsonl"

/* The record of a case: rate is bytes per second, 0 gives a skip. */
static json_t *case_record(const struct plan_case *item, double rate)
{
    char hex[HASH_HEX_BYTES];
    hash_hex(&item->id, hex);
    if (rate == 0)
        return json_pack("{s:s, s:s, s:s, s:s, s:n, s:{}}", "kind", "case", "id", hex, "status",
                         "skipped", "reason", "bytes: over the heap", "device", "metrics");
    return json_pack(
        "{s:s, s:s, s:s, s:n, s:{s:s, s:i, s:s}, s:{s:s, s:s, s:s, s:s}, s:{s:s, s:n}, "
        "s:{s:{s:s, s:f, s:f, s:f, s:i}, s:{s:s, s:f, s:f, s:f, s:i}, s:{s:s, s:f, s:f, s:f, s:i}, "
        "s:{s:s, s:s}, s:{s:s, s:f, s:f, s:f, s:i}}}",
        "kind", "case", "id", hex, "status", "done", "reason", "params", "direction", "upload",
        "bytes", 4096, "host_memory", "pinned", "device", "name", "llvmpipe (LLVM)", "label",
        "lavapipe", "uuid", "00ff", "class", "cpu", "verification", "verdict", "right", "error",
        "metrics", "time", "unit", "s", "value", 0.01, "low", 0.009, "high", 0.011, "n", 40,
        "copy.time", "unit", "s", "value", 0.008, "low", 0.008, "high", 0.008, "n", 40, "copy.rate",
        "unit", "B/s", "value", rate, "low", rate * 0.975, "high", rate * 1.02, "n", 40,
        "copy.device_time", "unit", "s", "absent", "no timestamps", "checks", "unit", "item",
        "value", 7.0, "low", 7.0, "high", 7.0, "n", 0);
}

struct outcome {
    struct judge_counts counts;
    struct text messages; /* "VERDICT MESSAGE", one a line */
};

/* Loads the experiment, writes a record for each case with its rate (negative: none), judges. */
static const char *judge_with(struct fixture *fixture, const char *fields, const double *rates,
                              size_t rate_count, struct outcome *outcome)
{
    struct assay_error *error = &fixture->error;
    *outcome = (struct outcome){0};
    if (*load_experiment(fixture, fields))
        return error->text;
    const struct plan *plan = script_plan(fixture->script);
    unlink(JOURNAL);
    struct journal_writer *writer = journal_create(JOURNAL, error);
    assert_non_null(writer);
    json_t *run = json_pack("{s:s, s:i}", "kind", "run", "format", JOURNAL_FORMAT);
    assert_true(journal_append_json(writer, run, error));
    json_decref(run);
    for (size_t i = 0; i < plan->case_count; i++) {
        double rate = i < rate_count ? rates[i] : 1e9;
        if (rate < 0)
            continue;
        json_t *record = case_record(&plan->cases[i], rate);
        assert_non_null(record);
        assert_true(journal_append_json(writer, record, error));
        json_decref(record);
    }
    struct journal_reader *reader = journal_read(JOURNAL, error);
    assert_non_null(reader);
    struct judge_script closures;
    script_judge(fixture->script, &closures);
    bool good = judge_run(plan, reader, &closures, writer, &outcome->counts, error);
    journal_reader_destroy(&reader);
    journal_writer_destroy(&writer);
    if (!good)
        return error->text;
    reader = journal_read(JOURNAL, error);
    for (size_t i = 0; i < journal_verdict_count(reader); i++) {
        json_t *verdict = journal_verdict(reader, i, error);
        text_addf(&outcome->messages, "%s %s\n", json_text(verdict, "verdict", ""),
                  json_text(verdict, "message", ""));
        json_decref(verdict);
    }
    journal_reader_destroy(&reader);
    return error->text;
}

static void expect_messages(struct fixture *fixture, const char *fields, const double *rates,
                            size_t rate_count, const char *wanted)
{
    struct outcome outcome;
    assert_string_equal(judge_with(fixture, fields, rates, rate_count, &outcome), "");
    assert_string_equal(text_string(&outcome.messages), wanted);
    text_free(&outcome.messages);
}

/* A check on one case of 64 MiB at 1.21 GB/s. */
static void check_says(struct fixture *fixture, const char *body, const char *wanted)
{
    static const double rates[] = {1.21e9};
    char fields[2048];
    snprintf(fields, sizeof(fields),
             "workload = 'copy', fixed = { bytes = '64 MiB', host_memory = 'pageable' }, check = "
             "function(r, expect) %s end",
             body);
    expect_messages(fixture, fields, rates, 1, wanted);
}

static void expect_check_error(struct fixture *fixture, const char *body, const char *wanted)
{
    struct outcome outcome;
    char fields[2048];
    snprintf(fields, sizeof(fields), "workload = 'copy', check =\nfunction(r, expect)\n%s end",
             body);
    assert_string_equal(judge_with(fixture, fields, NULL, 0, &outcome), wanted);
    assert_int_equal(fixture->error.status, ASSAY_SCRIPT);
    text_free(&outcome.messages);
}

#define FIGURE "copy.rate 1.21 GB/s [1.18, 1.23] n=40"
#define PLACE " (host_memory=pageable bytes=64MiB, lavapipe)\n"

static void cases_match_by_their_schedules(void **state)
{
    struct fixture *fixture = *state;
    static const double rates[] = {1e9, 2e9};
    expect_messages(
        fixture,
        "workload = 'copy', schedule = { assay.serial(), assay.serial{ queues = 'one' } }, "
        "pair = 'schedule', check = function(g, expect) "
        "local auto = g:one{ schedule = 'serial', queues = 'auto' } "
        "local one = g:one{ schedule = assay.serial{ queues = 'one' } } "
        "assert(#g:where{ schedule = 'serial' } == 2 and #g:where{ queues = 'one' } == 1) "
        "assert(auto.schedule.name == 'serial' and one.schedule.queues == 'one') "
        "expect(one.copy.rate / auto.copy.rate):at_least(1.5) end",
        rates, 2, "pass t.lua:2: copy.rate / copy.rate 2.00 [1.91, 2.09] n=40 >= 1.5 (lavapipe)\n");
}

/* Four cases, two groups; the last case was skipped. Its group's check sees it as absent. */
static void a_pair_group_has_one_check(void **state)
{
    struct fixture *fixture = *state;
    static const double rates[] = {1e9, 2e9, 2e9, 0};
    expect_messages(
        fixture,
        "workload = 'copy', vary = { direction = {'upload', 'download'}, bytes = {'1 B', '2 B'} }, "
        "pair = 'direction', check = function(g, expect) assert(#g == 2) "
        "local up, down = g:one{ direction = 'upload' }, g:one{ direction = 'download' } "
        "expect(down.copy.rate / up.copy.rate):at_least(1.5) "
        "expect(up.copy.rate):at_most('1.5 GB/s') end",
        rates, 4,
        "pass t.lua:2: copy.rate / copy.rate 2.00 [1.91, 2.09] n=40 >= 1.5 (bytes=1B, lavapipe)\n"
        "pass t.lua:2: copy.rate 1.00 GB/s [0.97, 1.02] n=40 <= 1.5 GB/s (direction=upload "
        "bytes=1B, lavapipe)\n"
        "not judged t.lua:2: copy.rate / copy.rate not judged: skipped: bytes: over the heap "
        "(bytes=2B, lavapipe)\n"
        "fail t.lua:2: copy.rate 2.00 GB/s [1.95, 2.04] n=40 > 1.5 GB/s (direction=upload "
        "bytes=2B, lavapipe)\n");
    /* Without any that is done there is nothing to check. */
    static const double none[] = {0, 0, 0, -1};
    expect_messages(fixture,
                    "workload = 'copy', replica = 4, pair = 'replica', check = "
                    "function(g, expect) error('called') end",
                    none, 4, "");
}

/* More cases in a group than records are kept, and a group whose records are all at hand. */
static void a_large_group_is_whole(void **state)
{
    struct fixture *fixture = *state;
    double rates[200];
    for (size_t i = 0; i < 200; i++)
        rates[i] = 1e9 + 1e6 * (double)i;
    struct outcome outcome;
    assert_string_equal(
        judge_with(fixture,
                   "workload = 'copy', replica = 200, pair = 'replica', check = "
                   "function(g, expect) for i = 1, #g do local r = g[i] "
                   "expect(r.replica == i - 1):is_true() expect(r.copy.rate):at_least('0.5 GB/s') "
                   "end end",
                   rates, 200, &outcome),
        "");
    assert_int_equal(outcome.counts.passed, 400);
    text_free(&outcome.messages);
}

/* A look runs the check and writes nothing. */
static void a_look_tells_undecided_from_decided(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *body;
        bool more;
    } looks[] = {{"expect(g[1].copy.rate):at_least('0.9 GB/s')", false},
                 {"expect(g[1].copy.rate):at_least('2 GB/s')", false},
                 {"expect(g[1].copy.rate):at_least('1 GB/s')", true},
                 {"expect(g[1].copy.rate):at_least('2 GB/s') expect(g[2].copy.rate):near('1 GB/s', "
                  "0.001)",
                  true},
                 {"expect(g[2].copy.device_time):at_least('1 s')", false},
                 {"error('broken')", false}};
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        char fields[1024];
        snprintf(fields, sizeof(fields),
                 "workload = 'copy', replica = 2, pair = 'replica', check = function(g, expect) %s "
                 "end",
                 looks[i].body);
        assert_string_equal(load_experiment(fixture, fields), "");
        const struct plan *plan = script_plan(fixture->script);
        const struct plan_case *items[] = {&plan->cases[0], &plan->cases[1]};
        struct lazy *records[] = {lazy_of(case_record(items[0], 1e9)),
                                  lazy_of(case_record(items[1], 1e9))};
        struct judge_script closures;
        script_judge(fixture->script, &closures);
        struct judge_group group = {.items = items, .records = records, .count = 2};
        assert_int_equal(judge_look(&group, &closures), looks[i].more);
        lazy_destroy(&records[0]);
        lazy_destroy(&records[1]);
    }
}

static void verdicts_read_as_documented(void **state)
{
    struct fixture *fixture = *state;
    check_says(fixture, "expect(r.copy.rate):at_least('1.5 GB/s')",
               "fail t.lua:2: " FIGURE " < 1.5 GB/s" PLACE);
    check_says(fixture, "expect(r.copy.rate):at_least('500 MB/s')",
               "pass t.lua:2: " FIGURE " >= 500 MB/s" PLACE);
    check_says(fixture, "expect(r.copy.rate):at_most(assay.quantity('1.2 GB/s'))",
               "inconclusive t.lua:2: " FIGURE " overlaps 1.2 GB/s" PLACE);
    check_says(fixture, "expect(r.copy.rate):between('1 GB/s', '1.3 GB/s')",
               "pass t.lua:2: " FIGURE " within 1 GB/s to 1.3 GB/s" PLACE);
    check_says(fixture, "expect(r.copy.rate):near('2 GB/s', 0.1)",
               "fail t.lua:2: " FIGURE " outside 1.8 GB/s to 2.2 GB/s" PLACE);
    check_says(fixture,
               "expect(r.copy.rate):near('1 GB/s', { relative = '10 %', absolute = '200 "
               "MB/s' })",
               "pass t.lua:2: " FIGURE " within 700 MB/s to 1.3 GB/s" PLACE);
    check_says(fixture, "expect(r.checks):equals(assay.quantity('7 items'))",
               "pass t.lua:2: checks 7 item equals 7 item" PLACE);
    check_says(fixture, "expect(r.copy.rate.n > 30):is_true()",
               "pass t.lua:2: value is true" PLACE);
    check_says(fixture, "expect(r.status):equals('failed')",
               "fail t.lua:2: value 'done' differs from 'failed'" PLACE);
    check_says(fixture, "expect(r.copy.device_time):at_most('1 s')",
               "not judged t.lua:2: copy.device_time not judged: no timestamps" PLACE);
    check_says(fixture, "expect(r.time):at_least(r.copy.time)",
               "pass t.lua:2: time / copy.time 1.2 [1.1, 1.4] n=40 >= 1" PLACE);
    check_says(fixture, "expect(r.copy.rate):at_least('5 GB/s'):or_stop() error('on')",
               "fail t.lua:2: " FIGURE " < 5 GB/s" PLACE);
    check_says(fixture, "expect(3):at_least(2)", "pass t.lua:2: value 3 >= 2" PLACE);
}

static void results_hold_what_ran(void **state)
{
    check_says(*state,
               "assert(r.p.bytes == 4096 and r.p.direction == 'upload' and r.p.scale == 1.0)\n"
               "assert(r.status == 'done' and r.reason == nil)\n"
               "assert(r.device.name == 'llvmpipe (LLVM)' and r.device.label == 'lavapipe')\n"
               "assert(r.device.uuid == '00ff' and r.device.class == 'cpu')\n"
               "assert(r.time.value == 0.01 and r.time.low == 0.009 and r.time.high == 0.011)\n"
               "assert(r.time.n == 40 and r.time.unit == 's' and r.time.absent == nil)\n"
               "assert(r.copy.device_time.value == nil)\n"
               "assert(r.copy.device_time.absent == 'no timestamps')\n"
               "assert(r.copy.flop_rate.absent and r.submit_time.absent)\n"
               "assert(r.checks.value == 7 and r.checks.unit == 'item')\n"
               "assert(r.bottleneck.stage == 'copy' and r.bottleneck.share.value == 1)\n"
               "assert(r.verification.verdict == 'right' and r.verification.error.absent)\n"
               "assert((r.copy.device_time + '1 s').absent == 'no timestamps')\n"
               "assert((r.copy.rate * '1 s').unit == 'B' and (1 / r.time).unit == '1/s')\n"
               "assert(tostring(r.copy.rate) == '1.21 GB/s [1.18, 1.23] n=40')\n"
               "assert(tostring(r) == 'copy host_memory=pageable bytes=64MiB')\n"
               "local good, why = pcall(function() return r.time < r.copy.time end)\n"
               "assert(not good and why:find('has an interval', 1, true))",
               "");
}

static void mistakes_in_checks(void **state)
{
    struct fixture *fixture = *state;
    expect_check_error(fixture, "expect(r.copy.rate):at_least('5 MB')",
                       "t.lua:4: at_least: copy.rate is a rate (bytes per second), but 5 MB is a "
                       "size");
    expect_check_error(fixture, "expect(r.copy.rate):at_least(5)",
                       "t.lua:4: at_least: copy.rate is a rate (bytes per second), but 5 is a "
                       "number; give it a unit, such as \"5 B/s\"");
    expect_check_error(fixture, "expect(r.copy.rate):at_least(r.time)",
                       "t.lua:4: at_least: copy.rate is a rate (bytes per second), but time is a "
                       "time");
    expect_check_error(fixture, "expect(r.copy.rate):at_least('5 GB/ss')",
                       "t.lua:4: at_least: 'GB/ss' is no unit; did you mean 'GB/s'?");
    expect_check_error(
        fixture, "expect(r.copy.rate):at_lest('5 GB/s')",
        "t.lua:4: expect(...) has no bound 'at_lest'; did you mean 'at_least'? It has "
        "at_least, at_most, between, near, equals, is_true, increasing, decreasing "
        "and or_stop");
    expect_check_error(fixture, "\nexpect(r.copy.rate)",
                       "t.lua:5: an expect() without a bound judges nothing; add one, such as "
                       ":at_least(...)");
    for (int i = 1; i <= 16; i++) {
        char name[16];
        snprintf(name, sizeof(name), "m%d.lua", i);
        write_file(name, "return 1\n");
    }
    expect_check_error(fixture, "expect(r.time)\nfor i = 1, 16 do require('m' .. i) end",
                       "t.lua:4: an expect() without a bound judges nothing; add one, such as "
                       ":at_least(...)");
    fixture->params.memory_bytes = (size_t)8 << 20;
    expect_check_error(fixture, "local m = r.time while true do local _ = m + m end",
                       "t.lua:4: the script needs more memory than its limit of 8 MiB");
    fixture->params.memory_bytes = 0;
    expect_check_error(fixture, "expect(r.copy.raet):at_least(1)",
                       "t.lua:4: stage 'copy' has no metric 'raet'; did you mean 'rate'? It has "
                       "time, rate, flop_rate, item_rate, device_time, device_rate, floor "
                       "and sensitivity");
    expect_check_error(
        fixture, "expect(r.cpy.rate):at_least(1)",
        "t.lua:4: a result of 'copy' has no member 'cpy'; did you mean 'copy'? It has "
        "copy, time, submit_time, device_time, host_cpu_time, floor, period, "
        "serial_time, ideal_period, efficiency, extra_memory, throughput, goodput, "
        "utilisation, drift, value, latency, checks, p, status, "
        "reason, device, workload, replica, schedule, verification, bottleneck, sensors, "
        "what_if, choice and drift_verdict");
    expect_check_error(fixture, "return r.p.byts",
                       "t.lua:4: 'copy' has no parameter 'byts'; did you mean 'bytes'? It has "
                       "direction, host_memory, bytes, scale, checked and label");
    expect_check_error(fixture, "expect(nil):is_true()",
                       "t.lua:4: expect: nothing cannot be judged; give a metric, a number, a "
                       "quantity, a text, a series, true or false");
    expect_check_error(fixture, "expect(r.time):at_least('1 ms', '5 %')",
                       "t.lua:4: at_least: too many values; it takes one limit: :at_least(y)");
    expect_check_error(fixture, "expect(r.time):equals('1 ms', 0.05)",
                       "t.lua:4: equals: too many values; it takes one; with a tolerance it is "
                       ":near(y, tolerance)");
    expect_check_error(fixture, "expect(true):is_true(true)",
                       "t.lua:4: is_true: too many values; it takes none");
    expect_check_error(fixture, "expect(r.time):near('1 ms', {})",
                       "t.lua:4: near: the tolerance is missing; give 0.05 or { relative = 0.05, "
                       "absolute = ... }");
    expect_check_error(fixture, "local x\nreturn x.y",
                       "t.lua:5: attempt to index a nil value (local 'x')");
    expect_check_error(fixture, "assay.experiment { name = 'x', workload = 'copy' }",
                       "t.lua:4: assay.experiment belongs to the top level of the script, not into "
                       "check or summary");
    expect_check_error(fixture, "return r.time + r.copy.rate",
                       "t.lua:4: a time and a rate (bytes per second) cannot be added");
    fixture->params.deadline_ns = 50000000;
    expect_check_error(fixture, "while true do end",
                       "t.lua:4: the script did not end within 50 ms; is there an endless loop?");
}

static void stale_results_are_refused(void **state)
{
    struct outcome outcome;
    assert_string_equal(
        judge_with(*state,
                   "workload = 'copy', check = function(r) kept = r end,\nsummary = function(all) "
                   "return kept.time end",
                   NULL, 0, &outcome),
        "t.lua:3: this result is gone: it can be looked at only in the check or summary that got "
        "it");
    text_free(&outcome.messages);
}

#define SUMMARY                                                                                    \
    "workload = 'copy', vary = { bytes = { '4 KiB', '8 KiB', '16 KiB' }, host_memory = { "         \
    "'pageable', 'pinned' } }, summary = function(all, expect) "

static void summaries_look_across_cases(void **state)
{
    /* pageable 4, 8, 16 KiB, then pinned */
    static const double rates[] = {1e9, 0.98e9, 2e9, 1e9, 2e9, 3e9};
    expect_messages(
        *state,
        SUMMARY
        "assert(#all == 6 and all[1].p.bytes == 4096)"
        "local small = all:one{ bytes = 4096, host_memory = 'pinned' }"
        "local large = all:one{ bytes = '16 KiB', host_memory = 'pinned' }"
        "expect(large.copy.rate / small.copy.rate):at_least(2)"
        "local pinned = all:where{ host_memory = 'pinned' }"
        "assert(#pinned == 3 and #pinned.copy.rate == 3 and pinned.copy.rate[2].value == 2e9)"
        "expect(pinned.copy.rate):increasing('bytes')"
        "expect(all:where{ host_memory = 'pageable' }.copy.rate):increasing('bytes')"
        "expect(all:where{ host_memory = 'pageable' }.copy.rate):increasing('bytes', { tolerance = "
        "0.15 })"
        "local count, seen = 0, ''"
        "for r in all:each() do count = count + 1 end assert(count == 6)"
        "for g in all:groups('host_memory') do seen = seen .. #g .. g[1].p.host_memory end"
        "  expect(pinned.copy.rate):decreasing('bytes', { tolerance = '1 %' })"
        "end",
        rates, 6,
        "pass t.lua:2: copy.rate / copy.rate 3.0 [2.9, 3.1] n=40 >= 2\n"
        "pass t.lua:2: copy.rate is increasing with bytes\n"
        "inconclusive t.lua:2: copy.rate is undecidedly increasing with bytes: 1.00 GB/s [0.97, "
        "1.02] n=40 at host_memory=pageable bytes=4KiB, then 980 MB/s [956, 1000] n=40 at "
        "host_memory=pageable bytes=8KiB\n"
        "pass t.lua:2: copy.rate is increasing with bytes\n"
        "fail t.lua:2: copy.rate is not decreasing with bytes: 1.00 GB/s [0.97, 1.02] n=40 at "
        "host_memory=pinned bytes=4KiB, then 2.00 GB/s [1.95, 2.04] n=40 at host_memory=pinned "
        "bytes=8KiB\n");
}

static void absent_cases_stay_absent(void **state)
{
    struct fixture *fixture = *state;
    static const double rates[] = {1e9, 1e9, 1e9, 0, -1, 3e9};
    expect_messages(
        fixture,
        SUMMARY "local skipped = all:one{ bytes = 4096, host_memory = 'pinned' }"
                "local missing = all:one{ bytes = 8192, host_memory = 'pinned' }"
                "assert(skipped.status == 'skipped' and missing.status == 'not run')"
                "expect(skipped.copy.rate):at_least('1 GB/s')"
                "expect(skipped.copy.rate / missing.copy.rate):at_least(2)"
                "expect(missing.time):at_most('1 s')"
                "expect(all:where{ host_memory = 'pinned' }.copy.rate):increasing('bytes')"
                "end",
        rates, 6,
        "not judged t.lua:2: copy.rate not judged: skipped: bytes: over the heap "
        "(host_memory=pinned bytes=4KiB)\n"
        "not judged t.lua:2: copy.rate / copy.rate not judged: skipped: bytes: over the "
        "heap\n"
        "not judged t.lua:2: time not judged: the case has not run (host_memory=pinned "
        "bytes=8KiB)\n"
        "not judged t.lua:2: copy.rate not judged: fewer than two of its cases have a "
        "figure; skipped: bytes: over the heap\n");
}

static void expect_summary_error(struct fixture *fixture, const char *body, const char *wanted)
{
    struct outcome outcome;
    char fields[2048];
    snprintf(fields, sizeof(fields), SUMMARY "%s end", body);
    assert_string_equal(judge_with(fixture, fields, NULL, 0, &outcome), wanted);
    text_free(&outcome.messages);
}

static void mistakes_in_summaries(void **state)
{
    struct fixture *fixture = *state;
    expect_summary_error(
        fixture, "all:one{ host_memory = 'pinned' }",
        "t.lua:2: one: 3 cases match, but one is wanted: host_memory=pinned "
        "bytes=4KiB; host_memory=pinned bytes=8KiB; host_memory=pinned bytes=16KiB");
    expect_summary_error(
        fixture, "all:one{ bytes = '1 MiB' }",
        "t.lua:2: one: no case matches; there are: host_memory=pageable bytes=4KiB; "
        "host_memory=pageable bytes=8KiB; host_memory=pageable bytes=16KiB; "
        "host_memory=pinned bytes=4KiB; and 2 more");
    expect_summary_error(fixture, "all:where{ byts = 1 }",
                         "t.lua:2: 'copy' has no parameter 'byts'; did you mean 'bytes'? It has "
                         "direction, host_memory, bytes, scale, checked and label");
    expect_summary_error(fixture, "all:where{ bytes = '1 s' }",
                         "t.lua:2: bytes: 1 s is a time, but a size is wanted");
    expect_summary_error(
        fixture, "return all.cpy",
        "t.lua:2: a collection of cases has no member 'cpy'; did you mean 'copy'? "
        "It has copy, time, submit_time, device_time, host_cpu_time, floor, period, "
        "serial_time, ideal_period, efficiency, extra_memory, throughput, goodput, "
        "utilisation, drift, value, latency, checks, one, "
        "where, each and groups");
    expect_summary_error(
        fixture, "expect(all.copy.rate):increasing('bytes')",
        "t.lua:2: several cases of the series have the same bytes: "
        "host_memory=pageable bytes=4KiB and host_memory=pinned bytes=4KiB; narrow "
        "it by all:where{...} or all:groups(...)");
    expect_summary_error(fixture, "expect(all.copy.rate):at_least('1 GB/s')",
                         "t.lua:2: at_least judges a figure, but expect() got a series");
    expect_summary_error(fixture, "all.one{}",
                         "t.lua:2: methods of cases are called with a colon: all:one{...}, "
                         "all:where{...}");
}

/* --set takes away the cases that a summary names: no error, nothing judged. */
static void unplanned_cases_stay_absent(void **state)
{
    struct fixture *fixture = *state;
    fixture->params.sets = (const char *const[]){"bytes=1MiB", NULL};
    expect_messages(fixture,
                    SUMMARY "local small = all:one{ bytes = '4 KiB', host_memory = 'pinned' }"
                            "assert(small.status == 'not planned' and small.p.bytes == 4096)"
                            "expect(small.time):at_most('1 s')"
                            "local none = all:where{ bytes = '4 KiB' }"
                            "assert(#none == 0 and #none.copy.rate == 0)"
                            "expect(none.copy.rate):increasing('bytes')"
                            "end",
                    NULL, 0,
                    "not judged t.lua:2: time not judged: the case is not in the plan of this "
                    "command line (host_memory=pinned bytes=4KiB)\n"
                    "not judged t.lua:2: copy.rate not judged: fewer than two of its cases have a "
                    "figure\n");
    assert_int_equal(script_plan(fixture->script)->case_count, 2);
}

static void skipped_cases_are_not_checked(void **state)
{
    static const double rates[] = {0};
    struct outcome outcome;
    assert_string_equal(judge_with(*state, "workload = 'copy', check = function() error('no') end",
                                   rates, 1, &outcome),
                        "");
    assert_int_equal(outcome.counts.skipped, 1);
    text_free(&outcome.messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(a_pair_group_has_one_check),
        SCRIPT_TEST(cases_match_by_their_schedules),
        SCRIPT_TEST(a_large_group_is_whole),
        SCRIPT_TEST(a_look_tells_undecided_from_decided),
        SCRIPT_TEST(verdicts_read_as_documented),
        SCRIPT_TEST(results_hold_what_ran),
        SCRIPT_TEST(mistakes_in_checks),
        SCRIPT_TEST(stale_results_are_refused),
        SCRIPT_TEST(summaries_look_across_cases),
        SCRIPT_TEST(absent_cases_stay_absent),
        SCRIPT_TEST(mistakes_in_summaries),
        SCRIPT_TEST(unplanned_cases_stay_absent),
        SCRIPT_TEST(skipped_cases_are_not_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
