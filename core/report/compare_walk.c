/* SPDX-License-Identifier: MIT */
#include "report/compare_walk.h"

#include "base/json.h"
#include "result/match.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN 32

struct run {
    struct compare_walk *walk;
    const struct compare_sink *sink;
    bool *taken; /* by index of B */
    struct match *match;
    bool *found; /* by index of the metrics asked for */
    size_t metric_count;
    struct text known; /* names of metrics of the first pair, each behind a newline */
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for comparing two journals");
}

int compare_exit_status(const struct compare_source *source, const struct compare_counts *counts)
{
    if (counts->slower || counts->broken)
        return 1;
    if (counts->undecided)
        return source->undecided;
    return counts->same || counts->faster ? 0 : 5;
}

const char *compare_word(const struct compare_counts *counts)
{
    if (counts->slower)
        return "SLOWER";
    if (counts->broken)
        return "BROKEN";
    if (counts->undecided)
        return "UNDECIDED";
    return counts->faster ? "FASTER" : counts->same ? "SAME" : "NOTHING COMPARED";
}

bool compare_walk_open(struct compare_walk *walk, const struct compare_source *source,
                       struct assay_error *error)
{
    struct report_source sources[] = {{.results = source->a}, {.results = source->b}};
    *walk = (struct compare_walk){.source = source};
    walk->conditions = conditions_create(error);
    return walk->conditions && view_open(&sources[0], &walk->views[SIDE_A], error) &&
           view_open(&sources[1], &walk->views[SIDE_B], error);
}

void compare_walk_close(struct compare_walk *walk)
{
    view_close(&walk->views[SIDE_A]);
    view_close(&walk->views[SIDE_B]);
    conditions_destroy(&walk->conditions);
}

static void note_known(struct run *run, const json_t *record)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(record, "metrics"), name, value)
    {
        text_addf(&run->known, "%s\n", name);
    }
}

static void count_answer(struct compare_counts *counts, const struct comparison *comparison)
{
    switch (comparison->answer) {
    case STATS_SAME:
        counts->same++;
        break;
    case STATS_FASTER:
        counts->faster++;
        break;
    case STATS_SLOWER:
        counts->slower++;
        break;
    case STATS_UNDECIDED:
        counts->undecided++;
        break;
    }
}

/* The metrics of this pair: those asked for that both records name, or the usual ones. */
static size_t choose_metrics(struct run *run, const json_t *a, const json_t *b,
                             const char *names[COMPARE_METRICS])
{
    const struct compare_source *source = run->walk->source;
    size_t count = 0;
    if (!run->metric_count)
        return compare_metric_names(a, b, names);
    if (!run->known.length)
        note_known(run, a);
    for (size_t i = 0; i < run->metric_count && count < COMPARE_METRICS; i++) {
        if (json_object_get(json_object_get(a, "metrics"), source->metrics[i]) &&
            json_object_get(json_object_get(b, "metrics"), source->metrics[i])) {
            run->found[i] = true;
            names[count++] = source->metrics[i];
        }
    }
    return count;
}

static bool compare_done(struct run *run, size_t at_a, size_t at_b, struct compare_pair *pair,
                         struct comparison comparisons[COMPARE_METRICS], struct assay_error *error)
{
    const struct compare_source *source = run->walk->source;
    struct assay_error failure = {0};
    const char *names[COMPARE_METRICS];
    size_t count = choose_metrics(run, pair->a, pair->b, names);
    json_t *samples[2] = {journal_samples(source->a, at_a, &failure), NULL};
    if (!failure.status)
        samples[1] = journal_samples(source->b, at_b, &failure);
    struct compare_side a = {pair->a, samples[0]}, b = {pair->b, samples[1]};
    bool good = !failure.status;
    pair->comparisons = comparisons;
    pair->reason = "no metric of it can be compared";
    for (size_t i = 0; good && i < count; i++) {
        struct comparison *one = &comparisons[pair->count];
        good = compare_metric(names[i], &a, &b, &source->params, one, &failure);
        if (good && (one->a.absent || one->b.absent)) {
            pair->reason = one->why;
        } else if (good) {
            count_answer(&run->walk->counts, one);
            pair->count++;
        }
    }
    if (pair->count == 0)
        run->walk->counts.not_compared++;
    good = good && run->sink->pair(run->sink->user, pair, &failure);
    json_decref(samples[0]);
    json_decref(samples[1]);
    if (!good && error)
        *error = failure;
    return good;
}

/* At least one of the two has no figures. */
static bool compare_others(struct run *run, struct compare_pair *pair, struct assay_error *error)
{
    const char *was = json_text(pair->a, "status", "error");
    const char *is = json_text(pair->b, "status", "error");
    bool done_before = strcmp(was, "done") == 0;
    const json_t *record = done_before ? pair->b : pair->a;
    struct text reason = {0};
    text_addf(&reason, "%s in %s: ", json_text(record, "status", "error"), done_before ? "B" : "A");
    text_add_clean(&reason, json_text(record, "reason", "no reason is recorded"));
    pair->broken = done_before && strcmp(is, "skipped") != 0;
    if (pair->broken)
        run->walk->counts.broken++;
    else
        run->walk->counts.not_compared++;
    pair->reason = text_string(&reason);
    bool good = run->sink->pair(run->sink->user, pair, error);
    text_free(&reason);
    return good;
}

static bool compare_pair(struct run *run, size_t at_a, const json_t *record, size_t at_b,
                         struct assay_error *error)
{
    struct comparison comparisons[COMPARE_METRICS];
    json_t *other = journal_case(run->walk->source->b, at_b, error);
    if (!other)
        return false;
    struct compare_pair pair = {.a = record, .b = other};
    bool done = strcmp(json_text(record, "status", ""), "done") == 0 &&
                strcmp(json_text(other, "status", ""), "done") == 0;
    run->taken[at_b] = true;
    run->walk->counts.cases++;
    bool good = conditions_add_cases(run->walk->conditions, record, other, error) &&
                (done ? compare_done(run, at_a, at_b, &pair, comparisons, error)
                      : compare_others(run, &pair, error));
    json_decref(other);
    return good;
}

static bool walk_a(struct run *run, struct assay_error *error)
{
    const struct compare_source *source = run->walk->source;
    for (size_t i = 0; i < journal_case_count(source->a); i++) {
        long at = -1;
        json_t *record = journal_case(source->a, i, error);
        bool good = record && match_find(run->match, record, &at, error);
        if (good && at >= 0 && !run->taken[at]) {
            good = compare_pair(run, i, record, (size_t)at, error);
        } else if (good) {
            run->walk->counts.only_a++;
            good = run->sink->lone(run->sink->user, SIDE_A, record, error);
        }
        json_decref(record);
        if (!good)
            return false;
    }
    return true;
}

static bool walk_b(struct run *run, struct assay_error *error)
{
    struct journal_reader *b = run->walk->source->b;
    for (size_t i = 0; i < journal_case_count(b); i++) {
        if (run->taken[i])
            continue;
        json_t *record = journal_case(b, i, error);
        run->walk->counts.only_b++;
        bool good = record && run->sink->lone(run->sink->user, SIDE_B, record, error);
        json_decref(record);
        if (!good)
            return false;
    }
    return true;
}

static bool unknown_metric(struct run *run, const char *name, struct assay_error *error)
{
    const char *names[NAMES_SHOWN];
    size_t count = 0;
    char *rest = run->known.data;
    while (rest && *rest && count < NAMES_SHOWN) {
        char *end = strchr(rest, '\n');
        *end = '\0';
        names[count++] = rest;
        rest = end + 1;
    }
    const char *nearest = text_nearest(name, names, count);
    struct text text = {0};
    if (nearest)
        text_addf(&text, "; did you mean '%s'?", nearest);
    text_add(&text, nearest ? " There are " : "; there are ");
    text_add_list(&text, names, count);
    assay_fail(error, ASSAY_INVALID, "--metric %s: no case of both journals has it%s", name,
               count ? text_string(&text) : "");
    text_free(&text);
    return false;
}

static bool check_outcome(struct run *run, struct assay_error *error)
{
    const struct compare_source *source = run->walk->source;
    if (run->walk->counts.cases == 0)
        return assay_fail(error, ASSAY_INVALID,
                          "%s and %s have no case in common: there is nothing to compare (%zu and "
                          "%zu cases; 'assay list SCRIPT' shows what makes a case)",
                          source->path_a, source->path_b, run->walk->counts.only_a,
                          run->walk->counts.only_b);
    for (size_t i = 0; i < run->metric_count; i++)
        if (!run->found[i])
            return unknown_metric(run, source->metrics[i], error);
    return true;
}

bool compare_walk_run(struct compare_walk *walk, const struct compare_sink *sink,
                      struct assay_error *error)
{
    const struct compare_source *source = walk->source;
    struct run run = {.walk = walk, .sink = sink};
    while (source->metrics && source->metrics[run.metric_count])
        run.metric_count++;
    run.taken = calloc(journal_case_count(source->b) + 1, sizeof(*run.taken));
    run.found = calloc(run.metric_count + 1, sizeof(*run.found));
    run.match = match_create(source->b, error);
    bool good = run.match && ((run.taken && run.found) || no_memory(error));
    good = good &&
           conditions_add_runs(walk->conditions, journal_run(source->a), journal_run(source->b),
                               error) &&
           walk_a(&run, error) && walk_b(&run, error) && check_outcome(&run, error);
    free(run.taken);
    free(run.found);
    match_destroy(&run.match);
    text_free(&run.known);
    return good;
}
