/* SPDX-License-Identifier: MIT */
#include "vulkan/slot.h"

#include "vulkan/command.h"

#define RUNS 7

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

bool assay_slot_time(struct assay_slot *slot, assay_slot_record *record, void *self,
                     int64_t *time_ns, struct assay_error *error)
{
    struct command_params params = {.slot = slot, .name = "trial", .role = VULKAN_ROLE_COMPUTE};
    struct assay_command *command = command_create(&params, error);
    int64_t run_ns;
    bool good = command && record(self, command, error) && command_finish(command, error) &&
                run_once(command, &run_ns, error); /* compiles, touches memory */
    *time_ns = INT64_MAX;
    for (int i = 0; good && i < RUNS; i++) {
        good = run_once(command, &run_ns, error);
        *time_ns = good && run_ns < *time_ns ? run_ns : *time_ns;
    }
    command_destroy(&command);
    return good;
}
