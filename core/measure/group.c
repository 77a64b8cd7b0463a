/* SPDX-License-Identifier: MIT */
#include "measure/member.h"
#include "measure/method.h"
#include "measure/tune.h"

#include "base/hash.h"
#include "experiment/registry.h"

#include <stdlib.h>

/* A group in progress. */
struct run {
    const struct measure_group *group;
    struct assay_error *failures;
    struct member *members;           /* all */
    struct measure_request *requests; /* theirs, with what was chosen for them */
    struct tuned *tuned;
    size_t count, alive;
    struct member **taking_part; /* in turns: series i of the sampler is taking_part[i] */
    size_t *order;
    int64_t *times;
    struct clock_simulated simulated;
    struct assay_clock *clock; /* of the time budget */
    struct sampler *sampler;
    const struct measure_watch *watch; /* NULL: nobody watches, or all are models */
    bool watched;                      /* begun */
    unsigned repeat_turns;             /* with device times of repeated stages */
    int64_t begin_ns;                  /* of sampling */
    bool broken;                       /* ask failed */
};

void turn_order(uint64_t seed, uint64_t turn, size_t *order, size_t count)
{
    uint64_t stream = random_child(seed, turn);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t left = count; left > 1; left--) {
        size_t pick = (size_t)(random_at(stream, left) % left);
        size_t last = order[left - 1];
        order[left - 1] = order[pick];
        order[pick] = last;
    }
}

static size_t index_of(const struct run *run, const struct member *member)
{
    return (size_t)(member - run->members);
}

/* One failed while all were alive: nothing is known of the others either. */
static void fail_all(struct run *run, const struct member *culprit, const struct assay_error *cause)
{
    for (size_t i = 0; i < run->count; i++) {
        struct assay_error *failure = &run->failures[i];
        if (failure->status != ASSAY_OK)
            continue;
        if (run->count == 1 || &run->members[i] == culprit)
            *failure = *cause;
        else
            assay_fail(failure, cause->status, "a case of the same pair group failed: %s",
                       cause->text);
    }
    run->alive = 0;
}

static void fail_memory(struct run *run, const struct assay_error *cause)
{
    for (size_t i = 0; i < run->count; i++) {
        run->failures[i] = (struct assay_error){0};
        if (run->count == 1)
            assay_fail(&run->failures[i], ASSAY_UNSUPPORTED, "memory does not hold the case: %s",
                       cause->text);
        else
            assay_fail(&run->failures[i], ASSAY_UNSUPPORTED,
                       "memory does not hold the %zu cases of the pair group at once: %s",
                       run->count, cause->text);
    }
    run->alive = 0;
}

/* After these the device is past use. */
static bool is_fatal(const struct assay_error *failure)
{
    return failure->status == ASSAY_DEVICE_LOST || failure->status == ASSAY_TIMEOUT;
}

static bool nothing_open(const struct measure_request *request, struct assay_error *failure)
{
    const char *name = request->workload->name;
    if (!request->workload->tuning)
        return assay_fail(failure, ASSAY_INVALID, "'%s' has nothing to tune", name);
    return assay_fail(failure, ASSAY_INVALID, "these parameters of '%s' leave no choice open",
                      name);
}

static bool tune_member(struct run *run, size_t at)
{
    struct measure_request *request = &run->requests[at];
    struct tuned *tuned = &run->tuned[at];
    struct assay_error *failure = &run->failures[at];
    bool only = run->group->tune_only;
    if (!tune_wanted(request))
        return !only || nothing_open(request, failure);
    bool good = tune_case(request, run->members[at].clock, only, tuned, failure);
    if (!good && failure->status == ASSAY_OK)
        serial_hook_failed(request->workload->name, "choose or supported", failure);
    run->members[at].tuning_note = text_string(&tuned->note);
    if (good)
        request->params = tuned->params;
    text_add(&run->members[at].result->tuning, text_string(&tuned->record));
    if (only && tuned->note.length) /* else it comes with the report */
        member_note(&run->members[at], text_string(&tuned->note));
    return good;
}

/* False: nothing is to be sampled. */
static bool tune_all(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if (tune_member(run, i) || !is_fatal(&run->failures[i]))
            continue;
        struct assay_error cause = run->failures[i];
        fail_all(run, &run->members[i], &cause);
        return false;
    }
    return !run->group->tune_only;
}

static bool prepare_all(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct member *member = &run->members[i];
        struct assay_error *failure = &run->failures[i];
        if (failure->status != ASSAY_OK)
            continue; /* no choice could be made for it */
        if (member_prepare(member, failure)) {
            member->alive = true;
            run->taking_part[run->alive++] = member;
            continue;
        }
        struct assay_error cause = *failure;
        /* What a driver refuses to one case alone may be its fault, and is an error. */
        if (cause.status == ASSAY_OUT_OF_MEMORY && (run->count > 1 || cause.foreseen))
            fail_memory(run, &cause);
        else if (is_fatal(&cause))
            fail_all(run, member, &cause);
        else
            continue;
        return false;
    }
    return run->alive > 0;
}

/* One turn of all that take part. */
static bool turn(struct run *run, uint64_t number,
                 bool (*batch)(struct member *, int64_t *, struct assay_error *))
{
    turn_order(run->group->order_seed, number, run->order, run->alive);
    for (size_t i = 0; i < run->alive; i++) {
        struct member *member = run->taking_part[run->order[i]];
        struct assay_error cause = {0};
        if (!batch(member, &run->times[run->order[i]], &cause)) {
            fail_all(run, member, &cause);
            return false;
        }
    }
    return true;
}

/* All members have them in the same turns, or a ratio of device times would have no pairs. */
static void plan_repeats(struct run *run)
{
    int64_t spent_ns = 0;
    for (size_t i = 0; i < run->alive; i++)
        spent_ns += run->taking_part[i]->repeated_ns;
    bool due = repeat_due(run->repeat_turns, spent_ns, clock_now(run->clock) - run->begin_ns);
    run->repeat_turns += due;
    for (size_t i = 0; i < run->alive; i++)
        run->taking_part[i]->repeats_due = due;
}

static bool report_all(struct run *run)
{
    for (size_t i = 0; i < run->alive; i++) {
        struct member *member = run->taking_part[i];
        struct assay_error cause = {0};
        if (run->failures[index_of(run, member)].status == ASSAY_OK &&
            !member_report(member, run->sampler, i, &cause)) {
            fail_all(run, member, &cause);
            return false;
        }
    }
    return true;
}

static void watch_begin(struct run *run)
{
    run->watched = run->watch != NULL;
    if (run->watched)
        run->watch->begin(run->watch->user);
}

static void watch_end(struct run *run)
{
    if (run->watched)
        run->watch->end(run->watch->user);
    run->watched = false;
}

static bool look(struct run *run, struct measure_result *results, struct assay_error *error)
{
    const struct measure_group *group = run->group;
    enum measure_answer answer = MEASURE_DECIDED;
    bool good = true;
    if (group->ask) {
        if (!report_all(run))
            return false;
        for (size_t i = 0; i < run->alive; i++)
            member_close_notes(run->taking_part[i]);
        good = group->ask(group->user, sampler_look_due(run->sampler), results, run->failures,
                          &answer, error);
        for (size_t i = 0; i < run->alive; i++)
            member_forget_report(run->taking_part[i]);
    }
    sampler_answer(run->sampler, answer);
    run->broken = !good;
    return good;
}

/* All members take as many samples as the record of the one with the most columns holds. */
static bool fit_record(struct run *run, struct measure_budget *budget, struct assay_error *error)
{
    for (size_t i = 0; i < run->alive; i++) {
        unsigned room = samples_room(&run->taking_part[i]->samples,
                                     &run->taking_part[i]->slots[0].serial);
        if (budget->min_samples > room) {
            assay_fail(error, ASSAY_INVALID,
                       "min_samples: %u are wanted, but the record of this case holds %u at most",
                       budget->min_samples, room);
            fail_all(run, run->taking_part[i], error);
            return false;
        }
        if (budget->max_samples > room)
            budget->max_samples = room;
    }
    return true;
}

/* Some schedules say how many samples there are to be; the longest of a group counts. */
static void fit_turns(const struct run *run, struct measure_budget *budget)
{
    unsigned most = 0;
    for (size_t i = 0; i < run->alive; i++) {
        const struct member *member = run->taking_part[i];
        unsigned turns = member->method->turns ? member->method->turns(member) : 0;
        most = turns > most ? turns : most;
    }
    if (most > 0)
        budget->min_samples = budget->max_samples = most;
}

static bool sample(struct run *run, struct measure_result *results, struct assay_error *error)
{
    struct assay_error cause = {0};
    struct measure_budget budget = run->group->budget;
    fit_turns(run, &budget);
    if (!fit_record(run, &budget, &cause))
        return false;
    run->sampler = sampler_create(&budget, run->alive, &cause);
    bool good = run->sampler;
    for (uint64_t n = 0; good && sampler_wants_warmup(run->sampler); n++) {
        if (!turn(run, n, member_warm))
            return false;
        sampler_warmup(run->sampler, run->times, clock_now(run->clock));
    }
    for (size_t i = 0; good && i < run->alive; i++)
        if (!member_settle(run->taking_part[i], &cause)) {
            fail_all(run, run->taking_part[i], &cause);
            return false;
        }
    watch_begin(run);
    run->begin_ns = clock_now(run->clock);
    for (uint64_t n = 0; good && sampler_wants_more(run->sampler); n++) {
        plan_repeats(run);
        if (!turn(run, n, member_sample))
            return false;
        good = sampler_add(run->sampler, run->times, clock_now(run->clock), &cause);
        if (!good || !sampler_look_due(run->sampler))
            continue;
        watch_end(run);
        if (!look(run, results, error))
            return false;
        if (sampler_wants_more(run->sampler))
            watch_begin(run);
    }
    watch_end(run);
    if (!good)
        fail_all(run, NULL, &cause);
    return good;
}

/* What is left of the members in this pass of verification. */
static bool takes_pass(const struct run *run, const struct member *member, unsigned pass)
{
    return pass < member_passes(member) && run->failures[index_of(run, member)].status == ASSAY_OK;
}

/* False: it failed, and nothing more can be run. */
static bool verify_one(struct run *run, struct member *member, unsigned pass)
{
    struct assay_error *failure = &run->failures[index_of(run, member)];
    struct tuned *tuned = &run->tuned[index_of(run, member)];
    if (member_verify(member, failure))
        return true;
    if (failure->status == ASSAY_WRONG_RESULT && tuned->params)
        tune_reject(tuned, failure);
    if (pass > 0)
        error_prefix(failure, "under --perturb, stage '%s' delayed",
                     member->slots[0].serial.stages[pass - 1].stage->name);
    if (!is_fatal(failure))
        return true;
    struct assay_error cause = *failure;
    fail_all(run, member, &cause);
    return false;
}

/* All slots hold fresh contents and have run before the first is looked at: what one writes into
 * another shows. */
static bool verify_pass(struct run *run, unsigned pass)
{
    for (size_t i = 0; i < run->alive; i++) {
        struct member *member = run->taking_part[i];
        struct assay_error cause = {0};
        if (takes_pass(run, member, pass) && !member_run_fresh(member, pass, &cause)) {
            fail_all(run, member, &cause);
            return false;
        }
    }
    for (size_t i = 0; i < run->alive; i++)
        if (takes_pass(run, run->taking_part[i], pass) &&
            !verify_one(run, run->taking_part[i], pass))
            return false;
    return true;
}

static bool verify_all(struct run *run)
{
    unsigned passes = 0;
    for (size_t i = 0; i < run->alive; i++) {
        unsigned wanted = member_passes(run->taking_part[i]);
        passes = wanted > passes ? wanted : passes;
    }
    for (unsigned pass = 0; pass < passes; pass++)
        if (!verify_pass(run, pass))
            return false;
    return true;
}

static bool run_open(struct run *run, struct measure_result *results, struct assay_error *error)
{
    const struct measure_group *group = run->group;
    run->members = calloc(run->count, sizeof(*run->members));
    run->requests = calloc(run->count, sizeof(*run->requests));
    run->tuned = calloc(run->count, sizeof(*run->tuned));
    run->taking_part = calloc(run->count, sizeof(*run->taking_part));
    run->order = calloc(run->count, sizeof(*run->order));
    run->times = calloc(run->count, sizeof(*run->times));
    if (!run->members || !run->requests || !run->tuned || !run->taking_part || !run->order ||
        !run->times)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for %zu cases",
                          run->count);
    clock_simulated_init(&run->simulated);
    run->clock = &run->simulated.clock;
    for (size_t i = 0; i < run->count; i++) {
        bool model = workload_is_model(group->members[i].workload);
        struct assay_clock *clock = model ? &run->simulated.clock : clock_monotonic();
        if (!model) {
            run->clock = clock;
            run->watch = group->watch;
        }
        run->requests[i] = group->members[i];
        run->requests[i].budget = group->budget;
        run->members[i] = (struct member){.request = &run->requests[i],
                                          .result = &results[i],
                                          .clock = clock,
                                          .model = model,
                                          .watch = model ? NULL : group->watch};
    }
    return true;
}

static void run_close(struct run *run)
{
    watch_end(run);
    for (size_t i = 0; run->members && i < run->count; i++)
        if (run->members[i].result)
            member_finish(&run->members[i]);
    for (size_t i = 0; run->tuned && i < run->count; i++)
        tune_free(&run->tuned[i]);
    sampler_destroy(&run->sampler);
    free(run->members);
    free(run->requests);
    free(run->tuned);
    free(run->taking_part);
    free(run->order);
    free(run->times);
}

bool measure_group(const struct measure_group *group, struct measure_result *results,
                   struct assay_error *failures, struct assay_error *error)
{
    for (size_t i = 0; i < group->count; i++) {
        results[i] = (struct measure_result){0};
        failures[i] = (struct assay_error){0};
    }
    struct run run = {.group = group, .failures = failures, .count = group->count};
    struct assay_error cause = {0};
    if (!run_open(&run, results, &cause))
        fail_all(&run, NULL, &cause);
    else if (tune_all(&run) && prepare_all(&run) && sample(&run, results, error) &&
             verify_all(&run))
        report_all(&run);
    run_close(&run);
    return !run.broken;
}

bool measure_case(const struct measure_request *request, struct measure_result *result,
                  struct assay_error *error)
{
    struct measure_group group = {.members = request, .count = 1, .budget = request->budget};
    struct assay_error failure;
    measure_group(&group, result, &failure, &failure);
    if (failure.status != ASSAY_OK && error)
        *error = failure;
    return failure.status == ASSAY_OK;
}
