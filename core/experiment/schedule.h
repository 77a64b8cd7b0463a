/* SPDX-License-Identifier: MIT */
/* How the batches of a case are issued. Pure data, of the plan and of the worker. What a schedule
 * has is described like the parameters of a workload (assay/option.h): one row of a table drives
 * parsing, ranges, JSON, ids, labels and matching. */
#ifndef EXPERIMENT_SCHEDULE_H
#define EXPERIMENT_SCHEDULE_H

#include "base/options.h"

enum schedule_kind {
    SCHEDULE_SERIAL,      /* one batch after the other, each with its own submit and wait */
    SCHEDULE_PIPELINED,   /* up to `depth` batches in flight, each in a slot of its own */
    SCHEDULE_OPEN_LOOP,   /* batches arrive by themselves, whether or not the last one is done */
    SCHEDULE_CLOSED_LOOP, /* each of `clients` asks again as soon as it has its result */
    SCHEDULE_SUSTAINED,   /* for a long time, looked at window by window */
};
#define SCHEDULE_KINDS 5
/* That arrive in an open loop: fewer say nothing of their latency. */
#define SCHEDULE_REQUESTS_LEAST 80
/* Of SUSTAINED. */
#define SCHEDULE_WINDOWS_MOST 10000

enum schedule_queues {
    SCHEDULE_QUEUES_AUTO,
    SCHEDULE_QUEUES_ONE,
    SCHEDULE_QUEUES_DEDICATED,
    SCHEDULE_QUEUES_DEVICES, /* two logical devices of one driver stand in for two queues */
};

enum schedule_arrivals { SCHEDULE_ARRIVALS_POISSON, SCHEDULE_ARRIVALS_EVEN };

/* All members hold what counts, given or by default; those that a kind does not have are as
 * schedule_default leaves them. Widths are those that options are stored with. */
struct schedule {
    enum schedule_kind kind;
    uint32_t given;      /* bit i: row i of schedule_options(kind) was given */
    int64_t depth;       /* slots in flight, 1 unless the kind has more */
    int queues;          /* enum schedule_queues */
    bool sensitivity;    /* PIPELINED: each stage is delayed in turn */
    double rate;         /* OPEN_LOOP: arrivals a second */
    int arrivals;        /* OPEN_LOOP: enum schedule_arrivals */
    int64_t batch_max;   /* OPEN_, CLOSED_LOOP: requests that are put into one batch, at most */
    int64_t wait_max_ns; /* that a request waits for others of its batch, at most */
    int64_t queue_max;   /* OPEN_LOOP: requests that wait, at most; more are turned away */
    int64_t deadline_ns; /* OPEN_, CLOSED_LOOP: a later result is no goodput; 0: none */
    int64_t clients;     /* CLOSED_LOOP */
    int64_t duration_ns; /* SUSTAINED, OPEN_, CLOSED_LOOP; 0: the budget of the case */
    int64_t window_ns;   /* SUSTAINED; 0: a fortieth of the duration */
};

#define SCHEDULE_DEFAULT_SERIAL                                                                    \
    {                                                                                              \
        .kind = SCHEDULE_SERIAL, .depth = 1, .batch_max = 1, .queue_max = 10000, .clients = 1      \
    }
/* Serial, or a kind with what it has unless told otherwise. */
struct schedule schedule_default(enum schedule_kind kind);
/* "serial", "pipelined", ... */
const char *schedule_name(enum schedule_kind kind);
/* Whether the worker runs it: only then it is offered to scripts. */
bool schedule_offered(enum schedule_kind kind);
/* The offered one of this name; ASSAY_INVALID: "there is no schedule 'x'; there is serial". */
bool schedule_find(const char *name, enum schedule_kind *kind, struct assay_error *error);
/* What it has: offsets are into struct schedule. NULL-terminated. */
const struct assay_option *const *schedule_options(enum schedule_kind kind);
/* Row `option` of schedule_options is given this value. */
void schedule_set(struct schedule *schedule, size_t option, const struct option_value *value);
bool schedule_is_given(const struct schedule *schedule, size_t option);
/* Whether what is given goes together; ASSAY_INVALID says what does not. */
bool schedule_check_given(const struct schedule *schedule, struct assay_error *error);
/* The same, and that all is there that has to be. */
bool schedule_check(const struct schedule *schedule, struct assay_error *error);

/* {"name":"pipelined","depth":2}: what was given, in the units of the options (ns, req/s); keys are
 * in no order. New reference; NULL: out of memory. */
json_t *schedule_to_json(const struct schedule *schedule);
/* NULL is serial. Members that the kind does not have are ASSAY_INVALID. */
bool schedule_from_json(const json_t *json, struct schedule *schedule, struct assay_error *error);
/* "pipelined depth=2": the name and what was given. */
void schedule_add_label(const struct schedule *schedule, struct text *out);
/* The value of a field as text; nothing where it has no such field. */
void schedule_add_field(const struct schedule *schedule, const char *name, struct text *out);
/* Whether kind and given values are the same, as for ids. */
bool schedule_equal(const struct schedule *a, const struct schedule *b);

#endif
