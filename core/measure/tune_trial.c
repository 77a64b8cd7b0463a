/* SPDX-License-Identifier: MIT */
#include "measure/tune_trial.h"

#include "vulkan/slot.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MOST 4    /* slots that are alive at once */
#define FIRST_WAIT 4   /* times the usual limit */
#define SLOW 4.0       /* times the fastest so far: not worth a second batch */
#define NEAR 2.0       /* may turn out the fastest: a busy machine doubles a time */
#define BEHIND 1.1     /* after some turns: will not */
#define TURNS_LEAST 3  /* before any is left behind */
#define TURNS_BUDGET 4 /* turns take so much of the budget more: a quarter */
#define SAME 1.01

const char *const tune_verdict_names[] = {
    [TUNE_UNTRIED] = "untried", [TUNE_RIGHT] = "right", [TUNE_WRONG] = "wrong",
    [TUNE_FAILED] = "failed",   [TUNE_CRASH] = "crash", [TUNE_UNSUPPORTED] = "unsupported",
};

static int64_t least(const struct tune_candidate *candidate)
{
    int64_t value = candidate->times_ns[0];
    for (unsigned i = 1; i < candidate->count; i++)
        value = candidate->times_ns[i] < value ? candidate->times_ns[i] : value;
    return value;
}

size_t tune_fastest(const struct tune_candidate *candidates, size_t count)
{
    int64_t best = INT64_MAX;
    for (size_t i = 0; i < count; i++)
        if (candidates[i].verdict == TUNE_RIGHT && candidates[i].time_ns < best)
            best = candidates[i].time_ns;
    for (size_t i = 0; i < count; i++)
        if (candidates[i].verdict == TUNE_RIGHT &&
            (double)candidates[i].time_ns <= SAME * (double)best)
            return i;
    return count;
}

/* The least time so far; INT64_MAX without. */
static int64_t best_so_far(const struct tune_trials *trials)
{
    int64_t best = INT64_MAX;
    for (size_t i = 0; i < trials->count; i++) {
        const struct tune_candidate *candidate = &trials->candidates[i];
        if (candidate->verdict == TUNE_RIGHT && candidate->count && least(candidate) < best)
            best = least(candidate);
    }
    return best;
}

static void trial_close(struct tune_candidate *candidate)
{
    struct tune_trial *trial = candidate->trial;
    if (!trial)
        return;
    member_finish(&trial->member);
    measure_result_free(&trial->result);
    free(trial->params);
    free(trial);
    candidate->trial = NULL;
}

static bool trial_open(const struct tune_trials *trials, struct tune_candidate *candidate,
                       struct assay_error *error)
{
    const struct assay_workload *workload = trials->request->workload;
    struct tune_trial *trial = calloc(1, sizeof(*trial));
    candidate->trial = trial;
    if (!trial)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a candidate");
    trial->request = *trials->request;
    trial->request.schedule = schedule_default(SCHEDULE_SERIAL);
    trial->request.perturb = false;
    trial->request.defect_stage = 0;
    trial->member = (struct member){.request = &trial->request,
                                    .result = &trial->result,
                                    .clock = trials->clock,
                                    .model = trials->clock->simulated};
    trial->params = malloc(workload->params_size);
    if (!trial->params)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a candidate");
    memcpy(trial->params, trials->params, workload->params_size);
    trial->request.params = trial->params;
    if (!workload->tuning->choose(trial->params, candidate->name, error))
        return serial_hook_failed(workload->name, "choose", error);
    return member_prepare(&trial->member, error);
}

/* Releases the slots that are kept; what they gave so far stays. */
static bool close_others(struct tune_trials *trials, const struct tune_candidate *than)
{
    bool any = false;
    for (size_t i = 0; i < trials->count; i++) {
        if (&trials->candidates[i] == than || !trials->candidates[i].trial)
            continue;
        trial_close(&trials->candidates[i]);
        any = true;
    }
    return any;
}

/* Where memory does not hold one more, those before make room. */
static bool trial_open_alone(struct tune_trials *trials, struct tune_candidate *candidate,
                             struct assay_error *error)
{
    struct assay_error cause = {0};
    if (trial_open(trials, candidate, &cause))
        return true;
    if (cause.status == ASSAY_OUT_OF_MEMORY && close_others(trials, candidate)) {
        trial_close(candidate);
        return trial_open(trials, candidate, error);
    }
    *error = cause;
    return false;
}

/* One batch: the time of the compute stages, where there are some, since the others are the same
 * for all. */
static bool trial_time(struct tune_trials *trials, struct tune_candidate *candidate,
                       struct assay_error *error)
{
    struct serial *serial = &candidate->trial->member.slots[0].serial;
    struct serial_times times;
    int64_t sum = 0;
    tuning_mark(trials->store, candidate->name);
    bool good = serial_batch(serial, &times, error);
    tuning_mark(trials->store, NULL);
    if (!good)
        return false;
    for (unsigned i = 0; i < serial->count; i++)
        if (serial->stages[i].stage->kind == ASSAY_STAGE_COMPUTE)
            sum += times.stages[i].time_ns;
    sum = sum > 0 ? sum : times.time_ns;
    candidate->times_ns[candidate->count++] = sum > 0 ? sum : 1;
    candidate->time_ns = least(candidate);
    return true;
}

/* The first batch: many drivers compile then, which may take several times as long as a wait
 * usually may where the machine does something else too. */
static bool first_time(struct tune_trials *trials, struct tune_candidate *candidate,
                       struct assay_error *error)
{
    struct assay_device *device = trials->request->device;
    int64_t usual_ns = device ? device->wait_limit_ns : 0;
    if (device)
        device->wait_limit_ns = usual_ns * FIRST_WAIT;
    bool good = trial_time(trials, candidate, error);
    if (device)
        device->wait_limit_ns = usual_ns;
    return good;
}

static void add_cost(struct tune_trials *trials, const struct tune_candidate *candidate)
{
    const struct serial *serial = &candidate->trial->member.slots[0].serial;
    bool compute = false;
    for (unsigned i = 0; i < serial->count; i++)
        compute = compute || serial->stages[i].stage->kind == ASSAY_STAGE_COMPUTE;
    trials->flops = trials->bytes = 0;
    for (unsigned i = 0; i < serial->count; i++) {
        if (compute && serial->stages[i].stage->kind != ASSAY_STAGE_COMPUTE)
            continue;
        trials->flops += (double)serial->stages[i].cost.flops;
        trials->bytes += (double)serial->stages[i].cost.payload_bytes;
    }
}

/* Against those before. */
static bool is_slow(const struct tune_trials *trials, const struct tune_candidate *candidate)
{
    int64_t best = best_so_far(trials);
    return best != INT64_MAX && (double)least(candidate) > SLOW * (double)best;
}

/* Whether it is right, and what a batch takes. */
static bool trial_run(struct tune_trials *trials, struct tune_candidate *candidate,
                      struct assay_error *error)
{
    if (!trial_open_alone(trials, candidate, error))
        return false;
    struct member *member = &candidate->trial->member;
    if (!slot_restore(member->slots[0].slot, error) || !first_time(trials, candidate, error) ||
        !member_verify(member, error))
        return false;
    if (member->slots[0].verification.nothing)
        return assay_fail(error, ASSAY_INTERNAL, "the workload cannot tell whether it is right");
    add_cost(trials, candidate);
    candidate->count = 0; /* many drivers compile at the first batch */
    if (!trial_time(trials, candidate, error) ||
        (!is_slow(trials, candidate) && !trial_time(trials, candidate, error)))
        return false;
    candidate->verdict = TUNE_RIGHT;
    return true;
}

static bool is_fatal(const struct tune_trials *trials, const struct assay_error *cause)
{
    return cause->status == ASSAY_TIMEOUT || cause->status == ASSAY_DEVICE_LOST ||
           (trials->request->device && trials->request->device->lost);
}

/* False: the device is past use. */
static bool take_failure(struct tune_trials *trials, struct tune_candidate *candidate,
                         const struct assay_error *cause, struct assay_error *error)
{
    bool fatal = is_fatal(trials, cause);
    candidate->verdict = fatal                                 ? TUNE_CRASH
                         : cause->status == ASSAY_WRONG_RESULT ? TUNE_WRONG
                         : cause->status == ASSAY_UNSUPPORTED  ? TUNE_UNSUPPORTED
                                                               : TUNE_FAILED;
    candidate->avoided = fatal;
    candidate->count = 0;
    candidate->time_ns = 0;
    text_clear(&candidate->reason);
    text_add_clean(&candidate->reason, cause->text);
    trial_close(candidate);
    if (!fatal)
        return true;
    *error = *cause;
    error_prefix(error, "the tuner's candidate '%s', which is not tried again", candidate->name);
    trials->culprit = candidate;
    return false;
}

/* Keeps the slots of those that are near the fastest. */
static size_t keep_near(struct tune_trials *trials, double share)
{
    int64_t best = best_so_far(trials);
    size_t kept = 0;
    for (size_t i = 0; i < trials->count; i++) {
        struct tune_candidate *candidate = &trials->candidates[i];
        if (candidate->trial && (double)least(candidate) > share * (double)best)
            trial_close(candidate);
        kept += candidate->trial != NULL;
    }
    return kept;
}

static void close_slowest(struct tune_trials *trials)
{
    struct tune_candidate *slowest = NULL;
    for (size_t i = 0; i < trials->count; i++) {
        struct tune_candidate *candidate = &trials->candidates[i];
        if (candidate->trial && (!slowest || least(candidate) > least(slowest)))
            slowest = candidate;
    }
    if (slowest)
        trial_close(slowest);
}

/* Whether one more that takes as long as the longest (mostly its compilation) ends in time. */
static bool has_time(const struct tune_trials *trials, int64_t used_ns, int64_t longest_ns)
{
    return best_so_far(trials) == INT64_MAX ||
           (used_ns <= TUNE_BUDGET_NS && used_ns + longest_ns <= TUNE_BUDGET_NS * 3 / 2);
}

static bool try_one(struct tune_trials *trials, struct tune_candidate *candidate,
                    struct assay_error *error)
{
    struct assay_error cause = {0};
    tuning_mark(trials->store, candidate->name);
    bool good = trial_run(trials, candidate, &cause);
    tuning_mark(trials->store, NULL);
    if (!good && !take_failure(trials, candidate, &cause, error))
        return false;
    if (keep_near(trials, NEAR) > KEPT_MOST)
        close_slowest(trials);
    return true;
}

/* New ones, or those that are to be tried again. */
static bool try_each(struct tune_trials *trials, bool again, int64_t begin_ns,
                     struct assay_error *error)
{
    int64_t longest_ns = 0;
    for (size_t i = 0; i < trials->count; i++) {
        struct tune_candidate *candidate = &trials->candidates[i];
        if (candidate->avoided || (again ? !candidate->again : candidate->settled))
            continue;
        int64_t from_ns = clock_now(trials->clock);
        if (has_time(trials, from_ns - begin_ns, longest_ns)) {
            if (!try_one(trials, candidate, error))
                return false;
            int64_t took_ns = clock_now(trials->clock) - from_ns;
            longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
        } else if (!again) {
            text_clear(&candidate->reason);
            text_add(&candidate->reason, "the time was over");
        }
    }
    return true;
}

/* Those that are near each other, in turn, until one is ahead or the time is over. */
static bool try_in_turn(struct tune_trials *trials, int64_t begin_ns, struct assay_error *error)
{
    size_t order[ASSAY_TUNING_CANDIDATES];
    int64_t end_ns = begin_ns + TUNE_BUDGET_NS + TUNE_BUDGET_NS / TURNS_BUDGET;
    for (uint64_t turn = 0; turn < TUNE_TIMES - 2; turn++) {
        if (keep_near(trials, turn < TURNS_LEAST ? NEAR : BEHIND) < 2 ||
            clock_now(trials->clock) > end_ns)
            return true;
        turn_order(trials->request->seed, turn, order, trials->count);
        for (size_t i = 0; i < trials->count; i++) {
            struct tune_candidate *candidate = &trials->candidates[order[i]];
            struct assay_error cause = {0};
            if (candidate->trial && !trial_time(trials, candidate, &cause) &&
                !take_failure(trials, candidate, &cause, error))
                return false;
        }
    }
    return true;
}

bool tune_try(struct tune_trials *trials, struct assay_error *error)
{
    int64_t begin_ns = clock_now(trials->clock);
    bool good = try_each(trials, false, begin_ns, error) &&
                try_each(trials, true, begin_ns, error) && try_in_turn(trials, begin_ns, error);
    close_others(trials, NULL);
    trials->spent_ns = clock_now(trials->clock) - begin_ns;
    return good;
}
