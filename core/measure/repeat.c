/* SPDX-License-Identifier: MIT */
#include "measure/repeat.h"

#include "experiment/registry.h"
#include "measure/serial.h"
#include "vulkan/slot.h"

#include <inttypes.h>

#define AIM 16      /* empty regions */
#define TOO_MANY 40 /* a first guess that gives a region of so many is not kept */
#define GUESSES 4

unsigned repeat_count(int64_t region_ns, unsigned repeats, int64_t empty_ns, unsigned most)
{
    /* What a region of noise alone tells is that the work is small. */
    double empty = (double)empty_ns, least = empty / 8 / repeats;
    double work = ((double)region_ns - empty) / repeats;
    double count = AIM * empty / (work > least ? work : least);
    if (count < 2)
        return 2;
    return count < most ? (unsigned)count + 1 : most;
}

void repeat_watch(struct serial *serial, const struct serial_times *times)
{
    for (unsigned i = 0; i < serial->count; i++) {
        int64_t device_ns = times->stages[i].device_ns;
        int64_t *watched_ns = &serial->stages[i].repeat.watched_ns;
        if (device_ns > 0 && (*watched_ns == 0 || device_ns < *watched_ns))
            *watched_ns = device_ns;
    }
}

static bool record(struct serial *serial, struct serial_stage *entry, struct assay_slot *slot,
                   struct assay_error *error)
{
    struct repeat *repeat = &entry->repeat;
    struct command_params create = {
        .slot = slot, .name = entry->stage->name, .role = entry->role, .member = entry->member};
    command_destroy(&repeat->command);
    repeat->command = command_create(&create, error);
    if (!repeat->command)
        return false;
    for (unsigned i = 0; i < repeat->count; i++) {
        if (i > 0 && !command_again(repeat->command, error))
            return false;
        if (!entry->stage->record(registry_stage(entry->stage), serial->self, repeat->command,
                                  error))
            return serial_hook_failed(entry->stage->name, "record", error);
    }
    return command_finish(repeat->command, error);
}

static bool run(struct serial *serial, struct repeat *repeat, int64_t *region_ns,
                struct assay_error *error)
{
    struct command_times times;
    return command_execute(repeat->command, serial->clock, &times, error) &&
           command_device_time(repeat->command, region_ns, error);
}

/* Records with ever better counts until the region is long enough, and not longer than need be. */
static bool find_count(struct serial *serial, struct serial_stage *entry, struct assay_slot *slot,
                       int64_t empty_ns, struct assay_error *error)
{
    struct repeat *repeat = &entry->repeat;
    size_t operations = command_operation_count(entry->command);
    unsigned most = (unsigned)(REPEAT_OPERATIONS_MAX / operations);
    most = most < REPEAT_COUNT_MAX ? most : REPEAT_COUNT_MAX;
    int64_t region_ns = repeat->watched_ns;
    repeat->count = 1;
    for (int guess = 0; guess < GUESSES; guess++) {
        unsigned count = repeat_count(region_ns, repeat->count, empty_ns, most);
        if (count == repeat->count)
            break;
        repeat->count = count;
        if (!record(serial, entry, slot, error) || !run(serial, repeat, &region_ns, error) ||
            !run(serial, repeat, &region_ns, error)) /* the first is a warm-up */
            return false;
        if (region_ns >= REPEAT_EMPTY_REGIONS * empty_ns && region_ns <= TOO_MANY * empty_ns)
            break;
    }
    repeat->doubtful = region_ns < REPEAT_EMPTY_REGIONS * empty_ns;
    repeat->most = repeat->count == most;
    return true;
}

static void refuse(struct serial_stage *entry, const char *why)
{
    struct repeat *repeat = &entry->repeat;
    command_destroy(&repeat->command);
    repeat->count = 0;
    repeat->doubtful = true;
    text_addf(&repeat->note, "mostly the timestamps' own cost; not repeated: %s", why);
}

static bool prepare(struct serial *serial, struct serial_stage *entry, struct assay_slot *slot,
                    struct assay_error *error)
{
    struct repeat *repeat = &entry->repeat;
    int64_t submissions = (int64_t)command_submission_count(entry->command);
    int64_t one_ns = serial_stage_queue(entry)->empty_region_ns;
    int64_t empty_ns = one_ns * submissions;
    if (one_ns <= 0 || repeat->watched_ns == 0 ||
        repeat->watched_ns >= REPEAT_EMPTY_REGIONS * empty_ns)
        return true;
    text_addf(&repeat->note,
              "stage '%s': its device time, %" PRId64 " ns, is under %" PRId64
              " empty regions of %" PRId64 " ns: ",
              entry->stage->name, repeat->watched_ns, REPEAT_EMPTY_REGIONS * submissions, one_ns);
    struct text why = {0};
    struct assay_error cause = {0};
    if (entry->stage->in_place)
        refuse(entry, "it works in place");
    else if (!command_can_repeat(entry->command, &why))
        refuse(entry, text_string(&why));
    else if (command_operation_count(entry->command) > REPEAT_OPERATIONS_MAX / 2)
        refuse(entry, "it has too many operations");
    else if (!find_count(serial, entry, slot, empty_ns, &cause))
        refuse(entry, cause.text);
    else if (repeat->doubtful)
        text_addf(&repeat->note, "repeated %u times, %s, and still short", repeat->count,
                  repeat->most ? "the most there may be" : "as far as the time of one told");
    else
        text_addf(&repeat->note, "repeated %u times between one pair of timestamps", repeat->count);
    text_free(&why);
    if (!slot->device->lost)
        return true;
    *error = cause;
    return false;
}

bool repeat_prepare(struct serial *serial, struct assay_slot *slot, struct assay_error *error)
{
    for (unsigned i = 0; i < serial->count; i++)
        if (serial->stages[i].command && !prepare(serial, &serial->stages[i], slot, error))
            return false;
    return true;
}

bool repeat_due(unsigned turns, int64_t spent_ns, int64_t used_ns)
{
    return turns < REPEAT_TURNS_LEAST || spent_ns <= used_ns / 4;
}

bool repeat_sample(struct serial *serial, bool due, struct serial_times *times, int64_t *spent_ns,
                   struct assay_error *error)
{
    for (unsigned i = 0; i < serial->count; i++) {
        struct serial_stage *entry = &serial->stages[i];
        struct repeat *repeat = &entry->repeat;
        int64_t region_ns, half = repeat->count / 2;
        if (!repeat->command)
            continue;
        if (entry->host_clock && !due) {
            times->stages[i].device_ns = -1;
            continue;
        }
        int64_t begin = clock_now(serial->clock);
        if (!run(serial, repeat, &region_ns, error))
            return false;
        if (entry->host_clock)
            *spent_ns += clock_now(serial->clock) - begin;
        times->stages[i].device_ns = (region_ns + half) / repeat->count;
        if (!entry->host_clock)
            times->stages[i].time_ns = times->stages[i].device_ns;
    }
    return true;
}

void repeat_finish(struct serial *serial)
{
    for (unsigned i = 0; i < serial->count; i++) {
        struct repeat *repeat = &serial->stages[i].repeat;
        command_destroy(&repeat->command);
        text_free(&repeat->note);
    }
}
