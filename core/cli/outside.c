/* SPDX-License-Identifier: MIT */
#include "cli/outside.h"

#include "base/json.h"
#include "cli/given.h"

#include <stdio.h>

static bool open_baseline(struct outside *outside, const struct choices_output *choices,
                          const struct plan *plan, struct assay_error *error)
{
    outside->reader = given_journal(choices->baseline, &outside->path, error);
    if (!outside->reader) {
        error_prefix(error, "--baseline");
        return false;
    }
    struct baseline_params params = {outside->reader, plan, choices->compare};
    outside->baseline = baseline_create(&params, error);
    return outside->baseline != NULL;
}

bool outside_open(struct outside *outside, const struct choices_output *choices,
                  const struct plan *plan, struct assay_error *error)
{
    size_t count = 0;
    *outside = (struct outside){0};
    if (!choices->baseline && (choices->has_margin || choices->has_noise))
        return assay_fail(error, ASSAY_INVALID, "--%s needs --baseline JOURNAL",
                          choices->has_margin ? "margin" : "noise");
    if (choices->thresholds) {
        outside->thresholds = thresholds_read(choices->thresholds, plan, error);
        if (!outside->thresholds)
            return false;
        outside->links[count++] = thresholds_outside(outside->thresholds);
    }
    if (choices->baseline) {
        if (!open_baseline(outside, choices, plan, error))
            return false;
        outside->links[count++] = baseline_outside(outside->baseline);
    }
    if (count == 2)
        outside->links[0].next = &outside->links[1];
    outside->first = count ? outside->links : NULL;
    return true;
}

void outside_close(struct outside *outside)
{
    baseline_destroy(&outside->baseline);
    journal_reader_destroy(&outside->reader);
    thresholds_destroy(&outside->thresholds);
    text_free(&outside->path);
}

static void tell_idle(const struct outside *outside)
{
    struct text text = {0};
    if (outside->thresholds && thresholds_add_idle(outside->thresholds, &text))
        fprintf(stderr, "assay: note: %s\n", text_string(&text));
    text_free(&text);
}

void outside_tell(const struct outside *outside, const json_t *run)
{
    const char *only;
    struct assay_error ignored = {0}; /* what is told is complete without it */
    const struct conditions *conditions = outside->baseline ? baseline_conditions(outside->baseline,
                                                                                  run, &ignored)
                                                            : NULL;
    struct text text = {0};
    tell_idle(outside);
    if (!conditions)
        return;
    for (size_t i = 0; i < conditions_count(conditions); i++) {
        const struct condition *item = conditions_at(conditions, i);
        text_addf(&text, "%s%s%s%s %s -> %s", i ? "; " : "", item->thing, *item->detail ? " " : "",
                  item->detail, item->from, item->to);
    }
    size_t things = conditions_things(conditions, &only);
    if (things)
        fprintf(stderr, "assay: note: changed since the baseline (%zu %s): %s\n", things,
                things == 1 ? "thing" : "things", text_string(&text));
    text_free(&text);
}

bool outside_add_policy(const struct outside *outside, const struct choices_output *choices,
                        json_t *policy)
{
    if (outside->thresholds &&
        json_object_set_new(policy, "thresholds", thresholds_record(outside->thresholds)) != 0)
        return false;
    if (!outside->baseline)
        return true;
    json_t *baseline = json_pack("{s:o, s:s, s:f, s:f}", "path",
                                 json_clean_string(text_string(&outside->path)), "started",
                                 json_text(journal_run(outside->reader), "started", ""), "margin",
                                 choices->compare.margin, "noise", choices->compare.between);
    return json_object_set_new(policy, "baseline", baseline) == 0;
}
