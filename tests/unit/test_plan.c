/* SPDX-License-Identifier: MIT */
#include "experiment/plan.h"
#include "fake_catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
    struct catalog *catalog;
    struct plan *plan;
};

static int set_up(void **state)
{
    struct assay_error error = {0};
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    fixture->catalog = fake_catalog(&error);
    fixture->plan = plan_create(fixture->catalog, 7, &error);
    *state = fixture;
    return fixture->plan ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    plan_destroy(&fixture->plan);
    catalog_destroy(&fixture->catalog);
    free(fixture);
    return 0;
}

static void add_experiment(struct plan *plan, const char *name)
{
    struct assay_error error = {0};
    struct plan_experiment experiment = {.name = name, .script = "a.lua", .line = 3};
    assert_true(plan_add_experiment(plan, &experiment, &error));
}

static struct plan_setting bytes_setting(int64_t bytes)
{
    return (struct plan_setting){2, {ASSAY_OPTION_INTEGER, {.integer = bytes}}};
}

static void add_bytes(struct plan *plan, int64_t bytes)
{
    struct assay_error error = {0};
    struct plan_setting setting = bytes_setting(bytes);
    struct plan_case item = {
        .workload = catalog_at(plan->catalog, 0), .settings = &setting, .setting_count = 1};
    if (!plan_add_case(plan, &item, &error))
        fail_msg("%s", error.text);
}

/* The same object built with jansson, printed sorted and compact. */
static void canonical_is_sorted_json(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    struct text text = {0}, other = {0};
    add_experiment(plan, "a \"quoted\" \\ \xc3\xa4\x01 name\n");
    struct plan_setting settings[] = {
        {0, {ASSAY_OPTION_CHOICE, {.choice = 1}}},  bytes_setting(INT64_C(67108864)),
        {3, {ASSAY_OPTION_REAL, {.real = 0.1}}},    {4, {ASSAY_OPTION_BOOLEAN, {.boolean = false}}},
        {5, {ASSAY_OPTION_TEXT, {.text = "t\t/"}}},
    };
    struct plan_case item = {.workload = catalog_at(plan->catalog, 0),
                             .device = "cpu",
                             .replica = 2,
                             .settings = settings,
                             .setting_count = 5};
    assert_true(plan_case_canonical(plan, &item, &text, &error));
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s, s:i, s:i, s:{s:s}, s:{s:s, s:I, s:f, s:b, s:s}}", "workload", "copy",
        "version", "1", "experiment", "a \"quoted\" \\ \xc3\xa4\x01 name\n", "device", "cpu",
        "replica", 2, "seed", 7, "schedule", "name", "serial", "params", "direction", "download",
        "bytes", (json_int_t)67108864, "scale", 0.1, "checked", 0, "label", "t\t/");
    assert_true(json_add_line(&other, json, true, &error));
    assert_string_equal(text_string(&text), text_string(&other));
    json_decref(json);
    text_free(&text);
    text_free(&other);
}

/* Ids are an interface: journals of different versions are compared by them. */
static void ids_are_stable(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    struct text text = {0};
    char hex[HASH_HEX_BYTES];
    add_experiment(plan, "golden");
    add_bytes(plan, 4096);
    assert_true(plan_case_canonical(plan, &plan->cases[0], &text, &error));
    assert_string_equal(text_string(&text),
                        "{\"device\":null,\"experiment\":\"golden\",\"params\":{\"bytes\":4096},"
                        "\"replica\":0,\"schedule\":{\"name\":\"serial\"},\"seed\":7,"
                        "\"version\":\"1\",\"workload\":\"copy\"}");
    hash_hex(&plan->cases[0].id, hex);
    assert_string_equal(hex, "a3c1ea0ac43f771ad7dfe62ae4151d8d");
    assert_true(plan->cases[0].seed <= INT64_MAX);
    assert_ptr_equal(plan_find(plan, &plan->cases[0].id), &plan->cases[0]);
    struct hash128 none = {{0}};
    assert_null(plan_find(plan, &none));
    text_free(&text);
}

static void the_schedule_is_part_of_the_id(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    struct text text = {0};
    struct schedule schedule = schedule_default(SCHEDULE_SERIAL);
    schedule_set(&schedule, 0, &(struct option_value){ASSAY_OPTION_CHOICE, {.choice = 1}});
    struct plan_case item = {.workload = catalog_at(plan->catalog, 0), .schedule = &schedule};
    add_experiment(plan, "golden");
    assert_true(plan_add_case(plan, &item, &error));
    assert_true(plan_case_canonical(plan, &plan->cases[0], &text, &error));
    assert_non_null(
        strstr(text_string(&text), "\"schedule\":{\"name\":\"serial\",\"queues\":\"one\"},"));
    json_t *request = plan_case_request(plan, &plan->cases[0], false);
    assert_string_equal(json_text(json_object_get(request, "schedule"), "queues", ""), "one");
    json_decref(request);
    text_free(&text);
}

/* Cases that differ in their schedules alone are a group where that is the pair axis. */
static void schedules_may_be_the_pair_axis(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    struct text text = {0};
    struct schedule schedules[3] = {schedule_default(SCHEDULE_SERIAL),
                                    schedule_default(SCHEDULE_PIPELINED),
                                    schedule_default(SCHEDULE_PIPELINED)};
    schedule_set(&schedules[2], 0, &(struct option_value){ASSAY_OPTION_INTEGER, {.integer = 3}});
    struct plan_experiment experiment = {.name = "e",
                                         .script = "a.lua",
                                         .line = 3,
                                         .pair = "schedule",
                                         .varied = (const char *const[]){"schedule", NULL}};
    assert_true(plan_add_experiment(plan, &experiment, &error));
    for (size_t i = 0; i < 3; i++) {
        struct plan_case item = {.workload = catalog_at(plan->catalog, 0),
                                 .schedule = &schedules[i]};
        assert_true(plan_add_case(plan, &item, &error));
        plan_case_label(plan, &plan->cases[i], false, &text);
        text_add_char(&text, '|');
    }
    assert_int_equal(plan->group_count, 1);
    assert_int_equal(plan->groups[0].count, 3);
    assert_string_equal(text_string(&text),
                        "copy schedule=serial|copy schedule=pipelined|copy schedule=pipelined "
                        "depth=3|");
    text_clear(&text);
    plan_group_label(plan, 0, &text);
    assert_string_equal(text_string(&text), "");
    text_free(&text);
}

static void order_does_not_matter(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    struct plan *other = plan_create(plan->catalog, 7, &error);
    add_experiment(plan, "x");
    add_experiment(other, "x");
    add_bytes(plan, 1);
    add_bytes(plan, 2);
    add_bytes(other, 2);
    add_bytes(other, 1);
    assert_memory_equal(&plan->cases[0].id, &other->cases[1].id, sizeof(struct hash128));
    assert_true(plan->cases[0].seed == other->cases[1].seed);
    assert_true(plan->cases[0].seed != plan->cases[1].seed);
    plan_destroy(&other);
}

static void refuses_the_same_twice(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    add_experiment(plan, "x");
    add_bytes(plan, 4096);
    struct plan_setting setting = bytes_setting(4096);
    struct plan_case item = {
        .workload = catalog_at(plan->catalog, 0), .settings = &setting, .setting_count = 1};
    bool has = false;
    assert_true(plan_has_case(plan, &item, &has, &error));
    assert_true(has);
    assert_false(plan_add_case(plan, &item, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text,
                        "the case 'copy bytes=4KiB' is there twice; remove the repeated "
                        "value, or vary 'replica' to repeat a case");
    error = (struct assay_error){0};
    struct plan_experiment experiment = {.name = "x", .script = "b.lua", .line = 9};
    assert_false(plan_add_experiment(plan, &experiment, &error));
    assert_string_equal(error.text, "there is an experiment of the name 'x' already, at a.lua:3; "
                                    "give each a name of its own");
}

static void selects_cases(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    char hex[HASH_HEX_BYTES];
    add_experiment(plan, "first");
    add_bytes(plan, 4096);
    add_bytes(plan, 8192);
    add_experiment(plan, "second");
    add_bytes(plan, 4096);
    assert_int_equal(plan_selected_count(plan), 3);
    assert_int_equal(plan_select_glob(plan, "bytes=4KiB"), 2);
    assert_int_equal(plan_select_glob(plan, "second/*"), 1);
    assert_true(plan->cases[2].selected);
    for (size_t i = 0; i < 3; i++)
        plan->cases[i].selected = true;
    hash_hex(&plan->cases[1].id, hex);
    assert_true(plan_select_id(plan, hex, &error));
    assert_int_equal(plan_selected_count(plan), 1);
    assert_true(plan->cases[1].selected);
    assert_false(plan_select_id(plan, "zz", &error));
    assert_string_equal(error.text,
                        "no case has an id that starts with 'zz'; ids depend on the seed and on "
                        "--set: `assay list SCRIPT` shows them");
}

/* Paths and selectors are bytes; JSON is not. */
static void requests_survive_what_is_not_utf8(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    struct plan_experiment experiment = {.name = "x", .script = "\xff.lua", .line = 3};
    assert_true(plan_add_experiment(plan, &experiment, &error));
    add_bytes(plan, 4096);
    plan->device = "a\xff";
    json_t *request = plan_case_request(plan, &plan->cases[0], false);
    assert_string_equal(json_text(request, "script", ""), "\xef\xbf\xbd.lua");
    assert_string_equal(json_text(request, "device", ""), "a\xef\xbf\xbd");
    json_decref(request);
}

static void requests_hold_what_the_worker_needs(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    struct text text = {0};
    char hex[HASH_HEX_BYTES], definition[HASH_HEX_BYTES], wanted[1024];
    struct plan_experiment experiment = {.name = "x",
                                         .script = "a.lua",
                                         .line = 3,
                                         .measure = {.budget_ns = 500000000, .min_samples = 8}};
    assert_true(plan_add_experiment(plan, &experiment, &error));
    add_bytes(plan, 4096);
    plan->device = "gpu";
    hash_hex(&plan->cases[0].id, hex);
    hash_hex(&catalog_at(plan->catalog, 0)->definition, definition);
    json_t *request = plan_case_request(plan, &plan->cases[0], true);
    assert_true(json_add_line(&text, request, true, &error));
    snprintf(wanted, sizeof(wanted),
             "{\"ask\":\"case\",\"case_seed\":%lld,\"definition\":\"%s\",\"device\":\"gpu\","
             "\"experiment\":\"x\",\"id\":"
             "\"%s\",\"line\":3,\"measure\":{\"budget_ns\":50000000,\"max_samples\":10000,"
             "\"min_samples\":8,\"target\":0.02},\"pair\":null,\"quick\":true,\"replica\":0,"
             "\"schedule\":{"
             "\"name\":\"serial\"},\"script\":\"a.lua\",\"seed\":7,\"set\":{\"bytes\":4096},"
             "\"version\":\"1\",\"workload\":\"copy\"}",
             (long long)plan->cases[0].seed, definition, hex);
    assert_int_equal(json_object_size(request), 17);
    json_t *parsed = json_read(wanted, strlen(wanted), "wanted", &error);
    assert_true(json_equal(parsed, request));
    json_decref(parsed);
    json_decref(request);
    text_free(&text);
}

/* Cases bytes = 1, 2, 3 times replica = 0, 1; replica varies slowest. */
static void add_pairs(struct plan *plan, const char *pair)
{
    struct assay_error error = {0};
    static const char *const varied[] = {"replica", "bytes", NULL};
    struct plan_experiment experiment = {
        .name = pair ? pair : "none", .script = "a.lua", .line = 3, .varied = varied, .pair = pair};
    assert_true(plan_add_experiment(plan, &experiment, &error));
    for (uint32_t replica = 0; replica < 2; replica++) {
        for (int64_t bytes = 1; bytes <= 3; bytes++) {
            struct plan_setting setting = bytes_setting(bytes);
            struct plan_case item = {.workload = catalog_at(plan->catalog, 0),
                                     .replica = replica,
                                     .settings = &setting,
                                     .setting_count = 1};
            assert_true(plan_add_case(plan, &item, &error));
        }
    }
}

static void assert_group(const struct plan *plan, uint32_t group, const size_t *members,
                         size_t count)
{
    const struct plan_case *item = plan_group_first(plan, group);
    for (size_t i = 0; i < count; i++, item = plan_group_next(plan, item)) {
        assert_ptr_equal(item, &plan->cases[members[i]]);
        assert_int_equal(item->group, group);
    }
    assert_null(item);
    assert_int_equal(plan->groups[group].count, count);
}

static void groups_differ_in_the_pair_axis_alone(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    add_pairs(plan, NULL);
    add_pairs(plan, "replica");
    add_pairs(plan, "bytes");
    assert_int_equal(plan->group_count, 6 + 3 + 2);
    for (uint32_t i = 0; i < 6; i++)
        assert_group(plan, i, (size_t[]){i}, 1);
    assert_group(plan, 6, (size_t[]){6, 9}, 2);
    assert_group(plan, 7, (size_t[]){7, 10}, 2);
    assert_group(plan, 8, (size_t[]){8, 11}, 2);
    assert_group(plan, 9, (size_t[]){12, 13, 14}, 3);
    assert_group(plan, 10, (size_t[]){15, 16, 17}, 3);
    struct text text = {0};
    plan_group_label(plan, 7, &text);
    text_add(&text, "|");
    plan_group_label(plan, 10, &text);
    assert_string_equal(text_string(&text), "bytes=2B|replica=1");
    text_free(&text);
}

static void a_filter_keeps_groups_whole(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    char hex[HASH_HEX_BYTES];
    add_pairs(plan, "replica");
    assert_int_equal(plan_select_glob(plan, "*replica=1*bytes=2B*"), 2);
    assert_true(plan->cases[1].selected && plan->cases[4].selected);
    /* One member is looked for after another: the group is still there. */
    assert_int_equal(plan_select_glob(plan, "replica=0"), 2);
    assert_int_equal(plan_selected_count(plan), 2);
    hash_hex(&plan->cases[4].id, hex);
    assert_true(plan_select_id(plan, hex, &error));
    assert_true(plan->cases[1].selected && plan->cases[4].selected);
    hash_hex(&plan->cases[0].id, hex);
    assert_false(plan_select_id(plan, hex, &error));
}

static void group_requests_hold_their_cases(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct assay_error error = {0};
    struct text ids = {0};
    char hex[HASH_HEX_BYTES];
    add_pairs(plan, "replica");
    plan->experiments[0].looks = true;
    json_t *request = plan_group_request(plan, 1, false);
    text_add_bytes(&ids, (const char *)plan->cases[1].id.bytes, 16);
    text_add_bytes(&ids, (const char *)plan->cases[4].id.bytes, 16);
    struct hash128 group = hash_bytes(ids.data, ids.length);
    text_free(&ids);
    hash_hex(&group, hex);
    assert_string_equal(json_text(request, "ask", ""), "group");
    assert_string_equal(json_text(request, "axis", ""), "replica");
    assert_string_equal(json_text(request, "group", ""), hex);
    assert_true(json_flag(request, "looks", false));
    assert_true(json_whole(request, "order_seed", -1) >= 0);
    const json_t *cases = json_object_get(request, "cases");
    assert_int_equal(json_array_size(cases), 2);
    for (size_t i = 0; i < 2; i++) {
        json_t *alone = plan_case_request(plan, &plan->cases[1 + 3 * i], false);
        assert_true(json_equal(alone, json_array_get(cases, i)));
        const json_t *pair = json_object_get(alone, "pair");
        assert_string_equal(json_text(pair, "axis", ""), "replica");
        assert_string_equal(json_text(pair, "group", ""), hex);
        assert_int_equal(json_whole(pair, "cases", -1), 2);
        json_decref(alone);
    }
    json_decref(request);
    assert_true(error.status == ASSAY_OK);
    add_experiment(plan, "x");
    add_bytes(plan, 4096);
    request = plan_group_request(plan, 3, false);
    assert_string_equal(json_text(request, "ask", ""), "case");
    assert_false(json_flag(request, "looks", true));
    assert_true(json_is_null(json_object_get(request, "pair")));
    json_decref(request);
}

static void labels_name_what_is_set(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    struct text text = {0};
    add_experiment(plan, "x");
    struct plan_setting settings[] = {{0, {ASSAY_OPTION_CHOICE, {.choice = 2}}},
                                      bytes_setting(INT64_C(64) << 20)};
    struct plan_case item = {
        .workload = catalog_at(plan->catalog, 0), .settings = settings, .setting_count = 2};
    plan_case_label(plan, &item, false, &text);
    text_add(&text, "|");
    item.device = "cpu";
    item.replica = 1;
    plan_case_label(plan, &item, true, &text);
    assert_string_equal(text_string(&text),
                        "copy direction=device bytes=64MiB|device=cpu replica=1 "
                        "direction=device bytes=64MiB");
    text_free(&text);
}

static void grows_to_many_cases(void **state)
{
    struct plan *plan = ((struct fixture *)*state)->plan;
    add_experiment(plan, "many");
    for (int64_t i = 1; i <= 20000; i++)
        add_bytes(plan, i);
    assert_int_equal(plan->case_count, 20000);
    for (size_t i = 0; i < plan->case_count; i += 997)
        assert_ptr_equal(plan_find(plan, &plan->cases[i].id), &plan->cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define PLAN_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
        PLAN_TEST(canonical_is_sorted_json),
        PLAN_TEST(ids_are_stable),
        PLAN_TEST(the_schedule_is_part_of_the_id),
        PLAN_TEST(schedules_may_be_the_pair_axis),
        PLAN_TEST(order_does_not_matter),
        PLAN_TEST(refuses_the_same_twice),
        PLAN_TEST(selects_cases),
        PLAN_TEST(requests_survive_what_is_not_utf8),
        PLAN_TEST(requests_hold_what_the_worker_needs),
        PLAN_TEST(labels_name_what_is_set),
        PLAN_TEST(groups_differ_in_the_pair_axis_alone),
        PLAN_TEST(a_filter_keeps_groups_whole),
        PLAN_TEST(group_requests_hold_their_cases),
        PLAN_TEST(grows_to_many_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
