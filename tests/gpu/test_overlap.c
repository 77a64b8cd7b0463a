/* SPDX-License-Identifier: MIT */
/* `overlap`: every way from a source to the host and back delivers the right words; files that go
 * wrong are told; nothing is left behind. */
#include "builtin_fixture.h"

#include "../metrics_json.h"
#include "base/json.h"
#include "measure/verification.h"
#include "vulkan/slot.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[64];

/* How many directories of slots there are; `path` becomes the last one's. */
static unsigned directories(char *path, size_t size)
{
    unsigned count = 0;
    DIR *directory = opendir(scratch);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (strncmp(entry->d_name, "assay-overlap-", 14) != 0)
            continue;
        count++;
        if (path)
            snprintf(path, size, "%.60s/%.60s", scratch, entry->d_name);
    }
    closedir(directory);
    return count;
}

static json_t *parse(const struct text *text)
{
    struct assay_error error = {0};
    json_t *json = json_read(text->data, text->length, "text", &error);
    assert_non_null(json);
    return json;
}

static void expect_metric(const json_t *metrics, const char *name, double wanted)
{
    struct metric metric;
    metric_from_json(metrics, name, &metric);
    assert_null(metric.absent);
    assert_true(metric.value == wanted);
}

/* Measures and returns what was verified; the result's metrics are looked at by who wants to. */
static json_t *measured(const char *const *settings, json_t **metrics)
{
    struct measure_result result;
    struct assay_error error = {0};
    fixture_assert_ok(builtin_measure(settings, NULL, &result, &error), &error);
    json_t *verification = parse(&result.verification);
    assert_string_equal(json_text(verification, "verdict", ""), "right");
    if (metrics)
        *metrics = metrics_json(result.metrics);
    measure_result_free(&result);
    fixture_assert_quiet(&builtin.vulkan);
    assert_int_equal(directories(NULL, 0), 0);
    return verification;
}

/* 1200 words in records of 3 fields; what each way sends, by hand: all 4800 B, two of three fields
 * 3200 B, halves 2400 B, both 1600 B. */
static void every_way_is_right(void **state)
{
    (void)state;
    static const char *const prepares[] = {"none", "select", "narrow", "both", "decode"};
    static const double sent[] = {4800, 3200, 2400, 1600, 4800};
    static const char *const sources[] = {"memory", "files", "feed"};
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 3; k++) {
            const char *const settings[] = {
                "upload",    "4800",       "fields",    "3",        "used",
                "2",         "flops",      "1 MFLOP",   "download", "400",
                "prepare",   prepares[i],  "source",    sources[k], "decode_time",
                "100 us",    "file_count", "5",         "readers",  "2",
                "feed_rate", "1 GB/s",     "directory", scratch,    NULL};
            json_t *metrics, *verification = measured(settings, &metrics);
            expect_metric(metrics, "sent_bytes", sent[i]);
            expect_metric(metrics, "batch_flops", 1048576); /* 128 results, 8 rounds of 1024 */
            bool narrows = i == 2 || i == 3;
            double error = json_number(verification, "error", -1);
            assert_true(narrows ? error > 0.9 && error <= 1 : error < 0);
            /* what is downloaded, all results, all of the input */
            assert_int_equal(json_whole(verification, "checked_bytes", -1),
                             400 + 4 * 128 + (int)sent[i]);
            json_decref(verification);
            json_decref(metrics);
        }
    }
}

/* An odd number of halves; more results than words; no results back; one record; batches of several
 * items that read on in files which the next one does not begin with. */
static void odd_sizes(void **state)
{
    (void)state;
    static const char *const cases[][20] = {
        {"upload", "60", "fields", "5", "used", "3", "prepare", "both", "download", "4", "flops",
         "0"},
        {"upload", "4", "fields", "1", "used", "1", "download", "40000", "flops", "0"},
        {"upload", "36", "fields", "9", "prepare", "narrow", "download", "0"},
        {"upload", "12 KiB", "items", "3", "download", "8", "source", "files", "file_count", "7",
         "file_bytes", "20000", "prepare", "select"},
        {"upload", "1 MiB", "download", "1 MiB", "flops", "300 MFLOP", "host_memory", "pageable"},
        {"upload", "1 MiB", "download", "1 MiB", "compute_time", "2 ms", "host_memory", "cached"},
        {"upload", "64 KiB", "source", "files", "readers", "64", "file_count", "3"},
        {"upload", "64 KiB", "source", "feed", "feed_latency", "1 ms", "feed_rate", "100 MB/s"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        json_decref(measured(cases[i], NULL));
}

/* The host's arithmetic in place of the device's: the same results (1 MFLOP: 128 of them), and
 * nothing else to look at; more results than there is arithmetic behind; several rounds. */
static void the_host_computes(void **state)
{
    (void)state;
    static const char *const cases[][16] = {
        {"compute_on", "host", "upload", "4800", "fields", "3", "used", "2", "prepare", "both",
         "flops", "1 MFLOP", "download", "400"},
        {"compute_on", "host", "upload", "4800", "flops", "65536", "download", "4000", "source",
         "feed", "fields", "1"},
        {"compute_on", "host", "upload", "64", "flops", "300 MFLOP", "download", "0"},
    };
    static const double flops[] = {1048576, 65536, 300417024};
    static const int results[] = {128, 1000, 36672};
    for (int i = 0; i < 3; i++) {
        json_t *metrics, *verification = measured(cases[i], &metrics);
        expect_metric(metrics, "batch_flops", flops[i]);
        assert_int_equal(json_whole(verification, "checked_bytes", -1), 4 * results[i]);
        json_decref(verification);
        json_decref(metrics);
    }
}

static void read_past_the_cache(void **state)
{
    (void)state;
    static const char *const settings[] = {"upload",  "64 KiB",  "source", "files",      "direct",
                                           "true",    "readers", "3",      "file_count", "2",
                                           "prepare", "narrow",  NULL};
    struct measure_result result;
    struct assay_error error = {0};
    bool good = builtin_measure(settings, NULL, &result, &error);
    if (!good && error.status == ASSAY_UNSUPPORTED) {
        assert_non_null(strstr(error.text, "reads through the page cache alone"));
        skip();
    }
    fixture_assert_ok(good, &error);
    measure_result_free(&result);
    assert_int_equal(directories(NULL, 0), 0);
}

/* Costs of the stages: what each is asked to move. */
static void costs(void **state)
{
    (void)state;
    static const char *const settings[] = {"upload",  "8000", "fields", "5",    "used",     "4",
                                           "flops",   "1024", "items",  "2",    "download", "40",
                                           "prepare", "both", "source", "feed", NULL};
    struct measure_result result;
    struct assay_error error = {0};
    static const char *const names[] = {"source", "prepare", "upload", "compute", "download"};
    static const char *const kinds[] = {"host", "host", "transfer", "compute", "transfer"};
    /* two items: 16000 B, of which 0.8 * 0.5 are sent; 80 B back; 64 results at least */
    static const int payload[] = {16000, 16000, 6400, 0, 80};
    static const int read[] = {16000, 16000, 6400, 256, 80};
    static const int written[] = {16000, 6400, 6400, 256, 80};
    fixture_assert_ok(builtin_measure(settings, NULL, &result, &error), &error);
    json_t *stages = parse(&result.stages);
    assert_int_equal(json_array_size(stages), 5);
    for (int i = 0; i < 5; i++) {
        const json_t *stage = json_array_get(stages, (size_t)i);
        const json_t *cost = json_object_get(stage, "cost");
        assert_string_equal(json_text(stage, "name", ""), names[i]);
        assert_string_equal(json_text(stage, "kind", ""), kinds[i]);
        assert_int_equal(json_whole(cost, "payload_bytes", 0), payload[i]);
        assert_int_equal(json_whole(cost, "read_bytes", 0), read[i]);
        assert_int_equal(json_whole(cost, "written_bytes", 0), written[i]);
        assert_int_equal(json_whole(cost, "items", 0), 2);
        assert_int_equal(json_whole(cost, "upload_bytes", 0), i == 2 ? 6400 : 0);
        assert_int_equal(json_whole(cost, "download_bytes", 0), i == 4 ? 80 : 0);
        /* two items of 1024 flop: two rounds; a group of 64 invocations does one each */
        assert_int_equal(json_whole(cost, "flops", 0), i == 3 ? 65536 : 0);
    }
    json_decref(stages);
    measure_result_free(&result);
}

/* A slot of its own, whose source stage is run by hand. */
struct slot {
    struct assay_slot *slot;
    void *self;
    const struct assay_stage *source;
};

static void slot_open(struct slot *slot, const char *upload, const char *files)
{
    struct assay_error error = {0};
    const struct assay_workload *workload = builtin.workload.workload;
    const char *const settings[] = {"upload",  upload,  "source", "files",      "directory",
                                    scratch,   "flops", "0",      "file_count", files,
                                    "readers", "2",     NULL};
    const char *const shaders[] = {getenv("ASSAY_SHADER_DIR"), NULL};
    struct shader_search search = {.directories = shaders};
    struct slot_params params = {.device = builtin.device, .case_seed = 5, .search = &search};
    void *values = workload_params(&builtin.workload, settings, &error);
    fixture_assert_ok(values, &error);
    slot->slot = slot_create(&params, &error);
    fixture_assert_ok(slot->slot, &error);
    slot->self = workload->create(slot->slot, values, &error);
    fixture_assert_ok(slot->self, &error);
    slot->source = workload->stages[0];
    assert_string_equal(slot->source->name, "source");
    fixture_assert_ok(slot->source->run(slot->source, slot->self, &error), &error);
}

static void slot_close(struct slot *slot)
{
    builtin.workload.workload->destroy(&slot->self);
    assert_int_equal(slot_destroy(&slot->slot), 0);
    assert_int_equal(directories(NULL, 0), 0);
}

/* The path of a file of the only slot. */
static void file_path(unsigned file, char *path, size_t size)
{
    char directory[128];
    assert_int_equal(directories(directory, sizeof(directory)), 1);
    snprintf(path, size, "%.127s/%06u.records", directory, file);
}

static void missing_and_short_files(void **state)
{
    (void)state;
    struct slot slot;
    struct assay_error error = {0};
    char path[192], wanted[512];
    slot_open(&slot, "64 KiB", "4"); /* 16 KiB each */
    file_path(2, path, sizeof(path));
    assert_int_equal(truncate(path, 16383), 0);
    assert_false(slot.source->run(slot.source, slot.self, &error));
    snprintf(wanted, sizeof(wanted),
             "%s has 16383 B: a batch reads 16384 B of it, so it was cut since it was made", path);
    assert_int_equal(error.status, ASSAY_SYSTEM);
    assert_string_equal(error.text, wanted);
    error = (struct assay_error){0};
    assert_int_equal(unlink(path), 0);
    assert_false(slot.source->run(slot.source, slot.self, &error));
    snprintf(wanted, sizeof(wanted), "cannot open %s: No such file or directory", path);
    assert_int_equal(error.status, ASSAY_SYSTEM);
    assert_string_equal(error.text, wanted);
    slot_close(&slot);
}

struct cutter {
    char path[192];
    atomic_bool done;
};

static void *cut_and_grow(void *argument)
{
    struct cutter *cutter = argument;
    while (!atomic_load(&cutter->done))
        if (truncate(cutter->path, 4096) != 0 || truncate(cutter->path, 32 << 20) != 0)
            break;
    return NULL;
}

/* Cut between its opening and the end of its reading: told as such, sooner or later. */
static void a_file_that_shrinks(void **state)
{
    (void)state;
    struct slot slot;
    struct cutter cutter = {.done = false};
    pthread_t thread;
    bool seen = false;
    slot_open(&slot, "32 MiB", "1");
    file_path(0, cutter.path, sizeof(cutter.path));
    assert_int_equal(pthread_create(&thread, NULL, cut_and_grow, &cutter), 0);
    for (int i = 0; !seen && i < 2000; i++) {
        struct assay_error error = {0};
        if (slot.source->run(slot.source, slot.self, &error))
            continue;
        assert_int_equal(error.status, ASSAY_SYSTEM);
        seen = strstr(error.text, " shrank while it was read: it ended after ");
        assert_true(seen || strstr(error.text, "so it was cut since it was made"));
    }
    atomic_store(&cutter.done, true);
    pthread_join(thread, NULL);
    assert_true(seen);
    slot_close(&slot);
}

/* The batch ends after its source: nothing of it came to the device, and the verification says so.
 */
static void what_did_not_arrive(void **state)
{
    (void)state;
    struct slot slot;
    struct assay_error error = {0};
    struct assay_verification verification = {0};
    slot_open(&slot, "64 KiB", "1");
    assert_false(builtin.workload.workload->verify(slot.self, &verification, &error));
    assert_int_equal(error.status, ASSAY_WRONG_RESULT);
    assert_non_null(strstr(error.text, "download"));
    slot_close(&slot);
}

/* No file is left when one cannot be made. */
static void a_directory_that_is_not_there(void **state)
{
    (void)state;
    struct measure_result result;
    struct assay_error error = {0};
    static const char *const settings[] = {"source", "files", "directory", "/nowhere/at/all", NULL};
    assert_false(builtin_measure(settings, NULL, &result, &error));
    assert_int_equal(error.status, ASSAY_SYSTEM);
    assert_string_equal(error.text, "directory: cannot make one for the records in "
                                    "/nowhere/at/all: No such file or directory");
    measure_result_free(&result);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *settings[12];
        const char *wanted;
    } cases[] = {
        {{"upload", "100"},
         "upload: 100 B is not a multiple of 32 B, the size of a record; the next "
         "one is 128 B"},
        {{"download", "6"},
         "download: 6 B is not a multiple of 4 B, the size of a field; the next "
         "one is 8 B"},
        {{"used", "9", "prepare", "select"}, "used: 9 of 8 fields is too many"},
        {{"used", "8", "prepare", "both"},
         "prepare both drops the fields that are not used, but all 8 are; lower used"},
        {{"compute_on", "host", "compute_time", "1 ms"},
         "compute_time is found on the device; compute_on host goes with flops"},
        {{"direct", "true"}, "direct goes with source files, not with memory"},
        {{"direct", "true", "source", "files", "upload", "32"},
         "upload: 32 B is not a multiple of 4096 B, as direct reads; the next one is 4096 B"},
        {{"source", "files", "file_count", "2", "file_bytes", "1 MiB"},
         "file_bytes: 2 files of 1048576 B hold 2097152 B, less than the 67108864 B that a batch "
         "reads"},
        {{"items", "1048576", "upload", "8 PiB"}, "items: a batch of 1048576 is over 8 PiB"},
        /* 2^53 B x 2^13 is 0 in 64 bits. */
        {{"source", "files", "file_count", "8192", "file_bytes", "8 PiB"},
         "file_count: all files together are over 8 PiB"},
        /* 2^50 B at 10^5 B/s: over 2^63 ns. */
        {{"source", "feed", "feed_rate", "100 kB/s", "upload", "1 PiB"},
         "feed_rate: a batch of 1125899906842624 B arrives in more than a day; raise it, or send "
         "less"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct assay_error error = {0};
        assert_null(workload_params(&builtin.workload, cases[i].settings, &error));
        assert_int_equal(error.status, ASSAY_INVALID);
        assert_string_equal(error.text, cases[i].wanted);
    }
}

static int set_up(void **state)
{
    snprintf(scratch, sizeof(scratch), "/tmp/assay-test-XXXXXX");
    return mkdtemp(scratch) && setenv("TMPDIR", scratch, 1) == 0 ? builtin_set_up(state) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_is_right),      cmocka_unit_test(odd_sizes),
        cmocka_unit_test(read_past_the_cache),     cmocka_unit_test(costs),
        cmocka_unit_test(missing_and_short_files), cmocka_unit_test(a_file_that_shrinks),
        cmocka_unit_test(what_did_not_arrive),     cmocka_unit_test(a_directory_that_is_not_there),
        cmocka_unit_test(nonsense_is_refused),     cmocka_unit_test(the_host_computes),
    };
    int status = builtin_run("overlap", tests, set_up);
    rmdir(scratch);
    return status;
}
