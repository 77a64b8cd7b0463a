/* SPDX-License-Identifier: MIT */
/* Stages with scripted times and no work: exercises the tool itself without a GPU. */
#include "recording.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum fault {
    FAULT_NONE,
    FAULT_CRASH,
    FAULT_SEGFAULT,
    FAULT_EXIT,
    FAULT_HANG,
    FAULT_WRONG_RESULT,
    FAULT_OUT_OF_MEMORY,
    FAULT_UNSUPPORTED,
    FAULT_DEVICE_LOST,
};

struct params {
    int64_t prepare, upload, compute, download, finish;
    int64_t bytes, flops, items, per_item;
    double noise, scale;
    const char *times, *groups;
    int fault;
};

struct null {
    const struct params *params;
    struct assay_slot *slot;
    struct recording recording; /* without rows when there is none */
    uint64_t seed;
    uint64_t durations; /* asked for so far */
};

/* splitmix64 (Steele, Lea, Flood 2014) of a counter: the same for a seed on every machine. */
static uint64_t random_bits(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void die(int fault)
{
    switch (fault) {
    case FAULT_CRASH:
        fprintf(stderr, "null: aborts, as fault=crash asks\n");
        abort();
    case FAULT_SEGFAULT:
        /* A sanitizer's handler would turn a plain SIGSEGV into an exit. */
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
        break;
    case FAULT_EXIT:
        _exit(3);
    case FAULT_HANG:
        fprintf(stderr, "null: hangs, as fault=hang asks\n");
        for (;;)
            pause();
    default:
        break;
    }
}

/* Where a stage's durations are in a recording: those that are present have a column each. */
static unsigned column_of(const struct params *p, const int64_t *stage)
{
    const int64_t *const all[] = {&p->prepare, &p->upload, &p->compute, &p->download, &p->finish};
    unsigned column = 0;
    for (size_t i = 0; all[i] != stage; i++)
        column += *all[i] > 0;
    return column;
}

/* A letter is a group; without letters each stage is one of its own. */
static unsigned group_of(const struct params *p, const int64_t *stage)
{
    return *p->groups ? (unsigned)(p->groups[column_of(p, stage)] - 'a') + 1 : 0;
}

/* Noise is the machine's: what a recording says of a time holds for all that share the clock. */
static int64_t recorded(struct null *null, const int64_t *stage, int64_t now_ns)
{
    if (now_ns >= recording_length_ns(&null->recording))
        assay_slot_note(null->slot, "the recorded times came to their end and began anew");
    return recording_at(&null->recording, column_of(null->params, stage), now_ns);
}

/* duration * scale * (1 + noise * u), u uniform in [-1, 1). */
static int64_t duration(struct null *null, const int64_t *stage, int64_t now_ns)
{
    die(null->params->fault);
    const struct params *p = null->params;
    int64_t nominal_ns = null->recording.rows ? recorded(null, stage, now_ns) : *stage;
    if (stage == &p->compute)
        nominal_ns += p->items * p->per_item;
    uint64_t bits = random_bits(null->seed, null->durations++);
    double u = (double)(bits >> 11) * 0x1p-52 - 1;
    double factor = null->params->scale * (1 + null->params->noise * u);
    return (int64_t)((double)nominal_ns * factor + 0.5);
}

#define STAGE_HOOKS(stage)                                                                         \
    static bool stage##_present(const struct assay_stage *which, const void *params)               \
    {                                                                                              \
        (void)which;                                                                               \
        return ((const struct params *)params)->stage > 0;                                         \
    }                                                                                              \
    static int64_t stage##_duration(const struct assay_stage *which, void *self, int64_t now_ns)   \
    {                                                                                              \
        (void)which;                                                                               \
        return duration(self, &((struct null *)self)->params->stage, now_ns);                      \
    }                                                                                              \
    static unsigned stage##_group(const struct assay_stage *which, const void *params)             \
    {                                                                                              \
        (void)which;                                                                               \
        return group_of(params, &((const struct params *)params)->stage);                          \
    }
STAGE_HOOKS(prepare)
STAGE_HOOKS(upload)
STAGE_HOOKS(compute)
STAGE_HOOKS(download)
STAGE_HOOKS(finish)

static void moved_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    const struct params *p = params;
    out->payload_bytes = out->read_bytes = out->written_bytes = (uint64_t)p->bytes;
    out->items = (uint64_t)p->items;
}

static void compute_cost(const struct assay_stage *stage, const void *params,
                         struct assay_cost *out)
{
    (void)stage;
    const struct params *p = params;
    out->flops = (uint64_t)p->flops;
    out->flop_kind = p->flops ? ASSAY_NUMBER_FP32 : ASSAY_NUMBER_NONE;
    out->items = (uint64_t)p->items;
}

#define STAGE(stage, stage_cost, text)                                                             \
    &(const struct assay_stage)                                                                    \
    {                                                                                              \
        .size = sizeof(struct assay_stage), .name = #stage, .help = text,                          \
        .kind = ASSAY_STAGE_MODEL, .present = stage##_present, .cost = stage_cost,                 \
        .duration_ns = stage##_duration, .group = stage##_group                                    \
    }

static const struct assay_stage *const stages[] = {
    STAGE(prepare, NULL, "work of the host before a batch"),
    STAGE(upload, moved_cost, "bytes to the device"),
    STAGE(compute, compute_cost, "flops on the device"),
    STAGE(download, moved_cost, "bytes back from the device"),
    STAGE(finish, NULL, "work of the host after a batch"),
    NULL,
};

#define HOUR_NS INT64_C(3600000000000)
#define MINUTE_NS (HOUR_NS / 60)
#define WHOLE(member, unit_name, most, value, text)                                                \
    &(const struct assay_option)                                                                   \
    {                                                                                              \
        .size = sizeof(struct assay_option), .name = #member, .kind = ASSAY_OPTION_INTEGER,        \
        .offset = offsetof(struct params, member), .unit = unit_name, .fallback = value,           \
        .max = most, .help = text                                                                  \
    }

static const char *const faults[] = {
    "none",         "crash",         "segfault",    "exit",        "hang",
    "wrong_result", "out_of_memory", "unsupported", "device_lost", NULL};

static const struct assay_option *const options[] = {
    WHOLE(prepare, "ns", HOUR_NS, "0", "duration of stage prepare; 0: no such stage"),
    WHOLE(upload, "ns", HOUR_NS, "0", "duration of stage upload; 0: no such stage"),
    WHOLE(compute, "ns", HOUR_NS, "100 us", "duration of stage compute; 0: no such stage"),
    WHOLE(download, "ns", HOUR_NS, "0", "duration of stage download; 0: no such stage"),
    WHOLE(finish, "ns", HOUR_NS, "0", "duration of stage finish; 0: no such stage"),
    WHOLE(bytes, "B", INT64_C(1) << 53, "0", "payload of upload and of download"),
    WHOLE(flops, "flop", INT64_C(1) << 53, "0", "flops of compute"),
    &(const struct assay_option){.size = sizeof(struct assay_option),
                                 .name = "items",
                                 .kind = ASSAY_OPTION_INTEGER,
                                 .offset = offsetof(struct params, items),
                                 .unit = "items",
                                 .fallback = "0",
                                 .max = INT64_C(1) << 53,
                                 .help = "items of upload, compute and download",
                                 .flags = ASSAY_OPTION_ITEMS},
    WHOLE(per_item, "ns", MINUTE_NS, "0", "by which compute takes longer for each item"),
    &(const struct assay_option){.size = sizeof(struct assay_option),
                                 .name = "noise",
                                 .kind = ASSAY_OPTION_REAL,
                                 .offset = offsetof(struct params, noise),
                                 .unit = "share",
                                 .fallback = "0",
                                 .real_min = 0,
                                 .real_max = 1,
                                 .help = "each duration varies evenly by up to this share of it"},
    &(const struct assay_option){.size = sizeof(struct assay_option),
                                 .name = "scale",
                                 .kind = ASSAY_OPTION_REAL,
                                 .offset = offsetof(struct params, scale),
                                 .unit = "share",
                                 .fallback = "1",
                                 .real_min = 0.001,
                                 .real_max = 1000,
                                 .help = "each duration is multiplied by it"},
    &(const struct assay_option){.size = sizeof(struct assay_option),
                                 .name = "times",
                                 .kind = ASSAY_OPTION_TEXT,
                                 .offset = offsetof(struct params, times),
                                 .fallback = "",
                                 .help = "file beside the script with recorded durations, which "
                                         "are played in place of those of the stages"},
    &(const struct assay_option){.size = sizeof(struct assay_option),
                                 .name = "groups",
                                 .kind = ASSAY_OPTION_TEXT,
                                 .offset = offsetof(struct params, groups),
                                 .fallback = "",
                                 .help = "a letter for each stage: those of one letter share what "
                                         "they run on (pipelined); empty: none do"},
    &(const struct assay_option){.size = sizeof(struct assay_option),
                                 .name = "fault",
                                 .kind = ASSAY_OPTION_CHOICE,
                                 .offset = offsetof(struct params, fault),
                                 .fallback = "none",
                                 .choices = faults,
                                 .help = "what goes wrong: how the tool takes it is the test"},
    NULL,
};

static unsigned stage_count(const struct params *p)
{
    unsigned count = 0;
    for (size_t i = 0; stages[i]; i++)
        count += stages[i]->present(stages[i], p);
    return count;
}

static bool null_check(const void *params, struct assay_error *error)
{
    const struct params *p = params;
    if (p->per_item > 0 && p->items > HOUR_NS / p->per_item)
        return assay_fail(error, ASSAY_INVALID,
                          "per_item: all items together take over an hour; give less of one");
    unsigned count = stage_count(p);
    size_t letters = strspn(p->groups, "abcdefghijklmnopqrstuvwxyz");
    if (count == 0)
        return assay_fail(error, ASSAY_INVALID,
                          "all stages have 0 ns; give at least one of prepare, upload, compute, "
                          "download and finish a duration");
    if (!*p->groups || (letters == count && !p->groups[letters]))
        return true;
    return assay_fail(error, ASSAY_INVALID,
                      "groups '%s': wanted is a letter from a to z for each of the %u stages that "
                      "have a duration",
                      p->groups, count);
}

static bool null_supported(const struct assay_device *device, const void *params,
                           struct assay_error *why_not)
{
    (void)device;
    const struct params *p = params;
    return p->fault != FAULT_UNSUPPORTED ||
           assay_fail(why_not, ASSAY_UNSUPPORTED, "not supported, as fault=unsupported asks");
}

static bool read_times(struct null *null, struct assay_error *error)
{
    const char *names[sizeof stages / sizeof *stages], *path, *text;
    unsigned count = 0;
    for (size_t i = 0; stages[i]; i++)
        if (stages[i]->present(stages[i], null->params))
            names[count++] = stages[i]->name;
    size_t bytes;
    text = assay_slot_file(null->slot, null->params->times, &bytes, &path, error);
    return text && recording_parse(&null->recording, path, text, bytes, names, count, error);
}

static void null_destroy(void **self)
{
    struct null *null = *self;
    if (!null)
        return;
    recording_free(&null->recording);
    free(null);
    *self = NULL;
}

static void *null_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    const struct params *p = params;
    struct null *null = NULL;
    if (p->fault == FAULT_OUT_OF_MEMORY)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory, as fault=out_of_memory asks");
    else if (p->fault == FAULT_DEVICE_LOST)
        assay_fail(error, ASSAY_DEVICE_LOST, "the device is lost, as fault=device_lost asks");
    else if (!(null = calloc(1, sizeof(*null))))
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
    if (!null)
        return NULL;
    null->params = p;
    null->slot = slot;
    null->seed = assay_slot_seed(slot);
    void *self = null;
    if (*p->times && !read_times(null, error))
        null_destroy(&self);
    return self;
}

static bool null_verify(void *self, struct assay_verification *verification,
                        struct assay_error *error)
{
    static const unsigned char right[4] = {1, 2, 3, 4}, wrong[4] = {1, 2, 0, 4};
    struct null *null = self;
    bool fault = null->params->fault == FAULT_WRONG_RESULT;
    return assay_verification_bytes(verification, "null", fault ? wrong : right, right,
                                    sizeof(right), 0, error);
}

static bool null_report(void *self, struct assay_metrics *metrics, struct assay_error *error)
{
    struct null *null = self;
    unsigned present = stage_count(null->params); /* at least one: null_check */
    double batches = present ? (double)(null->durations / present) : 0;
    return assay_metrics_add(metrics, "batches", batches, error);
}

static const struct assay_metric_info *const metrics[] = {
    &(const struct assay_metric_info){.size = sizeof(struct assay_metric_info),
                                      .name = "batches",
                                      .unit = "1",
                                      .help = "batches that ran, with warm-up and verification"},
    NULL,
};

static const struct assay_workload workload = {
    .size = sizeof(struct assay_workload),
    .name = "null",
    .version = "1",
    .summary = "stages with scripted times on a simulated clock; no device, no work",
    .options = options,
    .params_size = sizeof(struct params),
    .stages = stages,
    .metrics = metrics,
    .check = null_check,
    .supported = null_supported,
    .create = null_create,
    .verify = null_verify,
    .report = null_report,
    .destroy = null_destroy,
};

static const struct assay_workload *const workloads[] = {&workload, NULL};

ASSAY_PLUGIN_ENTRY(null)
{
    static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                               .abi = ASSAY_ABI,
                                               .name = "null",
                                               .version = "1",
                                               .workloads = workloads};
    return &plugin;
}
