/* SPDX-License-Identifier: MIT */
/* Cases of the workload `null`, measured on the simulated clock. */
#ifndef TESTS_UNIT_NULL_FIXTURE_H
#define TESTS_UNIT_NULL_FIXTURE_H

#include "../metrics_json.h"
#include "../workload_fixture.h"
#include "measure/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct null_fixture {
    struct workload_fixture null;
    struct measure_request request; /* of the next cases: seed, schedule, budget */
    struct measure_result result;   /* of the last one ... */
    json_t *metrics;                /* ... and its metrics; NULL: it failed */
    struct assay_error error;
};

static inline int set_up(void **state)
{
    static struct null_fixture fixture;
    fixture = (struct null_fixture){.request = {.seed = 1}};
    assert_true(workload_open(&fixture.null, "null", &fixture.error));
    *state = &fixture;
    return 0;
}

static inline int tear_down(void **state)
{
    struct null_fixture *f = *state;
    measure_result_free(&f->result);
    json_decref(f->metrics);
    workload_close(&f->null);
    return 0;
}

/* A case with these parameters: name, value, ..., NULL. */
static inline bool measure_settings(struct null_fixture *f, const char *const *settings)
{
    measure_result_free(&f->result);
    json_decref(f->metrics);
    f->metrics = NULL;
    f->error = (struct assay_error){0};
    f->request.workload = f->null.workload;
    f->request.params = workload_params(&f->null, settings, &f->error);
    if (!f->request.params || !measure_case(&f->request, &f->result, &f->error))
        return false;
    f->metrics = metrics_json(f->result.metrics);
    assert_non_null(f->metrics);
    return true;
}

#endif
