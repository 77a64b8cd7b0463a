/* SPDX-License-Identifier: MIT */
/* A case in the worker: from what is asked for to what can be measured, and its record. Inside
 * core/run only. */
#ifndef RUN_JOB_H
#define RUN_JOB_H

#include "run/session.h"

struct job {
    const json_t *request;
    const struct assay_workload *workload;
    void *params;
    struct shader_search search;
    struct schedule schedule;
    struct session_device *device;
    bool explored; /* nothing to measure */
    struct text output;
    struct text params_json, metrics_json, device_json, search_json;
};
/* Everything up to measuring, by `request`, which is set; explorations run here. What is allocated
 * for it lives in the arena. To be freed in either case. */
bool job_prepare(struct job *job, struct session *session, struct arena *arena,
                 struct assay_error *error);
void job_free(struct job *job);
struct measure_budget job_budget(const struct job *job, bool looks);
/* Adds `params` as they are now to params_json. */
void job_add_params(struct job *job);
/* Adds the case's record as things stand: `failure` without a status is a case that is done. */
bool job_add_record(struct job *job, const struct measure_result *result,
                    const struct assay_error *failure, struct text *out, struct assay_error *error);

#endif
