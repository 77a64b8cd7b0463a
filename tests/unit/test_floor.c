/* SPDX-License-Identifier: MIT */
/* Floors against arithmetic done by hand. */
#include "judge/floor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Copies of 1 MB and of 4 GB (working sets of 2 MB and 8 GB), 400 GB/s of bandwidth at the larger
 * one. */
static json_t *record(void)
{
    return json_loads(
        "{\"peaks\":["
        "{\"name\":\"copy.device\",\"bytes\":8e9,\"unit\":\"B/s\",\"value\":2e11,\"low\":1.6e11,"
        "\"high\":2.5e11,\"n\":9},"
        "{\"name\":\"copy.device\",\"bytes\":2e6,\"unit\":\"B/s\",\"value\":1e12,\"low\":1e12,"
        "\"high\":1e12,\"n\":7},"
        "{\"name\":\"copy.upload\",\"unit\":\"B/"
        "s\",\"value\":2e10,\"low\":2e10,\"high\":2e10,\"n\":6},"
        "{\"name\":\"copy.download\",\"unit\":\"B/s\",\"absent\":\"no such memory\"},"
        "{\"name\":\"fp32.x1\",\"unit\":\"flop/"
        "s\",\"value\":1e12,\"low\":9e11,\"high\":1.1e12,\"n\":8},"
        "{\"name\":\"fp32.x4\",\"unit\":\"flop/"
        "s\",\"value\":2e12,\"low\":2e12,\"high\":2e12,\"n\":12},"
        "{\"name\":\"fp64.x1\",\"unit\":\"flop/s\",\"absent\":\"no 64-bit floats\"}]}",
        0, NULL);
}

static struct metric stage_on(const json_t *peaks_record, int queues, const char *cost)
{
    struct floor_peaks peaks;
    struct metric floor;
    json_t *json = json_pack("{s:i, s:o}", "queues", queues, "cost", json_loads(cost, 0, NULL));
    assert_non_null(json);
    floor_peaks_read(peaks_record, &peaks);
    floor_stage(&peaks, json, &floor);
    json_decref(json);
    return floor;
}

static struct metric stage(const json_t *peaks_record, const char *cost)
{
    return stage_on(peaks_record, 1, cost);
}

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g, wanted %.17g", got, wanted);
}

static void bandwidth_by_working_set(void **state)
{
    (void)state;
    json_t *peaks_record = record();
    struct floor_peaks peaks;
    struct metric bandwidth;
    floor_peaks_read(peaks_record, &peaks);
    assert_int_equal(peaks.set_count, 2);
    floor_bandwidth(&peaks, 1.9e6, &bandwidth);
    assert_string_equal(bandwidth.absent, "no copy of a working set this small was measured");
    floor_bandwidth(&peaks, 2e6, &bandwidth);
    assert_near(bandwidth.value, 2e12); /* each byte is read and written */
    floor_bandwidth(&peaks, 8e9, &bandwidth);
    assert_near(bandwidth.value, 2e12); /* the best of the same size or smaller */
    json_decref(peaks_record);
}

/* Without the small set: 80 GB at 400 GB/s take at least 0.2 s. */
static void reading_takes_its_time(void **state)
{
    (void)state;
    json_t *peaks_record = record();
    json_array_remove(json_object_get(peaks_record, "peaks"), 1);
    struct metric floor = stage(peaks_record, "{\"read_bytes\":80000000000,\"written_bytes\":0}");
    assert_null(floor.absent);
    assert_near(floor.value, 0.2);
    assert_near(floor.low, 0.16); /* 80 GB at 500 GB/s */
    assert_near(floor.high, 0.25);
    assert_int_equal(floor.n, 9);
    /* 2 GB uploaded at 20 GB/s: 100 ms. */
    floor = stage(peaks_record, "{\"read_bytes\":2000000000,\"written_bytes\":2000000000,"
                                "\"upload_bytes\":2000000000}");
    assert_near(floor.value, 0.1);
    json_decref(peaks_record);
}

static void the_larger_decides(void **state)
{
    (void)state;
    json_t *peaks_record = record();
    /* 4 MB at 2 TB/s: 2 us; 4 Mflop at 2 Tflop/s: 2 us; 6 Mflop: 3 us. */
    struct metric floor = stage(peaks_record, "{\"read_bytes\":2000000,\"written_bytes\":2000000,"
                                              "\"flops\":6000000,\"flop_kind\":\"fp32\"}");
    assert_near(floor.value, 3e-6);
    assert_int_equal(floor.n, 12);
    floor = stage(peaks_record, "{\"read_bytes\":2000000,\"written_bytes\":2000000,"
                                "\"flops\":2000000,\"flop_kind\":\"fp32\"}");
    assert_near(floor.value, 2e-6);
    /* A kind without a peak leaves the traffic; a set too small for one leaves the operations. */
    floor = stage(peaks_record, "{\"read_bytes\":4000000,\"written_bytes\":0,\"flops\":1,"
                                "\"flop_kind\":\"fp64\"}");
    assert_near(floor.value, 2e-6);
    floor = stage(peaks_record, "{\"read_bytes\":4,\"written_bytes\":0,\"flops\":2000,"
                                "\"flop_kind\":\"fp32\"}");
    assert_near(floor.value, 1e-9);
    json_decref(peaks_record);
}

/* The peak of uploads was that of 1 GB: at 20 GB/s 1 GB takes 50 ms, and of less nothing is known.
 * What no queue serves has no traffic within the device. */
static void what_was_not_measured_bounds_nothing(void **state)
{
    (void)state;
    json_t *peaks_record = record();
    json_t *upload = json_array_get(json_object_get(peaks_record, "peaks"), 2);
    json_object_set_new(upload, "conditions", json_pack("{s:i}", "bytes", 1000000000));
    struct metric floor = stage(peaks_record, "{\"upload_bytes\":1000000000}");
    assert_near(floor.value, 0.05);
    floor = stage(peaks_record, "{\"upload_bytes\":999999999}");
    assert_string_equal(floor.absent, "no copy to or from the host this small was measured");
    static const char traffic[] = "{\"read_bytes\":4000000,\"written_bytes\":4000000}";
    assert_near(stage(peaks_record, traffic).value, 4e-6);
    assert_near(stage_on(peaks_record, 2, traffic).value, 4e-6);
    assert_string_equal(stage_on(peaks_record, 0, traffic).absent,
                        "the stage states neither traffic nor operations");
    json_decref(peaks_record);
}

static void absent_with_the_reason(void **state)
{
    (void)state;
    json_t *peaks_record = record();
    struct metric floor = stage(peaks_record, "{\"flops\":1000}");
    assert_string_equal(floor.absent, "the stage states neither traffic nor operations");
    floor = stage(peaks_record, "{\"flops\":1000,\"flop_kind\":\"fp64\"}");
    assert_string_equal(floor.absent, "no 64-bit floats");
    floor = stage(peaks_record, "{\"flops\":1000,\"flop_kind\":\"bf16\"}");
    assert_string_equal(floor.absent, "this peak was not measured");
    floor = stage(peaks_record, "{\"download_bytes\":1000}");
    assert_string_equal(floor.absent, "no such memory");
    json_decref(peaks_record);
}

static void stages_add_up(void **state)
{
    (void)state;
    json_t *peaks_record = record();
    struct floor_peaks peaks;
    struct metric floor;
    floor_peaks_read(peaks_record, &peaks);
    json_t *stages = json_loads("[{\"cost\":{\"upload_bytes\":2000000}},{\"cost\":{}},"
                                "{\"cost\":{\"flops\":4000000,\"flop_kind\":\"fp32\"}}]",
                                0, NULL);
    floor_case(&peaks, stages, &floor);
    assert_near(floor.value, 100e-6 + 2e-6);
    json_decref(stages);
    stages = json_loads("[{\"cost\":{}}]", 0, NULL);
    floor_case(&peaks, stages, &floor);
    assert_string_equal(floor.absent, "no stage has a floor");
    json_decref(stages);
    json_decref(peaks_record);
}

/* 2 Tflop/s over 400 GB/s: five operations a byte. */
static void balance(void **state)
{
    (void)state;
    json_t *peaks_record = record();
    struct floor_peaks peaks;
    struct metric metric;
    floor_peaks_read(peaks_record, &peaks);
    floor_balance(&peaks, "fp32", &metric);
    assert_near(metric.value, 5);
    assert_near(metric.low, 4);     /* 2e12 / 5e11 */
    assert_near(metric.high, 6.25); /* 2e12 / 3.2e11 */
    floor_balance(&peaks, "fp64", &metric);
    assert_string_equal(metric.absent, "no 64-bit floats");
    json_decref(peaks_record);
}

static void broken_when_clearly_under(void **state)
{
    (void)state;
    struct metric floor = {.value = 0.2, .low = 0.2, .high = 0.2};
    struct metric time = {.value = 0.07, .low = 0.05, .high = 0.199};
    assert_false(floor_is_broken(&time, &floor));
    time.high = 0.101;
    assert_false(floor_is_broken(&time, &floor));
    time.high = 0.099;
    assert_true(floor_is_broken(&time, &floor));
    floor.low = 0.19; /* what the peak's interval leaves open counts for the time */
    assert_false(floor_is_broken(&time, &floor));
    floor.absent = "none";
    time.high = 0.001;
    assert_false(floor_is_broken(&time, &floor));
}

static void damaged_records(void **state)
{
    (void)state;
    json_t *bad = json_loads("{\"peaks\":[{\"name\":\"copy.device\",\"bytes\":1,\"unit\":\"B/s\","
                             "\"value\":0},{\"name\":\"fp32.x1\",\"unit\":\"zork\",\"value\":1},"
                             "{\"name\":\"copy.upload\",\"unit\":\"B/s\",\"value\":5,\"low\":9,"
                             "\"high\":4},3]}",
                             0, NULL);
    struct floor_peaks peaks;
    struct metric metric;
    floor_peaks_read(bad, &peaks);
    assert_int_equal(peaks.set_count, 0);
    assert_string_equal(peaks.upload.absent, "its record is damaged");
    floor_peak(bad, "fp32", &metric);
    assert_string_equal(metric.absent, "its record is damaged");
    floor_peak(NULL, "fp32", &metric);
    assert_string_equal(metric.absent, "this peak was not measured");
    json_decref(bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidth_by_working_set),
        cmocka_unit_test(reading_takes_its_time),
        cmocka_unit_test(the_larger_decides),
        cmocka_unit_test(what_was_not_measured_bounds_nothing),
        cmocka_unit_test(absent_with_the_reason),
        cmocka_unit_test(stages_add_up),
        cmocka_unit_test(balance),
        cmocka_unit_test(broken_when_clearly_under),
        cmocka_unit_test(damaged_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
