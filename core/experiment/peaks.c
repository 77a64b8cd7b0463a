/* SPDX-License-Identifier: MIT */
#include "experiment/peaks.h"

#include <string.h>

#define NAME "peaks"
#define NAME_ON "peaks on "
#define SETTINGS_MAX 8

enum row_for { ANY, CPU, GPU };
/* One case: settings are name, value, ... */
struct row {
    enum row_for row_for;
    const char *workload;
    const char *settings[2 * SETTINGS_MAX];
};

/* clang-format off */
#define DEVICE(class, size)                                                                        \
    {class, "copy", {"direction", "device", "bytes", size}}
#define DEVICE_SHADER(class, size)                                                                 \
    {class, "copy", {"direction", "device", "method", "shader", "bytes", size}}
#define HOST(class, way, memory, size)                                                             \
    {class, "copy", {"direction", way, "host_memory", memory, "bytes", size}}
#define HOST_MAP(class, way, memory, size)                                                         \
    {class, "copy", {"direction", way, "host_memory", memory, "method", "map", "bytes", size}}
#define HOST_ALL(class, size)                                                                      \
    HOST(class, "upload", "pageable", size), HOST(class, "upload", "pinned", size),                \
    HOST(class, "upload", "cached", size), HOST(class, "upload", "imported", size),                \
    HOST_MAP(class, "upload", "pinned", size),                                                     \
    HOST(class, "download", "pageable", size), HOST(class, "download", "pinned", size),            \
    HOST(class, "download", "cached", size), HOST(class, "download", "imported", size),            \
    HOST_MAP(class, "download", "cached", size)
#define WIDTHS(class, number, work, ...)                                                           \
    {class, "arithmetic", {"number", number, "width", "1", "flops", work, __VA_ARGS__}},           \
    {class, "arithmetic", {"number", number, "width", "2", "flops", work, __VA_ARGS__}},           \
    {class, "arithmetic", {"number", number, "width", "4", "flops", work, __VA_ARGS__}}
/* A CPU gets less work, in few long invocations: what a group costs to start counts there. */
#define CPU_SHAPE "rounds", "128", "workgroup", "16"

/* The largest copies are of several times what caches hold. */
static const struct row rows[] = {
    DEVICE(ANY, "64 KiB"),
    DEVICE(ANY, "1 MiB"),
    DEVICE(ANY, "16 MiB"),
    DEVICE(CPU, "64 MiB"),
    DEVICE(GPU, "256 MiB"),
    DEVICE_SHADER(GPU, "1 MiB"),
    DEVICE_SHADER(GPU, "16 MiB"),
    DEVICE_SHADER(GPU, "256 MiB"),
    HOST_ALL(CPU, "32 MiB"),
    HOST_ALL(GPU, "64 MiB"),
    WIDTHS(CPU, "fp32", "512 MFLOP", CPU_SHAPE),
    WIDTHS(CPU, "fp64", "256 MFLOP", CPU_SHAPE),
    WIDTHS(CPU, "fp16", "64 MFLOP", "workgroup", "16"),
    WIDTHS(CPU, "int32", "256 MFLOP", CPU_SHAPE),
    WIDTHS(CPU, "int8", "256 MFLOP", CPU_SHAPE),
    WIDTHS(GPU, "fp32", "64 GFLOP", "rounds", "64"),
    WIDTHS(GPU, "fp64", "8 GFLOP", "rounds", "64"),
    WIDTHS(GPU, "fp16", "64 GFLOP", "rounds", "16"),
    WIDTHS(GPU, "int32", "32 GFLOP", "rounds", "64"),
    WIDTHS(GPU, "int8", "32 GFLOP", "rounds", "64"),
};
/* clang-format on */
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static bool add_row(struct plan *plan, const struct row *row, const char *device,
                    struct assay_error *error)
{
    struct plan_setting settings[SETTINGS_MAX];
    struct plan_case item = {.settings = settings, .device = device};
    long workload = catalog_find(plan->catalog, row->workload, error);
    if (workload < 0)
        return false;
    item.workload = catalog_at(plan->catalog, (size_t)workload);
    const struct assay_option *const *options = item.workload->options;
    /* Settings stand in the order of the options. */
    for (uint32_t i = 0; options[i]; i++) {
        for (size_t k = 0; k < SETTINGS_MAX && row->settings[2 * k]; k++) {
            if (strcmp(options[i]->name, row->settings[2 * k]) != 0)
                continue;
            struct plan_setting *setting = &settings[item.setting_count++];
            setting->option = i;
            if (!option_parse(options[i], row->settings[2 * k + 1], plan->arena, &setting->value,
                              error))
                return false;
        }
    }
    return plan_add_case(plan, &item, error);
}

static bool same_device(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static const char *device_of(const struct plan *plan, const struct plan_experiment *experiment)
{
    return plan->cases[experiment->first_case].device;
}

bool peaks_plan(struct plan *plan, const char *device, const char *script, int line,
                struct assay_error *error)
{
    for (size_t i = 0; i < plan->experiment_count; i++)
        if (plan->experiments[i].is_peaks &&
            same_device(device_of(plan, &plan->experiments[i]), device))
            return true;
    const char *name = device ? arena_printf(plan->arena, NAME_ON "%s", device) : NAME;
    if (!name)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the plan");
    struct plan_experiment experiment = {.name = name,
                                         .script = script,
                                         .line = line,
                                         .measure = {.budget_ns = INT64_C(100000000)},
                                         .is_peaks = true};
    if (!plan_add_experiment(plan, &experiment, error))
        return false;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!add_row(plan, &rows[i], device, error)) {
            error_prefix(error, "the peaks cannot be measured");
            return false;
        }
    }
    return true;
}

bool peaks_name_reserved(const char *name)
{
    return strcmp(name, NAME) == 0 || strncmp(name, NAME_ON, strlen(NAME_ON)) == 0;
}

/* Whether a selected case of an experiment that needs peaks runs on this device, or, where the
 * script asked for them, any case at all. */
static bool needed(const struct plan *plan, const struct plan_experiment *peaks)
{
    const char *device = device_of(plan, peaks);
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct plan_case *item = &plan->cases[i];
        const struct plan_experiment *experiment = &plan->experiments[item->experiment];
        if (!item->selected)
            continue;
        if (experiment == peaks || (peaks->needs_peaks && !experiment->is_peaks) ||
            (experiment->needs_peaks && !experiment->is_peaks && same_device(item->device, device)))
            return true;
    }
    return false;
}

void peaks_select(struct plan *plan)
{
    for (size_t i = 0; i < plan->experiment_count; i++) {
        const struct plan_experiment *experiment = &plan->experiments[i];
        if (!experiment->is_peaks)
            continue;
        bool wanted = needed(plan, experiment);
        for (size_t k = 0; k < experiment->case_count; k++)
            plan->cases[experiment->first_case + k].selected = wanted;
    }
}

void peaks_fit(struct plan *plan, uint32_t experiment, bool cpu)
{
    const struct plan_experiment *peaks = &plan->experiments[experiment];
    for (size_t i = 0; peaks->is_peaks && i < peaks->case_count && i < ROW_COUNT; i++)
        if (rows[i].row_for == (cpu ? GPU : CPU))
            plan->cases[peaks->first_case + i].selected = false;
}
