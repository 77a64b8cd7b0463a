/* SPDX-License-Identifier: MIT */
/* Derived metrics in checks and summaries, over a journal with samples that was written by hand. */
#include "script_fixture.h"

#include "stats/quantile.h"

#define JOURNAL "journal.jsonl"
#define TURNS 9

/* A machine whose speed moves by half; the cases differ by 2 %, more or less, in each turn. The
 * ratios sorted: 1.01 1.015 1.018 1.019 1.02 1.021 1.022 1.025 1.03; of 9 samples the second and
 * the last but one cover 96.1 %. */
static const double speeds[TURNS] = {100000, 150000, 110000, 140000, 120000,
                                     105000, 145000, 115000, 135000};
static const double factors[TURNS] = {1.02, 1.01, 1.03, 1.018, 1.021, 1.025, 1.015, 1.022, 1.019};

static double time_at(size_t member, size_t turn)
{
    return member % 2 ? speeds[turn] * factors[turn] : speeds[turn];
}

static json_t *samples_record(const struct plan_case *item, size_t member)
{
    char hex[HASH_HEX_BYTES];
    hash_hex(&item->id, hex);
    json_t *time = json_array(), *half = json_array(), *cpu = json_array();
    for (size_t i = 0; i < TURNS; i++) {
        json_int_t ns = (json_int_t)(time_at(member, i) + 0.5);
        json_array_append_new(time, json_integer(ns));
        json_array_append_new(half, json_real((double)ns / 2));
        json_array_append_new(cpu, i == 3 ? json_null() : json_integer(ns));
    }
    return json_pack("{s:s, s:s, s:s, s:{s:o, s:o, s:o}}", "kind", "samples", "id", hex, "unit",
                     "ns", "series", "time", time, "first.time", half, "host_cpu_time", cpu);
}

static json_t *figure(double scale, double factor, size_t member, bool rate)
{
    double sorted[TURNS];
    struct interval i;
    for (size_t t = 0; t < TURNS; t++)
        sorted[t] = (double)(json_int_t)(time_at(member, t) + 0.5) * scale / 1e9;
    stats_sort(sorted, TURNS);
    stats_median_interval(sorted, TURNS, 0.95, &i);
    if (rate)
        return json_pack("{s:s, s:f, s:f, s:f, s:i}", "unit", "B/s", "value", factor / i.estimate,
                         "low", factor / i.high, "high", factor / i.low, "n", TURNS);
    return json_pack("{s:s, s:f, s:f, s:f, s:i}", "unit", "s", "value", i.estimate * factor, "low",
                     i.low, "high", i.high, "n", TURNS);
}

/* `edit` is what the time was multiplied by afterwards. */
static json_t *case_record(const struct plan_case *item, size_t member, double edit)
{
    char hex[HASH_HEX_BYTES];
    hash_hex(&item->id, hex);
    return json_pack(
        "{s:s, s:s, s:s, s:n, s:n, s:{s:o, s:o, s:o, s:o}, s:{s:f}, s:[{s:s, s:{s:i}}]}", "kind",
        "case", "id", hex, "status", "done", "reason", "device", "metrics", "time",
        figure(1, edit, member, false), "first.time", figure(0.5, 1, member, false), "first.rate",
        figure(0.5, 4096, member, true), "host_cpu_time", figure(1, 1, member, false), "sampling",
        "confidence", 0.95, "stages", "name", "first", "cost", "payload_bytes", 4096);
}

static void append(struct journal_writer *writer, json_t *record, struct assay_error *error)
{
    assert_non_null(record);
    if (!journal_append_json(writer, record, error))
        fail_msg("%s", error->text);
    json_decref(record);
}

/* Judges with records of all cases. Only the first case's time is edited. */
static const char *judge(struct fixture *fixture, const char *fields, double edit,
                         struct text *messages)
{
    struct assay_error *error = &fixture->error;
    struct judge_script closures;
    struct judge_counts counts;
    *messages = (struct text){0};
    if (*load_experiment(fixture, fields))
        return error->text;
    const struct plan *plan = script_plan(fixture->script);
    unlink(JOURNAL);
    struct journal_writer *writer = journal_create(JOURNAL, error);
    assert_non_null(writer);
    append(writer, json_pack("{s:s, s:i}", "kind", "run", "format", JOURNAL_FORMAT), error);
    for (size_t i = 0; i < plan->case_count; i++) {
        append(writer, samples_record(&plan->cases[i], i), error);
        append(writer, case_record(&plan->cases[i], i, i == 0 ? edit : 1), error);
    }
    struct journal_reader *reader = journal_read(JOURNAL, error);
    assert_non_null(reader);
    script_judge(fixture->script, &closures);
    bool good = judge_run(plan, reader, &closures, writer, &counts, error);
    journal_reader_destroy(&reader);
    journal_writer_destroy(&writer);
    if (!good)
        return error->text;
    reader = journal_read(JOURNAL, error);
    for (size_t i = 0; i < journal_verdict_count(reader); i++) {
        json_t *verdict = journal_verdict(reader, i, error);
        text_addf(messages, "%s %s\n", json_text(verdict, "verdict", ""),
                  json_text(verdict, "message", ""));
        json_decref(verdict);
    }
    journal_reader_destroy(&reader);
    return error->text;
}

static void expect_messages(struct fixture *fixture, const char *fields, double edit,
                            const char *wanted)
{
    struct text messages;
    assert_string_equal(judge(fixture, fields, edit, &messages), "");
    assert_string_equal(text_string(&messages), wanted);
    text_free(&messages);
}

#define PAIR "workload = 'null', replica = 2, pair = 'replica', "
#define BOTH "local fast, slow = g:one{ replica = 0 }, g:one{ replica = 1 } "

static void ratios_of_a_group_are_paired(void **state)
{
    struct fixture *fixture = *state;
    expect_messages(fixture,
                    PAIR "check = function(g, expect) " BOTH
                         "expect(slow.time / fast.time):at_least(1.01) "
                         "expect(slow.time):at_least(fast.time) "
                         "expect(fast.first.rate / slow.first.rate):between(1.01, 1.03) "
                         "expect(1 - fast.time / slow.time):at_most('3 %') "
                         "expect(slow.host_cpu_time):at_least(fast.host_cpu_time) end",
                    1,
                    "pass t.lua:2: time / time 1.020 [1.015, 1.025] n=9 >= 1.01\n"
                    "pass t.lua:2: time / time 1.020 [1.015, 1.025] n=9 >= 1\n"
                    "pass t.lua:2: first.rate / first.rate 1.020 [1.015, 1.025] n=9 within 1.01 to "
                    "1.03\n"
                    "pass t.lua:2: 1 - time / time 0.020 [0.015, 0.024] n=9 <= 3 %\n"
                    "inconclusive t.lua:2: host_cpu_time / host_cpu_time 1.0 [0.7, 1.4] n=9 "
                    "overlaps 1\n");
    /* A summary looks at the same; of cases that were not taken in turn a ratio is wide. */
    expect_messages(fixture,
                    PAIR "summary = function(g, expect) " BOTH
                         "expect(slow.time / fast.time):at_least(1.01) end",
                    1, "pass t.lua:2: time / time 1.020 [1.015, 1.025] n=9 >= 1.01\n");
    struct text messages;
    assert_string_equal(judge(fixture,
                              "workload = 'null', replica = 2, summary = function(g, expect) " BOTH
                              "expect(slow.time / fast.time):at_least(1.01) "
                              "assert((slow.time / fast.time).samples == nil) end",
                              1, &messages),
                        "");
    assert_non_null(strstr(text_string(&messages), "inconclusive t.lua:2: time / time 1.0"));
    text_free(&messages);
}

static void a_look_uses_its_own_samples(void **state)
{
    struct fixture *fixture = *state;
    assert_string_equal(load_experiment(fixture, PAIR "check = function(g, expect) " BOTH
                                                      "expect(slow.time):at_least(fast.time) end"),
                        "");
    const struct plan *plan = script_plan(fixture->script);
    const struct plan_case *items[] = {&plan->cases[0], &plan->cases[1]};
    struct lazy *records[2];
    json_t *samples[2];
    for (size_t i = 0; i < 2; i++) {
        records[i] = lazy_of(case_record(items[i], i, 1));
        samples[i] = samples_record(items[i], i);
    }
    struct judge_script closures;
    script_judge(fixture->script, &closures);
    struct judge_group group = {.items = items, .records = records, .samples = samples, .count = 2};
    assert_false(judge_look(&group, &closures));
    group.samples = NULL; /* then nothing is left but intervals that overlap */
    assert_true(judge_look(&group, &closures));
    for (size_t i = 0; i < 2; i++) {
        lazy_destroy(&records[i]);
        json_decref(samples[i]);
    }
}

/* The difference of the medians (of which 2.52 us are left) by whole turns; nothing random. */
static void the_rest_is_resampled_the_same_way_each_time(void **state)
{
    struct fixture *fixture = *state;
    static const char fields[] = PAIR "check = function(g, expect) " BOTH
                                      "local more = slow.time - fast.time "
                                      "assert(math.abs(more.value - 2.52e-6) < 1e-12) "
                                      "assert(more.low > 1e-6 and more.high < 4e-6) "
                                      "expect(more):at_most('1.9 us') "
                                      "expect(slow.time):near(fast.time, 0.04) end";
    struct text first, second;
    assert_string_equal(judge(fixture, fields, 1, &first), "");
    assert_string_equal(judge(fixture, fields, 1, &second), "");
    assert_string_equal(text_string(&first), text_string(&second));
    assert_non_null(strstr(text_string(&first), "t.lua:2: time - time 2.5"));
    assert_non_null(strstr(text_string(&first), "\npass t.lua:2: time - time 2.5"));
    text_free(&first);
    text_free(&second);
}

/* fast - slow is -2.52 us, slow - 2 fast some -117 us: the first is the larger, but their ratio is
 * under 1. */
static void what_may_be_negative_is_judged_by_its_difference(void **state)
{
    struct text messages;
    assert_string_equal(judge(*state,
                              PAIR "check = function(g, expect) " BOTH
                                   "local less, least = fast.time - slow.time, slow.time - 2 * "
                                   "fast.time "
                                   "expect(less):at_least(least) expect(least):at_most(less) "
                                   "expect(least):at_least(less) end",
                              1, &messages),
                        "");
    assert_non_null(strstr(text_string(&messages), "pass t.lua:2: time - time - (time - "));
    assert_non_null(strstr(text_string(&messages), ">= 0\n"));
    assert_non_null(strstr(text_string(&messages), "<= 0\n"));
    assert_non_null(strstr(text_string(&messages), "\nfail t.lua:2: "));
    text_free(&messages);
}

static void samples_are_values_turn_by_turn(void **state)
{
    expect_messages(*state,
                    PAIR "check = function(g, expect) " BOTH "local s = fast.time.samples "
                         "assert(#s == 9 and s[2] == 150000 / 1e9) "
                         "assert(#fast.first.rate.samples == 9) "
                         "local r = (slow.time / fast.time).samples "
                         "assert(#r == 9 and math.abs(r[3] - 1.03) < 1e-9) "
                         "assert(fast.host_cpu_time.samples == nil) "
                         "assert(fast.second.time.samples == nil) end",
                    1, "");
}

static void what_is_kept_loses_its_samples(void **state)
{
    struct text messages;
    assert_string_equal(judge(*state,
                              PAIR "check = function(g) " BOTH
                                   "kept = slow.time / fast.time done = slow.time / fast.time "
                                   "assert(done.low > 1) end,\nsummary = function(all, expect) "
                                   "expect(kept):at_least(1) expect(done):at_least(1) end",
                              1, &messages),
                        "");
    assert_string_equal(text_string(&messages),
                        "inconclusive t.lua:3: time / time 1.0 [0.7, 1.4] n=9 overlaps 1\n"
                        "pass t.lua:3: time / time 1.020 [1.015, 1.025] n=9 >= 1\n");
    text_free(&messages);
}

static void an_edited_figure_is_not_derived_from(void **state)
{
    expect_messages(*state,
                    PAIR "check = function(g, expect) " BOTH
                         "expect(slow.time / fast.time):at_least(1) end",
                    0.9999,
                    "not judged t.lua:2: time / time not judged: a figure does not fit its "
                    "samples: the record was changed\n");
}

/* Cases are gone through by several axes, and groups are collections. */
static void groups_by_several_axes(void **state)
{
    expect_messages(
        *state,
        "workload = 'null', replica = 2, vary = { count = { 1, 2, 3 } },\n"
        "summary = function(all, expect) local seen = ''\n"
        "for g in all:groups('replica', 'count') do\n"
        "seen = seen .. #g .. ':' .. g[1].replica .. g[1].p.count .. ' ' end\n"
        "expect(seen):equals('1:01 1:02 1:03 1:11 1:12 1:13 ')\n"
        "for g in all:groups('replica') do seen = ''\n"
        "for r in g:where{ count = 2 }:each() do seen = seen .. r.replica .. r.p.count end\n"
        "expect(seen):equals(g[1].replica .. '2') end end",
        1,
        "pass t.lua:6: value '1:01 1:02 1:03 1:11 1:12 1:13 ' equals '1:01 1:02 1:03 1:11 1:12 "
        "1:13 '\n"
        "pass t.lua:9: value '02' equals '02'\n"
        "pass t.lua:9: value '12' equals '12'\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(ratios_of_a_group_are_paired),
        SCRIPT_TEST(a_look_uses_its_own_samples),
        SCRIPT_TEST(the_rest_is_resampled_the_same_way_each_time),
        SCRIPT_TEST(what_may_be_negative_is_judged_by_its_difference),
        SCRIPT_TEST(samples_are_values_turn_by_turn),
        SCRIPT_TEST(what_is_kept_loses_its_samples),
        SCRIPT_TEST(an_edited_figure_is_not_derived_from),
        SCRIPT_TEST(groups_by_several_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
