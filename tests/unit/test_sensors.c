/* SPDX-License-Identifier: MIT */
/* Sensors that behave in known ways, and the built-in one over a made-up tree of the host. */
#include "base/json.h"
#include "experiment/registry.h"
#include "sensors/history.h"
#include "sensors/sensors.h"

#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NEVER_NS INT64_C(3600000000000) /* values at begin and end alone */

/* What the sensor under test does; the hooks run on the sensors' thread, one round at a time. */
static struct {
    double next, step;
    int reads, fail_at; /* the read that fails, from 1; 0: none */
    int opened, closed;
    sem_t hangs, go;
    bool hang;
} play;

static void *play_open(const char *root, struct assay_error *error)
{
    (void)root;
    if (play.fail_at == -1) {
        assay_fail(error, ASSAY_UNSUPPORTED, "there is no such chip");
        return NULL;
    }
    play.opened++;
    return &play;
}

static bool play_read(void *self, double *values, struct assay_error *error)
{
    assert_ptr_equal(self, &play);
    if (play.hang) {
        sem_post(&play.hangs);
        while (sem_wait(&play.go) != 0) {
        }
    }
    if (++play.reads == play.fail_at)
        return assay_fail(error, ASSAY_SYSTEM, "the chip said no");
    values[0] = play.next;
    play.next += play.step;
    return true;
}

static const char *play_absent(void *self, size_t index)
{
    assert_ptr_equal(self, &play);
    return index == 1 ? "not on this machine" : "?";
}

static void play_close(void **self)
{
    play.closed += *self != NULL;
    *self = NULL;
}

static const struct assay_reading fast = {
    .size = sizeof(fast), .name = "fast", .unit = "MHz", .help = ""};
static const struct assay_reading dark = {
    .size = sizeof(dark), .name = "dark", .unit = "W", .help = ""};
static const struct assay_reading still = {
    .size = sizeof(still), .name = "still", .unit = "degC", .help = ""};
static const struct assay_reading *const play_readings[] = {&fast, &dark, NULL};
static const struct assay_reading *const still_readings[] = {&still, NULL};

static const struct assay_sensor player = {.size = sizeof(player),
                                           .name = "player",
                                           .summary = "",
                                           .readings = play_readings,
                                           .open = play_open,
                                           .read = play_read,
                                           .absent = play_absent,
                                           .close = play_close};

static void *still_open(const char *root, struct assay_error *error)
{
    (void)error;
    static char self;
    assert_string_equal(root, "/nowhere");
    return &self;
}

static bool still_read(void *self, double *values, struct assay_error *error)
{
    (void)self;
    (void)error;
    values[0] = 40;
    return true;
}

static void still_close(void **self)
{
    *self = NULL;
}

static const struct assay_sensor steady = {.size = sizeof(steady),
                                           .name = "steady",
                                           .summary = "",
                                           .readings = still_readings,
                                           .open = still_open,
                                           .read = still_read,
                                           .close = still_close};

static struct sensors *make(int64_t interval_ns)
{
    struct assay_error error = {0};
    struct sensors_params params = {
        .root = "/nowhere", .interval_ns = interval_ns, .limit_ns = 200000000};
    struct sensors *sensors = sensors_create(&params, &error);
    assert_non_null(sensors);
    assert_true(sensors_add(sensors, &player, &error));
    assert_true(sensors_add(sensors, &steady, &error));
    memset(&play, 0, sizeof(play));
    play.next = 100;
    play.step = 10;
    return sensors;
}

static void check_record(struct sensors *sensors, const char *wanted)
{
    struct text out = {0};
    assert_true(sensors_add_record(sensors, &out));
    assert_string_equal(text_string(&out), wanted);
    text_free(&out);
}

static void add_note(void *user, const char *note)
{
    text_addf(user, "%s\n", note);
}

static void check_notes(struct sensors *sensors, const char *wanted)
{
    struct text out = {0};
    sensors_notes(sensors, add_note, &out);
    assert_string_equal(text_string(&out), wanted);
    text_free(&out);
}

#define HEAD "{\"interval_ns\":3600000000000,\"readings\":{"
#define DARK ",\"dark\":{\"unit\":\"W\",\"absent\":\"not on this machine\"}"
#define STILL(n)                                                                                   \
    ",\"still\":{\"unit\":\"degC\",\"min\":40.0,\"median\":40.0,\"mean\":40.0,\"max\":40.0,"       \
    "\"first\":40.0,\"last\":40.0,\"n\":" n "}}}"

/* 100, 110, 120 and 130 MHz: begin and end, twice. */
static void values_are_summed_up(void **state)
{
    (void)state;
    struct sensors *sensors = make(NEVER_NS);
    sensors_reset(sensors);
    for (int i = 0; i < 2; i++) {
        sensors_begin(sensors);
        sensors_end(sensors);
    }
    check_record(sensors,
                 HEAD "\"fast\":{\"unit\":\"1/s\",\"min\":100000000.0,\"median\":115000000.0,"
                      "\"mean\":115000000.0,\"max\":130000000.0,\"first\":100000000.0,"
                      "\"last\":130000000.0,\"n\":4}" DARK STILL("4"));
    check_notes(sensors, "");
    struct text change = {0};
    sensors_add_change(sensors, &change);
    assert_string_equal(text_string(&change),
                        "fast rose from 100 MHz to 130 MHz, still stayed at 40 degC");
    text_free(&change);
    /* The next case starts anew; sensors stay open. */
    sensors_reset(sensors);
    sensors_begin(sensors);
    sensors_end(sensors);
    check_record(sensors,
                 HEAD "\"fast\":{\"unit\":\"1/s\",\"min\":140000000.0,\"median\":145000000.0,"
                      "\"mean\":145000000.0,\"max\":150000000.0,\"first\":140000000.0,"
                      "\"last\":150000000.0,\"n\":2}" DARK STILL("2"));
    sensors_destroy(&sensors);
    assert_int_equal(play.opened, 1);
    assert_int_equal(play.closed, 1);
}

/* Between begin and end one value an interval. */
static void values_come_by_themselves(void **state)
{
    (void)state;
    struct sensors *sensors = make(1000000);
    sensors_reset(sensors);
    sensors_begin(sensors);
    usleep(200000);
    sensors_end(sensors);
    assert_true(play.reads > 2);
    int reads = play.reads;
    usleep(20000); /* none after the end */
    sensors_reset(sensors);
    assert_int_equal(play.reads, reads);
    sensors_destroy(&sensors);
}

static void failures_are_told(void **state)
{
    (void)state;
    struct sensors *sensors = make(NEVER_NS);
    play.fail_at = 2;
    sensors_reset(sensors);
    sensors_begin(sensors);
    sensors_end(sensors);
    /* What was read before stays. */
    check_record(sensors,
                 HEAD "\"fast\":{\"unit\":\"1/s\",\"min\":100000000.0,\"median\":100000000.0,"
                      "\"mean\":100000000.0,\"max\":100000000.0,\"first\":100000000.0,"
                      "\"last\":100000000.0,\"n\":1},\"dark\":{\"unit\":\"W\",\"absent\":"
                      "\"the chip said no\"}" STILL("2"));
    check_notes(sensors, "sensor 'player' failed after 1 values: the chip said no\n");
    assert_int_equal(play.closed, 1);
    /* It is tried again in the next case. */
    sensors_reset(sensors);
    sensors_begin(sensors);
    check_notes(sensors, "");
    assert_int_equal(play.opened, 2);
    sensors_end(sensors);
    /* One that cannot be opened is no note. */
    play.fail_at = 5;
    sensors_reset(sensors);
    sensors_begin(sensors);
    play.fail_at = -1;
    sensors_end(sensors);
    sensors_reset(sensors);
    sensors_begin(sensors);
    sensors_end(sensors);
    check_record(sensors,
                 HEAD "\"fast\":{\"unit\":\"1/s\",\"absent\":\"there is no such chip\"},\"dark\":{"
                      "\"unit\":\"W\",\"absent\":\"there is no such chip\"}" STILL("2"));
    check_notes(sensors, "");
    sensors_destroy(&sensors);
}

/* The others go on, in another thread; the one that hangs is never called again. */
static void a_hang_is_left_behind(void **state)
{
    (void)state;
    struct sensors *sensors = make(NEVER_NS);
    sem_init(&play.hangs, 0, 0);
    sem_init(&play.go, 0, 0);
    play.hang = true;
    sensors_reset(sensors);
    sensors_begin(sensors);
    sensors_end(sensors);
    assert_int_equal(sem_trywait(&play.hangs), 0);
    assert_int_equal(sem_trywait(&play.hangs), -1);
    static const char gone[] = HEAD
        "\"fast\":{\"unit\":\"1/s\",\"absent\":\"it did not come back within 0.2 s, so it is "
        "not read any more\"},\"dark\":{\"unit\":\"W\",\"absent\":\"it did not come back within "
        "0.2 s, so it is not read any more\"}" STILL("2");
    check_record(sensors, gone);
    check_notes(sensors,
                "sensor 'player' failed after 0 values: it did not come back within 0.2 s, "
                "so it is not read any more\n");
    sensors_reset(sensors);
    sensors_begin(sensors);
    sensors_end(sensors);
    check_record(sensors, gone);
    check_notes(sensors, "");
    sensors_destroy(&sensors);
    assert_int_equal(play.closed, 0);
    /* What came back too late is closed by the thread that was left behind. */
    sem_post(&play.go);
    for (int i = 0; i < 1000 && __atomic_load_n(&play.closed, __ATOMIC_SEQ_CST) == 0; i++)
        usleep(1000);
    assert_int_equal(play.closed, 1);
}

/* 0 ... 4095: every fourth is kept, and the figures of all are exact where they can be. */
static void long_histories_are_thinned(void **state)
{
    (void)state;
    static struct history history;
    struct history_summary summary;
    assert_false(history_summarise(&history, &summary));
    for (int i = 0; i < 4096; i++)
        history_add(&history, i);
    assert_true(history_summarise(&history, &summary));
    assert_true(summary.min == 0 && summary.max == 4095 && summary.mean == 2047.5);
    assert_int_equal(summary.count, 4096);
    assert_int_equal(history.stride, 4);
    assert_int_equal(history.kept_count, 1024);
    assert_true(summary.median == 2046); /* of 0, 4, ..., 4092 */
    assert_true(summary.first == 680);   /* of 0, 4, ..., 1360 */
    assert_true(summary.last == 3412);   /* of 2732, ..., 4092 */
    history_clear(&history);
    history_add(&history, 7);
    assert_true(history_summarise(&history, &summary));
    assert_true(summary.median == 7 && summary.first == 7 && summary.last == 7);
}

static char root[64];

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *place)
{
    (void)status, (void)flag, (void)place;
    return remove(path);
}

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/assay-host-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof(full), "%s/%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static const struct assay_sensor *builtin_cpu(void)
{
    for (size_t i = 0; registry_builtin[i]; i++) {
        const struct assay_plugin *plugin = registry_builtin[i]();
        if (strcmp(plugin->name, "cpu") == 0)
            return plugin->sensors[0];
    }
    return NULL;
}

/* Opens it over the tree, reads once, and closes it. */
static void read_cpu(double values[2], const char *reasons[2])
{
    const struct assay_sensor *cpu = builtin_cpu();
    struct assay_error error = {0};
    void *self = cpu->open(root, &error);
    assert_non_null(self);
    values[0] = values[1] = NAN;
    assert_true(cpu->read(self, values, &error));
    for (size_t i = 0; i < 2; i++)
        reasons[i] = isnan(values[i]) ? cpu->absent(self, i) : NULL;
    cpu->close(&self);
    assert_null(self);
}

static void nothing_is_absent(void **state)
{
    (void)state;
    double values[2];
    const char *reasons[2];
    read_cpu(values, reasons);
    assert_true(isnan(values[0]) && isnan(values[1]));
    assert_non_null(strstr(reasons[0], "'cpu MHz'"));
    assert_non_null(strstr(reasons[1], "/sys/class/hwmon"));
}

static void cpufreq_and_hwmon(void **state)
{
    (void)state;
    double values[2];
    const char *reasons[2];
    write_file("proc/cpuinfo", "cpu MHz\t\t: 1000.000\n");
    write_file("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n");
    write_file("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3100500\n");
    write_file("sys/class/hwmon/hwmon0/name", "nvme\n");
    write_file("sys/class/hwmon/hwmon0/temp1_input", "90000\n");
    write_file("sys/class/hwmon/hwmon1/name", "coretemp\n");
    write_file("sys/class/hwmon/hwmon1/temp1_input", "51000\n");
    write_file("sys/class/hwmon/hwmon1/temp3_input", "61500\n");
    write_file("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
    write_file("sys/class/thermal/thermal_zone0/temp", "70000\n");
    read_cpu(values, reasons);
    assert_true(values[0] == 3100500e3);
    assert_true(values[1] == 61.5);
}

static void cpuinfo_and_zones(void **state)
{
    (void)state;
    double values[2];
    const char *reasons[2];
    write_file("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2445.402\nbogomips\t: 9999.00\n"
                               "processor\t: 1\ncpu MHz\t\t: 1200.5\n");
    write_file("sys/class/thermal/thermal_zone0/type", "acpitz\n");
    write_file("sys/class/thermal/thermal_zone0/temp", "99000\n");
    write_file("sys/class/thermal/thermal_zone1/type", "cpu-thermal\n");
    write_file("sys/class/thermal/thermal_zone1/temp", "-5000\n");
    read_cpu(values, reasons);
    assert_true(fabs(values[0] - 2445402000.0) < 1);
    assert_true(values[1] == -5);
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_summed_up),
        cmocka_unit_test(values_come_by_themselves),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(a_hang_is_left_behind),
        cmocka_unit_test(long_histories_are_thinned),
        WITH_ROOT(nothing_is_absent),
        WITH_ROOT(cpufreq_and_hwmon),
        WITH_ROOT(cpuinfo_and_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
