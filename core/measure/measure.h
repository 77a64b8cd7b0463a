/* SPDX-License-Identifier: MIT */
/* One case measured under a schedule: slot, warm-up, samples, verification, metrics. Worker process
 * only. */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include <assay/workload.h>

#include "base/clock.h"
#include "result/metric.h"
#include "vulkan/device.h"
#include "vulkan/shader.h"

struct measure_budget {                /* zero means the default */
    double target;                     /* 0.02 */
    double confidence;                 /* 0.95 */
    int64_t budget_ns;                 /* 1 s */
    int64_t warmup_ns;                 /* bound of the warm-up, 1 s */
    unsigned min_samples, max_samples; /* 6 (never fewer), 10,000 */
};

struct measure_request {
    const struct assay_workload *workload;
    const void *params;
    struct assay_device
        *device; /* NULL for MODEL workloads, which run on a simulated clock of their own */
    const struct shader_search *search;
    uint64_t seed; /* of the case */
    struct measure_budget budget;
};

/* What a case gave. The texts are JSON, shaped as docs/journal.md says; an empty one has nothing to
 * say. */
struct measure_result {
    struct metric_set *metrics;
    struct text samples;      /* the series: {"time":[ns...],"copy.time":[...]} */
    struct text sampling;     /* how many samples and why */
    struct text stages;       /* array: clock, cost and queues of each stage */
    struct text verification; /* what was checked; empty for MODEL workloads */
    struct text memory;       /* what the slot's buffers hold */
    struct text shaders;      /* array */
    struct text notes;        /* array of texts: "left 2 buffers or kernels behind", ... */
};

/* False: the case has no figures; error's status says how it ended (UNSUPPORTED: a skip). `result`
 * is then partly filled: free it in either case. Status WRONG_RESULT: no times are reported. */
bool measure_case(const struct measure_request *request, struct measure_result *result,
                  struct assay_error *error);
void measure_result_free(struct measure_result *result);

#endif
