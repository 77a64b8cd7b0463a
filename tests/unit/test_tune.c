/* SPDX-License-Identifier: MIT */
/* The tuner on the simulated clock: the fastest right candidate is chosen, kept, and given up once
 * it turns out wrong; what is wrong, crashes or takes too long never is. */
#include "base/hash.h"
#include "base/json.h"
#include "base/os.h"
#include "measure/measure.h"
#include "result/tuning_store.h"

#include <assay/assay.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
#define WAYS 5

enum fault { RIGHT, WRONG, WRONG_WHEN_LARGE, CRASH, ABSENT, ABSENT_WHEN_LARGE, NO_MEMORY };

/* How each way of the fake workload behaves; a test changes what it wants. */
struct way {
    const char *name;
    int64_t time_ns;
    enum fault fault;
};
static struct way ways[WAYS + 1];
static unsigned created[WAYS]; /* slots of each way, so far */
static bool reduces;           /* trials are of size 1 */

struct params {
    int64_t size;
    int way; /* -1: open */
};

static void *fake_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    (void)slot;
    const struct params *p = params;
    assert_in_range(p->way, 0, WAYS - 1);
    created[p->way]++;
    if (ways[p->way].fault == CRASH)
        abort();
    if (ways[p->way].fault == NO_MEMORY) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "does not fit");
        return NULL;
    }
    struct params *self = malloc(sizeof(*self));
    *self = *p;
    return self;
}

static bool fake_supported(const struct assay_device *device, const void *params,
                           struct assay_error *why_not)
{
    (void)device;
    const struct params *p = params;
    enum fault fault = p->way < 0 ? RIGHT : ways[p->way].fault;
    return (fault != ABSENT && (fault != ABSENT_WHEN_LARGE || p->size == 1)) ||
           assay_fail(why_not, ASSAY_UNSUPPORTED, "not on this device");
}

static int64_t fake_duration(const struct assay_stage *stage, void *object, int64_t now_ns)
{
    (void)stage;
    (void)now_ns;
    const struct params *self = object;
    return ways[self->way].time_ns;
}

static bool fake_verify(void *object, struct assay_verification *verification,
                        struct assay_error *error)
{
    const struct params *self = object;
    enum fault fault = ways[self->way].fault;
    bool wrong = fault == WRONG || (fault == WRONG_WHEN_LARGE && self->size > 1);
    return assay_verification_error(verification, wrong ? 8.0 : 0.5, error);
}

static void fake_destroy(void **object)
{
    free(*object);
    *object = NULL;
}

static bool fake_wanted(const void *params)
{
    return ((const struct params *)params)->way < 0;
}

static void fake_key(const struct assay_device *device, const void *params, char *text,
                     size_t bytes)
{
    (void)device;
    snprintf(text, bytes, "size %d", (int)((const struct params *)params)->size);
}

static bool fake_candidate(const struct assay_device *device, const void *params, unsigned index,
                           char *text, size_t bytes)
{
    (void)device;
    (void)params;
    if (!ways[index].name)
        return false;
    snprintf(text, bytes, "%s", ways[index].name);
    return true;
}

static bool fake_choose(void *params, const char *candidate, struct assay_error *error)
{
    for (int i = 0; i < WAYS; i++)
        if (ways[i].name && strcmp(ways[i].name, candidate) == 0) {
            ((struct params *)params)->way = i;
            return true;
        }
    return assay_fail(error, ASSAY_INVALID, "no such way");
}

static void fake_reduce(const struct assay_device *device, void *params)
{
    (void)device;
    if (reduces)
        ((struct params *)params)->size = 1;
}

static const struct assay_tuning tuning = {.size = sizeof(tuning),
                                           .wanted = fake_wanted,
                                           .key = fake_key,
                                           .candidate = fake_candidate,
                                           .choose = fake_choose,
                                           .reduce = fake_reduce};
static void fake_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    (void)params;
    out->flops = 1000000;
}
static const struct assay_stage stage = {.size = sizeof(stage),
                                         .name = "work",
                                         .kind = ASSAY_STAGE_MODEL,
                                         .cost = fake_cost,
                                         .duration_ns = fake_duration};
static const struct assay_stage *const stages[] = {&stage, NULL};
static const struct assay_option size_option = {.size = sizeof(size_option),
                                                .name = "size",
                                                .kind = ASSAY_OPTION_INTEGER,
                                                .offset = offsetof(struct params, size),
                                                .fallback = "64",
                                                .help = "how much"};
static const struct assay_option *const options[] = {&size_option, NULL};
static struct assay_workload workload = {.size = sizeof(workload),
                                         .name = "fake",
                                         .version = "1",
                                         .summary = "ways that a test makes up",
                                         .options = options,
                                         .params_size = sizeof(struct params),
                                         .stages = stages,
                                         .supported = fake_supported,
                                         .create = fake_create,
                                         .verify = fake_verify,
                                         .destroy = fake_destroy,
                                         .tuning = &tuning};

static char cache[] = "/tmp/assay-test-tune-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    static const struct way usual[WAYS + 1] = {{"plain", 4 * MS, RIGHT},
                                               {"wrong", 1 * MS, WRONG},
                                               {"fast", 2 * MS, RIGHT},
                                               {"absent", 1 * MS, ABSENT},
                                               {"large", 1 * MS, NO_MEMORY}};
    memcpy(ways, usual, sizeof(ways));
    memset(created, 0, sizeof(created));
    reduces = false;
    workload.version = "1";
    unsetenv("LP_TEST");
    struct text damage = {0};
    struct assay_error error = {0};
    json_t *list = tuning_list(&damage);
    assert_true(tuning_forget(list, &error));
    json_decref(list);
    text_free(&damage);
    return 0;
}

/* A case of the workload: its record's `tuning`, and how it ended. */
struct outcome {
    json_t *tuning;
    struct assay_error failure;
    char notes[512];
    bool measured;
};

static struct outcome run_case(int64_t size, int way, bool only)
{
    struct outcome outcome = {0};
    struct params params = {size, way};
    struct measure_request request = {.workload = &workload, .params = &params, .seed = 7};
    struct measure_group group = {.members = &request, .count = 1, .tune_only = only};
    struct measure_result result;
    struct assay_error error = {0};
    assert_true(measure_group(&group, &result, &outcome.failure, &error));
    if (result.tuning.length)
        outcome.tuning = json_read(result.tuning.data, result.tuning.length, "tuning", &error);
    snprintf(outcome.notes, sizeof(outcome.notes), "%s", text_string(&result.notes));
    outcome.measured = result.samples.length > 0;
    measure_result_free(&result);
    return outcome;
}

static const json_t *row_of(const struct outcome *outcome, const char *name)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(outcome->tuning, "candidates"), i, row)
    {
        if (strcmp(json_text(row, "name", ""), name) == 0)
            return row;
    }
    fail_msg("no row of %s", name);
    return NULL;
}

static void check_choice(struct outcome outcome, const char *choice, const char *from)
{
    assert_string_equal(outcome.failure.text, "");
    assert_non_null(outcome.tuning);
    assert_string_equal(json_text(outcome.tuning, "choice", ""), choice);
    assert_string_equal(json_text(outcome.tuning, "from", ""), from);
    assert_true(outcome.measured);
    json_decref(outcome.tuning);
}

static void test_fastest_right_one(void **state)
{
    (void)state;
    struct outcome outcome = run_case(64, -1, false);
    assert_string_equal(json_text(outcome.tuning, "what", ""), "size 64");
    const json_t *fast = row_of(&outcome, "fast"), *wrong = row_of(&outcome, "wrong");
    assert_string_equal(json_text(fast, "verdict", ""), "right");
    assert_int_equal(json_whole(fast, "time_ns", 0), 2 * MS);
    assert_float_equal(json_number(fast, "rate", 0), 1e6 / 2e-3, 1);
    assert_string_equal(json_text(fast, "unit", ""), "flop/s");
    assert_string_equal(json_text(wrong, "verdict", ""), "wrong");
    assert_null(json_object_get(wrong, "time_ns"));
    assert_string_equal(json_text(wrong, "reason", ""), "the error is 8 times its bound");
    assert_string_equal(json_text(row_of(&outcome, "absent"), "verdict", ""), "unsupported");
    assert_string_equal(json_text(row_of(&outcome, "large"), "verdict", ""), "failed");
    check_choice(outcome, "fast", "measured");
    assert_int_equal(created[1], 1); /* once, to be tried */
    assert_int_equal(created[2], 2); /* and for the case */
}

static void test_from_the_cache(void **state)
{
    (void)state;
    check_choice(run_case(64, -1, false), "fast", "measured");
    memset(created, 0, sizeof(created));
    check_choice(run_case(64, -1, false), "fast", "cache");
    assert_int_equal(created[0], 0);
    assert_int_equal(created[1], 0);
    assert_int_equal(created[2], 1);
    check_choice(run_case(65, -1, false), "fast", "measured"); /* another key */
    workload.version = "2";
    check_choice(run_case(64, -1, false), "fast", "measured");
    setenv("LP_TEST", "1", 1); /* a driver may read it */
    check_choice(run_case(64, -1, false), "fast", "measured");
    check_choice(run_case(64, -1, false), "fast", "cache");
    ways[0].name = "simple"; /* other candidates */
    check_choice(run_case(64, -1, false), "fast", "measured");
}

static void test_set_by_hand(void **state)
{
    (void)state;
    struct outcome outcome = run_case(64, 0, false);
    assert_null(outcome.tuning);
    assert_true(outcome.measured);
    assert_int_equal(created[2], 0);
}

static void test_only(void **state)
{
    (void)state;
    struct outcome outcome = run_case(64, -1, true);
    assert_string_equal(outcome.failure.text, "");
    assert_false(outcome.measured);
    json_decref(outcome.tuning);
    ways[0].time_ns = 1 * MS; /* kept is "fast", but this measures anew */
    outcome = run_case(64, -1, true);
    assert_string_equal(json_text(outcome.tuning, "choice", ""), "plain");
    json_decref(outcome.tuning);
    check_choice(run_case(64, -1, false), "plain", "cache");
    outcome = run_case(64, 0, true);
    assert_int_equal(outcome.failure.status, ASSAY_INVALID);
    assert_string_equal(outcome.failure.text, "these parameters of 'fake' leave no choice open");
}

static void test_alike_the_earlier(void **state)
{
    (void)state;
    ways[0].time_ns = 2 * MS + 2 * MS / 200; /* half a per cent */
    check_choice(run_case(64, -1, false), "plain", "measured");
}

static void test_choice_does_not_fit_the_case(void **state)
{
    (void)state;
    reduces = true;
    ways[2].fault = ABSENT_WHEN_LARGE;
    ways[4] = (struct way){"twin", 2 * MS, RIGHT}; /* as fast as it, and before "plain" */
    check_choice(run_case(64, -1, false), "twin", "measured");
    ways[4].fault = ABSENT_WHEN_LARGE;
    check_choice(run_case(64, -1, false), "plain", "cache");
}

static void test_time_is_bounded(void **state)
{
    (void)state;
    ways[0].time_ns = 1500 * MS; /* tried by three batches: 4.5 s */
    struct outcome outcome = run_case(64, -1, false);
    assert_string_equal(json_text(row_of(&outcome, "fast"), "verdict", ""), "untried");
    assert_string_equal(json_text(row_of(&outcome, "fast"), "reason", ""), "the time was over");
    check_choice(outcome, "plain", "measured");
    memset(created, 0, sizeof(created));
    check_choice(run_case(64, -1, false), "fast", "measured");
    assert_int_equal(created[0], 1); /* after those that had no turn */
    assert_int_equal(created[2], 2);
    check_choice(run_case(64, -1, false), "fast", "cache");
}

static void test_too_slow_to_go_on(void **state)
{
    (void)state;
    ways[0].time_ns = 2500 * MS; /* three batches: over twice the time of all */
    check_choice(run_case(64, -1, false), "plain", "measured");
    check_choice(run_case(64, -1, false), "plain", "cache");
}

static void test_none_right(void **state)
{
    (void)state;
    ways[0].fault = ways[2].fault = WRONG;
    struct outcome outcome = run_case(64, -1, false);
    assert_int_equal(outcome.failure.status, ASSAY_WRONG_RESULT);
    assert_string_equal(outcome.failure.text,
                        "no candidate of 'fake' can be used: 'plain' wrong (the error is 8 times "
                        "its bound); 'wrong' wrong (the error is 8 times its bound); 'fast' wrong "
                        "(the error is 8 times its bound); and 2 more");
    ways[0].fault = ways[1].fault = ways[2].fault = ways[4].fault = ABSENT;
    workload.version = "2";
    outcome = run_case(64, -1, false);
    assert_int_equal(outcome.failure.status, ASSAY_UNSUPPORTED);
}

/* Right where it was tried, wrong in the case: the case fails, later ones choose another. */
static void test_wrong_in_a_case(void **state)
{
    (void)state;
    reduces = true;
    ways[1] = (struct way){"treacherous", 1 * MS, WRONG_WHEN_LARGE};
    struct outcome outcome = run_case(64, -1, false);
    assert_int_equal(outcome.failure.status, ASSAY_WRONG_RESULT);
    assert_string_equal(outcome.failure.text,
                        "the error is 8 times its bound; 'treacherous' was the tuner's choice, and "
                        "is not chosen any more");
    assert_int_equal(json_whole(json_object_get(outcome.tuning, "tried_with"), "size", 0), 1);
    json_decref(outcome.tuning);
    memset(created, 0, sizeof(created));
    outcome = run_case(64, -1, false);
    assert_string_equal(json_text(row_of(&outcome, "treacherous"), "reason", ""),
                        "in a case: the error is 8 times its bound");
    check_choice(outcome, "fast", "cache");
    outcome = run_case(64, -1, true); /* anew: it is right when small, but known */
    assert_string_equal(json_text(row_of(&outcome, "treacherous"), "verdict", ""), "wrong");
    assert_string_equal(json_text(outcome.tuning, "choice", ""), "fast");
    json_decref(outcome.tuning);
    assert_int_equal(created[1], 0);
}

static pid_t die_tuning(bool anew)
{
    pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        run_case(64, -1, anew);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    return child;
}

/* As the supervisor does when its worker has died. */
static void blame(pid_t worker, const char *name)
{
    struct text candidate = {0};
    assert_true(tuning_tried(worker, false, &candidate));
    assert_string_equal(text_string(&candidate), name);
    text_free(&candidate);
}

static void test_one_that_ends_the_worker(void **state)
{
    (void)state;
    struct text candidate = {0};
    ways[0].fault = CRASH;
    pid_t worker = die_tuning(false);
    assert_false(tuning_tried(worker + 1, false, &candidate));
    blame(worker, "plain");
    assert_false(tuning_tried(worker, false, &candidate));
    assert_false(tuning_tried(0, false, &candidate)); /* no worker was started */
    struct outcome outcome = run_case(64, -1, false);
    assert_string_equal(json_text(row_of(&outcome, "plain"), "verdict", ""), "crash");
    check_choice(outcome, "fast", "measured");
    assert_int_equal(created[0], 0);
    outcome = run_case(64, -1, true);
    assert_string_equal(json_text(row_of(&outcome, "plain"), "verdict", ""), "crash");
    json_decref(outcome.tuning);
    assert_int_equal(created[0], 0);
    text_free(&candidate);
}

static void test_two_that_end_the_worker(void **state)
{
    (void)state;
    ways[0].fault = ways[2].fault = CRASH;
    ways[1].fault = RIGHT;
    blame(die_tuning(false), "plain");
    blame(die_tuning(false), "fast"); /* the first is known by now */
    check_choice(run_case(64, -1, false), "wrong", "measured");
}

/* Between a case's look into the cache and the end of the case. */
static void test_another_worker_ends_meanwhile(void **state)
{
    (void)state;
    check_choice(run_case(64, -1, false), "fast", "measured");
    ways[0].fault = CRASH;
    blame(die_tuning(true), "plain");
    ways[2].fault = WRONG;
    struct outcome outcome = run_case(64, -1, false);
    assert_int_equal(outcome.failure.status, ASSAY_WRONG_RESULT);
    json_decref(outcome.tuning);
    memset(created, 0, sizeof(created));
    outcome = run_case(64, -1, false); /* not "plain", though it was right once */
    assert_int_equal(outcome.failure.status, ASSAY_WRONG_RESULT);
    assert_non_null(strstr(outcome.failure.text, "'plain' crash"));
    json_decref(outcome.tuning);
    assert_int_equal(created[0], 0);
    assert_int_equal(created[2], 0);
}

static void test_interrupted_is_tried_again(void **state)
{
    (void)state;
    struct text candidate = {0};
    ways[0].fault = CRASH;
    pid_t worker = die_tuning(false);
    assert_true(tuning_tried(worker, true, &candidate));
    assert_false(tuning_tried(worker, true, &candidate));
    ways[0].fault = RIGHT;
    ways[0].time_ns = 1 * MS;
    check_choice(run_case(64, -1, false), "plain", "measured");
    text_free(&candidate);
}

/* The supervisor went too: a signal has ended both, and the candidate is as good as before. */
static void test_nobody_saw_it_end(void **state)
{
    (void)state;
    ways[0].fault = CRASH;
    die_tuning(false);
    ways[0].fault = RIGHT;
    ways[0].time_ns = 1 * MS;
    struct outcome outcome = run_case(64, -1, false);
    assert_string_equal(json_text(row_of(&outcome, "plain"), "verdict", ""), "right");
    check_choice(outcome, "plain", "measured");
}

/* The path of the only file that is kept. */
static void kept_path(struct text *path)
{
    struct text damage = {0};
    json_t *list = tuning_list(&damage);
    assert_int_equal(json_array_size(list), 1);
    text_addf(path, "%s/assay/tuning/%s.json", cache,
              json_text(json_array_get(list, 0), "key", ""));
    json_decref(list);
    text_free(&damage);
}

static void test_damaged_file(void **state)
{
    (void)state;
    struct text path = {0}, bytes = {0}, wanted = {0};
    struct assay_error error = {0};
    check_choice(run_case(64, -1, false), "fast", "measured");
    kept_path(&path);
    assert_true(os_file_read(text_string(&path), 1 << 20, &bytes, &error));
    char *word = strstr(bytes.data, "fast");
    memcpy(word, "fake", 4);
    assert_true(os_file_write_atomic(text_string(&path), bytes.data, bytes.length, &error));
    struct outcome outcome = run_case(64, -1, false);
    text_addf(&wanted, "[\"%s is ignored: it was changed\"]", text_string(&path));
    assert_string_equal(outcome.notes, text_string(&wanted));
    check_choice(outcome, "fast", "measured");
    check_choice(run_case(64, -1, false), "fast", "cache");
    assert_true(os_file_write_atomic(text_string(&path), bytes.data, bytes.length / 2, &error));
    check_choice(run_case(64, -1, false), "fast", "measured");
    text_free(&path);
    text_free(&bytes);
    text_free(&wanted);
}

static void test_without_a_cache(void **state)
{
    (void)state;
    setenv("XDG_CACHE_HOME", "/proc/none", 1);
    struct outcome outcome = run_case(64, -1, false);
    assert_non_null(strstr(outcome.notes, "the tuner's choice is not kept: "));
    assert_false(json_flag(outcome.tuning, "kept", true));
    check_choice(outcome, "fast", "measured");
    outcome = run_case(64, -1, true);
    const char *note = strstr(outcome.notes, "the tuner's choice is not kept: ");
    assert_non_null(note);
    assert_null(strstr(note + 1, "the tuner's choice is not kept: ")); /* once */
    assert_false(json_flag(outcome.tuning, "kept", true));
    json_decref(outcome.tuning);
    setenv("XDG_CACHE_HOME", cache, 1);
    outcome = run_case(64, -1, false);
    assert_true(json_flag(outcome.tuning, "kept", true));
    check_choice(outcome, "fast", "measured");
}

/* Both members of a group are tuned before the first of them is sampled. */
static void test_pair_group(void **state)
{
    (void)state;
    struct params params[2] = {{64, -1}, {32, -1}};
    struct measure_request requests[2] = {{.workload = &workload, .params = &params[0]},
                                          {.workload = &workload, .params = &params[1]}};
    struct measure_group group = {.members = requests, .count = 2};
    struct measure_result results[2];
    struct assay_error failures[2], error = {0};
    assert_true(measure_group(&group, results, failures, &error));
    for (int i = 0; i < 2; i++) {
        assert_string_equal(failures[i].text, "");
        assert_non_null(strstr(text_string(&results[i].tuning), "\"choice\":\"fast\""));
        measure_result_free(&results[i]);
    }
    assert_int_equal(created[2], 4);
}

int main(void)
{
    if (!mkdtemp(cache))
        return 1;
    setenv("XDG_CACHE_HOME", cache, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_fastest_right_one, set_up),
        cmocka_unit_test_setup(test_from_the_cache, set_up),
        cmocka_unit_test_setup(test_set_by_hand, set_up),
        cmocka_unit_test_setup(test_only, set_up),
        cmocka_unit_test_setup(test_alike_the_earlier, set_up),
        cmocka_unit_test_setup(test_choice_does_not_fit_the_case, set_up),
        cmocka_unit_test_setup(test_time_is_bounded, set_up),
        cmocka_unit_test_setup(test_too_slow_to_go_on, set_up),
        cmocka_unit_test_setup(test_none_right, set_up),
        cmocka_unit_test_setup(test_wrong_in_a_case, set_up),
        cmocka_unit_test_setup(test_one_that_ends_the_worker, set_up),
        cmocka_unit_test_setup(test_two_that_end_the_worker, set_up),
        cmocka_unit_test_setup(test_another_worker_ends_meanwhile, set_up),
        cmocka_unit_test_setup(test_interrupted_is_tried_again, set_up),
        cmocka_unit_test_setup(test_nobody_saw_it_end, set_up),
        cmocka_unit_test_setup(test_damaged_file, set_up),
        cmocka_unit_test_setup(test_without_a_cache, set_up),
        cmocka_unit_test_setup(test_pair_group, set_up),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    set_up(NULL);
    char path[128];
    static const char *const made[] = {"/assay/tuning", "/assay", ""};
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", cache, made[i]);
        rmdir(path);
    }
    return failed;
}
