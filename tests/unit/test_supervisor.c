/* SPDX-License-Identifier: MIT */
/* Supervisor and worker: this program starts itself as the worker, by exec, as `assay` does. Only
 * `null` runs, so nothing needs a GPU. */
#include "base/channel.h"
#include "base/json.h"
#include "base/os.h"
#include "experiment/plan.h"
#include "result/journal.h"
#include "result/metric.h"
#include "run/supervisor.h"
#include "run/worker.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define WORKER_VARIABLE "ASSAY_TEST_WORKER"
#define SECOND_NS INT64_C(1000000000)

static void put(const char *text)
{
    ssize_t written = write(4, text, strlen(text));
    (void)written; /* the supervisor is the judge */
}

/* What goes wrong behind a request for a case. */
static void misbehave(const char *how, const char *request)
{
    char lines[1024];
    struct assay_error error = {0};
    fcntl(4, F_SETFL, 0); /* the channel's writes do not block */
    json_t *json = json_read(request, strlen(request), "request", &error);
    int length = snprintf(lines, sizeof(lines),
                          "{\"kind\":\"case\",\"id\":\"%s\",\"replica\":%d,\"status\":\"skipped\","
                          "\"reason\":\"%s\",\"device\":null,\"metrics\":{}}\n",
                          json_text(json, "id", ""), (int)json_whole(json, "replica", -1), how);
    if (strcmp(how, "!half") == 0) {
        lines[length / 2] = '\0';
        put(lines);
        _exit(0);
    } else if (strcmp(how, "!long") == 0) {
        static char block[1 << 16];
        memset(block, 'x', sizeof(block) - 1);
        for (int i = 0; i < 17 * 16 + 1; i++)
            put(block);
        put("\n");
    } else if (strcmp(how, "!twice") == 0) {
        memcpy(lines + length, lines, (size_t)length);
        lines[2 * length] = '\0';
        put(lines);
    } else if (strcmp(how, "!between") == 0) {
        snprintf(lines, sizeof(lines), "{\"kind\":\"samples\",\"id\":\"%s\",\"series\":{}}\n",
                 json_text(json, "id", ""));
        put(lines);
        _exit(5);
    } else if (strcmp(how, "!closes") == 0) {
        signal(SIGTERM, SIG_IGN);
        close(4);
        for (;;)
            pause();
    } else if (strcmp(how, "!once") == 0) {
        put(lines);
        _exit(0);
    }
    json_decref(json);
}

/* A worker that answers `configure` and `describe`, and to a case what its environment says. */
static int bad_worker(const char *answer)
{
    struct assay_error error = {0};
    struct channel *channel = channel_create(3, 4, &error);
    const char *line;
    size_t length;
    while (channel_read(channel, -1, &line, &length, &error) == CHANNEL_LINE) {
        if (strstr(line, "\"quit\""))
            break;
        static const char ready[] = "{\"tell\":\"ready\"}";
        if (strstr(line, "\"configure\""))
            channel_write(channel, ready, strlen(ready), &error);
        else if (*answer == '!')
            misbehave(answer, line);
        else
            channel_write(channel, answer, strlen(answer), &error);
    }
    channel_destroy(&channel);
    return 0;
}

struct fixture {
    char directory[64];
    struct text log, journal_path;
    struct supervisor *supervisor;
    struct catalog *catalog;
    struct plan *plan;
    size_t started, waited, ended;
    bool slow; /* gives the worker time to die between two cases */
    struct assay_error error;
};

static void make_supervisor(struct fixture *f)
{
    /* One case hangs; a worker of the test's own never does, however slow the machine is. */
    int64_t limit_ns = getenv(WORKER_VARIABLE) ? 60 * SECOND_NS : SECOND_NS;
    struct supervisor_params params = {.log_path = text_string(&f->log), .deadline_ns = limit_ns};
    f->supervisor = supervisor_create(&params, &f->error);
    assert_non_null(f->supervisor);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.directory = "/tmp/assay-test-XXXXXX"};
    unsetenv(WORKER_VARIABLE);
    assert_non_null(mkdtemp(fixture.directory));
    os_path_join(&fixture.log, fixture.directory, "worker.log");
    os_path_join(&fixture.journal_path, fixture.directory, "journal.jsonl");
    make_supervisor(&fixture);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    supervisor_destroy(&f->supervisor);
    plan_destroy(&f->plan);
    catalog_destroy(&f->catalog);
    unlink(text_string(&f->log));
    unlink(text_string(&f->journal_path));
    rmdir(f->directory);
    text_free(&f->log);
    text_free(&f->journal_path);
    unsetenv(WORKER_VARIABLE);
    return 0;
}

/* One case of `null` for each fault, all with the replica's number as their own. */
static void make_plan(struct fixture *f, const char *const *faults, size_t count)
{
    json_t *description = supervisor_describe(f->supervisor, &f->error);
    assert_string_equal(f->error.text, "");
    f->catalog = catalog_create(description, &f->error);
    json_decref(description);
    assert_non_null(f->catalog);
    long index = catalog_find(f->catalog, "null", &f->error);
    assert_true(index >= 0);
    const struct catalog_workload *workload = catalog_at(f->catalog, (size_t)index);
    f->plan = plan_create(f->catalog, 1, &f->error);
    struct plan_experiment experiment = {.name = "faults", .script = "faults.lua", .line = 1};
    assert_true(plan_add_experiment(f->plan, &experiment, &f->error));
    int option = option_find(workload->options, "fault");
    for (size_t i = 0; i < count; i++) {
        struct plan_setting setting = {.option = (uint32_t)option};
        assert_true(option_parse(workload->options[option], faults[i], f->plan->arena,
                                 &setting.value, &f->error));
        struct plan_case item = {
            .replica = (uint32_t)i, .workload = workload, .settings = &setting, .setting_count = 1};
        assert_true(plan_add_case(f->plan, &item, &f->error));
    }
}

static void count_started(void *user, const struct plan *plan, const struct plan_case *item,
                          size_t index, size_t total)
{
    struct fixture *f = user;
    assert_ptr_equal(plan, f->plan);
    assert_int_equal(item->replica, index);
    assert_int_equal(total, plan->case_count);
    f->started++;
}

static void count_ended(void *user, const struct plan *plan, const struct plan_case *item,
                        const json_t *record)
{
    struct fixture *f = user;
    assert_ptr_equal(plan, f->plan);
    assert_int_equal(json_whole(record, "replica", -1), item->replica);
    f->ended++;
    if (f->slow)
        usleep(300000);
}

static void count_waiting(void *user)
{
    struct fixture *f = user;
    assert_true(f->started > f->ended); /* in the middle of a case or a group */
    f->waited++;
}

static bool run_plan(struct fixture *f, const volatile int *interrupted)
{
    struct journal_writer *journal = journal_create(text_string(&f->journal_path), &f->error);
    assert_non_null(journal);
    static const char header[] = "{\"kind\":\"run\",\"format\":1}";
    assert_true(journal_append(journal, header, sizeof(header) - 1, &f->error));
    struct supervisor_events events = {
        .user = f, .started = count_started, .waiting = count_waiting, .ended = count_ended};
    bool ok = supervisor_run(f->supervisor, f->plan, journal, &events, interrupted, &f->error);
    journal_writer_destroy(&journal);
    return ok;
}

struct expectation {
    const char *status, *reason; /* reason NULL: none */
};

static void assert_journal(const struct fixture *f, const struct expectation *expected,
                           size_t count)
{
    struct assay_error error = {0};
    struct journal_reader *reader = journal_read(text_string(&f->journal_path), &error);
    assert_non_null(reader);
    assert_int_equal(journal_damaged_count(reader), 0);
    assert_int_equal(journal_case_count(reader), count);
    for (size_t i = 0; i < count; i++) {
        json_t *record = journal_case(reader, i, &error);
        assert_string_equal(json_text(record, "status", ""), expected[i].status);
        assert_int_equal(json_whole(record, "replica", -1), i);
        const char *reason = json_text(record, "reason", NULL);
        if (expected[i].reason)
            assert_string_equal(reason, expected[i].reason);
        else
            assert_null(reason);
        bool done = strcmp(expected[i].status, "done") == 0;
        json_t *samples = journal_samples(reader, i, &error);
        assert_true(done == (samples != NULL));
        assert_true(done == (json_object_size(json_object_get(record, "metrics")) > 0));
        assert_true(done == json_is_object(json_object_get(record, "sampling")));
        assert_true(done == json_is_array(json_object_get(record, "stages")));
        assert_true(json_is_null(json_object_get(record, "device")));
        json_decref(samples);
        json_decref(record);
    }
    journal_reader_destroy(&reader);
}

/* A group of two cases that are alike but for their replica; both have the fault. */
struct pair {
    const char *fault;
    const char *noise;
};

static void set_option(struct fixture *f, const struct catalog_workload *workload,
                       struct plan_setting *setting, const char *name, const char *value)
{
    int option = option_find(workload->options, name);
    setting->option = (uint32_t)option;
    assert_true(
        option_parse(workload->options[option], value, f->plan->arena, &setting->value, &f->error));
}

/* Replicas 2 i and 2 i + 1 are pair i; `items` tells pairs apart. */
static void make_pairs(struct fixture *f, const struct pair *pairs, size_t count, bool looks)
{
    json_t *description = supervisor_describe(f->supervisor, &f->error);
    f->catalog = catalog_create(description, &f->error);
    json_decref(description);
    assert_non_null(f->catalog);
    long index = catalog_find(f->catalog, "null", &f->error);
    const struct catalog_workload *workload = catalog_at(f->catalog, (size_t)index);
    f->plan = plan_create(f->catalog, 1, &f->error);
    struct plan_experiment experiment = {.name = "pairs",
                                         .script = "pairs.lua",
                                         .line = 1,
                                         .pair = "replica",
                                         .looks = looks,
                                         .measure = {.budget_ns = 20000000}};
    assert_true(plan_add_experiment(f->plan, &experiment, &f->error));
    for (size_t i = 0; i < count; i++) {
        for (uint32_t member = 0; member < 2; member++) {
            struct plan_setting settings[3];
            char items[16];
            snprintf(items, sizeof(items), "%zu", i);
            set_option(f, workload, &settings[0], "items", items);
            set_option(f, workload, &settings[1], "noise", pairs[i].noise);
            set_option(f, workload, &settings[2], "fault", pairs[i].fault);
            struct plan_case item = {.replica = (uint32_t)(2 * i) + member,
                                     .workload = workload,
                                     .settings = settings,
                                     .setting_count = 3};
            assert_true(plan_add_case(f->plan, &item, &f->error));
        }
    }
    assert_int_equal(f->plan->group_count, count);
}

/* Looks are answered with `more` until so many were asked. */
struct looker {
    unsigned enough, asked, bad;
    size_t samples[8];
};

static bool look(void *user, const struct plan *plan, const struct plan_case *const *items,
                 size_t count, json_t *const *cases, json_t *const *samples)
{
    struct looker *looker = user;
    char hex[HASH_HEX_BYTES];
    looker->bad += plan->groups[items[0]->group].count != count;
    for (size_t i = 0; i < count; i++) {
        hash_hex(&items[i]->id, hex);
        looker->bad += strcmp(json_text(cases[i], "id", ""), hex) != 0;
        looker->bad += strcmp(json_text(cases[i], "status", ""), "done") != 0;
        looker->bad += strcmp(json_text(samples[i], "id", ""), hex) != 0;
        looker->bad += json_whole(json_object_get(cases[i], "sampling"), "looks", -1) !=
                       (int64_t)looker->asked + 1;
        struct metric metric;
        metric_from_json(json_object_get(cases[i], "metrics"), "compute.time", &metric);
        looker->bad += metric.absent != NULL;
    }
    const json_t *series = json_object_get(samples[0], "series");
    if (looker->asked < 8)
        looker->samples[looker->asked] = json_array_size(json_object_get(series, "time"));
    return ++looker->asked < looker->enough;
}

static bool run_looking(struct fixture *f, struct looker *looker)
{
    struct journal_writer *journal = journal_create(text_string(&f->journal_path), &f->error);
    assert_non_null(journal);
    static const char header[] = "{\"kind\":\"run\",\"format\":1}";
    assert_true(journal_append(journal, header, sizeof(header) - 1, &f->error));
    struct supervisor_events events = {.user = f,
                                       .started = count_started,
                                       .ended = count_ended,
                                       .wants_more = look,
                                       .judge_user = looker};
    bool ok = supervisor_run(f->supervisor, f->plan, journal, &events, NULL, &f->error);
    journal_writer_destroy(&journal);
    return ok;
}

static void a_fault_costs_its_group_only(void **state)
{
    struct fixture *f = *state;
    static const struct pair pairs[] = {{"none", "0"}, {"crash", "0"},         {"none", "0"},
                                        {"hang", "0"}, {"out_of_memory", "0"}, {"none", "0"}};
#define CRASHED                                                                                    \
    {                                                                                              \
        "crash", "the worker was killed by signal 6 (Aborted); its log ends with: null: aborts, "  \
                 "as fault=crash asks"                                                             \
    }
#define HUNG                                                                                       \
    {                                                                                              \
        "timeout", "no result within 2 s (the pair group's deadline); its worker was killed; its " \
                   "log ends with: null: hangs, as fault=hang asks"                                \
    }
#define TOO_LARGE                                                                                  \
    {                                                                                              \
        "skipped", "memory does not hold the 2 cases of the pair group at once: out of memory, "   \
                   "as fault=out_of_memory asks"                                                   \
    }
    static const struct expectation expected[] = {
        {"done", NULL}, {"done", NULL}, CRASHED,   CRASHED,   {"done", NULL}, {"done", NULL},
        HUNG,           HUNG,           TOO_LARGE, TOO_LARGE, {"done", NULL}, {"done", NULL}};
    make_pairs(f, pairs, 6, true);
    assert_true(run_plan(f, NULL));
    assert_int_equal(f->started, 12);
    assert_int_equal(f->ended, 12);
    assert_journal(f, expected, 12);
}

/* Times are constant: nothing is asked. Then noisy: 100 us a batch, 20 ms a case, so that a 16th of
 * the group's 40 ms is used up by the 13th turn and the first look is at 16. */
static void looks_reach_the_supervisor(void **state)
{
    struct fixture *f = *state;
    static const struct pair pairs[] = {{"none", "0"}, {"none", "0.01"}};
    struct looker looker = {.enough = 3};
    make_pairs(f, pairs, 2, true);
    assert_true(run_looking(f, &looker));
    assert_int_equal(looker.bad, 0);
    assert_int_equal(looker.asked, 3);
    assert_int_equal(looker.samples[0], 16);
    assert_int_equal(looker.samples[1], 32);
    assert_int_equal(looker.samples[2], 64);
    struct journal_reader *reader = journal_read(text_string(&f->journal_path), &f->error);
    for (size_t i = 0; i < 4; i++) {
        json_t *record = journal_case(reader, i, &f->error);
        const json_t *sampling = json_object_get(record, "sampling");
        assert_int_equal(json_whole(sampling, "n", -1), i < 2 ? 8 : 64);
        assert_int_equal(json_whole(sampling, "looks", -1), i < 2 ? 1 : 3);
        assert_string_equal(json_text(sampling, "stop", ""), i < 2 ? "target" : "decided");
        assert_string_equal(json_text(json_object_get(record, "pair"), "axis", ""), "replica");
        json_decref(record);
    }
    journal_reader_destroy(&reader);
}

static void without_a_check_nobody_looks(void **state)
{
    struct fixture *f = *state;
    static const struct pair pairs[] = {{"none", "0.01"}};
    struct looker looker = {.enough = 3};
    make_pairs(f, pairs, 1, false);
    assert_true(run_looking(f, &looker));
    assert_int_equal(looker.asked, 0);
}

/* Without someone to ask, looks are answered with `done`. */
static void looks_without_a_judge_end(void **state)
{
    struct fixture *f = *state;
    static const struct pair pairs[] = {{"none", "0.01"}};
    static const struct expectation expected[] = {{"done", NULL}, {"done", NULL}};
    make_pairs(f, pairs, 1, true);
    assert_true(run_plan(f, NULL));
    assert_journal(f, expected, 2);
}

static void a_look_at_something_else_is_a_crash(void **state)
{
    struct fixture *f = *state;
    static const char other[] = "{\"tell\":\"look\",\"look\":1,\"cases\":["
                                "{\"case\":{\"id\":\"00\"},\"samples\":null},{}]}";
    static const char *const looks[] = {"{\"tell\":\"look\"}",
                                        "{\"tell\":\"look\",\"look\":1,\"cases\":[]}",
                                        "{\"tell\":\"look\",\"look\":2,\"cases\":[{},{}]}",
                                        "{\"tell\":\"look\",\"look\":1,\"cases\":[1,null]}", other};
    static const char reason[] =
        "the worker sent something that is no record of this pair group: a "
        "look at other cases, or at a wrong time";
    static const struct expectation expected[] = {{"crash", reason}, {"crash", reason}};
    static const struct pair pairs[] = {{"none", "0"}};
    make_pairs(f, pairs, 1, true);
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        struct looker looker = {.enough = 3};
        supervisor_destroy(&f->supervisor);
        unlink(text_string(&f->journal_path));
        setenv(WORKER_VARIABLE, looks[i], 1);
        make_supervisor(f);
        assert_true(run_looking(f, &looker));
        assert_int_equal(looker.asked, 0);
        assert_journal(f, expected, 2);
    }
}

/* The other end: a worker whose supervisor answers a look with something else, or goes away. */
struct worker {
    struct os_process *process;
    struct channel *channel;
};

static struct worker start_worker(struct fixture *f)
{
    struct worker worker = {0};
    struct text path = {0};
    assert_true(os_executable_path(&path, &f->error));
    const char *argv[] = {text_string(&path), "--worker", NULL};
    struct os_process_params params = {.argv = argv, .log_fd = -1};
    worker.process = os_process_start(&params, &f->error);
    assert_non_null(worker.process);
    text_free(&path);
    worker.channel = channel_create(os_process_output(worker.process),
                                    os_process_input(worker.process), &f->error);
    assert_non_null(worker.channel);
    return worker;
}

static json_t *worker_says(struct worker *worker)
{
    const char *line;
    size_t length;
    struct assay_error error = {0};
    if (channel_read(worker->channel, 20 * SECOND_NS, &line, &length, &error) != CHANNEL_LINE)
        return NULL;
    return json_read(line, length, "line", &error);
}

static void send_text(struct worker *worker, const char *text)
{
    struct assay_error error = {0};
    assert_true(channel_write(worker->channel, text, strlen(text), &error));
}

/* Sends the group and reads its first look. */
static void ask_for_a_look(struct fixture *f, struct worker *worker)
{
    json_t *request = plan_group_request(f->plan, 0, false);
    struct text line = {0};
    assert_true(json_add_line(&line, request, false, &f->error));
    send_text(worker, text_string(&line));
    text_free(&line);
    json_decref(request);
    json_t *said = worker_says(worker);
    assert_string_equal(json_text(said, "tell", ""), "look");
    assert_int_equal(json_whole(said, "look", 0), 1);
    assert_int_equal(json_array_size(json_object_get(said, "cases")), 2);
    json_decref(said);
}

static void end_worker(struct worker *worker, const char *wanted)
{
    const char *how = "is still there";
    os_process_wait(worker->process, 20 * SECOND_NS, &how);
    assert_string_equal(how, wanted);
    channel_destroy(&worker->channel);
    os_process_destroy(&worker->process);
}

static void a_worker_takes_no_nonsense_for_an_answer(void **state)
{
    struct fixture *f = *state;
    static const struct pair pairs[] = {{"none", "0.01"}};
    static const char *const answers[] = {"{\"ask\":\"quit\"}", "more", "{}",
                                          "{\"ask\":\"more\"}garbage", "[1]"};
    make_pairs(f, pairs, 1, true);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct worker worker = start_worker(f);
        ask_for_a_look(f, &worker);
        send_text(&worker, answers[i]);
        assert_null(worker_says(&worker));
        end_worker(&worker, "exited with status 1");
    }
    /* More, done, and the records of both; then it takes the next request. */
    struct worker worker = start_worker(f);
    ask_for_a_look(f, &worker);
    send_text(&worker, "{\"ask\":\"more\"}");
    json_t *said = worker_says(&worker);
    assert_int_equal(json_whole(said, "look", 0), 2);
    json_decref(said);
    send_text(&worker, "{\"ask\":\"done\"}");
    static const char *const kinds[] = {"samples", "case", "samples", "case"};
    for (size_t i = 0; i < 4; i++) {
        said = worker_says(&worker);
        assert_string_equal(json_text(said, "kind", ""), kinds[i]);
        json_decref(said);
    }
    ask_for_a_look(f, &worker);
    send_text(&worker, "{\"ask\":\"done\"}");
    for (size_t i = 0; i < 4; i++)
        json_decref(worker_says(&worker));
    send_text(&worker, "{\"ask\":\"quit\"}");
    end_worker(&worker, "exited with status 0");
}

/* The pipe's end while a look waits for its answer. */
static void a_worker_ends_with_its_supervisor(void **state)
{
    struct fixture *f = *state;
    static const struct pair pairs[] = {{"none", "0.01"}};
    make_pairs(f, pairs, 1, true);
    struct worker worker = start_worker(f);
    ask_for_a_look(f, &worker);
    int input = os_process_input(worker.process);
    /* In place of our end comes one that nobody reads or writes: the pipe has no writer left. */
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_true(dup2(nothing, input) == input);
    close(nothing);
    end_worker(&worker, "exited with status 1");
}

static void describes_the_builtin_workloads(void **state)
{
    struct fixture *f = *state;
    json_t *workloads = supervisor_describe(f->supervisor, &f->error);
    assert_true(json_array_size(workloads) > 2);
    assert_string_equal(json_text(json_array_get(workloads, 0), "name", ""), "null");
    assert_true(json_flag(json_array_get(workloads, 0), "model", false));
    assert_string_equal(json_text(json_array_get(workloads, 1), "name", ""), "copy");
    assert_false(json_flag(json_array_get(workloads, 1), "model", true));
    assert_string_equal(json_text(json_array_get(workloads, 2), "name", ""), "submit");
    json_decref(workloads);
}

static void faults_cost_their_case_only(void **state)
{
    struct fixture *f = *state;
    static const char *const faults[] = {
        "none", "crash",        "none",          "segfault",    "exit",        "hang",
        "none", "wrong_result", "out_of_memory", "unsupported", "device_lost", "none"};
    static const struct expectation expected[] = {
        {"done", NULL},
        {"crash",
         "the worker was killed by signal 6 (Aborted); its log ends with: null: aborts, as "
         "fault=crash asks"},
        {"done", NULL},
        {"crash", "the worker was killed by signal 11 (Segmentation fault)"},
        {"crash", "the worker exited with status 3"},
        {"timeout",
         "no result within 1 s (the case's deadline); its worker was killed; its log ends "
         "with: null: hangs, as fault=hang asks"},
        {"done", NULL},
        {"wrong result", "null: byte 2 is 0x00, wanted 0x03"},
        {"out of memory", "out of memory, as fault=out_of_memory asks"},
        {"skipped", "not supported, as fault=unsupported asks"},
        {"device lost", "the device is lost, as fault=device_lost asks"},
        {"done", NULL},
    };
    make_plan(f, faults, 12);
    assert_true(run_plan(f, NULL));
    assert_int_equal(f->started, 12);
    assert_int_equal(f->ended, 12);
    assert_true(f->waited >= 1); /* while one hangs for its second */
    assert_journal(f, expected, 12);
}

static void garbage_is_a_crash(void **state)
{
    struct fixture *f = *state;
    static const char *const faults[] = {"none", "none"};
    static const struct expectation expected[] = {
        {"crash", "the worker sent something that is no record of this case: neither samples nor "
                  "case, or another id"},
        {"crash", "the worker sent something that is no record of this case: neither samples nor "
                  "case, or another id"},
    };
    make_plan(f, faults, 2);
    supervisor_destroy(&f->supervisor);
    setenv(WORKER_VARIABLE, "{\"kind\":\"case\",\"id\":\"00\"}", 1);
    make_supervisor(f);
    assert_true(run_plan(f, NULL));
    assert_journal(f, expected, 2);
}

static void what_is_no_json_is_a_crash(void **state)
{
    struct fixture *f = *state;
    static const char *const faults[] = {"none"};
    make_plan(f, faults, 1);
    supervisor_destroy(&f->supervisor);
    setenv(WORKER_VARIABLE, "Mesa: warning", 1);
    make_supervisor(f);
    assert_true(run_plan(f, NULL));
    struct journal_reader *reader = journal_read(text_string(&f->journal_path), &f->error);
    json_t *record = journal_case(reader, 0, &f->error);
    static const char start[] = "the worker sent something that is no record of this case: ";
    assert_string_equal(json_text(record, "status", ""), "crash");
    assert_memory_equal(json_text(record, "reason", ""), start, sizeof(start) - 1);
    json_decref(record);
    journal_reader_destroy(&reader);
}

static void run_bad_worker(struct fixture *f, const char *how, const struct expectation *expected,
                           size_t count)
{
    static const char *const faults[] = {"none", "none"};
    make_plan(f, faults, count);
    supervisor_destroy(&f->supervisor);
    setenv(WORKER_VARIABLE, how, 1);
    make_supervisor(f);
    assert_true(run_plan(f, NULL));
    assert_int_equal(f->ended, count);
    assert_journal(f, expected, count);
}

static void half_a_record_is_a_crash(void **state)
{
    static const struct expectation expected[] = {{"crash", "the worker exited with status 0"},
                                                  {"crash", "the worker exited with status 0"}};
    run_bad_worker(*state, "!half", expected, 2);
}

static void too_long_a_line_is_a_crash(void **state)
{
    static const struct expectation expected[] = {
        {"crash", "the worker sent something that is no record of this case: a line is longer than "
                  "the 16 MiB allowed"}};
    run_bad_worker(*state, "!long", expected, 1);
}

static void samples_without_a_record_are_dropped(void **state)
{
    static const struct expectation expected[] = {{"crash", "the worker exited with status 5"},
                                                  {"crash", "the worker exited with status 5"}};
    run_bad_worker(*state, "!between", expected, 2);
}

static void closed_pipe_of_a_living_worker(void **state)
{
    static const struct expectation expected[] = {
        {"crash", "the worker closed its pipe, went on for 5 s and was killed"}};
    run_bad_worker(*state, "!closes", expected, 1);
}

/* What a worker says or does behind its record is not the next case's fault. */
static void next_case_is_not_to_blame(void **state)
{
    struct fixture *f = *state;
    static const struct expectation twice[] = {{"skipped", "!twice"}, {"skipped", "!twice"}};
    run_bad_worker(f, "!twice", twice, 2);
}

static void worker_that_dies_between_cases(void **state)
{
    struct fixture *f = *state;
    static const struct expectation once[] = {{"skipped", "!once"}, {"skipped", "!once"}};
    f->slow = true;
    run_bad_worker(f, "!once", once, 2);
}

static void worker_that_cannot_start(void **state)
{
    struct fixture *f = *state;
    static const char *const faults[] = {"none"};
    make_plan(f, faults, 1);
    supervisor_destroy(&f->supervisor);
    setenv(WORKER_VARIABLE, "exit", 1);
    make_supervisor(f);
    assert_null(supervisor_describe(f->supervisor, &f->error));
    assert_int_equal(f->error.status, ASSAY_CRASH);
    assert_string_equal(f->error.text,
                        "the worker process exited with status 9 while it started; its log ends "
                        "with: no worker today");
    f->error = (struct assay_error){0};
    assert_false(run_plan(f, NULL));
    assert_string_equal(f->error.text,
                        "no worker takes a case: the worker process exited with status 9 while it "
                        "started; its log ends with: no worker today");
    assert_int_equal(f->ended, 0);
}

static void worker_that_died_idle_is_replaced(void **state)
{
    struct fixture *f = *state;
    static const char *const faults[] = {"device_lost", "none"};
    static const struct expectation expected[] = {
        {"device lost", "the device is lost, as fault=device_lost asks"}, {"done", NULL}};
    make_plan(f, faults, 2);
    assert_true(run_plan(f, NULL));
    assert_journal(f, expected, 2);
}

static void signal_stops_before_the_next_case(void **state)
{
    struct fixture *f = *state;
    static const char *const faults[] = {"none", "none"};
    make_plan(f, faults, 2);
    volatile int interrupted = 1;
    assert_true(run_plan(f, &interrupted));
    assert_int_equal(f->started, 0);
    assert_journal(f, NULL, 0);
}

static void only_selected_cases_run(void **state)
{
    struct fixture *f = *state;
    static const char *const faults[] = {"crash", "none"};
    make_plan(f, faults, 2);
    f->plan->cases[1].selected = false;
    f->plan->cases[0].selected = false;
    assert_true(run_plan(f, NULL));
    assert_int_equal(f->started, 0);
}

static void no_driver_is_an_answer(void **state)
{
    struct fixture *f = *state;
    supervisor_destroy(&f->supervisor);
    setenv("VK_DRIVER_FILES", "/nonexistent.json", 1);
    setenv("VK_ICD_FILENAMES", "/nonexistent.json", 1);
    make_supervisor(f);
    json_t *devices = supervisor_devices(f->supervisor, &f->error);
    assert_string_equal(f->error.text, "");
    assert_int_equal(json_array_size(json_object_get(devices, "devices")), 0);
    assert_non_null(json_text(devices, "error", NULL));
    assert_true(json_is_array(json_object_get(devices, "pci")));
    json_decref(devices);
    /* A model workload needs none. */
    static const char *const faults[] = {"none"};
    static const struct expectation expected[] = {{"done", NULL}};
    make_plan(f, faults, 1);
    assert_true(run_plan(f, NULL));
    assert_journal(f, expected, 1);
    unsetenv("VK_DRIVER_FILES");
    unsetenv("VK_ICD_FILENAMES");
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--worker") == 0) {
        const char *answer = getenv(WORKER_VARIABLE);
        if (answer && strcmp(answer, "exit") == 0) {
            fprintf(stderr, "no worker today\n");
            return 9;
        }
        return answer ? bad_worker(answer) : worker_main(NULL);
    }
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(describes_the_builtin_workloads),
        WITH_FIXTURE(faults_cost_their_case_only),
        WITH_FIXTURE(a_fault_costs_its_group_only),
        WITH_FIXTURE(looks_reach_the_supervisor),
        WITH_FIXTURE(without_a_check_nobody_looks),
        WITH_FIXTURE(looks_without_a_judge_end),
        WITH_FIXTURE(a_look_at_something_else_is_a_crash),
        WITH_FIXTURE(a_worker_takes_no_nonsense_for_an_answer),
        WITH_FIXTURE(a_worker_ends_with_its_supervisor),
        WITH_FIXTURE(garbage_is_a_crash),
        WITH_FIXTURE(what_is_no_json_is_a_crash),
        WITH_FIXTURE(half_a_record_is_a_crash),
        WITH_FIXTURE(too_long_a_line_is_a_crash),
        WITH_FIXTURE(samples_without_a_record_are_dropped),
        WITH_FIXTURE(closed_pipe_of_a_living_worker),
        WITH_FIXTURE(next_case_is_not_to_blame),
        WITH_FIXTURE(worker_that_dies_between_cases),
        WITH_FIXTURE(worker_that_cannot_start),
        WITH_FIXTURE(worker_that_died_idle_is_replaced),
        WITH_FIXTURE(signal_stops_before_the_next_case),
        WITH_FIXTURE(only_selected_cases_run),
        WITH_FIXTURE(no_driver_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
