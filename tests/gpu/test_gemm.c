/* SPDX-License-Identifier: MIT */
/* `gemm` on a device: every variant in every precision and layout, in sizes that no tile divides;
 * a kernel with one wrong element is found. */
#include "builtin_fixture.h"

#include "base/json.h"
#include "base/os.h"
#include "measure/serial.h"
#include "measure/verification.h"
#include "vulkan/buffer.h"
#include "vulkan/command.h"
#include "vulkan/slot.h"

#include <unistd.h>

static const char *const precisions[] = {"fp64", "fp32", "fp16", "fp16_acc16",
                                         "bf16", "int8", "fp8"};
enum { PRECISIONS = sizeof(precisions) / sizeof(precisions[0]) };
static const char *const variants[] = {"plain", "tile", "subgroup"};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

/* What the variant can do where the device has what the precision needs. */
static bool expected(const char *variant, const char *precision)
{
    const char *why_not;
    if (strcmp(variant, "subgroup") == 0 && strcmp(precision, "fp16_acc16") == 0)
        return false;
    if (strcmp(precision, "fp64") == 0)
        return assay_device_has(builtin.device, ASSAY_FEATURE_FP64, &why_not);
    if (strcmp(precision, "fp16_acc16") == 0)
        return assay_device_has(builtin.device, ASSAY_FEATURE_FP16, &why_not);
    return true;
}

/* A case while it is alive, without what measuring it takes. */
struct one {
    struct assay_slot *slot;
    void *self;
    struct serial serial;
};

/* False with the error: the device does not have what the case needs. */
static bool one_open(struct one *one, const char *const *settings, struct assay_error *error)
{
    static const char *directories[2];
    static struct shader_search search;
    const struct assay_workload *workload = builtin.workload.workload;
    void *params = workload_params(&builtin.workload, settings, error);
    directories[0] = getenv("ASSAY_SHADER_DIR");
    search.directories = directories;
    fixture_assert_ok(params, error);
    if (!workload->supported(builtin.device, params, error))
        return false;
    const struct slot_params slot = {.device = builtin.device, .case_seed = 42, .search = &search};
    one->slot = slot_create(&slot, error);
    one->self = one->slot ? workload->create(one->slot, params, error) : NULL;
    fixture_assert_ok(one->self, error);
    const struct serial_params serial = {.workload = workload,
                                         .params = params,
                                         .slot = one->slot,
                                         .self = one->self,
                                         .clock = clock_monotonic()};
    fixture_assert_ok(serial_prepare(&one->serial, &serial, error), error);
    return true;
}

static void one_batch(struct one *one)
{
    struct assay_error error = {0};
    struct serial_times times;
    fixture_assert_ok(slot_restore(one->slot, &error), &error);
    fixture_assert_ok(serial_batch(&one->serial, &times, &error), &error);
}

static void one_close(struct one *one)
{
    serial_finish(&one->serial);
    builtin.workload.workload->destroy(&one->self);
    assert_int_equal(slot_destroy(&one->slot), 0);
    fixture_assert_quiet(&builtin.vulkan);
}

static void print_settings(const char *const *settings, const struct assay_error *error)
{
    for (size_t i = 0; settings[i]; i += 2)
        print_error("%s=%s%s", settings[i], settings[i + 1], settings[i + 2] ? " " : ": ");
    print_error("%s\n", error->text);
}

/* One batch is right, or the device does not have what it needs. */
static void assert_right(const char *const *settings, bool runs)
{
    struct one one = {0};
    struct assay_error error = {0};
    struct assay_verification verification = {0};
    const bool opened = one_open(&one, settings, &error);
    if (opened != runs)
        print_settings(settings, &error);
    assert_true(opened == runs);
    if (!opened) {
        assert_int_equal(error.status, ASSAY_UNSUPPORTED);
        return;
    }
    one_batch(&one);
    const bool right = builtin.workload.workload->verify(one.self, &verification, &error);
    if (!right)
        print_settings(settings, &error);
    assert_true(right);
    assert_true(verification.has_error && verification.error <= 1);
    assert_true(verification.checked_bytes > 0);
    one_close(&one);
}
#define RIGHT(runs, ...) assert_right((const char *const[]){__VA_ARGS__, NULL}, runs)

static const struct {
    const char *m, *n, *k, *batch;
} sizes[] = {{"1", "1", "1", "3"},    {"1", "67", "5", "1"},   {"67", "1", "3", "3"},
             {"17", "13", "19", "3"}, {"64", "64", "64", "1"}, {"31", "97", "33", "1"}};

/* Every size in each of the four layouts. */
static void every_variant(void **state)
{
    (void)state;
    enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), LAYOUTS = 4 };
    for (size_t v = 0; v < VARIANTS; v++)
        for (size_t p = 0; p < PRECISIONS; p++)
            for (size_t i = 0; i < SIZES * LAYOUTS; i++) {
                const size_t size = i / LAYOUTS, layout = i % LAYOUTS;
                RIGHT(expected(variants[v], precisions[p]), "variant", variants[v], "precision",
                      precisions[p], "m", sizes[size].m, "n", sizes[size].n, "k", sizes[size].k,
                      "batch", sizes[size].batch, "transpose_a", layout & 1 ? "true" : "false",
                      "transpose_b", layout & 2 ? "true" : "false", "resident",
                      size % 2 ? "true" : "false");
            }
}

/* NaN, infinities and denormal numbers, in small problems and in ones that are not checked whole.
 */
static void values(void **state)
{
    (void)state;
    static const char *const kinds[] = {"denormal", "special"};
    for (size_t i = 0; i < 2; i++) {
        for (size_t p = 0; p < PRECISIONS; p++)
            for (size_t v = 0; v < VARIANTS; v++)
                RIGHT(strcmp(precisions[p], "int8") != 0 && expected(variants[v], precisions[p]),
                      "variant", variants[v], "precision", precisions[p], "values", kinds[i], "m",
                      "17", "n", "13", "k", "19", "batch", "3", "resident", "true");
        RIGHT(true, "variant", "plain", "size", "260", "values", kinds[i]);
        RIGHT(true, "variant", "plain", "size", "260", "values", kinds[i], "transpose_a", "true",
              "transpose_b", "true");
    }
}

/* Sums that are longer than what one invocation may turn a loop, 65535: several dispatches, the
 * later ones on what the earlier ones made. (tests/plugins/gemm_sums.test has tiles: with the
 * layers that watch each access theirs, which are mostly empty here, take too long.) */
static void long_sums(void **state)
{
    (void)state;
    RIGHT(true, "variant", "plain", "m", "2", "n", "2", "k", "300000");
    RIGHT(true, "variant", "plain", "m", "2", "n", "2", "k", "300000", "precision", "int8",
          "transpose_a", "true", "batch", "2");
}

static struct assay_buffer *buffer_of(const struct assay_slot *slot, const char *name)
{
    struct assay_buffer *buffer = slot->buffers;
    while (buffer && strcmp(buffer->name, name) != 0)
        buffer = buffer->next;
    assert_non_null(buffer);
    return buffer;
}

/* Bit by bit the same from the same inputs. */
static void assert_repeats(const char *const *settings)
{
    struct one one = {0};
    struct assay_error error = {0};
    if (!one_open(&one, settings, &error)) {
        assert_int_equal(error.status, ASSAY_UNSUPPORTED);
        return;
    }
    struct assay_buffer *c = buffer_of(one.slot, "host C");
    const size_t bytes = (size_t)assay_buffer_bytes(c);
    void *first = malloc(bytes), *second = malloc(bytes);
    one_batch(&one);
    fixture_assert_ok(assay_buffer_read(c, 0, bytes, first, &error), &error);
    one_batch(&one);
    fixture_assert_ok(assay_buffer_read(c, 0, bytes, second, &error), &error);
    assert_memory_equal(first, second, bytes);
    free(first);
    free(second);
    one_close(&one);
}

static void deterministic(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++)
        for (size_t p = 0; p < PRECISIONS; p++)
            assert_repeats((const char *const[]){"variant", variants[v], "precision", precisions[p],
                                                 "m", "64", "n", "64", "k", "64", NULL});
}

/* As a user runs it: the record says what was checked. */
static void measured(void **state)
{
    (void)state;
    struct measure_result result;
    struct assay_error error = {0};
    const char *const settings[] = {"variant", "plain", "m", "5",         "n",    "7", "k",
                                    "3",       "batch", "2", "precision", "fp16", NULL};
    fixture_assert_ok(builtin_measure(settings, NULL, &result, &error), &error);
    json_t *verification = json_read(result.verification.data, result.verification.length,
                                     "verification", &error);
    assert_string_equal(json_text(verification, "verdict", ""), "right");
    assert_int_equal(json_whole(verification, "checked_bytes", -1), 5 * 7 * 4 * 2);
    assert_true(json_number(verification, "error", 2) <= 1);
    assert_true(json_whole(verification, "time_ns", -1) > 0);
    json_decref(verification);
    json_t *stages = json_read(result.stages.data, result.stages.length, "stages", &error);
    const json_t *upload = json_object_get(json_array_get(stages, 0), "cost");
    const json_t *compute = json_object_get(json_array_get(stages, 1), "cost");
    const json_t *download = json_object_get(json_array_get(stages, 2), "cost");
    assert_int_equal(json_whole(upload, "upload_bytes", -1), (5 * 3 + 3 * 7) * 2 * 2);
    assert_int_equal(json_whole(compute, "flops", -1), 2 * 5 * 7 * 3 * 2);
    assert_string_equal(json_text(compute, "flop_kind", ""), "fp32");
    assert_int_equal(json_whole(compute, "read_bytes", -1), (5 * 3 + 3 * 7) * 2 * 2);
    assert_int_equal(json_whole(compute, "written_bytes", -1), 5 * 7 * 4 * 2);
    assert_int_equal(json_whole(compute, "items", -1), 2);
    assert_int_equal(json_whole(download, "download_bytes", -1), 5 * 7 * 4 * 2);
    json_decref(stages);
    measure_result_free(&result);
    fixture_assert_quiet(&builtin.vulkan);
}

/* What packing distinguishes: operands that can be read by 16 bytes and whose rows are shared by
 * panels, in each layout; tiles of other shapes; a sum over k in several pieces. */
static void packs_every_way(void **state)
{
    (void)state;
    for (size_t p = 0; p < PRECISIONS; p++)
        for (size_t layout = 0; layout < 4 && expected("subgroup", precisions[p]); layout++)
            RIGHT(true, "variant", "subgroup", "precision", precisions[p], "m", "80", "n", "112",
                  "k", "48", "batch", "2", "tile", layout % 2 ? "32x32" : "16x32", "transpose_a",
                  layout & 1 ? "true" : "false", "transpose_b", layout & 2 ? "true" : "false");
    RIGHT(true, "variant", "subgroup", "precision", "int8", "m", "33", "n", "40", "k", "2080");
    RIGHT(true, "variant", "subgroup", "precision", "int8", "m", "33", "n", "7", "k", "1025",
          "transpose_b", "true");
}

/* One kernel with its last statement changed, put in the way of the real one. */
static void plant(const char *precision, const char *size)
{
    char directory[] = "/tmp/assay-gemm-XXXXXX";
    static const char store[] = "store_c(matrix, row, column, sum);";
    struct text path = {0}, source = {0}, changed = {0};
    struct assay_error error = {0};
    struct measure_result result;
    const char *const settings[] = {"variant", "plain",    "precision", precision, "size",
                                    size,      "resident", "true",      NULL};
    assert_non_null(mkdtemp(directory));
    os_path_join(&path, getenv("ASSAY_SHADER_DIR"), "gemm_plain.comp");
    fixture_assert_ok(os_file_read(text_string(&path), 1 << 20, &source, &error), &error);
    const char *at = strstr(text_string(&source), store);
    assert_non_null(at);
    text_add_bytes(&changed, source.data, (size_t)(at - source.data));
    text_addf(&changed, "store_c(matrix, row, column, row == 5 && column == 7 ? SUM(77) : sum);%s",
              at + strlen(store));
    text_clear(&path);
    os_path_join(&path, directory, "gemm_plain.comp");
    fixture_assert_ok(
        os_file_write_atomic(text_string(&path), changed.data, changed.length, &error), &error);
    assert_false(builtin_measure(settings, directory, &result, &error));
    assert_int_equal(error.status, ASSAY_WRONG_RESULT);
    assert_non_null(strstr(error.text, "C[5][7] of matrix 0 is 77, wanted "));
    measure_result_free(&result);
    unlink(text_string(&path));
    rmdir(directory);
    text_free(&path);
    text_free(&source);
    text_free(&changed);
    fixture_assert_quiet(&builtin.vulkan);
}

static void finds_a_wrong_element(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRECISIONS; i++)
        if (expected("plain", precisions[i]))
            plant(precisions[i], "16");
    plant("fp32", "260"); /* too large to be checked whole */
}

/* The stage 'compute' of a slot without transfers. */
static struct assay_command *compute_of(const struct one *one)
{
    assert_int_equal(one->serial.count, 2);
    return one->serial.stages[0].command;
}

static int64_t batch_ns(struct one *one)
{
    struct assay_error error = {0};
    struct serial_times times;
    fixture_assert_ok(serial_batch(&one->serial, &times, &error), &error);
    return times.time_ns;
}

/* Operands that are larger than what a shader sees of a buffer, and more groups than a dispatch may
 * have: with limits of the device made small. */
static void cut_operands(void **state)
{
    (void)state;
    const struct assay_limits usual = builtin.device->limits;
    builtin.device->limits.max_storage_range_bytes = 65536;
    builtin.device->limits.max_groups[0] = builtin.device->limits.max_groups[1] = 16;
    const int64_t usual_ns = builtin.device->wait_limit_ns;
    builtin.device->wait_limit_ns = 10 * usual_ns; /* hundreds of dispatches, on a busy machine */
    for (size_t p = 0; p < PRECISIONS; p++)
        for (size_t v = 0; v < VARIANTS; v++) {
            const size_t layout = (p + v) % 4;
            RIGHT(expected(variants[v], precisions[p]), "variant", variants[v], "precision",
                  precisions[p], "m", "260", "n", "131", "k", "170", "batch", "2", "transpose_a",
                  layout & 1 ? "true" : "false", "transpose_b", layout & 2 ? "true" : "false",
                  "resident", v == 0 ? "true" : "false");
        }
    builtin.device->wait_limit_ns = usual_ns;
    builtin.device->limits = usual;
}

/* Where the host waits for this part of the time that the product takes it is made in several
 * submissions. */
static void assert_cut(const char *const *settings, double limit_of_whole)
{
    const int64_t usual_ns = builtin.device->wait_limit_ns;
    struct assay_error error = {0};
    struct assay_verification verification = {0};
    struct one one = {0};
    builtin.device->wait_limit_ns = 100 * usual_ns;
    fixture_assert_ok(one_open(&one, settings, &error), &error);
    assert_int_equal(command_submission_count(compute_of(&one)), 1);
    one_batch(&one);
    builtin.device->wait_limit_ns = (int64_t)(limit_of_whole * (double)batch_ns(&one));
    one_close(&one);
    fixture_assert_ok(one_open(&one, settings, &error), &error);
    assert_true(command_submission_count(compute_of(&one)) > 2);
    one_batch(&one);
    fixture_assert_ok(builtin.workload.workload->verify(one.self, &verification, &error), &error);
    builtin.device->wait_limit_ns = usual_ns;
    one_close(&one);
}
#define CUT(limit_of_whole, ...)                                                                   \
    assert_cut((const char *const[]){__VA_ARGS__, "resident", "true", NULL}, limit_of_whole)

/* A product that takes longer than the host waits for a submission is made in several. That a
 * submission should take a sixteenth of the limit is seen in one that fits, too. */
static void long_work(void **state)
{
    (void)state;
    if (!assay_device_limits(builtin.device)->on_cpu)
        skip(); /* a GPU is through with it before a limit of the host's can be told */
    CUT(0.5, "variant", "plain", "m", "300", "n", "400", "k", "200");
    CUT(0.5, "variant", "plain", "m", "100", "n", "110", "k", "120", "batch", "16");
    /* tiles that are nearly empty */
    CUT(0.5, "variant", "tile", "m", "3", "n", "2", "k", "2", "batch", "1000");
    CUT(3, "variant", "subgroup", "m", "1000", "n", "1100", "k", "900", "transpose_b", "true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant),
        cmocka_unit_test(packs_every_way),
        cmocka_unit_test(measured),
        cmocka_unit_test(values),
        cmocka_unit_test(long_sums),
        cmocka_unit_test(cut_operands),
        cmocka_unit_test(long_work),
        cmocka_unit_test(deterministic),
        cmocka_unit_test(finds_a_wrong_element),
    };
    return builtin_run("gemm", tests, builtin_set_up);
}
