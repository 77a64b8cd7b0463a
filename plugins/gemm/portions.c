/* SPDX-License-Identifier: MIT */
#include "portions.h"

#include <math.h>
#include <stdio.h>

/* What a multiply-add takes by a slow kernel. Work that would take little so needs no trial. */
#define PACE_SLOW_NS 0.07
#define PACE_SLOW_CPU_NS 4.5
/* A submission may take this much longer than its trial, for other load of the machine. */
#define TIMES_SLOWER 16
/* A trial that takes less says nothing of larger work: it is launched, not computed. */
#define TRIAL_NS INT64_C(5000000)
#define TRIAL_FIRST (UINT64_C(1) << 20)
#define TRIAL_STEP 8
/* Multiply-adds along k that a tile takes at least. */
#define DEPTH_LEAST 16

static bool record_trial(void *self, struct assay_command *command, struct assay_error *error)
{
    struct gemm_slot *slot = self;
    return slot->variant->record(slot, command, error);
}

/* A tile is computed whole, whatever part of it lies in C: so much more work than multiply-adds
 * that count. */
static double padding_of(const struct gemm_slot *slot)
{
    const struct gemm_problem *problem = &slot->problem;
    uint32_t rows = 1, columns = 1;
    gemm_shape_parse(slot->shape, &rows, &columns);
    const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
    return ceil(m / rows) * rows / m * (ceil(n / columns) * columns / n) *
           (k < DEPTH_LEAST ? DEPTH_LEAST / k : 1);
}

/* How long a multiply-add takes, in a portion that is large enough to tell, or so fast that all of
 * the work ends in `most_ns`. */
static bool find_pace(struct gemm_slot *slot, double whole, double most_ns, double *pace_ns,
                      struct assay_error *error)
{
    struct assay_device *device = assay_slot_device(slot->slot);
    int64_t time_ns = 0;
    bool good = true, done = false;
    slot->trial = true;
    for (slot->portion = (uint64_t)(TRIAL_FIRST / padding_of(slot)) + 1; good && !done;
         slot->portion *= TRIAL_STEP) {
        good = assay_slot_time(slot->slot, record_trial, slot, &time_ns, error);
        *pace_ns = (double)time_ns / (double)(slot->trial_work ? slot->trial_work : 1);
        done = *pace_ns * whole <= most_ns || time_ns >= TRIAL_NS ||
               (double)time_ns * TRIAL_STEP > (double)assay_device_wait_limit_ns(device) / 2 ||
               (double)slot->portion * TRIAL_STEP > whole;
    }
    slot->trial = false;
    slot->portion = 0;
    return good;
}

bool gemm_portion_choose(struct gemm_slot *slot, struct assay_error *error)
{
    const struct assay_device *device = assay_slot_device(slot->slot);
    const bool on_cpu = assay_device_limits(device)->on_cpu;
    const double most_ns = (double)assay_device_wait_limit_ns(device) / TIMES_SLOWER;
    const uint64_t whole = slot->problem.flops / 2;
    double pace_ns = 0;
    if ((double)whole * padding_of(slot) * (on_cpu ? PACE_SLOW_CPU_NS : PACE_SLOW_NS) <= most_ns)
        return true;
    if (!find_pace(slot, (double)whole, most_ns, &pace_ns, error))
        return false;
    if (pace_ns * (double)whole <= most_ns)
        return true;
    const double portion = most_ns / pace_ns;
    slot->portion = portion < 1 ? 1 : (uint64_t)portion;
    char note[120];
    snprintf(note, sizeof(note),
             "compute is cut into submissions of at most about %.0f ms: the host waits for each",
             most_ns / 1e6);
    assay_slot_note(slot->slot, note);
    return true;
}

static uint64_t work_of(const struct gemm_piece *piece)
{
    return piece->batches * piece->rows * piece->columns * piece->depth;
}

/* What stands between this piece and the one before. `in_portion`: multiply-adds that the
 * submission holds already. */
static bool separate(const struct gemm_slot *slot, struct assay_command *command,
                     const struct gemm_piece *piece, uint64_t *in_portion, bool barrier,
                     struct assay_error *error)
{
    const uint64_t work = work_of(piece);
    const bool full = slot->portion && *in_portion > 0 && *in_portion + work > slot->portion;
    *in_portion = full ? work : *in_portion + work;
    if (full)
        return assay_command_wait(command, error);
    return !barrier || assay_command_barrier(command, error);
}

bool gemm_record_plan(struct gemm_slot *slot, struct assay_command *command,
                      const struct gemm_recorder *recorder, struct assay_error *error)
{
    struct gemm_plan plan = *recorder->plan;
    uint64_t k = 0, in_portion = 0;
    if (slot->portion &&
        !gemm_plan_divide(&slot->problem, recorder->grain, slot->portion, &plan, error))
        return false;
    slot->trial_work = 0;
    for (uint64_t i = 0; i < plan.count; i++) {
        struct gemm_piece piece;
        gemm_plan_piece(&slot->problem, &plan, i, &piece);
        const uint64_t work = work_of(&piece);
        if (slot->trial && i > 0 && in_portion + work > slot->portion)
            return true;
        const bool barrier = i > 0 && (recorder->apart || piece.k != k);
        k = piece.k;
        if (!separate(slot, command, &piece, &in_portion, barrier, error) ||
            !recorder->piece(slot, command, &piece, recorder->user, error))
            return false;
        slot->trial_work += work;
    }
    return true;
}
