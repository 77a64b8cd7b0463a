/* SPDX-License-Identifier: MIT */
/* Where records come from: files, or a feed that is stated. */
#include "overlap.h"

#include <string.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void sleep_until_ns(int64_t when_ns)
{
    struct timespec when = {.tv_sec = when_ns / NS_PER_S, .tv_nsec = when_ns % NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) != 0)
        continue;
}

bool overlap_receive(const struct assay_stage *stage, void *self, struct assay_error *error)
{
    (void)stage;
    struct overlap *o = self;
    const struct params *p = o->params;
    uint64_t bytes = o->layout.record_words * WORD_BYTES, offset;
    if (p->source == SOURCE_FILES) {
        if (!files_read(o->files, overlap_records(o), bytes, &offset, error))
            return false;
        o->first_word = offset / WORD_BYTES;
        return true;
    }
    int64_t end_ns = now_ns() + p->feed_latency +
                     (int64_t)((double)bytes / p->feed_rate * (double)NS_PER_S);
    memcpy(overlap_records(o), assay_buffer_address(o->feed), (size_t)bytes);
    sleep_until_ns(end_ns);
    return true;
}
