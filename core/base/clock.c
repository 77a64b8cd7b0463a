/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <errno.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)
#define STEPS_SEEN 1000    /* steps of the clock to see the smallest of */
#define STEPS_READ 1000000 /* reads at most */

static int64_t read_clock(clockid_t id)
{
    struct timespec now = {0};
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static int64_t monotonic_now(struct assay_clock *clock)
{
    (void)clock;
    return read_clock(CLOCK_MONOTONIC);
}

static void monotonic_sleep(struct assay_clock *clock, int64_t when_ns)
{
    (void)clock;
    if (when_ns <= 0)
        return;
    struct timespec when = {.tv_sec = (time_t)(when_ns / SECOND_NS),
                            .tv_nsec = (long)(when_ns % SECOND_NS)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
        continue;
}

struct assay_clock *clock_monotonic(void)
{
    static struct assay_clock clock = {"monotonic", false, monotonic_now, monotonic_sleep};
    return &clock;
}

/* `clock` is the first member of struct clock_simulated. */
static int64_t simulated_now(struct assay_clock *clock)
{
    return ((struct clock_simulated *)(void *)clock)->time_ns;
}

static void simulated_sleep(struct assay_clock *clock, int64_t when_ns)
{
    struct clock_simulated *simulated = (struct clock_simulated *)(void *)clock;
    if (when_ns > simulated->time_ns)
        simulated->time_ns = when_ns;
}

void clock_simulated_init(struct clock_simulated *clock)
{
    *clock = (struct clock_simulated){
        .clock = {"simulated", true, simulated_now, simulated_sleep},
    };
}

int64_t clock_process_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t clock_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_step_ns(struct assay_clock *clock)
{
    static int64_t step_ns; /* of the monotonic clock, measured once */
    if (clock->simulated || step_ns > 0)
        return clock->simulated ? 0 : step_ns;
    int64_t least = INT64_MAX, last = clock_now(clock);
    for (int read = 0, seen = 0; read < STEPS_READ && seen < STEPS_SEEN; read++) {
        int64_t now = clock_now(clock);
        if (now > last) {
            seen++;
            least = now - last < least ? now - last : least;
        }
        last = now;
    }
    step_ns = least == INT64_MAX ? 1 : least;
    return step_ns;
}
