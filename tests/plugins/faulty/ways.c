/* SPDX-License-Identifier: MIT */
/* A workload that leaves open how it is done: the ways are right, wrong, absent, or end their
 * worker; one is right for small sizes alone. Time passes on the simulated clock. */
#include <assay/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 64
#define MILLISECOND INT64_C(1000000)

enum variant { AUTO, PLAIN, QUICK, HASTY, CRASH, ABSENT, TREACHEROUS, VARIANT_COUNT };
static const char *const variants[] = {"auto",  "plain",  "quick",       "hasty",
                                       "crash", "absent", "treacherous", NULL};
static const int64_t times_ns[VARIANT_COUNT] = {
    [PLAIN] = 4 * MILLISECOND, [QUICK] = 2 * MILLISECOND,       [HASTY] = MILLISECOND,
    [CRASH] = MILLISECOND,     [TREACHEROUS] = MILLISECOND / 2,
};

struct params {
    int variant;
    int64_t size;
    bool crash, treacherous;
};

static const struct assay_option variant_option = {.size = sizeof(struct assay_option),
                                                   .name = "variant",
                                                   .kind = ASSAY_OPTION_CHOICE,
                                                   .offset = offsetof(struct params, variant),
                                                   .fallback = "auto",
                                                   .choices = variants,
                                                   .help = "how it is done"};
static const struct assay_option size_option = {.size = sizeof(struct assay_option),
                                                .name = "size",
                                                .kind = ASSAY_OPTION_INTEGER,
                                                .offset = offsetof(struct params, size),
                                                .fallback = "1000",
                                                .min = 1,
                                                .help = "how much is done"};
static const struct assay_option crash_option = {.size = sizeof(struct assay_option),
                                                 .name = "crash",
                                                 .kind = ASSAY_OPTION_BOOLEAN,
                                                 .offset = offsetof(struct params, crash),
                                                 .fallback = "false",
                                                 .help = "there is a way that ends its worker"};
static const struct assay_option treacherous_option = {
    .size = sizeof(struct assay_option),
    .name = "treacherous",
    .kind = ASSAY_OPTION_BOOLEAN,
    .offset = offsetof(struct params, treacherous),
    .fallback = "false",
    .help = "there is a way that is right for small sizes alone"};
static const struct assay_option *const options[] = {&variant_option, &size_option, &crash_option,
                                                     &treacherous_option, NULL};

static bool supported(const struct assay_device *device, const void *params,
                      struct assay_error *why_not)
{
    (void)device;
    return ((const struct params *)params)->variant != ABSENT ||
           assay_fail(why_not, ASSAY_UNSUPPORTED, "no device can do it this way");
}

static void *create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    (void)slot;
    struct params *self = malloc(sizeof(*self));
    if (!self) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    memcpy(self, params, sizeof(*self));
    if (self->variant == CRASH)
        abort();
    return self;
}

static void destroy(void **self)
{
    free(*self);
    *self = NULL;
}

static bool verify(void *self, struct assay_verification *verification, struct assay_error *error)
{
    const struct params *params = self;
    bool wrong = params->variant == HASTY ||
                 (params->variant == TREACHEROUS && params->size > SMALL);
    return assay_verification_error(verification, wrong ? 100 : 0.5, error);
}

static void cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    out->flops = (uint64_t)((const struct params *)params)->size * 1000;
    out->flop_kind = ASSAY_NUMBER_FP32;
}

static int64_t duration_ns(const struct assay_stage *stage, void *self, int64_t now_ns)
{
    (void)stage;
    (void)now_ns;
    return times_ns[((const struct params *)self)->variant];
}

static const struct assay_stage work = {.size = sizeof(struct assay_stage),
                                        .name = "work",
                                        .help = "time passes",
                                        .kind = ASSAY_STAGE_MODEL,
                                        .cost = cost,
                                        .duration_ns = duration_ns};
static const struct assay_stage *const stages[] = {&work, NULL};

static bool wanted(const void *params)
{
    return ((const struct params *)params)->variant == AUTO;
}

static void key(const struct assay_device *device, const void *params, char *text, size_t bytes)
{
    (void)device;
    const struct params *p = params;
    snprintf(text, bytes, "%s%s%s", p->size > SMALL ? "large" : "small", p->crash ? " crash" : "",
             p->treacherous ? " treacherous" : "");
}

static bool candidate(const struct assay_device *device, const void *params, unsigned index,
                      char *text, size_t bytes)
{
    (void)device;
    const struct params *p = params;
    unsigned left = index;
    for (unsigned i = AUTO + 1; i < VARIANT_COUNT; i++) {
        bool there = (i != CRASH || p->crash) && (i != TREACHEROUS || p->treacherous) &&
                     (i == PLAIN || p->size > 1); /* of size 1 there is one way */
        if (there && left-- == 0) {
            snprintf(text, bytes, "%s", variants[i]);
            return true;
        }
    }
    return false;
}

static bool choose(void *params, const char *name, struct assay_error *error)
{
    for (int i = AUTO + 1; i < VARIANT_COUNT; i++) {
        if (strcmp(variants[i], name) == 0) {
            ((struct params *)params)->variant = i;
            return true;
        }
    }
    return assay_fail(error, ASSAY_INVALID, "there is no way '%s'", name);
}

static void reduce(const struct assay_device *device, void *params)
{
    (void)device;
    struct params *p = params;
    if (p->treacherous)
        p->size = SMALL;
}

static const struct assay_tuning tuning = {.size = sizeof(struct assay_tuning),
                                           .wanted = wanted,
                                           .key = key,
                                           .candidate = candidate,
                                           .choose = choose,
                                           .reduce = reduce};

static const struct assay_workload workload = {.size = sizeof(struct assay_workload),
                                               .name = "ways",
                                               .version = "1",
                                               .summary = "time passes in one way or another",
                                               .options = options,
                                               .params_size = sizeof(struct params),
                                               .stages = stages,
                                               .supported = supported,
                                               .create = create,
                                               .verify = verify,
                                               .destroy = destroy,
                                               .tuning = &tuning};
static const struct assay_workload *const workloads[] = {&workload, NULL};

static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                           .abi = ASSAY_ABI,
                                           .name = "ways",
                                           .version = "1.0",
                                           .workloads = workloads};

ASSAY_PLUGIN_ENTRY(ways)
{
    return &plugin;
}
