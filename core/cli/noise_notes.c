/* SPDX-License-Identifier: MIT */
#include "cli/noise_notes.h"

#include "base/json.h"
#include "cli/noise_store.h"
#include "cli/selection.h"
#include "stats/looks.h"
#include "stats/noise.h"

#include <math.h>
#include <stdio.h>

#define DEFAULT_BUDGET_NS INT64_C(1000000000)
#define PAIRED_RUNS (NOISE_RUNS / 2) /* a replica's share of the turns, in runs */
#define LOOK_OVER_95                                                                               \
    1.314 /* how much further an interval reaches at LOOKS_CONFIDENCE: 2.576/1.96 */

struct pointer {
    const json_t *device;
    struct noise_figures known;
    const char *date;
};

/* "assay: note: WHAT 1 % is tighter than what lavapipe allowed on 2026-11-30 ('assay noise'): WHY
 * 4.2 %". */
static void point_out(const struct pointer *pointer, const char *what, double share, double limit,
                      const char *why)
{
    struct text text = {0};
    text_addf(&text, "assay: note: %s ", what);
    quantity_add(&text, round(share * 1e8) / 1e6, (struct dimension){0});
    text_add(&text, " % is tighter than what ");
    text_add_clean(&text, json_text(pointer->device, "label",
                                    json_text(pointer->device, "name", "the device")));
    text_addf(&text, " allowed on %s ('assay noise'): %s ", pointer->date, why);
    number_add(&text, round(limit * 1e3) / 10);
    text_add(&text, " %\n");
    fputs(text_string(&text), stderr);
    text_free(&text);
}

static double budget_of(const struct plan_experiment *experiment)
{
    return (double)(experiment->measure.budget_ns ? experiment->measure.budget_ns
                                                  : DEFAULT_BUDGET_NS);
}

static void point_out_targets(const struct pointer *pointer, const struct plan *plan)
{
    for (size_t i = 0; i < plan->experiment_count; i++) {
        const struct plan_experiment *experiment = &plan->experiments[i];
        double reach = pointer->known.within *
                       sqrt((double)pointer->known.run_ns / budget_of(experiment));
        if (experiment->is_peaks || !(experiment->measure.target > 0) ||
            experiment->measure.target >= reach)
            continue;
        struct text what = {0};
        text_addf(&what, "%s:%d: the target", experiment->script, experiment->line);
        point_out(pointer, text_string(&what), experiment->measure.target, reach,
                  "in the budget, an interval reaches about");
        text_free(&what);
    }
}

/* The bounds of one experiment. */
struct preview {
    const struct pointer *pointer;
    bool paired;
    double reach; /* of an interval at a look, about */
    int line;     /* of the last note: a loop says it once */
};

/* How far from its middle (a ratio: from 1) a figure may be, in parts; 0: any distance. */
static double closeness(const struct bound *bound, bool paired)
{
    bool ratio = paired && dimension_is_number(bound->dimension);
    switch (bound->kind) {
    case BOUND_BETWEEN:
    case BOUND_NEAR:
        return bound->low > 0 ? log(bound->high / bound->low) / 2 : 0;
    case BOUND_AT_LEAST:
        return ratio ? fabs(bound->low - 1) : 0;
    case BOUND_AT_MOST:
        return ratio ? fabs(bound->high - 1) : 0;
    default:
        return 0;
    }
}

static void point_out_bound(void *user, const struct judge_verdict *verdict)
{
    struct preview *preview = user;
    double close = verdict->limits ? closeness(verdict->limits, preview->paired) : 0;
    if (!(close > 0) || close >= preview->reach || preview->line == verdict->line)
        return;
    struct text what = {0};
    preview->line = verdict->line;
    text_addf(&what, "%s:%d: %s within", verdict->script, verdict->line, verdict->bound);
    point_out(preview->pointer, text_string(&what), close, preview->reach,
              preview->paired ? "in the budget, the interval of a ratio reaches about"
                              : "in the budget, an interval reaches about");
    text_free(&what);
}

static void point_out_bounds(const struct pointer *pointer, const struct plan *plan,
                             const struct judge_script *script)
{
    const struct noise_figures *known = &pointer->known;
    const struct plan_experiment *last = NULL;
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct plan_case *first = plan_group_first(plan, i);
        const struct plan_experiment *experiment = &plan->experiments[first->experiment];
        if (!first->selected || experiment == last || experiment->is_peaks ||
            first->workload->model)
            continue;
        last = experiment;
        double turns = known->within, time = (double)known->run_ns / budget_of(experiment);
        if (experiment->pair) {
            turns = known->paired;
            time *= PAIRED_RUNS;
        }
        struct preview preview = {.pointer = pointer,
                                  .paired = experiment->pair,
                                  .reach = turns * sqrt(time) * LOOK_OVER_95};
        judge_preview(plan, i, script, point_out_bound, &preview);
    }
}

static void point_out_for(const struct pointer *pointer, const struct plan *plan,
                          const struct outside *outside, const struct choices_output *choices,
                          const struct judge_script *script)
{
    static const char apart_words[] = "two runs of one thing may be apart by";
    double tolerance, apart = expm1(pointer->known.unpaired);
    int line;
    point_out_targets(pointer, plan);
    point_out_bounds(pointer, plan, script);
    if (outside->baseline && choices->compare.margin < apart && !choices->has_noise)
        point_out(pointer, "--margin", choices->compare.margin, apart, apart_words);
    if (outside->thresholds &&
        thresholds_tightest(outside->thresholds, pointer->device, &tolerance, &line) &&
        tolerance < apart) {
        struct text what = {0};
        text_addf(&what, "%s:%d: the tolerance", choices->thresholds, line);
        point_out(pointer, text_string(&what), tolerance, apart, apart_words);
        text_free(&what);
    }
}

void noise_point_out(const struct plan *plan, const json_t *found, const struct outside *outside,
                     const struct choices_output *choices, const struct judge_script *script)
{
    json_t *devices = selection_devices(plan, found);
    size_t i;
    json_t *device;
    json_array_foreach(devices, i, device)
    {
        struct text date = {0};
        struct pointer pointer = {.device = device};
        if (noise_load(device, &pointer.known, &date)) {
            pointer.date = text_string(&date);
            point_out_for(&pointer, plan, outside, choices, script);
        }
        text_free(&date);
    }
    json_decref(devices);
}
