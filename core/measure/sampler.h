/* SPDX-License-Identifier: MIT */
/* When to stop warming up and when to stop sampling: decisions only, fed with times. Pure. */
#ifndef MEASURE_SAMPLER_H
#define MEASURE_SAMPLER_H

#include "measure/measure.h"

struct sampler;
struct sampler *sampler_create(const struct measure_budget *budget, struct assay_error *error);
void sampler_destroy(struct sampler **sampler);

/* Warm-up: settled when the medians of the last and the one before last window of 3 samples differ
 * by under 5 % (or all is constant); bounded by the warm-up budget, at least 2 samples. Returns
 * whether another warm-up sample is wanted. */
bool sampler_wants_warmup(const struct sampler *sampler);
void sampler_warmup(struct sampler *sampler, int64_t end_to_end_ns, int64_t now_ns);
/* Sampling (the budget starts with the first sample): whether another sample is wanted; looks at
 * the interval at 6, 12, 24, ... samples (or the least number asked for, doubled each time). */
bool sampler_wants_more(const struct sampler *sampler);
bool sampler_add(struct sampler *sampler, int64_t end_to_end_ns, int64_t now_ns,
                 struct assay_error *error);
/* The `sampling` object of the case record: what was done and why it stopped. */
void sampler_add_record(const struct sampler *sampler, const char *clock_name, struct text *out);

#endif
