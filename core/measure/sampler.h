/* SPDX-License-Identifier: MIT */
/* When to stop warming up, when to stop sampling and when to have the bounds looked at: decisions
 * only, fed with times. A turn is one sample of each series; the cases of a pair group are series
 * of one sampler. Pure. */
#ifndef MEASURE_SAMPLER_H
#define MEASURE_SAMPLER_H

#include "measure/drift.h"
#include "measure/measure.h"

struct sampler;
/* Time budgets are those of one case: a group of `series` cases has so many times as much. */
struct sampler *sampler_create(const struct measure_budget *budget, size_t series,
                               struct assay_error *error);
void sampler_destroy(struct sampler **sampler);

/* Warm-up: a series has settled when the medians of the last and the one before last window of 3
 * samples differ by under 5 % (or all is constant); over when all have; bounded by the warm-up
 * budget, at least 2 turns. Returns whether another turn is wanted. */
bool sampler_wants_warmup(const struct sampler *sampler);
/* end_to_end_ns: one a series. */
void sampler_warmup(struct sampler *sampler, const int64_t *end_to_end_ns, int64_t now_ns);
/* Sampling (the budget starts with the first turn): whether another turn is wanted; looks at the
 * intervals at 6, 12, 24, ... turns (or the least number asked for, doubled each time) and stops
 * when each is as narrow as wanted. With looks the least number is 8, and where the intervals are
 * narrow enough and a 16th of the budget is used, the bounds are to be looked at: then samples
 * double until they are decided, all looks (stats/looks.h) are used up, or the budget is; the
 * judgement of what is in the journal is the last look. */
bool sampler_wants_more(const struct sampler *sampler);
bool sampler_add(struct sampler *sampler, const int64_t *end_to_end_ns, int64_t now_ns,
                 struct assay_error *error);
/* The number of the look that is due now, from 1; 0: none. Sampling stands still until
 * sampler_answer says what came of it. */
unsigned sampler_look_due(const struct sampler *sampler);
void sampler_answer(struct sampler *sampler, enum measure_answer answer);
/* The confidence that the intervals of the samples so far can have: the wanted one, less where
 * there are too few. */
double sampler_confidence(const struct sampler *sampler);
/* Whether the series moved, so far. */
bool sampler_drift(const struct sampler *sampler, size_t series, struct drift *drift,
                   struct assay_error *error);
/* The `sampling` object of the record of a series: what was done and why it stopped. */
void sampler_add_record(const struct sampler *sampler, size_t series, const char *clock_name,
                        const struct drift *drift, struct text *out);
/* What bears on the figures of the series, each a text of its own; `figure`: what the samples are,
 * NULL: their drift is told elsewhere; `beside`: what changed meanwhile, behind a drift, or "". */
void sampler_notes(const struct sampler *sampler, size_t series, const struct drift *drift,
                   const char *figure, const char *beside,
                   void (*add)(void *user, const char *note), void *user);

#endif
