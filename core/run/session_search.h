/* SPDX-License-Identifier: MIT */
/* A case that looks for the highest value that keeps a bound: it is measured at one value after the
 * other. Inside core/run only. */
#ifndef RUN_SESSION_SEARCH_H
#define RUN_SESSION_SEARCH_H

#include "experiment/search.h"
#include "measure/measure.h"

struct session_search {
    struct search search;
    struct measure_request *request; /* its parameters are `params` */
    void *params;                    /* holds the value that the result is of, in the end */
    struct measure_budget budget;
    const struct measure_watch *watch;
    struct text record; /* of the case: {"vary",...,"probes":[{"value","figure","verdict"}]} */
    struct text seen;   /* the figures of the values tried, for a reason */
};
/* `result` is that of the highest value that keeps the bound, with the metric "value"; without any,
 * that of the lowest value, where "value" is absent. A value that the device cannot hold, or at
 * which a load is overloaded, does not keep the bound. Notes say where the answer is not all that
 * was asked for. False: the case failed. */
bool session_search_run(struct session_search *self, struct measure_result *result,
                        struct assay_error *error);

#endif
