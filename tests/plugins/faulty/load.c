/* SPDX-License-Identifier: MIT */
/* Plugins that cannot be loaded, one a value of FAULT. */
#include <assay/plugin.h>

#include <stdlib.h>
#include <unistd.h>

#define FAULT_NONE 0 /* not faulty: the workload that the others hide */
#define FAULT_ABI 1
#define FAULT_SIZE 2
#define FAULT_FUNCTION 3
#define FAULT_NO_ENTRY 4
#define FAULT_CONSTRUCTOR 5
#define FAULT_CONSTRUCTOR_HANGS 6
#define FAULT_ENTRY 7
#define FAULT_NULL 8
#define FAULT_NAME 9

struct params {
    int64_t time;
};

static int64_t duration_ns(const struct assay_stage *stage, void *self, int64_t now_ns)
{
    (void)stage;
    (void)now_ns;
    return ((const struct params *)self)->time;
}

static void *create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    (void)slot;
    (void)error;
    struct params *self = malloc(sizeof(*self));
    if (self)
        *self = *(const struct params *)params;
    return self;
}

static void destroy(void **self)
{
    free(*self);
    *self = NULL;
}

static const struct assay_option time_option = {.size = sizeof(struct assay_option),
                                                .name = "duration",
                                                .kind = ASSAY_OPTION_INTEGER,
                                                .offset = offsetof(struct params, time),
                                                .unit = "ns",
                                                .fallback = "1 ms",
                                                .min = 1,
                                                .help = "of the stage"};
static const struct assay_option *const options[] = {&time_option, NULL};

static const struct assay_stage pass_stage = {.size = sizeof(struct assay_stage) +
                                                      (FAULT == FAULT_SIZE ? 16 : 0),
                                              .name = "pass",
                                              .help = "time passes",
                                              .kind = ASSAY_STAGE_MODEL,
                                              .duration_ns = duration_ns};
static const struct assay_stage *const stages[] = {&pass_stage, NULL};

static const struct assay_workload workload = {.size = sizeof(struct assay_workload),
                                               .name = FAULT == FAULT_NAME ? "null" : "idle",
                                               .version = "1",
                                               .summary = "time passes",
                                               .options = options,
                                               .params_size = sizeof(struct params),
                                               .stages = stages,
                                               .create = create,
                                               .destroy = destroy};
static const struct assay_workload *const workloads[] = {&workload, NULL};

static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                           .abi = FAULT == FAULT_ABI ? 99 : ASSAY_ABI,
                                           .name = "idle",
                                           .version = "1.0",
                                           .workloads = workloads};

#if FAULT == FAULT_CONSTRUCTOR || FAULT == FAULT_CONSTRUCTOR_HANGS
__attribute__((constructor)) static void construct(void)
{
    while (FAULT == FAULT_CONSTRUCTOR_HANGS)
        pause();
    abort();
}
#endif

#if FAULT == FAULT_FUNCTION
bool assay_future_function(const struct assay_plugin *plugin);
#define CHECK() assay_future_function(&plugin)
#else
#define CHECK() true
#endif

#if FAULT == FAULT_NO_ENTRY
ASSAY_API const struct assay_plugin *some_other_function(void);
const struct assay_plugin *some_other_function(void)
#else
ASSAY_PLUGIN_ENTRY(idle)
#endif
{
    if (FAULT == FAULT_ENTRY)
        abort();
    return FAULT == FAULT_NULL || !CHECK() ? NULL : &plugin;
}
