/* SPDX-License-Identifier: MIT */
/* How far a run is, on stderr: one line that changes on a terminal, else plain lines. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "run/supervisor.h"

enum progress_choice { PROGRESS_AUTO, PROGRESS_ON, PROGRESS_OFF };

struct progress {
    bool enabled, terminal;
    unsigned width;
    int64_t drawn_ns;    /* when the line was drawn last */
    size_t ended, every; /* plain lines: one in so many cases */
    size_t index, total;
    const struct plan *plan; /* of the case that runs */
    const struct plan_case *item;
    bool pending; /* it is not on the line yet */
};

void progress_init(struct progress *progress, enum progress_choice choice, size_t total);
struct supervisor_events progress_events(struct progress *progress);
/* Clears the line, before anything else is printed. */
void progress_clear(struct progress *progress);

#endif
