/* SPDX-License-Identifier: MIT */
/* A sensor alone; with FAULT, for tests, one that does not work. */
#include <assay/assay.h>

#include <math.h>
#include <unistd.h>

#define FAULT_FAILS 1 /* at its second value */
#define FAULT_HANGS 2 /* the same */
#define FAULT_UNIT 3
#ifndef FAULT
#define FAULT 0
#endif

static int reads;

static void *gauge_open(const char *root, struct assay_error *error)
{
    (void)root;
    (void)error;
    return &reads;
}

static bool gauge_read(void *self, double *values, struct assay_error *error)
{
    int *count = self;
    ++*count;
    if (FAULT == FAULT_FAILS && *count == 2)
        return assay_fail(error, ASSAY_SYSTEM, "the gauge is stuck");
    while (FAULT == FAULT_HANGS && *count == 2)
        pause();
    values[0] = 1.5;
    values[1] = NAN;
    return true;
}

static const char *gauge_absent(void *self, size_t index)
{
    (void)self;
    return index == 1 ? "there is no fan" : "";
}

static void gauge_close(void **self)
{
    *self = NULL;
}

static const struct assay_reading power = {.size = sizeof(struct assay_reading),
                                           .name = "gauge_power",
                                           .unit = FAULT == FAULT_UNIT ? "parsec" : "kW",
                                           .help = "always the same"};
static const struct assay_reading fan = {
    .size = sizeof(struct assay_reading), .name = "gauge_fan", .unit = "Hz", .help = "never there"};
static const struct assay_reading *const readings[] = {&power, &fan, NULL};

static const struct assay_sensor sensor = {.size = sizeof(struct assay_sensor),
                                           .name = "gauge",
                                           .summary = "a power that does not change",
                                           .readings = readings,
                                           .open = gauge_open,
                                           .read = gauge_read,
                                           .absent = gauge_absent,
                                           .close = gauge_close};
static const struct assay_sensor *const sensors[] = {&sensor, NULL};

ASSAY_PLUGIN_ENTRY(gauge)
{
    static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                               .abi = ASSAY_ABI,
                                               .name = "gauge",
                                               .version = "1",
                                               .sensors = sensors};
    return &plugin;
}
