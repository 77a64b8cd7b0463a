/* SPDX-License-Identifier: MIT */
#include "measure/tune.h"
#include "measure/tune_identity.h"

#include "base/json.h"
#include "base/options.h"
#include "result/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OTHERS_NS INT64_C(10000000000) /* while another process tunes the same */
#define REJECT_NS INT64_C(1000000000)
#define ENDED_WORKER "it ended or hung the worker"
#define NAMES_LISTED 3 /* of candidates that failed, in a message */

struct tuner {
    const struct measure_request *request;
    struct tuned *tuned;
    void *trial_params;
    struct tune_trials trials;
    struct tune_candidate candidates[ASSAY_TUNING_CANDIDATES];
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a choice");
}

bool tune_wanted(const struct measure_request *request)
{
    const struct assay_tuning *tuning = request->workload->tuning;
    return tuning && tuning->wanted(request->params);
}

void tune_free(struct tuned *tuned)
{
    free(tuned->params);
    tuning_close(&tuned->store);
    text_free(&tuned->record);
    text_free(&tuned->note);
    *tuned = (struct tuned){0};
}

static void add_note(struct tuned *tuned, const char *what, const char *why)
{
    text_addf(&tuned->note, "%s%s%s", tuned->note.length ? "; " : "", what, why);
}

static void not_kept(struct tuned *tuned, const char *why)
{
    if (!tuned->unkept)
        add_note(tuned, "the tuner's choice is not kept: ", why);
    tuned->unkept = true;
}

static bool list_candidates(struct tuner *tuner, struct assay_error *error)
{
    const struct measure_request *request = tuner->request;
    struct tune_trials *trials = &tuner->trials;
    for (unsigned i = 0; i < ASSAY_TUNING_CANDIDATES; i++) {
        char *name = tuner->candidates[i].name;
        if (!request->workload->tuning->candidate(request->device, request->params, i, name,
                                                  ASSAY_TUNING_BYTES))
            break;
        name[ASSAY_TUNING_BYTES - 1] = '\0';
        if (!text_is_utf8(name) || !*name)
            return assay_fail(error, ASSAY_INTERNAL, "candidate %u of '%s' has no name in UTF-8", i,
                              request->workload->name);
        trials->count++;
    }
    return trials->count > 0 ||
           assay_fail(error, ASSAY_UNSUPPORTED, "'%s' has no candidate for this device",
                      request->workload->name);
}

static bool copy_params(const struct tuner *tuner, void **copy, struct assay_error *error)
{
    size_t bytes = tuner->request->workload->params_size;
    if (!*copy)
        *copy = malloc(bytes);
    if (!*copy)
        return no_memory(error);
    memcpy(*copy, tuner->request->params, bytes);
    return true;
}

static bool tuner_open(struct tuner *tuner, struct assay_clock *clock, struct assay_error *error)
{
    const struct measure_request *request = tuner->request;
    const struct assay_tuning *tuning = request->workload->tuning;
    tuner->trials = (struct tune_trials){.request = request,
                                         .clock = clock,
                                         .store = &tuner->tuned->store,
                                         .candidates = tuner->candidates};
    if (!list_candidates(tuner, error) || !copy_params(tuner, &tuner->trial_params, error))
        return false;
    if (tuning->reduce)
        tuning->reduce(request->device, tuner->trial_params);
    tuner->trials.params = tuner->trial_params;
    struct assay_error unkept = {0};
    json_t *identity = tune_identity(request, tuner->candidates, tuner->trials.count);
    if (!identity)
        return no_memory(error);
    if (!tuning_open(&tuner->tuned->store, identity, &unkept))
        not_kept(tuner->tuned, unkept.text);
    json_decref(identity);
    return true;
}

static void tuner_close(struct tuner *tuner)
{
    tuning_unlock(&tuner->tuned->store);
    for (size_t i = 0; i < ASSAY_TUNING_CANDIDATES; i++)
        text_free(&tuner->candidates[i].reason);
    free(tuner->trial_params);
}

/* The parameters in which the problem that is tried differs from the case's. */
static json_t *reduced_json(const struct tuner *tuner)
{
    const struct assay_option *const *options = tuner->request->workload->options;
    json_t *object = json_object();
    for (size_t i = 0; object && options[i]; i++) {
        struct option_value given, tried;
        option_load(options[i], tuner->request->params, &given);
        option_load(options[i], tuner->trial_params, &tried);
        json_t *a = option_value_to_json(options[i], &given);
        json_t *b = option_value_to_json(options[i], &tried);
        if (!json_equal(a, b))
            json_object_set(object, options[i]->name, b);
        json_decref(a);
        json_decref(b);
    }
    return object;
}

static json_t *candidate_json(const struct tune_trials *trials,
                              const struct tune_candidate *candidate)
{
    double seconds = (double)candidate->time_ns / 1e9;
    double work = trials->flops > 0 ? trials->flops : trials->bytes;
    json_t *json = json_pack("{s:s, s:s}", "name", candidate->name, "verdict",
                             tune_verdict_names[candidate->verdict]);
    if (candidate->time_ns > 0) {
        json_object_set_new(json, "time_ns", json_integer(candidate->time_ns));
        json_object_set_new(json, "n", json_integer((json_int_t)candidate->count));
    }
    if (candidate->time_ns > 0 && work > 0) {
        json_object_set_new(json, "rate", json_real(work / seconds));
        json_object_set_new(json, "unit", json_string(trials->flops > 0 ? "flop/s" : "B/s"));
    }
    if (candidate->reason.length)
        json_object_set_new(json, "reason", json_string(text_string(&candidate->reason)));
    if (candidate->rejected)
        json_object_set_new(json, "rejected", json_true());
    return json;
}

/* What is kept: docs/journal.md, `tuning`. */
static json_t *found_json(const struct tuner *tuner)
{
    const struct tune_trials *trials = &tuner->trials;
    size_t fastest = tune_fastest(tuner->candidates, trials->count);
    json_t *list = json_array();
    for (size_t i = 0; list && i < trials->count; i++)
        json_array_append_new(list, candidate_json(trials, &tuner->candidates[i]));
    return json_pack("{s:I, s:I, s:o, s:o, s:o}", "found_s", (json_int_t)time(NULL), "spent_ns",
                     (json_int_t)trials->spent_ns, "tried_with", reduced_json(tuner), "choice",
                     fastest < trials->count ? json_string(tuner->candidates[fastest].name)
                                             : json_null(),
                     "candidates", list);
}

static struct tune_candidate *candidate_find(struct tuner *tuner, const char *name)
{
    for (size_t i = 0; i < tuner->trials.count; i++)
        if (strcmp(tuner->candidates[i].name, name) == 0)
            return &tuner->candidates[i];
    return NULL;
}

/* Those that are not to be tried again. */
static void take_avoided(struct tuner *tuner, const json_t *found)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(found, "candidates"), i, row)
    {
        struct tune_candidate *candidate = candidate_find(tuner, json_text(row, "name", ""));
        bool crash = strcmp(json_text(row, "verdict", ""), "crash") == 0;
        bool rejected = json_flag(row, "rejected", false);
        if (!candidate || (!crash && !rejected))
            continue;
        candidate->avoided = true;
        candidate->rejected = rejected;
        candidate->verdict = crash ? TUNE_CRASH : TUNE_WRONG;
        text_clear(&candidate->reason);
        text_add_clean(&candidate->reason, json_text(row, "reason", ""));
    }
}

/* Where the time was over before all had a turn, those that had one keep what they gave. The choice
 * is tried again after the others, since the machine may be slower or faster than it was. */
static void take_settled(struct tuner *tuner, const json_t *found)
{
    const char *choice = json_text(found, "choice", "");
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(found, "candidates"), i, row)
    {
        const char *name = json_text(row, "name", ""), *verdict = json_text(row, "verdict", "");
        struct tune_candidate *candidate = candidate_find(tuner, name);
        int64_t time_ns = json_whole(row, "time_ns", 0);
        int known = TUNE_RIGHT;
        while (known < TUNE_CRASH && strcmp(verdict, tune_verdict_names[known]) != 0)
            known++;
        if (!candidate || candidate->avoided || known == TUNE_CRASH ||
            (known == TUNE_RIGHT && time_ns <= 0))
            continue;
        candidate->settled = true;
        candidate->again = strcmp(name, choice) == 0;
        candidate->verdict = (enum tune_verdict)known;
        candidate->times_ns[0] = candidate->time_ns = time_ns;
        candidate->count = time_ns > 0;
        text_clear(&candidate->reason);
        text_add_clean(&candidate->reason, json_text(row, "reason", ""));
    }
}

static void keep_found(struct tuner *tuner)
{
    struct assay_error error = {0};
    json_t *found = found_json(tuner);
    bool kept = found ? tuning_write(&tuner->tuned->store, found, &error) : no_memory(&error);
    if (!kept)
        not_kept(tuner->tuned, error.text);
    json_decref(found);
}

/* The one that an earlier worker died of, as its supervisor saw: known from now on, whatever
 * becomes of this one. */
static void take_left(struct tuner *tuner, const char *name)
{
    struct tune_candidate *candidate = candidate_find(tuner, name);
    if (!candidate)
        return;
    candidate->avoided = true;
    candidate->verdict = TUNE_CRASH;
    text_clear(&candidate->reason);
    text_add(&candidate->reason, ENDED_WORKER);
    keep_found(tuner);
}

static bool fits_case(struct tuner *tuner, const char *name, struct assay_error *why_not)
{
    struct tuned *tuned = tuner->tuned;
    const struct assay_workload *workload = tuner->request->workload;
    snprintf(tuned->choice, sizeof(tuned->choice), "%s", name);
    return copy_params(tuner, &tuned->params, why_not) &&
           workload->tuning->choose(tuned->params, tuned->choice, why_not) &&
           (!workload->supported ||
            workload->supported(tuner->request->device, tuned->params, why_not));
}

/* The right candidate that follows `last` by time, or stands behind it with the same; NULL: none.
 * After NULL comes the fastest. */
static const json_t *next_fastest(const json_t *list, const json_t *last)
{
    int64_t last_ns = json_whole(last, "time_ns", 0);
    const json_t *next = NULL;
    bool behind = false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        int64_t time_ns = json_whole(row, "time_ns", 0);
        bool follows = time_ns > last_ns || (behind && time_ns == last_ns);
        behind = behind || row == last;
        if (strcmp(json_text(row, "verdict", ""), "right") == 0 && follows &&
            (!next || time_ns < json_whole(next, "time_ns", 0)))
            next = row;
    }
    return next;
}

/* The fastest right candidate that this very case can have, into tuned. False: none, and why the
 * choice is not for it. */
static bool pick(struct tuner *tuner, const json_t *found, struct assay_error *why_not)
{
    const char *choice = json_text(found, "choice", "");
    const json_t *list = json_object_get(found, "candidates");
    struct assay_error first = {0};
    if (candidate_find(tuner, choice) && fits_case(tuner, choice, &first))
        return true;
    for (const json_t *row = NULL; (row = next_fastest(list, row)) != NULL;) {
        const char *name = json_text(row, "name", "");
        struct assay_error ignored = {0};
        if (candidate_find(tuner, name) && fits_case(tuner, name, &ignored))
            return true;
    }
    if (first.status == ASSAY_OK)
        assay_fail(&first, ASSAY_INTERNAL, "the choice '%s' does not fit the case", choice);
    *why_not = first;
    return false;
}

static void add_failures(const struct tuner *tuner, struct text *out)
{
    size_t listed = 0, more = 0;
    for (size_t i = 0; i < tuner->trials.count; i++) {
        const struct tune_candidate *candidate = &tuner->candidates[i];
        if (listed == NAMES_LISTED) {
            more++;
            continue;
        }
        text_addf(out, "%s'%s' %s", listed++ ? "; " : "", candidate->name,
                  tune_verdict_names[candidate->verdict]);
        if (candidate->reason.length)
            text_addf(out, " (%s)", text_string(&candidate->reason));
    }
    if (more)
        text_addf(out, "; and %zu more", more);
}

/* No candidate is right: what the case then is. */
static bool none_right(const struct tuner *tuner, struct assay_error *error)
{
    enum assay_status status = ASSAY_UNSUPPORTED;
    struct text reasons = {0};
    for (size_t i = 0; i < tuner->trials.count; i++) {
        enum tune_verdict verdict = tuner->candidates[i].verdict;
        if (verdict == TUNE_WRONG)
            status = ASSAY_WRONG_RESULT;
        else if (verdict != TUNE_UNSUPPORTED && status == ASSAY_UNSUPPORTED)
            status = ASSAY_INTERNAL;
    }
    add_failures(tuner, &reasons);
    assay_fail(error, status, "no candidate of '%s' can be used: %s",
               tuner->request->workload->name, text_string(&reasons));
    text_free(&reasons);
    return false;
}

static bool write_record(struct tuner *tuner, const json_t *found, bool cached,
                         struct assay_error *error)
{
    struct tuned *tuned = tuner->tuned;
    int64_t age_s = (int64_t)time(NULL) - json_whole(found, "found_s", 0);
    char what[ASSAY_TUNING_BYTES] = "";
    tuner->request->workload->tuning->key(tuner->request->device, tuner->request->params, what,
                                          sizeof(what));
    what[sizeof(what) - 1] = '\0';
    json_t *record = json_pack("{s:o, s:s, s:s, s:I}", "what", json_clean_string(what), "choice",
                               tuned->choice, "from", cached ? "cache" : "measured", "age_s",
                               (json_int_t)(cached && age_s > 0 ? age_s : 0));
    json_object_update_missing(record, (json_t *)(uintptr_t)found);
    json_object_del(record, "found_s");
    if (tuned->unkept)
        json_object_set_new(record, "kept", json_false());
    bool good = record ? json_add_line(&tuned->record, record, false, error) : no_memory(error);
    json_decref(record);
    return good;
}

static bool use(struct tuner *tuner, const json_t *found, bool cached, struct assay_error *error)
{
    return pick(tuner, found, error) && write_record(tuner, found, cached, error);
}

/* Tries the candidates, and keeps what came of it. */
static bool find(struct tuner *tuner, struct assay_error *error)
{
    bool tried = tune_try(&tuner->trials, error);
    keep_found(tuner);
    if (!tried) {
        text_add(&tuner->tuned->record, "{\"tried\":");
        record_add_string(&tuner->tuned->record, tuner->trials.culprit->name);
        text_add_char(&tuner->tuned->record, '}');
        return false;
    }
    if (tune_fastest(tuner->candidates, tuner->trials.count) == tuner->trials.count)
        return none_right(tuner, error);
    json_t *found = found_json(tuner);
    bool good = found ? use(tuner, found, false, error) : no_memory(error);
    json_decref(found);
    return good;
}

/* Whether it is worth while to go on: not where kernels are so slow to build that one overran the
 * time of all. */
static bool unfinished(const json_t *found)
{
    size_t i;
    json_t *row;
    if (json_whole(found, "spent_ns", 0) > 2 * TUNE_BUDGET_NS)
        return false;
    json_array_foreach(json_object_get(found, "candidates"), i, row)
    {
        if (strcmp(json_text(row, "verdict", ""), tune_verdict_names[TUNE_UNTRIED]) == 0)
            return true;
    }
    return false;
}

/* Whether something is chosen for good in what is kept. */
static bool look_up(struct tuner *tuner, struct text *damage, json_t **found)
{
    *found = tuning_read(&tuner->tuned->store, damage);
    return json_is_string(json_object_get(*found, "choice")) && !unfinished(*found);
}

static bool look_or_find(struct tuner *tuner, bool anew, struct assay_error *error)
{
    struct tuning_store *store = &tuner->tuned->store;
    struct text damage = {0}, left = {0};
    struct assay_error busy = {0};
    json_t *found = NULL;
    bool good = false, known = !anew && look_up(tuner, &damage, &found);
    if (!known) {
        json_decref(found);
        found = NULL;
        text_clear(&damage);
        tuning_lock(store, OTHERS_NS, &left, &busy);
        known = look_up(tuner, &damage, &found) && !anew; /* another one may have tuned meanwhile */
    }
    if (damage.length)
        add_note(tuner->tuned, text_string(&damage), "");
    if (known) {
        good = use(tuner, found, true, error);
    } else {
        take_avoided(tuner, found);
        if (left.length)
            take_left(tuner, text_string(&left));
        if (!anew)
            take_settled(tuner, found);
        good = find(tuner, error);
    }
    if (busy.status && !strstr(text_string(&tuner->tuned->note), busy.text)) /* said already */
        add_note(tuner->tuned, "tuned without a lock: ", busy.text);
    json_decref(found);
    text_free(&damage);
    text_free(&left);
    return good;
}

bool tune_case(const struct measure_request *request, struct assay_clock *clock, bool anew,
               struct tuned *tuned, struct assay_error *error)
{
    struct tuner *tuner = calloc(1, sizeof(*tuner));
    if (!tuner)
        return no_memory(error);
    tuner->request = request;
    tuner->tuned = tuned;
    bool good = tuner_open(tuner, clock, error) && look_or_find(tuner, anew, error);
    tuner_close(tuner);
    free(tuner);
    return good;
}

/* The one that another worker died of meanwhile: its mark goes with the lock. */
static void add_left(json_t *found, const char *name)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(found, "candidates"), i, row)
    {
        if (strcmp(json_text(row, "name", ""), name) != 0)
            continue;
        json_object_set_new(row, "verdict", json_string(tune_verdict_names[TUNE_CRASH]));
        json_object_set_new(row, "reason", json_string(ENDED_WORKER));
    }
}

/* Marks the row of the choice, and lets the next fastest be the choice. */
static void reject_row(json_t *found, const char *choice, const char *reason)
{
    size_t i;
    json_t *row, *next = NULL;
    json_array_foreach(json_object_get(found, "candidates"), i, row)
    {
        if (strcmp(json_text(row, "name", ""), choice) == 0) {
            json_object_set_new(row, "verdict", json_string(tune_verdict_names[TUNE_WRONG]));
            json_object_set_new(row, "reason", json_clean_string(reason));
            json_object_set_new(row, "rejected", json_true());
        } else if (strcmp(json_text(row, "verdict", ""), "right") == 0 &&
                   (!next || json_whole(row, "time_ns", 0) < json_whole(next, "time_ns", 0))) {
            next = row;
        }
    }
    json_object_set_new(found, "choice",
                        next ? json_string(json_text(next, "name", "")) : json_null());
}

void tune_reject(struct tuned *tuned, struct assay_error *failure)
{
    struct text damage = {0}, left = {0}, reason = {0};
    struct assay_error error = {0};
    bool locked = tuning_lock(&tuned->store, REJECT_NS, &left, &error);
    json_t *found = locked ? tuning_read(&tuned->store, &damage) : NULL;
    text_addf(&reason, "in a case: %s", failure->text);
    if (found && left.length)
        add_left(found, text_string(&left));
    if (found)
        reject_row(found, tuned->choice, text_string(&reason));
    bool kept = found && tuning_write(&tuned->store, found, &error);
    text_clear(&reason);
    text_addf(&reason, "%s; '%s' was the tuner's choice, and %s", failure->text, tuned->choice,
              kept ? "is not chosen any more" : "cannot be dropped from the cache");
    enum assay_status status = failure->status;
    *failure = (struct assay_error){0};
    assay_fail(failure, status, "%s", text_string(&reason));
    tuning_unlock(&tuned->store);
    json_decref(found);
    text_free(&damage);
    text_free(&left);
    text_free(&reason);
}
