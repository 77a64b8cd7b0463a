/* SPDX-License-Identifier: MIT */
/* What `copy` says to parameters that make no sense. No device is asked. */
#include "../workload_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct workload_fixture copy;

static void refused(const char *const *settings, const char *text)
{
    struct assay_error error = {0};
    assert_null(workload_params(&copy, settings, &error));
    assert_string_equal(error.text, text);
    assert_int_equal(error.status, ASSAY_INVALID);
}
#define REFUSED(text, ...) refused((const char *const[]){__VA_ARGS__, NULL}, text)

static void allowed(const char *const *settings)
{
    struct assay_error error = {0};
    assert_non_null(workload_params(&copy, settings, &error));
}
#define ALLOWED(...) allowed((const char *const[]){__VA_ARGS__, NULL})

static void sizes(void **state)
{
    (void)state;
    REFUSED("bytes: 0 B is out of range, allowed are 1 B to 8 PiB", "bytes", "0");
    REFUSED("bytes: 8 EiB is out of range, allowed are 1 B to 8 PiB", "bytes",
            "9223372036854775808");
    REFUSED("bytes: 6 B is not a multiple of 4 B, as method fill needs; method command takes any "
            "size",
            "bytes", "6", "method", "fill", "direction", "device");
    REFUSED("bytes: 1 B is not a multiple of 4 B, as method shader needs; method command takes any "
            "size",
            "bytes", "1", "method", "shader");
    REFUSED(
        "chunk: 1001 B is not a multiple of 4 B, as method shader needs; method command takes any "
        "size",
        "chunk", "1001", "method", "shader");
    ALLOWED("bytes", "1");
    ALLOWED("bytes", "7", "method", "map");
    ALLOWED("bytes", "4", "method", "shader");
}

static void pieces(void **state)
{
    (void)state;
    REFUSED("chunk: 67108864 B in pieces of 1 B are 67108864 pieces, at most 1000000 are allowed: "
            "give a chunk of at least 68 B, or 0 for the whole",
            "chunk", "1");
    ALLOWED("chunk", "68");
    ALLOWED("chunk", "1", "bytes", "1000000");
    REFUSED(
        "chunk: 1000001 B in pieces of 1 B are 1000001 pieces, at most 1000000 are allowed: give "
        "a chunk of at least 4 B, or 0 for the whole",
        "chunk", "1", "bytes", "1000001");
    ALLOWED("chunk", "1 GiB", "bytes", "1");
}

static void combinations(void **state)
{
    (void)state;
    REFUSED(
        "method fill writes device memory and reads nothing: it goes with direction device, not "
        "with upload",
        "method", "fill");
    REFUSED("method map is a copy by the host: it goes with direction upload or download, not with "
            "device",
            "method", "map", "direction", "device");
    REFUSED("method map is a copy by the host: it goes with direction upload or download, not with "
            "both",
            "method", "map", "direction", "both");
    ALLOWED("method", "map", "direction", "download");
    ALLOWED("method", "fill", "direction", "device");
}

static void costs(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct assay_cost cost = {0};
    const struct assay_stage *stage = copy.workload->stages[0];
    stage->cost(stage, workload_params(&copy, (const char *const[]){"bytes", "10", NULL}, &error),
                &cost);
    assert_int_equal(cost.payload_bytes, 10);
    assert_int_equal(cost.read_bytes, 10);
    assert_int_equal(cost.written_bytes, 10);
    stage->cost(stage,
                workload_params(
                    &copy, (const char *const[]){"bytes", "10", "direction", "both", NULL}, &error),
                &cost);
    assert_int_equal(cost.payload_bytes, 20);
    assert_int_equal(cost.read_bytes, 20);
    stage->cost(stage,
                workload_params(&copy,
                                (const char *const[]){"bytes", "12", "direction", "device",
                                                      "method", "fill", NULL},
                                &error),
                &cost);
    assert_int_equal(cost.payload_bytes, 12);
    assert_int_equal(cost.read_bytes, 0);
    assert_int_equal(cost.written_bytes, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(pieces),
        cmocka_unit_test(combinations),
        cmocka_unit_test(costs),
    };
    struct assay_error error = {0};
    if (!workload_open(&copy, "copy", &error)) {
        print_error("%s\n", error.text);
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    workload_close(&copy);
    return failed;
}
