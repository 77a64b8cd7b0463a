/* SPDX-License-Identifier: MIT */
/* A case, or a pair group of cases, measured under a schedule: slots, warm-up, samples,
 * verification, metrics. Worker process only. */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include <assay/workload.h>

#include "base/clock.h"
#include "experiment/schedule.h"
#include "result/metric.h"
#include "vulkan/device.h"
#include "vulkan/shader.h"

struct measure_budget {                /* zero means the default */
    double target;                     /* 0.02 */
    double confidence;                 /* 0.95; with looks 0.99 */
    int64_t budget_ns;                 /* 1 s */
    int64_t warmup_ns;                 /* bound of the warm-up, 1 s */
    unsigned min_samples, max_samples; /* 6 (never fewer; with looks 8), 10,000 */
    bool looks;                        /* bounds are looked at while sampling (sampler.h) */
};

struct measure_request {
    const struct assay_workload *workload;
    const void *params;
    struct assay_device
        *device; /* NULL for MODEL workloads, which run on a simulated clock of their own */
    const struct shader_search *search;
    uint64_t seed; /* of the case */
    struct measure_budget budget;
    const char *note; /* one more of the result's, or NULL */
    struct schedule schedule;
    /* Verification runs again with delays between stages, that follow from the seed. */
    bool perturb;
    uint64_t perturb_seed;
    /* For tests of that: the stage of this number, from 1, does not wait for the one before it
     * while it is verified. 0: all wait. */
    unsigned defect_stage;
    bool trace;    /* what ran when is kept, of one run of batches */
    bool validate; /* validation layers watch: what is fast then is not what is fast else */
};

/* Who looks at the machine while samples are taken. */
struct measure_watch {
    void *user;
    /* Samples are taken from begin to end; a look at the bounds stands between an end and the next
     * begin. */
    void (*begin)(void *user);
    void (*end)(void *user);
    /* Between end and begin: the record's `sensors`, false when out of memory; how the readings
     * changed, for beside a drift; and what else is to be noted, each a text of its own. */
    bool (*add_record)(void *user, struct text *out);
    void (*add_change)(void *user, struct text *out);
    void (*notes)(void *user, void (*add)(void *add_user, const char *note), void *add_user);
};

/* What a case gave. The texts are JSON, shaped as docs/journal.md says; an empty one has nothing to
 * say. */
struct measure_result {
    struct metric_set *metrics;
    struct text samples;      /* the series: {"time":[ns...],"copy.time":[...]} */
    struct text trace;        /* object: what ran when, for the samples record; empty: none */
    struct text sampling;     /* how many samples and why */
    struct text stages;       /* array: clock, cost and queues of each stage */
    struct text verification; /* what was checked; empty for MODEL workloads */
    struct text memory;       /* what the slots' buffers hold */
    struct text pipeline;     /* object: who shares what, and how busy it was; empty when serial */
    struct text load;         /* object: of open_loop, closed_loop (measure/load.h) and sustained */
    struct text shaders;      /* array */
    struct text sources;      /* object: the files they were made of */
    struct text sensors;      /* object; empty for MODEL workloads */
    struct text tuning;       /* object; empty where the parameters left no choice open */
    struct text notes;        /* array of texts: "left 2 buffers or kernels behind", ... */
};

/* False: the case has no figures; error's status says how it ended (UNSUPPORTED: a skip). `result`
 * is then partly filled: free it in either case. Status WRONG_RESULT: no times are reported. */
bool measure_case(const struct measure_request *request, struct measure_result *result,
                  struct assay_error *error);
void measure_result_free(struct measure_result *result);

/* To whether a bound is undecided with what is there so far. */
enum measure_answer {
    MEASURE_DECIDED,
    MEASURE_UNDECIDED, /* more samples are worth their time */
    MEASURE_UNASKED    /* it cannot be asked: the budget is used up, and it is not asked again */
};

/* Cases that are sampled in turn. */
struct measure_group {
    const struct measure_request *members;
    size_t count;
    struct measure_budget budget; /* of a case; those of the members do not count */
    uint64_t order_seed;          /* of the order within each turn */
    /* Asks whether a bound is undecided with what the results hold so far. `look` counts from 1;
     * those with a failure hold nothing. NULL: nobody asks, nothing is undecided. False with error
     * ends it all. */
    bool (*ask)(void *user, unsigned look, const struct measure_result *results,
                const struct assay_error *failures, enum measure_answer *answer,
                struct assay_error *error);
    void *user;
    const struct measure_watch *watch; /* NULL: nobody; of no use to MODEL workloads */
    bool tune_only; /* choices that the parameters leave open are made anew; nothing is sampled */
};
/* Choices that parameters leave open (struct assay_tuning) are made first, one case after the
 * other. Then all slots live at once. Each turn samples each member once, in the order of
 * turn_order(): sample i of all members is turn i. Model members share one simulated clock.
 * Afterwards each is verified under its own inputs. failures[i] (zeroed first) says how member i
 * ended; one that fails before sampling leaves the others to go on, but memory that does not hold
 * them all fails each as ASSAY_UNSUPPORTED, and a failure while sampling fails all. False when
 * `ask` failed: no result counts. Results are to be freed in any case. */
bool measure_group(const struct measure_group *group, struct measure_result *results,
                   struct assay_error *failures, struct assay_error *error);
/* The members 0 ... count - 1 in the order of a turn: shuffled, the same for a seed everywhere. */
void turn_order(uint64_t seed, uint64_t turn, size_t *order, size_t count);

#endif
