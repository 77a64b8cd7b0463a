/* SPDX-License-Identifier: MIT */
#include "judge/baseline.h"

#include "base/json.h"
#include "judge/outside.h"
#include "result/match.h"

#include <stdlib.h>
#include <string.h>

struct baseline {
    struct baseline_params params;
    struct match *match;
    struct conditions *conditions;
};

struct baseline *baseline_create(const struct baseline_params *params, struct assay_error *error)
{
    struct baseline *self = calloc(1, sizeof(*self));
    if (!self) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the baseline");
        return NULL;
    }
    self->params = *params;
    self->match = match_create(params->reader, error);
    self->conditions = self->match ? conditions_create(error) : NULL;
    if (self->conditions)
        return self;
    baseline_destroy(&self);
    return NULL;
}

void baseline_destroy(struct baseline **baseline)
{
    if (!*baseline)
        return;
    match_destroy(&(*baseline)->match);
    conditions_destroy(&(*baseline)->conditions);
    free(*baseline);
    *baseline = NULL;
}

const struct conditions *baseline_conditions(struct baseline *baseline, const json_t *run,
                                             struct assay_error *error)
{
    const json_t *then = journal_run(baseline->params.reader);
    return conditions_add_runs(baseline->conditions, then, run, error) ? baseline->conditions
                                                                       : NULL;
}

struct subject { /* a case, now and then */
    const struct plan_case *item;
    struct compare_side now, then;
};

static bool give(const struct baseline *self, const struct subject *subject, enum verdict verdict,
                 const struct text *body, const struct metric *metric, struct judge *judge,
                 struct assay_error *error)
{
    const struct plan_experiment *experiment =
        &self->params.plan->experiments[subject->item->experiment];
    struct text message = {0};
    text_addf(&message, "%s:%d: ", experiment->script, experiment->line);
    text_add(&message, text_string(body));
    outside_add_place(&message, self->params.plan, subject->item,
                      json_object_get(subject->now.record, "device"));
    struct judge_verdict out = {.experiment = experiment->name,
                                .case_id = json_text(subject->now.record, "id", NULL),
                                .verdict = verdict,
                                .script = experiment->script,
                                .line = experiment->line,
                                .bound = "baseline",
                                .message = text_string(&message),
                                .metric = metric};
    bool good = judge_add(judge, &out, error);
    text_free(&message);
    return good;
}

/* The bound is that the case is not slower: an interval that reaches from faster to the same meets
 * it. Not where the samples leave more in doubt than it shows. */
static bool is_not_slower(const struct comparison *one, double margin)
{
    double worst = one->a.dimension.seconds == -1 ? 1 / one->ratio.low : one->ratio.high;
    bool plain = one->doubt == STATS_WIDE || one->doubt == STATS_SHORT;
    return one->answer == STATS_UNDECIDED && one->compared && plain && worst <= 1 + margin;
}

static const char *label_of(const json_t *record)
{
    const json_t *device = json_object_get(record, "device");
    return json_text(device, "label", json_text(device, "name", "no device"));
}

/* "time 1.25 us [1.2, 1.3] n=40: slower than the baseline's 1 us [...] n=40, 1.25 [1.2, 1.3] of it
 * (on gpu)". */
static void describe(const struct baseline *self, const struct subject *subject,
                     const struct comparison *one, struct text *out)
{
    static const char *const words[] = {[STATS_UNDECIDED] = "undecided against",
                                        [STATS_SAME] = "the same as",
                                        [STATS_FASTER] = "faster than",
                                        [STATS_SLOWER] = "slower than"};
    const char *now = label_of(subject->now.record), *then = label_of(subject->then.record);
    text_add_clean(out, one->b.name);
    text_add_char(out, ' ');
    metric_add(out, &one->b);
    bool not_slower = is_not_slower(one, self->params.compare.margin);
    text_addf(out, " is %s the baseline's ", not_slower ? "not slower than" : words[one->answer]);
    metric_add(out, &one->a);
    if (strcmp(now, then) != 0) {
        text_add(out, " on ");
        text_add_clean(out, then);
    }
    if (one->compared) {
        text_add(out, ": ");
        quantity_add_interval(out, one->ratio.estimate, one->ratio.low, one->ratio.high,
                              (struct dimension){0});
        text_add(out, " of it, margin ");
        number_add(out, self->params.compare.margin * 100);
        text_add(out, " %");
    }
    if (*one->why && !not_slower)
        text_addf(out, "; %s", one->why);
}

static bool judge_metric(const struct baseline *self, const struct subject *subject,
                         const char *name, struct judge *judge, struct assay_error *error)
{
    static const enum verdict verdicts[] = {[STATS_UNDECIDED] = VERDICT_INCONCLUSIVE,
                                            [STATS_SAME] = VERDICT_PASS,
                                            [STATS_FASTER] = VERDICT_PASS,
                                            [STATS_SLOWER] = VERDICT_FAIL};
    struct comparison one;
    struct compare_params params = self->params.compare;
    struct text body = {0};
    /* Of each of several looks at the samples. */
    params.confidence = json_number(json_object_get(subject->now.record, "sampling"), "confidence",
                                    0);
    if (!compare_metric(name, &subject->then, &subject->now, &params, &one, error))
        return false;
    describe(self, subject, &one, &body);
    enum verdict verdict = is_not_slower(&one, params.margin) ? VERDICT_PASS : verdicts[one.answer];
    bool good = give(self, subject, verdict, &body, &one.b, judge, error);
    text_free(&body);
    return good;
}

static bool not_judged(const struct baseline *self, const struct subject *subject, const char *why,
                       struct judge *judge, struct assay_error *error)
{
    struct text body = {0};
    struct metric metric = {.name = "time", .dimension = {.seconds = 1}, .absent = why};
    text_addf(&body, "baseline not judged: %s", why);
    bool good = give(self, subject, VERDICT_NOT_JUDGED, &body, &metric, judge, error);
    text_free(&body);
    return good;
}

static bool judge_subject(const struct baseline *self, const struct subject *subject,
                          struct judge *judge, struct assay_error *error)
{
    const char *names[COMPARE_METRICS];
    const char *status = json_text(subject->then.record, "status", "error");
    if (strcmp(status, "done") != 0) {
        struct text why = {0};
        text_addf(&why, "the baseline's case is not done: %s", status);
        bool good = not_judged(self, subject, text_string(&why), judge, error);
        text_free(&why);
        return good;
    }
    size_t count = compare_metric_names(subject->then.record, subject->now.record, names);
    for (size_t i = 0; i < count; i++)
        if (!judge_metric(self, subject, names[i], judge, error))
            return false;
    return count > 0 || not_judged(self, subject, "no metric is in both", judge, error);
}

/* The whole records of the case and of the baseline's; *found: there is such a case. */
static bool read_subject(const struct baseline *self, const struct judge_group *group, size_t index,
                         struct subject *out, bool *found, struct assay_error *error)
{
    struct journal_reader *then = self->params.reader;
    struct assay_error failure = {0};
    long at;
    if (group->reader) {
        long here = journal_case_find(group->reader, &group->items[index]->id);
        out->now.record = here < 0 ? NULL : journal_case(group->reader, (size_t)here, &failure);
        if (out->now.record)
            out->now.samples = journal_samples(group->reader, (size_t)here, &failure);
    } else {
        out->now.record = json_incref(lazy_tree(group->records[index]));
        out->now.samples = group->samples ? json_incref(group->samples[index]) : NULL;
    }
    bool good = out->now.record && !failure.status &&
                match_find(self->match, out->now.record, &at, &failure);
    *found = good && at >= 0;
    if (*found) {
        out->then.record = journal_case(then, (size_t)at, &failure);
        out->then.samples = failure.status ? NULL : journal_samples(then, (size_t)at, &failure);
    }
    if (failure.status && error)
        *error = failure;
    return good && !failure.status;
}

static void subject_free(struct subject *subject)
{
    json_decref((json_t *)(uintptr_t)subject->now.record);
    json_decref((json_t *)(uintptr_t)subject->now.samples);
    json_decref((json_t *)(uintptr_t)subject->then.record);
    json_decref((json_t *)(uintptr_t)subject->then.samples);
}

static bool judge_case(void *user, const struct judge_group *group, size_t index,
                       struct judge *judge, struct assay_error *error)
{
    const struct baseline *self = user;
    struct subject subject = {.item = group->items[index]};
    bool found;
    bool good = read_subject(self, group, index, &subject, &found, error);
    if (good && !found)
        good = not_judged(self, &subject, "the baseline has no such case", judge, error);
    else if (good)
        good = (!group->reader || conditions_add_cases(self->conditions, subject.then.record,
                                                       subject.now.record, error)) &&
               judge_subject(self, &subject, judge, error);
    subject_free(&subject);
    return good;
}

struct judge_outside baseline_outside(struct baseline *baseline)
{
    return (struct judge_outside){.user = baseline, .check = judge_case};
}
