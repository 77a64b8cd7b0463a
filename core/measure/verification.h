/* SPDX-License-Identifier: MIT */
/* The inside of what verify and report hooks write to. */
#ifndef MEASURE_VERIFICATION_H
#define MEASURE_VERIFICATION_H

#include <assay/verification.h>
#include <assay/workload.h>

#include "result/metric.h"

/* All zero is a fresh one. */
struct assay_verification {
    uint64_t checked_bytes;
    double error; /* largest error over its bound */
    bool has_error;
    bool nothing;    /* the workload has no way to tell */
    int64_t time_ns; /* what the hook took; not of models */
};

struct assay_metrics {
    const struct assay_workload *workload;
    struct metric_set *set;
    uint64_t reported; /* bit i: workload->metrics[i] was given; at most 64 extras */
};
#define METRICS_EXTRAS_MAX 64

/* Extras that the report hook left out become absent, with that reason. */
bool metrics_finish(struct assay_metrics *metrics, struct assay_error *error);

#endif
