/* SPDX-License-Identifier: MIT */
#include "vulkan/slot.h"

#include "vulkan/command.h"

#include <stdlib.h>

#define RUNS 5

/* Device time where it can be had, as for stages. */
static bool run_once(struct assay_command *command, int64_t *time_ns, struct assay_error *error)
{
    struct command_times times;
    int64_t device_ns = -1;
    if (!command_execute(command, clock_monotonic(), &times, error))
        return false;
    if (command_has_timestamps(command) && !command_touches_host(command) &&
        !command_device_time(command, &device_ns, error))
        return false;
    *time_ns = device_ns >= 0 ? device_ns : times.end_ns - times.begin_ns;
    return true;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool assay_slot_time(struct assay_slot *slot, assay_slot_record *record, void *self,
                     int64_t *time_ns, struct assay_error *error)
{
    struct command_params params = {.slot = slot, .name = "trial", .role = VULKAN_ROLE_COMPUTE};
    struct assay_command *command = command_create(&params, error);
    int64_t times_ns[RUNS], first_ns;
    bool good = command && record(self, command, error) && command_finish(command, error) &&
                run_once(command, &first_ns, error); /* compiles, touches memory */
    for (int i = 0; good && i < RUNS; i++)
        good = run_once(command, &times_ns[i], error);
    command_destroy(&command);
    if (!good)
        return false;
    qsort(times_ns, RUNS, sizeof(*times_ns), by_value);
    *time_ns = times_ns[RUNS / 2];
    return true;
}
