/* SPDX-License-Identifier: MIT */
/* The metrics of a case as a record has them. */
#ifndef TESTS_METRICS_JSON_H
#define TESTS_METRICS_JSON_H

#include "base/json.h"
#include "result/metric.h"

/* New reference; NULL: what is written is no JSON. */
static inline json_t *metrics_json(const struct metric_set *set)
{
    struct assay_error error = {0};
    struct text text = {0};
    metric_set_add_json(set, &text);
    json_t *json = text.failed ? NULL : json_read(text.data, text.length, "metrics", &error);
    text_free(&text);
    return json;
}

#endif
