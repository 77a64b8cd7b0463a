/* SPDX-License-Identifier: MIT */
/* Plugins that are wrong in one thing each, and what the registry says of them. */
#include "base/json.h"
#include "base/text.h"
#include "experiment/registry.h"
#include "experiment/registry_sensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct params {
    int64_t count;
    double share;
    int mode;
};

static int64_t no_time(const struct assay_stage *stage, void *self, int64_t now_ns)
{
    (void)stage;
    (void)self;
    return now_ns - now_ns;
}

static bool always(const struct assay_stage *stage, const void *params)
{
    (void)stage;
    return params;
}

static void *create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    (void)params;
    (void)error;
    return slot;
}

static void destroy(void **self)
{
    *self = NULL;
}

static bool record(const struct assay_stage *stage, void *self, struct assay_command *command,
                   struct assay_error *error)
{
    (void)stage;
    (void)command;
    (void)error;
    return self;
}

/* A right plugin; each test spoils a copy of it. */
static const char *const modes[] = {"slow", "fast", NULL};
static const struct assay_option right_options[] = {
    {.size = sizeof(struct assay_option),
     .name = "count",
     .kind = ASSAY_OPTION_INTEGER,
     .offset = offsetof(struct params, count),
     .unit = "B",
     .fallback = "2 KiB",
     .min = 1,
     .max = 4096,
     .help = "how many"},
    {.size = sizeof(struct assay_option),
     .name = "share",
     .kind = ASSAY_OPTION_REAL,
     .offset = offsetof(struct params, share),
     .fallback = "0.5",
     .help = "how much"},
    {.size = sizeof(struct assay_option),
     .name = "mode",
     .kind = ASSAY_OPTION_CHOICE,
     .offset = offsetof(struct params, mode),
     .fallback = "fast",
     .choices = modes,
     .help = "how"},
};
static struct assay_option option_rows[3];
static struct assay_stage stage_rows[2];
static struct assay_metric_info metric_row;
static struct assay_workload workload;
static struct assay_plugin plugin;
static const struct assay_option *options[4];
static const struct assay_stage *stages[3];
static const struct assay_metric_info *metrics[2];
static const struct assay_workload *workloads[3];

static int set_up(void **state)
{
    (void)state;
    memcpy(option_rows, right_options, sizeof(option_rows));
    for (int i = 0; i < 3; i++)
        options[i] = &option_rows[i];
    stage_rows[0] = (struct assay_stage){.size = sizeof(struct assay_stage),
                                         .name = "wait",
                                         .help = "waits",
                                         .kind = ASSAY_STAGE_MODEL,
                                         .duration_ns = no_time};
    stage_rows[1] = stage_rows[0];
    stage_rows[1].name = "rest";
    stages[0] = &stage_rows[0];
    stages[1] = &stage_rows[1];
    metric_row = (struct assay_metric_info){
        .size = sizeof(metric_row), .name = "turns", .unit = "1", .help = "turns"};
    metrics[0] = &metric_row;
    workload = (struct assay_workload){.size = sizeof(workload),
                                       .name = "idle",
                                       .version = "3",
                                       .summary = "does nothing",
                                       .options = options,
                                       .params_size = sizeof(struct params),
                                       .stages = stages,
                                       .metrics = metrics,
                                       .create = create,
                                       .destroy = destroy};
    workloads[0] = &workload;
    workloads[1] = NULL;
    plugin = (struct assay_plugin){.size = sizeof(plugin),
                                   .abi = ASSAY_ABI,
                                   .name = "tests",
                                   .version = "1",
                                   .workloads = workloads};
    return 0;
}

static const struct assay_plugin *entry(void)
{
    return &plugin;
}

static assay_plugin_entry *const table[] = {entry, NULL};
static assay_plugin_entry *const table_twice[] = {entry, entry, NULL};

static void refused_table(assay_plugin_entry *const *entries, const char *text)
{
    struct assay_error error = {0};
    struct registry *registry = registry_create(entries, &error);
    assert_null(registry);
    assert_string_equal(error.text, text);
    assert_int_equal(set_up(NULL), 0);
}

static void refused(const char *text)
{
    refused_table(table, text);
}

static void right_plugin(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct registry *registry = registry_create(table, &error);
    assert_string_equal(error.text, "");
    assert_non_null(registry);
    const struct assay_workload *taken = registry_find(registry, "idle");
    assert_non_null(taken);
    assert_ptr_equal(taken->create, create);
    assert_null(registry_file(registry, taken));
    assert_null(registry_find(registry, "tests"));
    assert_true(workload_is_model(&workload));
    const struct params *defaults = registry_defaults(registry, taken);
    assert_int_equal(defaults->count, 2048);
    assert_true(defaults->share == 0.5);
    assert_int_equal(defaults->mode, 1);
    registry_destroy(&registry);
    assert_null(registry);
    registry_destroy(&registry);
}

static void describes(void **state)
{
    (void)state;
    struct assay_error error = {0};
    stage_rows[1].name = "wait";
    stage_rows[0].present = stage_rows[1].present = always;
    struct registry *registry = registry_create(table, &error);
    json_t *all = registry_describe(registry, NULL);
    assert_int_equal(json_array_size(all), 1);
    json_t *item = json_array_get(all, 0);
    assert_string_equal(json_text(item, "name", ""), "idle");
    assert_string_equal(json_text(item, "version", ""), "3");
    assert_string_equal(json_text(item, "plugin", ""), "tests");
    assert_true(json_flag(item, "model", false));
    assert_int_equal(json_array_size(json_object_get(item, "options")), 3);
    /* Two rows of one name are one stage to the user. */
    json_t *described = json_object_get(item, "stages");
    assert_int_equal(json_array_size(described), 1);
    assert_string_equal(json_text(json_array_get(described, 0), "kind", ""), "model");
    json_t *extra = json_array_get(json_object_get(item, "metrics"), 0);
    assert_string_equal(json_text(extra, "name", ""), "turns");
    assert_string_equal(json_text(extra, "unit", ""), "1");
    json_decref(all);
    registry_destroy(&registry);
}

/* Both numbers are in the text. */
static void refused_size(const char *where, const char *type, size_t got, size_t first,
                         size_t known)
{
    char text[256];
    int length;
    if (got > known)
        length = snprintf(text, sizeof(text),
                          "%sstruct %s has %zu bytes, this assay knows %zu: it was built for a "
                          "newer assay, or `size` is not filled in",
                          where, type, got, known);
    else
        length = snprintf(text, sizeof(text),
                          "%sstruct %s has %zu bytes, in ABI 2 it has at least %zu: set `size` to "
                          "its sizeof",
                          where, type, got, first);
    assert_true(length > 0 && (size_t)length < sizeof(text));
    refused(text);
}

/* The numbers are those of 64-bit machines. */
static void wrong_abi_and_sizes(void **state)
{
    (void)state;
    plugin.abi = ASSAY_ABI + 1;
    refused("it was built for ABI 3, this assay has ABI 2: build it against the headers of this "
            "assay");
    plugin.size = 8;
    refused("struct assay_plugin has 8 bytes, in ABI 2 it has at least 40");
    plugin.size = sizeof(plugin) + 1;
    refused_size("", "assay_plugin", sizeof(plugin) + 1, 40, sizeof(plugin));
    plugin.size = 39;
    refused_size("", "assay_plugin", 39, 40, sizeof(plugin));
    workload.size = 20;
    refused_size("workloads[0]: ", "assay_workload", 20, 112, sizeof(workload));
    option_rows[1].size = 112;
    refused_size("workloads[0]: options[1]: ", "assay_option", 112, 100,
                 sizeof(struct assay_option));
    stage_rows[0].size = 1;
    refused_size("workloads[0]: stages[0]: ", "assay_stage", 1, 72, sizeof(struct assay_stage));
    metric_row.size = 31;
    refused_size("workloads[0]: metrics[0]: ", "assay_metric_info", 31, 32,
                 sizeof(struct assay_metric_info));
}

/* Stages of an earlier layout, each followed by what is not theirs. */
static void shorter_structs(void **state)
{
    (void)state;
    struct assay_error error = {0};
    size_t first = offsetof(struct assay_stage, in_place);
    memset((char *)&stage_rows[0] + first, 0xff, sizeof(stage_rows[0]) - first);
    stage_rows[0].size = first;
    struct registry *registry = registry_create(table, &error);
    assert_string_equal(error.text, "");
    const struct assay_workload *taken = registry_find(registry, "idle");
    assert_non_null(taken);
    assert_string_equal(taken->stages[0]->name, "wait");
    assert_ptr_equal(taken->stages[0]->duration_ns, no_time);
    assert_false(taken->stages[0]->in_place);
    /* Its hooks are given the plugin's own. */
    assert_ptr_equal(registry_stage(taken->stages[0]), &stage_rows[0]);
    assert_ptr_equal(registry_stage(taken->stages[1]), &stage_rows[1]);
    registry_destroy(&registry);
}

/* One from before there were sensors; what is behind it is not its own. */
static void shorter_plugin(void **state)
{
    (void)state;
    struct assay_error error = {0};
    size_t first = offsetof(struct assay_plugin, sensors);
    memset((char *)&plugin + first, 0xff, sizeof(plugin) - first);
    plugin.size = first;
    struct registry *registry = registry_create(table, &error);
    assert_string_equal(error.text, "");
    assert_non_null(registry_find(registry, "idle"));
    assert_int_equal(registry_sensors(registry)->count, 0);
    registry_destroy(&registry);
}

static void *sensor_open(const char *root, struct assay_error *error)
{
    (void)root;
    (void)error;
    return NULL;
}

static bool sensor_read(void *self, double *values, struct assay_error *error)
{
    (void)values;
    (void)error;
    return self;
}

static void sensors_are_checked(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct assay_reading rows[] = {
        {.size = sizeof(rows[0]), .name = "power", .unit = "W", .help = "of it"},
        {.size = sizeof(rows[0]), .name = "clock", .unit = "GHz"}};
    const struct assay_reading *readings[] = {&rows[0], &rows[1], NULL};
    struct assay_sensor sensor = {.size = sizeof(sensor),
                                  .name = "meter",
                                  .summary = "a meter",
                                  .readings = readings,
                                  .open = sensor_open,
                                  .read = sensor_read,
                                  .close = destroy};
    const struct assay_sensor right = sensor, *sensors[] = {&sensor, NULL, NULL};
    const struct assay_plugin with = {.size = sizeof(with),
                                      .abi = ASSAY_ABI,
                                      .name = "tests",
                                      .version = "1",
                                      .sensors = sensors};
#define REFUSED(text)                                                                              \
    plugin = with;                                                                                 \
    refused(text);                                                                                 \
    sensor = right
    plugin = with;
    struct registry *registry = registry_create(table, &error);
    assert_string_equal(error.text, "");
    json_t *all = registry_sensors_describe(registry_sensors(registry), NULL);
    struct text line = {0};
    assert_true(json_add_line(&line, all, false, &error));
    assert_string_equal(text_string(&line),
                        "[{\"name\":\"meter\",\"summary\":\"a meter\",\"plugin\":\"tests\","
                        "\"readings\":[{\"name\":\"power\",\"unit\":\"W\",\"help\":\"of it\"},"
                        "{\"name\":\"clock\",\"unit\":\"GHz\",\"help\":\"\"}]}]");
    text_free(&line);
    json_decref(all);
    registry_destroy(&registry);
    sensor.read = NULL;
    REFUSED("plugin 'tests': sensor 'meter': it lacks open, read or close");
    sensor.name = "no name";
    REFUSED("plugin 'tests': the name of a sensor is not a Lua identifier of at most 48 letters");
    sensor.size = 8;
    REFUSED("sensors[0]: struct assay_sensor has 8 bytes, in ABI 2 it has at least 64: set `size` "
            "to its sizeof");
    rows[1].unit = "parsec";
    REFUSED("plugin 'tests': sensor 'meter': reading 'clock': its unit is unknown");
    rows[1].unit = "GHz";
    rows[1].name = "power";
    REFUSED("there are two readings 'power': of plugin 'tests' (built in) and of plugin 'tests' "
            "(built in)");
    rows[1].name = "clock";
    sensors[1] = &sensor;
    REFUSED("there are two sensors 'meter': of plugin 'tests' (built in) and of plugin 'tests' "
            "(built in)");
    readings[0] = NULL;
    REFUSED("plugin 'tests': sensor 'meter': it must have 1 to 16 readings");
    plugin = with;
    plugin.sensors = NULL;
    refused("plugin 'tests': it has neither workloads nor sensors");
#undef REFUSED
}

static void table_without_end(void **state)
{
    (void)state;
    static const struct assay_workload *many[1025];
    for (size_t i = 0; i < 1025; i++)
        many[i] = &workload;
    plugin.workloads = many;
    refused("its table `workloads` has no NULL at its end");
}

#define TWICE                                                                                      \
    "there are two workloads 'idle': of plugin 'tests' (built in) and of plugin 'tests' (built "   \
    "in)"

static void wrong_names(void **state)
{
    (void)state;
    plugin.name = "two words";
    refused("a plugin's name 'two words' is not a Lua identifier");
    workload.name = "9th";
    refused("plugin 'tests': the name of a workload is not a Lua identifier of at most 48 letters");
    stage_rows[1].name = "time";
    refused("plugin 'tests': workload 'idle': stage 'time': the name is reserved");
    stage_rows[1].name = "end";
    refused(
        "plugin 'tests': workload 'idle': stage 'end': the name is not a Lua identifier of at most "
        "48 letters");
    stage_rows[1].name = "wait";
    refused(
        "plugin 'tests': workload 'idle': stage 'wait': two stages of one name both need present, "
        "and only one of them may be there at a time");
    metric_row.name = "status";
    refused("plugin 'tests': workload 'idle': metric 'status': the name is reserved");
    metric_row.name = "rest";
    refused("plugin 'tests': workload 'idle': metric 'rest': there is a stage of this name");
    option_rows[1].name = "count";
    refused("plugin 'tests': workload 'idle': parameter 'count': there are two of this name");
    option_rows[1].name = "device";
    refused("plugin 'tests': workload 'idle': parameter 'device': the name is reserved");
    workloads[1] = &workload;
    workloads[2] = NULL;
    refused(TWICE);
    refused_table(table_twice, TWICE);
}

static void missing_hooks(void **state)
{
    (void)state;
    workload.create = NULL;
    refused("plugin 'tests': workload 'idle': it lacks create");
    workload.destroy = NULL;
    refused("plugin 'tests': workload 'idle': it lacks destroy");
    stage_rows[0].duration_ns = NULL;
    refused("plugin 'tests': workload 'idle': stage 'wait': a model stage needs duration_ns");
    stage_rows[0].kind = ASSAY_STAGE_HOST;
    refused("plugin 'tests': workload 'idle': stage 'wait': a host stage needs run");
    stage_rows[0].kind = ASSAY_STAGE_COMPUTE;
    refused("plugin 'tests': workload 'idle': stage 'wait': a device stage needs record");
    stage_rows[0].kind = ASSAY_STAGE_TRANSFER;
    stage_rows[0].record = record;
    refused("plugin 'tests': workload 'idle': it lacks verify");
    struct assay_tuning tuning = {.size = sizeof(tuning)};
    workload.tuning = &tuning;
    refused("plugin 'tests': workload 'idle': its tuning lacks wanted, key, candidate or choose");
    tuning.size = 8;
    workload.tuning = &tuning;
    refused_size("workloads[0]: tuning: ", "assay_tuning", 8, sizeof(tuning), sizeof(tuning));
    stages[0] = NULL;
    refused("plugin 'tests': workload 'idle': it must have 1 to 16 stages");
}

static void wrong_options(void **state)
{
    (void)state;
    option_rows[0].fallback = NULL;
    refused("plugin 'tests': workload 'idle': parameter 'count': it has no default");
    option_rows[0].offset = sizeof(struct params);
    refused(
        "plugin 'tests': workload 'idle': parameter 'count': its offset does not fit the params "
        "struct");
    option_rows[0].offset = 4;
    refused(
        "plugin 'tests': workload 'idle': parameter 'count': its offset does not fit the params "
        "struct");
    option_rows[2].choices = NULL;
    refused("plugin 'tests': workload 'idle': parameter 'mode': it has no choices");
    option_rows[1].flags = ASSAY_OPTION_ITEMS;
    refused(
        "plugin 'tests': workload 'idle': parameter 'share': only an integer can be the number of "
        "items");
    workload.options = NULL;
    refused("plugin 'tests': workload 'idle': it lacks options, stages or params_size");
}

static void bad_defaults(void **state)
{
    (void)state;
    static const char *const bad[] = {"8 KiB", "0", "2 GB/s", "many"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct assay_error error = {0};
        option_rows[0].fallback = bad[i];
        assert_null(registry_create(table, &error));
        static const char start[] = "plugin 'tests': default of workload 'idle': count: ";
        assert_memory_equal(error.text, start, sizeof(start) - 1);
        set_up(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(right_plugin, set_up),
        cmocka_unit_test_setup(describes, set_up),
        cmocka_unit_test_setup(wrong_abi_and_sizes, set_up),
        cmocka_unit_test_setup(shorter_structs, set_up),
        cmocka_unit_test_setup(shorter_plugin, set_up),
        cmocka_unit_test_setup(sensors_are_checked, set_up),
        cmocka_unit_test_setup(table_without_end, set_up),
        cmocka_unit_test_setup(wrong_names, set_up),
        cmocka_unit_test_setup(missing_hooks, set_up),
        cmocka_unit_test_setup(wrong_options, set_up),
        cmocka_unit_test_setup(bad_defaults, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
