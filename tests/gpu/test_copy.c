/* SPDX-License-Identifier: MIT */
/* `copy` in every direction, by every method, from every kind of memory, over odd sizes; each byte
 * is verified, and a planted corruption is found. */
#include "builtin_fixture.h"

#include "../metrics_json.h"
#include "base/json.h"
#include "base/os.h"

#include <unistd.h>

static const char *const directions[] = {"upload", "download", "device", "both"};
static const char *const memories[] = {"pageable", "pinned", "cached", "imported", "bar"};
static const char *const methods[] = {"command", "shader", "fill", "map"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct point {
    const char *direction, *memory, *method, *bytes, *chunk, *kernel;
};

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool measure(const struct point *point, const char *directory, struct measure_result *result,
                    struct assay_error *error)
{
    const char *const settings[] = {
        "direction",   point->direction, "host_memory",
        point->memory, "method",         point->method,
        "bytes",       point->bytes,     "chunk",
        point->chunk,  "kernel",         point->kernel ? point->kernel : "copy_words.comp",
        NULL};
    return builtin_measure(settings, directory, result, error);
}

static void assert_measured(const struct point *point, const struct measure_result *result)
{
    struct assay_error error = {0};
    int64_t bytes = strtoll(point->bytes, NULL, 10);
    int64_t payload = is(point->direction, "both") ? 2 * bytes : bytes;
    json_t *verification = json_read(result->verification.data, result->verification.length, "v",
                                     &error);
    assert_string_equal(json_text(verification, "verdict", ""), "right");
    assert_int_equal(json_whole(verification, "checked_bytes", -1), payload);
    json_decref(verification);
    json_t *stages = json_read(result->stages.data, result->stages.length, "s", &error);
    assert_int_equal(json_array_size(stages), 1);
    json_t *stage = json_array_get(stages, 0);
    assert_string_equal(json_text(stage, "kind", ""),
                        is(point->method, "shader") ? "compute" : "transfer");
    assert_int_equal(json_whole(json_object_get(stage, "cost"), "payload_bytes", -1), payload);
    json_decref(stages);
    json_t *metrics = metrics_json(result->metrics);
    struct metric pieces, time;
    metric_from_json(metrics, "pieces", &pieces);
    int64_t chunk = strtoll(point->chunk, NULL, 10);
    int64_t each = chunk ? (bytes + chunk - 1) / chunk : 1;
    assert_true(pieces.value == (double)(is(point->direction, "both") ? 2 * each : each));
    metric_from_json(metrics, "time", &time);
    assert_null(time.absent);
    assert_true(time.n >= 6 && time.value > 0);
    json_decref(metrics);
}

/* Which points cannot be had anywhere, and which only where the device can. */
static enum assay_status expected(const struct point *point)
{
    bool host = !is(point->direction, "device");
    bool one_way = is(point->direction, "upload") || is(point->direction, "download");
    if (is(point->method, "fill") && host)
        return ASSAY_INVALID;
    if (is(point->method, "map") && !one_way)
        return ASSAY_INVALID;
    if (host && is(point->memory, "pageable") &&
        (is(point->method, "shader") || is(point->direction, "both")))
        return ASSAY_UNSUPPORTED;
    return ASSAY_OK;
}

static void run_point(const struct point *point)
{
    struct measure_result result;
    struct assay_error error = {0};
    bool ok = measure(point, NULL, &result, &error);
    enum assay_status wanted = expected(point);
    if (ok) {
        assert_int_equal(wanted, ASSAY_OK);
        assert_measured(point, &result);
    } else {
        bool absent = error.status == ASSAY_UNSUPPORTED && strstr(error.text, " memory: no ");
        if (wanted == ASSAY_OK && !absent)
            print_error("%s %s %s %s/%s: %s\n", point->direction, point->memory, point->method,
                        point->bytes, point->chunk, error.text);
        assert_true(error.status == wanted || absent);
    }
    measure_result_free(&result);
    fixture_assert_quiet(&builtin.vulkan);
}

static void run_all(const char *bytes, const char *chunk)
{
    for (size_t d = 0; d < COUNT(directions); d++) {
        for (size_t h = 0; h < COUNT(memories); h++) {
            for (size_t m = 0; m < COUNT(methods); m++) {
                struct point point = {.direction = directions[d],
                                      .memory = memories[h],
                                      .method = methods[m],
                                      .bytes = bytes,
                                      .chunk = chunk};
                run_point(&point);
            }
        }
    }
}

static void words(void **state)
{
    (void)state;
    run_all("4", "0");
    run_all("262148", "0");
}

static void words_in_pieces(void **state)
{
    (void)state;
    run_all("100004", "4096");
}

static void odd_sizes(void **state)
{
    (void)state;
    static const char *const sizes[] = {"1", "3", "100003"};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (size_t d = 0; d < COUNT(directions); d++) {
            for (size_t h = 0; h < COUNT(memories); h++) {
                struct point point = {.direction = directions[d],
                                      .memory = memories[h],
                                      .method = "command",
                                      .bytes = sizes[i],
                                      .chunk = i == 2 ? "1001" : "0"};
                run_point(&point);
                point.method = "map";
                run_point(&point);
            }
        }
    }
}

static void staged_in_several_pieces(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; d++) {
        struct point point = {.direction = directions[d],
                              .memory = "pageable",
                              .method = "command",
                              .bytes = "33554439",
                              .chunk = "0"};
        run_point(&point);
    }
}

/* 20 MB are more than one dispatch of 65535 groups of 64 invocations of four words covers. */
static void dispatches_are_split(void **state)
{
    (void)state;
    struct point point = {.direction = "device",
                          .memory = "pinned",
                          .method = "shader",
                          .bytes = "80000004",
                          .chunk = "0"};
    run_point(&point);
}

static void refused(const struct point *point, const char *directory, enum assay_status status,
                    const char *text)
{
    struct measure_result result;
    struct assay_error error = {0};
    assert_false(measure(point, directory, &result, &error));
    if (!strstr(error.text, text))
        print_error("%s\n", error.text);
    assert_int_equal(error.status, status);
    assert_non_null(strstr(error.text, text));
    assert_int_equal(result.samples.length, 0);
    measure_result_free(&result);
    fixture_assert_quiet(&builtin.vulkan);
}

static void refusals_name_the_way_out(void **state)
{
    (void)state;
    struct point point = {.direction = "upload",
                          .memory = "pageable",
                          .method = "shader",
                          .bytes = "64",
                          .chunk = "0"};
    refused(
        &point, NULL, ASSAY_UNSUPPORTED,
        "a shader cannot reach pageable memory; host_memory pinned, cached, imported and bar can "
        "be reached");
    point.direction = "both";
    point.method = "command";
    refused(
        &point, NULL, ASSAY_UNSUPPORTED,
        "pageable memory is staged by the host, piece by piece, so both ways cannot run at once; "
        "host_memory pinned, cached, imported and bar can");
    point.direction = "device";
    point.bytes = "9007199254740992";
    refused(&point, NULL, ASSAY_UNSUPPORTED, "8 PiB (9007199254740992 B) of device memory wanted");
}

static void planted_corruption_is_found(void **state)
{
    (void)state;
    static const char source[] =
        "#version 450\n"
        "layout(local_size_x = 64) in;\n"
        "layout(binding = 0, std430) readonly buffer s { uint data[]; } source;\n"
        "layout(binding = 1, std430) writeonly buffer d { uint data[]; } destination;\n"
        "layout(push_constant) uniform push_block { uint words; };\n"
        "void main() {\n"
        "    for (uint i = 0; i < 4; i++) {\n"
        "        uint at = gl_GlobalInvocationID.x * 4 + i;\n"
        "        if (at < words)\n"
        "            destination.data[at] = source.data[at] ^ (at == 1000 ? 0x10000u : 0u);\n"
        "    }\n"
        "}\n";
    char directory[] = "/tmp/assay-test-XXXXXX";
    struct assay_error error = {0};
    struct text path = {0};
    assert_non_null(mkdtemp(directory));
    os_path_join(&path, directory, "corrupt.comp");
    fixture_assert_ok(os_file_write_atomic(text_string(&path), source, sizeof(source) - 1, &error),
                      &error);
    struct point point = {.direction = "upload",
                          .memory = "pinned",
                          .method = "shader",
                          .bytes = "8192",
                          .chunk = "0",
                          .kernel = "corrupt.comp"};
    /* Bit 16 of word 1000 is in its third byte, little-endian. */
    refused(&point, directory, ASSAY_WRONG_RESULT, "copy: byte 4002 is 0x");
    point.bytes = "4000"; /* ends before the wrong word */
    struct measure_result result;
    error = (struct assay_error){0};
    fixture_assert_ok(measure(&point, directory, &result, &error), &error);
    measure_result_free(&result);
    unlink(text_string(&path));
    rmdir(directory);
    text_free(&path);
    fixture_assert_quiet(&builtin.vulkan);
}

/* Four cases alive together: both ways, by command and by a shader, on inputs of their own. Each is
 * right, and sample i of all is turn i. */
static void a_pair_group_is_verified_case_by_case(void **state)
{
    (void)state;
    struct assay_error error = {0}, failures[4];
    struct measure_request members[4];
    struct measure_result results[4];
    const char *const search[] = {getenv("ASSAY_SHADER_DIR"), NULL};
    struct shader_search shader_search = {.directories = search};
    for (size_t i = 0; i < 4; i++) {
        const char *const settings[] = {"direction", i < 2 ? "upload" : "download",
                                        "method",    i % 2 ? "shader" : "command",
                                        "bytes",     "100000",
                                        NULL};
        members[i] = (struct measure_request){
            .workload = builtin.workload.workload,
            .params = workload_params(&builtin.workload, settings, &error),
            .device = builtin.device,
            .search = &shader_search,
            .seed = 42 + i};
        fixture_assert_ok(members[i].params != NULL, &error);
    }
    struct measure_group group = {.members = members,
                                  .count = 4,
                                  .budget = {.budget_ns = 1000000, .warmup_ns = 1, .looks = true},
                                  .order_seed = 3};
    fixture_assert_ok(measure_group(&group, results, failures, &error), &error);
    size_t turns = 0;
    for (size_t i = 0; i < 4; i++) {
        fixture_assert_ok(failures[i].status == ASSAY_OK, &failures[i]);
        json_t *verification = json_read(results[i].verification.data,
                                         results[i].verification.length, "v", &error);
        assert_string_equal(json_text(verification, "verdict", ""), "right");
        assert_int_equal(json_whole(verification, "checked_bytes", -1), 100000);
        json_decref(verification);
        json_t *samples = json_read(results[i].samples.data, results[i].samples.length, "s",
                                    &error);
        size_t count = json_array_size(json_object_get(samples, "copy.time"));
        turns = i ? turns : count;
        assert_int_equal(count, turns);
        assert_true(count >= 8);
        json_decref(samples);
        measure_result_free(&results[i]);
    }
    fixture_assert_quiet(&builtin.vulkan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(words_in_pieces),
        cmocka_unit_test(odd_sizes),
        cmocka_unit_test(staged_in_several_pieces),
        cmocka_unit_test(dispatches_are_split),
        cmocka_unit_test(refusals_name_the_way_out),
        cmocka_unit_test(planted_corruption_is_found),
        cmocka_unit_test(a_pair_group_is_verified_case_by_case),
    };
    return builtin_run("copy", tests, builtin_set_up);
}
