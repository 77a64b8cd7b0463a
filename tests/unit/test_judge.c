/* SPDX-License-Identifier: MIT */
#include "judge/judge.h"

#include "fake_catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct calls {
    struct text checked;
    int summaries;
    bool fail;
};

static bool check(void *user, uint32_t experiment, const struct judge_group *group,
                  struct judge *judge, struct assay_error *error)
{
    struct calls *calls = user;
    struct lazy *record = group->records[0];
    assert_int_equal(group->count, 1);
    int64_t bytes = json_whole(lazy_member(record, "params"), "bytes", -1);
    text_addf(&calls->checked, "%u:%d ", (unsigned)experiment, (int)bytes);
    if (calls->fail)
        return assay_fail(error, ASSAY_SCRIPT, "t.lua:1: broken");
    struct metric metric = {
        .name = "time", .dimension = {.seconds = 1}, .value = 2, .low = 1, .high = 3, .n = 6};
    static const enum verdict verdicts[] = {VERDICT_PASS, VERDICT_FAIL, VERDICT_INCONCLUSIVE};
    struct judge_verdict verdict = {.experiment = "e",
                                    .case_id = lazy_text(record, "id", ""),
                                    .verdict = verdicts[bytes % 3],
                                    .script = "t.lua",
                                    .line = 4,
                                    .bound = "at_least",
                                    .message = "t.lua:4: said\n",
                                    .metric = &metric};
    return judge_add(judge, &verdict, error);
}

static bool summary(void *user, uint32_t experiment, struct journal_reader *reader,
                    struct judge *judge, struct assay_error *error)
{
    struct calls *calls = user;
    (void)experiment;
    assert_non_null(reader);
    calls->summaries++;
    struct judge_verdict verdict = {.experiment = "e",
                                    .verdict = VERDICT_NOT_JUDGED,
                                    .script = "t.lua",
                                    .line = 9,
                                    .bound = "increasing",
                                    .message = "t.lua:9: absent"};
    return judge_add(judge, &verdict, error);
}

struct fixture {
    struct catalog *catalog;
    struct plan *plan;
    char directory[64], path[80];
};

static void append(struct journal_writer *writer, const struct plan_case *item, const char *status)
{
    struct assay_error error = {0};
    char hex[HASH_HEX_BYTES];
    hash_hex(&item->id, hex);
    json_t *record = json_pack("{s:s, s:s, s:s, s:{s:I}, s:s, s:{}}", "kind", "case", "id", hex,
                               "experiment", "e", "params", "bytes",
                               (json_int_t)item->settings[0].value.as.integer, "status", status,
                               "metrics");
    assert_true(journal_append_json(writer, record, &error));
    json_decref(record);
}

/* Six cases of 1 to 6 bytes: done 1, 2, 3, skipped 4, crash 5, and 6 has no record. */
static int set_up(void **state)
{
    struct assay_error error = {0};
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/assay-test-XXXXXX");
    if (!mkdtemp(fixture->directory))
        return -1;
    snprintf(fixture->path, sizeof(fixture->path), "%s/journal.jsonl", fixture->directory);
    fixture->catalog = fake_catalog(&error);
    fixture->plan = plan_create(fixture->catalog, 1, &error);
    struct plan_experiment experiment = {.name = "e", .script = "t.lua", .line = 1};
    plan_add_experiment(fixture->plan, &experiment, &error);
    for (int64_t bytes = 1; bytes <= 6; bytes++) {
        struct plan_setting setting = {2, {ASSAY_OPTION_INTEGER, {.integer = bytes}}};
        struct plan_case item = {
            .workload = catalog_at(fixture->catalog, 0), .settings = &setting, .setting_count = 1};
        plan_add_case(fixture->plan, &item, &error);
    }
    struct journal_writer *writer = journal_create(fixture->path, &error);
    const struct plan_case *cases = fixture->plan->cases;
    json_t *run = json_pack("{s:s, s:i}", "kind", "run", "format", JOURNAL_FORMAT);
    journal_append_json(writer, run, &error);
    json_decref(run);
    static const char *const status[] = {"done", "done", "done", "skipped", "crash"};
    for (size_t i = 5; i-- > 0;) /* not in the order of the plan */
        append(writer, &cases[i], status[i]);
    journal_writer_destroy(&writer);
    *state = fixture;
    return error.status ? -1 : 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    plan_destroy(&fixture->plan);
    catalog_destroy(&fixture->catalog);
    int failed = unlink(fixture->path) + rmdir(fixture->directory);
    free(fixture);
    return failed;
}

static bool judge_once(struct fixture *fixture, struct calls *calls, struct judge_counts *counts,
                       struct assay_error *error)
{
    struct journal_reader *reader = journal_read(fixture->path, error);
    struct journal_writer *writer = journal_open(fixture->path, error);
    struct judge_script script = {.user = calls, .check = check, .summary = summary};
    assert_non_null(reader);
    assert_non_null(writer);
    bool good = judge_run(fixture->plan, reader, &script, writer, counts, error);
    journal_writer_destroy(&writer);
    journal_reader_destroy(&reader);
    return good;
}

static void counts_and_records(void **state)
{
    struct fixture *fixture = *state;
    struct calls calls = {0};
    struct judge_counts counts;
    struct assay_error error = {0};
    assert_true(judge_once(fixture, &calls, &counts, &error));
    assert_string_equal(text_string(&calls.checked), "0:1 0:2 0:3 ");
    assert_int_equal(calls.summaries, 1);
    assert_int_equal(counts.done, 3);
    assert_int_equal(counts.skipped, 1);
    assert_int_equal(counts.errors, 1);
    assert_int_equal(counts.missing, 1);
    assert_int_equal(counts.passed, 1);       /* 3 bytes */
    assert_int_equal(counts.failed, 1);       /* 1 byte */
    assert_int_equal(counts.inconclusive, 1); /* 2 bytes */
    assert_int_equal(counts.not_judged, 1);   /* the summary */
    text_free(&calls.checked);

    struct journal_reader *reader = journal_read(fixture->path, &error);
    assert_int_equal(journal_verdict_count(reader), 4);
    assert_int_equal(judge_number(reader), 2);
    json_t *verdict = journal_verdict(reader, 0, &error);
    char hex[HASH_HEX_BYTES];
    hash_hex(&fixture->plan->cases[0].id, hex);
    json_t *wanted = json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:{s:s, s:s, s:f, s:f, s:f, s:i}}", "kind",
        "verdict", "judgement", 1, "experiment", "e", "case", hex, "verdict", "fail", "bound",
        "at_least", "script", "t.lua", "line", 4, "message", "t.lua:4: said ", "metric", "name",
        "time", "unit", "s", "value", 2.0, "low", 1.0, "high", 3.0, "n", 6);
    assert_non_null(wanted);
    assert_true(json_equal(verdict, wanted));
    json_decref(verdict);
    json_decref(wanted);
    verdict = journal_verdict(reader, 3, &error);
    assert_true(json_is_null(json_object_get(verdict, "case")));
    assert_true(json_is_null(json_object_get(verdict, "metric")));
    json_decref(verdict);
    journal_reader_destroy(&reader);
}

static void judging_again_counts_up(void **state)
{
    struct fixture *fixture = *state;
    struct calls calls = {0};
    struct judge_counts counts;
    struct assay_error error = {0};
    assert_true(judge_once(fixture, &calls, &counts, &error));
    assert_true(judge_once(fixture, &calls, &counts, &error));
    struct journal_reader *reader = journal_read(fixture->path, &error);
    assert_int_equal(journal_verdict_count(reader), 4);
    assert_int_equal(judge_number(reader), 3);
    journal_reader_destroy(&reader);
    text_free(&calls.checked);
}

static void filtered_cases_are_left_alone(void **state)
{
    struct fixture *fixture = *state;
    struct calls calls = {0};
    struct judge_counts counts;
    struct assay_error error = {0};
    assert_int_equal(plan_select_glob(fixture->plan, "bytes=2B"), 1);
    assert_true(judge_once(fixture, &calls, &counts, &error));
    assert_string_equal(text_string(&calls.checked), "0:2 ");
    assert_int_equal(counts.missing + counts.skipped + counts.errors, 0);
    assert_int_equal(plan_select_glob(fixture->plan, "nothing"), 0);
    assert_true(judge_once(fixture, &calls, &counts, &error));
    assert_int_equal(calls.summaries, 1); /* none for an experiment that is filtered away whole */
    text_free(&calls.checked);
}

static void a_script_error_ends_it(void **state)
{
    struct fixture *fixture = *state;
    struct calls calls = {.fail = true};
    struct judge_counts counts;
    struct assay_error error = {0};
    assert_false(judge_once(fixture, &calls, &counts, &error));
    assert_int_equal(error.status, ASSAY_SCRIPT);
    assert_string_equal(text_string(&calls.checked), "0:1 ");
    text_free(&calls.checked);
}

static void exit_status_in_order(void **state)
{
    (void)state;
    struct judge_policy policy = {.inconclusive = 3};
    struct judge_counts counts = {.done = 2, .passed = 2};
    assert_int_equal(judge_exit_status(&counts, &policy), 0);
    counts.inconclusive = 1;
    assert_int_equal(judge_exit_status(&counts, &policy), 3);
    policy.inconclusive = 0;
    assert_int_equal(judge_exit_status(&counts, &policy), 0);
    policy.inconclusive = 1;
    assert_int_equal(judge_exit_status(&counts, &policy), 1);
    counts.failed = 1;
    assert_int_equal(judge_exit_status(&counts, &policy), 1);
    counts.errors = 1;
    assert_int_equal(judge_exit_status(&counts, &policy), 4);
    counts.done = 0;
    assert_int_equal(judge_exit_status(&counts, &policy), 4); /* something ran, and failed */
    counts.errors = 0;
    counts.skipped = 3;
    assert_int_equal(judge_exit_status(&counts, &policy), 5);
    counts.done = counts.yardsticks = 30; /* measured for nothing */
    assert_int_equal(judge_exit_status(&counts, &policy), 5);
    counts.done++;
    assert_int_equal(judge_exit_status(&counts, &policy), 1);
    counts.errors = counts.script_errors = 1;
    assert_int_equal(judge_exit_status(&counts, &policy), 2);
}

static void no_skip_is_strict(void **state)
{
    (void)state;
    struct judge_policy policy = {.no_skip = true, .inconclusive = 3};
    struct judge_counts counts = {.done = 2, .passed = 2, .skipped = 1};
    assert_int_equal(judge_exit_status(&counts, &policy), 1);
    counts = (struct judge_counts){.done = 2, .passed = 2, .not_judged = 1};
    assert_int_equal(judge_exit_status(&counts, &policy), 1);
    policy.no_skip = false;
    assert_int_equal(judge_exit_status(&counts, &policy), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_and_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(judging_again_counts_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filtered_cases_are_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_script_error_ends_it, set_up, tear_down),
        cmocka_unit_test(exit_status_in_order),
        cmocka_unit_test(no_skip_is_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
