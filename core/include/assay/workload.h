/* SPDX-License-Identifier: MIT */
/* A workload: what one batch of work is, as an ordered list of stages with typed parameters.
 * Hooks are called from one thread in the worker process, but for run() of a host stage in a
 * pipeline of batches: that has a thread of its own for each group of host stages (`group`). Tables
 * and their strings are constant: valid and unchanged until the process ends. */
#ifndef ASSAY_WORKLOAD_H
#define ASSAY_WORKLOAD_H

#include <assay/command.h>
#include <assay/option.h>
#include <assay/verification.h>

ASSAY_BEGIN_DECLARATIONS

/* Number kind of the flops of a stage, for floors: compared with the device's peak of the same
 * kind. */
enum assay_number {
    ASSAY_NUMBER_NONE,
    ASSAY_NUMBER_FP32,
    ASSAY_NUMBER_FP64,
    ASSAY_NUMBER_FP16,
    ASSAY_NUMBER_BF16,
    ASSAY_NUMBER_INT8,
    ASSAY_NUMBER_INT32,
};

/* What one execution of a stage does, by construction, not by measurement. */
struct assay_cost {
    uint64_t payload_bytes;      /* what the user wanted moved: rates use it */
    uint64_t read_bytes;         /* memory traffic, for floors */
    uint64_t written_bytes;      /* the same */
    uint64_t flops;              /* arithmetic operations; a multiply-add is two */
    uint64_t items;              /* whatever the workload counts: images, requests */
    enum assay_number flop_kind; /* of the flops; NONE: no floor by them */
    uint64_t upload_bytes;       /* of the traffic, what goes from the host to the device */
    uint64_t download_bytes;     /* and back */
};

/* Who does a stage's work. */
enum assay_stage_kind {
    ASSAY_STAGE_HOST,     /* run() on a host thread */
    ASSAY_STAGE_TRANSFER, /* record(), on the transfer queue where there is one */
    ASSAY_STAGE_COMPUTE,  /* record(), on the compute queue */
    ASSAY_STAGE_MODEL,    /* duration_ns(): no work, time passes on the case's clock */
};

/* Hooks are told which stage is meant, so that several stages can share them; the pointer is the
 * one in the workload's table. One that fails fills the error with any status (ASSAY_UNSUPPORTED:
 * the case is a skip). */
struct assay_stage {
    size_t size;                /* sizeof(struct assay_stage) */
    const char *name;           /* a Lua identifier that is not reserved (docs/scripting.md) */
    const char *help;           /* one line */
    enum assay_stage_kind kind; /* decides which hooks count */
    bool (*present)(const struct assay_stage *stage,
                    const void *params); /* Optional: absent for some parameters */
    void (*cost)(const struct assay_stage *stage, const void *params,
                 struct assay_cost *out); /* Optional: out is zeroed before */
    /* Required: TRANSFER, COMPUTE. A stage that is short for its queue's timestamps is recorded a
     * second time, the hook called many times for one recording: it must record the same each
     * time. */
    bool (*record)(const struct assay_stage *stage, void *self, struct assay_command *command,
                   struct assay_error *error);
    bool (*run)(const struct assay_stage *stage, void *self,
                struct assay_error *error); /* Required: HOST */
    int64_t (*duration_ns)(const struct assay_stage *stage, void *self,
                           int64_t now_ns); /* Required: MODEL; >= 0 */
    /* TRANSFER, COMPUTE: its work is another when it is done again at once (it updates a buffer
     * that it also reads), so it is never repeated to measure it. Stages that write to an INPUT
     * buffer are known without. */
    bool in_place;
    const char *note; /* Optional: how it is measured, where that is special; for the record */
    /* Optional: HOST, MODEL. In a pipeline of batches, stages that give the same number from 1 on
     * share a thread (or what a model's stages run on): one of them works at a time. 0, and
     * without it: all such host stages share one thread, and a model's stage shares nothing. */
    unsigned (*group)(const struct assay_stage *stage, const void *params);
};

/* An extra metric of a workload; constant. */
struct assay_metric_info {
    size_t size; /* sizeof(struct assay_metric_info) */
    /* A Lua identifier that is not reserved; the unit of its values ("B/s", "ns", "1"); one line.
     */
    const char *name, *unit, *help;
};

/* Room for a key or the name of a candidate, with its NUL. */
#define ASSAY_TUNING_BYTES 128
/* Candidates, at most. */
#define ASSAY_TUNING_CANDIDATES 64u

/* Ways to do the same work, where parameters may leave the choice open (`variant=auto`): the
 * fastest one whose result is right is found by measurement, once for each key, and kept in the
 * cache. Hooks get parameters as create does; what they write ends with a NUL within `bytes`, which
 * is ASSAY_TUNING_BYTES. */
struct assay_tuning {
    size_t size; /* sizeof(struct assay_tuning) */
    /* Required. Whether params leave the choice open. */
    bool (*wanted)(const void *params);
    /* Required. What one choice serves, beside device, driver and the workload's version: "fp32 nn
     * 1024". One line; whatever else the choice hangs on. device is NULL for MODEL workloads. */
    void (*key)(const struct assay_device *device, const void *params, char *text, size_t bytes);
    /* Required. The name of a candidate, the best guess first, from 0; false past the last. Those
     * that the device does not have may be left out. */
    bool (*candidate)(const struct assay_device *device, const void *params, unsigned index,
                      char *text, size_t bytes);
    /* Required. Puts the candidate into params, a copy that is not `wanted` any more; `candidate`
     * lives as long as that. A failure of any status, ASSAY_INVALID say, is the candidate's. */
    bool (*choose)(void *params, const char *candidate, struct assay_error *error);
    /* Optional. Makes params, a copy, a problem that stands for all that the key serves and takes
     * some 10 ms: candidates are tried with it, else with the case's own. */
    void (*reduce)(const struct assay_device *device, void *params);
};

/* A hook that fails fills the error with any status: that is what becomes of the case
 * (ASSAY_UNSUPPORTED: a skip). */
struct assay_workload {
    size_t size; /* sizeof(struct assay_workload) */
    /* A Lua identifier; as people write it, raised when figures change their meaning; one line. */
    const char *name, *version, *summary;
    const struct assay_option *const
        *options;       /* NULL-terminated; their order is the order of axes */
    size_t params_size; /* of the params struct that the options' offsets are in, in bytes */
    const struct assay_stage *const
        *stages; /* NULL-terminated, in the order of a batch; at most 16 */
    const struct assay_metric_info *const *metrics; /* Optional: extras, NULL-terminated */
    /* Optional. Checks combinations of parameters: ASSAY_INVALID for nonsense (an error of the
     * script), before any device is opened. */
    bool (*check)(const void *params, struct assay_error *error);
    /* Optional. ASSAY_UNSUPPORTED with the reason makes the case a skip. device is NULL for MODEL
     * workloads. */
    bool (*supported)(const struct assay_device *device, const void *params,
                      struct assay_error *why_not);
    /* Required. One slot: its buffers and kernels. params stay valid until destroy. NULL with error
     * on failure. */
    void *(*create)(struct assay_slot *slot, const void *params, struct assay_error *error);
    /* Required unless all stages are MODEL. Called after one more batch on restored inputs and
     * poisoned outputs. */
    bool (*verify)(void *self, struct assay_verification *verification, struct assay_error *error);
    /* Optional. Fills the extras, after the last sample and each time the bounds of a check are
     * looked at before: anew each time. */
    bool (*report)(void *self, struct assay_metrics *metrics, struct assay_error *error);
    void (*destroy)(void **self); /* Required. Accepts NULL and half-built objects */
    /* Optional. Records what puts the slot back into the state that a batch starts from; it is
     * replayed before each batch and not measured. Stages of such a workload are never repeated to
     * measure them. */
    bool (*reset)(void *self, struct assay_command *command, struct assay_error *error);
    /* Optional. How a choice that the parameters leave open is made. */
    const struct assay_tuning *tuning;
};

ASSAY_END_DECLARATIONS

#endif
