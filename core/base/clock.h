/* SPDX-License-Identifier: MIT */
/* The clock seam: core/measure reads time and waits only through this. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <assay/api.h>

struct assay_clock {
    const char *name; /* "monotonic", "simulated": goes into the record */
    bool simulated;
    int64_t (*now_ns)(struct assay_clock *clock);
    void (*sleep_until_ns)(struct assay_clock *clock, int64_t when_ns);
};

/* CLOCK_MONOTONIC; one for the process, any thread. */
struct assay_clock *clock_monotonic(void);

/* Starts at 0; time passes only by sleeping. One thread. */
struct clock_simulated {
    struct assay_clock clock;
    int64_t time_ns;
};
void clock_simulated_init(struct clock_simulated *clock);

/* The smallest difference that two reads of the clock show, from reading it; 0 of a simulated one.
 * One thread. */
int64_t clock_step_ns(struct assay_clock *clock);

static inline int64_t clock_now(struct assay_clock *clock)
{
    return clock->now_ns(clock);
}

/* CPU time in ns of the whole process (CLOCK_PROCESS_CPUTIME_ID), and of the calling thread
 * (CLOCK_THREAD_CPUTIME_ID). */
int64_t clock_process_cpu_ns(void);
int64_t clock_thread_cpu_ns(void);

#endif
